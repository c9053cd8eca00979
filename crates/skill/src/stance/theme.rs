//! What a skill is about, and whether it bears that out.

use crate::markdown::front_matter;
use crate::phrase::Phrases;
use crate::view::Skill;

/// How short a guide is.
const SHORTEST: usize = 500;

/// How short a text is that can be nothing but one attack.
const SHORT: usize = 1200;

/// How short one is that does not even say what it is for.
const SHORT_WITHOUT_FRONT: usize = 3000;

/// How much of a text is looked at.
const LOOKED_AT: usize = 64 * 1024;

/// What a skill is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Theme {
    /// Whether the skill says that it is about attacks.
    says_so: bool,
    /// Whether its main file defends.
    defends: bool,
    /// Whether it says at all what it is for.
    has_front: bool,
}

impl Theme {
    pub(super) fn of(skill: &Skill<'_>) -> Self {
        let main = skill.views.iter().find(|view| {
            let name = view.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            view.is_raw() && name.eq_ignore_ascii_case("skill.md")
        });
        let Some(view) = main else { return Self { says_so: false, defends: false, has_front: false } };
        let front = front_matter(&view.text).and_then(|range| view.text.get(range)).unwrap_or_default();
        Self { says_so: ABOUT.is_in(front), defends: defends(&view.text), has_front: !front.is_empty() }
    }

    /// How much it counts in one of its files.
    pub(super) fn weight(self, text: &str) -> u8 {
        let says_so = self.says_so || ABOUT.is_in(title(text));
        u8::from(says_so && text.len() >= SHORTEST && (self.defends || defends(text)))
    }

    /// Whether a file is nothing but one attack.
    pub(super) fn is_bare(self, text: &str) -> bool {
        let short = if self.has_front { SHORT } else { SHORT_WITHOUT_FRONT };
        text.len() < short && !self.says_so && !defends(text)
    }
}

fn title(text: &str) -> &str {
    text.lines().find(|line| line.starts_with("# ")).unwrap_or_default()
}

static ABOUT: Phrases = Phrases::new(&[
    r"\b(?:security|secur(?:e|ing)|audit\w*|vulnerab\w+|pentest\w*|penetration|threats?|malware|forensics?|incidents?|red[- ]?team\w*|blue[- ]?team\w*|injections?|defen[cs]e|defend\w*|defensive|harden\w*|owasp|ctf|exploit\w*|detect\w*|scanners?|guard\w*|safety|yara|semgrep|sigma|attacks?|adversar\w*|hunting|soc|siem|bug bounty|supply[- ]chain)\b",
]);

/// Whether a text says in several ways what to look for, how to mend it and when to stop.
fn defends(text: &str) -> bool {
    static WAYS: [Phrases; 10] = [
        Phrases::new(&[r"\b(?:mitigat\w+|remediat\w+)\b"]),
        Phrases::new(&[r"\b(?:fix|fixes|fixed|patch|patches|patched)\b"]),
        Phrases::new(&[r"\b(?:review\w*|audit|audits|auditing)\b"]),
        Phrases::new(&[r"\b(?:detect\w*|flag|flags|identify)\b"]),
        Phrases::new(&[r"\b(?:prevent|prevents|prevention|block|blocks|reject|refuse)\b"]),
        Phrases::new(&[
            r"\b(?:sanitiz\w+|validat\w+|escap(?:e|es|ing)|parameteri[sz]ed|least privilege|allowlist)\b",
        ]),
        Phrases::new(&[r"\b(?:severity|risk|impact|confidence)\b"]),
        Phrases::new(&[r"\b(?:recommend\w*|instead|safe|safer|secure alternative|best practices?)\b"]),
        Phrases::new(&[
            r"\b(?:authori[sz]ed|authori[sz]ation|permission|rules of engagement|scope|legal|consent)\b",
        ]),
        Phrases::new(&[
            r"\b(?:investigat\w+|contain(?:ment)?|rotate|revoke|report|reporting|evidence|incident)\b",
        ]),
    ];
    let mut end = text.len().min(LOOKED_AT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    WAYS.iter().filter(|way| way.is_in(&text[..end])).count() >= 4
}

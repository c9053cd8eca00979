//! Determines the subject of a skill, and whether its text bears that out.

use std::collections::BTreeSet;

use crate::text::markdown::front_matter;
use crate::text::phrase::Phrases;
use crate::text::view::Skill;
use crate::words::words;

/// Minimum length of a guide.
const SHORTEST: usize = 500;

/// Length below which a text can be nothing but one attack.
const SHORT: usize = 1200;

/// The same for a text that does not even say what it is for.
const SHORT_WITHOUT_FRONT: usize = 3000;

/// Minimum number of kinds of findings in a catalogue.
const MANY: usize = 3;

/// Number of bytes of a text that are examined.
const LOOKED_AT: usize = 64 * 1024;

/// Subject of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Theme {
    /// Stated subject of the skill, by its closeness to attacks.
    topic: Topic,
    /// Number of ways in which its main file defends.
    ways: usize,
    /// True if it says at all what it is for.
    has_front: bool,
}

/// Closeness of the stated subject of a text to attacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Topic {
    Other,
    /// Security in general: any skill can claim that.
    Security,
    /// Attacks, or the work against them.
    Attacks,
}

impl Topic {
    fn of(text: &str) -> Self {
        if ATTACKS.is_in(text) {
            Self::Attacks
        } else if SECURITY.is_in(text) {
            Self::Security
        } else {
            Self::Other
        }
    }
}

impl Topic {
    /// Returns the topic by the number of words of security work in a text.
    fn by_words(text: &str) -> Self {
        let found = WORK.words_in(head(text));
        let words: BTreeSet<String> = found.map(|word| word.chars().take(5).collect()).collect();
        match words.len() {
            6.. => Self::Attacks,
            4.. => Self::Security,
            _ => Self::Other,
        }
    }
}

/// Words of security work.
static WORK: Phrases = Phrases::new(words![
    r"\b(?:attackers?|malicious|suspicious|exfiltrat\w+|payloads?|detections?|alerts?|triage|threats?|compromised?|injections?|vulnerab\w+|exploit\w*|malware|phishing|red flags?|forensics?|incidents?|harden\w*|mitigat\w+|remediat\w+|iocs?|indicators?|adversar\w+|untrusted|persistence|escalation|lateral|credential theft|reverse shells?|obfuscat\w+|sanitiz\w+|severity|cves?|owasp|mitre|quarantin\w+|isolate|revoke|containment|evidence|lures?|backdoors?|poison\w+|hacked|webshells?|scam\w*|fraud\w*|victims?|stolen|leaked|spam|rogue|fake|hijack\w*|precedents?)\b",
]);

impl Theme {
    pub(super) fn of(skill: &Skill<'_>) -> Self {
        let main = skill.views.iter().find(|view| {
            let name = view.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            view.is_raw() && name.eq_ignore_ascii_case("skill.md")
        });
        let Some(view) = main else { return Self { topic: Topic::Other, ways: 0, has_front: false } };
        let front = front_matter(&view.text).and_then(|range| view.text.get(range)).unwrap_or_default();
        let topic = Topic::of(front).max(Topic::of(title(&view.text))).max(Topic::by_words(&view.text));
        Self { topic, ways: ways(&view.text), has_front: !front.is_empty() }
    }

    /// Returns its weight in one of its files, in which `kinds` kinds of things were found.
    pub(super) fn weight(self, text: &str, kinds: usize) -> u8 {
        let topic = self.topic.max(Topic::of(title(text)));
        let ways = self.ways.max(ways(text));
        match topic {
            _ if text.len() < SHORTEST => 0,
            // A text that does not say what it is for may be nothing but the attack that its title names.
            _ if !self.has_front => u8::from(topic > Topic::Other && ways >= 4),
            Topic::Attacks if ways >= 1 || kinds >= MANY => 2,
            Topic::Attacks => 1,
            Topic::Security if ways >= 4 && kinds >= MANY => 2,
            Topic::Security => u8::from(ways >= 3),
            Topic::Other => 0,
        }
    }

    /// Returns true if a file says in more than one way what to do against what it shows.
    pub(super) fn defends(self, text: &str) -> bool {
        self.ways.max(ways(text)) >= 2
    }

    /// Returns true if the skill says that it is about attacks.
    pub(super) fn is_of_attacks(self) -> bool {
        self.has_front && self.topic == Topic::Attacks
    }

    /// Returns true if a file is nothing but one attack.
    pub(super) fn is_bare(self, text: &str) -> bool {
        let short = if self.has_front { SHORT } else { SHORT_WITHOUT_FRONT };
        text.len() < short && self.topic == Topic::Other && ways(text) < 4
    }
}

fn title(text: &str) -> &str {
    text.lines().find(|line| line.starts_with("# ")).unwrap_or_default()
}

static ATTACKS: Phrases = Phrases::new(words![
    r"\b(?:malware|malicious|ransomware|phishing|\w*stealers?|typosquat\w*|takeovers?|spyware|forensics?|incident[- ]response|incident[- ]responder|breach(?:es)?|intrusions?|threats?|pentest\w*|penetration|red[- ]?team\w*|blue[- ]?team\w*|purple[- ]?team\w*|ctf|capture[- ]the[- ]flag|exploit\w*|vulnerabilit\w+|injections?|owasp|yara|semgrep|codeql|sigma|detection[- ]engineering|siem|harden\w*|vetting|jailbreak\w*|adversar\w+|attacks?|attackers?|xss|sqli|ssrf|cves?|bug bount\w+|privilege escalation|hunting|poisoning|social engineering|secret[- ]scanning|reverse[- ]engineering|untrusted|compromised?|backdoors?|homoglyphs?|exfiltration|sandbox\w*|soc|triage|honeypots?|(?:de)?obfuscat\w*|rug pulls?|guardrails?|detections?|hacked|webshells?|scams?|scammers?|fraud|infosec|trust (?:&|and) safety|credential access|concealment|moderat(?:ion|ors?)|vet|drain(?:ed|ers?)|\w*sicherheit\w*|seguridad|inyecci\xc3\xb3n|angriff\w*|ataques?|attaques?|review\w* (?:<any> ){0,4}(?:skills?|plugins?|extensions?|mcp)|skill[- ]lint\w*|skill[- ]scan\w*|scanner for (?:<any> ){0,3}skills|linter for (?:<any> )?skills)\b",
    r"\bsecurity[- ](?:\w+[- ])?(?:review\w*|audit\w*|scan\w*|test\w*|assessment|research\w*|analyst|engineer\w*|monitoring|operations|checks?|posture|rules)|\b(?:skill|mcp|code|prompt|agent|container|cloud|dependency|supply[- ]chain)[- ](?:\w+[- ])?(?:security|audit\w*|vett\w+|safety)\b",
]);

static SECURITY: Phrases = Phrases::new(words![
    r"\b(?:security|secur(?:e|ing)|audit\w*|incidents?|defen[cs]e|defend\w*|defensive|detect\w*|scanners?|guard\w*|safety|soc|supply[- ]chain|privacy|compliance)\b",
]);

/// Returns the number of ways in which a text says what to look for, how to fix it and when to stop.
fn ways(text: &str) -> usize {
    static WAYS: [Phrases; 10] = [
        Phrases::new(words![r"\b(?:mitigat\w+|remediat\w+)\b"]),
        Phrases::new(words![r"\b(?:fix|fixes|fixed|patch|patches|patched)\b"]),
        Phrases::new(words![r"\b(?:review\w*|audit|audits|auditing)\b"]),
        Phrases::new(words![r"\b(?:detect\w*|flag|flags|identify)\b"]),
        Phrases::new(words![r"\b(?:prevent|prevents|prevention|block|blocks|reject|refuse)\b"]),
        Phrases::new(words![
            r"\b(?:sanitiz\w+|validat\w+|escap(?:e|es|ing)|parameteri[sz]ed|least privilege|allowlist)\b",
        ]),
        Phrases::new(words![r"\b(?:severity|risk|impact|confidence)\b"]),
        Phrases::new(words![r"\b(?:recommend\w*|instead|safe|safer|secure alternative|best practices?)\b"]),
        Phrases::new(words![
            r"\b(?:authori[sz]ed|authori[sz]ation|permission|rules of engagement|scope|legal|consent)\b",
        ]),
        Phrases::new(words![
            r"\b(?:investigat\w+|contain(?:ment)?|rotate|revoke|report|reporting|evidence|incident)\b",
        ]),
    ];
    WAYS.iter().filter(|way| way.is_in(head(text))).count()
}

/// Returns the part of a text that is examined.
fn head(text: &str) -> &str {
    let mut end = text.len().min(LOOKED_AT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

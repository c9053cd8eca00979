//! Settings for scanning and loading skills: `[skills.scan]`.

use policy::{PathPattern, RuleRef};

use crate::place::Places;
use crate::tree::{Node, Table, Value, find};

/// Settings for scanning and loading skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanSettings {
    /// True if a skill is scanned before it is loaded.
    pub enabled: bool,
    /// True if a critical finding blocks the skill.
    pub block_on_critical: bool,
    /// Treatment of a skill that is too long.
    pub oversize: Oversize,
    /// The longest skill, in characters.
    pub max_chars: usize,
    /// Findings that were reviewed and accepted.
    pub allow: Vec<ScanAllow>,
}

/// Treatment of a skill that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Oversize {
    /// It is not loaded.
    Refuse,
    /// Its end is cut off.
    Truncate,
}

/// Findings that were reviewed and accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScanAllow {
    /// The rule, by its name.
    pub rule: String,
    /// The files.
    pub path: PathPattern,
    /// Reviewer, and reason for accepting it.
    pub reason: String,
    /// The line that says so.
    pub place: RuleRef,
}

impl ScanSettings {
    /// Reads a table. Absent keys are as strict as can be; the built-in layer sets all of them.
    pub(crate) fn of(table: &Table, places: &Places) -> Self {
        let is = |path: &str, word: &str| find(table, path).and_then(Node::word) == Some(word);
        let max = find(table, "skills.scan.max-chars").and_then(Node::amount);
        let allow = find(table, "skills.scan.allow").map(Node::list).unwrap_or_default();
        Self {
            enabled: !is("skills.scan.enabled", "false"),
            block_on_critical: !is("skills.scan.block-on-critical", "false"),
            oversize: if is("skills.scan.oversize", "truncate") {
                Oversize::Truncate
            } else {
                Oversize::Refuse
            },
            max_chars: max.and_then(|max| usize::try_from(max).ok()).unwrap_or(0),
            allow: allow.iter().filter_map(|node| ScanAllow::of(node, places)).collect(),
        }
    }
}

impl ScanAllow {
    /// An entry that cannot be used accepts nothing.
    fn of(node: &Node, places: &Places) -> Option<Self> {
        let Value::Table(table) = &node.value else { return None };
        let text = |key: &str| find(table, key).and_then(Node::text);
        let path = PathPattern::parse(&places.pattern(text("path")?)?).ok()?;
        Some(Self {
            rule: text("rule")?.to_owned(),
            path,
            reason: text("reason")?.to_owned(),
            place: node.place(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Settings, from_sources};
    use crate::source::{Scope, Source};

    fn settings(text: &str) -> Settings {
        let places = Places { workspace: "/w".into(), home: Some("/home/u".into()), state: None, run: None };
        let text = format!("version = 1\n[audit]\npath = \"/l\"\n{text}");
        from_sources(vec![Source::new(Scope::User, "p.toml".as_ref(), text)], &places)
            .map_err(|problems| problems.0.iter().map(ToString::to_string).collect::<Vec<_>>())
            .unwrap()
    }

    #[test]
    fn what_nobody_says_is_strict() {
        let built_in = settings("").skills();
        let expected = ScanSettings {
            enabled: true,
            block_on_critical: true,
            oversize: Oversize::Refuse,
            max_chars: 20_000,
            allow: Vec::new(),
        };
        assert_eq!(built_in, expected);
        let places = Places { workspace: "/w".into(), home: None, state: None, run: None };
        assert_eq!(ScanSettings::of(&Table::new(), &places), ScanSettings { max_chars: 0, ..expected });
    }

    #[test]
    fn what_a_user_says_is_taken() {
        let text = "[skills.scan]\nenabled = false\nblock-on-critical = false\noversize = \"truncate\"\nmax-chars = 7\n\
                    allow = [{ rule = \"A_B\", path = \"~/s/**\", reason = \"read\" }]";
        let read = settings(text).skills();
        assert_eq!((read.enabled, read.block_on_critical, read.max_chars), (false, false, 7));
        assert_eq!(read.oversize, Oversize::Truncate);
        let allow = &read.allow[0];
        assert_eq!((allow.rule.as_str(), allow.path.text().as_str()), ("A_B", "/home/u/s/**"));
        assert_eq!(crate::lint(&settings(text)).len(), 0);
        let wide = text.replace("~/s/**", "**");
        insta::assert_snapshot!(crate::lint(&settings(&wide))[0].message, @"allow `A_B` in `**` is wider than it looks: it matches every file in the workspace");
        assert_eq!((allow.reason.as_str(), allow.place.line.get()), ("read", 9));
    }
}

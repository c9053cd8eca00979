//! A policy on files in six fields, for embedders without a policy file: JSON becomes links of a chain.
//!
//! ```
//! let config: ringfence_guard::Config = serde_json::from_str(r#"{ "cwd": "/home/me/project", "jail": "ask" }"#)?;
//! let chain = config.chain()?;
//! assert!(chain.names().any(|name| name == "forbidden names"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::path::{Path, PathBuf};

use policy::floor::{Border, Forbidden, NoAbsolute, outside};
use policy::{
    Chain, Code, Effect, FilesDefault, Floor, FloorScope, GlobError, Kinds, Link, PathPattern, Protected,
    ProtectedNames, Reason, Request, Rule, RuleSet, Subject,
};
use serde::de::{self, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A policy on files. What is left out in JSON is as in [`Config::default_in`], which lets nothing out of the directory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// The directory that relative paths start from, and that the border is drawn around.
    pub cwd: PathBuf,
    /// Effect at the border.
    #[serde(default = "closed")]
    pub jail: Jail,
    /// True if paths may be written from the root.
    #[serde(default)]
    pub allow_absolute_paths: bool,
    /// Names that are never reached, by any spelling.
    #[serde(default = "standard")]
    pub forbidden_globs: Vec<String>,
    /// Rules for reading.
    #[serde(default = "PathRules::readable")]
    pub read: PathRules,
    /// Rules for writing.
    #[serde(default = "PathRules::anything")]
    pub write: PathRules,
}

/// Effect at the border of the directory: `true`, `false` or `"ask"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Jail {
    /// Nothing crosses it.
    Closed,
    /// It is not there.
    Open,
    /// A person decides.
    Ask,
}

/// Patterns in the order of their weight: what is denied, what is allowed, and what holds for the rest.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PathRules {
    /// Always denied.
    #[serde(default)]
    pub deny: Vec<String>,
    /// Allowed.
    #[serde(default)]
    pub allow: Vec<String>,
    /// Effect without a matching pattern. A person decides, if it is left out.
    #[serde(default = "ask", with = "word")]
    pub default: Effect,
}

/// A pattern that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` in `{field}`: {why}")]
pub struct BadPattern {
    /// The field it stands in.
    pub field: &'static str,
    /// The pattern as written.
    pub pattern: String,
    /// Description of the mistake.
    pub why: GlobError,
}

impl Config {
    /// The careful one: nothing outside the directory, no paths from the root, the usual names forbidden.
    #[must_use]
    pub fn default_in(cwd: &Path) -> Self {
        Self {
            cwd: cwd.to_owned(),
            jail: Jail::Closed,
            allow_absolute_paths: false,
            forbidden_globs: standard(),
            read: PathRules::readable(),
            write: PathRules::anything(),
        }
    }

    /// Returns a policy for a fully trusted agent: no border, no forbidden names.
    #[must_use]
    pub fn permissive_in(cwd: &Path) -> Self {
        Self {
            cwd: cwd.to_owned(),
            jail: Jail::Open,
            allow_absolute_paths: true,
            forbidden_globs: Vec::new(),
            read: PathRules::anything(),
            write: PathRules::anything(),
        }
    }

    /// The one for agents that run unattended: everything in the directory but the forbidden names, and a person decides about the
    /// rest.
    #[must_use]
    pub fn daemon_in(cwd: &Path) -> Self {
        let allow = |patterns: &[&str]| PathRules {
            deny: Vec::new(),
            allow: patterns.iter().map(ToString::to_string).collect(),
            default: Effect::Ask,
        };
        Self {
            cwd: cwd.to_owned(),
            jail: Jail::Ask,
            allow_absolute_paths: true,
            forbidden_globs: standard(),
            read: allow(&["**", ".", ".comma/**"]),
            write: allow(&["**"]),
        }
    }

    /// The links that hold it.
    pub fn chain(&self) -> Result<Chain, BadPattern> {
        let mut floor: Vec<Box<dyn Floor>> = vec![Box::new(self.forbidden()?)];
        if !self.allow_absolute_paths {
            floor.push(Box::new(NoAbsolute(None)));
        }
        if self.jail == Jail::Closed {
            floor.push(Box::new(Border::new(Vec::new(), None)));
        }
        let mut chain = Chain::new(floor).then(self.rules()?).otherwise(self.default());
        // An open border means that the agent is trusted with everything behind it.
        if self.jail != Jail::Open {
            let names = ProtectedNames(Protected::all());
            chain = chain.forbidden_by(names.clone()).narrowed_by(names);
        }
        Ok(match self.jail {
            Jail::Ask => chain.then(Link::new("border", |request: &Request<'_>| {
                let location = request.want.location()?;
                (!location.is_inside()).then(|| (Effect::Ask, outside(None)))
            })),
            Jail::Closed | Jail::Open => chain,
        })
    }

    /// The names that nothing overrules.
    pub fn forbidden(&self) -> Result<Forbidden, BadPattern> {
        let field = "forbiddenGlobs";
        let pattern = |text: &String| pattern(field, text).map(|pattern| (pattern, None));
        let patterns: Vec<_> = self.forbidden_globs.iter().map(pattern).collect::<Result<_, _>>()?;
        let exempt: Vec<_> =
            policy::template_patterns().map(|text| self::pattern(field, text)).collect::<Result<_, _>>()?;
        let forbidden = Forbidden::new(&patterns).and_then(|forbidden| forbidden.except(&exempt, |_| true));
        let forbidden = forbidden.map_err(|why| together(field, why))?;
        // Also where a command names them.
        Ok(forbidden.in_workspace(&self.cwd))
    }

    fn rules(&self) -> Result<RuleSet, BadPattern> {
        let lists = [
            ("read.deny", &self.read.deny, Effect::Deny, Kinds::Read),
            ("read.allow", &self.read.allow, Effect::Allow, Kinds::Read),
            ("write.deny", &self.write.deny, Effect::Deny, Kinds::Write),
            ("write.allow", &self.write.allow, Effect::Allow, Kinds::Write),
        ];
        let mut rules = Vec::new();
        for (field, patterns, effect, kinds) in lists {
            for text in patterns {
                let subject = Subject::Path(pattern(field, text)?, kinds);
                let reason =
                    Reason::new(Code::FilesRule, format!("`{text}` in `{field}` says {}", effect.word()));
                let (id, arguments) = (rules.len(), Vec::new());
                rules.push(Rule { id, effect, tool: None, subject, arguments, reason });
            }
        }
        RuleSet::new(rules).map_err(|why| together("read, write", why))
    }

    fn default(&self) -> FilesDefault {
        let default = |field: &str, effect: Effect| {
            let text =
                format!("no pattern in `{field}` names this file, and its default is {}", effect.word());
            let remedy = format!("add a pattern to `{field}.allow`");
            Some((effect, Reason::new(Code::FilesDefault, text).remedy(remedy)))
        };
        FilesDefault { read: default("read", self.read.default), write: default("write", self.write.default) }
    }
}

impl PathRules {
    /// Allows everything that nothing else forbids.
    #[must_use]
    pub fn anything() -> Self {
        Self { deny: Vec::new(), allow: Vec::new(), default: Effect::Allow }
    }

    fn readable() -> Self {
        let allow = [".", ".comma/**"].map(str::to_owned).into();
        Self { deny: Vec::new(), allow, default: Effect::Allow }
    }
}

fn pattern(field: &'static str, text: &str) -> Result<PathPattern, BadPattern> {
    PathPattern::parse(text).map_err(|why| BadPattern { field, pattern: text.to_owned(), why })
}

fn together(field: &'static str, why: GlobError) -> BadPattern {
    BadPattern { field, pattern: "all patterns together".to_owned(), why }
}

fn closed() -> Jail {
    Jail::Closed
}

/// Names that hold secrets or decide what runs.
fn standard() -> Vec<String> {
    std::iter::once(".git/**".to_owned()).chain(policy::forbidden_patterns(FloorScope::Tools)).collect()
}

fn ask() -> Effect {
    Effect::Ask
}

impl Serialize for Jail {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Closed => serializer.serialize_bool(true),
            Self::Open => serializer.serialize_bool(false),
            Self::Ask => serializer.serialize_str("ask"),
        }
    }
}

impl<'de> Deserialize<'de> for Jail {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JailWord)
    }
}

struct JailWord;

impl Visitor<'_> for JailWord {
    type Value = Jail;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false or \"ask\"")
    }

    fn visit_bool<E: de::Error>(self, closed: bool) -> Result<Jail, E> {
        Ok(if closed { Jail::Closed } else { Jail::Open })
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Jail, E> {
        if word == "ask" { Ok(Jail::Ask) } else { Err(E::invalid_value(Unexpected::Str(word), &self)) }
    }
}

/// An effect as its word.
mod word {
    use super::{Deserialize as _, Deserializer, Effect, Serializer, de};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn serialize<S: Serializer>(effect: &Effect, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(effect.word())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Effect, D::Error> {
        let word = String::deserialize(deserializer)?;
        let known =
            [Effect::Allow, Effect::Ask, Effect::Deny].into_iter().find(|effect| effect.word() == word);
        known.ok_or_else(|| de::Error::unknown_variant(&word, &["allow", "ask", "deny"]))
    }
}

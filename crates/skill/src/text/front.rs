//! The front matter of a skill: read under a budget, every value with its place, checked on two levels.

mod check;
mod tools;
mod yaml;

use std::ops::Range;

pub use check::{Level, Problem, validate};
pub use yaml::{Shape, Spot, Value};

use crate::text::markdown::front_matter;

/// Maximum length of front matter. The longest that is in use is a tenth of it.
pub const MAX_FRONT: usize = 16 << 10;

/// Front matter: the text between the two lines of `---` at the beginning of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Front {
    /// Range in the text, without the two lines.
    pub span: Range<usize>,
    /// Its keys, in the order of the text. No key stands twice.
    pub fields: Vec<Field>,
    /// Position of the first list or mapping in brackets. The reference validator refuses them.
    pub flow: Option<Spot>,
}

/// A key and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The key, as it is written.
    pub key: String,
    /// Position of the key.
    pub spot: Spot,
    /// Origin of the key.
    pub known: Known,
    /// Its value.
    pub value: Value,
}

/// Origin of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// The specification of skills.
    Specification,
    /// One agent, on top of it.
    Agent,
    /// Skills of the older kind, with permissions of their own.
    Older,
    /// An unknown origin.
    Unknown,
}

/// Reason why front matter cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrontError {
    /// It begins and does not end.
    #[error("{0}: the front matter does not end")]
    Open(Spot),
    /// The size limit is exceeded.
    #[error("{0}: the front matter is longer than 16 KiB")]
    TooLarge(Spot),
    /// Lists and mappings lie in each other without end.
    #[error("{0}: nested too deeply")]
    TooDeep(Spot),
    /// An anchor or an alias: a few lines could stand for millions.
    #[error("{0}: anchors and aliases are not read")]
    Alias(Spot),
    /// A tag: it asks the reader to make something else of the value.
    #[error("{0}: tags are not read")]
    Tag(Spot),
    /// A key twice: readers disagree on which of them counts.
    #[error("{spot}: the key `{key}` stands twice")]
    Twice {
        /// The key.
        key: String,
        /// Position of the second one.
        spot: Spot,
    },
    /// A key that is no text.
    #[error("{0}: a key has to be a text")]
    Key(Spot),
    /// Something else than keys and values.
    #[error("{0}: the front matter has to be keys and values")]
    NotMapping(Spot),
    /// More than one document.
    #[error("{0}: there is more than one document")]
    Documents(Spot),
    /// No YAML.
    #[error("{spot}: {message}")]
    Syntax {
        /// Description of what the reader expected.
        message: String,
        /// Position.
        spot: Spot,
    },
}

impl FrontError {
    /// Returns the position of the error.
    #[must_use]
    pub fn spot(&self) -> Spot {
        match self {
            Self::Open(spot)
            | Self::TooLarge(spot)
            | Self::TooDeep(spot)
            | Self::Alias(spot)
            | Self::Tag(spot)
            | Self::Key(spot)
            | Self::NotMapping(spot)
            | Self::Documents(spot)
            | Self::Twice { spot, .. }
            | Self::Syntax { spot, .. } => *spot,
        }
    }
}

impl Front {
    /// Reads the front matter of a text. `None` if it has none.
    pub fn read(text: &str) -> Result<Option<Self>, FrontError> {
        let Some(span) = front_matter(text) else {
            let begins = text
                .trim_start_matches('\u{feff}')
                .lines()
                .next()
                .is_some_and(|line| line.trim_end() == "---");
            return if begins {
                Err(FrontError::Open(Spot { byte: 0, line: 1, column: 1 }))
            } else {
                Ok(None)
            };
        };
        Self::read_in(text, span).map(Some)
    }

    /// Reads a stretch of a text as front matter.
    fn read_in(text: &str, span: Range<usize>) -> Result<Self, FrontError> {
        let (fields, flow) = yaml::read(text, span.clone())?;
        let fields =
            fields.into_iter().map(|(key, spot, value)| Field { known: known(&key), key, spot, value });
        Ok(Self { span, fields: fields.collect(), flow })
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.fields.iter().find(|field| field.key == key).map(|field| &field.value)
    }

    /// The value of a key that is a text.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    /// Returns the name of the skill.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.text("name").map(str::trim)
    }

    /// Returns its purpose: the text that every model sees.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.text("description").map(str::trim)
    }

    /// Its licence.
    #[must_use]
    pub fn license(&self) -> Option<&str> {
        self.text("license")
    }

    /// Returns its requirements on the environment.
    #[must_use]
    pub fn compatibility(&self) -> Option<&str> {
        self.text("compatibility")
    }

    /// Returns true if a person may call it by name. They may if it does not say otherwise.
    #[must_use]
    pub fn is_user_invocable(&self) -> bool {
        self.flag("user-invocable").or_else(|| self.flag("userInvocable")).unwrap_or(true)
    }

    /// Returns true if a model may call it by itself. It may if it does not say otherwise.
    #[must_use]
    pub fn is_model_invocable(&self) -> bool {
        !self
            .flag("disable-model-invocation")
            .or_else(|| self.flag("disableModelInvocation"))
            .unwrap_or(false)
    }

    /// A key that is yes or no.
    #[must_use]
    pub fn flag(&self, key: &str) -> Option<bool> {
        match self.text(key)?.trim() {
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            _ => None,
        }
    }

    /// Returns what it wants to read, write, reach and know, if it says so.
    #[must_use]
    pub fn permissions(&self) -> Option<Permissions> {
        let value = self.get("permissions")?;
        let list = |key: &str| value.get(key).map(Value::texts).unwrap_or_default();
        Some(Permissions { read: list("fsRead"), write: list("fsWrite"), net: list("net"), env: list("env") })
    }

    /// The unknown keys.
    pub fn unknown(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.known == Known::Unknown)
    }
}

/// Declared needs of a skill of the older kind. They grant nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    /// Paths that it reads.
    pub read: Vec<String>,
    /// Paths that it writes.
    pub write: Vec<String>,
    /// Hosts that it reaches.
    pub net: Vec<String>,
    /// Variables that it reads.
    pub env: Vec<String>,
}

/// The keys of the specification.
const SPECIFICATION: &[&str] =
    &["name", "description", "license", "allowed-tools", "metadata", "compatibility"];

/// Keys that one agent adds.
const AGENT: &[&str] = &[
    "when_to_use",
    "argument-hint",
    "arguments",
    "disable-model-invocation",
    "user-invocable",
    "disallowed-tools",
    "model",
    "effort",
    "context",
    "agent",
    "background",
    "hooks",
    "paths",
    "shell",
];

/// Keys of skills of the older kind.
const OLDER: &[&str] = &[
    "type",
    "version",
    "userInvocable",
    "disableModelInvocation",
    "argumentHint",
    "allowedTools",
    "permissions",
    "inputSchema",
    "requires",
    "comis",
];

fn known(key: &str) -> Known {
    if SPECIFICATION.contains(&key) {
        Known::Specification
    } else if AGENT.contains(&key) {
        Known::Agent
    } else if OLDER.contains(&key) {
        Known::Older
    } else {
        Known::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_places() {
        let text = "---\nname: añb\ndescription: >\n  one\n  two\nallowed-tools:\n  - Read\n  - Bash(git:*)\nown: 1\n---\n# B\n";
        let front = Front::read(text).unwrap().unwrap();
        assert_eq!((front.name(), front.description()), (Some("añb"), Some("one two")));
        let spot = front.get("name").unwrap().spot;
        assert_eq!((spot.byte, spot.line, spot.column), (10, 2, 7));
        let unknown: Vec<_> = front.unknown().map(|field| (field.key.as_str(), field.spot.line)).collect();
        assert_eq!(unknown, [("own", 9)]);
        assert_eq!(front.get("allowed-tools").unwrap().texts(), ["Read", "Bash(git:*)"]);
        assert_eq!(Front::read("# no front matter").unwrap(), None);
    }

    #[test]
    fn what_cannot_be_trusted_is_refused() {
        let rows = [
            ("---\na: &x 1\nb: *x\n---\n", "line 2, column 4: anchors and aliases are not read"),
            ("---\nb: *x\n---\n", "line 2, column 4: "),
            ("---\na: 1\na: 2\n---\n", "line 3, column 1: the key `a` stands twice"),
            ("---\na: {b: 1, b: 2}\n---\n", "line 2, column 11: the key `b` stands twice"),
            ("---\n- a\n---\n", "line 2, column 1: the front matter has to be keys and values"),
            ("---\na: !!python/object x\n---\n", "line 2, column 4: tags are not read"),
            ("---\na: b: c\n---\n", "line 2, "),
            ("---\na: 1\n", "line 1, column 1: the front matter does not end"),
            (
                "---\na: [[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]\n---\n",
                "line 2, column 19: nested too deeply",
            ),
        ];
        for (text, expected) in rows {
            let error = Front::read(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
        let long = format!("---\na: {}\n---\n", "x".repeat(MAX_FRONT));
        assert!(matches!(Front::read(&long), Err(FrontError::TooLarge(_))));
    }

    proptest::proptest! {
        #[test]
        fn reading_never_panics(text in "\\PC{0,200}") {
            drop(Front::read(&format!("---\n{text}\n---\n")));
            drop(validate(&format!("---{text}---"), "x", Level::Strict));
        }

        #[test]
        fn reading_something_like_yaml_never_panics(text in "(a|:|\n| |  |- |\\[|\\]|\\{|\\}|,|\"|'|&a |\\*a|!!x |\\||>|#|\\?|%|@|\u{e9}|\t|---|\\.\\.\\.){0,40}") {
            let whole = format!("---\n{text}\n---\n");
            if let Ok(Some(front)) = Front::read(&whole) {
                for field in &front.fields {
                    assert!(whole.is_char_boundary(field.spot.byte) && whole.is_char_boundary(field.value.spot.byte));
                }
                drop(front.wanted_tools());
            }
            drop(validate(&whole, "x", Level::Strict));
            drop(validate(&whole, "x", Level::Lenient));
        }
    }
}

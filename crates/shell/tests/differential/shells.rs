//! The shells that are compared.

use std::path::Path;

use ringfence_shell::Dialect;

/// A real shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shell {
    Bash,
    Dash,
    Zsh,
}

impl Shell {
    pub(crate) const ALL: &[Self] = &[Self::Bash, Self::Dash, Self::Zsh];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Dash => "dash",
            Self::Zsh => "zsh",
        }
    }

    /// Its language alone.
    pub(crate) fn dialect(self) -> &'static [Dialect] {
        match self {
            Self::Bash => &[Dialect::Bash],
            Self::Dash => &[Dialect::Sh],
            Self::Zsh => &[Dialect::Zsh],
        }
    }

    pub(crate) fn path(self) -> Option<String> {
        Self::path_of(self.name())
    }

    /// Returns the path of a program that is there inside the arena, too.
    pub(crate) fn path_of(name: &str) -> Option<String> {
        let places = ["/usr/bin", "/bin"].map(|directory| format!("{directory}/{name}"));
        places.into_iter().find(|path| Path::new(path).exists())
    }

    /// The options without which it would read files of its own.
    pub(crate) fn options_of(path: &str) -> &'static [&'static str] {
        match path.rsplit('/').next() {
            Some("bash") => &["--norc", "--noprofile"],
            Some("zsh") => &["-f"],
            _ => &[],
        }
    }
}

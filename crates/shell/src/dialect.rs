//! The shells whose language is read.

/// A language of shells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// POSIX, as `dash` implements it.
    Sh,
    /// `bash`.
    Bash,
    /// `zsh`.
    Zsh,
}

impl Dialect {
    /// Every dialect.
    pub const ALL: &[Self] = &[Self::Sh, Self::Bash, Self::Zsh];

    /// This dialect and no other.
    #[must_use]
    pub const fn alone(self) -> &'static [Self] {
        match self {
            Self::Sh => &[Self::Sh],
            Self::Bash => &[Self::Bash],
            Self::Zsh => &[Self::Zsh],
        }
    }

    /// The languages in which a shell of this kind may read a text: `sh` is bash on many machines.
    #[must_use]
    pub const fn readers(self) -> &'static [Self] {
        match self {
            Self::Sh => &[Self::Sh, Self::Bash],
            Self::Bash => &[Self::Bash],
            Self::Zsh => &[Self::Zsh],
        }
    }

    /// The language that a program of this name speaks; `None` when it is no shell.
    #[must_use]
    pub fn of_program(name: &str) -> Option<Self> {
        match policy::KnownProgram::named(name)?.dialect {
            "sh" => Some(Self::Sh),
            "bash" => Some(Self::Bash),
            "zsh" => Some(Self::Zsh),
            _ => None,
        }
    }
}

//! The rows of `tables/secrets.toml` as types.

/// A name whose value is a secret.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) word: &'static str,
    pub(crate) name: &'static str,
    pub(crate) whole: bool,
    pub(crate) variable: Variable,
    pub(crate) cautious: bool,
}

/// The part that variables in capitals play for a [`Key`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variable {
    /// They are names like others.
    No,
    /// In one the word may be the end of a longer one.
    Also,
    /// The word counts in nothing else.
    Only,
}

/// An option or an operand of programs whose value is a secret.
#[derive(Debug)]
pub(crate) struct ProgramSecret {
    pub(crate) programs: &'static [&'static str],
    pub(crate) options: &'static [&'static str],
    pub(crate) spelled: Spelled,
    /// Only what follows this in the value is secret.
    pub(crate) part: &'static str,
    /// The row counts only behind this word or option.
    pub(crate) after: &'static str,
    /// The row counts only before the first operand.
    pub(crate) leading: bool,
    pub(crate) name: &'static str,
}

/// The position of a value in a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelled {
    /// `-pX`, `--option=X`
    Attached,
    /// `-p X`, `--option X`, `--option=X`
    Next,
    /// Both of these.
    Either,
    /// The word of this number that is no option, counted from one.
    Operand(usize),
}

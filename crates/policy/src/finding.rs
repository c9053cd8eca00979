//! Effects of findings in command lines.

use crate::Code;
use crate::decision::Effect;
use crate::decision::Effect::{Ask, Deny};

/// Strictness with which command lines are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Only what a line does certainly matters: the floor, and what cannot be read.
    Off,
    /// A substitution is as good as the program in it.
    Standard,
    /// Refuses constructs that hide a program from a quick reader.
    Strict,
}

impl Mode {
    /// Every mode, the strictest first.
    pub const ALL: &[Self] = &[Self::Strict, Self::Standard, Self::Off];

    /// The word used in policy files and output.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Standard => "standard",
            Self::Off => "off",
        }
    }

    /// The mode that a word names.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|mode| mode.word() == word)
    }
}

/// Returns the effect of a finding with this code; `None`: no effect.
#[must_use]
pub fn effect(code: Code, mode: Mode) -> Option<Effect> {
    let row = TABLE.iter().find(|row| row.code == code)?;
    match mode {
        Mode::Strict => row.strict,
        Mode::Standard => row.standard,
        Mode::Off => row.off,
    }
}

/// Returns true if no rule and no mode overrules a finding with this code.
#[must_use]
pub const fn is_floor(code: Code) -> bool {
    matches!(code, Code::Destructive | Code::CredentialRead)
}

struct Row {
    code: Code,
    strict: Option<Effect>,
    standard: Option<Effect>,
    off: Option<Effect>,
}

const fn row(code: Code, strict: Option<Effect>, standard: Option<Effect>, off: Option<Effect>) -> Row {
    Row { code, strict, standard, off }
}

const TABLE: &[Row] = &[
    row(Code::Unreadable, Some(Deny), Some(Deny), Some(Deny)),
    row(Code::MisleadingCharacter, Some(Deny), Some(Deny), Some(Deny)),
    row(Code::TooComplex, Some(Deny), Some(Deny), Some(Deny)),
    row(Code::CommandSubstitution, Some(Deny), None, None),
    row(Code::Backtick, Some(Deny), None, None),
    row(Code::ProcessSubstitution, Some(Deny), None, None),
    row(Code::ZshForm, Some(Deny), Some(Ask), None),
    row(Code::PipeTarget, Some(Deny), Some(Deny), None),
    row(Code::CodeOfItsOwn, Some(Deny), Some(Ask), None),
    row(Code::Brace, None, None, None),
    row(Code::FieldSeparator, Some(Deny), Some(Ask), None),
    row(Code::ProcessEnvironment, Some(Deny), Some(Ask), None),
    row(Code::ProtectedPath, Some(Deny), Some(Deny), None),
    row(Code::RedirectTarget, Some(Deny), Some(Deny), None),
    row(Code::ZshBuiltin, Some(Deny), Some(Ask), None),
    row(Code::EnvironmentOverride, Some(Deny), Some(Ask), None),
    row(Code::Evaluation, Some(Deny), None, None),
    row(Code::Destructive, Some(Deny), Some(Deny), Some(Deny)),
    row(Code::CredentialRead, Some(Deny), Some(Deny), Some(Deny)),
    row(Code::ForcedPush, Some(Ask), Some(Ask), Some(Ask)),
    row(Code::RaisedRights, Some(Ask), Some(Ask), None),
    row(Code::NetworkSender, Some(Deny), Some(Ask), None),
    row(Code::Unprovable, Some(Ask), Some(Ask), None),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_one_row() {
        for code in
            Code::ALL.iter().filter(|code| code.id().starts_with("RF-S") || **code == Code::Unprovable)
        {
            assert_eq!(TABLE.iter().filter(|row| row.code == *code).count(), 1, "{code}");
        }
    }

    #[test]
    fn a_stricter_mode_is_never_milder() {
        for row in TABLE {
            assert!(row.strict >= row.standard && row.standard >= row.off, "{}", row.code);
        }
    }

    #[test]
    fn the_floor_is_denied_in_every_mode() {
        for code in Code::ALL.iter().copied().filter(|code| is_floor(*code)) {
            assert!(Mode::ALL.iter().all(|mode| effect(code, *mode) == Some(Deny)), "{code}");
        }
    }

    #[test]
    fn rows_are_as_the_manual_says() {
        let rows = [
            (Code::CommandSubstitution, Mode::Strict, Some(Deny)),
            (Code::CommandSubstitution, Mode::Standard, None),
            (Code::NetworkSender, Mode::Standard, Some(Ask)),
            (Code::PipeTarget, Mode::Standard, Some(Deny)),
            (Code::ForcedPush, Mode::Off, Some(Ask)),
            (Code::ProtectedPath, Mode::Off, None),
            (Code::Unreadable, Mode::Off, Some(Deny)),
            (Code::Rule, Mode::Strict, None),
        ];
        for (code, mode, expected) in rows {
            assert_eq!(effect(code, mode), expected, "{code} {}", mode.word());
        }
    }

    #[test]
    fn modes_have_words() {
        assert!(Mode::ALL.iter().all(|mode| Mode::from_word(mode.word()) == Some(*mode)));
        assert_eq!(Mode::from_word("lax"), None);
    }
}

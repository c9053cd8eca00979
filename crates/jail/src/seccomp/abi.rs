//! The ways to number calls that have been reviewed.

use super::row::{Answer, Errno};

/// A kind of abi. Each numbers its calls differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abi {
    /// 64-bit x86.
    X86_64,
    /// 64-bit Arm.
    Aarch64,
}

impl Abi {
    /// Every abi.
    pub const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

    /// Returns the one this program was built for. None if it has not been reviewed: then there is no filter, and no jail.
    #[must_use]
    pub fn here() -> Option<Self> {
        match std::env::consts::ARCH {
            // The 32-bit ABI of 64-bit machines carries the same name.
            "x86_64" if cfg!(target_pointer_width = "64") => Some(Self::X86_64),
            "aarch64" if cfg!(all(target_pointer_width = "64", target_endian = "little")) => {
                Some(Self::Aarch64)
            }
            _ => None,
        }
    }

    /// Returns the kernel's constant for it (`AUDIT_ARCH_*`).
    pub(super) const fn word(self) -> u32 {
        match self {
            Self::X86_64 => 0xc000_003e,
            Self::Aarch64 => 0xc000_00b7,
        }
    }

    /// Returns the answers for numbers that no row names, from the lowest on.
    pub(super) const fn spans(self) -> &'static [Span] {
        match self {
            Self::X86_64 => X86_64,
            Self::Aarch64 => AARCH64,
        }
    }
}

/// Answer for the numbers from this one up to the next span's.
pub(super) struct Span {
    pub(super) first: u32,
    pub(super) answer: Answer,
    pub(super) because: &'static str,
}

const fn reviewed(first: u32) -> Span {
    Span { first, answer: Answer::Allow, because: "reviewed: refused only where a row says so" }
}

const fn gap(first: u32) -> Span {
    Span {
        first,
        answer: Answer::Refuse(Errno::NoSys),
        because: "assigned to no call when the table was reviewed: whatever arrives here is unknown",
    }
}

const fn newer(first: u32) -> Span {
    Span {
        first,
        answer: Answer::Refuse(Errno::NoSys),
        because: "newer than the review: programs fall back, as they do on an older kernel",
    }
}

const X86_64: &[Span] = &[
    reviewed(0),
    gap(337),
    reviewed(424),
    newer(470),
    Span {
        first: 0x4000_0000,
        answer: Answer::Kill,
        because: "x32, a second ABI with the same architecture: every call again under another number",
    },
    Span {
        first: u32::MAX,
        answer: Answer::Refuse(Errno::NoSys),
        because: "minus one is how programs ask for no call at all",
    },
];

const AARCH64: &[Span] = &[reviewed(0), gap(244), reviewed(260), gap(295), reviewed(424), newer(470)];

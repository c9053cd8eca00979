//! An error number, named as people search for it.

use std::fmt;

use crate::sys;

/// An error number of the kernel: 1 to 4095.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(u16);

impl Errno {
    /// Stands for an answer that was no error number.
    pub(crate) const UNKNOWN: Self = Self(4095);

    /// An error number, if it is one.
    #[must_use]
    pub fn new(number: u16) -> Option<Self> {
        (1..=4095).contains(&number).then_some(Self(number))
    }

    /// The number.
    #[must_use]
    pub fn number(self) -> u16 {
        self.0
    }

    /// The name in `errno.h`, where a probe is likely to meet it.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        sys::errno_name(self)
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "errno {}", self.0),
        }
    }
}

//! Questions to the person at the terminal, while a command runs.

use std::time::Duration;

use crate::launch::{Held, JailError};
use crate::sys;

impl Held {
    /// Returns a handle that asks questions at the caller's terminal while the command runs.
    pub fn questions(&mut self) -> Result<Questions, JailError> {
        self.jail.questions().map(Questions)
    }
}

/// Asks questions at the caller's terminal while a command runs in its jail.
///
/// The command's own terminal is held back meanwhile: what it writes is shown after the answer, and no key reaches it.
#[derive(Clone)]
pub struct Questions(sys::Questions);

impl Questions {
    /// Shows a text and returns the line that a person typed. `None` if there was none before `patience` was over, or the command
    /// has ended. Blocks; questions of several threads are asked one after the other.
    ///
    /// The text is shown as it is: text from outside has to be escaped with [`policy::Shown`].
    #[must_use]
    pub fn ask(&self, text: &str, patience: Duration) -> Option<String> {
        self.0.ask(text, patience)
    }
}

//! A request to give up waiting.

use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Whoever waits for a command with this gives up when it is asked to, and the command is stopped.
#[derive(Debug, Clone, Default)]
pub struct Abort(Arc<Mutex<Asked>>);

#[derive(Debug, Default)]
struct Asked {
    asked: bool,
    waiting: Vec<Weak<dyn Wake>>,
}

/// Somebody who waits.
pub(super) trait Wake: Send + Sync + std::fmt::Debug {
    /// Looks again whether there is something to do.
    fn wake(&self);
}

impl Abort {
    /// Nobody has asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks. It cannot be taken back.
    pub fn ask(&self) {
        let waiting = {
            let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            asked.asked = true;
            std::mem::take(&mut asked.waiting)
        };
        for wake in waiting.iter().filter_map(Weak::upgrade) {
            wake.wake();
        }
    }

    /// Whether somebody has asked.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).asked
    }

    /// Wakes somebody when it is asked. Who was asked already finds out by looking.
    pub(super) fn tell(&self, wake: Weak<dyn Wake>) {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asked.waiting.retain(|known| known.strong_count() > 0 && !known.ptr_eq(&wake));
        asked.waiting.push(wake);
    }
}

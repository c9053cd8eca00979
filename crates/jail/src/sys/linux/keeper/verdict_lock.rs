//! The lock under which a verdict that depends on the disk stays true until the name is made.
//!
//! **Invariant.** A call has one [`VerdictGuard`], made with it; functions that need the lock borrow that guard. Taking it a
//! second time does nothing, so a call cannot wait for itself. A call that waits for this lock takes no other one.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The lock of one jail.
#[derive(Default)]
pub(super) struct VerdictLock(Mutex<()>);

/// The right of one call to take the lock.
pub(super) struct VerdictGuard<'a> {
    lock: &'a VerdictLock,
    guard: Option<MutexGuard<'a, ()>>,
}

impl VerdictLock {
    /// Makes the guard of one call. It holds nothing yet.
    pub(super) const fn of_call(&self) -> VerdictGuard<'_> {
        VerdictGuard { lock: self, guard: None }
    }
}

impl VerdictGuard<'_> {
    /// Waits for the lock, unless this call has it.
    pub(super) fn take(&mut self) {
        // A holder that panicked has made its name or has not; there is no state to repair.
        self.guard.get_or_insert_with(|| self.lock.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Gives the lock back: what follows may take long and depends on no verdict.
    pub(super) fn release(&mut self) {
        self.guard = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_takes_the_lock_twice_goes_on() {
        let lock = VerdictLock::default();
        let mut guard = lock.of_call();
        guard.take();
        guard.take();
        assert!(lock.0.try_lock().is_err());
        guard.release();
        assert!(lock.0.try_lock().is_ok());
    }
}

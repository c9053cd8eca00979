//! The locks under which a verdict stays true until the name is made.
//!
//! Every rename in the jail is done by the supervisor. A rename holds the names alone, every other call holds them together with
//! others, from the lookup of its paths until it is done: so no directory of the jail moves between the lookup and the use of a path.
//! Calls that hold the names together exclude each other by a second lock where the verdict depends on names beside the one that is
//! made.
//!
//! **Invariant.** A call has one [`NamesGuard`], made with it; functions that need a lock borrow that guard. Taking a lock a
//! second time does nothing, so a call cannot wait for itself. The names are taken first and the verdict second, never the other
//! way round. The lock that finishes checkouts comes before the names, their list and the references after them.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The locks of one jail.
#[derive(Default)]
pub(super) struct NamesLock {
    names: RwLock<()>,
    verdict: Mutex<()>,
}

/// Lock by which a call holds the names.
enum Held<'a> {
    Shared(#[expect(dead_code, reason = "held, not read")] RwLockReadGuard<'a, ()>),
    Alone(#[expect(dead_code, reason = "held, not read")] RwLockWriteGuard<'a, ()>),
}

/// The right of one call to take the locks.
pub(super) struct NamesGuard<'a> {
    lock: &'a NamesLock,
    // Fields are dropped in this order.
    verdict: Option<MutexGuard<'a, ()>>,
    names: Option<Held<'a>>,
}

impl NamesLock {
    /// Makes the guard of one call. It holds nothing yet.
    pub(super) const fn of_call(&self) -> NamesGuard<'_> {
        NamesGuard { lock: self, verdict: None, names: None }
    }
}

// A holder that panicked has made its name or has not; there is no state to repair.
impl NamesGuard<'_> {
    /// Waits until nothing is being renamed, unless this call has the names.
    pub(super) fn share(&mut self) {
        let names = &self.lock.names;
        self.names.get_or_insert_with(|| Held::Shared(names.read().unwrap_or_else(PoisonError::into_inner)));
    }

    /// Waits until no other call has the names, unless this call has them.
    pub(super) fn take_alone(&mut self) {
        let names = &self.lock.names;
        self.names.get_or_insert_with(|| Held::Alone(names.write().unwrap_or_else(PoisonError::into_inner)));
    }

    /// Waits for the lock of verdicts that depend on other names, unless this call has it.
    pub(super) fn take(&mut self) {
        // A call that has the names alone needs no other lock.
        if !matches!(self.names, Some(Held::Alone(_))) {
            self.share();
            let verdict = &self.lock.verdict;
            self.verdict.get_or_insert_with(|| verdict.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Gives all locks back: what follows may take long and depends on no verdict.
    pub(super) fn release(&mut self) {
        self.verdict = None;
        self.names = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_takes_a_lock_twice_goes_on() {
        let lock = NamesLock::default();
        let mut guard = lock.of_call();
        guard.take();
        guard.share();
        guard.take();
        assert!(lock.verdict.try_lock().is_err() && lock.names.try_write().is_err());
        assert!(lock.names.try_read().is_ok());
        guard.release();
        assert!(lock.verdict.try_lock().is_ok() && lock.names.try_write().is_ok());
    }

    #[test]
    fn a_rename_has_the_names_alone() {
        let lock = NamesLock::default();
        let mut guard = lock.of_call();
        guard.take_alone();
        guard.take();
        guard.take_alone();
        assert!(lock.names.try_read().is_err());
        drop(guard);
        assert!(lock.names.try_write().is_ok());
    }
}

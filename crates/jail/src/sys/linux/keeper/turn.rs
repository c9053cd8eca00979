//! The lock under which a verdict that depends on the disk stays true until the name is made.
//!
//! **Invariant.** A call has one [`Turn`], made with it; whoever needs the lock borrows that. Taking it a second time does
//! nothing, so a call cannot wait for itself. No other lock is taken by a call that waits for this one.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The lock of one jail.
#[derive(Default)]
pub(super) struct Turns(Mutex<()>);

/// The right of one call to take the lock.
pub(super) struct Turn<'a> {
    turns: &'a Turns,
    guard: Option<MutexGuard<'a, ()>>,
}

impl Turns {
    /// For one call. It holds nothing yet.
    pub(super) const fn of_call(&self) -> Turn<'_> {
        Turn { turns: self, guard: None }
    }
}

impl Turn<'_> {
    /// Waits for the lock, unless this call has it.
    pub(super) fn take(&mut self) {
        // A holder that panicked has made its name or has not; there is no state to repair.
        self.guard.get_or_insert_with(|| self.turns.0.lock().unwrap_or_else(PoisonError::into_inner));
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
    fn a_call_that_takes_its_turn_twice_goes_on() {
        let turns = Turns::default();
        let mut turn = turns.of_call();
        turn.take();
        turn.take();
        assert!(turns.0.try_lock().is_err());
        turn.release();
        assert!(turns.0.try_lock().is_ok());
    }
}

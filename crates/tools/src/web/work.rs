//! Work that cannot be interrupted, waited for no longer than it is wanted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Interval at which a waiting thread looks for cancellation.
const LOOK: Duration = Duration::from_millis(20);

/// Threads that do such work, no more than so many at a time.
///
/// Cancelled work still has its thread until it ends, and counts.
#[derive(Debug)]
pub(super) struct Workers {
    running: Arc<AtomicUsize>,
    most: usize,
}

/// Reason why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gone {
    Busy,
    Timeout,
    Aborted,
    /// The work itself broke off.
    Broken,
}

impl Workers {
    pub(super) fn new(most: usize) -> Self {
        Self { running: Arc::default(), most }
    }

    /// Does the work in a thread of its own, and waits for it.
    pub(super) fn run<T: Send + 'static>(
        &self,
        limit: Duration,
        abort: &dyn Fn() -> bool,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Gone> {
        if abort() {
            return Err(Gone::Aborted);
        }
        let slot = self.slot().ok_or(Gone::Busy)?;
        let (sender, receiver) = mpsc::sync_channel(1);
        let begun = thread::Builder::new().name("ringfence-web".into()).spawn(move || {
            let done = work();
            drop(slot);
            // The receiver may be gone.
            sender.send(done).ok();
        });
        begun.map_err(|_| Gone::Busy)?;
        let until = Instant::now() + limit;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match receiver.recv_timeout(left.min(LOOK)) {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Disconnected) => return Err(Gone::Broken),
                Err(RecvTimeoutError::Timeout) if abort() => return Err(Gone::Aborted),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(Gone::Timeout),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn slot(&self) -> Option<Slot> {
        let free = |running| (running < self.most).then_some(running + 1);
        self.running.fetch_update(Ordering::SeqCst, Ordering::SeqCst, free).ok()?;
        Some(Slot(Arc::clone(&self.running)))
    }
}

/// The place of one thread among those that may run.
struct Slot(Arc<AtomicUsize>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn work_is_waited_for_as_long_as_it_is_wanted() {
        let workers = Workers::new(8);
        let (end, held) = mpsc::channel::<()>();
        let held = Arc::new(std::sync::Mutex::new(held));
        let stuck = || {
            let held = Arc::clone(&held);
            move || held.lock().is_ok_and(|held| held.recv().is_ok())
        };
        assert_eq!(workers.run(LONG, &|| false, || 7), Ok(7));
        assert_eq!(workers.run(Duration::from_millis(50), &|| false, stuck()), Err(Gone::Timeout));
        let looks = AtomicUsize::new(0);
        let later = || looks.fetch_add(1, Ordering::SeqCst) > 0;
        assert_eq!(workers.run(LONG, &later, stuck()), Err(Gone::Aborted));
        assert_eq!(workers.run(LONG, &|| true, || 7), Err(Gone::Aborted));
        assert_eq!(
            workers.run(LONG, &|| false, || std::panic::resume_unwind(Box::new(()))),
            Err::<(), _>(Gone::Broken)
        );
        drop(end);
    }

    #[test]
    fn over_the_cap_nothing_is_begun() {
        let workers = Workers::new(2);
        let (end, held) = mpsc::channel::<()>();
        let held = Arc::new(std::sync::Mutex::new(held));
        for _ in 0..2 {
            let held = Arc::clone(&held);
            let stuck = move || held.lock().is_ok_and(|held| held.recv().is_ok());
            assert_eq!(workers.run(Duration::ZERO, &|| false, stuck), Err(Gone::Timeout));
        }
        assert_eq!(workers.run(LONG, &|| false, || 7), Err(Gone::Busy));
        drop(end);
        let until = Instant::now() + LONG;
        while workers.run(LONG, &|| false, || 7) == Err(Gone::Busy) && Instant::now() < until {
            thread::yield_now();
        }
        assert_eq!(workers.run(LONG, &|| false, || 7), Ok(7));
    }
}

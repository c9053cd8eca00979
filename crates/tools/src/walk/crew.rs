//! Threads that share a pile of work.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Threads at most: more of them wait for each other.
const MOST: usize = 8;

/// A pile of work that grows while it is done.
pub(super) struct Crew<W> {
    pile: Mutex<Pile<W>>,
    changed: Condvar,
    threads: usize,
}

struct Pile<W> {
    /// A stack, so that few directories are open at a time.
    work: Vec<W>,
    waiting: usize,
    done: bool,
}

impl<W: Send> Crew<W> {
    /// A crew with its first work.
    pub(super) fn new(work: Vec<W>) -> Self {
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST);
        let pile = Mutex::new(Pile { work, waiting: 0, done: false });
        Self { pile, changed: Condvar::new(), threads }
    }

    /// Adds work.
    pub(super) fn add(&self, mut work: Vec<W>) {
        if !work.is_empty() {
            self.lock().work.append(&mut work);
            self.changed.notify_all();
        }
    }

    /// Does all work, each thread with something of its own, which is returned. Breaking leaves the rest undone.
    pub(super) fn work<V: Send>(
        &self,
        own: impl Fn() -> V + Sync,
        work: impl Fn(&mut V, W) -> ControlFlow<()> + Sync,
    ) -> Vec<V> {
        let one = || {
            let mut own = own();
            while let Some(next) = self.next() {
                if work(&mut own, next).is_break() {
                    self.stop();
                }
            }
            own
        };
        thread::scope(|scope| {
            let spawn = |_| thread::Builder::new().name("ringfence walk".to_owned()).spawn_scoped(scope, one);
            // If no thread can be started, this one does it all.
            let others: Vec<_> = (1..self.threads).map_while(|number| spawn(number).ok()).collect();
            self.lock().waiting += self.threads - 1 - others.len();
            let mine = one();
            let theirs = others.into_iter().filter_map(|other| other.join().ok());
            std::iter::once(mine).chain(theirs).collect()
        })
    }

    /// The next piece; `None` when no thread has any or can bring any.
    fn next(&self) -> Option<W> {
        let mut pile = self.lock();
        loop {
            if pile.done {
                return None;
            }
            if let Some(work) = pile.work.pop() {
                return Some(work);
            }
            pile.waiting += 1;
            if pile.waiting == self.threads {
                pile.done = true;
                drop(pile);
                self.changed.notify_all();
                return None;
            }
            pile = self.changed.wait(pile).unwrap_or_else(PoisonError::into_inner);
            pile.waiting -= 1;
        }
    }

    fn stop(&self) {
        let mut pile = self.lock();
        pile.done = true;
        // Dropped outside the lock: it may hold many handles.
        let rest = std::mem::take(&mut pile.work);
        drop(pile);
        self.changed.notify_all();
        drop(rest);
    }

    fn lock(&self) -> MutexGuard<'_, Pile<W>> {
        self.pile.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Questions to people: one at a time about the same thing, withdrawn when no thread waits any more.
//!
//! Threads that want the same wait for one answer. An answer that stays for the session is the answer for all of them, and
//! so is every no: a person never has to say no to the same thing twice in a row. A yes for this time lets exactly one of
//! them go on; the others are asked about again.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use policy::{Kind, Reason, RequestKey};

use crate::detail::Detail;

/// Answers an ask.
///
/// An approver may take as long as it likes; it runs in a thread of its own. One that panics has not answered. A closure from a
/// [`Question`] to an [`Answer`] is an approver.
pub trait Approver: Send + Sync {
    /// Puts the question to a person. `abort` tells when no thread waits for the answer any more.
    fn approve(&self, question: &Question, abort: &Abort) -> Result<Answer, Unanswered>;
}

impl<F: Fn(&Question) -> Answer + Send + Sync> Approver for F {
    fn approve(&self, question: &Question, _: &Abort) -> Result<Answer, Unanswered> {
        Ok(self(question))
    }
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// The same in all records about the request.
    pub id: String,
    /// The agent that wants something.
    pub agent: String,
    /// The tool it uses.
    pub tool: String,
    /// Kind of request.
    pub kind: Kind,
    /// The thing asked for, ready to be shown.
    pub object: String,
    /// Everything that the tool was called with, by name and ready to be shown: the content of a file, a patch, and for a command
    /// its line, `input`, `env` and `cwd`. A name may come several times.
    pub arguments: Vec<Detail>,
    /// Why a person has to decide.
    pub reason: Reason,
}

/// Answer of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Yes, this time.
    AllowOnce,
    /// Yes, until the session ends.
    AllowForSession,
    /// No, this time.
    DenyOnce,
    /// No, until the session ends.
    DenyForSession,
}

impl Answer {
    /// All four.
    pub const ALL: [Self; 4] = [Self::AllowOnce, Self::DenyOnce, Self::AllowForSession, Self::DenyForSession];

    /// The word for it, as people and protocols write it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::AllowOnce => "allow",
            Self::DenyOnce => "deny",
            Self::AllowForSession => "allow-session",
            Self::DenyForSession => "deny-session",
        }
    }

    /// Reads the word. Anything else is no answer.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.word() == word)
    }

    /// Returns true if it is a yes.
    #[must_use]
    pub const fn allows(self) -> bool {
        matches!(self, Self::AllowOnce | Self::AllowForSession)
    }

    /// Returns true if it holds for the rest of the session.
    #[must_use]
    pub const fn stays(self) -> bool {
        matches!(self, Self::AllowForSession | Self::DenyForSession)
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unanswered {
    /// There is no approver.
    #[error("there is no approver")]
    Nobody,
    /// The question was called off, or could not be put.
    #[error("the question was called off")]
    Aborted,
}

/// The approver that refuses everything.
#[derive(Debug, Clone, Copy)]
pub struct Refuse;

impl Approver for Refuse {
    fn approve(&self, _: &Question, _: &Abort) -> Result<Answer, Unanswered> {
        Err(Unanswered::Nobody)
    }
}

/// A cancellation token, shared by all threads that may cancel.
#[derive(Clone, Default)]
pub struct Abort(Arc<Switch>);

#[derive(Default)]
struct Switch {
    thrown: AtomicBool,
    /// Those who wait and have to be woken.
    waiting: Mutex<Vec<Weak<dyn Wake>>>,
}

/// Wakes a thread that waits for something that may be cancelled.
pub trait Wake: Send + Sync {
    /// Looks at the switch again. The waiting thread has to hold a lock until it waits, and this has to take it, so that it
    /// cannot come too early.
    fn wake(&self);
}

impl Abort {
    /// Something that goes on until it is called off.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls it off. There is no way back.
    pub fn abort(&self) {
        self.0.thrown.store(true, Ordering::SeqCst);
        let waiting = std::mem::take(&mut *lock(&self.0.waiting));
        for who in waiting.iter().filter_map(Weak::upgrade) {
            who.wake();
        }
    }

    /// Returns true if it was called off.
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        self.0.thrown.load(Ordering::SeqCst)
    }

    /// Returns true if a waiter is registered that [`Abort::abort`] would wake.
    #[must_use]
    pub fn is_awaited(&self) -> bool {
        lock(&self.0.waiting).iter().any(|waiter| waiter.strong_count() > 0)
    }

    /// Registers a waiter to be woken on cancellation. If it was cancelled before, the waiter sees that itself.
    pub fn wakes(&self, who: Weak<dyn Wake>) {
        let mut waiting = lock(&self.0.waiting);
        waiting.retain(|other| other.strong_count() > 0 && !other.ptr_eq(&who));
        waiting.push(who);
    }
}

impl fmt::Debug for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Abort").field(&self.is_aborted()).finish()
    }
}

/// The questions of a session that are not answered yet.
#[derive(Default)]
pub(crate) struct Pending(Mutex<HashMap<RequestKey, Arc<Room>>>);

/// Waiters for the same answer.
struct Room {
    state: Mutex<State>,
    changed: Condvar,
    /// Thrown when the last of them leaves.
    empty: Abort,
}

#[derive(Default)]
struct State {
    answer: Option<Result<Answer, Unanswered>>,
    waiting: usize,
    /// True if a yes for this time has let a waiter go on.
    used: bool,
}

impl Pending {
    /// Asks, or waits with those who have asked the same already. Asks again if the answer was a yes for this time, and for another one.
    pub(crate) fn ask(
        &self,
        key: &RequestKey,
        approver: &Arc<dyn Approver>,
        question: &Question,
        abort: &Abort,
    ) -> Result<Answer, Unanswered> {
        loop {
            if let Some(answer) = self.ask_once(key, approver, question, abort) {
                return answer;
            }
        }
    }

    /// The answer; `None` if it was for another one who waited.
    fn ask_once(
        &self,
        key: &RequestKey,
        approver: &Arc<dyn Approver>,
        question: &Question,
        abort: &Abort,
    ) -> Option<Result<Answer, Unanswered>> {
        if abort.is_aborted() {
            return Some(Err(Unanswered::Aborted));
        }
        let (room, first) = self.enter(key);
        let waiting: Weak<Room> = Arc::downgrade(&room);
        abort.wakes(waiting);
        // A thread that answers must not wait for an answer that may be its own.
        if !first && ANSWERING.get() {
            self.leave(key, &room);
            return Some(Err(Unanswered::Aborted));
        }
        if first && put(approver, question.clone(), &room).is_err() {
            room.answer(Err(Unanswered::Aborted));
        }
        let answer = room.wait(abort);
        self.leave(key, &room);
        answer
    }

    fn enter(&self, key: &RequestKey) -> (Arc<Room>, bool) {
        let mut rooms = lock(&self.0);
        if let Some(room) = rooms.get(key) {
            let mut state = room.lock();
            // A room with an answer is about to close: the answer was for those who were there.
            if state.answer.is_none() {
                state.waiting += 1;
                drop(state);
                return (Arc::clone(room), false);
            }
        }
        let state = Mutex::new(State { waiting: 1, ..State::default() });
        let room = Arc::new(Room { state, changed: Condvar::new(), empty: Abort::new() });
        rooms.insert(key.clone(), Arc::clone(&room));
        (room, true)
    }

    fn leave(&self, key: &RequestKey, room: &Arc<Room>) {
        let mut rooms = lock(&self.0);
        let mut state = room.lock();
        state.waiting -= 1;
        if state.waiting > 0 {
            return;
        }
        if rooms.get(key).is_some_and(|other| Arc::ptr_eq(other, room)) {
            rooms.remove(key);
        }
        // A later answer is dropped.
        state.answer.get_or_insert(Err(Unanswered::Aborted));
        drop(state);
        room.empty.abort();
    }
}

impl Room {
    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn answer(&self, answer: Result<Answer, Unanswered>) {
        self.lock().answer.get_or_insert(answer);
        self.changed.notify_all();
    }

    /// Waits for the answer; `None` if it was for one alone, and another one had it.
    fn wait(&self, abort: &Abort) -> Option<Result<Answer, Unanswered>> {
        let mut state = self.lock();
        loop {
            // Cancellation comes first: a caller that cancelled must not find it done.
            if abort.is_aborted() {
                return Some(Err(Unanswered::Aborted));
            }
            if let Some(answer) = state.answer {
                let alone = answer == Ok(Answer::AllowOnce);
                let had = alone && std::mem::replace(&mut state.used, true);
                return (!had).then_some(answer);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Wake for Room {
    fn wake(&self) {
        drop(self.lock());
        self.changed.notify_all();
    }
}

thread_local! {
    /// True while this thread answers a question.
    static ANSWERING: Cell<bool> = const { Cell::new(false) };
}

/// Puts a question in a thread of its own, so that a waiter can leave.
fn put(approver: &Arc<dyn Approver>, question: Question, room: &Arc<Room>) -> std::io::Result<()> {
    let (approver, room) = (Arc::clone(approver), Arc::clone(room));
    let ask = move || {
        ANSWERING.set(true);
        let unanswered = Unanswer(room);
        let answer = approver.approve(&question, &unanswered.0.empty);
        unanswered.0.answer(answer);
    };
    thread::Builder::new().name("ringfence ask".to_owned()).spawn(ask).map(drop)
}

/// An approver that panics leaves a question unanswered, not those who wait for it waiting.
struct Unanswer(Arc<Room>);

impl Drop for Unanswer {
    fn drop(&mut self) {
        self.0.answer(Err(Unanswered::Aborted));
    }
}

/// Nothing is left half done under these locks, so a panic elsewhere leaves nothing to repair.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

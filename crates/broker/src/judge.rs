//! The decision about a host, with a person where the policy wants one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use policy::{Code, Decision, Endpoint, HostName, Reason, is_metadata};
use tokio::sync::watch;

use crate::Limits;
use crate::caller::Caller;
use crate::gate::{Gate, Program, Question};
use crate::refusal::Refusal;

/// Answer of a person: empty until there is one.
type Answer = Option<Result<(), Reason>>;

/// Questions that are open, by host: each until its thread has ended.
type Pending = Mutex<HashMap<HostName, (Endpoint, watch::Receiver<Answer>)>>;

/// Decides about hosts and merges questions about the same one.
pub(crate) struct Judge {
    gate: Arc<dyn Gate>,
    wait: Duration,
    questions: usize,
    pending: Arc<Pending>,
}

/// An entry among the open questions, removed when the thread that asks has its answer or panics.
struct Open {
    host: HostName,
    pending: Arc<Pending>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.host);
    }
}

impl Judge {
    pub(crate) fn new(gate: Arc<dyn Gate>, limits: &Limits) -> Self {
        let (wait, questions) = (limits.answer, limits.questions);
        Self { gate, wait, questions, pending: Arc::default() }
    }

    /// Returns the refusal of an endpoint that is denied, with or without a question.
    pub(crate) fn denial(&self, endpoint: &Endpoint) -> Option<Refusal> {
        self.decide_now(endpoint).err()
    }

    /// Decides about an endpoint; waits for a person if the policy says so.
    pub(crate) async fn judge(&self, endpoint: &Endpoint, caller: &Caller) -> Result<Reason, Refusal> {
        let deadline = tokio::time::Instant::now() + self.wait;
        loop {
            let decided = self.decide_now(endpoint);
            if let Ok(Decision::Allow(reason)) = decided {
                return Ok(reason);
            }
            // A refusal and a question name the program.
            let program = caller.found().await;
            let reason = decided?.reason().clone();
            let (asked, mut answer) = self.question(endpoint, program, &reason)?;
            let waited = tokio::time::timeout_at(deadline, answer.wait_for(Option::is_some)).await;
            let given = waited.ok().and_then(Result::ok).and_then(|given| given.clone());
            match given {
                None => return Err(unanswered(endpoint)),
                Some(_) if asked != *endpoint => {}
                Some(Ok(())) => return Ok(Reason::new(Code::AnsweredYes, "a person said yes")),
                Some(Err(reason)) => return Err(Refusal::by_policy(endpoint, &reason)),
            }
        }
    }

    /// Returns true if a protocol that cannot be read may pass to an endpoint.
    pub(crate) fn names_port(&self, endpoint: &Endpoint) -> bool {
        self.gate.names_port(endpoint)
    }

    fn decide_now(&self, endpoint: &Endpoint) -> Result<Decision, Refusal> {
        if is_metadata(&endpoint.host) {
            return Err(Refusal::metadata(endpoint));
        }
        match self.gate.decide(endpoint) {
            Decision::Deny(reason) => Err(Refusal::by_policy(endpoint, &reason)),
            decision => Ok(decision),
        }
    }

    /// Joins the question about this host that is open, or opens one.
    fn question(
        &self,
        endpoint: &Endpoint,
        program: Option<&Program>,
        reason: &Reason,
    ) -> Result<(Endpoint, watch::Receiver<Answer>), Refusal> {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = pending.get(&endpoint.host) {
            return Ok(open.clone());
        }
        if pending.len() >= self.questions {
            return Err(Refusal::limit("too many questions wait for an answer").about(endpoint));
        }
        let answer = self.ask(endpoint.clone(), program.cloned(), reason.clone())?;
        pending.insert(endpoint.host.clone(), (endpoint.clone(), answer.clone()));
        Ok((endpoint.clone(), answer))
    }

    /// Asks on a thread of its own, so that a person who thinks delays neither traffic nor name lookups.
    fn ask(
        &self,
        endpoint: Endpoint,
        program: Option<Program>,
        reason: Reason,
    ) -> Result<watch::Receiver<Answer>, Refusal> {
        let (sender, receiver) = watch::channel(None);
        let gate = Arc::clone(&self.gate);
        let pending = Arc::clone(&self.pending);
        let failed = Refusal::limit("no thread for a question").about(&endpoint);
        let asked = std::thread::Builder::new().name("broker-question".into()).spawn(move || {
            // Made here: the caller holds the lock, and a thread that does not start drops its values at once.
            let open = Open { host: endpoint.host.clone(), pending };
            let question = Question { endpoint: &endpoint, program: program.as_ref(), reason: &reason };
            let answer = gate.ask(&question);
            // A connection that hears the answer finds the question closed.
            drop(open);
            sender.send_replace(Some(answer));
        });
        asked.map(|_| receiver).map_err(|_| failed)
    }
}

fn unanswered(endpoint: &Endpoint) -> Refusal {
    let reason = Reason::new(Code::AskUnanswered, "the question about this host was not answered in time");
    Refusal::by_policy(endpoint, &reason)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    /// Asks about everything. The first question waits for the test, the second panics, others are answered.
    struct Slow {
        asked: AtomicUsize,
        answer: Mutex<mpsc::Receiver<()>>,
    }

    impl Gate for Slow {
        fn decide(&self, _: &Endpoint) -> Decision {
            Decision::Ask(Reason::new(Code::UnknownHost, "a person decides"))
        }

        fn names_port(&self, _: &Endpoint) -> bool {
            false
        }

        fn ask(&self, _: &Question<'_>) -> Result<(), Reason> {
            match self.asked.fetch_add(1, Ordering::SeqCst) {
                0 => self.answer.lock().unwrap().recv().unwrap(),
                1 => panic!("the second question"),
                _ => {}
            }
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_question_stays_open_until_its_thread_has_ended() {
        let (answer, waiting) = mpsc::channel();
        let gate = Arc::new(Slow { asked: AtomicUsize::new(0), answer: Mutex::new(waiting) });
        let limits = Limits { answer: Duration::from_millis(50), questions: 1, ..Limits::STANDARD };
        let mut judge = Judge::new(gate.clone(), &limits);
        let (endpoint, caller) = (Endpoint::parse("a.test:1", 1).unwrap(), Caller::unknown());
        for _ in 0..2 {
            assert_eq!(judge.judge(&endpoint, &caller).await.unwrap_err().code, Code::AskUnanswered);
        }
        assert_eq!(gate.asked.load(Ordering::SeqCst), 1, "the second waits for the same answer");
        judge.wait = Duration::from_secs(20);
        let (answered, ()) =
            tokio::join!(judge.judge(&endpoint, &caller), async { answer.send(()).unwrap() });
        assert_eq!(answered.unwrap().code, Code::AnsweredYes);
        assert_eq!(judge.judge(&endpoint, &caller).await.unwrap_err().code, Code::AskUnanswered, "a panic");
        assert_eq!(
            judge.judge(&endpoint, &caller).await.unwrap().code,
            Code::AnsweredYes,
            "its place is free"
        );
        assert_eq!(gate.asked.load(Ordering::SeqCst), 3);
    }
}

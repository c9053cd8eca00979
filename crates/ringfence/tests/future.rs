//! Commands as futures: a real runtime, a real jail, real processes.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

#[path = "../../../tests/skip.rs"]
mod skip;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ringfence::future::{AnswerFuture, AsyncApprover, AsyncSession, aborted, blocking_approver};
use ringfence::guard::{Abort, Answer, Question, Refusal};
use ringfence::job::StartError;
use ringfence::policy::{Code, approve_commands};
use ringfence::{NotStarted, Preset, Sandbox, SandboxBuilder};
use tempfile::TempDir;
use tokio::sync::Notify;

fn place() -> (TempDir, SandboxBuilder) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("ws")).unwrap();
    let builder = Sandbox::builder().preset(Preset::Workspace);
    let builder = builder.workspace(dir.path().join("ws")).state(dir.path().join("state"));
    (dir, builder)
}

fn session(builder: SandboxBuilder) -> AsyncSession {
    AsyncSession::new(builder.build().unwrap().session("tester").unwrap())
}

/// Reports a machine that can make no jail.
fn has_no_jail<T>(result: &Result<T, NotStarted>) -> bool {
    let Err(NotStarted::Start(StartError::Jail(error))) = result else { return false };
    let none = error.code() == Code::JailUnavailable;
    if none {
        skip::skipped("commands as futures", &error.to_string());
    }
    none
}

/// The processes of this machine with a word among their arguments.
fn processes(word: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let has = |entry: fs::DirEntry| {
        let words = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())
    };
    entries
        .filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok())
        .map(has)
        .filter(|has| *has)
        .count()
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_secs(60), "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A number of seconds that no other process sleeps.
fn seconds(salt: u32) -> String {
    format!("{}.{salt}", 100_000 + std::process::id())
}

#[tokio::test]
async fn a_command_is_awaited_and_the_runtime_goes_on() {
    let (directory, builder) = place();
    let session = session(builder);
    let ticks = Arc::new(AtomicUsize::new(0));
    let ticking = {
        let ticks = Arc::clone(&ticks);
        tokio::spawn(async move {
            loop {
                ticks.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
    };
    // The runtime has one thread: the other task goes on only if this one does not block it.
    let ran = session.run("while [ ! -e go ]; do sleep 0.01; done; echo done; exit 3");
    let go = async {
        let before = ticks.load(Ordering::SeqCst);
        until("the other task", || ticks.load(Ordering::SeqCst) > before + 3).await;
        fs::write(directory.path().join("ws/go"), "").unwrap();
    };
    let (ran, ()) = tokio::join!(ran, go);
    ticking.abort();
    if has_no_jail(&ran) {
        return;
    }
    let ran = ran.unwrap();
    assert_eq!((ran.code, ran.output.as_str()), (3, "done\n"), "{ran:?}");
}

#[tokio::test]
async fn dropping_the_future_ends_the_processes() {
    let (dir, builder) = place();
    let session = session(builder);
    if has_no_jail(&session.run("true").await) {
        return;
    }
    let (one, two) = (seconds(1), seconds(2));
    let line = format!("sleep {one} & touch started; exec sleep {two}");
    {
        let mut running = Box::pin(session.run(&line));
        let started = dir.path().join("ws/started");
        tokio::select! {
            ran = &mut running => panic!("ended: {ran:?}"),
            () = until("the start", || started.exists() && processes(&two) > 0) => {}
        }
        assert!(processes(&one) > 0);
    }
    until("the end of both", || processes(&one) + processes(&two) == 0).await;
    // The session is as good as before.
    assert_eq!(session.run("echo again").await.unwrap().output, "again\n");
}

#[tokio::test]
async fn a_token_of_the_caller_ends_the_command_and_stays_the_callers() {
    let (dir, builder) = place();
    let session = session(builder);
    if has_no_jail(&session.run("true").await) {
        return;
    }
    let (abort, other) = (Abort::new(), Abort::new());
    // Dropping a call does not throw the token that it was given.
    drop(session.perform_until(&other, |_, _| ()));
    assert!(!other.is_aborted());
    let word = seconds(3);
    let line = format!("touch started; exec sleep {word}");
    let throw = async {
        until("the start", || dir.path().join("ws/started").exists() && processes(&word) > 0).await;
        abort.abort();
        aborted(&abort).await;
    };
    let (ran, ()) = tokio::join!(session.run_until(&line, &abort), throw);
    assert_ne!(ran.unwrap().code, 0);
    assert_eq!(processes(&word), 0);
    let late = session.run_until("true", &abort).await;
    assert!(late.is_err(), "a token that was thrown before: {late:?}");
}

#[tokio::test]
async fn output_arrives_before_the_end() {
    let (dir, builder) = place();
    let session = session(builder);
    let line = "echo first; echo wrong >&2; while [ ! -e go ]; do sleep 0.01; done; echo last";
    let job = session.start(line, &Abort::new()).await;
    if has_no_jail(&job) {
        return;
    }
    let mut job = job.unwrap();
    let (mut output, mut go) = (String::new(), false);
    while let Some(chunk) = job.next().await.unwrap() {
        output.push_str(&String::from_utf8(chunk.bytes).unwrap());
        if !go && output.contains("first") && output.contains("wrong") {
            assert!(job.job().status().is_running());
            fs::write(dir.path().join("ws/go"), "").unwrap();
            go = true;
        }
    }
    assert!(go && output.ends_with("last\n"), "{output}");
    assert_eq!(job.wait().await.unwrap().code, 0);
}

#[tokio::test]
async fn dropping_a_job_or_its_session_ends_the_command() {
    let (_dir, builder) = place();
    let sandbox = builder.build().unwrap();
    let open = || AsyncSession::new(sandbox.session("tester").unwrap());
    for (salt, session_first) in [(4, false), (5, true)] {
        let (session, word) = (open(), seconds(salt));
        let job = session.start(&format!("exec sleep {word}"), &Abort::new()).await;
        if has_no_jail(&job) {
            return;
        }
        let job = job.unwrap();
        until("the start", || processes(&word) > 0).await;
        if session_first {
            drop(session);
            assert!(job.job().status().is_running(), "a job keeps its session");
            drop(job);
        } else {
            drop(job);
            until("the end", || processes(&word) == 0).await;
            drop(session);
        }
        until("the end", || processes(&word) == 0).await;
    }
}

/// Answers when another task says so.
#[derive(Default)]
struct Chat {
    asked: Notify,
    answer: Notify,
    dropped: Arc<AtomicUsize>,
}

struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl AsyncApprover for Chat {
    fn approve(&self, question: Question) -> AnswerFuture<'_> {
        Box::pin(async move {
            let _dropped = Dropped(Arc::clone(&self.dropped));
            self.asked.notify_one();
            self.answer.notified().await;
            Ok(if question.object.contains("yes") { Answer::AllowOnce } else { Answer::DenyOnce })
        })
    }
}

#[tokio::test]
async fn an_approver_may_await() {
    let (_dir, builder) = place();
    let chat = Arc::new(Chat::default());
    let asking = approve_commands(["echo *"]).unwrap();
    let session = session(builder.policy(asking).approver(blocking_approver(Arc::clone(&chat) as _)));
    // The runtime has one thread, and the answer comes from another task on it.
    let answer = async {
        chat.asked.notified().await;
        chat.answer.notify_one();
    };
    let (ran, ()) = tokio::join!(session.run("echo no"), answer);
    let Err(NotStarted::Refused(Refusal::Denied(denied))) = ran else { panic!("{ran:?}") };
    assert_eq!(denied.code, Code::AnsweredNo);
    let answer = async {
        chat.asked.notified().await;
        chat.answer.notify_one();
    };
    let (ran, ()) = tokio::join!(session.run("echo yes"), answer);
    if !has_no_jail(&ran) {
        assert_eq!(ran.unwrap().output, "yes\n");
    }
    // A request that is dropped takes its question back.
    let before = chat.dropped.load(Ordering::SeqCst);
    {
        let mut asking = Box::pin(session.run("echo yes"));
        tokio::select! {
            ran = &mut asking => panic!("nothing was answered: {ran:?}"),
            () = chat.asked.notified() => {}
        }
    }
    until("the question is taken back", || chat.dropped.load(Ordering::SeqCst) == before + 1).await;
}

//! The words of the guard: reasons, answers, questions, policies that come later. The table of cases to keep, and more.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

mod stage;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use policy::{
    Argv, Code, Cover, Effect, Endpoint, Invocation, Link, Policy, Position, Program, Reason, Request,
    ToolName, Word,
};
use ringfence_guard::{
    Abort, Access, Answer, Approver, Config, Guards, Jail, PathRules, Question, Refusal, Refuse, Unanswered,
};
use stage::{Kept, Person, Tree, guard, guards, parts, tool};

/// The word for how a request came out.
fn word(outcome: Result<ringfence_guard::Grant, Refusal>) -> &'static str {
    match outcome {
        Ok(_) => "allowed",
        Err(refusal) => refusal.violation().map_or("failed", ringfence_guard::Violation::word),
    }
}

fn read(config: &Config, path: &str) -> &'static str {
    word(guard(config, "read").authorize(Access::Read(Path::new(path)), &Abort::new()))
}

fn write(config: &Config, path: &str) -> &'static str {
    word(guard(config, "write").authorize(Access::Write(Path::new(path)), &Abort::new()))
}

fn asking(default: Effect) -> PathRules {
    PathRules { deny: vec![], allow: vec![], default }
}

/// Setup, request, expected: every case of the table, those of one setup together.
#[test]
fn the_cases_to_keep() {
    let tree = Tree::plant();
    let ws = tree.ws.as_path();
    let jailed = Config::default_in(ws);
    assert_eq!(read(&jailed, "../x"), "jail");
    assert_eq!(read(&jailed, "link-dir/secret.txt"), "jail");
    assert_eq!(write(&jailed, "link-dangling"), "jail");
    assert!(!tree.root.join("out/dangling.txt").exists());
    assert_eq!(read(&jailed, ws.join("a.txt").to_str().unwrap()), "absolute-path");

    // Forbidden names, by every way to them.
    fs::create_dir(ws.join("a")).unwrap();
    fs::write(ws.join("a/.env.local"), "").unwrap();
    symlink(".env", ws.join("x")).unwrap();
    let linked = tree.root.join("linked");
    symlink(ws, &linked).unwrap();
    for config in [jailed.clone(), Config::default_in(&linked), Config::default_in(&linked.join("../ws"))] {
        for path in [".env", "a/.env.local", "x", ".ENV", "./a/../.env", "sub/up/.env"] {
            assert_eq!(read(&config, path), "forbidden-glob", "{path}");
        }
    }
    let open = Config { jail: Jail::Open, allow_absolute_paths: true, ..jailed.clone() };
    fs::write(tree.root.join("out/.env"), "").unwrap();
    symlink(tree.root.join("out/.env"), ws.join("far")).unwrap();
    let outside = tree.root.join("out/.env");
    for path in [outside.to_str().unwrap(), "../out/.env", "link-dir/.env", "far"] {
        assert_eq!(read(&open, path), "forbidden-glob", "{path}");
    }
    assert_eq!(read(&open, "../out/secret.txt"), "allowed");

    let ask = Config { write: asking(Effect::Ask), ..jailed.clone() };
    assert_eq!(write(&ask, "new.txt"), "ask-no-handler");
    let both = Config {
        read: PathRules { deny: vec!["dir/**".into()], allow: vec!["**".into()], default: Effect::Allow },
        ..jailed
    };
    assert_eq!(read(&both, "dir/c.txt"), "read-denied");
    assert_eq!(read(&both, "a.txt"), "allowed");
}

#[test]
fn a_handler_that_fails_has_not_answered() {
    struct Panics;
    impl Approver for Panics {
        fn approve(&self, _: &Question, _: &Abort) -> Result<Answer, Unanswered> {
            panic!("an approver broke, as this test wants it to");
        }
    }
    let tree = Tree::plant();
    let config = Config { write: asking(Effect::Ask), ..Config::default_in(&tree.ws) };
    let request = |approver: Arc<dyn Approver>, abort: &Abort| {
        word(guards(&config, approver).tool(&tool("write")).authorize(Access::Write(Path::new("n")), abort))
    };
    assert_eq!(request(Arc::new(Panics), &Abort::new()), "ask-aborted");
    assert_eq!(request(Person::saying(&[Err(Unanswered::Aborted)]), &Abort::new()), "ask-aborted");
    assert_eq!(request(Person::saying(&[Err(Unanswered::Nobody)]), &Abort::new()), "ask-no-handler");
    let called_off = Abort::new();
    called_off.abort();
    assert_eq!(request(Person::saying(&[]), &called_off), "ask-aborted");
    assert!(!tree.ws.join("n").exists());
}

/// Answers of a person, one after the other; what three requests come to; how often the person was asked.
#[test]
fn answers_hold_as_long_as_they_say_and_for_nothing_else() {
    use Answer::{AllowForSession, AllowOnce, DenyForSession, DenyOnce};
    type Row = (&'static [Answer], [&'static str; 4], usize);
    // `a/b.txt`, the same again, `x/a/b.txt`, and a file that is called `*`.
    let rows: [Row; 4] = [
        (&[AllowForSession, DenyOnce, DenyOnce], ["allowed", "allowed", "write-denied", "write-denied"], 3),
        (&[DenyForSession, AllowOnce, AllowOnce], ["write-denied", "write-denied", "allowed", "allowed"], 3),
        (
            &[AllowOnce, DenyOnce, AllowOnce, DenyOnce],
            ["allowed", "write-denied", "allowed", "write-denied"],
            4,
        ),
        (
            &[DenyOnce, AllowOnce, DenyOnce, AllowOnce],
            ["write-denied", "allowed", "write-denied", "allowed"],
            4,
        ),
    ];
    let tree = Tree::plant();
    let config = Config { write: asking(Effect::Ask), ..Config::default_in(&tree.ws) };
    for (answers, expected, asked) in rows {
        let answers: Vec<_> = answers.iter().copied().map(Ok).collect();
        let person = Person::saying(&answers);
        let guards = guards(&config, Arc::clone(&person) as Arc<dyn Approver>);
        let write = guards.tool(&tool("write"));
        let paths = ["a/b.txt", "a/b.txt", "x/a/b.txt", "*"];
        let came = paths.map(|path| word(write.authorize(Access::Write(Path::new(path)), &Abort::new())));
        assert_eq!((came, person.asked()), (expected, asked), "{answers:?}");
    }
    // A file that is called `*` covers itself, by every path.
    let person = Person::saying(&[Ok(AllowForSession), Ok(DenyOnce)]);
    let guards = guards(&config, Arc::clone(&person) as Arc<dyn Approver>);
    let write = guards.tool(&tool("write"));
    let paths = ["*", "sub/up/*", "dir/../*", "other"];
    let came = paths.map(|path| word(write.authorize(Access::Write(Path::new(path)), &Abort::new())));
    assert_eq!((came, person.asked()), (["allowed", "allowed", "allowed", "write-denied"], 2));
}

#[test]
fn an_answer_covers_the_tool_or_the_session() {
    let tree = Tree::plant();
    let config = Config { write: asking(Effect::Ask), ..Config::default_in(&tree.ws) };
    for (cover, asked) in [(Cover::Tool, 2), (Cover::Session, 1)] {
        let person = Person::saying(&[Ok(Answer::AllowForSession), Ok(Answer::AllowForSession)]);
        let sink = Arc::new(Kept::default());
        let guards = Guards::new(ringfence_guard::Parts {
            cover,
            ..parts(&config, Arc::clone(&person) as Arc<dyn Approver>, sink)
        });
        for name in ["write", "edit", "write", "edit"] {
            let guard = guards.as_ref().unwrap().tool(&tool(name));
            assert_eq!(word(guard.authorize(Access::Write(Path::new("n")), &Abort::new())), "allowed");
        }
        assert_eq!(person.asked(), asked, "{cover:?}");
    }
}

#[test]
fn can_access_neither_asks_nor_records_and_an_ask_is_a_no() {
    let tree = Tree::plant();
    let config = Config { read: asking(Effect::Ask), ..Config::default_in(&tree.ws) };
    let (person, sink) = (Person::saying(&[Ok(Answer::AllowForSession)]), Arc::new(Kept::default()));
    let parts = parts(&config, Arc::clone(&person) as Arc<dyn Approver>, Arc::clone(&sink) as _);
    let read = Guards::new(parts).unwrap().tool(&tool("read"));
    assert!(!read.can_access(Access::Read(Path::new("a.txt"))));
    // A policy that has to find out first says so by asking: that is a no here, too.
    let finds_out =
        Link::new("finds out", |_: &Request<'_>| Some((Effect::Ask, Reason::new(Code::Rule, "wait"))));
    let other = guards(&Config::permissive_in(&tree.ws), Arc::new(Refuse)).tool(&tool("read"));
    assert!(other.can_access(Access::Read(Path::new("a.txt"))));
    other.add_policy(Arc::new(finds_out), Position::Last).unwrap();
    assert!(!other.can_access(Access::Read(Path::new("a.txt"))));
    assert_eq!((person.asked(), sink.take()), (0, vec![]));
    // Once a person has said yes for the session, it is a yes.
    read.authorize(Access::Read(Path::new("a.txt")), &Abort::new()).unwrap();
    assert!(read.can_access(Access::Read(Path::new("a.txt"))));
    assert_eq!(person.asked(), 1);
}

/// Waits for an answer until it is told one.
struct Slow {
    asked: AtomicUsize,
    answer: Mutex<mpsc::Receiver<Answer>>,
    called_off: AtomicBool,
}

impl Approver for Slow {
    fn approve(&self, _: &Question, abort: &Abort) -> Result<Answer, Unanswered> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        loop {
            if abort.is_aborted() {
                self.called_off.store(true, Ordering::SeqCst);
                return Ok(Answer::AllowForSession);
            }
            let waited = self.answer.lock().unwrap().recv_timeout(std::time::Duration::from_millis(1));
            if let Ok(answer) = waited {
                return Ok(answer);
            }
        }
    }
}

fn slow() -> (Arc<Slow>, mpsc::Sender<Answer>) {
    let (send, answer) = mpsc::channel();
    let slow =
        Slow { asked: AtomicUsize::new(0), answer: Mutex::new(answer), called_off: AtomicBool::new(false) };
    (Arc::new(slow), send)
}

fn until(condition: impl Fn() -> bool) {
    let begin = std::time::Instant::now();
    while !condition() {
        assert!(begin.elapsed().as_secs() < 30, "waited in vain");
        thread::yield_now();
    }
}

#[test]
fn those_who_want_the_same_share_answers_that_stay_and_every_no() {
    const CROWD: usize = 8;
    let tree = Tree::plant();
    let config = Config { write: asking(Effect::Ask), ..Config::default_in(&tree.ws) };
    // An answer, what becomes of all of them, and how many questions they are.
    let rows = [
        (Answer::AllowForSession, "allowed", 1),
        (Answer::DenyForSession, "write-denied", 1),
        (Answer::DenyOnce, "write-denied", 1),
        (Answer::AllowOnce, "allowed", CROWD),
    ];
    for (answer, expected, questions) in rows {
        let (slow, send) = slow();
        let guards = guards(&config, Arc::clone(&slow) as Arc<dyn Approver>);
        let aborts = [(); CROWD].map(|()| Abort::new());
        let same = aborts.clone().map(|abort| {
            let write = guards.tool(&tool("write"));
            thread::spawn(move || word(write.authorize(Access::Write(Path::new("n")), &abort)))
        });
        // All of them have to have come before the answer does; more would ask again.
        until(|| slow.asked.load(Ordering::SeqCst) == 1 && aborts.iter().all(Abort::is_awaited));
        assert_eq!(slow.asked.load(Ordering::SeqCst), 1, "one question at a time");
        for _ in 0..questions {
            send.send(answer).unwrap();
        }
        let came = same.map(|thread| thread.join().unwrap());
        assert_eq!(came, [expected; CROWD], "{answer:?}");
        assert_eq!(slow.asked.load(Ordering::SeqCst), questions, "{answer:?}");
    }
}

/// One yes, one access: the other of two that wait is asked about on its own.
#[test]
fn allow_once_answers_one_of_two_that_wait() {
    let tree = Tree::plant();
    let config = Config { write: asking(Effect::Ask), ..Config::default_in(&tree.ws) };
    let (slow, send) = slow();
    let guards = guards(&config, Arc::clone(&slow) as Arc<dyn Approver>);
    let aborts = [Abort::new(), Abort::new()];
    let threads = aborts.clone().map(|abort| {
        let write = guards.tool(&tool("write"));
        thread::spawn(move || word(write.authorize(Access::Write(Path::new("n")), &abort)))
    });
    until(|| slow.asked.load(Ordering::SeqCst) == 1 && aborts.iter().all(Abort::is_awaited));
    for answer in [Answer::AllowOnce, Answer::DenyOnce] {
        send.send(answer).unwrap();
    }
    let mut came = threads.map(|thread| thread.join().unwrap());
    came.sort_unstable();
    assert_eq!(came, ["allowed", "write-denied"]);
    assert_eq!(slow.asked.load(Ordering::SeqCst), 2);
}

#[test]
fn who_calls_off_leaves_and_the_last_takes_the_question_back() {
    let tree = Tree::plant();
    let config = Config { write: asking(Effect::Ask), ..Config::default_in(&tree.ws) };
    let (slow, send) = slow();
    let guards = guards(&config, Arc::clone(&slow) as Arc<dyn Approver>);
    let aborts = [Abort::new(), Abort::new()];
    let threads = aborts.clone().map(|abort| {
        let write = guards.tool(&tool("write"));
        thread::spawn(move || word(write.authorize(Access::Write(Path::new("n")), &abort)))
    });
    until(|| slow.asked.load(Ordering::SeqCst) == 1 && aborts.iter().all(Abort::is_awaited));
    let [first, second] = threads;
    aborts[0].abort();
    assert_eq!(first.join().unwrap(), "ask-aborted");
    assert!(!slow.called_off.load(Ordering::SeqCst), "somebody still waits");
    aborts[1].abort();
    assert_eq!(second.join().unwrap(), "ask-aborted");
    until(|| slow.called_off.load(Ordering::SeqCst));
    // The answer for the session came too late, and counts for nothing.
    send.send(Answer::DenyOnce).unwrap();
    let write = guards.tool(&tool("write"));
    assert_eq!(word(write.authorize(Access::Write(Path::new("n")), &Abort::new())), "write-denied");
    assert_eq!(slow.asked.load(Ordering::SeqCst), 2);
}

/// A ledger that cannot be written.
struct Full;
impl audit::Sink for Full {
    fn record(&self, _: &audit::Event<'_>) -> Result<(), audit::AuditError> {
        Err(audit::Ledger::open(Path::new("/proc/nowhere/ledger"), options()).unwrap_err())
    }
}

#[test]
fn the_ledger_has_question_and_answer_and_without_it_nothing_happens() {
    let tree = Tree::plant();
    let config = Config { write: asking(Effect::Ask), ..Config::default_in(&tree.ws) };
    let (person, sink) = (Person::saying(&[Ok(Answer::AllowForSession)]), Arc::new(Kept::default()));
    let parts_of = |sink| parts(&config, Arc::clone(&person) as Arc<dyn Approver>, sink);
    let guards = Guards::new(parts_of(Arc::clone(&sink) as _)).unwrap();
    let write = guards.tool(&tool("write"));
    for path in ["n", "n", ".env", "/proc/self/root/etc/passwd"] {
        drop(write.authorize(Access::Write(Path::new(path)), &Abort::new()));
    }
    let expected = [
        "request.decided write n ask RF-F005",
        "approval.asked",
        "approval.answered approved session",
        "request.decided write n allow RF-R004",
        "request.decided write .env deny RF-F003",
        "request.decided write /proc/self/root/etc/passwd deny RF-F007",
    ];
    assert_eq!(sink.take(), expected);
    assert_eq!(guards.counted(), (4, 2));

    let write = Guards::new(parts_of(Arc::new(Full))).unwrap().tool(&tool("write"));
    for access in [Access::Read(Path::new("a.txt")), Access::Write(Path::new("n"))] {
        assert!(matches!(write.authorize(access, &Abort::new()), Err(Refusal::Unrecorded(_))));
    }
    let link = Link::new("late", |_: &Request<'_>| None);
    assert!(write.add_policy(Arc::new(link), Position::Last).is_err());
    assert!(!write.policies().iter().any(|name| name == "late"));
}

fn options() -> audit::Options {
    audit::Options::new(audit::Durability::Process)
}

#[test]
fn policies_come_later_for_one_tool_and_whoever_listens_is_told() {
    let tree = Tree::plant();
    let guards = guards(&Config::permissive_in(&tree.ws), Arc::new(Refuse));
    let (read, grep) = (guards.tool(&tool("read")), guards.tool(&tool("grep")));
    let told = Arc::new(Mutex::new(Vec::new()));
    let listening = {
        let told = Arc::clone(&told);
        guards.on_change(move |snapshot| told.lock().unwrap().push(snapshot.clone()))
    };
    let deny = |name: &'static str| -> Arc<dyn Policy> {
        Arc::new(Link::new(name, |_: &Request<'_>| Some((Effect::Deny, Reason::new(Code::Rule, "later")))))
    };
    read.add_policy(deny("b"), Position::Last).unwrap();
    read.add_policy(deny("a"), Position::Before("b")).unwrap();
    let path = Path::new("a.txt");
    assert!(!read.can_access(Access::Read(path)), "the guard of the tool has it");
    assert!(!guards.tool(&tool("read")).can_access(Access::Read(path)), "and there is one guard for a tool");
    assert!(grep.can_access(Access::Read(path)), "another tool has not");
    assert!(read.add_policy(deny("rules"), Position::Last).is_err());
    let names = |snapshot: &ringfence_guard::Snapshot| -> (ToolName, Vec<String>) {
        let added = |name: &&String| ["a", "b"].contains(&name.as_str());
        (snapshot.tool.clone(), snapshot.policies.iter().filter(added).cloned().collect())
    };
    let seen: Vec<_> = told.lock().unwrap().iter().map(names).collect();
    let expected = [vec!["b".to_owned()], vec!["a".to_owned(), "b".to_owned()]];
    assert_eq!(seen, expected.map(|policies| (tool("read"), policies)));
    drop(listening);
    read.add_policy(deny("c"), Position::Last).unwrap();
    assert_eq!(told.lock().unwrap().len(), 2);
    assert_eq!(
        read.policies(),
        ["forbidden names", "rules", "files with other names", "a", "b", "c", "files default"]
    );
}

#[test]
fn an_added_policy_can_be_removed_and_no_other() {
    let tree = Tree::plant();
    let guards = guards(&Config::permissive_in(&tree.ws), Arc::new(Refuse));
    let read = guards.tool(&tool("read"));
    let before = read.policies();
    let snapshots = Arc::new(Mutex::new(Vec::new()));
    let _listening = {
        let snapshots = Arc::clone(&snapshots);
        guards.on_change(move |snapshot| snapshots.lock().unwrap().push(snapshot.policies.clone()))
    };
    let deny = |_: &Request<'_>| Some((Effect::Deny, Reason::new(Code::Rule, "later")));
    read.add_policy(Arc::new(Link::new("later", deny)), Position::Last).unwrap();
    let path = Path::new("a.txt");
    assert!(!read.can_access(Access::Read(path)));
    for name in ["forbidden names", "rules", "files default", "files with other names", "session", "none"] {
        let refused = read.remove_policy(name);
        assert!(matches!(refused, Err(ringfence_guard::PolicyChangeError::NotAdded(_))), "{name}");
    }
    read.remove_policy("later").unwrap();
    assert!(read.can_access(Access::Read(path)));
    assert_eq!(read.policies(), before);
    assert_eq!(snapshots.lock().unwrap().len(), 2, "one for the addition, one for the removal");
    assert!(read.remove_policy("later").is_err(), "it is gone");
}

/// An answer for the session changes what is in force: listeners are told once, however many requests waited for it.
#[test]
fn listeners_are_told_of_answers_that_hold_for_the_session() {
    let tree = Tree::plant();
    let config = Config { write: asking(Effect::Ask), ..Config::default_in(&tree.ws) };
    // The answer, and the snapshots that follow it: tool and number of answers.
    let rows = [
        (Answer::AllowForSession, vec![("write".to_owned(), 1)]),
        (Answer::DenyForSession, vec![("write".to_owned(), 1)]),
        (Answer::AllowOnce, vec![]),
        (Answer::DenyOnce, vec![]),
    ];
    for (answer, expected) in rows {
        let (slow, send) = slow();
        let guards = guards(&config, Arc::clone(&slow) as Arc<dyn Approver>);
        let snapshots = Arc::new(Mutex::new(Vec::new()));
        let _listening = {
            let snapshots = Arc::clone(&snapshots);
            guards.on_change(move |snapshot| {
                snapshots.lock().unwrap().push((snapshot.tool.to_string(), snapshot.answers));
            })
        };
        let threads = [(); 8].map(|()| {
            let write = guards.tool(&tool("write"));
            thread::spawn(move || word(write.authorize(Access::Write(Path::new("n")), &Abort::new())))
        });
        for _ in 0..8 {
            send.send(answer).unwrap();
        }
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(*snapshots.lock().unwrap(), expected, "{answer:?}");
    }
}

#[test]
fn commands_connections_and_calls_have_words_of_their_own() {
    let tree = Tree::plant();
    let guards = guards(&Config::default_in(&tree.ws), Arc::new(Refuse));
    let guard = guards.tool(&tool("exec"));
    let argv = Argv::new(vec![Word::literal("ls")]).unwrap();
    let invocation = Invocation { programs: vec![Program::alone(argv, None)], findings: vec![] };
    let endpoint = Endpoint::parse("example.com", 443).unwrap();
    let arguments = policy::Arguments::default();
    let execution = policy::Execution { invocation: &invocation, arguments: &arguments };
    let rows = [
        (Access::Execute("ls", execution), "execute-denied"),
        (Access::Connect(&endpoint), "connect-denied"),
        (Access::Call(&arguments), "call-denied"),
    ];
    for (access, expected) in rows {
        assert_eq!(word(guard.authorize(access, &Abort::new())), expected, "nobody answers");
        assert!(!guard.can_access(access));
    }
    let allow = Link::new("all", |_: &Request<'_>| Some((Effect::Allow, Reason::new(Code::Rule, "all"))));
    guard.add_policy(Arc::new(allow), Position::Last).unwrap();
    for (access, _) in rows {
        assert_eq!(word(guard.authorize(access, &Abort::new())), "allowed");
        assert!(guard.can_access(access));
    }
}

/// A refusal says which file it is about, by its real path, and which line of which policy refused.
#[test]
fn a_refusal_has_the_path_and_the_rule() {
    let tree = Tree::plant();
    let guards = guards(&Config::default_in(&tree.ws), Arc::new(Refuse));
    let guard = guards.tool(&tool("write"));
    let rule = policy::RuleRef {
        file: Arc::from(Path::new("/etc/policy.toml")),
        line: std::num::NonZeroU32::new(12).unwrap(),
    };
    let reason = Reason::new(Code::Rule, "not these").by(Some(rule.clone()));
    let deny = Link::new("not these", move |_: &Request<'_>| Some((Effect::Deny, reason.clone())));
    guard.add_policy(Arc::new(deny), Position::Last).unwrap();
    for (path, real) in
        [("a.txt", "a.txt"), ("./dir/../a.txt", "a.txt"), ("link-in", "a.txt"), ("new", "new")]
    {
        let Err(Refusal::Denied(denied)) = guard.authorize(Access::Write(Path::new(path)), &Abort::new())
        else {
            panic!("{path}");
        };
        assert_eq!(denied.path.as_deref(), Some(tree.ws.join(real).as_path()), "{path}");
        assert_eq!(
            denied.rule.as_ref().map(ToString::to_string).as_deref(),
            Some("/etc/policy.toml:12"),
            "{path}"
        );
    }
    let arguments = policy::Arguments::default();
    let Err(Refusal::Denied(denied)) = guard.authorize(Access::Call(&arguments), &Abort::new()) else {
        panic!()
    };
    assert_eq!((denied.path.as_deref(), denied.rule.as_ref()), (None, Some(&rule)));
}

#[test]
fn the_three_ready_configs() {
    let tree = Tree::plant();
    let ws = tree.ws.as_path();
    let absolute = ws.join("a.txt");
    let absolute = absolute.to_str().unwrap();
    let outside = tree.root.join("out/secret.txt");
    let outside = outside.to_str().unwrap();
    let configs = [Config::default_in(ws), Config::permissive_in(ws), Config::daemon_in(ws)];
    let rows: [(&str, [&str; 3]); 11] = [
        ("a.txt", ["allowed", "allowed", "allowed"]),
        (".", ["allowed", "allowed", "allowed"]),
        (absolute, ["absolute-path", "allowed", "allowed"]),
        (outside, ["absolute-path", "allowed", "ask-no-handler"]),
        ("../out/secret.txt", ["jail", "allowed", "ask-no-handler"]),
        (".env", ["forbidden-glob", "allowed", "forbidden-glob"]),
        (".git/config", ["forbidden-glob", "allowed", "forbidden-glob"]),
        // Names that only the built-in policy file forbade. They are not there, so that reading them fails where it is allowed.
        ("a/.ssh/config", ["forbidden-glob", "failed", "forbidden-glob"]),
        ("id_ed25519", ["forbidden-glob", "failed", "forbidden-glob"]),
        (".aws/credentials", ["forbidden-glob", "failed", "forbidden-glob"]),
        ("a/.netrc", ["forbidden-glob", "failed", "forbidden-glob"]),
    ];
    for (path, expected) in rows {
        let came = [0, 1, 2].map(|index| read(&configs[index], path));
        assert_eq!(came, expected, "{path}");
    }
    for (path, expected) in [("new.txt", ["allowed"; 3]), ("../new", ["jail", "allowed", "ask-no-handler"])] {
        let came = [0, 1, 2].map(|index| write(&configs[index], path));
        assert_eq!(came, expected, "{path}");
    }
}

#[test]
fn a_config_in_json_means_what_it_says_and_nothing_by_being_left_out() {
    let whole = r#"{ "cwd": "/w", "jail": "ask", "allowAbsolutePaths": true, "forbiddenGlobs": ["**/x"],
        "read": { "deny": ["a"], "allow": ["b/**"], "default": "deny" }, "write": {} }"#;
    let config: Config = serde_json::from_str(whole).unwrap();
    assert_eq!((config.jail, config.allow_absolute_paths), (Jail::Ask, true));
    assert_eq!(config.read.default, Effect::Deny);
    assert_eq!(config.write, asking(Effect::Ask), "who says nothing about the rest is asked");
    assert_eq!(serde_json::from_str::<Config>(&serde_json::to_string(&config).unwrap()).unwrap(), config);
    let least: Config = serde_json::from_str(r#"{ "cwd": "/w" }"#).unwrap();
    assert_eq!(least, Config::default_in(Path::new("/w")));
    let bad = [
        "{}",
        r#"{ "cwd": "/w", "jail": "no" }"#,
        r#"{ "cwd": "/w", "jail": 1 }"#,
        r#"{ "cwd": "/w", "allowabsolutepaths": true }"#,
        r#"{ "cwd": "/w", "read": { "default": "pass" } }"#,
        r#"{ "cwd": "/w", "read": { "permit": [] } }"#,
    ];
    for text in bad {
        assert!(serde_json::from_str::<Config>(text).is_err(), "{text}");
    }
    // A pattern that cannot be read is an error, in every field.
    let with = |change: fn(&mut Config)| {
        let mut config = Config::default_in(Path::new("/w"));
        change(&mut config);
        config.chain().err().map(|error| error.field)
    };
    assert_eq!(with(|config| config.forbidden_globs = vec!["a/../b".into()]), Some("forbiddenGlobs"));
    assert_eq!(with(|config| config.read.deny = vec!["[".into()]), Some("read.deny"));
    assert_eq!(with(|config| config.read.allow = vec!["re:(".into()]), Some("read.allow"));
    assert_eq!(with(|config| config.write.deny = vec!["{a".into()]), Some("write.deny"));
    assert_eq!(with(|config| config.write.allow = vec![String::new()]), Some("write.allow"));
    assert_eq!(with(|_| ()), None);
}

#[test]
fn the_words_of_people_are_read_exactly() {
    for answer in Answer::ALL {
        assert_eq!(Answer::parse(answer.word()), Some(answer));
    }
    for word in ["", "yes", "ALLOW", "allow ", "true", "{allow:false}"] {
        assert_eq!(Answer::parse(word), None, "{word:?}");
    }
}

//! Attempts to make a guard lie, hang, panic, lose a handle, or act on what it did not judge.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

mod stage;

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use policy::{Code, Effect, Link, Position, Reason, Request};
use ringfence_guard::{
    Abort, Access, Answer, Approver, Config, Guard, Guards, PathRules, Question, Refusal, Refuse, Trouble,
    Unanswered,
};
use rustix::io::Errno;
use rustix::mount::{MountFlags, mount};
use rustix::process::{Resource, Rlimit, chroot, getrlimit, setrlimit};
use stage::alone::alone;
use stage::apart::apart;
use stage::{Person, Tree, guard, guards, tool};

fn text(guard: &Guard, path: &Path) -> Result<String, Option<Trouble>> {
    let opened = guard.read(path, &Abort::new()).map_err(|refusal| refusal.trouble())?;
    let mut text = String::new();
    opened.file().map_err(Some)?.read_to_string(&mut text).unwrap();
    Ok(text)
}

fn asking(tree: &Tree) -> Config {
    let write = PathRules { deny: vec![], allow: vec![], default: Effect::Ask };
    Config { write, ..Config::default_in(&tree.ws) }
}

fn handles() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// One of everything. Says how much of it succeeded.
fn everything(guard: &Guard) -> usize {
    let abort = Abort::new();
    let paths =
        ["a.txt", "link-in", "link-abs-in", "sub/up/a.txt", "new", "x/y", "link-loop", "../out", ".env"];
    let mut done = 0;
    for path in paths.map(Path::new) {
        done += usize::from(text(guard, path).is_ok());
        done += usize::from(guard.write(path, &abort).is_ok_and(|place| place.replace(b"a").is_ok()));
        for access in [Access::Read(path), Access::Write(path), Access::Remove(path)] {
            done += usize::from(guard.can_access(access));
            done += usize::from(guard.authorize(access, &abort).is_ok());
        }
        for name in ["new", "x/y", "x"] {
            let removed = guard.remove(Path::new(name), &abort).map(ringfence_guard::Removable::remove);
            done += usize::from(matches!(removed, Ok(Ok(()))));
        }
    }
    let Ok(directory) = guard.list(Path::new("."), &abort) else { return done };
    for entry in directory.entries().into_iter().flatten().flatten() {
        done += usize::from(directory.enter(&entry).is_ok_and(|inner| inner.entries().is_ok()));
        done += usize::from(directory.file(&entry).is_ok());
    }
    done
}

#[test]
fn no_handle_is_lost() {
    alone("no_handle_is_lost", || {
        let tree = Tree::plant();
        let guard = guard(&Config::default_in(&tree.ws), "read");
        everything(&guard);
        let before = handles();
        for _ in 0..20 {
            everything(&guard);
        }
        assert_eq!(handles(), before);
    });
}

#[test]
fn without_handles_everything_is_an_error() {
    alone("without_handles_everything_is_an_error", || {
        let tree = Tree::plant();
        let guards = guards(&Config::default_in(&tree.ws), Arc::new(Refuse));
        let guard = guards.tool(&tool("read"));
        let whole = everything(&guard);
        let maximum = getrlimit(Resource::Nofile).maximum;
        setrlimit(Resource::Nofile, Rlimit { current: Some(64), maximum }).unwrap();
        let mut done = Vec::new();
        // Each handle that an access needs is missing once.
        for room in 0..8 {
            let mut taken: Vec<fs::File> = Vec::new();
            while let Ok(file) = fs::File::open("/dev/null") {
                taken.push(file);
            }
            taken.truncate(taken.len() - room);
            done.push(everything(&guard));
            let config = Config::default_in(&tree.ws);
            let made = Guards::new(stage::parts(&config, Arc::new(Refuse), Arc::new(stage::Kept::default())));
            assert!(made.is_ok() || room < 4, "{room}");
            drop((made, taken));
            let left = fs::read_dir(&tree.ws).unwrap().map(|entry| entry.unwrap().file_name());
            assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with(".ringfence-")));
            assert_eq!(fs::read_to_string(tree.ws.join("a.txt")).unwrap(), "a");
        }
        assert_eq!((done[0], done[7]), (0, whole), "{done:?}");
        assert_eq!(everything(&guard), whole);
    });
}

#[test]
fn a_workspace_that_is_gone_is_gone() {
    let tree = Tree::plant();
    let ws = tree.root.join("short");
    fs::create_dir(&ws).unwrap();
    let guard = guard(&Config { allow_absolute_paths: true, ..Config::default_in(&ws) }, "write");
    fs::remove_dir(&ws).unwrap();
    let paths = ["new.txt".into(), "x/y".into(), ws.join("new.txt"), "..".into(), "../out".into()];
    for path in paths {
        assert!(guard.read(&path, &Abort::new()).is_err(), "{path:?}");
        let written = guard.write(&path, &Abort::new()).map(|place| place.replace(b"lost"));
        assert!(!matches!(written, Ok(Ok(()))), "{path:?}");
    }
    // Nothing is in what is left of it.
    assert_eq!(guard.list(Path::new("."), &Abort::new()).unwrap().entries().unwrap().flatten().count(), 0);
    // Another directory of that name is another directory.
    fs::create_dir(&ws).unwrap();
    fs::write(ws.join("a.txt"), "other").unwrap();
    for path in [Path::new("a.txt"), &ws.join("a.txt"), Path::new("../short/a.txt")] {
        assert!(text(&guard, path).is_err(), "{path:?}");
    }
    let written = guard.write(Path::new("new.txt"), &Abort::new()).map(|place| place.replace(b"lost"));
    assert!(!matches!(written, Ok(Ok(()))) && !ws.join("new.txt").exists());
}

#[test]
fn another_root_gives_no_other_names() {
    apart("another_root_gives_no_other_names", || {
        let tree = Tree::plant();
        // In the new root, the name of the workspace and names outside it lead to other files.
        let root = tree.root.join("out/root");
        let name = tree.ws.strip_prefix("/").unwrap();
        fs::create_dir_all(root.join(name)).unwrap();
        for path in ["a.txt", "b.txt"] {
            fs::write(root.join(name).join(path), "other").unwrap();
        }
        let config = Config {
            jail: ringfence_guard::Jail::Open,
            allow_absolute_paths: true,
            ..Config::default_in(&tree.ws)
        };
        let guard = guard(&config, "write");
        chroot(&root).unwrap();
        assert_eq!(text(&guard, Path::new("a.txt")).unwrap(), "a");
        for path in
            ["link-abs-in", "link-in", "sub/up/a.txt", "dir/../a.txt", "../out/secret.txt", "/.//etc/passwd"]
        {
            let came = text(&guard, Path::new(path));
            assert!(matches!(came.as_deref(), Ok("a") | Err(_)), "{path}: {came:?}");
        }
        // An object found by a step back out of the root has a name there, which leads elsewhere or nowhere.
        assert!(text(&guard, Path::new("../out/secret.txt")).is_err());
        let written = guard.write(&tree.ws.join("b.txt"), &Abort::new()).map(|place| place.replace(b"ours"));
        assert_eq!(fs::read_to_string(tree.ws.join("b.txt")).unwrap(), "other", "{written:?}");
    });
}

#[test]
fn without_the_kernels_own_place_there_is_no_guard() {
    apart("without_the_kernels_own_place_there_is_no_guard", || {
        let tree = Tree::plant();
        let before = guard(&Config::default_in(&tree.ws), "write");
        mount("tmpfs", "/proc", "tmpfs", MountFlags::empty(), None).unwrap();
        // A foreign directory, with names of its own.
        fs::create_dir_all("/proc/self/fd").unwrap();
        for number in 0..64 {
            symlink(tree.ws.join("a.txt"), format!("/proc/self/fd/{number}")).unwrap();
        }
        let config = Config::default_in(&tree.ws);
        let made = Guards::new(stage::parts(&config, Arc::new(Refuse), Arc::new(stage::Kept::default())));
        assert_eq!(made.unwrap_err().trouble, Trouble::System(Errno::NOSYS));
        // A guard that had found it keeps it.
        assert_eq!(text(&before, Path::new("link-in")).unwrap(), "a");
        assert_eq!(text(&before, Path::new("link-file")), Err(None));
        before.write(Path::new("b.txt"), &Abort::new()).unwrap().replace(b"new").unwrap();
        assert_eq!(fs::read_to_string(tree.ws.join("b.txt")).unwrap(), "new");
    });
}

#[test]
fn long_paths_and_long_links_end_in_an_answer() {
    let tree = Tree::plant();
    let guard = guard(&Config::permissive_in(&tree.ws), "read");
    let padded = |length: usize, end: &str| {
        let mut path = "./".repeat((length - end.len()) / 2);
        path.push_str(if (length - end.len()).is_multiple_of(2) { "" } else { "/" });
        path + end
    };
    let rows = [
        (padded(4095, "a.txt"), Ok("a")),
        (padded(4096, "a.txt"), Err(Some(Trouble::TooLong))),
        (padded(2_000_000, "a.txt"), Err(Some(Trouble::TooLong))),
        ("x/".repeat(1_000_000), Err(Some(Trouble::TooLong))),
        ("../".repeat(1_000_000), Err(Some(Trouble::TooLong))),
        (padded(4090, "missing"), Err(Some(Trouble::NotFound))),
    ];
    for (path, expected) in rows {
        let begin = Instant::now();
        let came = text(&guard, Path::new(&path));
        assert_eq!(came.as_deref(), expected.as_deref(), "{path:.40}");
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    }
    symlink(padded(4095, "a.txt"), tree.ws.join("far")).unwrap();
    assert_eq!(text(&guard, Path::new("far")).unwrap(), "a");
    // Forty links, each as long as links can be.
    for index in 0..40 {
        let next = if index == 39 { "a.txt".to_owned() } else { format!("far{}", index + 1) };
        symlink(padded(4095, &next), tree.ws.join(format!("far{index}"))).unwrap();
    }
    assert_eq!(text(&guard, Path::new("far0")).unwrap(), "a");
    symlink(padded(4095, "far0"), tree.ws.join("one-more")).unwrap();
    assert_eq!(text(&guard, Path::new("one-more")), Err(Some(Trouble::Loop)));
    symlink(padded(4095, "nothing"), tree.ws.join("nowhere")).unwrap();
    guard.write(Path::new("nowhere"), &Abort::new()).unwrap().replace(b"made").unwrap();
    assert_eq!(fs::read_to_string(tree.ws.join("nothing")).unwrap(), "made");
}

/// Keeps what it was asked.
struct Keeps(Mutex<Vec<Question>>);

impl Approver for Keeps {
    fn approve(&self, question: &Question, _: &Abort) -> Result<Answer, Unanswered> {
        self.0.lock().unwrap().push(question.clone());
        Err(Unanswered::Nobody)
    }
}

#[test]
fn no_name_reaches_a_terminal_as_it_is() {
    let tree = Tree::plant();
    let keeps = Arc::new(Keeps(Mutex::default()));
    let guard = guards(&asking(&tree), Arc::clone(&keeps) as Arc<dyn Approver>).tool(&tool("write"));
    let names: [&[u8]; 6] = [
        b"a\nallow everything? yes",
        b"\x1b[2J\x1b]0;title\x07",
        b"\r\x08\x7f",
        "\u{202e}txt.exe\u{2066}".as_bytes(),
        "\u{9b}31m\u{85}\u{2028}".as_bytes(),
        b"\xff\xfe",
    ];
    let plain = |text: &str| text.chars().all(|c| c == ' ' || c.is_ascii_graphic());
    for name in names {
        let name = Path::new(OsStr::from_bytes(name));
        let refusal = guard.write(name, &Abort::new()).map(drop).unwrap_err();
        let Refusal::Denied(denied) = &refusal else { panic!("{refusal}") };
        let question = keeps.0.lock().unwrap().pop().unwrap();
        let failed = guard.read(name, &Abort::new()).map(drop).unwrap_err();
        for text in [&refusal.to_string(), &denied.object, &question.object, &failed.to_string()] {
            assert!(plain(text), "{text:?}");
        }
    }
}

/// An approver that asks a guard itself.
struct Curious {
    guard: OnceLock<Guard>,
    asked: AtomicUsize,
}

impl Approver for Curious {
    fn approve(&self, question: &Question, abort: &Abort) -> Result<Answer, Unanswered> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let guard = self.guard.get().unwrap();
        assert!(guard.read(Path::new("a.txt"), abort).is_ok());
        assert!(!guard.can_access(Access::Write(Path::new("one"))));
        // The question that is being asked, and one that depends on its answer.
        for other in ["one", "two"] {
            let refusal = guard.write(Path::new(other), abort).map(drop);
            if question.object == other {
                let word = refusal.unwrap_err().violation().map(ringfence_guard::Violation::word);
                assert_eq!(word, Some("ask-aborted"));
            }
        }
        Ok(Answer::AllowOnce)
    }
}

#[test]
fn an_approver_that_asks_does_not_wait_for_itself() {
    let tree = Tree::plant();
    let curious = Arc::new(Curious { guard: OnceLock::new(), asked: AtomicUsize::new(0) });
    let guard = guards(&asking(&tree), Arc::clone(&curious) as Arc<dyn Approver>).tool(&tool("write"));
    assert!(curious.guard.set(guard.clone()).is_ok());
    let (send, answer) = std::sync::mpsc::channel();
    thread::spawn(move || send.send(guard.write(Path::new("one"), &Abort::new()).is_ok()));
    assert_eq!(answer.recv_timeout(Duration::from_secs(30)), Ok(true));
    assert_eq!(curious.asked.load(Ordering::SeqCst), 2);
}

#[test]
fn a_listener_may_add_policies_and_listeners_and_leave() {
    let tree = Tree::plant();
    let guards = guards(&Config::default_in(&tree.ws), Arc::new(Refuse));
    let guard = guards.tool(&tool("read"));
    let told = Arc::new(AtomicUsize::new(0));
    let own: Arc<Mutex<Option<ringfence_guard::Subscription>>> = Arc::default();
    let listening = {
        let (guards, guard) = (guards.clone(), guard.clone());
        let (told, own) = (Arc::clone(&told), Arc::clone(&own));
        guards.clone().on_change(move |snapshot| {
            told.fetch_add(1, Ordering::SeqCst);
            drop(guards.on_change(|_| ()));
            drop(own.lock().unwrap().take());
            if !snapshot.policies.iter().any(|name| name == "second") {
                let link = Link::new("second", |_: &Request<'_>| {
                    Some((Effect::Deny, Reason::new(Code::Rule, "told")))
                });
                guard.add_policy(Arc::new(link), Position::Last).unwrap();
            }
        })
    };
    *own.lock().unwrap() = Some(listening);
    guard.add_policy(Arc::new(Link::new("first", |_: &Request<'_>| None)), Position::Last).unwrap();
    assert_eq!(told.load(Ordering::SeqCst), 1, "it left when it was told the first time");
    assert!(!guard.can_access(Access::Read(Path::new("a.txt"))));
    assert!(guard.policies().iter().any(|name| name == "second"));
}

/// Answers when it is let.
#[derive(Default)]
struct Gate {
    open: AtomicBool,
    asked: AtomicUsize,
}

impl Approver for Gate {
    fn approve(&self, _: &Question, _: &Abort) -> Result<Answer, Unanswered> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        until(|| self.open.load(Ordering::SeqCst));
        Ok(Answer::AllowForSession)
    }
}

fn until(condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < Duration::from_secs(30), "waited in vain");
        thread::yield_now();
    }
}

#[test]
fn a_crowd_asks_once_and_every_second_one_leaves() {
    const CROWD: usize = 1000;
    let tree = Tree::plant();
    let gate = Arc::new(Gate::default());
    let guards = guards(&asking(&tree), Arc::clone(&gate) as Arc<dyn Approver>);
    let (abort, came) = (Abort::new(), Arc::new(AtomicUsize::new(0)));
    let ask = |index: usize| {
        let (guard, came) = (guards.tool(&tool("write")), Arc::clone(&came));
        let abort = if index.is_multiple_of(2) { abort.clone() } else { Abort::new() };
        let ask = move || {
            came.fetch_add(1, Ordering::SeqCst);
            guard.write(Path::new("n"), &abort).is_ok()
        };
        thread::Builder::new().stack_size(128 << 10).spawn(ask).unwrap()
    };
    let (leave, stay): (Vec<_>, Vec<_>) =
        (0..CROWD).map(|index| (index, ask(index))).partition(|(index, _)| index.is_multiple_of(2));
    until(|| came.load(Ordering::SeqCst) == CROWD && gate.asked.load(Ordering::SeqCst) > 0);
    abort.abort();
    assert!(leave.into_iter().all(|(_, thread)| !thread.join().unwrap()));
    gate.open.store(true, Ordering::SeqCst);
    assert!(stay.into_iter().all(|(_, thread)| thread.join().unwrap()));
    // A thread that came when the answer was just given may have asked again.
    assert!(gate.asked.load(Ordering::SeqCst) < 10);
}

#[test]
fn a_question_outlives_those_who_made_it() {
    let tree = Tree::plant();
    let gate = Arc::new(Gate::default());
    let guards = guards(&asking(&tree), Arc::clone(&gate) as Arc<dyn Approver>);
    let guard = guards.tool(&tool("write"));
    drop(guards);
    let asking = thread::spawn(move || {
        let place = guard.write(Path::new("n"), &Abort::new()).unwrap();
        drop(guard);
        place.replace(b"late")
    });
    until(|| gate.asked.load(Ordering::SeqCst) == 1);
    // The target of the write is moved away while the person thinks.
    fs::rename(&tree.ws, tree.root.join("away")).unwrap();
    gate.open.store(true, Ordering::SeqCst);
    assert_eq!(asking.join().unwrap(), Err(Trouble::Changed));
    assert!(!tree.root.join("away/n").exists());
}

#[test]
fn a_file_that_becomes_another_while_a_person_thinks_is_not_written() {
    let tree = Tree::plant();
    let gate = Arc::new(Gate::default());
    let guard = guards(&asking(&tree), Arc::clone(&gate) as Arc<dyn Approver>).tool(&tool("write"));
    let asking = thread::spawn(move || {
        guard
            .write(Path::new("a.txt"), &Abort::new())
            .map_err(|refusal| refusal.trouble())?
            .replace(b"late")
            .map_err(Some)
    });
    until(|| gate.asked.load(Ordering::SeqCst) == 1);
    fs::rename(tree.ws.join(".env"), tree.ws.join("a.txt")).unwrap();
    gate.open.store(true, Ordering::SeqCst);
    assert_eq!(asking.join().unwrap(), Err(Some(Trouble::Changed)));
    assert_eq!(fs::read_to_string(tree.ws.join("a.txt")).unwrap(), "K=1");
}

#[test]
fn a_large_directory_that_changes_is_listed_to_its_end() {
    let tree = Tree::plant();
    let large = tree.ws.join("large");
    fs::create_dir(&large).unwrap();
    for index in 0..5000 {
        fs::hard_link(tree.ws.join("a.txt"), large.join(format!("file-{index}"))).unwrap();
    }
    fs::write(large.join(".env"), "").unwrap();
    let guard = guard(&Config::default_in(&tree.ws), "ls");
    let directory = guard.list(Path::new("large"), &Abort::new()).unwrap();
    let mut seen = 0;
    for (index, entry) in directory.entries().unwrap().enumerate() {
        let entry = entry.unwrap();
        assert!(entry.name() != ".env");
        seen += 1;
        // An entry that is removed or becomes a link meanwhile is not opened.
        let path = large.join(entry.name());
        if index % 3 == 0 {
            fs::remove_file(&path).unwrap();
            assert!(directory.file(&entry).is_err() && directory.look(&entry).is_err());
        } else if index % 3 == 1 {
            fs::remove_file(&path).unwrap();
            symlink(tree.root.join("out/secret.txt"), &path).unwrap();
            assert!(directory.file(&entry).is_err() && directory.enter(&entry).is_err());
        }
    }
    assert!(seen >= 5000, "{seen}");
}

#[test]
fn a_person_is_not_asked_about_what_cannot_be_judged() {
    let tree = Tree::plant();
    let person = Person::saying(&[]);
    let guard = guards(&asking(&tree), Arc::clone(&person) as Arc<dyn Approver>).tool(&tool("write"));
    for path in ["", "a\0b", "/proc/self/root/x", "../x", ".env"] {
        assert!(guard.write(Path::new(path), &Abort::new()).is_err(), "{path:?}");
    }
    assert_eq!(person.asked(), 0);
}

//! `ringfence` at a real terminal: `run` behaves like the program it runs, a long scan shows how far it is.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

mod stage;

use std::io::stdin;

use rustix::process::Signal;
use rustix::termios::{LocalModes, Termios, tcgetattr};
use stage::person::Person;
use stage::{PROGRAM, Stage, has};

/// The stage and the person, where there can be both.
fn begin() -> Option<(Stage, Person)> {
    Some((Stage::new()?, Person::sits_down()?))
}

const INTERRUPT: &str = "\x03";
const END: &str = "\x04";
const SUSPEND: &str = "\x1a";
const QUIT: &str = "\x1c";

/// Says when it is continued, and lives until it is interrupted. It starts nothing: a shell that does is not stopped between
/// making a process and the program in it.
const JOB: &str = "mkfifo p; exec 3<>p; trap 'echo con\"\"tinued' CONT; echo star\"\"ted; while :; do read -t 0.05 -u 3; done";

/// A command line for a shell.
fn bash(script: &str) -> String {
    format!("bash -c '{}'", script.replace('\'', "'\\''"))
}

fn same(a: &Termios, b: &Termios) -> bool {
    (a.input_modes, a.output_modes, a.control_modes, a.local_modes)
        == (b.input_modes, b.output_modes, b.control_modes, b.local_modes)
}

#[test]
fn a_shell_inside_controls_its_jobs() {
    let Some((stage, mut person)) = begin() else { return };
    person.starts(&stage, &[PROGRAM, "run", "--", "bash", "--norc", "--noprofile", "-i"]);
    person.sees("\u{24} ");
    person.types(&format!("{}\r", bash(JOB)));
    person.sees("started");
    person.types(SUSPEND);
    person.sees("Stopped");
    person.sees("\u{24} ");
    person.types("fg\r");
    person.sees("continued");
    person.types(INTERRUPT);
    person.sees("\u{24} ");
    person.types("echo li''ves; exit 7\r");
    person.sees("lives");
    assert_eq!(person.waits().0.code(), Some(7));
}

#[test]
fn keys_that_end_a_program_end_it() {
    for (key, code) in [(INTERRUPT, 130), (QUIT, 131), (END, 0)] {
        let Some((stage, mut person)) = begin() else { return };
        let before = person.modes();
        person.runs(&stage, "", "echo rea''dy; exec cat");
        person.sees("ready");
        assert!(person.is_raw());
        person.types(key);
        assert_eq!(person.waits().0.code(), Some(code), "{key:?}");
        assert!(same(&person.modes(), &before), "{key:?}");
    }
}

#[test]
fn a_program_is_suspended_and_continued_like_any_job() {
    let Some((stage, mut person)) = begin() else { return };
    person.opens_a_shell(&stage);
    person.types("$RF run -- sh -c 'echo rea\"\"dy; exec cat'\r");
    person.sees("ready");
    person.types(SUSPEND);
    person.sees("Stopped");
    person.sees("out> ");
    person.types("stty -a | grep -c ' icanon'\r");
    person.sees("\r1\r\n");
    for _ in 0..2 {
        person.types("fg\r");
        person.gives_up_the_terminal();
        person.types("he\r");
        person.sees("he\r\nhe\r\n");
        person.types(SUSPEND);
        person.sees("Stopped");
        person.sees("out> ");
    }
    person.types("fg\r");
    person.gives_up_the_terminal();
    person.types(END);
    person.sees("out> ");
    person.types("echo code=$?\r");
    person.sees("\rcode=0\r\n");
    person.types("exit\r");
    person.waits();
}

/// Programs that want keys get the terminal from us, so the key never reaches those beside us.
#[test]
fn the_whole_pipeline_is_suspended() {
    let Some((stage, mut person)) = begin() else { return };
    person.opens_a_shell(&stage);
    let job = bash(&format!("stty raw isig -echo; {JOB}"));
    person.types(&format!("$RF run -- {job} | cat\r"));
    person.sees("started");
    person.gives_up_the_terminal();
    person.types(SUSPEND);
    person.sees("Stopped");
    person.sees("out> ");
    person.types("ps -o stat=,comm= | grep -c '^T.* cat'\r");
    person.sees("\r1\r\n");
    person.types("fg\r");
    person.sees("continued");
    person.types(INTERRUPT);
    person.sees("out> ");
    person.types("exit\r");
    person.waits();
}

/// An agent suspends itself by the signal that cannot be caught.
#[test]
fn a_program_that_stops_itself_is_suspended() {
    let Some((stage, mut person)) = begin() else { return };
    person.opens_a_shell(&stage);
    for signal in ["TSTP", "STOP"] {
        person.types(&format!("$RF run -- sh -c 'kill -{signal} $$; echo on; exit 3'\r"));
        person.sees("Stopped");
        person.sees("out> ");
        person.types("fg\r");
        person.sees("\non\r\n");
        person.sees("out> ");
        person.types("echo code=$?\r");
        person.sees("code=3");
    }
    person.types("exit\r");
    person.waits();
}

#[test]
fn a_suspended_program_goes_on_in_the_background() {
    let Some((stage, mut person)) = begin() else { return };
    person.opens_a_shell(&stage);
    person.types("$RF run -- sh -c 'kill -STOP $$; echo on; exit 3'\r");
    person.sees("Stopped");
    person.sees("out> ");
    person.types("bg\r");
    person.sees("on\r");
    person.types("wait %1; echo code=$?; exit\r");
    person.sees("code=3");
    person.waits();
}

/// Without a shell around, it could not be continued.
#[test]
fn where_no_shell_waits_nothing_is_suspended() {
    let Some((stage, mut person)) = begin() else { return };
    person.runs(&stage, "", "echo rea''dy; exec cat");
    person.sees("ready");
    person.types(SUSPEND);
    person.types("he\r");
    person.sees("he\r\nhe\r\n");
    person.types(END);
    assert_eq!(person.waits().0.code(), Some(0));
}

#[test]
fn the_size_of_the_window_is_known_inside() {
    let Some((stage, mut person)) = begin() else { return };
    person.runs(&stage, "", "stty size; trap 'stty size' WINCH; echo rea''dy; while :; do sleep 0.05; done");
    person.sees("30 100\r\n");
    person.sees("ready");
    person.resizes(40, 120);
    person.sees("40 120\r\n");
    person.types(INTERRUPT);
    person.waits();
}

#[test]
fn the_terminal_is_left_as_it_was_found() {
    let rows = [
        ("", "@; exit 3", None, 3),
        ("", "stty raw -echo; @; exit 0", None, 0),
        ("", "stty raw -echo; @; kill -KILL $$", None, 137),
        ("--limit wall-clock=300ms", "@; exec sleep 100", None, 124),
        ("", "@; exec sleep 100", Some(Signal::TERM), 143),
        ("", "@; exec sleep 100", Some(Signal::HUP), 129),
        ("", "trap '' TERM; @; sleep 100; sleep 100", Some(Signal::TERM), 137),
    ];
    for (options, script, signal, code) in rows {
        let Some((stage, mut person)) = begin() else { return };
        let before = person.modes();
        person.runs(&stage, options, &script.replace('@', "echo rea''dy"));
        person.sees("ready");
        if let Some(signal) = signal {
            person.signals(signal);
        }
        assert_eq!(person.waits().0.code(), Some(code), "{script}");
        assert!(same(&person.modes(), &before), "{options} {script} {signal:?}");
    }
}

/// This very test, started again at a terminal, is the program that panics.
#[test]
fn a_panic_leaves_the_terminal_as_it_was_found() {
    if std::env::var_os(PANICS).is_some() {
        return panic_at_the_terminal();
    }
    let Some((stage, mut person)) = begin() else { return };
    let before = person.modes();
    let (this, set) = (std::env::current_exe().unwrap(), format!("{PANICS}=1"));
    let name = "a_panic_leaves_the_terminal_as_it_was_found";
    person.starts(&stage, &["env", &set, this.to_str().unwrap(), "--exact", name, "--nocapture"]);
    person.sees("on purpose");
    assert!(same(&person.modes(), &before));
    person.signals(Signal::TERM);
    person.waits();
}

const PANICS: &str = "RINGFENCE_TEST_PANICS";

fn panic_at_the_terminal() {
    ringfence_cli::restore_terminal_on_panic();
    std::thread::spawn(|| {
        let raw = || !tcgetattr(stdin()).unwrap().local_modes.contains(LocalModes::ICANON);
        assert!(!stage::within(stage::LONG, raw), "on purpose");
    });
    let words = ["ringfence", "run", "--", "cat"].map(Into::into);
    ringfence_cli::run(words, &mut std::io::sink(), &mut std::io::sink());
}

#[test]
fn an_editor_edits() {
    if !has("vim", "an editor inside") {
        return;
    }
    let Some((stage, mut person)) = begin() else { return };
    person.starts(&stage, &[PROGRAM, "run", "--", "vim", "-u", "NONE", "file"]);
    person.sees("\x1b[?1049h");
    person.sees("[New File]");
    person.types("ihello\x1b");
    person.types(":wq\r");
    person.sees("\x1b[?1049l");
    assert_eq!(person.waits().0.code(), Some(0));
    assert_eq!(std::fs::read_to_string(stage.path("ws/file")).unwrap(), "hello\n");
}

#[test]
fn what_is_shown_passes_and_what_acts_on_the_host_does_not() {
    let Some((stage, mut person)) = begin() else { return };
    let script = r"printf 'a\033[?1049h\033[1mb\033[0m\033]52;c;aGVsbG8=\007c\033[?1049ld\n'";
    person.runs(&stage, "", script);
    let (_, shown) = person.waits();
    assert_eq!(shown, "a\x1b[?1049h\x1b[1mb\x1b[0mc\x1b[?1049ld\r\n");
}

#[test]
fn programs_find_their_terminal() {
    let Some((stage, mut person)) = begin() else { return };
    // By its number: a shell that forks `grep` is there twice for a moment.
    let script = "tty; stty -a | grep -c speed; echo x > /dev/tty; echo y > /dev/stderr; ps -o tty=,pid= | grep -c \"pts/0 *$$\\$\"; \
                  test -t 0 && test -t 1 && test -t 2 && echo all";
    person.runs(&stage, "", script);
    let (status, shown) = person.waits();
    assert_eq!(shown, "/dev/pts/0\r\n1\r\nx\r\ny\r\n1\r\nall\r\n");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn in_the_background_it_goes_on_and_leaves_the_keyboard_alone() {
    let Some((stage, mut person)) = begin() else { return };
    person.opens_a_shell(&stage);
    let job = "until test -e go; do sleep 0.05; done; echo went; exec cat";
    person.types(&format!("$RF run -- sh -c '{job}' &\r"));
    person.sees("out> ");
    person.types("echo mi''ne; touch go\r");
    person.sees("\rmine\r\n");
    person.sees("went");
    person.types("echo sti''ll\r");
    person.sees("\rstill\r\n");
    person.types("jobs\r");
    person.sees("Running");
    person.types("fg\r");
    person.gives_up_the_terminal();
    person.types("he\r");
    person.sees("he\r\nhe\r\n");
    person.types(INTERRUPT);
    person.sees("out> ");
    person.types("echo code=$?; exit\r");
    person.sees("code=130");
    person.waits();
}

/// Protected names are asked about one by one, and changes are not discarded by accident.
#[test]
fn a_person_is_asked_about_overlays() {
    let Some((stage, mut person)) = begin() else { return };
    let script = "mkdir .vscode; echo a >.vscode/tasks.json; echo b >.vscode/settings.json; echo c >plain";
    person.starts(&stage, &[PROGRAM, "run", "--overlay", "--", "sh", "-c", script]);
    person.sees("changes are in the overlay");
    let (ended, _) = person.waits();
    assert_eq!(ended.code(), Some(0));
    let mut rows = vec![
        (vec!["apply"], vec!["n\r", "\r"], 1),
        (vec!["apply"], vec!["n\r", "y\r"], 1),
        (vec!["discard"], vec!["no\r"], 1),
        (vec!["discard"], vec!["y\r"], 0),
    ];
    for (words, answers, code) in rows.drain(..) {
        let Some(mut person) = Person::sits_down() else { return };
        let line: Vec<&str> = [PROGRAM].into_iter().chain(words.iter().copied()).collect();
        person.starts(&stage, &line);
        for answer in answers {
            person.sees("[y/N] ");
            person.types(answer);
        }
        assert_eq!(person.waits().0.code(), Some(code), "{words:?}");
    }
    let there = |name: &str| stage.path("ws").join(name).exists();
    assert_eq!(["plain", ".vscode/settings.json", ".vscode/tasks.json"].map(there), [true, false, true]);
}

/// Skills that take far longer to look at than a person waits for a bar: one text under many names.
fn many_skills(stage: &Stage, names: usize) {
    let words =
        ["count", "words", "read", "notes", "write", "down", "curl", "table", "path", "list", "number"];
    let word = |at: usize| words[(at * at / 7 + at / 3) % words.len()];
    let text: String =
        (0..250_000).flat_map(|at| [word(at), if at % 9 == 8 { ".\n" } else { " " }]).collect();
    let first = stage.path("ws/first.md");
    std::fs::write(&first, text).unwrap();
    for number in 0..names {
        let directory = stage.path(&format!("ws/many/a-skill-with-quite-a-long-name-{number}"));
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::hard_link(&first, directory.join("SKILL.md")).unwrap();
    }
}

/// Returns the rest on a screen of lines that were drawn over.
fn left(shown: &str) -> Vec<&str> {
    shown.split("\r\n").map(|line| line.rsplit("\r\x1b[K").next().unwrap_or_default()).collect()
}

#[test]
fn a_long_scan_shows_a_bar_and_ends_at_once_when_it_is_interrupted() {
    // In a narrow window too: a bar of two lines could not be drawn over.
    for columns in [100, 40] {
        let stage = Stage::bare();
        many_skills(&stage, 1_500);
        let Some(mut person) = Person::sits_down() else { return };
        person.resizes(30, columns);
        let before = person.modes();
        person.opens_a_shell(&stage);
        person.types("$RF skill scan many >out.txt\r");
        person.sees("\r\x1b[K");
        let bar = person.sees("\r\x1b[K");
        let bar = bar.trim_end_matches("\r\x1b[K");
        assert!(bar.contains("/1500") && bar.len() < usize::from(columns), "{bar:?}");
        person.types(INTERRUPT);
        person.sees("out> ");
        person.types("echo code=$?\r");
        person.sees("code=130");
        person.types("exit\r");
        let (_, shown) = person.waits();
        let own = shown.replace("\x1b[K", "").replace("\x1b[?2004h", "").replace("\x1b[?2004l", "");
        assert!(!own.contains('\x1b'), "the cursor was hidden, or the like: {own:?}");
        assert!(same(&person.modes(), &before));
        assert_eq!(std::fs::read_to_string(stage.path("ws/out.txt")).unwrap(), "", "half a scan is told");
    }
}

#[test]
fn a_scan_leaves_nothing_of_its_bar() {
    let stage = Stage::bare();
    many_skills(&stage, 3);
    let summary = "3 scanned, 3 files: 0 blocked, 0 flagged, 3 clean";
    let Some(mut person) = Person::sits_down() else { return };
    person.starts(&stage, &[PROGRAM, "skill", "scan", "many"]);
    let (status, shown) = person.waits();
    assert_eq!((status.code(), left(&shown)), (Some(0), vec![summary, ""]), "{shown:?}");
    // Without a terminal that can redraw a line, or with standard error elsewhere, there is no bar.
    for line in
        ["TERM=dumb $RF skill scan many", "$RF skill scan many 2>err.txt", "$RF skill scan many 2>&1 | cat"]
    {
        let Some(mut person) = Person::sits_down() else { return };
        person.starts(&stage, &["sh", "-c", line]);
        let (_, shown) = person.waits();
        assert_eq!(shown, format!("{summary}\r\n"), "{line}");
    }
    assert_eq!(std::fs::read_to_string(stage.path("ws/err.txt")).unwrap(), "");
}

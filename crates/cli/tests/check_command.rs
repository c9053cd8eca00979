//! `ringfence check command`, as a stranger meets it.
#![allow(clippy::unwrap_used, reason = "tests may unwrap")]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// A home and a workspace of their own.
struct Stage {
    directory: tempfile::TempDir,
}

/// Output and exit of a command.
#[derive(Debug)]
struct Ended {
    code: i32,
    out: String,
    err: String,
}

const POLICY: &str = r#"
version = 1

[[rules]]
tool = "exec"
command = "git push"
action = "deny"
reason = "history is shared"

[[rules]]
tool = "exec"
command = "npm publish"
action = "ask"

[[rules]]
tool = "exec"
command = "cargo test"
action = "allow"
"#;

impl Stage {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["home/.config/ringfence", "ws/sub"] {
            fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        fs::write(directory.path().join("home/.config/ringfence/policy.toml"), POLICY).unwrap();
        Self { directory }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ringfence"));
        let here = self.directory.path();
        command.env_clear().env("HOME", here.join("home")).current_dir(here.join("ws"));
        command.args(["check", "command"]);
        command
    }

    fn check(&self, arguments: &[impl AsRef<OsStr>], stdin: &[u8]) -> Ended {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut to = child.stdin.take().unwrap();
        let stdin = stdin.to_vec();
        // A program that does not read it closes it: no failure of ours.
        let writer = std::thread::spawn(move || drop(to.write_all(&stdin)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let here = self.directory.path().canonicalize().unwrap();
        let tidy =
            |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace(here.to_str().unwrap(), "/stage");
        Ended { code: output.status.code().unwrap(), out: tidy(output.stdout), err: tidy(output.stderr) }
    }

    /// The answers to a stream.
    fn stream(&self, options: &[&str], stdin: &[u8]) -> Vec<Value> {
        let ended = self.check(&[&["--jsonl"], options].concat(), stdin);
        assert_eq!(ended.code, 0, "{ended:?}");
        ended.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn holds(ended: &Ended, code: i32, snippets: &[&str]) -> bool {
    ended.code == code && snippets.iter().all(|snippet| ended.out.contains(snippet))
}

/// Reads like `one line, as a shell gets it`.
#[test]
fn the_exit_code_is_the_decision() {
    let stage = Stage::new();
    let rows: &[(&[&str], i32, &[&str])] = &[
        (&["ls -l"], 0, &["allow exec ls -l\n", "programs:\n  ls -l\n"]),
        (&["cargo test --locked"], 0, &["RF-R001", "policy.toml:"]),
        (
            &["git push"],
            4,
            &["deny exec git push\n", "RF-R001 history is shared\n", "by /stage/home/", "to allow it: "],
        ),
        (&["npm publish"], 3, &["ask exec npm publish\n"]),
        (&["ls && git push"], 4, &["  ls\n", "  git push\n"]),
        (&["env A=1 git push"], 4, &["  git push (through env"]),
        (&["cd sub && git push"], 4, &["git push (in /stage/ws/sub"]),
        (&["sh -c 'git push'"], 4, &["git push"]),
        (&["$x push"], 3, &["RF-R003", "<?> push"]),
        (&["echo $(git push)"], 4, &["git push", "RF-S004", "    echo $(git push)\n", "^^^^^^^^^^^\n"]),
        (&["echo $(id)", "--mode", "strict"], 4, &["RF-S004"]),
        (&["echo $(id)", "--mode", "standard"], 0, &["RF-S004"]),
        (&["echo $(id)", "--mode", "off"], 0, &[]),
        (&["rm -rf /", "--mode", "off"], 4, &["RF-S018"]),
        (&["echo 'a"], 4, &["RF-S001"]),
        (&["echo a\u{202e}b"], 4, &["RF-S002", r"a\u{202e}b"]),
        // Dialects differ; whichever shell would start it, counts.
        (&["=git push", "--shell", "zsh"], 4, &["git"]),
        (&["=git push", "--shell", "any"], 4, &["git"]),
        (&["ls", "--shell", "dash"], 0, &[]),
        // Several words are read by no shell.
        (&["--", "git", "push"], 4, &["deny exec git push\n"]),
        (&["--", "echo", "; git push"], 0, &["  echo '; git push'\n"]),
        (&["--", "sh", "-c", "git push"], 4, &["git push"]),
    ];
    for (arguments, code, snippets) in rows {
        let ended = stage.check(arguments, b"");
        assert!(holds(&ended, *code, snippets), "{arguments:?}: {ended:?}");
    }
}

#[test]
fn what_stands_on_standard_input_is_read_too() {
    let stage = Stage::new();
    let script = stage.directory.path().join("script");
    fs::write(&script, "git push\n").unwrap();
    let script = script.to_str().unwrap();
    let rows: &[(&[&str], &str, i32)] = &[
        (&["sh", "--stdin", "-"], "git push", 4),
        (&["sh", "--stdin", "-"], "ls", 0),
        (&["sh", "--stdin", script], "", 4),
        // Nothing is known to stand there, as in an interactive shell.
        (&["sh"], "git push", 0),
    ];
    for (arguments, stdin, code) in rows {
        let ended = stage.check(arguments, stdin.as_bytes());
        assert_eq!(ended.code, *code, "{arguments:?} {stdin}: {ended:?}");
    }
}

#[test]
fn mistakes_are_told() {
    let stage = Stage::new();
    let rows: &[(&[&str], i32)] = &[
        (&[], 64),
        (&["ls", "--shell", "fish"], 64),
        (&["ls", "--mode", "lax"], 64),
        (&["ls", "--jsonl"], 64),
        (&["--jsonl", "--stdin", "x"], 64),
        (&["--push"], 64),
        (&["ls", "--stdin", "missing"], 1),
        (&["ls", "--stdin", "sub"], 1),
        (&["ls", "--stdin", "/dev/zero"], 1),
    ];
    for (arguments, code) in rows {
        let ended = stage.check(arguments, b"");
        assert!(
            ended.code == *code && ended.out.is_empty() && !ended.err.is_empty(),
            "{arguments:?}: {ended:?}"
        );
    }
}

#[test]
fn a_line_may_be_anything() {
    let stage = Stage::new();
    let long = "a".repeat(100_000);
    let lines: [&[u8]; 6] = [b"", b" \n\t", b"#", b"\xff\xfe", b"a\x1b]0;b\x07\xe2\x80\xae", long.as_bytes()];
    for line in lines {
        for format in ["text", "json"] {
            let arguments: [&OsStr; 4] =
                ["--format".as_ref(), format.as_ref(), "--".as_ref(), OsStr::from_bytes(line)];
            let ended = stage.check(&arguments, b"");
            assert!([0, 3, 4].contains(&ended.code), "{line:?}: {ended:?}");
            let misleads = |c: char| c != '\n' && policy::misleads(c);
            assert!(!ended.out.chars().any(misleads), "{ended:?}");
            assert!(format == "json" || ended.out.len() < 3000, "{}", ended.out.len());
        }
    }
    assert_eq!(stage.check(&[""], b"").code, 0, "nothing is started, so nothing is against it");
}

/// Bytes that are no text are not certain, and can be seen.
#[test]
fn bytes_that_are_no_text_are_shown_and_never_plain() {
    let stage = Stage::new();
    let line = OsString::from(OsStr::from_bytes(b"echo \xff $(id)"));
    let ended = stage.check(&[line], b"");
    assert!(holds(&ended, 4, &[r"deny exec echo \xff $(id)", r"    echo \xff $(id)"]), "{ended:?}");
}

#[test]
fn the_trace_comes_last() {
    let stage = Stage::new();
    let ended = stage.check(&["--trace", "ls"], b"");
    assert!(ended.out.contains("\ndecided in phase: default\n"), "{ended:?}");
    assert!(ended.out.contains("  findings "), "{ended:?}");
}

#[test]
fn json_has_the_programs_and_the_findings() {
    let stage = Stage::new();
    let ended = stage.check(&["--format", "json", "ls"], b"");
    let json: Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!(
        (&json["kind"], &json["object"], &json["decision"]),
        (&"exec".into(), &"ls".into(), &"allow".into())
    );
    assert!(json["programs"].is_array() && json["findings"].is_array() && json["trace"].is_array(), "{json}");
}

#[test]
fn json_says_what_is_known_of_a_program() {
    let stage = Stage::new();
    let line = "A=1 env git push \"$x\" > out; echo $(id)";
    let ended = stage.check(&["--format", "json", line], b"");
    let json: Value = serde_json::from_str(&ended.out).unwrap();
    let git = &json["programs"][0];
    assert_eq!(git["argv"][0], serde_json::json!({ "text": "git", "known": true }), "{json}");
    assert_eq!(git["argv"][2]["known"], false, "{json}");
    assert_eq!(git["through"][0][0]["text"], "env", "{json}");
    assert_eq!(git["assignments"][0]["name"], "A", "{json}");
    assert_eq!(git["redirects"][0]["direction"], "write", "{json}");
    assert_eq!(git["redirects"][0]["target"]["text"], "out", "{json}");
    assert_eq!(git["cwd"], "/stage/ws", "{json}");
    let found = json["findings"].as_array().unwrap().iter().find(|found| found["code"] == "RF-S004").unwrap();
    let start = line.find("$(id)").unwrap();
    assert_eq!(found["span"], serde_json::json!({ "start": start, "end": start + 5 }), "{json}");
    assert_eq!(found["effect"], Value::Null, "in standard mode what is inside counts");
}

#[test]
fn a_stream_is_answered_line_by_line() {
    let stage = Stage::new();
    let questions = [
        r#"{"id": "a", "command": "ls", "shell": "any", "via": "argv"}"#,
        "not JSON",
        r#"["id"]"#,
        "",
        r#"{"id": 7, "command": "ls", "shell": "dash"}"#,
        r#"{"id": "none"}"#,
        r#"{"id": "shell", "command": "ls", "shell": "fish"}"#,
        r#"{"id": "type", "command": ["ls"]}"#,
        r#"{"id": "base", "command": "ls", "command_b64": "bHM"}"#,
        r#"{"id": "bits", "command_b64": "bHN="}"#,
        r#"{"id": "sur", "command": "\ud800"}"#,
        r#"{"id": "b64", "command_b64": "bHM=", "via": "stdin"}"#,
    ];
    let answers = stage.stream(&[], questions.join("\n").as_bytes());
    let seen: Vec<_> = answers
        .iter()
        .map(|answer| {
            (answer["id"].to_string(), answer["verdict"].as_str().unwrap(), answer["error"].is_string())
        })
        .collect();
    let seen: Vec<_> = seen.iter().map(|(id, verdict, error)| (id.as_str(), *verdict, *error)).collect();
    let expected = [
        ("\"a\"", "allow", false),
        ("null", "deny", true),
        ("null", "deny", true),
        ("null", "deny", true),
        ("7", "allow", false),
        ("\"none\"", "deny", true),
        ("\"shell\"", "deny", true),
        ("\"type\"", "deny", true),
        ("\"base\"", "deny", true),
        ("\"bits\"", "deny", true),
        ("null", "deny", true),
        ("\"b64\"", "allow", false),
    ];
    assert_eq!(seen, expected);
    let not_text =
        stage.stream(&[], b"{\"id\": \"\xff\", \"command\": \"ls\"}\n{\"id\": 1, \"command\": \"ls\"}");
    assert!(
        not_text.len() == 2 && not_text[0]["verdict"] == "deny" && not_text[1]["id"] == 1,
        "{not_text:?}"
    );
}

#[test]
fn answers_name_every_program() {
    let stage = Stage::new();
    // `git push\0` and `git push` in Base64.
    let questions = r#"{"id": 0, "command": "env A=1 nice git push | tee x", "shell": "any"}
{"id": 1, "command_b64": "Z2l0IHB1c2gA"}
{"id": 2, "command": "ls", "command_b64": "Z2l0IHB1c2g="}
{"id": 3, "command": "echo $(id)"}
"#;
    let answers = stage.stream(&["--mode", "strict"], questions.as_bytes());
    let commands = answers[0]["commands"].as_array().unwrap();
    for program in ["env", "nice", "git", "tee"] {
        assert!(commands.contains(&program.into()), "{program}: {answers:?}");
    }
    assert_eq!(answers[0]["verdict"], "deny");
    assert_eq!(answers[1]["verdict"], "deny");
    assert!(!answers[1]["findings"].as_array().unwrap().is_empty(), "NUL has its place: {answers:?}");
    assert_eq!(answers[2]["verdict"], "deny", "the bytes count, not what is left of them");
    assert!(answers[2]["reason"].as_str().unwrap().starts_with("RF-R001 "), "{answers:?}");
    let found = &answers[3]["findings"][0];
    assert_eq!((&found["code"], &found["start"], &found["end"]), (&"RF-S004".into(), &5.into(), &10.into()));
}

#[test]
fn a_line_too_long_is_refused_as_a_whole_and_the_next_is_answered() {
    let stage = Stage::new();
    let question =
        |id: u8, length: usize| format!("{{\"id\": {id}, \"command\": \"# {}\"}}\n", "a".repeat(length));
    let answers = stage.stream(&[], (question(1, 17 << 20) + &question(2, 1)).as_bytes());
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert!(answers[0]["id"].is_null() && answers[0]["verdict"] == "deny", "{answers:?}");
    assert!(answers[1]["id"] == 2 && answers[1]["verdict"] == "allow", "{answers:?}");
}

/// A client that asks one question and waits gets the answer before asking the next.
#[test]
fn an_answer_does_not_wait_for_the_next_question() {
    let stage = Stage::new();
    let mut command = stage.command();
    let mut child = command.arg("--jsonl").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut from = BufReader::new(child.stdout.take().unwrap()).lines();
    for id in 0..3 {
        writeln!(to, "{{\"id\": {id}, \"command\": \"ls\"}}").unwrap();
        let answer: Value = serde_json::from_str(&from.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], id);
    }
    drop(to);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_long_stream_is_answered_soon() {
    let stage = Stage::new();
    let question =
        r#"{"id": 1, "command": "cd sub && env A=1 git status | grep -c x > out", "shell": "any"}"#;
    let long = format!("{{\"id\": 2, \"command\": \"echo {}\"}}", "a".repeat(1 << 20));
    let questions = format!("{question}\n").repeat(2000) + &long;
    let begin = Instant::now();
    let answers = stage.stream(&[], questions.as_bytes());
    assert_eq!(answers.len(), 2001);
    // Far more than it takes; a policy loaded anew for every line would take longer.
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

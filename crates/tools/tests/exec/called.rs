//! Replies to the calls of an agent.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use ringfence::guard::{Abort, Jail};
use ringfence_tools::{AnyTool as _, ErrorKind, Exec, Process};
use serde_json::{Value, json};

use crate::stage::{Stage, call};

#[test]
fn results() {
    let Some(stage) = Stage::new("results of commands") else { return };
    let rows = [
        (
            "echo out; echo err >&2",
            json!({ "exit_code": 0, "stdout": "out\n", "stderr": "err\n", "ended_by": "exit" }),
        ),
        ("exit 3", json!({ "exit_code": 3, "stdout": "", "truncated": false })),
        ("kill -SEGV $$", json!({ "exit_code": 139, "ended_by": "signal", "signal": 11 })),
        ("cat", json!({ "exit_code": 0, "stdout": "" })),
        ("echo x | grep y", json!({ "exit_code": 1, "exit_code_meaning": "no match; this is not an error" })),
        ("true && grep y /dev/null", json!({ "exit_code": 1, "exit_code_meaning": null })),
        ("no-such-program", json!({ "exit_code": 127 })),
        ("printf '\\033[1mbold\\033[0m\\r\\n'", json!({ "stdout": "bold\n" })),
        ("sleep 1000 & echo left", json!({ "exit_code": 0, "stdout": "left\n" })),
        (
            "echo $SHLVL; [ -S /dev/stdin ]; echo $?; shopt -q login_shell; echo $?",
            json!({ "stdout": "2\n1\n1\n" }),
        ),
        (
            "pwd; echo $PWD; echo ~",
            json!({ "stdout": format!("{0}\n{0}\n/home/agent\n", stage.path("work").display()) }),
        ),
    ];
    for (line, expected) in rows {
        let data = stage.run(line);
        assert_eq!(data["status"], "completed", "{line}: {data}");
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(data.get(name).unwrap_or(&Value::Null), value, "{line}: {data}");
        }
    }
    assert_eq!(
        stage.sink.take()[..3],
        ["request.decided allow", "jail.started", "jail.ended ok"].map(str::to_owned)
    );
}

#[test]
fn parameters() {
    let Some(stage) = Stage::new("parameters of commands") else { return };
    fs::write(stage.path("work/file"), "").unwrap();
    symlink(stage.path("out"), stage.path("work/link")).unwrap();
    let rows = [
        (json!({ "command": "pwd", "cwd": "sub" }), Ok(format!("{}\n", stage.path("work/sub").display()))),
        (json!({ "command": "pwd", "cwd": "../out" }), Err(ErrorKind::OutsideWorkspace)),
        (json!({ "command": "pwd", "cwd": "link" }), Err(ErrorKind::OutsideWorkspace)),
        (json!({ "command": "pwd", "cwd": "/tmp" }), Err(ErrorKind::OutsideWorkspace)),
        (json!({ "command": "pwd", "cwd": "file" }), Err(ErrorKind::WrongType)),
        (json!({ "command": "pwd", "cwd": "absent" }), Err(ErrorKind::NotFound)),
        (json!({ "command": "echo $X", "env": { "X": "y" } }), Ok("y\n".to_owned())),
        (json!({ "command": "cat", "input": "given" }), Ok("given".to_owned())),
        (json!({ "command": "true", "timeoutMs": 5000, "autoBackgroundMs": 0 }), Ok(String::new())),
        (json!({ "command": "sudo true" }), Err(ErrorKind::PermissionDenied)),
        (json!({ "command": "true", "wrong": 1 }), Err(ErrorKind::InvalidArguments)),
        (json!({}), Err(ErrorKind::InvalidArguments)),
    ];
    for (arguments, expected) in rows {
        let got = stage.exec(&arguments);
        let got = got.map(|output| output.data["stdout"].as_str().unwrap().to_owned());
        assert_eq!(
            got.as_ref().map_err(|error| error.kind),
            expected.as_ref().map_err(|kind| *kind),
            "{arguments}"
        );
    }
    // If files outside may be read, commands still start inside.
    let open = stage.another(Jail::Open);
    for cwd in [json!("../out"), json!("link"), json!(stage.path("out"))] {
        let error =
            call(&open, &Exec, &json!({ "command": "touch ran", "cwd": cwd }), &Abort::new()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::OutsideWorkspace, "{cwd}: {error}");
        assert!(error.message.ends_with("a command starts inside it"), "{error}");
    }
    // All that never enter are named: what the sandbox sets itself.
    let env = json!({ "FINE": "1", "LD_PRELOAD": "x", "RINGFENCE": "y", "HOME": "/x" });
    let refused = stage.exec(&json!({ "command": "touch ran", "env": env })).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::InvalidArguments);
    for name in ["RINGFENCE", "HOME"] {
        assert!(refused.message.contains(name), "{}", refused.message);
    }
    assert!(!refused.message.contains("FINE") && !stage.path("work/ran").exists());
    let told = stage.exec(&json!({ "command": "true", "description": "why" })).unwrap();
    assert_eq!(told.data["description"], "why");
}

#[test]
fn limits_are_told() {
    let Some(stage) = Stage::new("limits of commands") else { return };
    let rows = [
        (json!({ "command": "echo x; sleep 1000", "timeout_ms": 1 }), "wall-clock"),
        (json!({ "command": "echo x; sleep 1000", "idle_timeout_ms": 200 }), "idle"),
    ];
    for (arguments, limit) in rows {
        let data = stage.exec(&arguments).unwrap().data;
        assert_eq!((&data["exit_code"], &data["ended_by"]), (&json!(124), &json!("limit")), "{data}");
        assert_eq!((&data["limit"], &data["stdout"]), (&json!(limit), &json!("x\n")), "{data}");
        let records = stage.sink.take();
        assert_eq!(records[2..], [format!("limit.reached {limit}"), "jail.ended limited".to_owned()]);
    }
}

#[test]
fn called_off() {
    let Some(stage) = Stage::new("calls that are called off") else { return };
    let abort = Abort::new();
    let other = abort.clone();
    let began = Instant::now();
    let work = stage.path("work");
    let asker = std::thread::spawn(move || {
        while !work.join("ran").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        other.abort();
    });
    let command = json!({ "command": "touch ran; sleep 1000", "auto_background_ms": 0 });
    let data = stage.call(&Exec, &command, &abort).unwrap().data;
    assert_eq!((&data["exit_code"], &data["ended_by"]), (&json!(130), &json!("stopped")), "{data}");
    assert!(began.elapsed() < Duration::from_secs(60));
    asker.join().unwrap();
    assert_eq!(stage.sink.take().last().unwrap(), "jail.ended cancelled");
    // A call that was cancelled before does not start.
    let error = stage.call(&Exec, &json!({ "command": "touch again" }), &abort).unwrap_err();
    assert_eq!((error.kind, stage.path("work/again").exists()), (ErrorKind::Aborted, false));
}

#[test]
fn in_the_background() {
    let Some(stage) = Stage::new("commands in the background") else { return };
    let start = |more: Value| {
        let mut arguments = json!({ "command": "echo first; echo wrong >&2; sleep 1000" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        stage.exec(&arguments).unwrap().data
    };
    let data = start(json!({ "background": true }));
    assert_eq!((&data["status"], &data["job"]), (&json!("started"), &json!("job-2")));
    let log = |stream: &str| {
        stage.process(&json!({ "action": "log", "job": "job-2", "stream": stream })).unwrap().data["text"]
            .clone()
    };
    until(|| log("stdout") == "first\n" && log("stderr") == "wrong\n");
    let list = stage.process(&json!({ "action": "list" })).unwrap();
    assert_eq!(list.text, "job-1 ended true\njob-2 running echo first; echo wrong >&2; sleep 1000\n");
    let status = stage.process(&json!({ "action": "status", "job": "job-2" })).unwrap().data;
    assert_eq!((&status["status"], &status["stdout"]), (&json!("started"), &json!("first\n")));
    let killed = stage.process(&json!({ "action": "kill", "job": "job-2" })).unwrap().data;
    assert_eq!((&killed["exit_code"], &killed["ended_by"]), (&json!(130), &json!("stopped")));
    // After a while by itself, with what there is so far.
    let data = start(json!({ "autoBackgroundMs": 300 }));
    assert_eq!((&data["status"], &data["job"]), (&json!("backgrounded"), &json!("job-3")));
    let so_far = data["stdout"].as_str().unwrap();
    assert!("first\n".starts_with(so_far), "{so_far}");
}

/// The limit holds after the caller has gone.
#[test]
fn the_background_keeps_its_limits() {
    let Some(stage) = Stage::new("limits in the background") else { return };
    let arguments = json!({ "command": "sleep 1000", "timeout_ms": 600, "auto_background_ms": 100 });
    let data = stage.exec(&arguments).unwrap().data;
    assert_eq!(data["status"], "backgrounded");
    let status = || stage.process(&json!({ "action": "status", "job": data["job"] })).unwrap().data;
    until(|| status()["status"] == "completed");
    assert_eq!((&status()["exit_code"], &status()["limit"]), (&json!(124), &json!("wall-clock")));
}

#[test]
fn long_output_is_read_by_range() {
    let Some(stage) = Stage::new("long output by range") else { return };
    let output =
        stage.exec(&json!({ "command": "for i in $(seq 30000); do echo \"zeile ü $i\"; done" })).unwrap();
    let (data, expected) = (&output.data, lines(30_000));
    assert_eq!((&data["truncated"], &data["stdout_bytes"]), (&json!(true), &json!(expected.len())));
    let shown = data["stdout"].as_str().unwrap();
    assert!(shown.starts_with("zeile ü 1\n") && shown.ends_with("zeile ü 30000\n") && shown.len() < 51_000);
    let marker = shown.lines().find(|line| line.starts_with("=== ")).unwrap();
    assert!(marker.contains(" left out") && marker.contains("job job-2, stream stdout"), "{marker}");
    // The path is not shown.
    assert!(!output.text.contains("spill") && !data.to_string().contains("spill"));
    let (mut whole, mut offset) = (String::new(), 0);
    while whole.len() < expected.len() {
        let arguments = json!({ "action": "log", "job": "job-2", "stream": "stdout", "offset": offset });
        let piece = stage.process(&arguments).unwrap().data;
        whole.push_str(piece["text"].as_str().unwrap());
        assert!(piece["next_offset"].as_u64().unwrap() > offset);
        offset = piece["next_offset"].as_u64().unwrap();
    }
    assert!(whole == expected, "the pieces are not the whole");
}

fn lines(last: u32) -> String {
    (1..=last).fold(String::new(), |text, number| text + "zeile ü " + &number.to_string() + "\n")
}

#[test]
fn jobs_of_others_are_not_found() {
    let Some(stage) = Stage::new("jobs of other sessions") else { return };
    let other = stage.another(Jail::Closed);
    assert_eq!(stage.run("true")["exit_code"], 0);
    for action in ["status", "log", "kill"] {
        let arguments = json!({ "action": action, "job": "job-2" });
        assert!(stage.process(&arguments).is_ok(), "{action}");
        let error = call(&other, &Process, &arguments, &Abort::new()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::NotFound, "{action}");
    }
    let error = stage.process(&json!({ "action": "kill", "job": "1" })).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    let error = stage.process(&json!({ "action": "kill" })).unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidArguments);
}

#[test]
fn so_many_and_no_more() {
    let Some(stage) = Stage::new("many commands") else { return };
    for _ in 0..16 {
        stage.exec(&json!({ "command": "sleep 1000", "background": true })).unwrap();
    }
    let error = stage.exec(&json!({ "command": "true" })).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotStarted);
    assert!(error.message.contains("16 commands are running already"), "{}", error.message);
}

/// The last record of a session is its own, after those of all its commands.
#[test]
fn the_end_of_a_session_is_the_end_of_its_commands() {
    let Some(stage) = Stage::new("the end of a session") else { return };
    stage.exec(&json!({ "command": "sleep 1000", "background": true })).unwrap();
    let sink = stage.sink.clone();
    drop(stage);
    let records = sink.take();
    assert_eq!(records[records.len() - 2..], ["jail.ended cancelled", "session.closed"].map(str::to_owned));
}

#[test]
fn without_a_safe_place_for_output_nothing_starts() {
    let Some(stage) = Stage::new("an open directory for output") else { return };
    let other = stage.another(Jail::Closed);
    let open = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    fs::set_permissions(stage.path("state/spill"), open).unwrap();
    let error = call(&other, &Exec, &json!({ "command": "touch ran" }), &Abort::new()).unwrap_err();
    assert_eq!((error.kind, stage.path("work/ran").exists()), (ErrorKind::System, false), "{error:?}");
}

#[test]
fn schemas_name_what_is_required() {
    let schema = serde_json::to_value(Exec.schema()).unwrap();
    assert_eq!((&schema["required"], &schema["additionalProperties"]), (&json!(["command"]), &json!(false)));
    let schema = serde_json::to_value(Process.schema()).unwrap();
    assert_eq!(schema["required"], json!(["action"]));
}

#[track_caller]
fn until(mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

//! Somebody swaps files and directories for links to the outside while tools run: nothing outside is changed or returned.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

mod desk;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use desk::Desk;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};
use tools::{ApplyPatch, Edit, Read, Tool, Write};

/// How often it is tried, and for how long at least.
const ROUNDS: usize = 2000;
const AT_LEAST: Duration = Duration::from_millis(300);
const AT_MOST: Duration = Duration::from_secs(20);

const INSIDE: &str = "some text in here\n";
const OUTSIDE: &str = "OUTSIDE text in here\n";

fn calls(path: &str) -> Vec<(&'static dyn Tool, Value)> {
    let update = |to: &str| {
        format!(
            "*** Begin Patch\n*** Update File: {path}\n{to}@@\n-some text in here\n+changed text in here\n*** End Patch"
        )
    };
    let theirs = format!(
        "*** Begin Patch\n*** Update File: {path}\n@@\n-OUTSIDE text in here\n+written\n*** End Patch"
    );
    let delete = format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch");
    let add = format!("*** Begin Patch\n*** Add File: {path}.new/x\n+written\n*** End Patch");
    let moved = format!("*** Begin Patch\n*** Update File: {path}\n*** Move to: {path}.moved\n*** End Patch");
    vec![
        (&Read, json!({ "path": path })),
        (&Write, json!({ "path": path, "content": "written\n" })),
        (&Write, json!({ "path": path, "content": INSIDE })),
        (&Edit, json!({ "path": path, "old": "text", "new": "written" })),
        (&Edit, json!({ "path": path, "old": "OUTSIDE", "new": "written" })),
        (&ApplyPatch, json!({ "patch": update("") })),
        (&ApplyPatch, json!({ "patch": theirs })),
        (&ApplyPatch, json!({ "patch": delete })),
        (&ApplyPatch, json!({ "patch": add })),
        (&ApplyPatch, json!({ "patch": moved })),
    ]
}

/// Swaps two names until it is told to stop, calls tools all the while, and looks at the outside.
fn race(desk: &Desk, names: [&str; 2], path: &str, file: &str) {
    let [a, b] = names.map(|name| desk.ws(name));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                // One of them may just be gone.
                let _swapped = renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE);
            }
        });
        let (began, mut round) = (Instant::now(), 0);
        while (round < ROUNDS || began.elapsed() < AT_LEAST) && began.elapsed() < AT_MOST {
            for (tool, arguments) in calls(path) {
                round += 1;
                let said = match desk.call(tool, arguments) {
                    Ok(output) => format!("{} {}", output.text, output.data),
                    Err(error) => format!("{} {:?}", error.message, error.hint),
                };
                assert!(!said.contains("OUTSIDE"), "{}: {said}", tool.name());
                assert_eq!(outside(desk), ["f", "secret.txt"], "{}", tool.name());
                assert_eq!(fs::read_to_string(desk.outside("f")).unwrap(), OUTSIDE, "{}", tool.name());
            }
            restore(desk, file);
        }
        stop.store(true, Ordering::Relaxed);
    });
}

fn outside(desk: &Desk) -> Vec<String> {
    let entries = fs::read_dir(desk.outside("")).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Whatever became of the file, there is one again. What is swapped meanwhile must not lead this outside.
fn restore(desk: &Desk, file: &str) {
    fs::write(desk.ws("fresh"), INSIDE).unwrap();
    let place = desk.ws(file);
    let parent = place.parent().unwrap();
    if fs::symlink_metadata(parent).is_ok_and(|stat| stat.is_dir()) || parent == Path::new("") {
        let handle = fs::File::open(parent).unwrap();
        if handle_is_inside(desk, &handle) {
            let name = place.file_name().unwrap().to_owned();
            let _moved = rustix::fs::renameat(CWD, desk.ws("fresh"), &handle, name);
        }
    }
}

fn handle_is_inside(desk: &Desk, handle: &fs::File) -> bool {
    use std::os::fd::AsRawFd as _;
    let real = fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd())).unwrap();
    real.starts_with(fs::canonicalize(desk.ws("")).unwrap())
}

#[test]
fn a_file_is_swapped_for_a_link() {
    let desk = Desk::new();
    fs::write(desk.outside("f"), OUTSIDE).unwrap();
    desk.put("f", INSIDE);
    desk.link("trap", desk.outside("f"));
    race(&desk, ["f", "trap"], "f", "f");
}

#[test]
fn a_directory_is_swapped_for_a_link() {
    let desk = Desk::new();
    fs::write(desk.outside("f"), OUTSIDE).unwrap();
    desk.put("d/f", INSIDE);
    desk.link("trap", desk.outside(""));
    race(&desk, ["d", "trap"], "d/f", "d/f");
}

/// Two agents edit one file: no edit is lost without somebody being told.
#[test]
fn no_edit_is_lost() {
    let desk = Desk::new();
    desk.put("f", "0\n");
    let edits = |who: &str| {
        let mut done = 0;
        for round in 0..300 {
            let content = fs::read_to_string(desk.ws("f")).unwrap();
            let last = content.lines().last().unwrap();
            let arguments =
                json!({ "path": "f", "old": format!("{last}\n"), "new": format!("{last}\n{who}{round}\n") });
            done += usize::from(desk.call(&Edit, arguments).is_ok());
        }
        done
    };
    let done = std::thread::scope(|scope| {
        let other = scope.spawn(|| edits("a"));
        edits("b") + other.join().unwrap()
    });
    let lines = fs::read_to_string(desk.ws("f")).unwrap().lines().count();
    assert_eq!(lines, done + 1);
}

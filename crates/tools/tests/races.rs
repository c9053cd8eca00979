//! Another thread swaps files and directories for links to the outside while tools run: nothing outside is changed or returned.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may unwrap")]

mod desk;

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use desk::Desk;
use ringfence_tools::{AnyTool, ApplyPatch, Edit, Read, Write};
use rustix::fs::{CWD, RenameFlags, renameat, renameat_with};
use serde_json::{Value, json};

/// Number of tries, and the least time.
const ROUNDS: usize = 2000;
const AT_LEAST: Duration = Duration::from_millis(300);
const AT_MOST: Duration = Duration::from_secs(20);

const INSIDE: &str = "some text in here\n";
const OUTSIDE: &str = "OUTSIDE text in here\n";

fn calls(path: &str) -> Vec<(&'static dyn AnyTool, Value)> {
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
        // Similar text is shown.
        (&Edit, json!({ "path": path, "old": "txet in here", "new": "written" })),
        (&ApplyPatch, json!({ "patch": update("") })),
        (&ApplyPatch, json!({ "patch": theirs })),
        (&ApplyPatch, json!({ "patch": delete })),
        (&ApplyPatch, json!({ "patch": add })),
        (&ApplyPatch, json!({ "patch": moved })),
    ]
}

/// Calls tools while another thread swaps the target of the path, and looks at the outside.
fn race(desk: &Desk, path: &str, swap: impl Fn() + Sync) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                swap();
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
                let right = !said.contains("OUTSIDE")
                    && outside(desk) == ["f", "secret.txt"]
                    && fs::read_to_string(desk.outside("f")).unwrap() == OUTSIDE;
                if !right {
                    stop.store(true, Ordering::Relaxed);
                    panic!("{}: {said}", tool.name());
                }
            }
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

fn desk() -> Desk {
    let desk = Desk::new();
    fs::write(desk.outside("f"), OUTSIDE).unwrap();
    desk
}

/// Puts a new file in a directory, in the place of any other.
fn refresh(directory: &fs::File, desk: &Desk) {
    fs::write(desk.ws("fresh"), INSIDE).unwrap();
    renameat(CWD, desk.ws("fresh"), directory, "f").unwrap();
}

/// Puts a new link in the place of any entry.
fn relink(desk: &Desk, name: &str, target: &Path) {
    desk.link("fresh-link", target);
    fs::rename(desk.ws("fresh-link"), desk.ws(name)).unwrap();
}

#[test]
fn a_file_is_swapped_for_a_link() {
    let desk = desk();
    let here = fs::File::open(desk.ws("")).unwrap();
    desk.put("f", INSIDE);
    race(&desk, "f", || {
        refresh(&here, &desk);
        relink(&desk, "f", &desk.outside("f"));
    });
}

#[test]
fn a_link_is_swapped_for_another() {
    let desk = desk();
    desk.put("real/f", INSIDE);
    desk.link("d", "real");
    let real = fs::File::open(desk.ws("real")).unwrap();
    race(&desk, "d/f", || {
        refresh(&real, &desk);
        relink(&desk, "d", Path::new("real"));
        relink(&desk, "d", &desk.outside(""));
    });
}

#[test]
fn a_directory_is_swapped_for_a_link() {
    let desk = desk();
    desk.put("d/f", INSIDE);
    desk.link("trap", desk.outside(""));
    let directory = fs::File::open(desk.ws("d")).unwrap();
    race(&desk, "d/f", || {
        refresh(&directory, &desk);
        renameat_with(CWD, desk.ws("d"), CWD, desk.ws("trap"), RenameFlags::EXCHANGE).unwrap();
    });
}

/// Two agents edit one file: no edit is lost without an error.
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

//! Policy files, patches, and values that are written by hand.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use audit::{Head, Timestamp};
use config::edit::Edit;
use config::{Places, Sample, Scope, Source, from_sources, lint, rows};
use jail::bridge::{Direction, Port};
use policy::{ToolEntry, ToolName};
use tools::patch::{Action, Sign, parse};

use crate::texts;

/// Requests that a project file is held against.
const REQUESTS: &[&str] = &[
    "read src/a",
    "write src/a",
    "read .env",
    "read /etc/hosts",
    "write ringfence.toml",
    "connect a.com",
    "connect 10.0.0.1",
    "call exec",
    "call browser",
    "exec make",
];

/// A project file that loads allows no request that was not allowed without it.
pub fn policy_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let places = places();
    let load = |scope| from_sources(vec![Source::new(scope, Path::new("p.toml"), text.to_owned())], &places);
    if let Ok(settings) = load(Scope::User) {
        drop((lint(&settings), rows(&settings)));
    }
    let Ok(narrow) = load(Scope::Project) else { return };
    let Ok(wide) = from_sources(vec![], &places) else { return };
    for line in REQUESTS {
        let Ok(sample) = Sample::parse(line, &places) else { continue };
        let (before, after) =
            (wide.decide(&sample.request()).effect(), narrow.decide(&sample.request()).effect());
        assert!(after >= before, "{line}: {before:?} became {after:?} by\n{text}");
    }
}

/// `KEY NUL VALUE NUL FILE`: a file with one key set is a policy file, and setting the key again changes nothing.
pub fn policy_edit(bytes: &[u8]) {
    let Some([key, value, text]) = texts(bytes) else { return };
    let set = |text: &str| {
        let mut edit = Edit::new(text).ok()?;
        edit.set(key, value).ok()?;
        edit.finish(Scope::User, Path::new("p.toml")).ok()
    };
    if let Some(once) = set(text) {
        assert_eq!(set(&once).as_ref(), Some(&once), "{key:?} = {value:?} in {text:?}");
    }
}

/// Every place of a patch lies in its text, and every section does something.
pub fn patch_text(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let last = text.split('\n').count() + 1;
    let patch = match parse(text) {
        Ok(patch) => patch,
        Err(malformed) => return assert!((1..=last).contains(&malformed.line), "{malformed:?}"),
    };
    assert!(!patch.sections.is_empty());
    for section in &patch.sections {
        assert!((1..=last).contains(&section.line), "{section:?}");
        if let Action::Update { to, hunks, .. } = &section.action {
            assert!(to.is_some() || !hunks.is_empty(), "{section:?}");
            for hunk in hunks {
                assert!(hunk.lines.iter().any(|line| line.sign != Sign::Keep), "{hunk:?}");
                assert!((section.line..=last).contains(&hunk.line), "{hunk:?}");
            }
        }
    }
}

/// Values of options and keys are read or refused, and those that are shown read again as themselves.
pub fn values(bytes: &[u8]) {
    drop(jail::environment::Wanted::parse(OsStr::from_bytes(bytes)));
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(head) = text.parse::<Head>() {
        assert_eq!(head.to_string().parse::<Head>(), Ok(head));
    }
    if let Ok(name) = ToolName::parse(text) {
        assert_eq!(ToolName::parse(name.as_str()), Ok(name));
    }
    drop(ToolEntry::parse(text));
    for direction in [Direction::In, Direction::Out] {
        let _port = Port::parse(direction, text);
    }
    let _time = audit::since(text, Timestamp::UNIX_EPOCH);
    drop(Sample::parse(text, &places()).map(|sample| sample.request().want.kind()));
}

fn places() -> Places {
    let home = Some(PathBuf::from("/home/me"));
    Places { workspace: "/ws".into(), state: home.clone(), home, run: None }
}

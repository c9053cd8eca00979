//! The manifest of an overlay.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use git::Look;
pub use git::Moment;
use serde_json::{Value, json};

/// The manifest of an overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manifest {
    /// The directory the agent works in.
    pub workspace: PathBuf,
    /// Time since when the changes are made. A later change outside was made beside them.
    pub began: Moment,
    /// The command that was run last.
    pub command: String,
    /// State of its command.
    pub state: State,
    /// The directories whose changes it has.
    pub views: Vec<View>,
    /// Changes that we have applied ourselves, by view and path, with their times: they were not made by other programs.
    pub(crate) own: BTreeMap<(usize, PathBuf), Moment>,
    /// Files that lost a hard link because we applied a change, by device and inode, with the time: their
    /// other names were not changed.
    pub(crate) unlinked: BTreeMap<(u64, u64), Moment>,
}

/// A directory whose changes are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// Its path.
    pub path: PathBuf,
    /// Which object it was: device and inode.
    pub id: (u64, u64),
    /// True if it is the directory of a git repository itself.
    pub repository: bool,
}

/// State of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It runs, or its supervisor was killed.
    Running,
    /// It has ended.
    Ended,
}

impl Manifest {
    /// Returns true if the last change at a path was our own.
    pub(crate) fn is_own(&self, view: usize, path: &Path, look: &Look) -> bool {
        let touched = look.touched();
        self.own.get(&(view, path.to_owned())) == Some(&touched)
            || self.unlinked.get(&look.id()) == Some(&touched)
    }

    pub(crate) fn text(&self) -> String {
        let views = self.views.iter().map(|view| {
            let (device, inode) = view.id;
            json!({ "path": path(&view.path), "device": device, "inode": inode, "repository": view.repository })
        });
        let own = self.own.iter().map(|((view, at), moment)| {
            json!({ "view": view, "path": path(at), "at": [moment.seconds, moment.nanoseconds] })
        });
        let unlinked = self.unlinked.iter().map(|((device, inode), moment)| {
            json!({ "device": device, "inode": inode, "at": [moment.seconds, moment.nanoseconds] })
        });
        let state = match self.state {
            State::Running => "running",
            State::Ended => "ended",
        };
        let text = json!({
            "version": 1,
            "workspace": path(&self.workspace),
            "began": [self.began.seconds, self.began.nanoseconds],
            "command": self.command,
            "state": state,
            "views": views.collect::<Vec<_>>(),
            "own": own.collect::<Vec<_>>(),
            "unlinked": unlinked.collect::<Vec<_>>(),
        });
        format!("{text:#}\n")
    }

    /// `None`: it is not one of ours.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(text).ok()?;
        if value["version"] != 1 {
            return None;
        }
        let view = |value: &Value| {
            let id = (value["device"].as_u64()?, value["inode"].as_u64()?);
            Some(View { path: read_path(&value["path"])?, id, repository: value["repository"].as_bool()? })
        };
        let own = |value: &Value| {
            let view = usize::try_from(value["view"].as_u64()?).ok()?;
            Some(((view, read_any_path(&value["path"])?), read_moment(&value["at"])?))
        };
        let unlinked = |value: &Value| {
            let id = (value["device"].as_u64()?, value["inode"].as_u64()?);
            Some((id, read_moment(&value["at"])?))
        };
        Some(Self {
            workspace: read_path(&value["workspace"])?,
            began: read_moment(&value["began"])?,
            command: value["command"].as_str()?.to_owned(),
            state: match value["state"].as_str()? {
                "running" => State::Running,
                "ended" => State::Ended,
                _ => return None,
            },
            views: value["views"].as_array()?.iter().map(view).collect::<Option<_>>()?,
            own: value["own"].as_array()?.iter().map(own).collect::<Option<_>>()?,
            unlinked: match &value["unlinked"] {
                // Older versions did not write it.
                Value::Null => BTreeMap::new(),
                listed => listed.as_array()?.iter().map(unlinked).collect::<Option<_>>()?,
            },
        })
    }
}

/// A path as text, or as numbers where it is none.
fn path(path: &Path) -> Value {
    path.to_str().map_or_else(|| json!(path.as_os_str().as_bytes()), |text| json!(text))
}

fn read_path(value: &Value) -> Option<PathBuf> {
    read_any_path(value).filter(|path| path.is_absolute())
}

fn read_any_path(value: &Value) -> Option<PathBuf> {
    match value {
        Value::String(text) => Some(PathBuf::from(text)),
        Value::Array(bytes) => {
            let bytes = bytes.iter().map(|byte| u8::try_from(byte.as_u64()?).ok());
            Some(PathBuf::from(OsString::from_vec(bytes.collect::<Option<_>>()?)))
        }
        _ => None,
    }
}

fn read_moment(value: &Value) -> Option<Moment> {
    let nanoseconds = u32::try_from(value[1].as_u64()?).ok()?;
    Some(Moment { seconds: value[0].as_i64()?, nanoseconds })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn what_is_written_is_read() {
        let odd = PathBuf::from(OsStr::from_bytes(b"/w/\xff\n"));
        let manifest = Manifest {
            workspace: PathBuf::from("/w/\u{202e}x"),
            began: Moment { seconds: 1_800_000_000, nanoseconds: 999_999_999 },
            command: "sh -c 'echo \"\u{1b}[31m\"'".to_owned(),
            state: State::Running,
            views: vec![View { path: odd.clone(), id: (u64::MAX, 7), repository: true }],
            own: BTreeMap::from([((3, odd), Moment { seconds: -1, nanoseconds: 0 })]),
            unlinked: BTreeMap::from([((1, u64::MAX), Moment { seconds: 1, nanoseconds: 2 })]),
        };
        assert_eq!(Manifest::read(manifest.text().as_bytes()), Some(manifest));
    }

    #[test]
    fn what_is_not_ours_is_not_read() {
        let fine = r#"{"version":1,"workspace":"/w","began":[1,2],"command":"","state":"ended","views":[],"own":[],"unlinked":[]}"#;
        assert!(Manifest::read(fine.as_bytes()).is_some());
        for (from, to) in [
            ("\"version\":1", "\"version\":2"),
            ("\"/w\"", "\"w\""),
            ("[1,2]", "[1]"),
            ("ended", "other"),
            ("\"views\":[]", "\"views\":[{}]"),
            ("\"own\":[]", "\"own\":[{}]"),
            ("\"unlinked\":[]", "\"unlinked\":[{}]"),
            ("{\"version\"", "{{\"version\""),
        ] {
            assert_eq!(Manifest::read(fine.replace(from, to).as_bytes()), None, "{to}");
        }
    }
}

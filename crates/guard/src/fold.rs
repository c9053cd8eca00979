//! Names as file systems see them that do not tell all letters apart.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, OFlags};
use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization as _;

use crate::handle::same;
use crate::sys::{self, Handles, Letters};
use crate::trouble::Trouble;

/// Entries that are looked at to find out.
const ENOUGH: usize = 64;

/// Returns other forms of a name: composed, decomposed, and both of them without case and compatible forms, such as `.ſſh`, or
/// `.KUBE` with the sign of kelvin. Only for names beyond ASCII: a restriction ignores the case of letters by itself where it has to.
pub(crate) fn forms(path: &Path) -> Vec<PathBuf> {
    if path.as_os_str().as_bytes().is_ascii() {
        return Vec::new();
    }
    let ways: [fn(&str) -> String; 4] = [
        |name| folded(name).nfc().collect(),
        |name| name.nfc().collect(),
        |name| name.nfd().collect(),
        |name| folded(name).nfd().collect(),
    ];
    let mut forms: Vec<_> = ways.into_iter().map(|way| in_form(path, way)).collect();
    forms.retain(|form| form != path);
    forms.dedup();
    forms
}

fn folded(name: &str) -> String {
    name.nfkc().flat_map(char::to_lowercase).collect()
}

/// A path with each of its names in another form. What is not text has none.
fn in_form(path: &Path, way: fn(&str) -> String) -> PathBuf {
    let form = |name: &[u8]| match std::str::from_utf8(name).map(way) {
        // A character that becomes a slash or a dot would make another path of it.
        Ok(form) if !form.contains(['/', '\0']) && form != "." && form != ".." => form.into_bytes(),
        _ => name.to_owned(),
    };
    let names: Vec<_> = path.as_os_str().as_bytes().split(|byte| *byte == b'/').map(form).collect();
    PathBuf::from(std::ffi::OsString::from_vec(names.join(&b'/')))
}

/// Returns true if names that differ in case alone are one name in a directory: by its kind, by its mark, or by trying one
/// of its names. If nothing can be tried, they are, unless the file system is known.
pub(crate) fn folds_case(handles: &Handles, directory: &OwnedFd) -> Result<bool, Trouble> {
    let letters = sys::letters(directory)?;
    let telling = letters == Letters::Told;
    let opened = match handles.open(directory, OFlags::RDONLY | OFlags::DIRECTORY) {
        Err(Trouble::System(Errno::ACCESS | Errno::PERM)) => return Ok(!telling),
        other => other?,
    };
    let marked = sys::folds_by_mark(&opened);
    Ok(letters == Letters::Folded || marked || tried(opened).unwrap_or(!telling))
}

/// Tries names that have letters until one is still there. `None`: there is none.
fn tried(directory: OwnedFd) -> Option<bool> {
    let mut entries = Dir::new(directory).ok()?;
    for _ in 0..ENOUGH {
        let entry = entries.read()?.ok()?;
        let name = entry.file_name().to_bytes();
        let swapped: Vec<u8> = name.iter().map(|byte| swap(*byte)).collect();
        if swapped == name {
            continue;
        }
        let directory = entries.fd().ok()?;
        let stat = |name: &[u8]| {
            rustix::fs::statat(directory, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW).ok()
        };
        if let Some(as_is) = stat(name) {
            return Some(stat(&swapped).is_some_and(|swapped| same(&as_is, &swapped)));
        }
    }
    None
}

fn swap(byte: u8) -> u8 {
    if byte.is_ascii_lowercase() { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_ascii_are_folded() {
        let rows: &[(&str, &[&str])] = &[
            ("/ws/a", &[]),
            ("/ws/.ENV", &[]),
            ("/ws/.\u{17f}\u{17f}h", &["/ws/.ssh"]),
            ("/ws/.\u{212a}ube", &["/ws/.kube", "/ws/.Kube", "/ws/.kube"]),
            ("/ws/cafe\u{301}.txt", &["/ws/caf\u{e9}.txt"]),
            ("/ws/\u{c9}", &["/ws/\u{e9}", "/ws/E\u{301}", "/ws/e\u{301}"]),
            ("/ws/\u{ff0e}\u{ff45}nv", &["/ws/.env"]),
            ("/ws/\u{ff0f}a", &[]),
            ("/ws/\u{2024}\u{2024}", &[]),
        ];
        for (name, expected) in rows {
            let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(forms(Path::new(name)), expected, "{name:?}");
        }
        // Bytes that are not text stay, and hide nothing that is.
        assert!(forms(Path::new(OsStr::from_bytes(b"/ws/\xff"))).is_empty());
        let mixed = Path::new(OsStr::from_bytes(b"/ws/\xff/\xc5\xbfsh"));
        assert_eq!(forms(mixed), [PathBuf::from(OsStr::from_bytes(b"/ws/\xff/ssh"))]);
    }
}

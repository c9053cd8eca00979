//! Names as file systems see them that do not tell all letters apart.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, OFlags};
use unicode_normalization::UnicodeNormalization as _;

use crate::handle::{Handles, same};

/// File systems on which names that differ in case alone are one name.
const FOLDING: &[i64] = &[
    0x4d44,      // FAT
    0x2011_bab0, // exFAT
    0x5346_544e, // NTFS
    0x7366_746e, // NTFS, the newer driver
    0x482b,      // HFS+
    0x4244,      // HFS
    0xff53_4d42, // CIFS
    0xfe53_4d42, // SMB 2
    0x517b,      // SMB
];

/// Entries that are looked at to find out.
const ENOUGH: usize = 64;

/// A name as it looks without case and compatible forms: `.ſſh`, `.KUBE` with the sign of kelvin. Only for names beyond ASCII: a
/// restriction ignores the case of ASCII letters by itself where it has to.
pub(crate) fn folded(path: &Path) -> Option<PathBuf> {
    if path.as_os_str().as_bytes().is_ascii() {
        return None;
    }
    let folded: Vec<_> = path.to_str()?.split('/').map(fold_name).collect();
    let folded = PathBuf::from(folded.join("/"));
    (folded != path).then_some(folded)
}

fn fold_name(name: &str) -> String {
    let folded: String = name.nfkc().flat_map(char::to_lowercase).nfc().collect();
    // A character that becomes a slash or a dot would make another path of it.
    let is_name = !folded.contains(['/', '\0']) && folded != "." && folded != "..";
    if is_name { folded } else { name.to_owned() }
}

/// Whether names that differ in case alone are one name in a directory: by its kind, or by trying one of its names.
pub(crate) fn folds_case(handles: &Handles, directory: &OwnedFd) -> bool {
    let system = rustix::fs::fstatfs(directory).map(|system| system.f_type);
    system.is_ok_and(|system| FOLDING.contains(&system)) || tried(handles, directory).unwrap_or(false)
}

fn tried(handles: &Handles, directory: &OwnedFd) -> Option<bool> {
    let listing = handles.open(directory, OFlags::RDONLY | OFlags::DIRECTORY).ok()?;
    let entries = Dir::new(listing).ok()?;
    for entry in entries.flatten().take(ENOUGH) {
        let name = entry.file_name().to_bytes();
        let swapped: Vec<u8> = name.iter().map(|byte| swap(*byte)).collect();
        if swapped == name {
            continue;
        }
        let stat = |name: &[u8]| {
            rustix::fs::statat(directory, OsStr::from_bytes(name), AtFlags::SYMLINK_NOFOLLOW).ok()
        };
        let (as_is, swapped) = (stat(name)?, stat(&swapped));
        return Some(swapped.is_some_and(|swapped| same(&as_is, &swapped)));
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
        let rows: &[(&str, Option<&str>)] = &[
            ("/ws/a", None),
            ("/ws/.ENV", None),
            ("/ws/.\u{17f}\u{17f}h", Some("/ws/.ssh")),
            ("/ws/.\u{212a}ube", Some("/ws/.kube")),
            ("/ws/cafe\u{301}.txt", Some("/ws/caf\u{e9}.txt")),
            ("/ws/\u{c9}", Some("/ws/\u{e9}")),
            ("/ws/\u{ff0e}\u{ff45}nv", Some("/ws/.env")),
            ("/ws/\u{ff0f}a", None),
            ("/ws/\u{2024}\u{2024}", None),
        ];
        for (name, expected) in rows {
            assert_eq!(folded(Path::new(name)), expected.map(PathBuf::from), "{name:?}");
        }
        assert_eq!(folded(Path::new(OsStr::from_bytes(b"/ws/\xff"))), None);
    }
}

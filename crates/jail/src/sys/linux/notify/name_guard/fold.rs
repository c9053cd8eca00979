//! Names that a file system may take for others.
//!
//! Protected names are compared by ASCII case. Some file systems fold more: casefolded ext4, f2fs and tmpfs fold Unicode and
//! drop ignorable characters, as do those of macOS behind a share; vfat, exFAT and NTFS ignore dots and spaces at the end, and
//! have short names. So a path is judged a second time as the path that such a file system could take it for, on every file
//! system: a directory does not reliably tell how it compares.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// The path that a folding file system could take a path for; `None` if it is the same but for ASCII case.
pub(super) fn folded(path: &Path) -> Option<PathBuf> {
    let parts = || path.components().map(std::path::Component::as_os_str);
    if !parts().any(|part| is_foldable(part.as_bytes())) {
        return None;
    }
    let folded: PathBuf = parts().map(|part| OsStr::from_bytes(&fold(part.as_bytes())).to_owned()).collect();
    (folded != path).then_some(folded)
}

/// Returns true if folding could change a component. Nearly none is: this is asked in each call.
fn is_foldable(name: &[u8]) -> bool {
    matches!(name.last(), Some(b'.' | b' ')) || name.iter().any(|byte| !byte.is_ascii() || *byte == b':')
}

/// Folds one component. One that would become empty stays.
fn fold(name: &[u8]) -> Vec<u8> {
    let mut folded = Vec::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for char in chunk.valid().chars() {
            push(&mut folded, char);
        }
        folded.extend(chunk.invalid());
    }
    // NTFS: `name:stream:type`.
    let plain = folded.split(|byte| *byte == b':').next().unwrap_or_default();
    let end = plain.iter().rposition(|byte| !matches!(byte, b'.' | b' ')).map_or(0, |last| last + 1);
    if end == 0 { name.to_vec() } else { plain[..end].to_vec() }
}

/// Appends a character, or the ASCII text that it folds to.
fn push(to: &mut Vec<u8>, char: char) {
    if char.is_ascii() {
        to.push(char as u8);
    } else if let Ok(at) = TO_ASCII.binary_search_by_key(&char, |(from, _)| *from) {
        to.extend(TO_ASCII[at].1.as_bytes());
    // Normalisation in the kernel and HFS+ leave these out.
    } else if !policy::CharacterClass::Ignorable.contains(char) {
        to.extend(char.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Every character outside ASCII that full case folding or canonical decomposition turns into ASCII, and the letters i of
/// Turkish, which simple tables of upper case do.
const TO_ASCII: &[(char, &str)] = &[
    ('\u{df}', "ss"),
    ('\u{130}', "i"),
    ('\u{131}', "i"),
    ('\u{17f}', "s"),
    ('\u{37e}', ";"),
    ('\u{1e9e}', "ss"),
    ('\u{1fef}', "`"),
    ('\u{212a}', "k"),
    ('\u{fb00}', "ff"),
    ('\u{fb01}', "fi"),
    ('\u{fb02}', "fl"),
    ('\u{fb03}', "ffi"),
    ('\u{fb04}', "ffl"),
    ('\u{fb05}', "st"),
    ('\u{fb06}', "st"),
];

/// Returns true if a component of a path has the form of a generated short name, such as `GIT~1`: which long name it stands
/// for cannot be told.
pub(super) fn has_short_name(path: &Path) -> bool {
    path.components().any(|part| is_short_name(part.as_os_str().as_bytes()))
}

fn is_short_name(name: &[u8]) -> bool {
    let mut parts = name.split(|byte| *byte == b'.');
    let (base, extension) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let Some(tilde) = base.iter().rposition(|byte| *byte == b'~') else { return false };
    let digits = &base[tilde + 1..];
    let has_tail = tilde > 0 && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    has_tail && base.len() <= 8 && extension.len() <= 3 && parts.all(<[u8]>::is_empty)
}

/// Returns true if a directory is on a file system that has short names, or on what may be a share of one.
pub(super) fn has_short_names(directory: &OwnedFd) -> Result<bool, Errno> {
    let kind = rustix::fs::fstatfs(directory)?.f_type;
    Ok(SHORT.iter().any(|known| i64::from(*known) == kind & 0xffff_ffff))
}

/// Types of file systems: vfat, NTFS (old driver), ntfs3, FUSE, CIFS, SMB 2, 9p, vboxsf.
const SHORT: [u32; 8] =
    [0x4d44, 0x5346_544e, 0x7366_746e, 0x6573_5546, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997, 0x786f_4256];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_folded_as_any_file_system_could() {
        let rows = [
            (".vſcode/tasks.json", Some(".vscode/tasks.json")),
            ("ma\u{212a}efile", Some("makefile")),
            (".g\u{200c}it/hooks", Some(".git/hooks")),
            (".git./config. .", Some(".git/config")),
            (".git::$INDEX_ALLOCATION/config", Some(".git/config")),
            (".baßrc", Some(".bassrc")),
            (".g\u{131}t", Some(".git")),
            ("con\u{fb01}g", Some("config")),
            (".git/con\u{fb01}g", Some(".git/config")),
            ("Straße/x", Some("Strasse/x")),
            ("a.b/c d/.e", None),
            ("...", None),
            ("\u{200c}", None),
            ("Ångström/日本", None),
            ("plain", None),
        ];
        for (path, expected) in rows {
            assert_eq!(folded(Path::new(path)), expected.map(PathBuf::from), "{path}");
        }
        let invalid = Path::new(OsStr::from_bytes(b".g\xffit."));
        assert_eq!(folded(invalid).unwrap().as_os_str().as_bytes(), b".g\xffit");
        assert!(TO_ASCII.is_sorted());
    }

    /// Every character that the standard library lowers to ASCII, or raises to it, is in the table.
    #[test]
    fn the_table_of_characters_is_complete() {
        for char in ('\u{80}'..=char::MAX).filter(|char| !char.is_ascii()) {
            let ascii =
                char.to_lowercase().all(|to| to.is_ascii()) || char.to_uppercase().all(|to| to.is_ascii());
            let known = TO_ASCII.iter().any(|(from, _)| *from == char);
            assert!(!ascii || known, "{char:?}");
        }
    }

    #[test]
    fn short_names_are_known_by_their_form() {
        let rows = [
            ("a/GIT~1/hooks", true),
            ("git~12", true),
            ("VSCODE~1.JSO", true),
            ("GI7D29~1", true),
            ("GIT~1.", true),
            ("file.~1~", false),
            ("notes~", false),
            ("~1", false),
            ("longerthan8~1", false),
            ("a~b", false),
            ("x~1.json", false),
        ];
        for (path, expected) in rows {
            assert_eq!(has_short_name(Path::new(path)), expected, "{path}");
        }
    }
}

//! Checks names of tracked files the way git does when it adds them, which it does not do when it reads its index.

/// Longest name that is accepted, in bytes: no system call takes a longer one.
pub(super) const LONGEST: usize = 4096;

/// File type bits of a symbolic link in an index.
const LINK: u32 = 0o120_000;
/// File type bits of a directory of a sparse index.
const DIRECTORY: u32 = 0o040_000;
const TYPE: u32 = 0o170_000;

/// Code points that HFS+ ignores in names, in UTF-8: prefix, then first and last value of the last byte.
const IGNORED: &[(&[u8], u8, u8)] = &[
    (b"\xe2\x80", 0x8c, 0x8f),
    (b"\xe2\x80", 0xaa, 0xae),
    (b"\xe2\x81", 0xaa, 0xaf),
    (b"\xef\xbb", 0xbf, 0xbf),
];

/// Says why git would not add a path with these mode bits.
pub(super) fn refusal(path: &[u8], mode: u32) -> Option<&'static str> {
    if path.is_empty() {
        return Some("an empty name");
    }
    if path[0] == b'/' {
        return Some("an absolute path");
    }
    if path.len() > LONGEST {
        return Some("a name that is too long");
    }
    if path.contains(&0) {
        return Some("a name with a null byte");
    }
    // A sparse index has directories, and their names end in a slash.
    let path = match path.strip_suffix(b"/") {
        Some(directory) if mode & TYPE == DIRECTORY => directory,
        _ => path,
    };
    path.split(|byte| *byte == b'/').find_map(|part| refused_part(part, mode))
}

fn refused_part(part: &[u8], mode: u32) -> Option<&'static str> {
    match part {
        b"" => return Some("a path with an empty component"),
        b"." | b".." => return Some("a path with `.` or `..`"),
        _ => {}
    }
    // The shortest of these names has four bytes.
    let first = part[0];
    if part.len() < 4 || !(matches!(first, b'.' | b'g' | b'G') || first >= 0x80) {
        return None;
    }
    let folded = without_ignored(part).to_ascii_lowercase();
    let stem = folded.split(|byte| matches!(byte, b':' | b'\\')).next().unwrap_or_default();
    let end = stem.iter().rposition(|byte| !matches!(byte, b'.' | b' ')).map_or(0, |last| last + 1);
    if matches!(&stem[..end], b".git" | b"git~1") {
        return Some("a path into a repository's own files");
    }
    let link = mode & TYPE == LINK && &stem[..end] == b".gitmodules";
    link.then_some("a link named .gitmodules")
}

/// Removes the code points that HFS+ ignores.
fn without_ignored(part: &[u8]) -> Vec<u8> {
    let mut rest = part;
    let mut kept = Vec::with_capacity(part.len());
    while let Some((first, after)) = rest.split_first() {
        let ignored = IGNORED.iter().any(|(prefix, low, high)| {
            rest.starts_with(prefix) && rest.get(2).is_some_and(|last| (low..=high).contains(&last))
        });
        rest = if ignored { &rest[3..] } else { after };
        kept.extend((!ignored).then_some(*first));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_git_does_not_add() {
        let (file, link, directory) = (0o100_644, 0o120_000, 0o040_000);
        let rows: &[(&[u8], u32, bool)] = &[
            (b"f", file, false),
            (b"a/b.c", file, false),
            (b".gitignore", file, false),
            (b".gitmodules", file, false),
            (b".github/x", file, false),
            (b"a/git/b", file, false),
            (b"..a/...", file, false),
            (b"x.git/y", file, false),
            ("\u{200c}a/é".as_bytes(), file, false),
            (b"dir/", directory, false),
            (b"", file, true),
            (b"/", file, true),
            (b"/etc/passwd", file, true),
            (b"..", file, true),
            (b"../x", file, true),
            (b"a/../x", file, true),
            (b"a/..", file, true),
            (b"./x", file, true),
            (b"a//b", file, true),
            (b"a/", file, true),
            (b"a//", directory, true),
            (b".git", file, true),
            (b".git/hooks/x", file, true),
            (b"a/.GiT/hooks/x", file, true),
            (b".git. ./x", file, true),
            (b".git::$INDEX_ALLOCATION/x", file, true),
            (b"GIT~1/x", file, true),
            (".g\u{200c}it/x".as_bytes(), file, true),
            ("\u{feff}.git".as_bytes(), file, true),
            (b"a\0b", file, true),
            (b".gitmodules", link, true),
            (b".GITmodules", link, true),
            (b"a", link, false),
            (&[b'a'; LONGEST + 1], file, true),
        ];
        for (path, mode, refused) in rows {
            let shown = String::from_utf8_lossy(path);
            assert_eq!(refusal(path, *mode).is_some(), *refused, "{shown} {mode:o}");
        }
    }
}

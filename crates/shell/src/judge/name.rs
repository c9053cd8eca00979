//! Names of files against rows of a table, when both may be patterns.

/// Returns true if a path fits a row. `**` at the end of a row: this directory and all below.
pub(crate) fn fits(row: &str, path: &str, wild: bool) -> bool {
    if !may_begin(row, path, wild) {
        return false;
    }
    let mut names = names(path);
    for part in row.split('/') {
        if part == "**" {
            return true;
        }
        if !names.next().is_some_and(|name| meets(part, name, wild)) {
            return false;
        }
    }
    names.next().is_none()
}

/// Returns true if the first letters agree. Most rows end here.
fn may_begin(row: &str, path: &str, wild: bool) -> bool {
    let path = path.strip_prefix('/').unwrap_or(path).as_bytes();
    match (row.as_bytes().first(), path.first()) {
        (Some(one), Some(other)) => {
            one == other || *one == b'*' || (wild && !other.is_ascii_alphanumeric() && *other != b'.')
        }
        _ => false,
    }
}

/// The names in a path.
pub(crate) fn names(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

/// Returns true if a name stands for everything in its directory: `*`, `.*`, `.[!.]*`.
pub(crate) fn is_everything(name: &str, wild: bool) -> bool {
    wild && name.contains('*')
        && letters(name, true).all(|letter| !matches!(letter, Letter::One(c) if c != b'.'))
}

/// Returns true if some name fits both. Only the second may be a pattern of the shell, and only if it is `wild`.
pub(crate) fn meets(row: &str, name: &str, wild: bool) -> bool {
    let wild = wild && name.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'('));
    if !wild {
        let Some((start, end)) = row.split_once('*') else { return row == name };
        if end.is_empty() || !name.starts_with(start) {
            return name.starts_with(start);
        }
    }
    // A pattern that does not begin with a dot skips hidden files.
    if wild && row.starts_with('.') && !name.starts_with('.') {
        return false;
    }
    overlap(&letters(row, true).collect::<Vec<_>>(), letters(name, wild))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Letter {
    One(u8),
    Any,
    Many,
}

/// The letters of a pattern. A class counts as any letter and a group as any letters: too much rather than too little.
fn letters(text: &str, wild: bool) -> impl Iterator<Item = Letter> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let byte = *bytes.get(at)?;
        let rest = bytes.get(at + 1..).unwrap_or_default();
        let (letter, length) = match byte {
            _ if !wild => (Letter::One(byte), 1),
            b'*' => (Letter::Many, 1),
            b'?' => (Letter::Any, 1),
            b'[' => class(rest).map_or((Letter::One(byte), 1), |length| (Letter::Any, length + 1)),
            b'@' | b'+' | b'!' if rest.first() == Some(&b'(') => (Letter::Many, 1),
            b'(' => {
                (Letter::Many, 1 + rest.iter().position(|b| *b == b')').map_or(rest.len(), |end| end + 1))
            }
            _ => (Letter::One(byte), 1),
        };
        at += length;
        Some(letter)
    })
}

/// Returns the length of a class, without its opening bracket. The first member may itself be a closing one.
fn class(rest: &[u8]) -> Option<usize> {
    let first = usize::from(matches!(rest.first(), Some(b'!' | b'^'))) + 1;
    rest.iter().skip(first).position(|byte| *byte == b']').map(|end| end + first + 1)
}

/// One column per letter of the second: which beginnings of the first fit what was seen so far.
fn overlap(row: &[Letter], name: impl Iterator<Item = Letter>) -> bool {
    let mut column = vec![false; row.len() + 1];
    start(row, &mut column);
    for letter in name {
        column = step(row, &column, letter);
    }
    column.last().copied().unwrap_or(false)
}

fn start(row: &[Letter], column: &mut [bool]) {
    if let Some(first) = column.first_mut() {
        *first = true;
    }
    skip_many(row, column);
}

/// `Many` of the row may stand for nothing.
fn skip_many(row: &[Letter], column: &mut [bool]) {
    for (at, letter) in row.iter().enumerate() {
        if *letter == Letter::Many && column.get(at) == Some(&true) {
            set(column, at + 1);
        }
    }
}

fn set(column: &mut [bool], at: usize) {
    if let Some(slot) = column.get_mut(at) {
        *slot = true;
    }
}

fn step(row: &[Letter], before: &[bool], letter: Letter) -> Vec<bool> {
    if letter == Letter::Many {
        // It may stand for any further part of the row.
        let first = before.iter().position(|reached| *reached).unwrap_or(before.len());
        return (0..before.len()).map(|at| at >= first).collect();
    }
    let mut after = vec![false; before.len()];
    for (at, part) in row.iter().enumerate().filter(|(at, _)| before.get(*at) == Some(&true)) {
        match (*part, letter) {
            (Letter::Many, _) => set(&mut after, at),
            (Letter::One(one), Letter::One(other)) if one != other => {}
            _ => set(&mut after, at + 1),
        }
    }
    skip_many(row, &mut after);
    after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_meet_when_one_file_fits_both() {
        let rows = [
            ("etc", "etc", true, true),
            ("etc", "et*", true, true),
            ("etc", "et*", false, false),
            ("etc", "?t[b-d]", true, true),
            ("etc", "*x", true, false),
            ("id_*", "id_rsa", false, true),
            ("id_*", "*rsa", true, true),
            ("id_*", "x*", true, false),
            (".netrc", "*", true, false),
            (".netrc", ".*", true, true),
            (".netrc", ".n?trc", true, true),
            ("sd*", "sda1", false, true),
            ("sd*", "sr0", false, false),
            ("etc", "@(etc|usr)", true, true),
            ("etc", "[e", true, false),
        ];
        for (row, name, wild, expected) in rows {
            assert_eq!(meets(row, name, wild), expected, "{row} {name}");
        }
    }

    #[test]
    fn everything_is_everything() {
        for (name, expected) in [("*", true), (".*", true), (".[!.]*", true), ("*.log", false), ("a*", false)]
        {
            assert_eq!(is_everything(name, true), expected, "{name}");
            assert!(!is_everything(name, false), "{name}");
        }
    }
}

//! Changes of a text, as lines that stay, go and come.

use std::time::Duration;

use similar::{Algorithm, ChangeTag, TextDiff};

/// Lines around a change.
pub(crate) const AROUND: usize = 3;
/// Longest time for one file; then the lines are compared less cleverly.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// One line of a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// Position of the next lines: `@@ -1,2 +1,3 @@`.
    Place(String),
    /// It stays.
    Same(String),
    /// It goes.
    Gone(String),
    /// It comes.
    New(String),
}

impl Line {
    /// The line without its line break, and what stands in front of it.
    pub(crate) fn parts(&self) -> (&'static str, &str) {
        match self {
            Self::Place(text) => ("", text),
            Self::Same(text) => (" ", text),
            Self::Gone(text) => ("-", text),
            Self::New(text) => ("+", text),
        }
    }
}

/// The lines of a difference. `None`: one of the two is not text.
pub(crate) fn lines(before: &[u8], after: &[u8]) -> Option<Vec<Line>> {
    let (before, after) = (text(before)?, text(after)?);
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(PATIENCE).diff_lines(before, after);
    let mut lines = Vec::new();
    for hunk in diff.unified_diff().context_radius(AROUND).iter_hunks() {
        lines.push(Line::Place(hunk.header().to_string()));
        for change in hunk.iter_changes() {
            let text = change.value().strip_suffix('\n').unwrap_or(change.value()).to_owned();
            lines.push(match change.tag() {
                ChangeTag::Equal => Line::Same(text),
                ChangeTag::Delete => Line::Gone(text),
                ChangeTag::Insert => Line::New(text),
            });
            if change.missing_newline() {
                lines.push(Line::Place("\\ no line break at the end".to_owned()));
            }
        }
    }
    Some(lines)
}

/// Bytes as text, if they are.
pub(crate) fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(before: &str, after: &str) -> String {
        let lines = lines(before.as_bytes(), after.as_bytes()).unwrap();
        let lines: Vec<_> = lines.iter().map(|line| [line.parts().0, line.parts().1].concat()).collect();
        lines.join("\n")
    }

    #[test]
    fn lines_stay_go_and_come() {
        insta::assert_snapshot!(drawn("a\nb\nc\nd\ne\nf\ng\nh\ni\n", "a\nb\nc\nd\nE\nf\ng\nh\ni\nj"), @r"
        @@ -2,8 +2,9 @@
         b
         c
         d
        -e
        +E
         f
         g
         h
         i
        +j
        \ no line break at the end
        ");
        insta::assert_snapshot!(drawn("", "new\n"), @r"
        @@ -0,0 +1 @@
        +new
        ");
    }

    #[test]
    fn what_is_not_text_has_no_lines() {
        assert_eq!(lines(b"a\0b", b""), None);
        assert_eq!(lines(b"", b"\xff\xfe"), None);
    }
}

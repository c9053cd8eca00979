//! Changes of a text, as a unified diff of readable length.

use std::fmt::Write as _;
use std::time::Duration;

use similar::{DiffOp, TextDiff};

/// Lines around a change.
const AROUND: usize = 3;
/// Lines of a diff that are shown, and characters of a line.
const SHOWN: usize = 200;
const WIDEST: usize = 400;
/// Lines that are compared. Where more changed, they count as replaced all together.
const COMPARED: usize = 100_000;
/// A comparison that takes longer is finished less well.
const PATIENCE: Duration = Duration::from_millis(500);

/// Changes between two texts.
pub(crate) struct Diff {
    pub(crate) added: usize,
    pub(crate) removed: usize,
    /// The hunks, cut if there are too many.
    pub(crate) text: String,
}

impl Diff {
    /// Compares two texts.
    pub(crate) fn of(old: &str, new: &str) -> Self {
        let (before, old, new) = middle(old, new);
        if old.lines().count() + new.lines().count() > COMPARED {
            let (removed, added) = (old.lines().count(), new.lines().count());
            return Self { added, removed, text: "[too much changed to be shown]\n".to_owned() };
        }
        // A CR alone ends no line.
        let (old, new): (Vec<&str>, Vec<&str>) =
            (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        let diff = TextDiff::configure().timeout(PATIENCE).diff_slices(&old, &new);
        let count = |f: fn(&DiffOp) -> usize| diff.ops().iter().map(f).sum();
        let added = count(|op| if matches!(op, DiffOp::Equal { .. }) { 0 } else { op.new_range().len() });
        let removed = count(|op| if matches!(op, DiffOp::Equal { .. }) { 0 } else { op.old_range().len() });
        Self { added, removed, text: hunks(&diff, before) }
    }
}

/// Cuts off what is the same at both ends, but for the lines around the change. Returns how many lines were cut off before.
fn middle<'a>(old: &'a str, new: &'a str) -> (usize, &'a str, &'a str) {
    let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let start = backwards(&old.as_bytes()[..same], AROUND);
    let (left, right) = (&old.as_bytes()[same..], &new.as_bytes()[same..]);
    let same = left.iter().rev().zip(right.iter().rev()).take_while(|(a, b)| a == b).count();
    let kept = forwards(&left[left.len() - same..], AROUND);
    let cut = same - kept;
    let before = old[..start].lines().count();
    (before, &old[start..old.len() - cut], &new[start..new.len() - cut])
}

/// Returns the start of the line that lies some lines before the end.
fn backwards(text: &[u8], lines: usize) -> usize {
    let ends = text.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    ends.take(lines + 1).nth(lines).unwrap_or(0)
}

/// Returns the end of the line that lies some lines after the beginning.
fn forwards(text: &[u8], lines: usize) -> usize {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    ends.take(lines + 1).nth(lines).unwrap_or(text.len())
}

fn hunks(diff: &TextDiff<'_, '_, '_, str>, before: usize) -> String {
    let mut text = String::new();
    let mut left = SHOWN;
    for group in similar::group_diff_ops(in_order(diff.ops()), AROUND) {
        if left == 0 {
            text.push_str("[the rest of the diff is left out]\n");
            break;
        }
        left -= 1;
        header(&mut text, &group, before);
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            if left == 0 {
                continue;
            }
            left -= 1;
            line(&mut text, change.tag().to_string().as_str(), change.value());
        }
    }
    text
}

/// The same steps with the places where they are. The library says of what goes or comes only where it is on its own side.
fn in_order(steps: &[DiffOp]) -> Vec<DiffOp> {
    let (mut old_index, mut new_index) = (0, 0);
    let placed = |step: &DiffOp| {
        let (old_len, new_len) = (step.old_range().len(), step.new_range().len());
        let placed = match step {
            DiffOp::Equal { len, .. } => DiffOp::Equal { old_index, new_index, len: *len },
            DiffOp::Delete { .. } => DiffOp::Delete { old_index, old_len, new_index },
            DiffOp::Insert { .. } => DiffOp::Insert { old_index, new_index, new_len },
            DiffOp::Replace { .. } => DiffOp::Replace { old_index, old_len, new_index, new_len },
        };
        (old_index, new_index) = (old_index + old_len, new_index + new_len);
        placed
    };
    steps.iter().map(placed).collect()
}

fn header(text: &mut String, group: &[DiffOp], before: usize) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let side = |start: usize, end: usize| {
        // An empty range stands after the line before it.
        (before + start + usize::from(end > start), end - start)
    };
    let (old, old_lines) = side(first.old_range().start, last.old_range().end);
    let (new, new_lines) = side(first.new_range().start, last.new_range().end);
    // A string takes everything.
    let _written = writeln!(text, "@@ -{old},{old_lines} +{new},{new_lines} @@");
}

fn line(text: &mut String, sign: &str, value: &str) {
    let (value, ended) = value.strip_suffix('\n').map_or((value, false), |value| (value, true));
    text.push_str(sign);
    match value.char_indices().nth(WIDEST) {
        Some((at, _)) => {
            text.push_str(&value[..at]);
            text.push_str(" [cut]");
        }
        None => text.push_str(value),
    }
    text.push_str(if ended { "\n" } else { "\n\\ No newline at end of file\n" });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(lines: std::ops::Range<usize>) -> String {
        lines.map(|n| n.to_string() + "\n").collect()
    }

    #[test]
    fn says_what_changed_where() {
        let old = numbered(1..1000);
        let new = old.replace("\n500\n", "\nfive hundred\nand a half\n");
        let diff = Diff::of(&old, &new);
        assert_eq!((diff.added, diff.removed), (2, 1));
        insta::assert_snapshot!(diff.text, @"
        @@ -497,7 +497,8 @@
         497
         498
         499
        -500
        +five hundred
        +and a half
         501
         502
         503
        ");
        let diff = Diff::of("a\nb", "a\nb\n");
        insta::assert_snapshot!(diff.text, @"
        @@ -1,2 +1,2 @@
         a
        -b
        \\ No newline at end of file
        +b
        ");
        assert_eq!(Diff::of("a\rb\n", "a\rc\n").text, "@@ -1,1 +1,1 @@\n-a\rb\n+a\rc\n");
        assert_eq!(Diff::of("", "x\n").text, "@@ -0,0 +1,1 @@\n+x\n");
        assert_eq!(Diff::of("x\n", "").text, "@@ -1,1 +0,0 @@\n-x\n");
        assert_eq!(Diff::of("x\n", "x\n").text, "");
    }

    #[test]
    fn is_never_long() {
        let (old, new) = (numbered(0..5000), numbered(5000..10_000));
        assert!(Diff::of(&old, &new).text.lines().count() <= SHOWN + 1);
        let wide = Diff::of("", &"\u{e9}".repeat(10_000));
        assert_eq!(
            wide.text.chars().count(),
            "@@ -0,0 +1,1 @@\n+".len() + WIDEST + " [cut]".len() + "\n\\ No newline at end of file\n".len()
        );
        let many = Diff::of(&"x\n".repeat(COMPARED), &"y\n".repeat(COMPARED));
        assert_eq!((many.added, many.removed), (COMPARED, COMPARED));
    }

    proptest::proptest! {
        #[test]
        fn what_is_printed_can_be_applied(old in "([ab]\n){1,12}a?", new in "([abc]\n){1,12}b?") {
            let text = Diff::of(&old, &new).text;
            proptest::prop_assume!(!text.is_empty());
            let patch = crate::patch::parse(&format!("--- f\n+++ f\n{text}")).unwrap();
            proptest::prop_assert_eq!(crate::patch::applied(&old, &patch), Some(new));
        }

        #[test]
        fn cutting_off_the_ends_loses_nothing(a in "[ab\n\u{e9}]{0,40}", b in "[ab\n\u{e8}]{0,40}") {
            let (before, old, new) = middle(&a, &b);
            let head: String = a.split_inclusive('\n').take(before).collect();
            proptest::prop_assert!(a.starts_with(&head) && b.starts_with(&head));
            let tail = &a[head.len() + old.len()..];
            proptest::prop_assert_eq!(format!("{head}{old}{tail}"), a.clone());
            proptest::prop_assert_eq!(format!("{head}{new}{tail}"), b.clone());
        }
    }
}

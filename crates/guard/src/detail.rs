//! Arguments of a call, made ready for a person who is asked about it.

use policy::{Arguments, Shown};

/// Number of bytes of a value that are shown: at its beginning and at its end.
const SHOWN: (usize, usize) = (3_000, 1_000);
/// Number of values that are shown.
const VALUES: usize = 100;

/// One argument of a call, ready to be shown: nothing in it steers a terminal, and it is on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Detail {
    /// The name of the argument.
    pub name: String,
    /// The value, or its beginning.
    pub value: String,
    /// The end of a value that is too long to be shown.
    pub end: String,
    /// Number of bytes between the two that are not shown.
    pub hidden: usize,
}

/// The arguments of a call, as a person sees them.
pub(crate) fn details(arguments: &Arguments) -> Vec<Detail> {
    let pairs = arguments.pairs();
    let mut details: Vec<_> =
        pairs.iter().take(VALUES).map(|(name, value)| Detail::new(name, value)).collect();
    let rest = pairs.iter().skip(VALUES).map(|(name, value)| name.len() + value.len());
    if pairs.len() > VALUES {
        let value = format!("{} more values", pairs.len() - VALUES);
        details.push(Detail { name: "...".to_owned(), value, end: String::new(), hidden: rest.sum() });
    }
    details
}

impl Detail {
    fn new(name: &str, value: &str) -> Self {
        let shown = |text: &str| Shown::text(text).to_string();
        let name = shown(name);
        if value.len() <= SHOWN.0 + SHOWN.1 {
            return Self { name, value: shown(value), end: String::new(), hidden: 0 };
        }
        // At most three bytes are left of a character that would be cut.
        let head = (0..=SHOWN.0).rev().find(|at| value.is_char_boundary(*at)).unwrap_or(0);
        let tail = value.len() - SHOWN.1;
        let tail = (tail..value.len()).find(|at| value.is_char_boundary(*at)).unwrap_or(value.len());
        Self { name, value: shown(&value[..head]), end: shown(&value[tail..]), hidden: tail - head }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_and_what_is_not_shown_is_counted() {
        let long = format!("{}{}{}", "a".repeat(3_000), "\u{e9}".repeat(2_500), "z".repeat(1_000));
        let rows = [
            ("echo hi", "echo hi", "", 0),
            ("a\nallow? yes\u{202e}", r"a\nallow? yes\u{202e}", "", 0),
            (&long, &long[..3_000], &long[8_000..], 5_000),
        ];
        for (value, beginning, end, hidden) in rows {
            let arguments = Arguments::new(vec![("na\tme".to_owned(), value.to_owned())]);
            let expected = Detail {
                name: r"na\tme".to_owned(),
                value: beginning.to_owned(),
                end: end.to_owned(),
                hidden,
            };
            assert_eq!(details(&arguments), [expected]);
        }
        let many = Arguments::new((0..150).map(|_| ("env".to_owned(), "A=b".to_owned())).collect());
        let shown = details(&many);
        assert_eq!((shown.len(), shown[100].hidden, shown[100].value.as_str()), (101, 300, "50 more values"));
    }
}

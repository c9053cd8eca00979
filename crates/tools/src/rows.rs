//! Rows of lines in a text: where they are, in time that grows with the text alone.

/// Returns the start of a row of things in a longer one, overlapping places too. `same` has to be an equivalence.
pub(crate) fn places<'a, T, P>(
    text: &'a [T],
    pattern: &'a [P],
    same: impl Fn(&T, &P) -> bool + 'a,
    alike: impl Fn(&P, &P) -> bool,
) -> impl Iterator<Item = usize> + 'a {
    let borders = borders(pattern, alike);
    let (mut at, mut matched) = (0, 0);
    std::iter::from_fn(move || {
        while at < text.len() && !pattern.is_empty() {
            while matched > 0 && !same(&text[at], &pattern[matched]) {
                matched = borders[matched - 1];
            }
            matched += usize::from(same(&text[at], &pattern[matched]));
            at += 1;
            if matched == pattern.len() {
                matched = borders[matched - 1];
                return Some(at - pattern.len());
            }
        }
        None
    })
}

/// For every beginning of a pattern, how much of it is beginning and end at once.
fn borders<P>(pattern: &[P], alike: impl Fn(&P, &P) -> bool) -> Vec<usize> {
    let mut borders = vec![0; pattern.len()];
    let mut matched = 0;
    for at in 1..pattern.len() {
        while matched > 0 && !alike(&pattern[at], &pattern[matched]) {
            matched = borders[matched - 1];
        }
        matched += usize::from(alike(&pattern[at], &pattern[matched]));
        borders[at] = matched;
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn finds_every_place(text in "[ab]{0,20}", pattern in "[ab]{1,4}") {
            let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
            let found: Vec<usize> = places(text, pattern, |a, b| a == b, |a, b| a == b).collect();
            let wanted: Vec<usize> =
                text.windows(pattern.len()).enumerate().filter(|(_, window)| *window == pattern).map(|(at, _)| at).collect();
            proptest::prop_assert_eq!(found, wanted);
        }
    }

    #[test]
    fn nothing_is_nowhere() {
        assert_eq!(places(b"abc", b"", |a, b| a == b, |a, b| a == b).count(), 0);
    }
}

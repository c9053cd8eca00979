//! Names that want to be taken for another.

use super::table::BRANDS;

/// Returns the reason why a name looks like another; `None` if it does not.
pub(super) fn reason(host: &str) -> Option<&'static str> {
    if host.split('.').any(|label| label.starts_with("xn--")) {
        return Some("the name is written in letters that look like others");
    }
    if !host.is_ascii() && host.chars().any(|c| c.is_ascii_alphabetic()) {
        return Some("the name mixes scripts");
    }
    let labels: Vec<&str> = host.split('.').collect();
    let (ending, labels) = labels.split_last()?;
    let (own, below) = labels.split_last()?;
    let second = below.last().copied().unwrap_or_default();
    BRANDS.iter().find_map(|(brand, endings)| {
        let is_real = *own == *brand && endings.contains(ending);
        if is_real {
            return None;
        }
        // `github.com.other.net`: the known name stands before a name of another owner.
        if *own != *brand && below.windows(2).any(|pair| pair[0] == *brand && endings.contains(&pair[1])) {
            return Some("a known name stands before the real one");
        }
        if *own == *brand || second.is_empty() && own.len() < 5 {
            return None;
        }
        if imitates(own, brand, endings) || (below.len() <= 1 && with_ending(second, brand, endings)) {
            return Some("the name is nearly a known one");
        }
        None
    })
}

/// One letter off, or the known name with its ending behind a hyphen.
fn imitates(own: &str, brand: &str, endings: &[&str]) -> bool {
    with_ending(own, brand, endings) || (brand.len() >= 5 && is_one_off(own, brand))
}

/// `github-com`.
fn with_ending(label: &str, brand: &str, endings: &[&str]) -> bool {
    label
        .split_once(brand)
        .and_then(|(before, after)| before.is_empty().then_some(after))
        .and_then(|after| after.strip_prefix('-'))
        .is_some_and(|ending| endings.contains(&ending))
}

/// Returns true if two names differ by one letter that was changed, added, left out, or by two that changed places.
fn is_one_off(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a == b || a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (rest_a, rest_b) = (&a[same..], &b[same..]);
    match a.len().cmp(&b.len()) {
        std::cmp::Ordering::Greater => rest_a[1..] == *rest_b,
        std::cmp::Ordering::Less => *rest_a == rest_b[1..],
        std::cmp::Ordering::Equal => {
            rest_a[1..] == rest_b[1..]
                || (rest_a.len() >= 2 && rest_a[..2] == [rest_b[1], rest_b[0]] && rest_a[2..] == rest_b[2..])
        }
    }
}

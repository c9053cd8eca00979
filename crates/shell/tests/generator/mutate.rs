//! Small damage to a text.

use super::Chance;

/// Text that is special to a shell.
const SPECIAL: &[&str] = &[
    "'", "\"", "\\", "$", "`", "(", ")", "{", "}", "#", "\n", " ", ";", "&", "|", "<", ">", "[", "]", "=",
    "!", "*", "?", "~", "$(", "${", "$((", "<<", "<(", "$'", "))", "\\\n", "pwn", "`pwn`", "$(pwn)", "in",
    "esac", "EOF",
];

/// The text with one small change.
pub(crate) fn mutate(text: &str, chance: &mut Chance) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    if chars.is_empty() {
        return chance.of(SPECIAL).to_owned();
    }
    let at = chance.below(chars.len());
    match chance.below(6) {
        0 | 1 => drop(chars.remove(at)),
        2 => chars.insert(at, chars[at]),
        3 => {
            let other = (at + 1) % chars.len();
            chars.swap(at, other);
        }
        _ => drop(chars.splice(at..at, chance.of(SPECIAL).chars())),
    }
    chars.into_iter().collect()
}

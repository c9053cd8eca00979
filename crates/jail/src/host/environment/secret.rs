//! Detection of secrets, by the words of a name and the shape of a value.

use super::table::{COUNTS, LOOK_ALIKES, OPEN_KEYS, PAIRS, PARTS, STORES, WORDS};

/// Why the value of a name is a secret, if it looks like one. Whole words count, so `AUTHOR` and `KEYBOARD` do not.
pub(super) fn name(name: &str) -> Option<&'static str> {
    let words = words(name);
    let has = |word: &str| words.iter().any(|known| known == word);
    if has("TOKENS") && COUNTS.iter().any(|count| has(count)) {
        return None;
    }
    whole(&words)
        .or_else(|| part(&words))
        .or_else(|| pair(&words))
        .or_else(|| key(&words))
        .or_else(|| store(&words))
}

/// Returns the reason why a value is a secret under any name, if it looks like one.
pub(super) fn value(value: &[u8]) -> Option<&'static str> {
    let opening = policy::TOKENS.iter().find(|row| opens(value, row.prefix.as_bytes(), row.minimum));
    let reason = opening.map(|row| row.reason);
    reason.or_else(|| login(value).then_some("an address with a password in it"))
}

/// The words of a name in capitals: parted by `_` or by a capital after a small letter, without a number at the end.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if c == '_' || (small && c.is_ascii_uppercase()) {
            words.push(String::new());
        }
        small = c.is_ascii_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c != '_') {
            word.push(c.to_ascii_uppercase());
        }
    }
    words.iter().map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned()).collect()
}

fn whole(words: &[String]) -> Option<&'static str> {
    let row = WORDS.iter().find(|(word, _)| words.iter().any(|known| known == word));
    row.map(|(_, reason)| *reason)
}

fn part(words: &[String]) -> Option<&'static str> {
    let plain = words.iter().filter(|word| !LOOK_ALIKES.iter().any(|known| word.starts_with(known)));
    let holds = |part: &str| plain.clone().any(|word| word.contains(part));
    PARTS.iter().find(|(part, _)| holds(part)).map(|(_, reason)| *reason)
}

fn pair(words: &[String]) -> Option<&'static str> {
    let beside = |first: &str, second: &str| words.windows(2).any(|two| two[0] == first && two[1] == second);
    PAIRS.iter().find(|(first, second, _)| beside(first, second)).map(|(.., reason)| *reason)
}

fn key(words: &[String]) -> Option<&'static str> {
    let at = words.iter().position(|word| word == "KEY" || word == "KEYS")?;
    let open = at > 0 && OPEN_KEYS.contains(&words[at - 1].as_str());
    (!open).then_some("a key")
}

fn store(words: &[String]) -> Option<&'static str> {
    let address = words.iter().any(|word| matches!(word.as_str(), "URL" | "URI" | "URLS" | "URIS"));
    let of_store = words.iter().any(|word| STORES.split(' ').any(|store| store == word));
    (address && of_store).then_some("the address of a store usually holds its password")
}

fn opens(value: &[u8], opening: &[u8], least: usize) -> bool {
    let rest = value.trim_ascii_start().strip_prefix(opening);
    let like_token = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.+/= ".contains(byte);
    rest.is_some_and(|rest| rest.iter().take_while(like_token).count() >= least)
}

/// `scheme://user:password@host`, anywhere in the value.
fn login(value: &[u8]) -> bool {
    let starts =
        value.windows(3).enumerate().filter(|(_, three)| *three == b"://").map(|(at, _)| &value[at + 3..]);
    starts.map(authority).any(has_password)
}

fn authority(rest: &[u8]) -> &[u8] {
    let end = rest.iter().position(|byte| b"/?# \t\n'\"".contains(byte)).unwrap_or(rest.len());
    &rest[..end]
}

fn has_password(authority: &[u8]) -> bool {
    let Some(at) = authority.iter().rposition(|&byte| byte == b'@') else { return false };
    let user = &authority[..at];
    user.iter().position(|&byte| byte == b':').is_some_and(|colon| colon + 1 < user.len())
}

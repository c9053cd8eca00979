//! Placeholders: values that programs inside see instead of secrets, random for each run and worthless at any other host.

use std::fmt;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::forms::forms;
use crate::secret::{Secret, SecretError};

/// Random bytes of a placeholder.
const RANDOM: usize = 16;
/// Most bytes of a placeholder. A longer secret gets a shorter stand-in.
const MAX_LENGTH: usize = 512;
/// Beginning where the form of the secret is not known.
const GENERIC: &str = "rf-placeholder-";

/// A value that stands for one secret in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder(Box<str>);

impl Placeholder {
    /// Creates a placeholder of no particular form.
    pub fn generic() -> Result<Self, SecretError> {
        Ok(Self(format!("{GENERIC}{}", random_hex()?).into()))
    }

    /// Creates a placeholder that begins like a secret and is as long, because clients check both.
    pub fn like(secret: &Secret) -> Result<Self, SecretError> {
        let value = secret.expose();
        let mut text = format!("{}{}", known_prefix(value), random_hex()?);
        let length = value.len().min(MAX_LENGTH).max(text.len());
        while text.len() < length {
            text.push_str(&random_hex()?);
        }
        text.truncate(length);
        Ok(Self(text.into()))
    }

    /// The value that programs see.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the longest public beginning of a kind of token, such as `sk-ant-api03-`.
fn known_prefix(value: &[u8]) -> &'static str {
    let own = ["sk-ant-api03-", "sk-ant-oat01-", "sk-proj-"];
    let known = policy::TOKENS.iter().map(|token| token.prefix).chain(own);
    let fitting = known.filter(|prefix| value.starts_with(prefix.as_bytes()) && value.len() > prefix.len());
    fitting.max_by_key(|prefix| prefix.len()).unwrap_or("")
}

/// Returns 128 random bits as 32 hexadecimal digits.
pub(crate) fn random_hex() -> Result<String, SecretError> {
    let mut bytes = [0; RANDOM];
    // A request of up to 256 bytes is never answered in part.
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty());
    match filled.map_err(std::io::Error::from) {
        Ok(RANDOM) => Ok(format!("{:032x}", u128::from_ne_bytes(bytes))),
        Ok(_) => Err(SecretError::Random(std::io::ErrorKind::UnexpectedEof.into())),
        Err(error) => Err(SecretError::Random(error)),
    }
}

/// Finds placeholders in requests, in every form in which a client sends them.
#[derive(Debug, Clone)]
pub struct PlaceholderScan {
    automaton: AhoCorasick,
    /// Placeholder of each pattern.
    owner: Arc<[usize]>,
    longest: usize,
}

impl PlaceholderScan {
    /// Creates a scan for placeholders. Hits name them by their position.
    pub fn new<'a>(placeholders: impl IntoIterator<Item = &'a Placeholder>) -> Result<Self, TooMany> {
        let (mut patterns, mut owner) = (Vec::new(), Vec::new());
        for (index, placeholder) in placeholders.into_iter().enumerate() {
            for form in forms(placeholder.as_str().as_bytes()) {
                patterns.push(form);
                owner.push(index);
            }
        }
        let longest = patterns.iter().map(|pattern| pattern.len()).max().unwrap_or(0);
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(&patterns);
        Ok(Self { automaton: automaton.map_err(|_| TooMany)?, owner: owner.into(), longest })
    }

    /// Returns the placeholder of each hit in a text, from left to right. A text with percent signs is also read decoded.
    #[must_use]
    pub fn find(&self, text: &[u8]) -> Vec<usize> {
        let mut hits = self.hits(text);
        if text.contains(&b'%') {
            hits.extend(self.hits(&percent_decoded(text)));
        }
        hits
    }

    fn hits(&self, text: &[u8]) -> Vec<usize> {
        let hits = self.automaton.find_iter(text);
        hits.filter_map(|hit| self.owner.get(hit.pattern().as_usize()).copied()).collect()
    }

    /// Starts a scan of a body that arrives in pieces.
    #[must_use]
    pub fn stream(&self) -> StreamScan {
        StreamScan { tail: Vec::new() }
    }
}

/// Remembers the end of the last piece of a body.
#[derive(Debug)]
pub struct StreamScan {
    tail: Vec<u8>,
}

impl StreamScan {
    /// Returns the placeholders that end in a piece.
    pub fn push(&mut self, scan: &PlaceholderScan, piece: &[u8]) -> Vec<usize> {
        let keep = scan.longest.saturating_sub(1);
        let seam = piece.len().min(keep);
        self.tail.extend_from_slice(&piece[..seam]);
        let mut hits = scan.hits(&self.tail);
        if piece.len() > seam {
            hits.extend(scan.hits(piece));
            self.tail.clear();
            self.tail.extend_from_slice(&piece[piece.len().saturating_sub(keep)..]);
        }
        // A hit at the seam is told again with the next piece, which changes nothing: one is enough to refuse.
        let excess = self.tail.len().saturating_sub(keep);
        self.tail.drain(..excess);
        hits
    }
}

/// Too many placeholders for one automaton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there are too many secrets in one run")]
pub struct TooMany;

/// Decodes `%41` to `A`, and leaves every other byte.
pub(crate) fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let pair = (*first == b'%').then(|| Some((digit(after.first()?)?, digit(after.get(1)?)?))).flatten();
        rest = if let Some((high, low)) = pair {
            decoded.push(high << 4 | low);
            &after[2..]
        } else {
            decoded.push(*first);
            after
        };
    }
    decoded
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_STANDARD;

    use super::*;

    #[test]
    fn a_placeholder_has_the_form_of_its_secret() {
        let rows = [
            ("sk-ant-api03-0123456789012345678901234567890123456789012345", "sk-ant-api03-", 59),
            ("ghp_012345678901234567890123456789012345", "ghp_", 40),
            ("hunter2hunter2", "", 32),
        ];
        for (value, prefix, length) in rows {
            let secret = Secret::new(value.into()).unwrap();
            let (one, two) = (Placeholder::like(&secret).unwrap(), Placeholder::like(&secret).unwrap());
            assert!(one.as_str().starts_with(prefix) && one.as_str().len() == length, "{one}");
            assert!(one != two && !value.contains(&one.as_str()[prefix.len()..]));
        }
    }

    #[test]
    fn placeholders_are_found_in_every_form() {
        let all = [Placeholder::generic().unwrap(), Placeholder::generic().unwrap()];
        let scan = PlaceholderScan::new(&all).unwrap();
        let own = all[1].as_str();
        let encoded = own.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat();
        let basic = |user: &str| BASE64_STANDARD.encode(format!("{user}:{own}"));
        let rows = [
            own.to_owned(),
            format!("Bearer {own}"),
            format!("a=1&b={own}&c"),
            encoded.clone(),
            encoded.to_lowercase(),
            basic("u"),
            basic("us"),
            basic("usr"),
            own.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat(),
        ];
        for text in rows {
            assert!(scan.find(text.as_bytes()).contains(&1), "{text}");
            assert!(!scan.find(text.as_bytes()).contains(&0), "{text}");
        }
        assert!(scan.find(&own.as_bytes()[1..]).is_empty());
        assert!(scan.find(Placeholder::generic().unwrap().as_str().as_bytes()).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn a_body_in_pieces_hides_nothing(before in 0_usize..200, size in 1_usize..120) {
            let own = Placeholder::generic().unwrap();
            let scan = PlaceholderScan::new([&own]).unwrap();
            let body = format!("{}{own}{}", "x".repeat(before), "y".repeat(50));
            let mut stream = scan.stream();
            let found = body.as_bytes().chunks(size).any(|piece| !stream.push(&scan, piece).is_empty());
            proptest::prop_assert!(found);
        }
    }
}

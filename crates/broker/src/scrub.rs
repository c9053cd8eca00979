//! Responses without secrets: every form of a secret is replaced by as many bytes of its placeholder.
//!
//! The length never changes, so that `content-length`, ranges and the frames of WebSocket stay true.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, Input, MatchKind};
use bytes::{Bytes, BytesMut};
use hyper::header::{HeaderMap, HeaderValue};
use zeroize::Zeroizing;

use crate::forms::forms;
use crate::placeholder::{Placeholder, TooMany};
use crate::secret::Secret;

/// Stands for an encoded form of a secret.
const MASK: u8 = b'x';

/// Every form of the secrets of a run, to search for.
pub struct Needles {
    automaton: AhoCorasick,
    patterns: Vec<Needle>,
    /// True for the bytes that a pattern begins with.
    begins: [bool; 256],
    longest: usize,
}

struct Needle {
    form: Zeroizing<Vec<u8>>,
    replacement: Vec<u8>,
}

impl std::fmt::Debug for Needles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Needles({} …)", self.patterns.len())
    }
}

impl Needles {
    /// Creates the search for secrets, each with the placeholder that replaces it.
    pub fn new<'a>(
        secrets: impl IntoIterator<Item = (&'a Secret, &'a Placeholder)>,
    ) -> Result<Self, TooMany> {
        let of = |(secret, placeholder): (&Secret, &Placeholder)| needles(secret.expose(), placeholder);
        let patterns: Vec<Needle> = secrets.into_iter().flat_map(of).collect();
        let built = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(patterns.iter().map(|needle| &needle.form[..]));
        let mut begins = [false; 256];
        for needle in &patterns {
            begins[usize::from(needle.form[0])] = true;
        }
        let longest = patterns.iter().map(|needle| needle.form.len()).max().unwrap_or(0);
        Ok(Self { automaton: built.map_err(|_| TooMany)?, patterns, begins, longest })
    }

    /// Returns true if there is nothing to search for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns a text without secrets; `None` if there are none in it.
    #[must_use]
    pub fn scrub(&self, text: &[u8]) -> Option<Vec<u8>> {
        self.clean(text, |_| text.len()).0
    }

    /// Replaces secrets, and returns the number of bytes that are decided. `undecided` returns the first byte from a position on
    /// that could begin a secret which ends later.
    fn clean(&self, text: &[u8], undecided: impl Fn(usize) -> usize) -> (Option<Vec<u8>>, usize) {
        let mut clean: Option<Vec<u8>> = None;
        let mut at = 0;
        loop {
            let open = undecided(at);
            match self.automaton.find(Input::new(text).range(at..)) {
                Some(hit) if hit.start() < open => {
                    let replacement = &self.patterns[hit.pattern().as_usize()].replacement;
                    clean.get_or_insert_with(|| text.to_vec())[hit.range()].copy_from_slice(replacement);
                    at = hit.end();
                }
                _ => return (clean, open),
            }
        }
    }

    /// Scrubs the values of headers and returns the number of those that had a secret in them.
    pub(crate) fn scrub_headers(&self, headers: &mut HeaderMap) -> u64 {
        let mut hits = 0;
        for value in headers.values_mut() {
            if let Some(clean) = self.scrub(value.as_bytes()) {
                // A placeholder is visible ASCII, so the value stays valid.
                *value = HeaderValue::from_bytes(&clean).unwrap_or_else(|_| HeaderValue::from_static(""));
                hits += 1;
            }
        }
        hits
    }

    /// Returns the first byte from a position on that could begin a secret which ends behind the text.
    fn undecided(&self, text: &[u8], from: usize) -> usize {
        let first = text.len().saturating_sub(self.longest.saturating_sub(1)).max(from);
        let begins = |start: &usize| {
            let rest = &text[*start..];
            self.begins[usize::from(rest[0])]
                && self
                    .patterns
                    .iter()
                    .any(|needle| rest.len() < needle.form.len() && needle.form.starts_with(rest))
        };
        (first..text.len()).find(begins).unwrap_or(text.len())
    }
}

fn needles(secret: &[u8], placeholder: &Placeholder) -> Vec<Needle> {
    let stand_in = |length: usize| {
        let text = placeholder.as_str().bytes().chain(std::iter::repeat(MASK));
        text.take(length).collect()
    };
    let mut all: Vec<Needle> = Vec::new();
    for form in forms(secret) {
        let replacement = if all.is_empty() { stand_in(form.len()) } else { vec![MASK; form.len()] };
        all.push(Needle { form, replacement });
    }
    all
}

/// Scrubs a body that arrives in pieces. Holds back only bytes that could be the beginning of a secret.
#[derive(Debug)]
pub struct Scrubber {
    needles: Arc<Needles>,
    held: BytesMut,
    hits: u64,
}

impl Scrubber {
    /// Starts with the first byte of a body.
    #[must_use]
    pub fn new(needles: Arc<Needles>) -> Self {
        Self { needles, held: BytesMut::new(), hits: 0 }
    }

    /// Takes a piece and returns the bytes that can be passed on.
    pub fn push(&mut self, piece: Bytes) -> Bytes {
        if self.needles.is_empty() {
            return piece;
        }
        let mut text = if self.held.is_empty() {
            piece
        } else {
            self.held.extend_from_slice(&piece);
            self.held.split().freeze()
        };
        let (clean, decided) = self.needles.clean(&text, |from| self.needles.undecided(&text, from));
        if decided < text.len() {
            self.held.extend_from_slice(&text.split_off(decided));
        }
        self.passed(clean, text)
    }

    /// Returns the bytes that were held back, at the end of a body.
    pub fn finish(&mut self) -> Bytes {
        let text = self.held.split().freeze();
        self.passed(self.needles.scrub(&text), text)
    }

    fn passed(&mut self, clean: Option<Vec<u8>>, text: Bytes) -> Bytes {
        let Some(mut clean) = clean else { return text };
        self.hits += 1;
        clean.truncate(text.len());
        clean.into()
    }

    /// The number of bytes that are held back.
    pub(crate) fn held(&self) -> u64 {
        self.held.len() as u64
    }

    /// The number of pieces that had a secret in them.
    #[must_use]
    pub fn hits(&self) -> u64 {
        self.hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUE: &str = "sk-ant-api03-AAAAtop/secret+value==";

    #[test]
    fn a_secret_that_begins_like_another_leaves_no_rest() {
        let secrets =
            ["password", "password-and-more", "more-of-it"].map(|text| Secret::new(text.into()).unwrap());
        let placeholder = Placeholder::generic().unwrap();
        let needles = Arc::new(Needles::new(secrets.iter().map(|secret| (secret, &placeholder))).unwrap());
        let body = b"<password-and-more-of-it password-and-mor password>";
        for cut in 0..body.len() {
            let clean = scrub(&needles, &[&body[..cut], &body[cut..]]);
            assert_eq!(Some(&clean), needles.scrub(body).as_ref(), "{cut}");
            assert!(!String::from_utf8(clean).unwrap().contains("password"));
        }
    }

    fn needles() -> (Arc<Needles>, Placeholder) {
        let secret = Secret::new(VALUE.into()).unwrap();
        let placeholder = Placeholder::like(&secret).unwrap();
        (Arc::new(Needles::new([(&secret, &placeholder)]).unwrap()), placeholder)
    }

    fn scrub(needles: &Arc<Needles>, pieces: &[&[u8]]) -> Vec<u8> {
        let mut scrubber = Scrubber::new(needles.clone());
        let mut all = Vec::new();
        for piece in pieces {
            all.extend_from_slice(&scrubber.push(Bytes::copy_from_slice(piece)));
        }
        all.extend_from_slice(&scrubber.finish());
        all
    }

    #[test]
    fn a_secret_is_replaced_however_the_body_is_cut() {
        let (needles, placeholder) = needles();
        let encoded =
            String::from_utf8(crate::forms::percent_encoded(VALUE.as_bytes(), crate::forms::Digits::Upper))
                .unwrap();
        let body = format!(
            "{{\"a\":\"{VALUE}\",\"sk-ant-api03-AAAA\":\"{VALUE}{VALUE}\",\"b\":\"{encoded}\"}} sk-ant-"
        );
        let expected = body
            .replace(VALUE, &placeholder.as_str()[..VALUE.len()])
            .replace(&encoded, &"x".repeat(encoded.len()));
        for first in 0..=body.len() {
            for second in [first, (first + 1).min(body.len()), (first + 7).min(body.len()), body.len()] {
                let body = body.as_bytes();
                let clean = scrub(&needles, &[&body[..first], &body[first..second], &body[second..]]);
                assert_eq!(String::from_utf8(clean).unwrap(), expected, "{first} {second}");
            }
        }
        let single: Vec<&[u8]> = body.as_bytes().chunks(1).collect();
        assert_eq!(scrub(&needles, &single), expected.as_bytes());
    }

    #[test]
    fn an_event_is_not_held_back() {
        let (needles, _) = needles();
        let mut scrubber = Scrubber::new(needles);
        for event in ["data: {\"text\":\"sk-ant\"}\n\n", "data: s\n\n", ": ping\n\n"] {
            assert_eq!(scrubber.push(Bytes::from(event)), event);
        }
        assert_eq!(scrubber.push(Bytes::from("no sk-ant")), "no ", "only what could be a secret waits");
        assert_eq!(scrubber.push(Bytes::from("x")), "sk-antx");
    }

    #[test]
    fn headers_are_scrubbed() {
        let (needles, placeholder) = needles();
        let mut headers = HeaderMap::new();
        headers.insert("x-echo", HeaderValue::from_str(&format!("Bearer {VALUE}")).unwrap());
        headers.insert("x-other", HeaderValue::from_static("a"));
        assert_eq!(needles.scrub_headers(&mut headers), 1);
        assert_eq!(headers["x-echo"], format!("Bearer {}", &placeholder.as_str()[..VALUE.len()]));
        assert!(!format!("{needles:?}").contains("top"));
    }

    proptest::proptest! {
        #[test]
        fn pieces_do_not_matter(
            parts in proptest::collection::vec(proptest::sample::select(vec!["sk-", "sk-ant-api03-AAAA", VALUE, "top/secret", "==", "x", "%2B"]), 0..12),
            size in 1_usize..40,
        ) {
            let (needles, _) = needles();
            let body = parts.concat();
            let pieces: Vec<&[u8]> = body.as_bytes().chunks(size).collect();
            let clean = scrub(&needles, &pieces);
            proptest::prop_assert_eq!(clean.len(), body.len());
            proptest::prop_assert!(!String::from_utf8_lossy(&clean).contains(VALUE));
            proptest::prop_assert_eq!(&clean, &needles.scrub(body.as_bytes()).unwrap_or_else(|| body.clone().into_bytes()));
        }
    }
}

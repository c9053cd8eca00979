//! Laws of the search for secrets and placeholders.

use std::sync::{Arc, LazyLock};

use broker::{Needles, Placeholder, PlaceholderScan, Scrubber, Secret};

/// Secrets of which one begins like another, and one with characters that encoders change.
const VALUES: [&str; 3] = ["value-one/y+z== and more", "value-one/y+", "p%20w \"q\\r"];

struct World {
    needles: Arc<Needles>,
    placeholders: Vec<Placeholder>,
    scan: PlaceholderScan,
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let secrets = VALUES.map(|value| Secret::new(value.into()).expect("a secret"));
    let placeholders = secrets.iter().map(|secret| Placeholder::like(secret).expect("randomness"));
    let placeholders: Vec<_> = placeholders.collect();
    let needles = Needles::new(secrets.iter().zip(&placeholders)).expect("few secrets");
    let scan = PlaceholderScan::new(&placeholders).expect("few placeholders");
    World { needles: Arc::new(needles), placeholders, scan }
});

/// Splits off the size of pieces and puts words in for bytes that text does not hold, so that a fuzzer meets them often.
fn input(bytes: &[u8], words: [&str; 3]) -> (usize, Vec<u8>) {
    let (first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let mut body = Vec::new();
    for byte in rest {
        match byte {
            0xf0..=0xf2 => body.extend_from_slice(words[usize::from(byte - 0xf0)].as_bytes()),
            0xf3..=0xf5 => body.extend_from_slice(&words[usize::from(byte - 0xf3)].as_bytes()[..7]),
            byte => body.push(*byte),
        }
    }
    (usize::from(*first) + 1, body)
}

fn holds(body: &[u8], word: &str) -> bool {
    body.windows(word.len()).any(|part| part == word.as_bytes())
}

fn scrub_pieces(body: &[u8], size: usize) -> Vec<u8> {
    let mut scrubber = Scrubber::new(WORLD.needles.clone());
    let mut clean = Vec::new();
    for piece in body.chunks(size) {
        clean.extend_from_slice(&scrubber.push(piece.to_vec().into()));
    }
    clean.extend_from_slice(&scrubber.finish());
    clean
}

/// A body is as long as before, without secrets, and the same however it was cut.
pub fn scrub(bytes: &[u8]) {
    let (size, body) = input(bytes, VALUES);
    let clean = scrub_pieces(&body, size);
    assert_eq!(clean.len(), body.len());
    assert!(!VALUES.iter().any(|value| holds(&clean, value)));
    assert_eq!(clean, WORLD.needles.scrub(&body).unwrap_or(body));
}

fn find_in_pieces(body: &[u8], size: usize) -> Vec<usize> {
    let mut stream = WORLD.scan.stream();
    body.chunks(size).flat_map(|piece| stream.push(&WORLD.scan, piece)).collect()
}

/// A placeholder is found in a body however it was cut, and in a head.
pub fn placeholders(bytes: &[u8]) {
    let words = [0, 1, 2].map(|index: usize| WORLD.placeholders[index].as_str());
    let (size, body) = input(bytes, words);
    let (pieces, whole) = (find_in_pieces(&body, size), WORLD.scan.find(&body));
    for (index, word) in words.into_iter().enumerate().filter(|(_, word)| holds(&body, word)) {
        assert!(pieces.contains(&index) && whole.contains(&index), "{word}");
    }
}

//! Command lines out of a grammar that is rich in quoting, the same ones for the same seed.
//!
//! Three programs occur: `pwn` is one that an attacker would hide, `aux` prints its words, `vis` stands in plain sight.
#![allow(dead_code, reason = "not every test needs all of it")]

mod chance;
mod commands;
mod evaluated;
mod heredocs;
mod mutate;
mod words;

pub(crate) use chance::Chance;
pub(crate) use mutate::mutate;

/// Deepest nesting of constructs.
const DEEPEST: usize = 3;

/// A line, and what may be expected of its reading.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// The text.
    pub(crate) text: String,
    /// Nothing in it gives a reader reason to ask: it is as the grammar made it, and every value is known.
    pub(crate) tame: bool,
}

/// The line of a seed. Some hold only what every shell knows: elsewhere one strange form keeps the others from running.
pub(crate) fn line(seed: u64) -> Line {
    let mut chance = Chance::new(seed);
    let everywhere = chance.one_in(4);
    line_from(chance, everywhere)
}

/// The line of a seed that holds only what every shell knows, as far as the grammar made it.
pub(crate) fn line_for_all(seed: u64) -> Line {
    line_from(Chance::new(seed), true)
}

fn line_from(chance: Chance, everywhere: bool) -> Line {
    let mut grammar =
        Grammar { chance, text: String::new(), bodies: vec![], depth: 0, tame: true, everywhere };
    grammar.line();
    let (mut text, mut tame) = (grammar.text, grammar.tame);
    if tame && grammar.chance.one_in(3) {
        // The same forms with nothing to hide: a reader has no reason to ask.
        text = text.replace("pwn", "vis").replace("aux", "echo");
    } else if grammar.chance.one_in(2) {
        for _ in 0..=grammar.chance.below(3) {
            text = mutate(&text, &mut grammar.chance);
        }
        tame = false;
    }
    Line { text: text.replace(['\0', '\r'], ""), tame }
}

/// A line in the making.
struct Grammar {
    chance: Chance,
    text: String,
    /// The heredocs that begin after the next newline.
    bodies: Vec<String>,
    depth: usize,
    tame: bool,
    /// Only what every shell knows.
    everywhere: bool,
}

impl Grammar {
    fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Puts one of what every shell knows, or of what only some do.
    fn put_some(&mut self, everywhere: &[&str], elsewhere: &[&str]) {
        let at = self.chance.below(if self.everywhere {
            everywhere.len()
        } else {
            everywhere.len() + elsewhere.len()
        });
        let text = everywhere.iter().chain(elsewhere).nth(at).unwrap();
        self.put(text);
    }

    fn put_one(&mut self, of: &[&str]) {
        let text = self.chance.of(of);
        self.put(text);
    }

    /// Says that a careful reader may ask about this line.
    fn wild(&mut self) {
        self.tame = false;
    }

    /// The same for parts.
    fn part_of(&mut self, everywhere: &[fn(&mut Self)], elsewhere: &[fn(&mut Self)], simple: fn(&mut Self)) {
        if self.everywhere {
            self.part(everywhere, simple);
        } else {
            self.part(&[everywhere, elsewhere].concat(), simple);
        }
    }

    /// Puts one of several parts, a simple one when it is deep already.
    fn part(&mut self, parts: &[fn(&mut Self)], simple: fn(&mut Self)) {
        if self.depth >= DEEPEST {
            return simple(self);
        }
        self.depth += 1;
        parts[self.chance.below(parts.len())](self);
        self.depth -= 1;
    }

    /// Ends the line, so that the heredocs on it follow.
    fn newline(&mut self) {
        self.put("\n");
        for body in std::mem::take(&mut self.bodies) {
            self.put(&body);
        }
    }
}

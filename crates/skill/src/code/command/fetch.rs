//! Programs that bring something from another machine.

use policy::{Direction, ProgramClass, Word};

use super::Step;
use crate::code::destination::{Destination, Kind, classify};

/// Something that a program brings from another machine.
#[derive(Debug, Clone)]
pub(crate) struct Fetch {
    /// Source; the worst, if there are several.
    pub(crate) from: Destination,
    /// The file that it is written to.
    pub(crate) file: Option<String>,
}

impl<'c> Step<'c> {
    /// Returns what it fetches from another machine.
    pub(crate) fn fetch(self) -> Option<Fetch> {
        let name = self.name();
        if !ProgramClass::Fetches.has(&name) {
            return None;
        }
        let urls: Vec<&Word> = self.urls();
        let from = urls.iter().map(|word| classify(&word.text)).max_by_key(|from| rank(from.kind));
        let from = from.unwrap_or_else(|| classify(""));
        let url = urls.first().map_or("", |word| word.text.as_str());
        Some(Fetch { file: self.saved_to(&name, url), from })
    }

    /// Its words that are addresses: with a scheme, or what is left when options and their values are gone.
    pub(crate) fn urls(self) -> Vec<&'c Word> {
        let is_url = |word: &&Word| word.text.contains("://") && !word.text.starts_with('-');
        let with_scheme: Vec<&Word> = self.words().iter().filter(is_url).collect();
        if !with_scheme.is_empty() {
            return without_headers(with_scheme);
        }
        let mut found = Vec::new();
        let mut before = "";
        for word in self.words() {
            let is_value = before.starts_with('-') && !before.starts_with("--") && takes_value(before);
            if !word.text.starts_with('-') && !is_value && (word.text.contains('.') || !word.is_literal()) {
                found.push(word);
            }
            before = &word.text;
        }
        found
    }

    fn saved_to(self, name: &str, url: &str) -> Option<String> {
        let redirected = self
            .redirects()
            .iter()
            .find(|redirect| redirect.direction == Direction::Write && redirect.descriptor == Some(1));
        if let Some(redirect) = redirected {
            return Some(self.named(&redirect.target).to_owned());
        }
        let option: &[&str] = match name {
            "wget" | "wget2" => &["-O", "--output-document", "-qO", "-nvO"],
            "aria2c" => &["-o", "--out"],
            _ => &[
                "-o", "--output", "-OutFile", "-outfile", "-sSLo", "-fsSLo", "-Lo", "-sLo", "-sSfLo", "-fLo",
                "-so", "-fsSo", "-sSo", "-kLo", "-LJo",
            ],
        };
        if let Some(file) = self.value(option) {
            return Some(self.named(file).to_owned()).filter(|file| file != "-" && file != "/dev/null");
        }
        if let Some(file) = self.clustered_output() {
            return Some(file).filter(|file| file != "-");
        }
        let keeps_name = match name {
            "curl" => self.has_short('O') || self.has("--remote-name"),
            "wget" | "wget2" | "aria2c" | "axel" => {
                !self.program.piped && !self.words().iter().any(|word| word.text.ends_with("O-"))
            }
            _ => false,
        };
        keeps_name.then(|| last_segment(url).to_owned()).filter(|file| !file.is_empty())
    }

    /// `-fsSLo file`, `-ofile`.
    fn clustered_output(self) -> Option<String> {
        let words = self.words();
        let at = words.iter().position(|word| {
            word.text.starts_with('-')
                && !word.text.starts_with("--")
                && word.text.ends_with('o')
                && word.text.len() < 12
        })?;
        words.get(at + 1).map(|word| self.named(word).to_owned())
    }
}

/// A header or a body may hold an address too; nothing is fetched from there.
fn without_headers(urls: Vec<&Word>) -> Vec<&Word> {
    let plain: Vec<&Word> = urls
        .iter()
        .copied()
        .filter(|word| !word.text.contains(' ') && !word.text.starts_with(['{', '@']))
        .collect();
    if plain.is_empty() { urls } else { plain }
}

fn takes_value(option: &str) -> bool {
    option.ends_with(['o', 'O', 'H', 'd', 'X', 'u', 'A', 'F', 'T', 'b', 'e', 'm', 'w'])
}

/// Returns the part of an address behind the last slash, without its query.
pub(crate) fn last_segment(url: &str) -> &str {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    url.rsplit('/').next().unwrap_or_default()
}

/// Returns the rank of an address among several: the worst is reported.
fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Vendor => 0,
        Kind::Private => 1,
        Kind::UserContent => 2,
        Kind::Placeholder => 3,
        Kind::Unknown => 4,
        Kind::FreeHosting | Kind::Chat => 5,
        _ => 6,
    }
}

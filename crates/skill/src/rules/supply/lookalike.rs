//! Packages with a name that is nearly a known one.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::names::{OTHERS, PACKAGES, PYTHON, SCOPES};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity};
use crate::scan::compiled;
use crate::text::unit::{Place, Places, Unit};
use crate::words::{Words, words};

pub(super) const RULE: Rule = Rule {
    id: "PACKAGE_LOOKALIKE",
    category: Category::SupplyChain,
    severity: Severity::Critical,
    title: "a package with a name that is nearly a known one",
    why: "Names that are one letter off are registered to be installed by mistake.",
    fix: "install the package with the right name, after looking it up",
    places: Places::of(&[Place::Script, Place::Fence, Place::Inline]),
    anchors: words![
        "\\bnpx ",
        "npx\"",
        "\\buvx ",
        "uvx\"",
        "bunx",
        "pipx",
        "dlx ",
        "pip install",
        "pip3 install",
        "npm install",
        "npm i ",
        "pnpm add",
        "yarn add",
        "uv add",
        "uv pip",
        "\"dependencies\"",
    ],
    check: Check::Unit(hits),
};

/// Number of words after a command that are examined.
const MAX_WORDS: usize = 40;

fn hits(unit: &Unit<'_>) -> Vec<Hit> {
    let text = unit.text();
    let mut hits = Vec::new();
    let Some(installs) = INSTALLS.as_ref() else { return hits };
    for found in installs.find_iter(text.as_bytes()) {
        let runs = RUNS.as_ref().is_some_and(|runs| runs.is_match(found.as_bytes()));
        // `npx` is followed by one package, and then its arguments.
        let most = if runs { 1 } else { MAX_WORDS };
        for (at, word) in words(text, found.end()).filter(|(_, word)| !word.starts_with('-')).take(most) {
            hits.extend(hit(at, word));
        }
    }
    hits.extend(dependencies(unit));
    hits
}

/// Returns the words of a command from a position on, without quotes and separators. Only as many as a command has are examined.
fn words(text: &str, from: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut at = from;
    let mut ended = false;
    let pieces = text.get(from..).unwrap_or_default().split([' ', '\t', '"', '\'', ',', '`', '[', ':']);
    pieces
        .map_while(move |piece| {
            let start = at;
            at += piece.len() + 1;
            let whole = piece.split(['\n', '|', ';', '&', '}', ']']).next().unwrap_or_default();
            (!std::mem::replace(&mut ended, whole.len() < piece.len())).then_some((start, whole))
        })
        .filter(|(_, word)| !word.is_empty() && *word != "args" && *word != "command")
}

fn dependencies(unit: &Unit<'_>) -> Vec<Hit> {
    let is_package = unit.view.path.file_name().is_some_and(|name| name == "package.json");
    let Some(document) = crate::text::json::in_unit(unit).filter(|_| is_package) else { return Vec::new() };
    let kinds = ["dependencies", "devDependencies", "optionalDependencies"];
    let named =
        kinds.into_iter().flat_map(|kind| document.root.all(kind)).flat_map(crate::text::json::Node::object);
    named.filter_map(|(name, _)| hit(name.span.start + 1, &name.text)).collect()
}

fn hit(at: usize, word: &str) -> Option<Hit> {
    let known = resembles(word)?;
    Some(Hit { range: at..at + word.len(), note: Some(format!("nearly `{known}`")), severity: None })
}

/// Returns the known name that a package imitates.
fn resembles(word: &str) -> Option<&'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "@/._-".contains(c);
    let word = word.split(['=', '>', '<', '~', '^']).next()?.to_ascii_lowercase();
    if !word.chars().all(fits) || word.len() > 80 {
        return None;
    }
    if let Some(scoped) = word.strip_prefix('@') {
        return nearest(scoped.split_once('/')?.0, SCOPES);
    }
    let name = word.split('@').next()?;
    let known = [PACKAGES, PYTHON, OTHERS].iter().any(|list| list.contains(name));
    if known || name.contains('/') { None } else { nearest(name, PACKAGES).or_else(|| nearest(name, PYTHON)) }
}

/// Returns the name in a list that is one letter off, two for long names; `None` if the name itself is in it.
pub(in crate::rules) fn nearest(name: &str, list: Words) -> Option<&'static str> {
    if list.contains(name) || OTHERS.contains(name) {
        return None;
    }
    list.iter().find(|known| {
        let most = match known.len() {
            ..6 => return false,
            6..12 => 1,
            _ => 2usize,
        };
        // Each letter that differs is in one of the two names only, or twice in one of them.
        if (letters(name) ^ letters(known)).count_ones() as usize > 2 * most {
            return false;
        }
        // A name with a suffix is a separate name: `eslint` and `eslint-8`.
        let longer = name.strip_prefix(known).is_some_and(|rest| {
            rest.starts_with(['-', '_', '.']) || rest.starts_with(|c: char| c.is_ascii_digit())
        });
        let plural = name.strip_suffix('s') == Some(known) || known.strip_suffix('s') == Some(name);
        name.len().abs_diff(known.len()) <= most
            && !longer
            && (!plural || name.ends_with("ss"))
            && strsim::osa_distance(name, known) <= most
    })
}

/// Returns the set of letters of a name as a bit mask.
fn letters(name: &str) -> u64 {
    name.bytes().fold(0, |letters, byte| letters | 1 << (byte & 63))
}

static INSTALLS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r#"\b(?:npx|uvx|bunx|pipx\s+(?:run|install)|pnpm\s+dlx|yarn\s+dlx|uv\s+tool\s+run|pip3?\s+install|uv\s+pip\s+install|uv\s+add|npm\s+(?:install|i|exec)|pnpm\s+(?:add|i|install)|yarn\s+add|bun\s+add)(?:\s|"\s*,\s*"args"\s*:\s*\[)"#,
    )
});

static RUNS: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(r"^(?:npx|uvx|bunx|pipx\s+run|pnpm\s+dlx|yarn\s+dlx|uv\s+tool)"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_never_taken_for_another() {
        for name in PACKAGES.iter().chain(PYTHON.iter()).chain(OTHERS.iter()) {
            assert_eq!(resembles(name), None, "{name}");
        }
        for scope in SCOPES.iter() {
            assert_eq!(resembles(&format!("@{scope}/x")), None, "{scope}");
        }
    }
}

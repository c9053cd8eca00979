//! Facts of the tables that source code repeats.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Lit, Macro};

use crate::offence::Offence;
use crate::source::{Source, is_test_only};
use crate::table;

/// Columns whose texts stand in the table alone. Programs and options are left out: they are words of every day.
const FACTS: &[(&str, &str, &str)] = &[
    ("tables/credentials.toml", "file", "path"),
    ("tables/credentials.toml", "template", "pattern"),
    ("tables/tokens.toml", "token", "prefix"),
    ("tables/hosts.toml", "metadata", "address"),
    ("tables/hosts.toml", "metadata", "name"),
    ("tables/hosts.toml", "range", "cidr"),
];

/// The section whose `first` and `last` are characters that source code names by class.
const CHARACTERS: (&str, &str) = ("tables/characters.toml", "character");

/// Files and directories that may repeat a fact, with the reason.
const ALLOWED: &[(&str, &str)] = &[
    (
        "crates/skill/src/rules/",
        "samples and phrases: the words that skills use, not the files that hold secrets",
    ),
    (
        "crates/skill/src/code/fact/persist.rs",
        "files that make something run later; some hold secrets besides",
    ),
    ("crates/skill/src/text/language.rs", "formats of files by name"),
    ("crates/shell/src/judge/paths.rs", "files that decide what runs later; some hold secrets besides"),
    ("crates/shell/src/judge/secret.rs", "public files beside private keys are known by their directory"),
    (
        "crates/ringfence/src/learn/table.rs",
        "files from which the host executes or takes accounts, secret or not",
    ),
    (
        "crates/jail/src/host/toolchain/table.rs",
        "settings of toolchains that a jail shows without their tokens",
    ),
    ("crates/jail/src/plan/system.rs", "canaries: paths whose presence shows a mistake in a plan"),
];

/// Finds literals of source code that stand in a table.
pub(crate) fn check(root: &Path, sources: &[Source]) -> io::Result<Vec<Offence>> {
    let facts = Facts::read(root)?;
    let checked = sources.iter().filter(|source| !is_exempt(source));
    Ok(checked.flat_map(|source| facts.repeated_in(source)).collect())
}

fn is_exempt(source: &Source) -> bool {
    let stem = Path::new(&source.path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let is_test = source.is_test_target() || stem == "tests" || stem.ends_with("_tests");
    let is_generated = source.text.starts_with("//! Table: generated");
    is_test || is_generated || ALLOWED.iter().any(|(path, _)| source.path.starts_with(path))
}

/// Texts and characters with the table of each.
#[derive(Debug, Default)]
struct Facts {
    texts: BTreeMap<String, &'static str>,
    characters: BTreeMap<char, &'static str>,
}

impl Facts {
    fn read(root: &Path) -> io::Result<Self> {
        let mut facts = Self::default();
        let rows = |file: &'static str| {
            let text = fs::read_to_string(root.join(file))?;
            // A table that cannot be read is an offence of its own, which another step reports.
            Ok::<_, io::Error>(table::read(file, &text).unwrap_or_default())
        };
        for (file, section, column) in FACTS {
            let rows = rows(file)?;
            let texts = rows.iter().filter(|row| row.section == *section).filter_map(|row| row.get(column));
            facts.texts.extend(texts.map(|text| (plain(text).to_owned(), *file)));
            // A word of every day says nothing about its origin: `secrets`, `metadata`.
            facts.texts.retain(|text, _| !text.bytes().all(|byte| byte.is_ascii_lowercase()));
        }
        let (file, section) = CHARACTERS;
        for row in rows(file)?.iter().filter(|row| row.section == section && is_marked(row)) {
            let numbers = [row.get("first"), row.get("last")].into_iter().flatten();
            let letters = numbers.filter_map(|text| char::from_u32(u32::from_str_radix(text, 16).ok()?));
            facts.characters.extend(letters.map(|letter| (letter, file)));
        }
        Ok(facts)
    }

    fn repeated_in(&self, source: &Source) -> Vec<Offence> {
        let mut literals = Literals::default();
        literals.visit_file(&source.file);
        let offence = |lit: &Lit| {
            let (shown, file) = match lit {
                Lit::Str(text) => (text.value(), self.texts.get(plain(&text.value()))?),
                Lit::Char(letter) => {
                    (letter.value().escape_unicode().to_string(), self.characters.get(&letter.value())?)
                }
                _ => return None,
            };
            let text =
                format!("`{shown}` stands in {file}; read it from there, or allow the file with a reason");
            Some(Offence::at(&source.path, lit.span().start().line, text))
        };
        literals.found.iter().filter_map(offence).collect()
    }
}

/// Returns true for characters that source code names only to find them. Others, such as the byte order mark, have uses of their own.
fn is_marked(row: &table::Row) -> bool {
    row.get("classes").is_some_and(|classes| classes.contains("bidi") || classes.contains("tag"))
}

/// The part of a path or pattern that says which file is meant.
fn plain(text: &str) -> &str {
    let text = ["~/", "$HOME/", "**/", "/"].iter().find_map(|start| text.strip_prefix(start)).unwrap_or(text);
    ["/**", "/*", "/"].iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text)
}

/// The literals of a file that are compiled outside tests.
#[derive(Default)]
struct Literals {
    found: Vec<Lit>,
}

impl Literals {
    fn add(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add(group.stream()),
                TokenTree::Literal(literal) => self.found.push(Lit::new(literal)),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Literals {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test_only(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test_only(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_lit(&mut self, lit: &'ast Lit) {
        self.found.push(lit.clone());
    }

    fn visit_macro(&mut self, item: &'ast Macro) {
        self.add(item.tokens.clone());
    }

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offences(path: &str, text: &str) -> Vec<String> {
        let facts = Facts {
            texts: [(".netrc".to_owned(), "t.toml"), (".ssh".to_owned(), "t.toml")].into(),
            characters: [('\u{202e}', "c.toml")].into(),
        };
        let source = Source::parse("a", path, text.into()).unwrap();
        let found = if is_exempt(&source) { Vec::new() } else { facts.repeated_in(&source) };
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_repeated_fact_is_named() {
        for literal in ["\".netrc\"", "\"~/.netrc\"", "r\"**/.ssh/**\"", "\"/.ssh/\"", "'\\u{202e}'"] {
            for code in
                [format!("\nconst A: X = {literal};"), format!("\nfn f() {{ matches!(x, {literal}); }}")]
            {
                let found = offences("crates/a/src/b.rs", &code);
                assert_eq!(found.len(), 1, "{code}");
                assert!(found[0].starts_with("crates/a/src/b.rs:2: `"), "{found:?}");
            }
        }
    }

    #[test]
    fn other_literals_tests_and_allowed_files_are_fine() {
        let rows = [
            ("crates/a/src/b.rs", "const A: X = \".netrcx\";"),
            ("crates/a/src/b.rs", "/// \".netrc\"\nfn f() {}"),
            ("crates/a/src/b.rs", "#[cfg(test)]\nmod tests { const A: X = \".netrc\"; }"),
            ("crates/a/src/b.rs", "#[test]\nfn f() { g(\".netrc\") }"),
            ("crates/a/src/b/tests.rs", "const A: X = \".netrc\";"),
            ("crates/a/tests/b.rs", "const A: X = \".netrc\";"),
            ("crates/a/src/tables/b.rs", "//! Table: generated by x\nconst A: X = \".netrc\";"),
            ("crates/skill/src/rules/a.rs", "const A: X = \".netrc\";"),
        ];
        for (path, text) in rows {
            assert_eq!(offences(path, text), [""; 0], "{path}: {text}");
        }
    }

    #[test]
    fn every_table_is_read_and_every_allowance_is_needed() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let facts = Facts::read(root).unwrap();
        assert!(facts.texts.len() > 300 && facts.characters.len() > 9, "{}", facts.texts.len());
        for (path, _) in ALLOWED {
            let place = root.join(path);
            let files = if place.is_file() {
                vec![place]
            } else {
                crate::workspace::files_below(&place, "rs").unwrap()
            };
            let uses = files.iter().any(|file| {
                let text = fs::read_to_string(file).unwrap();
                !facts.repeated_in(&Source::parse("a", "a.rs", text).unwrap()).is_empty()
            });
            assert!(uses, "{path} repeats nothing any more; remove it from the list");
        }
    }
}

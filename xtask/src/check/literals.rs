//! Facts of the tables that source code repeats.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprArray, Lit, LitStr, Macro, Pat, PatOr};

use crate::offence::Offence;
use crate::source::{Source, is_test_only};
use crate::table;

/// Columns whose texts stand in the table alone. Options are left out: they are words of every day.
const FACTS: &[(&str, &str, &str)] = &[
    ("tables/credentials.toml", "file", "path"),
    ("tables/credentials.toml", "template", "pattern"),
    ("tables/tokens.toml", "token", "prefix"),
    ("tables/hosts.toml", "metadata", "address"),
    ("tables/hosts.toml", "metadata", "name"),
    ("tables/hosts.toml", "range", "cidr"),
    ("tables/hosts.toml", "host", "names"),
];

/// The column with names of programs. One of them is a word of every day; a list of them is a class that has no column yet.
const PROGRAMS: (&str, &str) = ("tables/programs.toml", "names");

/// Number of programs that make a list.
const LIST: usize = 5;

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
    (
        "crates/skill/src/code/fact.rs",
        "words by which a text is taken for a shell's; more of them would find less",
    ),
    (
        "crates/skill/src/code/fact/commands.rs",
        "programs whose file a profile lets a skill read; more of them would permit more",
    ),
    ("crates/skill/src/text/decode", "names that are hidden, and texts that betray code"),
    ("crates/skill/src/text/phrase/", "words of sentences; some are called like programs"),
    ("crates/skill/src/scan/intent/sign.rs", "words of sentences; some are called like programs"),
    ("crates/skill/src/code/fact/calls.rs", "functions of languages; some are called like programs"),
    ("crates/skill/src/code/fact/commands/programs.rs", "the host that `gh gist` sends to"),
    ("crates/skill/src/code/secret/owners.rs", "hosts that own a secret, and may be sent it"),
    ("crates/shell/src/read", "builtins that the reader runs itself"),
    ("crates/shell/src/tree.rs", "builtins that the reader runs itself"),
    ("crates/shell/src/judge/power.rs", "units of systemd; some are called like programs"),
    ("crates/shell/src/judge/variables.rs", "values of variables that start nothing"),
    ("crates/shell/src/wrappers/git.rs", "values of settings that start nothing"),
    ("crates/shell/src/wrappers/editors.rs", "commands of editors; some are called like programs"),
    ("crates/ringfence/src/job/meaning.rs", "builtins that change a shell for later commands"),
    ("crates/policy/src/tables/tools.rs", "tools of agents; some are called like programs"),
    ("crates/config/src/lint.rs", "tools of agents; some are called like programs"),
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
    programs: BTreeSet<String>,
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
            // Hosts of vendors stand in examples and settings; those that strangers share need no second mention.
            let rows = rows
                .iter()
                .filter(|row| row.section == *section && (*section != "host" || row.get("shared").is_some()));
            let separator = if *column == "names" { ' ' } else { '\n' };
            let texts = rows.filter_map(|row| row.get(column)).flat_map(|texts| texts.split(separator));
            facts.texts.extend(texts.map(|text| (plain(text).to_owned(), *file)));
            // A word of every day says nothing about its origin: `secrets`, `metadata`.
            facts.texts.retain(|text, _| !text.bytes().all(|byte| byte.is_ascii_lowercase()));
        }
        let (file, column) = PROGRAMS;
        let names = rows(file)?;
        let names = names.iter().filter_map(|row| row.get(column)).flat_map(|names| names.split(' '));
        facts.programs.extend(names.map(str::to_owned));
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
        let lists = literals.lists.iter().filter_map(|list| {
            let text = self.listed(&list.iter().map(LitStr::value).collect::<Vec<_>>())?;
            Some(Offence::at(&source.path, list.first()?.span().start().line, text))
        });
        literals.found.iter().filter_map(offence).chain(lists).collect()
    }

    /// Returns the complaint about words that are a list of programs, also as alternatives of one expression.
    fn listed(&self, words: &[String]) -> Option<String> {
        let plain = |word: &str| word.trim_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned();
        let words: BTreeSet<_> =
            words.iter().flat_map(|word| word.split(['|', '(', ')'])).map(plain).collect();
        let programs: Vec<_> = words.intersection(&self.programs).map(String::as_str).collect();
        (programs.len() >= LIST).then(|| {
            let (shown, file) = (programs.join("`, `"), PROGRAMS.0);
            format!("`{shown}` are programs; ask for a class of {file}, or allow the file with a reason")
        })
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
    /// Texts of one array, one pattern or one group of a macro.
    lists: Vec<Vec<LitStr>>,
}

impl Literals {
    fn add(&mut self, tokens: TokenStream) {
        let first = self.found.len();
        let mut groups = Vec::new();
        for token in tokens {
            match token {
                TokenTree::Group(group) => groups.push(group.stream()),
                TokenTree::Literal(literal) => self.found.push(Lit::new(literal)),
                _ => {}
            }
        }
        self.lists.push(self.found[first..].iter().filter_map(text).cloned().collect());
        for group in groups {
            self.add(group);
        }
    }
}

fn text(lit: &Lit) -> Option<&LitStr> {
    if let Lit::Str(text) = lit { Some(text) } else { None }
}

/// The text of an element, or of the first part of a row.
fn element(element: &Expr) -> Option<&LitStr> {
    match element {
        Expr::Lit(literal) => text(&literal.lit),
        Expr::Tuple(row) => row.elems.first().and_then(self::element),
        _ => None,
    }
}

impl<'ast> Visit<'ast> for Literals {
    fn visit_expr_array(&mut self, array: &'ast ExprArray) {
        self.lists.push(array.elems.iter().filter_map(element).cloned().collect());
        visit::visit_expr_array(self, array);
    }

    fn visit_pat_or(&mut self, pattern: &'ast PatOr) {
        let literal = |case: &'ast Pat| if let Pat::Lit(literal) = case { text(&literal.lit) } else { None };
        self.lists.push(pattern.cases.iter().filter_map(literal).cloned().collect());
        visit::visit_pat_or(self, pattern);
    }

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
        self.lists.extend(text(lit).map(|alternatives| vec![alternatives.clone()]));
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
            programs: ["nc", "sh", "env", "curl", "tar"].map(str::to_owned).into(),
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
    fn a_list_of_programs_is_named() {
        for code in [
            "\nconst A: X = &[\"nc\", \"sh\", \"env\", \"curl\", \"x\", \"tar\"];",
            "\nconst A: X = &[(\"nc\", 1), (\"sh\", 1), (\"env\", 1), (\"curl\", 1), (\"tar\", 1)];",
            "\nfn f() { match x { \"nc\" | \"sh\" | \"env\" | \"curl\" | \"tar\" => {} } }",
            "\nfn f() { matches!(x, \"nc\" | \"sh\" | \"env\" | \"curl\" | \"tar\") }",
            "\nconst A: X = r\"(?:nc|sh|env|curl|tar)\\b\";",
        ] {
            let found = offences("crates/a/src/b.rs", code);
            assert_eq!(found.len(), 1, "{code}");
            assert!(
                found[0].starts_with("crates/a/src/b.rs:2: `curl`, `env`, `nc`, `sh`, `tar` are"),
                "{found:?}"
            );
        }
        let four = "fn f() { match x { \"nc\" | \"sh\" | \"env\" | \"curl\" => {} \"tar\" => {} } }";
        assert_eq!(offences("crates/a/src/b.rs", four), [""; 0]);
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

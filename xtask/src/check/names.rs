//! Names that say nothing.

use std::path::Path;

use proc_macro2::Ident;
use syn::visit::{self, Visit};

use crate::offence::Offence;
use crate::source::Source;

/// Words that neither a module nor a type may have in its name.
const EMPTY_WORDS: &[&str] = &[
    "manager", "helper", "util", "common", "context", "runtime", "service", "engine", "handler", "info",
    "data", "impl",
];

/// Finds modules and types with such names, in tests too.
pub(crate) fn check(sources: &[Source]) -> Vec<Offence> {
    sources.iter().flat_map(|source| file_name(source).into_iter().chain(inside(source))).collect()
}

fn file_name(source: &Source) -> Option<Offence> {
    let path = Path::new(&source.path);
    let stem = path.file_stem()?.to_str()?;
    let module = if stem == "mod" { path.parent()?.file_name()?.to_str()? } else { stem };
    let word = empty_word(module)?;
    Some(Offence::of(&source.path, format!("module `{module}`: `{word}` says nothing")))
}

fn inside(source: &Source) -> Vec<Offence> {
    let mut names = Names { source, offences: Vec::new() };
    names.visit_file(&source.file);
    names.offences
}

struct Names<'a> {
    source: &'a Source,
    offences: Vec<Offence>,
}

impl Names<'_> {
    fn judge(&mut self, what: &str, name: &Ident) {
        let text = name.to_string();
        if let Some(word) = empty_word(&text) {
            let line = name.span().start().line;
            let text = format!("{what} `{text}`: `{word}` says nothing");
            self.offences.push(Offence::at(&self.source.path, line, text));
        }
    }
}

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        // A module in its own file is judged by the file, once.
        if item.content.is_some() {
            self.judge("module", &item.ident);
        }
        visit::visit_item_mod(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.judge("type", &item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.judge("type", &item.ident);
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.judge("type", &item.ident);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        self.judge("type", &item.ident);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.judge("trait", &item.ident);
        visit::visit_item_trait(self, item);
    }
}

/// Returns the first word of a name that says nothing, in any case and number.
fn empty_word(name: &str) -> Option<&'static str> {
    words(name).iter().find_map(|word| {
        let word = word.to_lowercase();
        let singular = word.strip_suffix('s').unwrap_or(&word);
        EMPTY_WORDS.iter().copied().find(|&empty| empty == word || empty == singular)
    })
}

/// `skill_pack` and `SkillPack` are two words each; so is `HTTPPack`.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (index, &letter) in letters.iter().enumerate() {
        let after_lower = index > 0 && letters.get(index - 1).is_some_and(|c| !c.is_uppercase());
        let before_lower = letters.get(index + 1).is_some_and(|c| c.is_lowercase());
        if letter == '_' || letter == '-' || letter.is_uppercase() && (after_lower || before_lower) {
            words.push(String::new());
        }
        words.last_mut().into_iter().for_each(|word| word.push(letter));
    }
    words.iter().map(|word| word.trim_start_matches(['_', '-']).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offences(path: &str, text: &str) -> Vec<String> {
        let source = Source::parse("a", path, text.into()).unwrap();
        check(&[source]).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn empty_names_are_named() {
        let rows = [
            ("src/a.rs", "\nstruct SkillManager;", "src/a.rs:2: type `SkillManager`: `manager` says nothing"),
            ("src/a.rs", "enum HTTPHandlers {}", "src/a.rs:1: type `HTTPHandlers`: `handler` says nothing"),
            ("src/a.rs", "trait Context {}", "src/a.rs:1: trait `Context`: `context` says nothing"),
            ("src/a.rs", "type RunData = u8;", "src/a.rs:1: type `RunData`: `data` says nothing"),
            ("src/a.rs", "mod path_utils {}", "src/a.rs:1: module `path_utils`: `util` says nothing"),
            ("src/utils.rs", "", "src/utils.rs: module `utils`: `util` says nothing"),
            ("tests/common/mod.rs", "", "tests/common/mod.rs: module `common`: `common` says nothing"),
            ("src/x_impl.rs", "", "src/x_impl.rs: module `x_impl`: `impl` says nothing"),
        ];
        for (path, text, message) in rows {
            assert_eq!(offences(path, text), [message]);
        }
    }

    #[test]
    fn other_names_are_fine() {
        for text in
            ["struct Metadata;", "struct Informer;", "mod dataless {}", "struct Implied;", "mod utils;"]
        {
            assert_eq!(offences("src/a.rs", text), [""; 0], "{text}");
        }
    }
}

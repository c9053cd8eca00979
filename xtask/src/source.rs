//! One Rust file, parsed.

use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::Attribute;

use crate::offence::Offence;

/// One Rust file: as text, as tokens and as syntax.
pub(crate) struct Source {
    pub(crate) package: String,
    /// Relative to the root.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) tokens: TokenStream,
    pub(crate) file: syn::File,
}

impl Source {
    /// Parses a file of a package.
    pub(crate) fn parse(package: &str, path: &str, text: String) -> Result<Self, Offence> {
        let tokens: TokenStream =
            text.parse().map_err(|error: proc_macro2::LexError| broken(path, error.span(), &error))?;
        let file = syn::parse2(tokens.clone()).map_err(|error| broken(path, error.span(), &error))?;
        Ok(Self { package: package.into(), path: path.into(), text, tokens, file })
    }

    /// Returns true if the file is data in the shape of code, for which no budget holds.
    pub(crate) fn is_table(&self) -> bool {
        self.has_component("tables") || self.text.starts_with("//! Table:")
    }

    /// Returns true if Cargo builds the file only for tests, benchmarks or examples.
    pub(crate) fn is_test_target(&self) -> bool {
        ["tests", "benches", "examples"].iter().any(|name| self.has_component(name))
    }

    fn has_component(&self, name: &str) -> bool {
        Path::new(&self.path).components().any(|component| component.as_os_str() == name)
    }
}

fn broken(path: &str, span: proc_macro2::Span, error: &dyn std::fmt::Display) -> Offence {
    Offence::at(path, span.start().line, error.to_string())
}

/// Returns true if an item exists only in tests: `#[test]`, `#[cfg(test)]`, `#[cfg(all(test, …))]`.
pub(crate) fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        let requires_test =
            || attribute.meta.require_list().is_ok_and(|list| mentions_test(list.tokens.clone()));
        path.is_ident("test") || path.is_ident("cfg") && requires_test()
    })
}

/// Returns true if a `cfg` condition holds only in tests. `any` and `not` are not read: they may hold elsewhere.
fn mentions_test(condition: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = condition.into_iter().collect();
    match tokens.first() {
        Some(TokenTree::Ident(word)) if word == "test" => tokens.len() == 1,
        Some(TokenTree::Ident(word)) if word == "all" => tokens.iter().any(|token| match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                group.stream().into_iter().any(|token| token.to_string() == "test")
            }
            _ => false,
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_exists_only_in_tests() {
        let rows = [
            ("#[cfg(test)]", true),
            ("#[test]", true),
            ("#[cfg(all(test, unix))]", true),
            ("#[cfg(not(test))]", false),
            ("#[cfg(any(test, unix))]", false),
            ("#[cfg(unix)]", false),
            ("#[doc = \"test\"]", false),
            ("", false),
        ];
        for (attribute, expected) in rows {
            let item: syn::ItemFn = syn::parse_str(&format!("{attribute} fn f() {{}}")).unwrap();
            assert_eq!(is_test_only(&item.attrs), expected, "{attribute}");
        }
    }

    #[test]
    fn knows_tables_and_test_targets() {
        let rows = [
            ("crates/a/src/tables/hosts.rs", "", true, false),
            ("crates/a/src/names.rs", "//! Table: names\n", true, false),
            ("crates/a/src/names.rs", "//! Names\n", false, false),
            ("crates/a/tests/all.rs", "", false, true),
            ("crates/a/src/tests.rs", "", false, false),
        ];
        for (path, text, table, test) in rows {
            let source = Source::parse("a", path, text.into()).unwrap();
            assert_eq!((source.is_table(), source.is_test_target()), (table, test), "{path}");
        }
    }

    #[test]
    fn what_is_not_rust_names_its_line() {
        for text in ["fn a() {}\nfn {", "fn a() {}\nfn 1() {}"] {
            let offence = Source::parse("a", "a.rs", text.into()).err().unwrap();
            assert!(offence.to_string().starts_with("a.rs:2: "), "{offence}");
        }
    }
}

//! Budgets: how long functions and files may be, and how many parameters a function may take.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

use crate::offence::Offence;
use crate::source::{Source, is_test_only};

const MEDIAN: usize = 8;
const NINE_OF_TEN: usize = 25;
const LONGEST: usize = 80;
const FILE: usize = 600;
const PARAMETERS: usize = 6;

/// Measurements, and offences over budget.
pub(crate) struct Sizes {
    pub(crate) report: Vec<String>,
    pub(crate) offences: Vec<Offence>,
}

/// Measures every file that is neither a table nor a test.
pub(crate) fn check(sources: &[Source]) -> Sizes {
    let test_modules: Vec<String> = sources.iter().flat_map(test_modules).collect();
    let counted: Vec<&Source> = sources
        .iter()
        .filter(|source| !source.is_table() && !source.is_test_target())
        .filter(|source| !test_modules.iter().any(|module| is_module_file(module, &source.path)))
        .collect();
    let functions: Vec<Function<'_>> = counted.iter().flat_map(|source| functions(source)).collect();
    let mut offences: Vec<Offence> = counted.iter().filter_map(|source| long_file(source)).collect();
    offences.extend(functions.iter().filter_map(Function::offence));
    let mut sizes = Sizes { report: Vec::new(), offences };
    for (package, lengths) in by_package(&functions) {
        sizes.add(package, &lengths);
    }
    sizes
}

impl Sizes {
    /// Adds the summary of one package; `lengths` is sorted and not empty.
    fn add(&mut self, package: &str, lengths: &[usize]) {
        let (median, nine_of_ten) = (percentile(lengths, 50), percentile(lengths, 90));
        self.report.push(format!(
            "{package}: {} functions, median {median}, p90 {nine_of_ten}, longest {} lines",
            lengths.len(),
            percentile(lengths, 100),
        ));
        if median > MEDIAN {
            self.offences
                .push(Offence::of(package, format!("median function of {median} lines, over {MEDIAN}")));
        }
        if nine_of_ten > NINE_OF_TEN {
            let text = format!("one function in ten has {nine_of_ten} lines or more, over {NINE_OF_TEN}");
            self.offences.push(Offence::of(package, text));
        }
    }
}

/// The value that so many percent do not exceed (nearest rank).
fn percentile(sorted: &[usize], percent: usize) -> usize {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

fn by_package<'a>(functions: &[Function<'a>]) -> BTreeMap<&'a str, Vec<usize>> {
    let mut lengths: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for function in functions {
        lengths.entry(&function.source.package).or_default().push(function.lines);
    }
    for lengths in lengths.values_mut() {
        lengths.sort_unstable();
    }
    lengths
}

struct Function<'a> {
    source: &'a Source,
    line: usize,
    name: String,
    lines: usize,
    parameters: usize,
}

impl Function<'_> {
    fn offence(&self) -> Option<Offence> {
        let Self { source, line, name, lines, parameters } = self;
        if *lines > LONGEST {
            Some(Offence::at(&source.path, *line, format!("`{name}` has {lines} lines, over {LONGEST}")))
        } else if *parameters > PARAMETERS {
            let text = format!("`{name}` takes {parameters} parameters, over {PARAMETERS}");
            Some(Offence::at(&source.path, *line, text))
        } else {
            None
        }
    }
}

fn functions(source: &Source) -> Vec<Function<'_>> {
    let mut found = Functions { source, found: Vec::new() };
    found.visit_file(&source.file);
    found.found
}

struct Functions<'a> {
    source: &'a Source,
    found: Vec<Function<'a>>,
}

impl Functions<'_> {
    fn add(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let receivers = usize::from(signature.receiver().is_some());
        self.found.push(Function {
            source: self.source,
            line: signature.ident.span().start().line,
            name: signature.ident.to_string(),
            lines: code_lines(body),
            parameters: signature.inputs.len() - receivers,
        });
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test_only(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !is_test_only(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test_only(&item.attrs) {
            self.add(&item.sig, &item.block);
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test_only(&item.attrs) {
            self.add(&item.sig, &item.block);
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let (false, Some(body)) = (is_test_only(&item.attrs), &item.default) {
            self.add(&item.sig, body);
            visit::visit_trait_item_fn(self, item);
        }
    }
}

/// Counts lines between the braces that carry code: blank lines and comments are free, so there is no gain in saving on them.
fn code_lines(body: &syn::Block) -> usize {
    let mut lines = BTreeSet::new();
    for statement in &body.stmts {
        mark(statement.to_token_stream(), &mut lines);
    }
    lines.len()
}

fn mark(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    for token in tokens {
        if let TokenTree::Group(group) = token {
            lines.extend(covered(group.span_open()));
            mark(group.stream(), lines);
            lines.extend(covered(group.span_close()));
        } else {
            lines.extend(covered(token.span()));
        }
    }
}

fn covered(span: Span) -> std::ops::RangeInclusive<usize> {
    span.start().line..=span.end().line
}

fn long_file(source: &Source) -> Option<Offence> {
    let tests: usize = source.file.items.iter().filter_map(test_module_lines).sum();
    let lines = source.text.lines().count() - tests;
    let text = || format!("{lines} lines without tests, over {FILE}");
    (lines > FILE).then(|| Offence::of(&source.path, text()))
}

fn test_module_lines(item: &syn::Item) -> Option<usize> {
    match item {
        syn::Item::Mod(module) if is_test_only(&module.attrs) => Some(covered(module.span()).count()),
        _ => None,
    }
}

/// The files that `#[cfg(test)] mod name;` brings in, without `.rs`.
fn test_modules(source: &Source) -> impl Iterator<Item = String> {
    let path = Path::new(&source.path);
    let is_root = path.file_stem().is_some_and(|stem| stem == "lib" || stem == "main" || stem == "mod");
    let dir = if is_root { path.parent().unwrap_or(path).to_path_buf() } else { path.with_extension("") };
    source.file.items.iter().filter_map(move |item| match item {
        syn::Item::Mod(module) if module.content.is_none() && is_test_only(&module.attrs) => {
            Some(dir.join(module.ident.to_string()).to_string_lossy().into_owned())
        }
        _ => None,
    })
}

fn is_module_file(module: &str, path: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source::parse("a", path, text.into()).unwrap()
    }

    fn offences(path: &str, text: &str) -> Vec<String> {
        check(&[source(path, text)]).offences.iter().map(ToString::to_string).collect()
    }

    fn function_of(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    step();\n".repeat(lines))
    }

    #[test]
    fn counts_only_lines_with_code() {
        let rows = [
            ("fn f() {}", 0),
            ("fn f() { x }", 1),
            ("fn f() {\n    // why\n\n    x;\n    /* and */\n}", 1),
            ("fn f() {\n    if x {\n        y\n    }\n}", 3),
            ("fn f() {\n    let s = \"\n\n    \";\n}", 3),
            ("fn f() {\n    each(|x| {\n        x\n    });\n}", 3),
            ("impl A {\n    fn f(&self) {\n        x(\n            y,\n        )\n    }\n}", 3),
            ("trait A {\n    fn f() {\n        x\n    }\n    fn g();\n}", 1),
        ];
        for (text, lines) in rows {
            let source = source("a.rs", text);
            let found: Vec<_> = functions(&source).iter().map(|function| function.lines).collect();
            assert_eq!(found, [lines], "{text}");
        }
    }

    #[test]
    fn a_function_over_eighty_lines_is_named() {
        let short = "fn s() {}\n".repeat(20);
        assert_eq!(offences("a.rs", &(short.clone() + &function_of(80))), [""; 0]);
        assert_eq!(offences("a.rs", &(short + &function_of(81))), ["a.rs:21: `long` has 81 lines, over 80"]);
    }

    #[test]
    fn medians_and_ninetieths_are_held_per_package() {
        assert_eq!(offences("a.rs", &function_of(9)), ["a: median function of 9 lines, over 8"]);
        let nine_short = "fn s() {}\n".repeat(8) + &function_of(26) + &function_of(26).replace("long", "b");
        assert_eq!(offences("a.rs", &nine_short), ["a: one function in ten has 26 lines or more, over 25"]);
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let ten: Vec<usize> = (1..=10).collect();
        assert_eq!([50, 90, 100].map(|percent| percentile(&ten, percent)), [5, 9, 10]);
        assert_eq!(percentile(&[7], 50), 7);
    }

    #[test]
    fn tests_and_tables_are_free() {
        let rows = [
            ("crates/a/tests/all.rs", function_of(81)),
            ("crates/a/benches/all.rs", function_of(81)),
            ("crates/a/src/tables/all.rs", function_of(81)),
            ("crates/a/src/all.rs", format!("//! Table: all\n{}", function_of(81))),
            ("crates/a/src/all.rs", format!("#[cfg(test)]\nmod tests {{\n{}}}", function_of(700))),
            ("crates/a/src/all.rs", format!("#[test]\n{}", function_of(81))),
        ];
        for (path, text) in rows {
            assert_eq!(offences(path, &text), [""; 0], "{path}");
        }
    }

    #[test]
    fn a_test_module_in_its_own_file_is_free() {
        let parent = source("crates/a/src/b.rs", "#[cfg(test)]\nmod checks;\nmod kept;\n");
        let rows = [
            ("crates/a/src/b/checks.rs", 0),
            ("crates/a/src/b/checks/more.rs", 0),
            ("crates/a/src/b/kept.rs", 1),
            ("crates/a/src/checks.rs", 1),
        ];
        for (path, expected) in rows {
            let sources = [source("crates/a/src/b.rs", &parent.text), source(path, &function_of(9))];
            assert_eq!(check(&sources).offences.len(), expected, "{path}");
        }
    }

    #[test]
    fn files_are_counted_without_their_test_modules() {
        let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "// x\n".repeat(100));
        assert_eq!(offences("a.rs", &("// x\n".repeat(600) + &tests)), [""; 0]);
        assert_eq!(offences("a.rs", &"// x\n".repeat(601)), ["a.rs: 601 lines without tests, over 600"]);
    }

    #[test]
    fn more_than_six_parameters_are_named() {
        let six = "a: u8, b: u8, c: u8, d: u8, e: u8, f: u8";
        assert_eq!(offences("a.rs", &format!("impl A {{ fn f(&self, {six}) {{}} }}")), [""; 0]);
        let seven = format!("fn f({six}, g: u8) {{}}");
        assert_eq!(offences("a.rs", &seven), ["a.rs:1: `f` takes 7 parameters, over 6"]);
    }
}

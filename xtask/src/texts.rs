//! `cargo xtask texts`: every message that people read, as one list.

use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use policy::Code;
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::source::{Source, is_test_only};
use crate::workspace::Workspace;

/// Types whose constructors take a message.
const MESSAGES: &[&str] = &["Failure", "Problem", "Reason", "ToolError", "Remark", "Refused", "Unfit"];

/// Methods that add a text to a message.
const ADDITIONS: &[&str] = &["hint", "remedy", "note", "because", "at", "warning"];

/// Prints the texts: those in the source with their places, then help, then titles of codes.
pub(crate) fn print(root: &Path, out: &mut dyn Write) -> io::Result<()> {
    let workspace = Workspace::load(root)?;
    let shipped =
        workspace.sources.iter().filter(|source| !source.is_test_target() && source.package != "xtask");
    for text in shipped.flat_map(in_source) {
        writeln!(out, "{text}")?;
    }
    let mut command = cli::command();
    command.build();
    help(&command).iter().try_for_each(|text| writeln!(out, "{text}"))?;
    Code::ALL.iter().try_for_each(|code| writeln!(out, "code {code}: {}", code.title()))
}

fn in_source(source: &Source) -> Vec<String> {
    let mut texts = Texts { source, found: Vec::new() };
    texts.visit_file(&source.file);
    texts.found
}

/// Help of a command, its options and its subcommands.
fn help(command: &Command) -> Vec<String> {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned();
    let about = command.get_about().map(|about| format!("help {name}: {about}"));
    let options = command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(|arg| {
        let help = arg.get_long_help().or(arg.get_help())?;
        Some(format!("help {name} {}: {help}", arg.get_id()))
    });
    let own: Vec<String> = about.into_iter().chain(options).collect();
    own.into_iter().chain(command.get_subcommands().flat_map(help)).collect()
}

struct Texts<'a> {
    source: &'a Source,
    found: Vec<String>,
}

impl Texts<'_> {
    fn add(&mut self, kind: &str, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add(kind, group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                        let line = literal.span().start().line;
                        self.found.push(format!("{}:{line}: {kind}: {}", self.source.path, text.value()));
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Texts<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test_only(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let (true, Ok(list)) = (attribute.path().is_ident("error"), attribute.meta.require_list()) {
            self.add("error", list.tokens.clone());
        }
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func {
            let names: Vec<String> = path.path.segments.iter().map(|name| name.ident.to_string()).collect();
            if let [.., owner, _] = names.as_slice()
                && MESSAGES.contains(&owner.as_str())
            {
                self.add("message", quote::ToTokens::to_token_stream(&call.args));
            }
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if ADDITIONS.contains(&call.method.to_string().as_str()) {
            self.add(&call.method.to_string(), quote::ToTokens::to_token_stream(&call.args));
        }
        visit::visit_expr_method_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_hints_and_errors_are_found() {
        let text = r#"
            #[error("cannot open {0}")]
            struct Broken;
            fn f() { Failure::new(format!("no {x}")).hint("try y"); other("not this") }
            #[cfg(test)]
            mod tests { fn g() { Failure::new("nor this"); } }
        "#;
        let source = Source::parse("a", "a.rs", text.into()).unwrap();
        assert_eq!(
            in_source(&source),
            ["a.rs:2: error: cannot open {0}", "a.rs:4: hint: try y", "a.rs:4: message: no {x}"]
        );
    }

    #[test]
    fn help_of_all_levels_is_found() {
        let command = Command::new("a").about("top").subcommand(
            Command::new("b").about("below").arg(clap::Arg::new("c").long("c").help("an option")),
        );
        assert_eq!(help(&command), ["help a: top", "help b: below", "help b c: an option"]);
    }
}

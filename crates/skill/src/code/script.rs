//! Python, JavaScript and PowerShell read as far as it takes: calls and their texts.
//!
//! Nothing here is a parser of any of the languages. A text becomes tokens; brackets find each other; names in front of brackets
//! are calls, names in front of `=` are given something. Constants are put together where it is obvious what they are. Reading
//! never fails and is linear in the text.

mod call;
mod fold;
mod import;
mod pack;
mod statement;
mod token;

use std::collections::HashMap;
use std::ops::Range;

use crate::text::language::Language;
pub(crate) use fold::HOLE;
use token::Token;
pub(crate) use token::TokenKind;

/// Maximum number of tokens of a text that are looked at. What lies behind them is reported as such.
const MAX_TOKENS: usize = 400_000;

/// Maximum number of tokens of a statement that are followed to its end; what stands in brackets counts once.
const MAX_STATEMENT: usize = 1024;

/// A range of tokens.
pub(crate) type Tokens = Range<usize>;

/// Parsed text of a program.
#[derive(Debug, Default)]
pub(crate) struct Script<'a> {
    pub(crate) text: &'a str,
    pub(crate) language: Option<Language>,
    tokens: Vec<Token>,
    /// For each bracket, the token of the other one; the number of tokens where there is none.
    mates: Vec<u32>,
    /// Everything that is called, in the order of the text.
    pub(crate) calls: Vec<Call>,
    /// Everything that is given a value, in the order of the text.
    pub(crate) assigns: Vec<Assign>,
    /// The functions that it declares.
    pub(crate) functions: Vec<Function>,
    /// Meaning of names: modules, their members, other names.
    aliases: HashMap<String, String>,
    /// Names with a constant value.
    constants: HashMap<String, String>,
    /// The archives that it fills.
    pub(crate) packs: Vec<pack::Pack>,
    /// Names of lists of constants.
    lists: HashMap<String, Vec<String>>,
    /// True if the text has more tokens than are looked at.
    pub(crate) is_cut: bool,
}

/// Something that is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// Its name with dots, imports resolved: `requests.post`.
    pub(crate) name: String,
    /// Its arguments.
    pub(crate) args: Vec<Arg>,
    /// From the first token of the name to the closing bracket.
    pub(crate) tokens: Tokens,
    /// The first token inside the brackets.
    pub(crate) inside: usize,
}

/// One thing that a call is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arg {
    /// Its name, where it is given by name.
    pub(crate) key: Option<String>,
    /// Its value.
    pub(crate) tokens: Tokens,
}

/// A name that is given a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assign {
    /// The name, with dots.
    pub(crate) name: String,
    /// The value.
    pub(crate) tokens: Tokens,
}

/// A function that is declared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// The names of what it is given.
    pub(crate) params: Vec<String>,
    /// Position of its declaration.
    pub(crate) at: usize,
}

/// Reads a text.
pub(crate) fn read(text: &str, language: Language) -> Script<'_> {
    let mut tokens = token::tokens(text, language);
    let is_cut = tokens.len() > MAX_TOKENS;
    tokens.truncate(MAX_TOKENS);
    let mates = token::mates(&tokens);
    let mut script = Script { text, language: Some(language), tokens, mates, is_cut, ..Script::default() };
    script.find_imports();
    script.find_statements();
    script.find_calls();
    script.find_packs();
    script
}

impl<'a> Script<'a> {
    /// The text of a range of tokens, with what stands between them.
    pub(crate) fn source(&self, tokens: &Tokens) -> &'a str {
        self.text.get(self.range(tokens)).unwrap_or_default()
    }

    /// Returns the range of some tokens in the text.
    pub(crate) fn range(&self, tokens: &Tokens) -> Range<usize> {
        let last = tokens.end.min(self.tokens.len()).saturating_sub(1);
        let (Some(first), Some(last)) = (self.tokens.get(tokens.start), self.tokens.get(last)) else {
            return self.text.len()..self.text.len();
        };
        first.start as usize..(last.end as usize).max(first.start as usize)
    }

    /// Returns the number of tokens.
    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    pub(crate) fn kind(&self, at: usize) -> TokenKind {
        self.tokens.get(at).map_or(TokenKind::Line, |token| token.kind)
    }

    /// The text of one token.
    pub(crate) fn token(&self, at: usize) -> &'a str {
        let range = self.tokens.get(at).map(|token| token.start as usize..token.end as usize);
        range.and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    fn is_symbol(&self, at: usize, symbol: u8) -> bool {
        self.kind(at) == TokenKind::Symbol(symbol)
    }

    fn is_name(&self, at: usize) -> bool {
        self.kind(at) == TokenKind::Name
    }

    /// The other bracket; the number of tokens where there is none.
    fn mate(&self, at: usize) -> usize {
        self.mates.get(at).map_or(self.tokens.len(), |mate| *mate as usize)
    }

    /// Resolves a dotted name, as far as imports and plain assignments say.
    pub(crate) fn resolved(&self, name: &str) -> String {
        let mut name = name.to_owned();
        for _ in 0..4 {
            let (head, rest) = match name.find('.') {
                Some(dot) => name.split_at(dot),
                None => (name.as_str(), ""),
            };
            match self.aliases.get(&name) {
                Some(target) if *target != name => name.clone_from(target),
                _ => match self.aliases.get(head) {
                    Some(target) if target != head => name = format!("{target}{rest}"),
                    _ => break,
                },
            }
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn calls(text: &str, language: Language) -> Vec<(String, Vec<String>)> {
        let script = read(text, language);
        let shown = |call: &Call| {
            let args = call.args.iter().map(|arg| script.value(arg).text).collect();
            (call.name.clone(), args)
        };
        script.calls.iter().map(shown).collect()
    }

    #[test]
    fn calls_have_their_names_and_texts() {
        use Language::{JavaScript, PowerShell, Python};
        let rows: &[(Language, &str, &str, &[&str])] = &[
            (
                Python,
                "import requests as r\nr.post('http://a', x)",
                "requests.post",
                &["http://a", "\u{fffd}"],
            ),
            (Python, "from os import system as s\ns('id')", "os.system", &["id"]),
            (Python, "__import__('os').system('i' + 'd')", "os.system", &["id"]),
            (Python, "u = 'http://'\nu += 'a'\nf(u)", "f", &["http://a"]),
            (Python, "f(f'x{a}y')", "f", &["x\u{fffd}y"]),
            (Python, "f(''.join(['a', 'b']))", "f", &["ab"]),
            (Python, "f(chr(0x69) + chr(100))", "f", &["id"]),
            (Python, "f(\"\"\"a\nb\"\"\") # g(1)", "f", &["a\nb"]),
            (Python, "f(r'\\x41' '\\x41')", "f", &["\\x41A"]),
            (Python, "f(base64.b64decode('aWQ=').decode())", "f", &["id"]),
            (Python, "f(Path.home() / '.ssh' / 'id_rsa')", "f", &["~/.ssh/id_rsa"]),
            (Python, "f('di'[::-1])", "f", &["id"]),
            (Python, "a = ['i', 'd', 'x']\nf(a[0] + a[1])", "f", &["id"]),
            (Python, "a = ['x', 'i', 'd']\nf(''.join(a[1:]))", "f", &["id"]),
            (Python, "a = [105, 100]\nf(''.join(map(chr, a)))", "f", &["id"]),
            (Python, "f(''.join(chr(c) for c in [105, 100]))", "f", &["id"]),
            (Python, "f(bytes([105, 100]).decode())", "f", &["id"]),
            (Python, "f(codecs.decode('vq', 'rot13'))", "f", &["id"]),
            (Python, "m = __import__('o' + 's')\ngetattr(m, 'sys' + 'tem')('id')", "os.system", &["id"]),
            (Python, "g = getattr(os, 'system')\ng('id')", "os.system", &["id"]),
            (JavaScript, "(0, eval)('id')", "eval", &["id"]),
            (
                JavaScript,
                "const {exec: e} = require('node:child_process');\ne('id')",
                "child_process.exec",
                &["id"],
            ),
            (JavaScript, "import * as c from 'child_process'\nc.exec('id')", "child_process.exec", &["id"]),
            (JavaScript, "window['ev' + 'al']('1')", "window.eval", &["1"]),
            (JavaScript, "f(String.fromCharCode(105, 100))", "f", &["id"]),
            (JavaScript, "f(`a${b}c`) // g()", "f", &["a\u{fffd}c"]),
            (JavaScript, "x = /['\"`]/; f('id')", "f", &["id"]),
            (JavaScript, "f(Buffer.from('6964', 'hex').toString())", "f", &["id"]),
            (PowerShell, "IEX $x", "IEX", &["\u{fffd}"]),
            (PowerShell, "f 1; $w.DownloadString('http://a')", "$w.DownloadString", &["http://a"]),
        ];
        for (language, text, name, args) in rows {
            let calls = calls(text, *language);
            let found =
                calls.iter().any(|(n, a)| n == name && a.iter().map(String::as_str).eq(args.iter().copied()));
            assert!(found, "{text}: {calls:?}");
        }
    }

    #[test]
    fn hostile_texts_are_read_to_their_end() {
        let rows = [
            "f(",
            "f(a,",
            "a=",
            "a[",
            "`${",
            "f'{",
            "return ",
            "for a in ",
            "& a ",
            "a.b",
            "]",
            "}",
            "\"",
            "a = b(c[",
            "getattr(",
            "a = getattr(b, (0, ",
            ")(",
            "a = [1, ",
        ];
        for language in [Language::Python, Language::JavaScript, Language::PowerShell, Language::Code] {
            for row in rows {
                let text = row.repeat(40_000 / row.len());
                // A reader that looks at the rest again for each token would never come back.
                read(&text, language);
            }
        }
    }

    proptest! {
        #[test]
        fn reading_never_fails(text in "[a-z'\"`(){}\\[\\]=+.,:;$#/\\\\ \n]{0,200}") {
            for language in [Language::Python, Language::JavaScript, Language::PowerShell, Language::Code] {
                let script = read(&text, language);
                for call in &script.calls {
                    let range = script.range(&call.tokens);
                    prop_assert!(text.get(range).is_some());
                }
            }
        }
    }
}

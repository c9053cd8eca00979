//! Interpreters of other languages: code in a word, from standard input, or a file.
//!
//! Code is silent unless it can start programs or evaluate text. Names are looked for everywhere, also in strings and
//! comments, because most of these languages cannot be cut into strings and code without running them.

use policy::Word;

use super::languages::NODE;
use super::options::{Item, Options};
use super::programs::effect;
use super::scan::{behind, call, is_name, names};
use super::words::{from, is_stdin, with_text};
use super::{Launch, Start, python};

/// A language, and the options of its interpreter.
#[derive(Clone, Copy)]
pub(super) struct Language {
    pub(super) name: &'static str,
    pub(super) spec: &'static str,
    /// Options whose value is code.
    pub(super) code: &'static [&'static str],
    /// Options whose value is code, or can hold some, and that do not take the place of a program.
    pub(super) before: &'static [&'static str],
    /// An option that makes the first operand code.
    pub(super) printed: &'static str,
    /// Names that start programs or evaluate text.
    pub(super) names: &'static [&'static str],
    /// Marks that do.
    pub(super) marks: &'static [&'static str],
    /// Names whose argument is shell code or a list of words.
    pub(super) calls: &'static [&'static str],
    /// Peculiarities.
    pub(super) habits: &'static [Habit],
}

/// Peculiarity of a language.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Habit {
    /// Backticks hold shell code, and `open` can start a program.
    Backticks,
    /// `$name(` calls what the variable names.
    VariablesCall,
    /// `require(…)` needs a plain name.
    Requires,
    /// Any code counts.
    Always,
    /// Without code it does not read standard input.
    Deaf,
}

impl Language {
    fn has(&self, habit: Habit) -> bool {
        self.habits.contains(&habit)
    }

    /// A language in which nothing is suspicious yet.
    pub(super) const fn new(name: &'static str) -> Self {
        Self {
            name,
            spec: "",
            code: &[],
            before: &[],
            printed: "",
            names: &[],
            marks: &[],
            calls: &[],
            habits: &[],
        }
    }

    /// Looks at the words of the interpreter.
    pub(super) fn inspect(&self, words: &[Word], launch: &mut Launch) {
        let mut read = Read::default();
        for item in Options::new(words, self.spec) {
            if !self.item(item, words, &mut read, launch) {
                return;
            }
            // Behind an option that is not known, an operand may be its value.
            if read.file.is_some() && !std::mem::take(&mut read.strange) {
                break;
            }
        }
        if !read.code && !self.has(Habit::Deaf) && read.file.is_none_or(is_stdin_word) {
            launch.starts.push(Start::ForeignStdin);
        }
    }

    /// Takes one option or operand; `false` when the program only says something about itself.
    fn item<'a>(&self, item: Item, words: &'a [Word], read: &mut Read<'a>, launch: &mut Launch) -> bool {
        match item {
            Item::Found(found) => {
                let (is_code, before) = (self.code.contains(&found.name), self.before.contains(&found.name));
                if let Some(code) = found.value.as_ref().filter(|_| is_code || before) {
                    read.code |= is_code;
                    self.judge(code, launch);
                }
                read.printed |= found.name == self.printed;
                effect(&found, launch);
                return found.effect != Some('.') || read.code;
            }
            Item::Strange(_) => read.strange = true,
            Item::Operand(at) => self.operand(at, words, read, launch),
        }
        true
    }

    fn operand<'a>(&self, at: usize, words: &'a [Word], read: &mut Read<'a>, launch: &mut Launch) {
        let Some(word) = words.get(at) else { return };
        if read.printed && !read.code {
            read.code = true;
            self.judge(word, launch);
        }
        read.file = read.file.or(Some(word));
    }

    /// Judges code in this language.
    pub(super) fn judge(&self, code: &Word, launch: &mut Launch) {
        if !code.is_literal() {
            return launch.unprovable(code, format!("the {} code is not known before it runs", self.name));
        }
        if self.has(Habit::Always) || self.runs(&code.text) {
            launch.own_code(code, self.name);
            self.calls(code, launch);
            if self.has(Habit::Backticks) {
                backticks(code, launch);
            }
        }
    }

    fn runs(&self, text: &str) -> bool {
        names(text).any(|(at, name)| self.names.contains(&name) && !self.harmless(text, at, name))
            || self.marks.iter().any(|mark| text.contains(mark))
            || (self.has(Habit::VariablesCall) && calls_variable(text))
            || (self.has(Habit::Requires) && requires_anything(text))
            || (self.has(Habit::Backticks) && (opens_anything(text) || pipes(text)))
    }

    /// Uses of such names that are common.
    fn harmless(&self, text: &str, at: usize, name: &str) -> bool {
        let next = behind(text, at + name.len());
        let before = text.get(..at).unwrap_or_default();
        match (self.name, name) {
            ("Perl", "do") => next.starts_with('{'),
            ("Perl", "require") => next.starts_with(|char: char| char.is_ascii_alphabetic()),
            ("R", "do" | "dyn" | "sys" | "match") => !next.starts_with('.') || next.starts_with(".arg"),
            ("R", "get") => !next.starts_with('('),
            ("JavaScript", "constructor" | "Command" | "fork" | "spawn") => {
                next.starts_with(':') || next.starts_with('=')
            }
            ("Ruby", "method" | "load" | "shell") => {
                next.starts_with(['=', ':']) || before.ends_with("YAML.")
            }
            ("AppleScript", "system") => next.starts_with("events"),
            _ => before.ends_with('$') && self.name != "Ruby",
        }
    }

    fn calls(&self, code: &Word, launch: &mut Launch) {
        for (at, name) in names(&code.text) {
            if !self.calls.contains(&name) {
                continue;
            }
            if let Some(call) = code.text.get(at + name.len()..).and_then(call) {
                call.start(code, launch);
            }
        }
    }
}

/// State of reading the words.
#[derive(Default)]
struct Read<'a> {
    code: bool,
    printed: bool,
    strange: bool,
    file: Option<&'a Word>,
}

fn is_stdin_word(word: &Word) -> bool {
    is_stdin(&word.text)
}

/// Text between backticks, and behind `qx` and `%x`.
fn backticks(code: &Word, launch: &mut Launch) {
    let quoted = code.text.split('`').skip(1).step_by(2);
    let quoted: Vec<_> =
        quoted.chain(delimited(&code.text, "qx")).chain(delimited(&code.text, "%x")).collect();
    for text in quoted {
        launch.code(if text.contains(['$', '#', '@']) {
            super::words::unknown(code, text)
        } else {
            with_text(code, text)
        });
    }
}

fn delimited<'a>(text: &'a str, opening: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(opening)?;
    let rest = rest.trim_start();
    let mark = rest.chars().next().filter(|mark| !is_name(*mark))?;
    let end = match mark {
        '(' => ')',
        '{' => '}',
        '[' => ']',
        '<' => '>',
        other => other,
    };
    rest.get(mark.len_utf8()..)?.split(end).next()
}

/// `$name(` in PHP.
fn calls_variable(text: &str) -> bool {
    text.split('$').skip(1).any(|piece| {
        let behind = piece.trim_start_matches(is_name);
        behind.len() < piece.len() && behind.trim_start().starts_with('(')
    })
}

/// `require` and `import` of something that is not a plain name.
fn requires_anything(text: &str) -> bool {
    names(text).filter(|(_, name)| matches!(*name, "require" | "import")).any(|(at, name)| {
        let Some(argument) = behind(text, at + name.len()).strip_prefix('(') else {
            return name == "require";
        };
        let argument = argument.trim_start();
        let Some(quote) = argument.chars().next().filter(|quote| matches!(quote, '\'' | '"' | '`')) else {
            return true;
        };
        let Some((plain, next)) = argument.get(1..).and_then(|inner| inner.split_once(quote)) else {
            return true;
        };
        plain.contains(['\\', '$']) || !next.trim_start().starts_with(')')
    })
}

/// A string that begins with a pipe, and is not just one: Ruby reads it as a program.
fn pipes(text: &str) -> bool {
    ["\"|", "'|"].iter().any(|opening| {
        text.split(opening)
            .skip(1)
            .any(|behind| behind.trim_start().starts_with(|next: char| is_name(next) || next == '/'))
    })
}

/// `open` without a plain mode, in Perl: its file could be a program.
fn opens_anything(text: &str) -> bool {
    names(text)
        .filter(|(at, name)| *name == "open" && !text.get(..*at).is_some_and(|before| before.ends_with('.')))
        .any(|(at, _)| {
            // Far behind is too far: the search must not grow with the text.
            let near = text.get(at..).unwrap_or_default().chars().take(256).collect::<String>();
            let statement = near.split(';').next().unwrap_or_default();
            statement.contains('|')
                || !["'<", "\"<", "'>", "\">", "'+<", "\"+<"].iter().any(|mode| statement.contains(mode))
        })
}

/// Python, which is read more closely.
pub(super) fn python(words: &[Word], launch: &mut Launch) {
    const PYTHON: &str = "-c: -m: -b -B -d -E -h. -i -I -O -P -q -s -S -u -v -V|--version. -W: -x -X: --help. \
        --check-hash-based-pycs: --help-all. --help-env. --help-xoptions. -t -3 -R";
    let mut options = Options::new(words, PYTHON);
    while let Some(item) = options.next() {
        match item {
            Item::Found(found) if found.effect == Some('.') => return,
            Item::Found(found) => match (found.name, &found.value) {
                ("-c", Some(code)) => return python::judge(code, launch),
                ("-m", Some(module)) => {
                    return python_module(&module.text, from(words, options.position()), launch);
                }
                _ => {}
            },
            Item::Strange(at) => super::prefix::strange(words, at, launch),
            Item::Operand(at) if words.get(at).is_some_and(is_stdin_word) => break,
            Item::Operand(_) => return,
        }
    }
    launch.starts.push(Start::ForeignStdin);
}

/// `-m timeit` runs its words.
fn python_module(module: &str, words: &[Word], launch: &mut Launch) {
    if module == "timeit" {
        for word in words {
            python::judge(word, launch);
        }
    }
}

/// Perl opens the files it is given so that a pipe in a name starts a program.
pub(super) fn perl(words: &[Word], launch: &mut Launch) {
    super::languages::PERL.inspect(words, launch);
    for word in words
        .iter()
        .skip(1)
        .filter(|word| !word.text.starts_with('-') && !word.text.contains([';', '(', '{']))
    {
        let text = word.text.trim();
        let piped = text.strip_suffix('|').or_else(|| text.strip_prefix('|')).filter(|code| !code.is_empty());
        if let Some(code) = piped {
            launch.own_code(word, "Perl");
            launch.code(with_text(word, code));
        }
    }
}

/// `deno eval CODE`, `deno run -`.
pub(super) fn deno(words: &[Word], launch: &mut Launch) {
    let operand =
        |from: usize| words.iter().skip(from).find(|word| !word.text.starts_with('-') || word.text == "-");
    match words.get(1).map(|word| word.text.as_str()) {
        None | Some("repl" | "-") => launch.starts.push(Start::ForeignStdin),
        Some("eval") => words
            .iter()
            .skip(2)
            .filter(|word| !word.text.starts_with('-'))
            .for_each(|code| NODE.judge(code, launch)),
        Some("run" | "test") if operand(2).is_some_and(is_stdin_word) => {
            launch.starts.push(Start::ForeignStdin);
        }
        _ => {}
    }
}

/// `bun -e CODE`, `bun run -`.
pub(super) fn bun(words: &[Word], launch: &mut Launch) {
    super::languages::BUN.inspect(words, launch);
    let is = |at: usize, text: &str| words.get(at).is_some_and(|word| word.text == text);
    if is(1, "-") || (is(1, "run") && is(2, "-")) {
        launch.starts.push(Start::ForeignStdin);
    }
    if is(1, "exec") {
        launch.joined(from(words, 2));
    }
}

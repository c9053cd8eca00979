//! Builtins that change what is known, or that read a word as code.

use std::sync::Arc;

use policy::{Assignment, Certainty, Code, Span, Word};

use super::Reader;
use super::command::{CommandParts, declares_integer};
use super::feed::Feed;
use super::start::{fed, is_descriptor};
use super::state::{Alias, MAX_NAMES, Value};
use crate::Dialect;

/// The longest directory that is followed. Every program remembers its own.
const LONGEST_PATH: usize = 1024;

impl Reader<'_> {
    /// Applies the effect of a builtin of this name to the state. Other programs have none.
    pub(super) fn builtin(&mut self, words: &[Word], beside: &CommandParts) {
        let Some((first, rest)) = words.split_first() else { return };
        if !first.is_literal() {
            return;
        }
        match first.text.as_str() {
            "cd" | "chdir" | "pushd" => self.change_directory(operand(rest)),
            "popd" => self.state_mut().cwd = None,
            "eval" => self.eval(rest, beside.span),
            "trap" => self.trap(rest),
            "." | "source" => self.source(rest, beside),
            "alias" => self.define_aliases(rest),
            "declare" | "typeset" | "local" | "export" | "readonly" | "integer" | "float" => {
                self.declare(words);
            }
            "read" | "mapfile" | "readarray" | "getopts" | "unset" | "unfunction" | "vared" => {
                self.forget(words);
            }
            "printf" | "print" => {
                self.printf(rest);
                self.printed_numbers(rest);
            }
            "return" | "exit" | "logout" | "bye" | "break" | "continue" => self.zsh_numbers(rest),
            "let" => rest.iter().for_each(|word| self.arith_word(word)),
            "test" | "[" => self.test_builtin(rest),
            "shift" => {
                self.zsh_numbers(rest);
                self.state_mut().arguments = None;
            }
            "set" => self.state_mut().arguments = None,
            "fc" | "history" => self.history(rest, beside.span),
            "hash" | "enable" | "bind" | "complete" | "compgen" | "zle" | "zpty" | "sched"
            | "add-zsh-hook" | "zstyle" => {
                self.registers(words, beside.span);
            }
            "emulate" => self.emulate(rest),
            "setopt" | "unsetopt" if self.dialect == Dialect::Zsh => self.options(rest, beside.span),
            "wait" => rest.iter().for_each(|word| self.named_operand(word, word.span)),
            _ => {}
        }
    }

    /// The directory after `cd`.
    pub(super) fn change_directory(&mut self, to: Option<&Word>) {
        let home = self.home();
        let target = match to {
            None => home,
            Some(word) if word.is_literal() && word.text != "-" => Some(word.text.clone()),
            Some(_) => None,
        };
        let here = self.state_mut().cwd.take();
        let there = match (target, here) {
            (Some(target), _) if target.starts_with('/') => Some(target),
            (Some(target), Some(here)) => Some(format!("{here}/{target}")),
            _ => None,
        };
        // With `CDPATH` a name may lead anywhere.
        let elsewhere = self.state.variable("CDPATH").is_some();
        let there = there.filter(|path| !elsewhere && self.maybe == 0 && path.len() <= LONGEST_PATH);
        self.state_mut().cwd = there.map(|path| {
            let path = policy::lexical(std::path::Path::new(&path));
            Arc::from(path.to_string_lossy())
        });
    }

    fn eval(&mut self, words: &[Word], span: Span) {
        let words = if words.first().is_some_and(|word| word.text == "--") {
            words.get(1..).unwrap_or_default()
        } else {
            words
        };
        self.note(Code::Evaluation, span, "`eval` reads its words as commands");
        if words.iter().any(|word| !word.is_literal()) {
            self.unprovable(span, "`eval` reads values of run time as commands");
        }
        let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let place = match words {
            [only] => only.span,
            _ => span,
        };
        self.code(&text, &[self.dialect], place);
    }

    fn trap(&mut self, words: &[Word]) {
        let mut words = words.iter().skip_while(|word| word.text == "--");
        let Some(code) = words.next() else { return };
        if !code.is_literal() {
            return self.unprovable(code.span, "`trap` keeps a value of run time as commands");
        }
        if matches!(&*code.text, "-" | "" | "-p" | "-l" | "-P") {
            return;
        }
        if words.next().is_none() || code.text.bytes().all(|byte| byte.is_ascii_digit()) {
            return;
        }
        self.in_uncertain_branch(|it| it.code(&code.text, &[it.dialect], code.span));
        // It may run between any two commands from now on.
        self.state_mut().haunt();
    }

    fn source(&mut self, words: &[Word], beside: &CommandParts) {
        let Some(file) = operand(words) else { return };
        if file.text == "/dev/null" {
            return;
        }
        if is_descriptor(&file.text) {
            let number_zero = matches!(&*file.text, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0");
            let feed =
                if number_zero { self.feed.with(&beside.redirects) } else { fed(file, &beside.redirects) };
            self.code_from_stdin(&feed, self.dialect, file.span);
            return self.state_mut().lose();
        }
        if !file.is_literal() {
            self.code_from_stdin(&Feed::Unknown, self.dialect, file.span);
        }
        self.script(file, self.dialect);
        self.state_mut().lose();
    }

    fn define_aliases(&mut self, words: &[Word]) {
        let global = words.iter().any(|word| matches!(&*word.text, "-g" | "-s" | "-gr"));
        for word in words {
            let Some((name, text)) = word.text.split_once('=') else { continue };
            if !word.is_literal() {
                self.unprovable(word.span, "an alias is given a value of run time");
            }
            if self.state.aliases.len() >= MAX_NAMES {
                return self.note(Code::TooComplex, word.span, "more aliases than are remembered");
            }
            self.state_mut().aliases.insert(name.to_owned(), Alias { text: text.to_owned(), global });
        }
    }

    fn declare(&mut self, words: &[Word]) {
        let has = |letter: char| {
            words.iter().skip(1).any(|word| word.text.starts_with('-') && word.text.contains(letter))
        };
        let evaluates = declares_integer(words);
        for word in words.iter().skip(1).filter(|word| !word.text.starts_with(['-', '+'])) {
            self.named_operand(word, word.span);
            if evaluates {
                self.state_mut().make_integer(word.text.split(['=', '+', '[']).next().unwrap_or_default());
            }
            let twisted = words.iter().skip(1).any(|word| changes_values(&word.text));
            let fixed = has('r') || words.first().is_some_and(|word| word.text == "readonly");
            let own_name = word.text.split(['=', '+', '[']).next().unwrap_or_default();
            self.state_mut().declare_table(own_name, has('A'));
            if twisted {
                self.state_mut().twist(own_name);
            }
            let Some((name, text)) = word.text.split_once('=') else { continue };
            // A name for another variable holds what that one holds when it is used.
            let guess = has('n') || name.ends_with('+');
            let certainty = if guess { Certainty::Unknown } else { word.certainty };
            let value = Word { text: text.to_owned(), certainty, span: word.span };
            if has('n') && !word.is_literal() {
                self.unprovable(word.span, "which variable this names is known only at run time");
            }
            self.integer_value(own_name, &value);
            self.keep(&Assignment { name: name.trim_end_matches('+').to_owned(), value });
            if fixed {
                self.state_mut().twist(own_name);
            }
        }
    }

    /// Variables that get a value of run time.
    fn forget(&mut self, words: &[Word]) {
        let mut option = false;
        for word in words.iter().skip(1) {
            // Behind an option stands its value.
            if std::mem::replace(&mut option, word.text.starts_with('-') && !word.text.ends_with('r')) {
                self.named_operand(word, word.span);
            } else {
                self.named_variable(word, word.span);
            }
            if word.text.starts_with('-')
                && word.text.contains('C')
                && words.first().is_some_and(|word| word.text != "read")
            {
                self.registers(words, word.span);
            }
            let name = word.text.split('[').next().unwrap_or_default();
            self.fill(words, name, word.span);
            if !name.starts_with('-') {
                self.set_surely(name, Value::unknown());
                self.state_mut().undefine(name);
                self.state_mut().declare_table(name, false);
            }
        }
        if words.len() == 1 {
            self.set_surely("REPLY", Value::unknown());
        }
    }

    /// `read x` and others fill a variable; its name may stand right behind the letter of an option.
    fn fill(&mut self, words: &[Word], name: &str, span: Span) {
        let fills = words.first().is_some_and(|word| {
            matches!(&*word.text, "read" | "mapfile" | "readarray" | "vared" | "getopts" | "printf" | "print")
        });
        if fills {
            let attached =
                name.strip_prefix('-').map_or(name, |letters| letters.get(1..).unwrap_or_default());
            self.integer_unknown(attached, span);
        }
    }

    fn printf(&mut self, words: &[Word]) {
        let Some(at) = words.iter().position(|word| word.text.starts_with("-v")) else { return };
        let attached = words.get(at).and_then(|word| {
            let text = word.text.get(2..).filter(|name| !name.is_empty())?;
            Some(Word { text: text.to_owned(), ..word.clone() })
        });
        let Some(name) = attached.or_else(|| words.get(at + 1).cloned()) else { return };
        self.named_variable(&name, name.span);
        let plain = name.text.split('[').next().unwrap_or_default();
        self.integer_unknown(plain, name.span);
        self.set_surely(plain, Value::unknown());
    }

    /// zsh evaluates what `printf` prints as a number.
    fn printed_numbers(&mut self, words: &[Word]) {
        let format = words.iter().position(|word| word.text.contains('%') || !word.is_literal());
        let Some(at) = format.filter(|_| self.dialect == Dialect::Zsh) else { return };
        let numbers = words.get(at).is_some_and(|word| !word.is_literal() || prints_numbers(&word.text));
        if numbers {
            self.zsh_numbers(words.get(at + 1..).unwrap_or_default());
        }
    }

    /// zsh evaluates the words of some builtins.
    fn zsh_numbers(&mut self, words: &[Word]) {
        if self.dialect == Dialect::Zsh {
            for word in words {
                self.arith_operand(word);
            }
        }
    }

    fn test_builtin(&mut self, words: &[Word]) {
        for pair in words.windows(2) {
            if let [option, operand] = pair
                && matches!(&*option.text, "-v" | "-R")
            {
                self.named_variable(operand, operand.span);
            }
        }
    }

    fn history(&mut self, words: &[Word], span: Span) {
        let lists = words
            .iter()
            .any(|word| word.text.starts_with("-l") || word.text.bytes().all(|b| b.is_ascii_digit()));
        let runs = words.iter().any(|word| word.text.starts_with('-') && word.text.contains(['s', 'e', 'p']));
        if runs || (words.is_empty() && !lists) {
            self.unprovable(span, "what the history holds runs as commands");
        }
    }

    /// Builtins that keep something to be run later, under another name.
    fn registers(&mut self, words: &[Word], span: Span) {
        let option =
            |word: &&Word| word.text.starts_with('-') && word.text.contains(['p', 'f', 'C', 'x', 'W', 'F']);
        let name = words.first().map(|word| word.text.as_str()).unwrap_or_default();
        if words.iter().skip(1).any(|word| option(&word))
            || matches!(name, "zpty" | "sched" | "zle" | "add-zsh-hook")
        {
            self.unprovable(span, format!("`{name}` keeps something to be run later"));
        }
    }

    /// zsh reads what follows by other rules.
    fn options(&mut self, words: &[Word], span: Span) {
        let harmless =
            ["errexit", "nounset", "pipefail", "xtrace", "verbose", "nullglob", "noclobber", "errreturn"];
        let plain = |word: &Word| word.text.to_lowercase().replace('_', "");
        if !words.iter().all(|word| harmless.contains(&&*plain(word))) {
            self.note(Code::ZshForm, span, "an option changes how zsh reads what follows");
        }
    }

    fn emulate(&mut self, words: &[Word]) {
        let Some(at) = words.iter().position(|word| word.text == "-c") else { return };
        if let Some(code) = words.get(at + 1) {
            self.note(Code::Evaluation, code.span, "`emulate -c` reads its word as commands");
            if !code.is_literal() {
                self.unprovable(code.span, "`emulate -c` reads a value of run time as commands");
            }
            self.code(&code.text, &[self.dialect], code.span);
        }
    }
}

/// Returns true if a format prints one of its words as a number.
fn prints_numbers(format: &str) -> bool {
    format.split('%').skip(1).any(|piece| {
        let conversion = piece.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #0.'$".contains(c));
        conversion.starts_with(['d', 'i', 'o', 'u', 'x', 'X', 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A', '*'])
    })
}

/// Returns true if options of a declaration make the shell change what is assigned: case, width, lists.
fn changes_values(option: &str) -> bool {
    option.strip_prefix(['-', '+']).is_some_and(|letters| {
        letters.contains(['l', 'u', 'c', 'n', 'a', 'A', 'L', 'R', 'Z', 'U', 'T', 'E', 'F'])
    })
}

/// The first word that is no option.
fn operand(words: &[Word]) -> Option<&Word> {
    let mut rest = words.iter();
    loop {
        let word = rest.next()?;
        match word.text.as_str() {
            "--" => return rest.next(),
            text if text.len() > 1 && text.starts_with('-') && word.certainty != Certainty::Unknown => {}
            _ => return Some(word),
        }
    }
}

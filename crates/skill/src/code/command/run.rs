//! Classes of programs, and the code that they run.

use policy::{Direction, ProgramClass};

use super::Step;

/// Returns true if a program reads commands of a shell.
pub(crate) fn is_shell(name: &str) -> bool {
    ProgramClass::Shell.has(name)
}

/// Returns true if a program runs code in another language.
pub(crate) fn is_interpreter(name: &str) -> bool {
    ProgramClass::Interpreter.has(name)
}

/// Returns true if a program transforms its input, so that the result cannot be read in the text.
pub(crate) fn is_decoder(step: Step<'_>) -> bool {
    let decodes = |step: Step<'_>| {
        step.has_short('d') || step.has_short('D') || step.words().iter().any(|word| word.text == "--decode")
    };
    match step.name().as_str() {
        "base64" | "base32" | "gbase64" | "basenc" => decodes(step),
        "xxd" => step.has_short('r'),
        "openssl" => step.has("-d") && (step.has("enc") || step.has("base64") || step.words().len() > 1),
        "uudecode" | "rev" => true,
        _ => false,
    }
}

/// Returns true if a program sends what it is given to another machine.
pub(crate) fn is_sender(name: &str) -> bool {
    ProgramClass::Sends.has(name)
}

impl<'c> Step<'c> {
    /// Returns true if it writes all variables of the environment.
    pub(crate) fn dumps_variables(self) -> bool {
        let words = self.words();
        let only = |allowed: &[&str]| words.iter().all(|word| allowed.contains(&word.text.as_str()));
        match self.name().as_str() {
            "env" | "printenv" => only(&["-0", "--null"]),
            "export" => only(&["-p"]),
            "set" => words.is_empty(),
            "declare" | "typeset" => only(&["-x", "-p", "-px", "-xp"]),
            "compgen" => only(&["-v", "-e"]),
            _ => false,
        }
    }

    /// Returns true if it runs what it reads from its standard input.
    pub(crate) fn runs_stdin(self) -> bool {
        let name = self.name();
        if is_shell(&name) {
            return self.shell_reads_stdin();
        }
        if name == "iex" || name == "invoke-expression" {
            return true;
        }
        if !is_interpreter(&name) {
            return matches!(name.as_str(), "source" | "." if self.has("/dev/stdin"));
        }
        let first = self.words().first().map_or("", |word| word.text.as_str());
        first.is_empty() && self.words().is_empty()
            || first == "-"
            || first == "/dev/stdin"
            || (name == "deno" && self.has("run") && self.has("-"))
    }

    fn shell_reads_stdin(self) -> bool {
        let mut words = self.words().iter().map(|word| word.text.as_str());
        while let Some(word) = words.next() {
            match word {
                "-" | "--" | "/dev/stdin" => return true,
                "-o" | "-O" | "--rcfile" | "--init-file" => {
                    words.next();
                }
                _ if word.starts_with("--") => {}
                _ if word.starts_with(['-', '+']) => {
                    if word.contains('c') {
                        return false;
                    }
                    if word.contains('s') {
                        return true;
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// Returns true if it runs what stands in its words: `sh -c`, `eval`, `python -c`; or a file that another program writes.
    pub(crate) fn runs_words(self) -> bool {
        let name = self.name();
        let fed_file = self.words().iter().any(|word| word.text.starts_with("/dev/fd/"));
        let fed_stdin = self.redirects().iter().any(|redirect| {
            redirect.direction != Direction::Write && redirect.target.text.starts_with("/dev/fd/")
                || redirect.direction == Direction::Text && !redirect.target.is_literal()
        });
        if is_shell(&name) {
            return fed_file || fed_stdin || self.has_short('c');
        }
        match name.as_str() {
            "eval" | "exec" | "" => true,
            "source" | "." => fed_file,
            _ if is_interpreter(&name) => {
                fed_file
                    || fed_stdin
                    || self
                        .words()
                        .iter()
                        .any(|word| matches!(word.text.as_str(), "-c" | "-e" | "-r" | "-E" | "--eval"))
            }
            _ => false,
        }
    }

    /// The file that it runs.
    pub(crate) fn runs_file(self) -> Option<&'c str> {
        let name = self.name();
        let operand = || {
            self.words().iter().find(|word| !word.text.starts_with(['-', '+'])).map(|word| self.named(word))
        };
        let first = self.program.argv.words().first().map_or("", |word| self.named(word));
        if name.is_empty() && first.starts_with('$') && !first.starts_with("$(") {
            return Some(first);
        }
        if self.path().contains('/') && !is_shell(&name) && !is_interpreter(&name) {
            return Some(self.path());
        }
        if is_shell(&name) || is_interpreter(&name) {
            let has_code =
                self.words().iter().any(|word| matches!(word.text.as_str(), "-c" | "-e" | "-m" | "-r"));
            return operand().filter(|_| !has_code).filter(|file| *file != "run");
        }
        match name.as_str() {
            "source" | "." | "open" | "start" | "nohup" | "xdg-open" => operand(),
            "java" => self.value(&["-jar"]).map(|word| word.text.as_str()),
            _ => None,
        }
    }
}

//! From words to programs: builtins act on what is known, wrappers are looked through, the rest is started.

use policy::{Argv, Assignment, Code, Direction, KnownProgram, Program, ProgramClass, Redirect, Span, Word};

use super::command::CommandParts;
use super::feed::{Feed, output};
use super::state::{Value, Written};
use super::{MAX_PROGRAMS, Reader};
use crate::Dialect;
use crate::wrappers::{Launch, Start, inspect};

/// Directories in which every system keeps its programs.
const DIRECTORIES: &[&str] = &["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"];

/// State that a program inherits, and hands on to what it starts.
struct Given {
    feed: Feed,
    redirects: Vec<Redirect>,
    environment: Vec<Assignment>,
}

impl Reader<'_> {
    /// A command that no shell reads first.
    pub(super) fn start_words(&mut self, words: Vec<Word>) {
        let (redirects, assignments, through) = (Vec::new(), Vec::new(), Vec::new());
        let span = Argv::new(words.clone()).map(|argv| argv.span()).unwrap_or_default();
        self.start(words, CommandParts { redirects, assignments, through, span });
    }

    /// Runs a command in the shell: builtins and functions first.
    pub(super) fn run(&mut self, words: Vec<Word>, beside: CommandParts) {
        let Some(first) = words.first() else { return };
        if first.is_literal() && self.state.may_be_function(&first.text) {
            // Settings of its body are made now.
            let moves = self.state.functions_move;
            self.state_mut().doubt();
            if moves {
                self.state_mut().cwd = None;
            }
        }
        if first.is_literal() && self.state.is_function(&first.text) {
            return self.judge_redirects(beside.redirects, beside.span);
        }
        self.run_past_functions(words, beside);
    }

    /// Runs a command as a program that looks for programs does: builtins may be meant, functions are not.
    fn run_past_functions(&mut self, words: Vec<Word>, beside: CommandParts) {
        let before = self.state.cwd.clone();
        self.builtin(&words, &beside);
        if self.state.cwd == before {
            return self.start(words, beside);
        }
        // A program that changes the directory starts in the one before.
        let after = std::mem::replace(&mut self.state_mut().cwd, before);
        self.start(words, beside);
        self.state_mut().cwd = after;
    }

    /// Starts a program, and looks through it.
    fn start(&mut self, mut words: Vec<Word>, beside: CommandParts) {
        if let Some(first) = words.first_mut() {
            self.installed(first);
        }
        let Some(first) = words.first() else { return };
        if !first.is_literal() {
            self.unprovable(first.span, "which program this starts is known only at run time");
        } else if first.text.chars().any(policy::misleads) {
            let what = "the name of the program has characters that mislead";
            self.note(Code::MisleadingCharacter, first.span, what);
        }
        if self.found.programs.len() >= MAX_PROGRAMS {
            let told = self.found.findings.iter().any(|finding| finding.code == Code::TooComplex);
            if !told {
                self.note(Code::TooComplex, beside.span, format!("more than {MAX_PROGRAMS} programs"));
            }
            return;
        }
        let seen = if first.is_literal() { inspect(&words) } else { Launch::default() };
        let feed = self.feed.with(&beside.redirects);
        if seen.starts.contains(&Start::ForeignStdin) {
            self.foreign_code(first, &feed, beside.span);
        }
        for finding in &seen.findings {
            self.add(finding.clone());
        }
        self.piped_script(&words);
        let redirects = beside.redirects.clone();
        let environment = [&*beside.assignments, &*seen.assignments].concat();
        if let Some(beside) = self.emit(words, &seen, beside) {
            let given = Given { feed, redirects, environment };
            self.follow(seen, &given, beside);
        }
    }

    /// A program by a path from a directory with programs is that program: `cd /usr/bin && ./git`.
    /// So is one that zsh is told to find: `=git`.
    fn installed(&self, program: &mut Word) {
        if self.dialect == Dialect::Zsh && program.text.len() > 1 && program.text.starts_with('=') {
            program.text.remove(0);
        }
        if program.text.starts_with('/') || !program.text.contains('/') || self.state.cwd.is_none() {
            return;
        }
        let Some(path) = self.resolved(program) else { return };
        if path.rsplit_once('/').is_some_and(|(directory, _)| DIRECTORIES.contains(&directory)) {
            program.text = path;
        }
    }

    /// Notes the program itself, unless it only starts another; then what is to be said of the other is returned.
    fn emit(&mut self, words: Vec<Word>, seen: &Launch, mut beside: CommandParts) -> Option<CommandParts> {
        let argv = Argv::new(words)?;
        let only_starts = matches!(&*seen.starts, [Start::Program { alone: true, .. }]);
        if only_starts {
            beside.through.push(argv);
            beside.assignments.extend(seen.assignments.iter().cloned());
            return Some(beside);
        }
        let writes = seen.writes.iter().cloned().map(|target| Redirect {
            direction: Direction::Write,
            descriptor: None,
            target,
        });
        beside.redirects.extend(writes);
        let program = Program {
            argv,
            through: std::mem::take(&mut beside.through),
            hazards: seen.hazards.clone(),
            redirects: std::mem::take(&mut beside.redirects),
            assignments: std::mem::take(&mut beside.assignments),
            cwd: self.state.cwd.clone(),
            stage: self.stage,
            piped: self.piped,
            span: beside.span,
        };
        self.judge(&program);
        self.own_file(&program);
        self.remember_written(&program);
        self.found.programs.push(program);
        beside.assignments.extend(seen.assignments.iter().cloned());
        Some(beside)
    }

    /// Follows the programs that a program would start in turn.
    fn follow(&mut self, seen: Launch, given: &Given, mut beside: CommandParts) {
        if seen.starts.is_empty() {
            return;
        }
        if self.texts >= super::MAX_TEXTS {
            return self.note(Code::TooComplex, beside.span, "programs that start programs, too deep");
        }
        self.texts += 1;
        let cwd = self.state.cwd.clone();
        if let Some(directory) = &seen.directory {
            self.change_directory(Some(directory));
        }
        for start in seen.starts {
            let next = CommandParts {
                redirects: std::mem::take(&mut beside.redirects),
                assignments: beside.assignments.clone(),
                through: std::mem::take(&mut beside.through),
                span: beside.span,
            };
            self.follow_one(start, given, next);
        }
        self.state_mut().cwd = cwd;
        self.texts -= 1;
    }

    fn follow_one(&mut self, start: Start, given: &Given, beside: CommandParts) {
        match start {
            // `command eval x` and `builtin cd x` come back as words of the shell.
            Start::Program { words, alone: true } => self.run_past_functions(words, beside),
            Start::Program { words, alone: false } => {
                self.in_uncertain_branch(|it| it.run_past_functions(words, beside));
            }
            Start::Code { code, dialect, arguments } => {
                let state = std::sync::Arc::clone(&self.state);
                for set in &given.environment {
                    let number = Value::guess(set.value.text.as_str(), set.value.certainty).number;
                    self.set_surely(&set.name, Value::unknown().numbered(number));
                }
                self.given_code(&code, dialect, arguments);
                self.state = state;
            }
            Start::Stdin(dialect) => self.code_from_stdin(&given.feed, dialect, beside.span),
            Start::ForeignStdin => {}
            Start::Script { file, dialect } if is_descriptor(&file.text) => {
                self.code_from_stdin(&fed(&file, &given.redirects), dialect, file.span);
            }
            Start::Script { file, .. } if !file.is_literal() => {
                self.unprovable(file.span, "which script this runs is known only at run time");
            }
            Start::Script { file, dialect } => self.script(&file, dialect),
        }
    }

    /// An interpreter that is given what another program writes, as if it were a file with its program.
    fn piped_script(&mut self, words: &[Word]) {
        if words.iter().all(Word::is_literal) {
            return;
        }
        let Some((program, rest)) = words.split_first() else { return };
        let name = program.text.rsplit('/').next().unwrap_or_default();
        let reads_program = |known: KnownProgram| matches!(known.starts, "awk" | "sed" | "language-r");
        if code_option(name).is_none() && !KnownProgram::named(name).is_some_and(reads_program) {
            return;
        }
        let mut before: Option<&Word> = None;
        for word in rest {
            let names_file = before.is_none_or(|before| before.text.starts_with('-'));
            if names_file && !word.is_literal() && is_descriptor(&word.text) {
                let what = "the interpreter runs whatever the other program writes";
                return self.note(Code::PipeTarget, word.span, what);
            }
            if !word.text.starts_with('-') {
                return;
            }
            before = Some(word);
        }
    }

    /// Remembers which files a program writes, and what, where that is plain.
    fn remember_written(&mut self, program: &Program) {
        let words = program.argv.words();
        for redirect in program.redirects.iter().filter(|redirect| redirect.direction == Direction::Write) {
            let Some(path) = self.resolved(&redirect.target) else { continue };
            let given = program.redirects.iter().find(|redirect| redirect.direction == Direction::Text);
            let text = match (words, given) {
                ([cat], Some(text)) if cat.text == "cat" && text.target.is_literal() => {
                    Some(text.target.text.clone())
                }
                _ => output(words),
            };
            self.state_mut().write(path, text);
        }
        self.remember_downloads(words);
        let copies = words
            .first()
            .and_then(|word| KnownProgram::named(&word.text))
            .is_some_and(|known| known.name == "tee" || matches!(known.effect, "copy" | "move" | "blocks"));
        for word in words.iter().skip(1).filter(|_| copies) {
            if let Some(path) = self.resolved(word) {
                self.state_mut().write(path, None);
            }
        }
    }

    /// A download is not known, under the name that is given or the last one of the address.
    fn remember_downloads(&mut self, words: &[Word]) {
        if !words
            .first()
            .and_then(|word| KnownProgram::named(&word.text))
            .is_some_and(|program| program.is(ProgramClass::Fetches) || program.is(ProgramClass::Transfer))
        {
            return;
        }
        for word in words.iter().skip(1) {
            let last = word.text.rsplit('/').next().unwrap_or_default();
            for name in [word.text.as_str(), last] {
                if let Some(path) = self.resolved(&Word { text: name.to_owned(), ..word.clone() }) {
                    self.state_mut().write(path, None);
                }
            }
        }
    }

    /// The path that a known word names from the directory that is known.
    fn resolved(&self, word: &Word) -> Option<String> {
        if !word.is_literal() || word.text.starts_with("/dev/") {
            return None;
        }
        let path = match self.state.cwd.as_deref() {
            Some(cwd) => std::path::Path::new(cwd).join(&word.text),
            None => std::path::PathBuf::from(&word.text),
        };
        Some(policy::lexical(&path).to_string_lossy().into_owned())
    }

    /// A program that the line itself has written is what the line has written into it.
    fn own_file(&mut self, program: &Program) {
        let Some(first) = program.argv.words().first().filter(|_| self.state.has_written()) else { return };
        if first.text.contains('/') {
            self.script(&first.clone(), Dialect::Bash);
        }
    }

    /// A shell reads a file. If the line itself writes it, its text counts.
    pub(super) fn script(&mut self, file: &Word, dialect: Dialect) {
        let Some(path) = self.resolved(file).filter(|_| self.state.has_written()) else { return };
        match self.state.written(&path) {
            Written::Nothing => {}
            Written::Something => self.unprovable(file.span, "the line runs a file that it writes itself"),
            Written::Text(text) => {
                self.in_subshell(|it| {
                    it.state_mut().doubt();
                    it.in_uncertain_branch(|it| it.code(&text, dialect.readers(), file.span));
                });
            }
        }
    }

    /// A shell with its commands in a word.
    fn given_code(&mut self, code: &Word, dialect: Dialect, arguments: Vec<Word>) {
        if !code.is_literal() {
            self.unprovable(code.span, "the text that runs as commands is known only at run time");
        }
        if code.text.is_empty() {
            return;
        }
        self.in_subshell(|it| {
            it.state_mut().in_another_shell(Some(arguments.into()));
            it.code(&code.text, dialect.readers(), code.span);
        });
    }

    /// An interpreter of another language that reads its program: seen as if the program stood in a word.
    fn foreign_code(&mut self, program: &Word, feed: &Feed, span: Span) {
        let Some(text) = self.foreign_from_stdin(feed, span) else { return };
        let option = code_option(&program.text);
        let code = Word { text, certainty: policy::Certainty::Literal, span };
        let mut words = vec![program.clone()];
        words.extend(option.map(Word::literal));
        words.push(code);
        let seen = inspect(&words);
        seen.findings.into_iter().for_each(|finding| self.add(finding));
        for start in seen.starts {
            if let Start::Code { code, dialect, arguments } = start {
                self.given_code(&code, dialect, arguments);
            }
        }
    }
}

/// The option by which an interpreter takes its program from a word.
fn code_option(program: &str) -> Option<&'static str> {
    let known = KnownProgram::called(program.rsplit('/').next().unwrap_or(program))?;
    Some(known.code).filter(|option| !option.is_empty())
}

/// Returns true if a path is one of the caller's descriptors.
pub(super) fn is_descriptor(path: &str) -> bool {
    path.starts_with("/dev/fd/")
        || path == "/dev/stdin"
        || (path.starts_with("/proc/") && path.contains("/fd/"))
}

/// Returns the content of the descriptor that a path names.
pub(super) fn fed(file: &Word, redirects: &[Redirect]) -> Feed {
    let number = file.text.rsplit('/').next().and_then(|number| number.parse::<u32>().ok());
    let own = redirects.iter().rev().find(|redirect| redirect.descriptor == number && number.is_some());
    match own {
        Some(Redirect { direction: Direction::Text, target, .. }) if target.is_literal() => {
            Feed::Text(target.text.clone())
        }
        _ if file.is_literal() => Feed::Unknown,
        _ => Feed::Pipe(None),
    }
}

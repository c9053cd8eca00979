//! From words to programs: builtins act on what is known, wrappers are looked through, the rest is started.

use policy::{Argv, Code, Program, Word};

use super::command::Beside;
use super::feed::Feed;
use super::{MAX_PROGRAMS, Reader};
use crate::look::{Look, Start, look};
use crate::{Dialect, judge};

impl Reader<'_> {
    /// A command that no shell reads first.
    pub(super) fn start_words(&mut self, words: Vec<Word>) {
        let (redirects, assignments, through) = (Vec::new(), Vec::new(), Vec::new());
        let span = Argv::new(words.clone()).map(|argv| argv.span()).unwrap_or_default();
        self.start(words, Beside { redirects, assignments, through, span });
    }

    /// Runs a command in the shell: builtins and functions first.
    pub(super) fn run(&mut self, words: Vec<Word>, beside: Beside) {
        let Some(first) = words.first() else { return };
        if first.is_literal() && self.state.is_function(&first.text) {
            return self.judge_redirects(beside.redirects, beside.span);
        }
        self.builtin(&words, &beside);
        self.start(words, beside);
    }

    /// Starts a program, and looks through it.
    fn start(&mut self, words: Vec<Word>, beside: Beside) {
        let Some(first) = words.first() else { return };
        if !first.is_literal() {
            self.unprovable(first.span, "which program this starts is known only at run time");
        } else if first.text.chars().any(super::is_misleading) {
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
        let seen = if first.is_literal() { look(&words) } else { Look::default() };
        let feed = self.feed.with(&beside.redirects);
        seen.findings.iter().for_each(|finding| self.add(finding.clone()));
        if let Some(beside) = self.emit(words, &seen, beside) {
            self.follow(seen, &feed, beside);
        }
    }

    /// Notes the program itself, unless it only starts another; then what is to be said of the other is returned.
    fn emit(&mut self, words: Vec<Word>, seen: &Look, mut beside: Beside) -> Option<Beside> {
        let argv = Argv::new(words)?;
        let only_starts = matches!(&*seen.starts, [Start::Program { alone: true, .. }]);
        if only_starts {
            beside.through.push(argv);
            beside.assignments.extend(seen.assignments.iter().cloned());
            return Some(beside);
        }
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
        judge::judge(&program, self.around, &mut self.found.findings);
        self.found.programs.push(program);
        beside.assignments.extend(seen.assignments.iter().cloned());
        Some(beside)
    }

    /// What a program would start in turn.
    fn follow(&mut self, seen: Look, feed: &Feed, mut beside: Beside) {
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
            let next = Beside {
                redirects: std::mem::take(&mut beside.redirects),
                assignments: beside.assignments.clone(),
                through: std::mem::take(&mut beside.through),
                span: beside.span,
            };
            self.follow_one(start, feed, next);
        }
        self.state_mut().cwd = cwd;
        self.texts -= 1;
    }

    fn follow_one(&mut self, start: Start, feed: &Feed, beside: Beside) {
        match start {
            // `command eval x` and `builtin cd x` come back as words of the shell.
            Start::Program { words, alone: true } => self.run(words, beside),
            Start::Program { words, alone: false } => self.perhaps(|it| it.run(words, beside)),
            Start::Code { code, dialect, arguments } => self.given_code(&code, dialect, arguments),
            Start::Stdin(dialect) => self.code_from_stdin(feed, dialect, beside.span),
            Start::ForeignStdin { program } => self.foreign_code(&program, feed, &beside),
            Start::Script { file, .. } if !file.is_literal() && file.text.starts_with("/dev/fd/") => {
                self.code_from_stdin(&Feed::Pipe(None), Dialect::Bash, file.span);
            }
            Start::Script { file, .. } if !file.is_literal() => {
                self.unprovable(file.span, "which script this runs is known only at run time");
            }
            Start::Script { .. } => {}
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
        self.apart(|it| {
            it.state_mut().arguments = Some(arguments.into());
            it.state_mut().aliases.clear();
            it.code(&code.text, dialect.readers(), code.span);
        });
    }

    /// An interpreter of another language that reads its program: seen as if the program stood in a word.
    fn foreign_code(&mut self, program: &Word, feed: &Feed, beside: &Beside) {
        let Some(text) = self.foreign_from_stdin(feed, beside.span) else { return };
        let option = crate::look::code_option(&program.text);
        let code = Word { text, certainty: policy::Certainty::Literal, span: beside.span };
        let mut words = vec![program.clone()];
        words.extend(option.map(Word::literal));
        words.push(code);
        let seen = look(&words);
        seen.findings.into_iter().for_each(|finding| self.add(finding));
        for start in seen.starts {
            if let Start::Code { code, dialect, arguments } = start {
                self.given_code(&code, dialect, arguments);
            }
        }
    }
}

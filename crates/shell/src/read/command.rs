//! Simple commands.

use policy::{Assignment, Code, Direction, Redirect, Span, Word};

use super::Reader;
use super::state::Value;
use crate::judge;
use crate::tree::{self, Argument, Assign, Command, Descriptor, Redirection};

impl Reader<'_> {
    pub(super) fn simple(&mut self, command: &Command, assigns: &[Assign], arguments: &[Argument]) {
        let mut words = Vec::with_capacity(arguments.len());
        let mut declared = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Word(word) => self.words(word, &mut words),
                Argument::Array(assign) => {
                    if declares_integer(&words) {
                        self.state_mut().make_integer(&assign.name);
                    }
                    declared.push(self.assigned(assign));
                }
            }
        }
        let assignments: Vec<_> = assigns.iter().map(|assign| self.assigned(assign)).collect();
        let numeric: Vec<_> = assigns.iter().map(|assign| self.assigns_number(assign)).collect();
        for (assignment, _) in assignments.iter().zip(&numeric).filter(|(_, number)| !**number) {
            self.integer_value(&assignment.name, &assignment.value);
        }
        let redirects = self.redirects(&command.redirects);
        for array in declared {
            self.keep(&array);
        }
        if words.is_empty() && arguments.is_empty() {
            for (assignment, number) in assignments.iter().zip(numeric) {
                self.keep_number(assignment, number);
            }
            return self.judge_redirects(redirects, command.at.0);
        }
        if words.is_empty() {
            // Only values that are empty: the shell goes on with nothing, or with what they hold at run time.
            return self.unprovable(command.at.0, "which program this starts is known only at run time");
        }
        self.alias(command, &words);
        if words.first().is_some_and(|first| keeps_assignments(&first.text)) {
            // Their lifetime depends on the shell.
            for assignment in &assignments {
                let guess = Value::guess(assignment.value.text.as_str(), policy::Certainty::Unknown);
                self.set_surely(&assignment.name, guess);
            }
        }
        self.run(words, CommandParts { redirects, assignments, through: Vec::new(), span: command.at.0 });
    }

    fn assigned(&mut self, assign: &Assign) -> Assignment {
        let value = self.assign(assign);
        let text = match self.state.variable(&assign.name) {
            Some(old) if assign.append => format!("{}{}", old.text, value.text),
            _ => value.text,
        };
        let certainty = match self.state.variable(&assign.name) {
            Some(old) if assign.append => old.certainty.max(value.certainty),
            None if assign.append => policy::Certainty::Unknown,
            // The other elements are what they were.
            _ if assign.subscript.is_some() => policy::Certainty::Unknown,
            _ => value.certainty,
        };
        if assign.subscript.is_some() {
            self.table_entry(assign);
        }
        Assignment { name: assign.name.clone(), value: Word { text, certainty, span: assign.at.0 } }
    }

    /// Returns true if a variable holds a number when it was assigned to.
    fn assigns_number(&self, assign: &Assign) -> bool {
        let before = !(assign.append || assign.subscript.is_some())
            || self.state.variable(&assign.name).is_none_or(|old| old.number);
        match &assign.value {
            tree::Value::Word(word) => before && self.is_numeric(&word.parts),
            tree::Value::Array(words) => words.iter().all(|word| self.is_numeric(&word.parts)),
        }
    }

    /// zsh keeps functions and aliases in tables that can be written to.
    fn table_entry(&mut self, assign: &Assign) {
        let name = assign.name.trim_start_matches("dis_");
        if matches!(name, "functions" | "aliases" | "galiases" | "saliases" | "commands" | "widgets") {
            self.unprovable(assign.at.0, format!("an entry of `{}` decides what a name starts", assign.name));
        }
    }

    /// Sets a variable for everything that follows.
    pub(super) fn keep(&mut self, assignment: &Assignment) {
        let Assignment { value, .. } = assignment;
        let number = !self.is_open(value) && value.certainty == policy::Certainty::Unknown;
        self.keep_number(assignment, number);
    }

    /// The same, where it is known whether the value is a number.
    fn keep_number(&mut self, assignment: &Assignment, number: bool) {
        let Assignment { name, value } = assignment;
        judge::judge_assignment(assignment, true, &mut self.found.findings);
        if name == "IFS" {
            self.state_mut().separator_changed = true;
        }
        if name.ends_with("_functions") || matches!(&**name, "PROMPT_COMMAND" | "BASH_ENV" | "ENV") {
            self.unprovable(value.span, format!("`{name}` decides what the shell runs later"));
        }
        let known = Value::guess(value.text.as_str(), value.certainty);
        let number = if value.is_literal() { known.number } else { number };
        self.set(name, known.numbered(number));
    }

    pub(super) fn redirects(&mut self, redirections: &[Redirection]) -> Vec<Redirect> {
        redirections.iter().filter_map(|redirection| self.redirect(redirection)).collect()
    }

    fn redirect(&mut self, redirection: &Redirection) -> Option<Redirect> {
        let descriptor = self.descriptor(redirection);
        if let Some(heredoc) = redirection.body.as_ref().and_then(|body| body.get()) {
            let target = self.quoted_text(&heredoc.parts, heredoc.at.0);
            let target = Word { span: redirection.at.0, ..target };
            return Some(Redirect { direction: Direction::Text, descriptor: descriptor.or(Some(0)), target });
        }
        let target = self.one_word(&redirection.target);
        let operator = redirection.operator;
        let duplicates = operator.ends_with('&')
            && target.is_literal()
            && target.text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit());
        let direction = match operator {
            _ if duplicates => return None,
            "<<<" => Direction::Text,
            "<" | "<&" => Direction::Read,
            "<>" => Direction::Both,
            _ => Direction::Write,
        };
        let usual = u32::from(!operator.starts_with('<'));
        Some(Redirect { direction, descriptor: descriptor.or(Some(usual)), target })
    }

    fn descriptor(&mut self, redirection: &Redirection) -> Option<u32> {
        match redirection.descriptor.as_ref()? {
            Descriptor::Number(number) => number.parse().ok(),
            Descriptor::Name(word) => {
                let name = self.one_word(word);
                self.named_operand(&name, redirection.at.0);
                Some(u32::MAX)
            }
        }
    }

    /// Redirections of something that is no program of its own.
    pub(super) fn judge_redirects(&mut self, redirects: Vec<Redirect>, span: Span) {
        if redirects.is_empty() {
            return;
        }
        let Some(argv) = policy::Argv::new(vec![Word { span, ..Word::literal(":") }]) else { return };
        let mut program = policy::Program::alone(argv, self.state.cwd.clone());
        program.redirects = redirects;
        self.judge(&program);
        // Files that are read and written count, for every program.
        let names_file = |redirect: &Redirect| redirect.direction != Direction::Text;
        if program.redirects.iter().any(names_file) {
            self.found.programs.push(program);
        }
    }

    /// Judges a program as the shell that is being read would start it.
    pub(super) fn judge(&mut self, program: &policy::Program) {
        let around = crate::Surroundings { dialects: self.dialect.alone(), ..*self.around };
        judge::judge(program, &around, &mut self.found.findings);
    }

    /// Puts the text of an alias in the place of its name.
    ///
    /// If aliases are off, the name itself is started; so it is read besides.
    fn alias(&mut self, command: &Command, words: &[Word]) {
        if self.state.aliases.is_empty() {
            return;
        }
        let plain = command
            .plain_name()
            .and_then(|name| self.state.aliases.get(name).map(|alias| (name, alias.clone())));
        if words.iter().any(|word| self.state.aliases.get(&word.text).is_some_and(|alias| alias.global)) {
            self.unprovable(command.at.0, "an alias that holds anywhere in a line is used");
        }
        let Some((name, alias)) = plain else { return };
        self.note(Code::Evaluation, command.at.0, format!("`{name}` is an alias"));
        let rest: Vec<_> = words.iter().skip(1).map(quoted).collect();
        let text = format!("{} {}", alias.text, rest.join(" "));
        let taken = self.state_mut().aliases.remove(name);
        self.in_uncertain_branch(|it| it.code(&text, &[it.dialect], command.at.0));
        if let Some(alias) = taken {
            self.state_mut().aliases.insert(name.to_owned(), alias);
        }
    }
}

/// Parts of a command beside its words.
pub(super) struct CommandParts {
    pub(super) redirects: Vec<Redirect>,
    pub(super) assignments: Vec<Assignment>,
    pub(super) through: Vec<policy::Argv>,
    pub(super) span: Span,
}

/// Returns true if the words of a declaration so far make its variables integers, or names of others.
pub(super) fn declares_integer(words: &[Word]) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    matches!(&*first.text, "integer" | "float")
        || rest.iter().any(|word| {
            word.text.strip_prefix('-').is_some_and(|letters| letters.contains(['i', 'n', 'F', 'E']))
        })
}

/// Builtins of POSIX after which variables set in front of them may stay set.
fn keeps_assignments(name: &str) -> bool {
    matches!(
        name,
        ":" | "."
            | "source"
            | "break"
            | "continue"
            | "eval"
            | "exec"
            | "exit"
            | "export"
            | "readonly"
            | "return"
            | "set"
            | "shift"
            | "times"
            | "trap"
            | "unset"
    )
}

/// A word as it can be written again.
fn quoted(word: &Word) -> String {
    if word.is_literal() { format!("'{}'", word.text.replace('\'', r"'\''")) } else { "\"$_\"".to_owned() }
}

//! The tree, in the order in which it would run.

use std::sync::Arc;

use policy::{Code, Span};

use super::Reader;
use super::arith::is_simple;
use super::feed::{Feed, output};
use super::state::{Value, is_number};
use crate::Dialect;
use crate::tree::{
    Arm, Assign, Command, Item, Join, Kind, List, Part, Pipeline, TestPart, Value as Assigned, Word,
    names_of, runs_text,
};

impl Reader<'_> {
    pub(super) fn list(&mut self, list: &List) {
        for item in &list.items {
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        if item.background {
            return self.in_subshell(|it| it.in_uncertain_branch(|it| it.pipelines(item)));
        }
        self.pipelines(item);
    }

    fn pipelines(&mut self, item: &Item) {
        let mut before = None;
        for (join, pipeline) in &item.pipelines {
            // A command after `&&` knows that the one before has run; one after `||` does not.
            match join {
                Join::First => self.pipeline(pipeline),
                Join::And => {
                    before.get_or_insert_with(|| Arc::clone(&self.state));
                    self.pipeline(pipeline);
                }
                Join::Or => self.in_uncertain_branch(|it| it.pipeline(pipeline)),
            }
        }
        // Behind the line, it is not known how far it came.
        if let Some(before) = before.filter(|before| !Arc::ptr_eq(before, &self.state)) {
            self.state_mut().weaken_since(&before);
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        if let [(command, _)] = &*pipeline.commands {
            return self.command(command);
        }
        let last = pipeline.commands.len().saturating_sub(1);
        let outer = (self.stage, self.piped, self.feed.clone());
        for (stage, (command, _)) in (0_u32..).zip(&pipeline.commands) {
            self.stage = if stage == 0 { outer.0 } else { stage };
            self.piped = outer.1 || (stage as usize) < last;
            let before = self.found.programs.len();
            self.in_uncertain_branch(|it| it.command(command));
            self.feed = Feed::Pipe(self.written_since(before));
        }
        (self.stage, self.piped, self.feed) = outer;
    }

    /// Returns the output of the programs found since then, if it is one that writes what it is told.
    fn written_since(&self, before: usize) -> Option<String> {
        match self.found.programs.get(before..) {
            Some([program]) => output(program.argv.words()),
            _ => None,
        }
    }

    pub(super) fn command(&mut self, command: &Command) {
        if let Kind::Simple { assignments, words } = &command.kind {
            return self.simple(command, assignments, words);
        }
        let redirects = self.redirects(&command.redirects);
        let outer = std::mem::replace(&mut self.feed, Feed::Unknown);
        self.feed = outer.with(&redirects);
        self.judge_redirects(redirects, command.at.0);
        self.compound(command);
        self.feed = outer;
    }

    fn compound(&mut self, command: &Command) {
        match &command.kind {
            Kind::Simple { .. } => {}
            Kind::Group(list) => self.list(list),
            Kind::Subshell(list) => {
                let (stage, piped) = (self.stage, self.piped);
                self.in_subshell(|it| {
                    (it.stage, it.piped) = (stage, piped);
                    it.list(list);
                });
            }
            Kind::If { arms, otherwise } => self.if_then(arms, otherwise.as_ref()),
            Kind::While { test, body, .. } => self.repeated(&[test, body]),
            Kind::For { select, names, words, body } => {
                self.for_in(names, words.as_deref(), *select, body, command.at.0);
            }
            Kind::Count { head, body } => self.count(head, body, command.at.0),
            Kind::Repeat { times, body } => {
                let times = self.one_word(times);
                self.arith_word(&times);
                self.repeated(&[body]);
            }
            Kind::Case { subject, arms } => self.case(subject, arms),
            Kind::Test(parts) => self.test(parts, command.at.0),
            Kind::Arith(parts) => self.arith(parts, command.at.0),
            Kind::Function { names, body } => self.function(names, body, command.at.0),
            Kind::Coproc { body, .. } => self.in_subshell(|it| it.in_uncertain_branch(|it| it.command(body))),
            Kind::Always { body, always } => {
                self.list(body);
                self.list(always);
            }
        }
    }

    fn if_then(&mut self, arms: &[(List, List)], otherwise: Option<&List>) {
        for (test, body) in arms {
            self.list(test);
            self.in_uncertain_branch(|it| it.list(body));
        }
        if let Some(body) = otherwise {
            self.in_uncertain_branch(|it| it.list(body));
        }
    }

    /// Walks lists that run more than once: a variable that they set is not what it was before.
    fn repeated(&mut self, lists: &[&List]) {
        if lists.iter().any(|list| runs_text(list)) {
            self.state_mut().doubt_numbers();
        }
        for name in lists.iter().flat_map(|list| names_of(list)) {
            let value = self.state.after_a_turn(name);
            self.set_surely(name, value);
        }
        self.in_uncertain_branch(|it| lists.iter().for_each(|list| it.list(list)));
    }

    fn for_in(&mut self, names: &[Word], words: Option<&[Word]>, select: bool, body: &List, span: Span) {
        let mut values = Vec::new();
        for word in words.unwrap_or_default() {
            self.words(word, &mut values);
        }
        let number = words.is_some()
            && !select
            && values.iter().all(|word| {
                if word.is_literal() {
                    is_number(&word.text)
                } else {
                    !self.is_open(word) && is_simple(&word.text)
                }
            });
        let value = match &*values {
            [only] if only.is_literal() && names.len() == 1 && !select => Value::known(only.text.as_str()),
            _ if number => Value::number(),
            _ => Value::unknown(),
        };
        let names: Vec<_> = names.iter().map(|name| self.one_word(name).text).collect();
        for name in &names {
            match words {
                Some(_) => values.iter().for_each(|value| self.integer_value(name, value)),
                None => self.integer_unknown(name, span),
            }
            self.set_surely(name, value.clone());
        }
        let others: Vec<_> = names_of(body).map(str::to_owned).filter(|name| !names.contains(name)).collect();
        for name in others {
            let value = self.state.after_a_turn(&name);
            self.set_surely(&name, value);
        }
        if runs_text(body) {
            self.state_mut().doubt_numbers();
        }
        self.in_uncertain_branch(|it| it.list(body));
    }

    fn count(&mut self, head: &[Part], body: &List, span: Span) {
        self.arith(head, span);
        self.repeated(&[body]);
    }

    fn case(&mut self, subject: &Word, arms: &[Arm]) {
        self.one_word(subject);
        for arm in arms {
            for pattern in &arm.patterns {
                self.one_word(pattern);
            }
            self.in_uncertain_branch(|it| it.list(&arm.body));
        }
    }

    fn test(&mut self, parts: &[TestPart], span: Span) {
        let mut words = Vec::new();
        for part in parts {
            match part {
                TestPart::Operator(_) => {}
                TestPart::Word(word) | TestPart::Regex(word) => words.push(self.one_word(word)),
            }
        }
        for (at, word) in words.iter().enumerate() {
            let numeric = matches!(&*word.text, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge");
            let around = [at.checked_sub(1), Some(at + 1)];
            let operands: Vec<_> = around.into_iter().flatten().filter_map(|at| words.get(at)).collect();
            if numeric {
                for operand in &operands {
                    self.arith_word(operand);
                }
            } else if word.text == "-v" {
                for operand in &operands {
                    self.named_variable(operand, span);
                }
            }
        }
    }

    /// A word that a builtin takes for the name of a variable, with an index.
    pub(super) fn named_operand(&mut self, operand: &policy::Word, span: Span) {
        let index = operand.text.split_once('[').map(|(_, index)| index);
        let name = operand.text.bytes().take_while(|byte| *byte != b'[');
        let mut name = name.map(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        match index {
            Some(_) if self.dialect != Dialect::Sh && self.is_open(operand) && name.all(|part| part) => {
                self.unprovable(span, "the index of the variable is evaluated, and commands in it would run");
            }
            Some(index) if index.contains('$') || index.contains('`') => {
                self.unprovable(span, "the index of the variable is evaluated, and commands in it run");
            }
            Some(index) if self.dialect != Dialect::Sh => {
                self.arith_text(index.trim_end_matches(']'), span);
            }
            _ => {}
        }
    }

    /// A word that can be nothing else than the name of a variable. Known only at run time, it may have an index.
    pub(super) fn named_variable(&mut self, operand: &policy::Word, span: Span) {
        if self.dialect != Dialect::Sh && operand.text.is_empty() && self.is_open(operand) {
            return self.unprovable(span, "which variable this names is known only at run time");
        }
        self.named_operand(operand, span);
    }

    fn function(&mut self, names: &[Word], body: &Command, span: Span) {
        let surely = self.maybe == 0;
        let names: Vec<_> = names.iter().map(|name| self.one_word(name).text).collect();
        if names.iter().any(|name| crate::tree::multiplies(body, name)) {
            let what = "the function starts itself more than once: a fork bomb";
            self.note(Code::Destructive, span, what);
        }
        for name in &names {
            self.state_mut().define(name, surely);
        }
        if names.is_empty() {
            return self.command(body);
        }
        let arguments = self.state_mut().arguments.take();
        let cwd = self.state.cwd.clone();
        self.state_mut().enter_function();
        self.in_uncertain_branch(|it| it.command(body));
        self.state_mut().leave_function();
        self.state_mut().arguments = arguments;
        if self.state.cwd != cwd {
            // It is not known here whether the function is called.
            self.state_mut().cwd = None;
            self.state_mut().functions_move = true;
        }
    }

    /// Sets what an assignment sets.
    pub(super) fn assign(&mut self, assign: &Assign) -> policy::Word {
        if let Some(subscript) = &assign.subscript {
            self.index(&assign.name, subscript, assign.at.0);
        }
        match &assign.value {
            Assigned::Word(word) => self.one_word(word),
            Assigned::Array(words) => {
                let mut elements = Vec::new();
                for word in words {
                    self.words(word, &mut elements);
                }
                for element in &elements {
                    self.integer_value(&assign.name, element);
                    if element.text.starts_with('[') && !self.state.is_table(&assign.name) {
                        self.named_operand(element, element.span);
                    }
                }
                policy::Word { text: String::new(), certainty: policy::Certainty::Unknown, span: assign.at.0 }
            }
        }
    }
}

//! Every node with the one around it, for those who check where nodes stand.

use super::{
    Argument, Assign, Command, Kind, List, Param, Part, PartKind, Redirection, Span, TestPart, Value, Word,
};

type Seen<'s> = &'s mut dyn FnMut(Span, Span);

impl List {
    /// Calls `seen` with the span of every node and of the one around it. The text of a here-document stands in no
    /// command, so it is only held against the list.
    pub fn spans(&self, seen: Seen<'_>) {
        for item in &self.items {
            seen(self.at.0, item.at.0);
            for (_, pipeline) in &item.pipelines {
                seen(item.at.0, pipeline.at.0);
                for (command, _) in &pipeline.commands {
                    seen(pipeline.at.0, command.at.0);
                    command.spans(seen);
                }
            }
        }
    }

    fn inside(&self, around: Span, seen: Seen<'_>) {
        seen(around, self.at.0);
        self.spans(seen);
    }
}

impl Command {
    fn spans(&self, seen: Seen<'_>) {
        let at = self.at.0;
        for redirect in &self.redirects {
            redirect.spans(at, seen);
        }
        match &self.kind {
            Kind::Simple { assignments, words } => {
                for assign in assignments {
                    assign.spans(at, seen);
                }
                for word in words {
                    match word {
                        Argument::Word(word) => word.spans(at, seen),
                        Argument::Array(assign) => assign.spans(at, seen),
                    }
                }
            }
            Kind::Group(list) | Kind::Subshell(list) => list.inside(at, seen),
            Kind::If { arms, otherwise } => {
                for list in arms.iter().flat_map(|(test, body)| [test, body]).chain(otherwise) {
                    list.inside(at, seen);
                }
            }
            Kind::While { test, body, .. } => [test, body].iter().for_each(|list| list.inside(at, seen)),
            Kind::For { names, words, body, .. } => {
                names.iter().chain(words.iter().flatten()).for_each(|word| word.spans(at, seen));
                body.inside(at, seen);
            }
            Kind::Count { head, body } => {
                parts(head, at, seen);
                body.inside(at, seen);
            }
            Kind::Repeat { times, body } => {
                times.spans(at, seen);
                body.inside(at, seen);
            }
            Kind::Case { subject, arms } => {
                subject.spans(at, seen);
                for arm in arms {
                    seen(at, arm.at.0);
                    for word in &arm.patterns {
                        word.spans(arm.at.0, seen);
                    }
                    arm.body.inside(arm.at.0, seen);
                }
            }
            Kind::Test(parts) => {
                for part in parts {
                    match part {
                        TestPart::Operator(_) => {}
                        TestPart::Word(word) | TestPart::Regex(word) => word.spans(at, seen),
                    }
                }
            }
            Kind::Arith(inner) => parts(inner, at, seen),
            Kind::Function { names, body } => {
                for word in names {
                    word.spans(at, seen);
                }
                seen(at, body.at.0);
                body.spans(seen);
            }
            Kind::Coproc { name, body } => {
                if let Some(word) = name {
                    word.spans(at, seen);
                }
                seen(at, body.at.0);
                body.spans(seen);
            }
            Kind::Always { body, always } => [body, always].iter().for_each(|list| list.inside(at, seen)),
        }
    }
}

impl Redirection {
    fn spans(&self, around: Span, seen: Seen<'_>) {
        seen(around, self.at.0);
        self.target.spans(self.at.0, seen);
        if let Some(heredoc) = self.body.as_ref().and_then(|body| body.get()) {
            parts(&heredoc.parts, heredoc.at.0, seen);
        }
    }
}

impl Assign {
    fn spans(&self, around: Span, seen: Seen<'_>) {
        let at = self.at.0;
        seen(around, at);
        if let Some(subscript) = &self.subscript {
            parts(subscript, at, seen);
        }
        match &self.value {
            Value::Word(word) => word.spans(at, seen),
            Value::Array(words) => words.iter().for_each(|word| word.spans(at, seen)),
        }
    }
}

impl Word {
    fn spans(&self, around: Span, seen: Seen<'_>) {
        seen(around, self.at.0);
        parts(&self.parts, self.at.0, seen);
    }
}

fn parts(row: &[Part], around: Span, seen: Seen<'_>) {
    for part in row {
        let at = part.at.0;
        seen(around, at);
        match &part.kind {
            PartKind::Text(_) | PartKind::Escaped(_) | PartKind::Single(_) | PartKind::Ansi(_) => {}
            PartKind::Double(inner) | PartKind::Group(inner) | PartKind::Arith { parts: inner, .. } => {
                parts(inner, at, seen);
            }
            PartKind::Param(param) => param_spans(param, at, seen),
            PartKind::Command { list, .. } | PartKind::Process { list, .. } => list.inside(at, seen),
        }
    }
}

fn param_spans(param: &Param, at: Span, seen: Seen<'_>) {
    if let Some(inner) = &param.inner {
        parts(std::slice::from_ref(inner), at, seen);
    }
    if let Some(subscript) = &param.subscript {
        parts(subscript, at, seen);
    }
    parts(&param.operand, at, seen);
}

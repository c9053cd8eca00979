//! Tree -> text. Read again, the text is the same tree.

use crate::Dialect;
use crate::tree::{
    Argument, Arm, ArmEnd, Assign, Command, Descriptor, Heredoc, Item, Join, Kind, List, Param, Part,
    PartKind, Pipeline, Redirection, Style, TestPart, Value, Word,
};

/// Writes a tree as text of its dialect.
#[must_use]
pub fn print(list: &List, dialect: Dialect) -> String {
    let mut printer = Printer { out: String::new(), pending: Vec::new(), dialect };
    printer.list(list);
    printer.out
}

struct Printer<'a> {
    out: String,
    /// Here-documents that are due at the end of the line.
    pending: Vec<&'a Heredoc>,
    dialect: Dialect,
}

impl<'a> Printer<'a> {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line_end(&mut self) {
        self.out.push('\n');
        for heredoc in std::mem::take(&mut self.pending) {
            self.heredoc(heredoc);
        }
    }

    fn heredoc(&mut self, heredoc: &'a Heredoc) {
        match (heredoc.quoted, &*heredoc.parts) {
            (true, [Part { kind: PartKind::Single(text), .. }]) => self.put(text),
            _ => self.apart(|it| it.parts(&heredoc.parts, true)),
        }
        if heredoc.ended {
            self.put(&heredoc.delimiter);
            self.out.push('\n');
        }
    }

    /// Writes something whose lines are its own.
    fn apart(&mut self, write: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.pending);
        write(self);
        self.pending = outer;
    }

    /// Every command on a line of its own.
    fn list(&mut self, list: &'a List) {
        for item in &list.items {
            self.item(item);
            self.line_end();
        }
    }

    fn item(&mut self, item: &'a Item) {
        for (join, pipeline) in &item.pipelines {
            match join {
                Join::First => {}
                Join::And => self.put(" && "),
                Join::Or => self.put(" || "),
            }
            self.pipeline(pipeline);
        }
        if item.background {
            self.put(" &");
        }
    }

    fn pipeline(&mut self, pipeline: &'a Pipeline) {
        for _ in 0..pipeline.bangs {
            self.put("! ");
        }
        match pipeline.timed {
            Some(true) => self.put("time -p "),
            Some(false) => self.put("time "),
            None => {}
        }
        let mut bar = "";
        for (command, both) in &pipeline.commands {
            self.put(bar);
            self.command(command);
            bar = if *both { " |& " } else { " | " };
        }
    }

    fn command(&mut self, command: &'a Command) {
        let before = means_more_in_front(&command.kind);
        if before {
            for redirect in &command.redirects {
                self.redirect(redirect);
                self.put(" ");
            }
        }
        self.kind(&command.kind);
        for redirect in command.redirects.iter().filter(|_| !before) {
            self.put(" ");
            self.redirect(redirect);
        }
    }

    fn kind(&mut self, kind: &'a Kind) {
        match kind {
            Kind::Simple { assignments, words } => self.simple(assignments, words),
            Kind::Group(list) => self.block("{", list, "}"),
            Kind::Subshell(list) => self.block("(", list, ")"),
            Kind::If { arms, otherwise } => self.if_then(arms, otherwise.as_ref()),
            Kind::While { until, test, body } => {
                self.block(if *until { "until" } else { "while" }, test, "");
                self.block("do", body, "done");
            }
            Kind::For { select, names, words, body } => {
                self.put(if *select { "select" } else { "for" });
                for name in names {
                    self.spaced(name);
                }
                if let Some(words) = words {
                    self.put(" in");
                    for word in words {
                        self.spaced(word);
                    }
                }
                self.line_end();
                self.block("do", body, "done");
            }
            Kind::Count { head, body } => {
                self.put("for ((");
                self.parts(head, true);
                self.put("))");
                self.line_end();
                self.block("do", body, "done");
            }
            Kind::Repeat { times, body } => {
                self.put("repeat");
                self.spaced(times);
                self.line_end();
                self.block("do", body, "done");
            }
            Kind::Case { subject, arms } => self.case(subject, arms),
            Kind::Test(parts) => self.test(parts),
            Kind::Arith(parts) => {
                self.put("((");
                self.parts(parts, true);
                self.put("))");
            }
            Kind::Function { names, body } => self.function(names, body),
            Kind::Coproc { name, body } => {
                self.put("coproc");
                if let Some(name) = name {
                    self.spaced(name);
                }
                self.put(" ");
                self.command(body);
            }
            Kind::Always { body, always } => {
                self.block("{", body, "} always ");
                self.block("{", always, "}");
            }
        }
    }

    fn block(&mut self, open: &str, list: &'a List, close: &str) {
        self.put(open);
        self.line_end();
        self.list(list);
        self.put(close);
    }

    fn spaced(&mut self, word: &'a Word) {
        self.put(" ");
        self.word(word);
    }

    fn simple(&mut self, assignments: &'a [Assign], words: &'a [Argument]) {
        let mut blank = "";
        for assign in assignments {
            self.put(blank);
            self.assign(assign);
            blank = " ";
        }
        for word in words {
            self.put(blank);
            match word {
                Argument::Word(word) => self.word(word),
                Argument::Array(assign) => self.assign(assign),
            }
            blank = " ";
        }
    }

    fn if_then(&mut self, arms: &'a [(List, List)], otherwise: Option<&'a List>) {
        let mut open = "if";
        for (test, body) in arms {
            self.block(open, test, "");
            self.block("then", body, "");
            open = "elif";
        }
        if let Some(body) = otherwise {
            self.block("else", body, "");
        }
        self.put("fi");
    }

    fn case(&mut self, subject: &'a Word, arms: &'a [Arm]) {
        self.put("case");
        self.spaced(subject);
        self.put(" in");
        self.line_end();
        for arm in arms {
            self.put("(");
            for (index, pattern) in arm.patterns.iter().enumerate() {
                self.put(if index == 0 { "" } else { "|" });
                self.word(pattern);
            }
            self.block(")", &arm.body, "");
            self.put(match (arm.end, self.dialect) {
                (ArmEnd::Break, _) => ";;",
                (ArmEnd::Fall, _) => ";&",
                (ArmEnd::Next, Dialect::Zsh) => ";|",
                (ArmEnd::Next, _) => ";;&",
            });
            self.line_end();
        }
        self.put("esac");
    }

    fn test(&mut self, parts: &'a [TestPart]) {
        self.put("[[");
        for part in parts {
            match part {
                TestPart::Operator(operator) => {
                    self.put(" ");
                    self.put(operator);
                }
                TestPart::Word(word) | TestPart::Regex(word) => self.spaced(word),
            }
        }
        self.put(" ]]");
    }

    fn function(&mut self, names: &'a [Word], body: &'a Command) {
        if self.dialect != Dialect::Sh && !names.is_empty() {
            self.put("function ");
        }
        for (index, name) in names.iter().enumerate() {
            self.put(if index == 0 { "" } else { " " });
            self.word(name);
        }
        self.put(" () ");
        self.command(body);
    }

    fn assign(&mut self, assign: &'a Assign) {
        self.put(&assign.name);
        if let Some(subscript) = &assign.subscript {
            self.put("[");
            self.parts(subscript, false);
            self.put("]");
        }
        self.put(if assign.append { "+=" } else { "=" });
        match &assign.value {
            Value::Word(word) => self.word(word),
            Value::Array(words) => {
                self.put("(");
                for word in words {
                    self.spaced(word);
                }
                self.put(" )");
            }
        }
    }

    fn redirect(&mut self, redirect: &'a Redirection) {
        match &redirect.descriptor {
            Some(Descriptor::Number(number)) => self.put(number),
            Some(Descriptor::Name(name)) => {
                self.put("{");
                self.word(name);
                self.put("}");
            }
            None => {}
        }
        self.put(redirect.operator);
        self.put(" ");
        match redirect.body.as_ref().and_then(|body| body.get()) {
            Some(heredoc) if heredoc.quoted => {
                let delimiter = heredoc.delimiter.replace('\'', r"'\''");
                self.quoted("'", &delimiter);
            }
            Some(heredoc) => self.put(&heredoc.delimiter),
            None => self.word(&redirect.target),
        }
        self.pending.extend(redirect.body.as_ref().and_then(|body| body.get()));
    }

    fn word(&mut self, word: &'a Word) {
        self.parts(&word.parts, false);
    }

    fn parts(&mut self, parts: &'a [Part], double: bool) {
        for part in parts {
            self.part(&part.kind, double);
        }
    }

    fn part(&mut self, part: &'a PartKind, double: bool) {
        match part {
            PartKind::Text(text) => self.put(text),
            PartKind::Escaped(c) => self.out.extend(['\\', *c]),
            PartKind::Single(text) => self.quoted("'", text),
            PartKind::Ansi(text) => self.quoted("$'", text),
            PartKind::Double(parts) => {
                self.put("\"");
                self.parts(parts, true);
                self.put("\"");
            }
            PartKind::Param(param) => self.param(param, double),
            PartKind::Arith { parts, bracket } => {
                self.put(if *bracket { "$[" } else { "$((" });
                self.parts(parts, true);
                self.put(if *bracket { "]" } else { "))" });
            }
            PartKind::Command { list, style } => self.substitution(list, *style, double),
            PartKind::Process { direction, list } => {
                self.out.push(*direction);
                self.apart(|it| it.block("(", list, ")"));
            }
            PartKind::Group(parts) => {
                self.put("(");
                self.parts(parts, false);
                self.put(")");
            }
        }
    }

    fn quoted(&mut self, open: &str, text: &str) {
        self.put(open);
        self.put(text);
        self.put("'");
    }

    fn substitution(&mut self, list: &'a List, style: Style, double: bool) {
        match style {
            Style::Dollar => self.apart(|it| it.block("$(", list, ")")),
            Style::Brace => self.apart(|it| it.block("${", list, "}")),
            Style::Backtick => {
                let inner = print(list, self.dialect);
                self.put("`");
                for c in inner.chars() {
                    if matches!(c, '\\' | '`' | '$') || (double && c == '"') {
                        self.out.push('\\');
                    }
                    self.out.push(c);
                }
                self.put("`");
            }
        }
    }

    fn param(&mut self, param: &'a Param, double: bool) {
        self.put(if param.braced { "${" } else { "$" });
        if let Some(flags) = &param.flags {
            self.put("(");
            self.put(flags);
            self.put(")");
        }
        self.put(&param.prefix);
        self.put(&param.name);
        if let Some(inner) = &param.inner {
            self.part(&inner.kind, double);
        }
        if let Some(subscript) = &param.subscript {
            self.put("[");
            self.parts(subscript, true);
            self.put("]");
        }
        self.put(&param.operator);
        self.parts(&param.operand, double);
        if param.braced {
            self.put("}");
        }
    }
}

/// Returns true if the first word of a simple command would mean more without a redirection in front of it: behind one,
/// nothing is a word of the language.
fn means_more_in_front(kind: &Kind) -> bool {
    let Kind::Simple { words, .. } = kind else { return false };
    let Some(Argument::Word(word)) = words.first() else { return false };
    match word.parts.first().map(|part| &part.kind) {
        Some(PartKind::Group(_)) => true,
        Some(PartKind::Text(text)) => word.parts.len() == 1 && LANGUAGE.contains(&text.as_str()),
        _ => false,
    }
}

const LANGUAGE: &[&str] = &[
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "foreach", "function",
    "if", "repeat", "select", "then", "time", "until", "while", "{", "}",
];

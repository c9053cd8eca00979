//! `[[ … ]]`

use super::word::Stop;
use super::{Parsed, Parser, Problem};
use crate::tree::{At, Kind, PartKind, TestPart, Word};

impl Parser<'_> {
    /// Reads a test after `[[`, up to and with `]]`.
    pub(super) fn test(&mut self) -> Parsed<Kind> {
        let outer = std::mem::replace(&mut self.in_test, true);
        let parts = self.deeper(Self::test_parts);
        self.in_test = outer;
        parts.map(Kind::Test)
    }

    fn test_parts(&mut self) -> Parsed<Vec<TestPart>> {
        let mut parts = Vec::new();
        loop {
            self.skip_lines()?;
            self.node()?;
            if self.eat_word("]]") {
                return Ok(parts);
            }
            let is_regex = matches!(parts.last(), Some(TestPart::Word(word)) if is_text(word, "=~"));
            let operator = if is_regex { None } else { self.test_operator() };
            if let Some(operator) = operator {
                parts.push(TestPart::Operator(operator));
                continue;
            }
            let part =
                if is_regex { self.regex()?.map(TestPart::Regex) } else { self.word()?.map(TestPart::Word) };
            parts.push(part.ok_or_else(|| self.error_here(Problem::Open("[[")))?);
        }
    }

    fn test_operator(&mut self) -> Option<&'static str> {
        if matches!(self.peek()?, b'<' | b'>') && self.peek_second() == Some(b'(') {
            return None;
        }
        ["&&", "||", "(", ")", "<", ">"].into_iter().find(|operator| self.eat_all(operator.as_bytes()))
    }

    fn regex(&mut self) -> Parsed<Option<Word>> {
        let start = self.pos;
        let parts = self.parts(Stop::Regex, false)?;
        let at = At(self.span(start, self.pos));
        Ok((!parts.is_empty()).then_some(Word { parts, at }))
    }
}

fn is_text(word: &Word, text: &str) -> bool {
    matches!(&*word.parts, [part] if matches!(&part.kind, PartKind::Text(found) if found == text))
}

//! Commands that contain commands.

use super::list::Until;
use super::word::Stop;
use super::{Parsed, Parser, Problem};
use crate::Dialect;
use crate::tree::{Arm, ArmEnd, At, Command, Kind, List, Part, PartKind, Word};

/// Words that only continue or end a command.
const CLOSING: &[&str] = &["then", "else", "elif", "fi", "do", "done", "esac", "}"];

impl Parser<'_> {
    /// A compound command, if one begins here.
    pub(super) fn compound(&mut self) -> Parsed<Option<Kind>> {
        match self.peek() {
            Some(b'(') => self.deeper(Self::parenthesis).map(Some),
            Some(b'{') if self.is(Dialect::Zsh) && !self.at_brace_descriptor() => {
                self.deeper(Self::group).map(Some)
            }
            Some(b'{') if self.at_word("{") => self.deeper(Self::group).map(Some),
            Some(b'[') if !self.is(Dialect::Sh) && self.eat_word("[[") => self.test().map(Some),
            Some(b'a'..=b'z') => self.deeper(Self::keyword),
            Some(b'}') if self.at_word("}") => Err(self.error_here(Problem::Unexpected)),
            _ => Ok(None),
        }
    }

    /// `{name}<`, which is no group.
    fn at_brace_descriptor(&self) -> bool {
        let end = self.name_end(self.pos + 1);
        end > self.pos + 1 && self.byte(end) == Some(b'}') && matches!(self.byte(end + 1), Some(b'<' | b'>'))
    }

    /// Returns true if a word of the language comes next: unquoted, and a word of its own.
    pub(super) fn at_word(&mut self, word: &str) -> bool {
        self.peek();
        self.after_word(word).is_some()
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        self.peek();
        match self.after_word(word) {
            Some(after) => {
                self.pos = after;
                true
            }
            None => false,
        }
    }

    /// Returns the end of a word of the language that begins here.
    fn after_word(&self, word: &str) -> Option<usize> {
        let mut at = self.pos;
        for byte in word.bytes() {
            at = self.joined(at);
            if self.byte(at)? != byte {
                return None;
            }
            at += 1;
        }
        let next = self.byte(self.joined(at));
        let ends = matches!(
            next,
            None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
        );
        let ends = ends || (next == Some(b'}') && self.is(Dialect::Zsh));
        ends.then_some(at)
    }

    /// Returns true if a word comes next that only continues or ends a command.
    pub(super) fn at_closing_word(&mut self) -> bool {
        CLOSING.iter().any(|word| self.at_word(word))
    }

    fn keyword(&mut self) -> Parsed<Option<Kind>> {
        let plain = !self.is(Dialect::Sh);
        let zsh = self.is(Dialect::Zsh);
        let kind = match self.peek() {
            Some(b'i') if self.eat_word("if") => self.if_then()?,
            Some(b'w') if self.eat_word("while") => self.while_do(false)?,
            Some(b'u') if self.eat_word("until") => self.while_do(true)?,
            Some(b'f') if self.eat_word("for") || (zsh && self.eat_word("foreach")) => self.for_in(false)?,
            Some(b's') if plain && self.eat_word("select") => self.for_in(true)?,
            Some(b'c') if self.eat_word("case") => self.case()?,
            Some(b'c') if plain && self.eat_word("coproc") => self.coproc()?,
            Some(b'f') if plain && self.eat_word("function") => self.function()?,
            Some(b'r') if zsh && self.eat_word("repeat") => self.repeat()?,
            _ if self.at_closing_word() => {
                return Err(self.error_here(Problem::Unexpected));
            }
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    /// `(…)`, `((…))`, and `() …` of zsh.
    fn parenthesis(&mut self) -> Parsed<Kind> {
        if self.is(Dialect::Zsh) && self.at_function_parens() {
            let body = Box::new(self.function_body()?);
            return Ok(Kind::Function { names: Vec::new(), body });
        }
        if !self.is(Dialect::Sh)
            && self.peek_second() == Some(b'(')
            && let Some(parts) = self.arith_attempt(2)?
        {
            return Ok(Kind::Arith(parts));
        }
        let (start, heredocs) = (self.pos, self.heredocs);
        self.expect(b'(', "(")?;
        let list = self.full_list(Until::Paren)?;
        self.close(b')', ")", "(")?;
        // bash has read the text as arithmetic before, and then takes the quotes off here-documents in it.
        if self.not_arith.contains(&start) && self.heredocs > heredocs {
            self.late.push(self.error(Problem::Unexpected, start, self.pos));
        }
        self.doubt_subshell(start);
        Ok(Kind::Subshell(list))
    }

    /// `((` was taken for two subshells. Where quotes hide what would end it, shells may still take it for arithmetic, in
    /// which quotes hide nothing.
    pub(super) fn doubt_subshell(&mut self, start: usize) {
        let text = self.slice(start, self.pos);
        let expands = text.contains('`') || text.matches('$').count() > usize::from(text.starts_with('$'));
        if self.not_arith.contains(&start) && expands && text.contains('\'') {
            self.late.push(self.error(Problem::Unexpected, start, self.pos));
        }
    }

    /// Goes past what closes something; at the end of the text, what was opened is to blame.
    fn close(&mut self, byte: u8, name: &'static str, opened: &'static str) -> Parsed<()> {
        if self.peek().is_none() {
            Err(self.error_here(Problem::Open(opened)))
        } else {
            self.expect(byte, name)
        }
    }

    fn group(&mut self) -> Parsed<Kind> {
        let body = self.braced()?;
        self.skip_blanks();
        if self.is(Dialect::Zsh) && self.eat_word("always") {
            self.skip_lines()?;
            let always = self.braced()?;
            return Ok(Kind::Always { body, always });
        }
        Ok(Kind::Group(body))
    }

    fn braced(&mut self) -> Parsed<List> {
        self.expect(b'{', "{")?;
        let list = self.full_list(Until::Brace)?;
        self.close(b'}', "}", "{")?;
        Ok(list)
    }

    fn if_then(&mut self) -> Parsed<Kind> {
        let mut arms = Vec::new();
        loop {
            let test = self.full_list(Until::Words(&["then"]))?;
            if self.eat_word("then") {
                let body = self.full_list(Until::Words(&["elif", "else", "fi"]))?;
                arms.push((test, body));
                if self.eat_word("elif") {
                    continue;
                }
                let otherwise =
                    if self.eat_word("else") { Some(self.full_list(Until::Words(&["fi"]))?) } else { None };
                return self.end(&["fi"], Kind::If { arms, otherwise });
            }
            let body = self.short_body("then")?;
            arms.push((test, body));
            self.skip_blanks();
            if self.eat_word("elif") {
                continue;
            }
            let otherwise = if self.eat_word("else") { Some(self.short_body("then")?) } else { None };
            return Ok(Kind::If { arms, otherwise });
        }
    }

    /// Goes past the word that ends a command.
    fn end(&mut self, words: &'static [&'static str], kind: Kind) -> Parsed<Kind> {
        if words.iter().any(|word| self.eat_word(word)) {
            return Ok(kind);
        }
        Err(self.error_here(Problem::Missing(words.first().copied().unwrap_or_default())))
    }

    /// zsh: a group or one command in the place of a body with words around it.
    fn short_body(&mut self, missing: &'static str) -> Parsed<List> {
        if !self.is(Dialect::Zsh) {
            return Err(self.error_here(Problem::Missing(missing)));
        }
        self.skip_lines()?;
        if self.peek() == Some(b'{') {
            return self.braced();
        }
        self.deeper(|it| {
            let start = it.pos;
            let items = vec![it.and_or()?];
            Ok(List { items, at: At(it.span(start, it.pos)) })
        })
    }

    fn while_do(&mut self, until: bool) -> Parsed<Kind> {
        let test = self.full_list(Until::Words(&["do"]))?;
        let body = self.do_done()?;
        Ok(Kind::While { until, test, body })
    }

    /// `do …; done`, or what stands in its place.
    fn do_done(&mut self) -> Parsed<List> {
        self.skip_lines()?;
        if self.eat_word("do") {
            let body = self.full_list(Until::Words(&["done"]))?;
            return if self.eat_word("done") {
                Ok(body)
            } else {
                Err(self.error_here(Problem::Missing("done")))
            };
        }
        if self.is(Dialect::Bash) && self.at_word("{") {
            return self.braced();
        }
        self.short_body("do")
    }

    fn for_in(&mut self, select: bool) -> Parsed<Kind> {
        self.skip_blanks();
        if self.peek() == Some(b'(') && self.peek_second() == Some(b'(') && !self.is(Dialect::Sh) {
            return self.count();
        }
        let names = self.for_names(select)?;
        let words = self.for_words()?;
        self.skip_blanks();
        self.eat(b';');
        let body = self.for_body()?;
        Ok(Kind::For { select, names, words, body })
    }

    fn for_body(&mut self) -> Parsed<List> {
        self.skip_lines()?;
        // zsh's `foreach x (…) …; end`
        if self.is(Dialect::Zsh)
            && self.pending.is_empty()
            && !self.at_word("do")
            && self.peek() != Some(b'{')
        {
            let start = self.pos;
            if let Ok(body) = self.full_list(Until::Words(&["end"]))
                && self.eat_word("end")
            {
                return Ok(body);
            }
            self.pos = start;
            self.pending.clear();
        }
        self.do_done()
    }

    fn for_names(&mut self, select: bool) -> Parsed<Vec<Word>> {
        let mut names = Vec::new();
        loop {
            self.skip_blanks();
            let more = names.is_empty()
                || (self.is(Dialect::Zsh) && !select && !self.at_word("in") && !self.at_word("do"));
            if !more || matches!(self.peek(), None | Some(b'\n' | b';' | b'(')) {
                break;
            }
            let name = self.word()?.filter(is_name).ok_or_else(|| self.error_here(Problem::Unexpected))?;
            names.push(name);
        }
        if names.is_empty() { Err(self.error_here(Problem::Missing("a name"))) } else { Ok(names) }
    }

    fn for_words(&mut self) -> Parsed<Option<Vec<Word>>> {
        if self.is(Dialect::Zsh) && self.eat(b'(') {
            return self.array_words().map(Some);
        }
        self.skip_lines()?;
        if !self.eat_word("in") {
            return Ok(None);
        }
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.word()? {
                Some(word) => words.push(word),
                None => return Ok(Some(words)),
            }
        }
    }

    fn count(&mut self) -> Parsed<Kind> {
        let Some(head) = self.arith_attempt(2)? else { return Err(self.error_here(Problem::Open("(("))) };
        let text = |part: &Part| match &part.kind {
            PartKind::Text(text) => text.matches(';').count(),
            _ => 0,
        };
        // zsh lets more of them stand.
        let found = head.iter().map(text).sum::<usize>();
        if found < 2 || (found > 2 && self.is(Dialect::Bash)) {
            return Err(self.error_here(Problem::Missing(";")));
        }
        self.skip_blanks();
        self.eat(b';');
        let body = self.do_done()?;
        Ok(Kind::Count { head, body })
    }

    fn repeat(&mut self) -> Parsed<Kind> {
        self.skip_blanks();
        let times = self.word()?.ok_or_else(|| self.error_here(Problem::Missing("a number")))?;
        self.skip_blanks();
        self.eat(b';');
        let body = self.do_done()?;
        Ok(Kind::Repeat { times, body })
    }

    fn case(&mut self) -> Parsed<Kind> {
        self.skip_blanks();
        let subject = self.word()?.ok_or_else(|| self.error_here(Problem::Missing("a word")))?;
        self.skip_lines()?;
        if !self.eat_word("in") {
            return Err(self.error_here(Problem::Missing("in")));
        }
        let mut arms = Vec::new();
        loop {
            self.skip_lines()?;
            if self.eat_word("esac") {
                return Ok(Kind::Case { subject, arms });
            }
            arms.push(self.arm()?);
        }
    }

    fn arm(&mut self) -> Parsed<Arm> {
        self.node()?;
        let start = self.pos;
        self.eat(b'(');
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            patterns.push(self.word()?.ok_or_else(|| self.error_here(Problem::Unexpected))?);
            self.skip_blanks();
            if !self.eat(b'|') {
                break;
            }
        }
        self.expect(b')', ")")?;
        let body = self.list(Until::Arm)?;
        let end = self.arm_end()?;
        Ok(Arm { patterns, body, end, at: At(self.span(start, self.pos)) })
    }

    fn arm_end(&mut self) -> Parsed<ArmEnd> {
        let ends = [(";;&", ArmEnd::Next), (";;", ArmEnd::Break), (";&", ArmEnd::Fall), (";|", ArmEnd::Next)];
        for (text, end) in ends {
            if self.eat_all(text.as_bytes()) {
                return Ok(end);
            }
        }
        if self.at_word("esac") { Ok(ArmEnd::Break) } else { Err(self.error_here(Problem::Missing("esac"))) }
    }

    fn function(&mut self) -> Parsed<Kind> {
        let mut names = Vec::new();
        loop {
            self.skip_blanks();
            let more = names.is_empty() || self.is(Dialect::Zsh);
            if !more || matches!(self.peek(), None | Some(b'\n' | b';' | b'(')) || self.at_word("{") {
                break;
            }
            names.push(self.word()?.ok_or_else(|| self.error_here(Problem::Unexpected))?);
        }
        if names.is_empty() && !self.is(Dialect::Zsh) {
            return Err(self.error_here(Problem::Missing("a name")));
        }
        let body = Box::new(self.function_body()?);
        Ok(Kind::Function { names, body })
    }

    /// Reads the part after the name of a function: parentheses that may be missing, and a command.
    pub(super) fn function_body(&mut self) -> Parsed<Command> {
        self.skip_blanks();
        if self.at_function_parens() {
            self.pos += 1;
            self.skip_blanks();
            self.expect(b')', ")")?;
        }
        self.skip_lines()?;
        let body = self.deeper(Self::command)?;
        let simple = matches!(body.kind, Kind::Simple { .. });
        if simple && self.is(Dialect::Bash) { Err(self.error_here(Problem::Missing("{"))) } else { Ok(body) }
    }

    fn coproc(&mut self) -> Parsed<Kind> {
        self.skip_blanks();
        let start = self.pos;
        let name = if self.name_end(start) > start { self.word()? } else { None };
        self.skip_blanks();
        let named = name.is_some() && (self.at_word("{") || self.peek() == Some(b'('));
        if !named {
            self.pos = start;
        }
        let body = Box::new(self.deeper(Self::command)?);
        Ok(Kind::Coproc { name: name.filter(|_| named), body })
    }

    /// Arithmetic between double parentheses, of which so many bytes open it; `None` when it turns out to be something
    /// else, and then nothing has been read.
    pub(super) fn arith_attempt(&mut self, opening: usize) -> Parsed<Option<Vec<crate::tree::Part>>> {
        let start = self.pos;
        if self.not_arith.contains(&start) {
            return Ok(None);
        }
        let noted = self.misleading.len();
        for _ in 0..opening {
            self.bump();
        }
        match self.deeper(|it| it.parts(Stop::Arith, true)) {
            Ok(parts) if self.eat_all(b"))") => return Ok(Some(parts)),
            Err(error) if error.problem.is_limit() => return Err(error),
            _ => {}
        }
        // Text that was read in vain counts, or parentheses without end would be read again from each of them.
        let vain = self.pos.saturating_sub(start) / 64;
        self.nodes.add(vain).ok_or_else(|| self.error_here(Problem::TooLarge))?;
        self.not_arith.insert(start);
        self.misleading.truncate(noted);
        self.pos = start;
        Ok(None)
    }
}

/// Returns true if a word is the plain name of a variable.
fn is_name(word: &Word) -> bool {
    matches!(&*word.parts, [part] if matches!(&part.kind, PartKind::Text(text)
        if text.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric()) && !text.starts_with(|c: char| c.is_ascii_digit())))
}

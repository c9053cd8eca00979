//! Lists, and-or lists, pipelines.

use super::{ParseError, Parsed, Parser, Problem};
use crate::Dialect;
use crate::tree::{At, Command, Item, Join, List, Pipeline};

/// End of a list besides the end of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// Nothing: the whole text is one list.
    End,
    /// `)`
    Paren,
    /// `}`
    Brace,
    /// `}`, before any text.
    AnyBrace,
    /// One of these words, where a command would begin.
    Words(&'static [&'static str]),
    /// `;;` and its kin, or `esac`.
    Arm,
}

impl Parser<'_> {
    /// The whole text: everything that was read before the first error, and the error.
    pub(super) fn script(&mut self) -> (List, Option<ParseError>) {
        let mut items = Vec::new();
        let error = self.items(Until::End, &mut items).err();
        self.abandon_heredocs();
        (List { items, at: At(self.span(0, self.text.len())) }, error)
    }

    /// A list up to what ends it, which stays unread.
    pub(super) fn list(&mut self, until: Until) -> Parsed<List> {
        self.deeper(|it| {
            let start = it.pos;
            let mut items = Vec::new();
            it.items(until, &mut items)?;
            Ok(List { items, at: At(it.span(start, it.pos)) })
        })
    }

    /// A list that must not be empty.
    pub(super) fn full_list(&mut self, until: Until) -> Parsed<List> {
        let list = self.list(until)?;
        // zsh accepts an empty body.
        if list.items.is_empty() && !self.is(Dialect::Zsh) {
            return Err(self.error_here(Problem::Unexpected));
        }
        Ok(list)
    }

    fn items(&mut self, until: Until, items: &mut Vec<Item>) -> Parsed<()> {
        loop {
            self.skip_lines()?;
            if self.is_zsh_empty() {
                continue;
            }
            if self.ends(until) {
                return Ok(());
            }
            let item = self.item()?;
            items.push(item);
            // zsh lets a body follow a condition in brackets at once; the reader of the list knows what may follow.
            if !self.separated && self.is(Dialect::Zsh) {
                let lost = until == Until::End && self.peek().is_some();
                return if lost { Err(self.error_here(Problem::Unexpected)) } else { Ok(()) };
            }
        }
    }

    /// zsh lets a `;` stand alone.
    fn is_zsh_empty(&mut self) -> bool {
        let alone = self.is(Dialect::Zsh)
            && self.peek() == Some(b';')
            && !matches!(self.peek_second(), Some(b';' | b'&' | b'|'));
        self.pos += usize::from(alone);
        alone
    }

    fn ends(&mut self, until: Until) -> bool {
        let Some(byte) = self.peek() else { return true };
        match until {
            Until::End => false,
            Until::Paren => byte == b')',
            Until::Brace => byte == b'}' && self.at_closing_brace(),
            Until::AnyBrace => byte == b'}',
            Until::Words(words) => words.iter().any(|word| self.at_word(word)),
            Until::Arm => self.at_arm_end() || self.at_word("esac"),
        }
    }

    pub(super) fn at_arm_end(&mut self) -> bool {
        self.peek() == Some(b';') && matches!(self.peek_second(), Some(b';' | b'&' | b'|'))
    }

    /// Returns true if `}` here is a word of its own.
    pub(super) fn at_closing_brace(&mut self) -> bool {
        self.is(Dialect::Zsh) || self.at_word("}")
    }

    /// An and-or list with what ends it.
    fn item(&mut self) -> Parsed<Item> {
        let item = self.and_or()?;
        let background = self.separator()?;
        Ok(Item { background, ..item })
    }

    /// An and-or list. What ends it stays unread.
    pub(super) fn and_or(&mut self) -> Parsed<Item> {
        self.node()?;
        let start = self.pos;
        let mut pipelines = vec![(Join::First, self.pipeline()?)];
        while let Some(join) = self.join() {
            self.skip_lines()?;
            pipelines.push((join, self.pipeline()?));
        }
        let at = At(self.span(start, self.pos));
        Ok(Item { pipelines, background: false, at })
    }

    fn join(&mut self) -> Option<Join> {
        self.skip_blanks();
        if self.eat_all(b"&&") {
            Some(Join::And)
        } else if self.eat_all(b"||") {
            Some(Join::Or)
        } else {
            None
        }
    }

    /// Goes past what separates commands; whether it was `&`.
    fn separator(&mut self) -> Parsed<bool> {
        self.skip_blanks();
        self.separated = true;
        match self.peek() {
            Some(b'&') => {
                self.pos += 1;
                // zsh: `&!` and `&|` also let go of the process.
                if self.is(Dialect::Zsh) && matches!(self.peek(), Some(b'!' | b'|')) {
                    self.pos += 1;
                }
                return Ok(true);
            }
            Some(b';') if !self.at_arm_end() => self.pos += 1,
            Some(b'\n') => {}
            None | Some(b')' | b'}' | b';') => self.separated = false,
            // A word that goes on with what is around may follow a closing parenthesis at once: `if (a) then`.
            Some(_) if self.is(Dialect::Zsh) || self.at_closing_word() => self.separated = false,
            Some(_) => return Err(self.error_here(Problem::Unexpected)),
        }
        Ok(false)
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        self.node()?;
        let start = self.pos;
        let (mut bangs, mut timed) = (0, None);
        loop {
            self.skip_blanks();
            // zsh: `!(…)` is a pattern, not a subshell that is negated.
            let pattern =
                self.is(Dialect::Zsh) && self.peek() == Some(b'!') && self.peek_second() == Some(b'(');
            if !pattern && self.eat_word("!") {
                bangs += 1;
            } else if !self.is(Dialect::Sh) && self.eat_word("time") {
                self.skip_blanks();
                timed = Some(self.is(Dialect::Bash) && self.eat_word("-p"));
            } else {
                break;
            }
        }
        if self.at_pipeline_end() && (timed.is_some() || (bangs > 0 && !self.is(Dialect::Sh))) {
            let at = At(self.span(start, self.pos));
            return Ok(Pipeline { bangs, timed, commands: Vec::new(), at });
        }
        let commands = self.piped_commands()?;
        Ok(Pipeline { bangs, timed, commands, at: At(self.span(start, self.pos)) })
    }

    /// zsh knows `time` behind a `|` too, unless nothing follows.
    fn skip_zsh_time(&mut self) {
        let start = self.pos;
        while self.is(Dialect::Zsh) && self.eat_word("time") {
            self.skip_blanks();
        }
        if self.at_pipeline_end() || matches!(self.peek(), Some(b'|' | b'&' | b'}')) {
            self.pos = start;
        }
    }

    fn at_pipeline_end(&mut self) -> bool {
        matches!(self.peek(), None | Some(b'\n' | b';' | b')'))
    }

    fn piped_commands(&mut self) -> Parsed<Vec<(Command, bool)>> {
        let mut commands = Vec::new();
        loop {
            let command = self.command()?;
            self.skip_blanks();
            if self.peek() != Some(b'|') || self.peek_second() == Some(b'|') {
                commands.push((command, false));
                return Ok(commands);
            }
            self.pos += 1;
            let both = !self.is(Dialect::Sh) && self.eat(b'&');
            commands.push((command, both));
            self.skip_lines()?;
            if self.at_word("!") {
                return Err(self.error_here(Problem::Unexpected));
            }
            self.skip_zsh_time();
        }
    }
}

//! A text from outside, of which the middle may be missing already.

use ringfence::job::Amount;
use ringfence::source::{self, Boundary};
use serde_json::{Map, Value, json};

/// A text from outside.
pub(crate) struct TextBody {
    /// Its name in the data; `None` where the data tells it in another form.
    key: Option<&'static str>,
    /// Its name in the lines of the frame that it stands between, if it does.
    frame: Option<&'static str>,
    head: String,
    left_out: Amount,
    tail: String,
    keep: Keep,
    /// Instruction to get the omitted part, given the number of bytes that are shown from the beginning.
    more: Box<dyn Fn(usize) -> String>,
}

/// Part of a long text that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    Head,
    Ends,
    Tail,
}

/// Part of a text that is shown.
pub(super) struct Part {
    head: String,
    tail: String,
    pub(super) left_out: Amount,
}

impl TextBody {
    /// A text that is all here.
    pub(crate) fn whole(key: &'static str, text: String, keep: Keep) -> Self {
        let more = Box::new(|_| String::new());
        Self {
            key: Some(key),
            frame: None,
            head: text,
            left_out: Amount::default(),
            tail: String::new(),
            keep,
            more,
        }
    }

    /// The beginning and the end of a text.
    pub(crate) fn ends(key: &'static str, head: String, left_out: Amount, tail: String) -> Self {
        Self { head, left_out, tail, ..Self::whole(key, String::new(), Keep::Ends) }
    }

    /// A text that is here for a model. The data tells it in another form.
    pub(crate) fn shown_only(text: String) -> Self {
        Self { key: None, ..Self::whole("", text, Keep::Head) }
    }

    /// The same in a frame of this name.
    pub(crate) fn framed(mut self, name: &'static str) -> Self {
        self.frame = Some(name);
        self
    }

    /// The same with words about how to get what is left out.
    pub(crate) fn more(mut self, more: impl Fn(usize) -> String + 'static) -> Self {
        self.more = Box::new(more);
        self
    }

    pub(super) fn pieces(&self) -> [&str; 2] {
        [&self.head, &self.tail]
    }

    pub(super) fn pieces_mut(&mut self) -> [&mut String; 2] {
        [&mut self.head, &mut self.tail]
    }

    /// Returns the number of characters that it takes to show all that is here.
    pub(super) fn needs(&self) -> usize {
        self.pieces().iter().map(|piece| piece.chars().count()).sum()
    }

    /// The part that fits.
    pub(super) fn cut(&self, room: usize) -> Part {
        let here = [&*self.head, &*self.tail].map(Amount::of);
        let whole = here[0] + self.left_out + here[1];
        if here[0].chars + here[1].chars <= room as u64 {
            return Part { head: self.head.clone(), tail: self.tail.clone(), left_out: self.left_out };
        }
        let joined;
        // If nothing is missing yet, the end may reach into the beginning.
        let (first, last) = if self.left_out.chars == 0 {
            joined = format!("{}{}", self.head, self.tail);
            (joined.as_str(), joined.as_str())
        } else {
            (self.head.as_str(), self.tail.as_str())
        };
        let (head, tail) = match self.keep {
            Keep::Head => (source::head(first, room), ""),
            Keep::Ends => (source::head(first, room / 2), source::tail(last, room - room / 2)),
            Keep::Tail => ("", source::tail(last, room)),
        };
        let left_out = whole - Amount::of(head) - Amount::of(tail);
        Part { head: head.to_owned(), tail: tail.to_owned(), left_out }
    }

    /// Adds the text to what a model reads.
    pub(super) fn append(&self, text: &mut String, boundary: &Boundary, shown: &str) {
        if shown.is_empty() {
            return;
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        match self.frame {
            Some(name) => text.push_str(&boundary.framed(name, shown)),
            None => text.push_str(shown),
        }
    }

    /// Adds the text to what a program reads.
    pub(super) fn tell(&self, data: &mut Map<String, Value>, shown: &str, part: &Part) {
        let Some(key) = self.key else { return };
        data.insert(key.to_owned(), shown.into());
        let Amount { chars, lines } = part.left_out;
        if chars == 0 {
            return;
        }
        let whole = part.left_out + Amount::of(&part.head) + Amount::of(&part.tail);
        let told =
            json!({ "chars": chars, "lines": lines, "whole_chars": whole.chars, "whole_lines": whole.lines });
        let all = data.entry("left_out").or_insert_with(|| json!({}));
        all[key] = told;
    }
}

impl Part {
    /// Returns the shown part, with one line for the omitted one.
    pub(super) fn rendered(&self, boundary: &Boundary, body: &TextBody) -> String {
        let Self { head, tail, left_out } = self;
        if left_out.chars == 0 {
            return format!("{head}{tail}");
        }
        let line_end = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        let count = |number: u64, what| source::count(usize::try_from(number).unwrap_or(usize::MAX), what);
        let chars = count(left_out.chars, "character");
        let what =
            if left_out.lines > 0 { format!("{} ({chars})", count(left_out.lines, "line")) } else { chars };
        let more = (body.more)(head.len());
        format!("{head}{line_end}{}{tail}", boundary.gap(&format!("{what} left out{more}")))
    }
}

impl std::fmt::Debug for TextBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TextBody").field("key", &self.key).finish_non_exhaustive()
    }
}

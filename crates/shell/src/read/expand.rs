//! Words as the program gets them.

use policy::{Certainty, Code, Span, Word};

use super::{Reader, brace};
use crate::Dialect;
use crate::tree::{self, Part, PartKind, Style};

/// A stretch of a word after its own expansion.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) kind: PieceKind,
    /// True if it is a number, where it is not known.
    pub(super) number: bool,
}

/// Source of the text of a piece, which decides what may still happen to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    /// Written without quotes: braces, tildes and wildcards count.
    Plain,
    /// Written between quotes.
    Quoted,
    /// A value without quotes: it may be split and matched against file names.
    Value(Certainty),
    /// A value between quotes.
    QuotedValue(Certainty),
}

impl Piece {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: PieceKind::Plain, number: false }
    }

    fn quoted(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: PieceKind::Quoted, number: false }
    }

    pub(super) fn value(text: impl Into<String>, certainty: Certainty, quoted: bool) -> Self {
        let kind = if quoted { PieceKind::QuotedValue(certainty) } else { PieceKind::Value(certainty) };
        Self { text: text.into(), kind, number: false }
    }

    /// The same, if it is a number or not.
    pub(super) fn numbered(self, number: bool) -> Self {
        Self { number, ..self }
    }

    pub(super) fn unknown(quoted: bool) -> Self {
        Self::value("", Certainty::Unknown, quoted)
    }

    pub(super) fn is_plain(&self) -> bool {
        self.kind == PieceKind::Plain
    }

    pub(super) fn certainty(&self) -> Certainty {
        match self.kind {
            PieceKind::Plain | PieceKind::Quoted => Certainty::Literal,
            PieceKind::Value(certainty) | PieceKind::QuotedValue(certainty) => certainty,
        }
    }
}

impl Reader<'_> {
    /// The words that a word becomes.
    pub(super) fn words(&mut self, word: &tree::Word, into: &mut Vec<Word>) {
        if let [Part { kind: PartKind::Text(text), .. }] = &*word.parts
            && is_inert(text)
        {
            into.push(Word { text: text.clone(), certainty: Certainty::Literal, span: word.at.0 });
            return;
        }
        let pieces = self.pieces(&word.parts, false);
        self.remember_number(&pieces, word.at.0);
        self.zsh_word(word, &pieces);
        if self.dialect != Dialect::Sh && brace::has_braces(&pieces) {
            return self.braced_words(pieces, word.at.0, into);
        }
        self.fields(pieces, word.at.0, into);
    }

    fn braced_words(&mut self, pieces: Vec<Piece>, span: Span, into: &mut Vec<Word>) {
        let Some(words) = brace::expand(pieces) else {
            self.note(Code::TooComplex, span, "the braces stand for too many words");
            return;
        };
        if words.len() > 1 {
            self.note(Code::Brace, span, format!("the braces stand for {} words", words.len()));
        }
        for pieces in words {
            self.fields(pieces, span, into);
        }
    }

    /// A word in a place where it stays one: a value, a file, a text.
    pub(super) fn one_word(&mut self, word: &tree::Word) -> Word {
        let mut pieces = self.pieces(&word.parts, false);
        self.remember_number(&pieces, word.at.0);
        self.tilde(&mut pieces);
        joined(&pieces, word.at.0)
    }

    /// The text of pieces between double quotes or in a here-document.
    pub(super) fn quoted_text(&mut self, parts: &[Part], span: Span) -> Word {
        let pieces = self.pieces(parts, true);
        joined(&pieces, span)
    }

    /// The pieces that the parts of a word become, one after the other.
    pub(super) fn pieces(&mut self, parts: &[Part], quoted: bool) -> Vec<Piece> {
        let mut pieces = Vec::with_capacity(parts.len());
        for part in parts {
            self.piece(part, quoted, &mut pieces);
        }
        pieces
    }

    fn piece(&mut self, part: &Part, quoted: bool, into: &mut Vec<Piece>) {
        match &part.kind {
            PartKind::Text(text) if quoted => into.push(Piece::quoted(text.as_str())),
            PartKind::Text(text) => into.push(Piece::plain(text.as_str())),
            PartKind::Escaped(c) => into.push(Piece::quoted(*c)),
            PartKind::Single(text) => into.push(Piece::quoted(text.as_str())),
            PartKind::Ansi(raw) if quoted && self.dialect == Dialect::Bash => {
                self.ansi_again(raw, part.at.0, into);
            }
            PartKind::Ansi(raw) => into.push(match crate::ansi::decode(raw) {
                Some(text) => Piece::quoted(text),
                None => Piece::unknown(true),
            }),
            PartKind::Double(parts) => {
                // Even when nothing stands between them, quotes make a word.
                into.push(Piece::quoted(""));
                for part in parts {
                    self.piece(part, true, into);
                }
            }
            PartKind::Param(param) => self.param(param, part.at.0, quoted, into),
            PartKind::Arith { parts, .. } => {
                self.arith(parts, part.at.0);
                into.push(Piece::unknown(quoted).numbered(true));
            }
            PartKind::Command { list, style } => {
                self.substitution(*style, part.at.0);
                let number = self.writes_number(list);
                self.inner_list(list);
                into.push(Piece::unknown(quoted).numbered(number));
            }
            PartKind::Process { direction, list } => {
                self.process(*direction, part.at.0);
                self.inner_list(list);
                into.push(Piece::value("/dev/fd/63", Certainty::Unknown, true));
            }
            PartKind::Group(parts) => self.group(parts, part.at.0, into),
        }
    }

    /// `$'…'` in `"${x:-…}"` and in an index: bash puts the result into the text, and then reads that.
    fn ansi_again(&mut self, raw: &str, span: Span, into: &mut Vec<Piece>) {
        let text = crate::ansi::decode(raw);
        let marks = ['$', '`', '\\', '"', '(', ')', '{', '}', '[', ']'];
        if text.as_ref().is_none_or(|text| text.contains(marks)) {
            self.unprovable(span, "the quoted text is expanded again, and commands in it run");
        }
        into.push(text.map_or_else(|| Piece::unknown(true), Piece::quoted));
    }

    fn substitution(&mut self, style: Style, span: Span) {
        let (code, what) = match style {
            Style::Dollar | Style::Brace => {
                (Code::CommandSubstitution, "the output of a command is put in here")
            }
            Style::Backtick => (Code::Backtick, "the output of a command between backticks is put in here"),
        };
        let remedy = "run the inner command on its own first, and write its result out";
        self.add(policy::Finding::new(code, span, what).remedy(remedy));
    }

    fn process(&mut self, direction: char, span: Span) {
        let code = if direction == '=' { Code::ZshForm } else { Code::ProcessSubstitution };
        let remedy = "run the inner command on its own first, with its output in a file";
        let what = "a command runs here and stands for a file";
        self.add(policy::Finding::new(code, span, what).remedy(remedy));
    }

    /// Parentheses in a pattern. In zsh they may hold code.
    fn group(&mut self, parts: &[Part], span: Span, into: &mut Vec<Piece>) {
        let pieces = self.pieces(parts, false);
        let inner = joined(&pieces, span);
        let index = inner.text.contains('[') && !super::number::numeric(&pieces);
        let evaluated = index || inner.text.contains("$(") || inner.text.contains('`');
        if self.dialect == Dialect::Zsh && (evaluated || holds_code(&inner.text)) {
            self.note(Code::ZshForm, span, "zsh runs what stands in these parentheses for every file");
            self.unprovable(span, "which code the pattern runs is not read");
        }
        let certainty = inner.certainty.max(Certainty::Pattern);
        into.push(Piece::value(format!("({})", inner.text), certainty, true));
    }

    /// Forms at the beginning of a word that only zsh knows.
    fn zsh_word(&mut self, word: &tree::Word, pieces: &[Piece]) {
        let names_command = |text: &str| {
            text.strip_prefix('=')
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || "_./~".contains(c)))
        };
        let first = pieces.first().filter(|piece| piece.is_plain());
        if self.dialect == Dialect::Zsh && first.is_some_and(|piece| names_command(&piece.text)) {
            let remedy = "put the word between quotes";
            let what = "zsh puts the path of a program in here";
            self.add(policy::Finding::new(Code::ZshForm, word.at.0, what).remedy(remedy));
        }
    }

    /// Splits values, expands tildes, and sees wildcards.
    fn fields(&mut self, mut pieces: Vec<Piece>, span: Span, into: &mut Vec<Word>) {
        self.tilde(&mut pieces);
        let splits = self.dialect != Dialect::Zsh && !self.state.separator_changed;
        let can_split = |piece: &Piece| piece.kind == PieceKind::Value(Certainty::Literal);
        if splits && pieces.iter().any(|piece| can_split(piece) && has_blank(&piece.text)) {
            return split(pieces, span, into);
        }
        let word = joined(&pieces, span);
        // A value that is empty and not between quotes is no word at all.
        let nothing = |piece: &Piece| {
            matches!(piece.kind, PieceKind::Value(Certainty::Literal)) && piece.text.is_empty()
        };
        if !pieces.iter().all(nothing) {
            into.push(word);
        }
    }

    fn tilde(&mut self, pieces: &mut Vec<Piece>) {
        let Some(first) = pieces.first_mut().filter(|piece| piece.is_plain() && piece.text.starts_with('~'))
        else {
            return;
        };
        let end = first.text.find('/').unwrap_or(first.text.len());
        let home = match first.text.get(..end) {
            Some("~") => self.home(),
            Some("~+") => self.state.cwd.as_deref().map(str::to_owned),
            _ => None,
        };
        let rest = first.text.split_off(end);
        match home {
            // Wildcards in the name of the home are none, those behind it are.
            Some(home) => {
                let rest = Piece { text: rest, ..first.clone() };
                *first = Piece::quoted(home.trim_end_matches('/').to_owned());
                pieces.insert(1, rest);
            }
            None => *first = Piece::value(format!("{}{rest}", first.text), Certainty::Unknown, true),
        }
    }

    /// The home directory, unless the text changes it.
    pub(super) fn home(&self) -> Option<String> {
        match self.state.variable("HOME") {
            Some(value) if value.certainty == Certainty::Literal => Some(value.text.clone()),
            Some(_) => None,
            None if self.state.is_lost() => None,
            None => self.around.home.map(str::to_owned),
        }
    }
}

/// Text that nothing happens to.
fn is_inert(text: &str) -> bool {
    !text.starts_with(['~', '=']) && !text.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[' | b'{'))
}

fn has_blank(text: &str) -> bool {
    text.contains([' ', '\t', '\n'])
}

/// All pieces as one word.
pub(super) fn joined(pieces: &[Piece], span: Span) -> Word {
    let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let wild = |piece: &Piece| {
        matches!(piece.kind, PieceKind::Plain | PieceKind::Value(_)) && has_wildcard(&piece.text)
    };
    let known = pieces.iter().map(Piece::certainty).max().unwrap_or(Certainty::Literal);
    let certainty = if pieces.iter().any(wild) { known.max(Certainty::Pattern) } else { known };
    Word { text, certainty, span }
}

/// Returns true if a text is a pattern. A bracket that is not closed is only a bracket, as in `[ -f x ]`.
fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?'])
        || text.find('[').is_some_and(|at| text.get(at..).is_some_and(|rest| rest.contains(']')))
}

/// Splits the values without quotes at blanks.
fn split(pieces: Vec<Piece>, span: Span, into: &mut Vec<Word>) {
    let mut word: Vec<Piece> = Vec::new();
    for piece in pieces {
        if piece.kind != PieceKind::Value(Certainty::Literal) {
            word.push(piece);
            continue;
        }
        for (index, field) in piece.text.split([' ', '\t', '\n']).enumerate() {
            if index > 0 && !word.is_empty() {
                into.push(joined(&std::mem::take(&mut word), span));
            }
            if !field.is_empty() {
                word.push(Piece::value(field, Certainty::Literal, false));
            }
        }
    }
    if !word.is_empty() {
        into.push(joined(&word, span));
    }
}

/// Returns true if zsh would run something for a glob with these qualifiers: `e` with a delimiter, or `+` and a name.
fn holds_code(text: &str) -> bool {
    let qualifiers = text.strip_prefix("#q").unwrap_or(text);
    let mut before = '^';
    let mut chars = qualifiers.chars().peekable();
    while let Some(c) = chars.next() {
        let runs = c == 'e' && chars.peek().is_some_and(|next| !next.is_alphanumeric() && *next != ')');
        let calls = c == '+' && chars.peek().is_some_and(|next| next.is_alphanumeric() || *next == '_');
        if (runs || calls)
            && !before.is_alphanumeric() | matches!(before, 'o' | 'O' | '.' | '/' | '-' | '@' | '*' | '^')
        {
            return true;
        }
        before = c;
    }
    false
}

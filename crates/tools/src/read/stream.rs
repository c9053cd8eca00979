//! Lines of a text of any length, read piece by piece: what is not asked for is not kept.

use std::borrow::Cow;
use std::io;

use ringfence::guard::Abort;
use ringfence::source;

use super::kind::Encoding;

/// The characters of a line that are shown.
pub(crate) const WIDEST: usize = 2000;
/// The characters that are shown in all, unless one line has more.
const MOST: usize = 90_000;
/// The bytes that are kept of a line, so that none of the characters to be shown is missing.
const KEPT: usize = WIDEST * 4 + 4;
/// The bytes that are looked through for the lines that are asked for.
const FARTHEST: u64 = 512 << 20;
/// The bytes that are read on only to count lines.
const COUNTED: u64 = 64 << 20;
const PIECE: usize = 64 << 10;
/// Characters around a line: its number, its end. A line that is cut has more, and few of those fit.
const AROUND: usize = 8;

/// The lines that are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window {
    /// The first, counted from 1.
    pub(crate) first: u64,
    /// Largest number of lines.
    pub(crate) limit: u64,
}

/// The lines that were there.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) lines: Vec<Line>,
    /// Number of lines in all, if that was counted.
    pub(crate) total: Option<u64>,
    /// Lines with bytes that are not text.
    pub(crate) broken: usize,
    /// Characters that were written out, because they cannot be seen.
    pub(crate) escaped: u64,
}

/// A line, or the beginning of one.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) end: End,
    /// Length of the line in bytes, if it was cut.
    pub(crate) cut: Option<u64>,
}

/// End of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Lf,
    CrLf,
    /// It is the last one.
    Nothing,
}

/// Reason why there are no lines.
#[derive(Debug)]
pub(crate) enum Stopped {
    System(io::Error),
    Aborted,
    /// The first line that is asked for lies further on than is looked for.
    TooFar(u64),
}

/// Reads the lines of a window. `size` is how long the source is expected to be.
pub(crate) fn part(
    source: &mut impl io::Read,
    encoding: Encoding,
    size: u64,
    window: Window,
    abort: &Abort,
) -> Result<Part, Stopped> {
    let mut decoder = Decoder { encoding, left: Vec::new() };
    let mut scan = Scan::new(window);
    let mut buffer = vec![0; PIECE];
    let mut read = 0_u64;
    loop {
        if abort.is_aborted() {
            return Err(Stopped::Aborted);
        }
        if read > FARTHEST || scan.is_past() && size.saturating_sub(read) > COUNTED {
            return scan.stop();
        }
        let length = match source.read(&mut buffer) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Stopped::System(error)),
        };
        scan.feed(&decoder.decode(&buffer[..length]));
        if length == 0 {
            return Ok(scan.end());
        }
        read += length as u64;
    }
}

/// Decodes any bytes to UTF-8, across the borders of pieces.
struct Decoder {
    encoding: Encoding,
    left: Vec<u8>,
}

impl Decoder {
    /// An empty piece is the last one.
    fn decode<'a>(&mut self, piece: &'a [u8]) -> Cow<'a, [u8]> {
        let unit: fn([u8; 2]) -> u16 = match self.encoding {
            Encoding::Utf8 | Encoding::Utf8Marked => return Cow::Borrowed(piece),
            Encoding::Utf16Little => u16::from_le_bytes,
            Encoding::Utf16Big => u16::from_be_bytes,
        };
        self.left.extend_from_slice(piece);
        let (pairs, _) = self.left.as_chunks::<2>();
        let mut units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
        if !piece.is_empty() && units.last().is_some_and(|last| (0xd800..0xdc00).contains(last)) {
            units.pop();
        }
        self.left.drain(..units.len() * 2);
        let rest = if piece.is_empty() && !self.left.is_empty() { "\u{fffd}" } else { "" };
        let text = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
        Cow::Owned(text.chain(rest.chars()).collect::<String>().into_bytes())
    }
}

struct Scan {
    window: Window,
    part: Part,
    /// Characters that are shown so far.
    shown: usize,
    /// True if no more can be shown.
    full: bool,
    /// The number of the line that is being read.
    line: u64,
    /// Its beginning, if it is asked for.
    kept: Vec<u8>,
    /// Number of bytes, and the last of them.
    length: u64,
    last: u8,
}

impl Scan {
    fn new(window: Window) -> Self {
        let part = Part::default();
        Self { window, part, shown: 0, full: false, line: 1, kept: Vec::new(), length: 0, last: 0 }
    }

    /// Returns true if the window lies behind.
    fn is_past(&self) -> bool {
        self.full || self.line >= self.window.first.saturating_add(self.window.limit)
    }

    fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let wanted = !self.is_past() && self.line >= self.window.first;
            bytes = if wanted { self.keep(bytes) } else { self.skip(bytes) };
        }
    }

    /// Takes the rest of a line that is asked for, and returns what follows.
    fn keep<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        // Looking first is faster where lines are long.
        let end = if bytes.contains(&b'\n') { bytes.iter().position(|byte| *byte == b'\n') } else { None };
        let (line, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
        let room = KEPT.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(&line[..line.len().min(room)]);
        self.pass(line);
        if end.is_some() {
            let crlf = self.length > 0 && self.last == b'\r';
            self.finish(if crlf { End::CrLf } else { End::Lf });
        }
        rest.get(1..).unwrap_or_default()
    }

    /// Counts lines, at most up to the first that is asked for, and returns what follows.
    fn skip<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if !bytes.contains(&b'\n') {
            self.pass(bytes);
            return &[];
        }
        let stop = if self.is_past() { u64::MAX } else { self.window.first };
        for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            self.next();
            if self.line == stop {
                return &bytes[at + 1..];
            }
        }
        self.pass(bytes.rsplit(|byte| *byte == b'\n').next().unwrap_or_default());
        &[]
    }

    fn pass(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.last = bytes.last().copied().unwrap_or(self.last);
    }

    fn next(&mut self) {
        self.line += 1;
        self.length = 0;
        self.kept.clear();
    }

    fn finish(&mut self, end: End) {
        let length = self.length - u64::from(end == End::CrLf);
        let kept = &self.kept[..self.kept.len().min(usize::try_from(length).unwrap_or(usize::MAX))];
        let lossy = String::from_utf8_lossy(kept);
        let (text, mut cut) = match lossy.char_indices().nth(WIDEST) {
            Some((at, _)) => (&lossy[..at], Some(length)),
            None => (&*lossy, None),
        };
        if kept.len() as u64 != length {
            cut = Some(length);
        }
        let broken = std::str::from_utf8(kept).is_err_and(|error| error.valid_up_to() < text.len());
        let (text, escaped) = source::visible(text);
        let characters = text.chars().count() + AROUND;
        if !self.part.lines.is_empty() && self.shown + characters > MOST {
            self.full = true;
        } else {
            self.shown += characters;
            self.part.escaped += escaped;
            self.part.broken += usize::from(broken);
            self.part.lines.push(Line { text, end, cut });
        }
        self.next();
    }

    /// Nothing follows.
    fn end(mut self) -> Part {
        let in_line = self.length > 0;
        self.part.total = Some(if in_line { self.line } else { self.line - 1 });
        if in_line && !self.is_past() && self.line >= self.window.first {
            self.finish(End::Nothing);
        }
        self.part
    }

    /// Something follows, and is not looked at.
    fn stop(mut self) -> Result<Part, Stopped> {
        if self.line < self.window.first {
            return Err(Stopped::TooFar(self.line));
        }
        if self.length > 0 && !self.is_past() {
            self.finish(End::Nothing);
        }
        Ok(self.part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], encoding: Encoding, first: u64, limit: u64) -> Part {
        // One byte at a time: every border is met.
        struct Slow<'a>(&'a [u8]);
        impl io::Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let length = self.0.len().min(1);
                buffer[..length].copy_from_slice(&self.0[..length]);
                self.0 = &self.0[length..];
                Ok(length)
            }
        }
        let window = Window { first, limit };
        part(&mut Slow(text), encoding, text.len() as u64, window, &Abort::new()).unwrap()
    }

    #[test]
    fn a_window_is_what_lines_would_give() {
        let texts =
            ["", "\n", "a", "a\n", "a\nb", "a\n\nb\n", "\n\n\n", "a\r\nb\r\n", "a\tb\n\r\n", "x\ny\nz\nw"];
        for text in texts {
            let all: Vec<&str> = text.split_inclusive('\n').collect();
            for first in 1..=5 {
                for limit in 1..=5 {
                    let part = read(text.as_bytes(), Encoding::Utf8, first, limit);
                    assert_eq!(part.total, Some(all.len() as u64), "{text:?}");
                    let ends = |end| match end {
                        End::Lf => "\n",
                        End::CrLf => "\r\n",
                        End::Nothing => "",
                    };
                    let got: Vec<String> =
                        part.lines.iter().map(|line| line.text.clone() + ends(line.end)).collect();
                    let from = usize::try_from(first - 1).unwrap();
                    let wanted: Vec<&str> =
                        all.iter().skip(from).take(usize::try_from(limit).unwrap()).copied().collect();
                    assert_eq!(got, wanted, "{text:?} from {first}, {limit} lines");
                }
            }
        }
    }

    #[test]
    fn text_of_two_bytes_is_decoded_across_borders() {
        let text = "h\u{e9}\n\u{1f600}x";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (bytes, encoding) in [(little, Encoding::Utf16Little), (big, Encoding::Utf16Big)] {
            let part = read(&bytes, encoding, 1, 9);
            let lines: Vec<_> = part.lines.iter().map(|line| line.text.as_str()).collect();
            assert_eq!(lines, ["h\u{e9}", "\u{1f600}x"]);
        }
        let odd = read(b"h\0\x00\xd8", Encoding::Utf16Little, 1, 9);
        assert_eq!(odd.lines[0].text, "h\u{fffd}");
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let text = format!("{}\nnext\n", "\u{1f600}".repeat(WIDEST + 1));
        let part = read(text.as_bytes(), Encoding::Utf8, 1, 9);
        assert_eq!(part.lines[0].text.chars().count(), WIDEST);
        assert_eq!(part.lines[0].cut, Some(4 * (WIDEST as u64 + 1)));
        assert_eq!((part.lines[1].text.as_str(), part.lines[1].cut, part.broken), ("next", None, 0));
    }

    #[test]
    fn what_is_not_text_is_counted() {
        let part = read(b"fine\nb\xffd\n\xe2\x82\n", Encoding::Utf8, 1, 9);
        assert_eq!(part.broken, 2);
        assert_eq!(part.lines[1].text, "b\u{fffd}d");
    }
}

//! `read`: a part of a text file, or an image.

mod image;
mod kind;
mod stream;

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ringfence::audit::Impact;
use ringfence::guard::{ReadableFile, Trouble};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::image::Format;
use self::kind::{Encoding, HEAD, Kind};
use self::stream::{End, Line, Part, Stopped, Window};
use crate::content::{self, Content, unreadable};
use crate::error::{ErrorKind, ToolError};
use crate::reply::{Reply, TextBody};
use crate::tool::{Call, Tool};

/// Number of lines that are returned unless a limit is given.
const LINES: u64 = 2000;
/// The largest image that is returned.
const LARGEST: u64 = 5_000_000;
/// Amount that is read of a file that claims to be empty: those of the kernel do.
const UNSIZED: u64 = 1 << 20;

/// Returns lines of a text file, or an image.
#[derive(Debug, Clone, Copy)]
pub struct Read;

/// Parameters of `read`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadParameters {
    /// The path of the file: from the workspace, or absolute inside it.
    #[serde(alias = "file_path")]
    pub path: String,
    /// The first line to return, counted from 1.
    #[serde(default = "first")]
    #[schemars(range(min = 1))]
    pub offset: u64,
    /// Largest number of lines to return.
    #[serde(default = "lines")]
    #[schemars(range(min = 1))]
    pub limit: u64,
    /// True if the number of each line stands in front of it, followed by a tab.
    #[serde(default = "yes")]
    pub numbered: bool,
}

fn first() -> u64 {
    1
}

fn lines() -> u64 {
    LINES
}

pub(crate) fn yes() -> bool {
    true
}

impl Tool for Read {
    type Parameters = ReadParameters;
    const NAME: &'static str = "read";
    const DESCRIPTION: &'static str = "Returns lines of a text file with their numbers, or an image (PNG, JPEG, GIF, WebP, BMP). \
        The first line of the answer says how much there is and with which offset to continue.";
    const IMPACT: Impact = Impact::Read;
    const PATHS: &'static [&'static str] = &["path"];
    const ALIASES: &'static [(&'static str, &'static str)] = &[("file_path", "path")];

    fn run(&self, call: &Call<'_>, parameters: ReadParameters) -> Result<Reply, ToolError> {
        let window = window(&parameters)?;
        let opened = call.guard.read(Path::new(&parameters.path), call.abort)?;
        let name = opened.location().to_string();
        if opened.is_directory() {
            return Err(ToolError::trouble(&name, Trouble::IsADirectory));
        }
        let mut file = opened.file().map_err(|trouble| ToolError::trouble(&name, trouble))?;
        let head = head(&mut file).map_err(|error| unreadable(&name, &error))?;
        match Kind::of(&head, head.len() < HEAD) {
            Kind::Text(encoding) => {
                let source = Source { opened: &opened, name, head, file, encoding };
                source.text(call, window, parameters.numbered)
            }
            Kind::Image(format) => picture(&opened, &name, format),
            Kind::Other(what) => Err(binary(&name, what, opened.size())),
        }
    }
}

fn window(parameters: &ReadParameters) -> Result<Window, ToolError> {
    let window = Window { first: parameters.offset, limit: parameters.limit };
    match window {
        Window { first: 0, .. } => {
            Err(ToolError::new(ErrorKind::InvalidArguments, "`offset` is 0, and lines are counted from 1"))
        }
        Window { limit: 0, .. } => {
            Err(ToolError::new(ErrorKind::InvalidArguments, "`limit` is 0: nothing would be returned"))
        }
        window => Ok(window),
    }
}

fn head(file: &mut File) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(HEAD);
    file.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn binary(name: &str, what: &str, size: u64) -> ToolError {
    ToolError::new(ErrorKind::Binary, format!("{name} is not text: {what}, {size} bytes"))
        .hint("a command such as `file` or `xxd` says more about it")
}

fn picture(opened: &ReadableFile, name: &str, format: Format) -> Result<Reply, ToolError> {
    let mime = format.mime();
    if opened.size() > LARGEST {
        let size = opened.size();
        let text = format!("{name} is an image, {mime}, of {size} bytes, and at most {LARGEST} are returned");
        return Err(ToolError::new(ErrorKind::TooLarge, text).hint("make a smaller copy of it"));
    }
    let content = Content::read(opened, LARGEST)?;
    let (size, dimensions) = (content.bytes.len(), format.dimensions(&content.bytes));
    let pixels =
        dimensions.map_or_else(String::new, |(width, height)| format!(", {width} x {height} pixels"));
    let (width, height) = dimensions.unzip();
    let data = json!({
        "kind": "image", "path": name, "mime": mime, "size": size, "width": width, "height": height,
        "base64": BASE64_STANDARD.encode(&content.bytes),
    });
    Ok(Reply::new(format!("[{name}: an image, {mime}{pixels}, {size} bytes]"), data))
}

/// A text file.
struct Source<'a> {
    opened: &'a ReadableFile,
    name: String,
    head: Vec<u8>,
    file: File,
    encoding: Encoding,
}

impl Source<'_> {
    fn text(self, call: &Call<'_>, window: Window, numbered: bool) -> Result<Reply, ToolError> {
        let name = &self.name;
        let before = self.opened.version().map_err(|trouble| ToolError::trouble(name, trouble))?;
        // A file that grows while it is read is read up to its first size.
        let size = match self.opened.size() {
            0 => UNSIZED,
            size => size,
        };
        let rest = (&self.file).take(size.saturating_sub(self.head.len() as u64));
        let mut whole = self.head[self.encoding.mark()..].chain(rest);
        let part = stream::part(&mut whole, self.encoding, size, window, call.abort)
            .map_err(|stopped| refused(name, window, stopped))?;
        if part.lines.is_empty() && window.first > 1 {
            return Err(beyond(name, window, part.total));
        }
        let after = self.opened.version().map_err(|trouble| ToolError::trouble(name, trouble))?;
        let changed = after != before;
        let lines = Lines { source: &self, window, part: &part, changed };
        Ok(lines.reply(numbered))
    }
}

fn refused(name: &str, window: Window, stopped: Stopped) -> ToolError {
    match stopped {
        Stopped::System(error) => unreadable(name, &error),
        Stopped::Aborted => ToolError::new(ErrorKind::Aborted, format!("{name}: reading was cancelled")),
        Stopped::TooFar(line) => {
            let first = window.first;
            let text = format!("{name} is too long: line {first} was looked for up to line {line}");
            ToolError::new(ErrorKind::TooLarge, text).hint("a command such as `sed -n` reads further")
        }
    }
}

fn beyond(name: &str, window: Window, total: Option<u64>) -> ToolError {
    let (first, total) = (window.first, total.unwrap_or(0));
    let text = format!("{name} has {total} lines, and offset {first} lies beyond its end");
    ToolError::new(ErrorKind::InvalidArguments, text)
}

/// Lines on their way to a model.
struct Lines<'a> {
    source: &'a Source<'a>,
    window: Window,
    part: &'a Part,
    changed: bool,
}

impl Lines<'_> {
    fn reply(&self, numbered: bool) -> Reply {
        let Self { part, window, .. } = self;
        let mut text = String::new();
        let mut content = String::new();
        for (number, line) in (window.first..).zip(&part.lines) {
            if number > window.first {
                text.push('\n');
            }
            if numbered {
                // A string takes everything.
                let _written = write!(text, "{number:>6}\t");
            }
            text.push_str(&line.text);
            if let Some(length) = line.cut {
                let _written = write!(text, " [cut: the line has {length} bytes]");
            }
            content.push_str(&line.text);
            content.push_str(line.end.text());
        }
        let data = json!({
            "kind": "text", "path": self.source.name, "first": window.first, "last": self.last(), "lines": part.total,
            "bytes": self.source.opened.size(), "encoding": self.source.encoding.word(), "line_ends": self.ends(),
            "next": self.next(), "cut_lines": self.cut().count(), "broken_lines": part.broken, "changed": self.changed,
            "content": content,
        });
        // The lines were chosen so that they fit: the number of the next one is true.
        Reply::new(self.heading(), data).escaped(part.escaped).text(TextBody::shown_only(text))
    }

    /// Describes the size, the part that follows, and peculiarities.
    fn heading(&self) -> String {
        let Self { part, window, source, .. } = self;
        let (name, first, last) = (&source.name, window.first, self.last());
        let size = content::count(source.opened.size(), "byte");
        let mut heading = match (part.total, self.next()) {
            (Some(0), _) => format!("[{name}: the file is empty"),
            (Some(total), None) if first == 1 => {
                format!("[{name}: {}, {size}", content::count(total, "line"))
            }
            (Some(total), None) => format!("[{name}: lines {first}-{last} of {total}, {size}"),
            (Some(total), Some(next)) => {
                format!("[{name}: lines {first}-{last} of {total}, {size}; continue with offset {next}")
            }
            (None, next) => {
                let next = next.unwrap_or(last);
                let counted = "more follow, too many to count";
                format!("[{name}: lines {first}-{last}, {size}; {counted}; continue with offset {next}")
            }
        };
        for note in self.notes() {
            heading.push_str("; ");
            heading.push_str(&note);
        }
        heading + "]"
    }

    fn notes(&self) -> impl Iterator<Item = String> {
        let encoding = self.source.encoding;
        let ends_without =
            self.part.lines.last().is_some_and(|line| line.end == End::Nothing && line.cut.is_none());
        let notes = [
            (encoding != Encoding::Utf8).then(|| encoding.word().to_owned()),
            (self.ends() == "crlf").then(|| "lines end in CRLF".to_owned()),
            (self.ends() == "mixed").then(|| "some lines end in CRLF, some in LF".to_owned()),
            ends_without.then(|| "no line end at the end".to_owned()),
            (self.part.broken > 0).then(|| {
                format!("bytes that are not text are shown as \u{fffd}, on {} of the lines", self.part.broken)
            }),
            (self.part.escaped > 0).then(|| {
                let characters = content::count(self.part.escaped, "character");
                format!("{characters} that cannot be seen are shown as \\u{{...}}: for `edit` write the characters themselves")
            }),
            self.changed.then(|| "the file changed while it was read".to_owned()),
        ];
        notes.into_iter().flatten()
    }

    fn last(&self) -> u64 {
        self.window.first + (self.part.lines.len() as u64).saturating_sub(1)
    }

    /// Returns the offset to continue from, if something follows.
    fn next(&self) -> Option<u64> {
        let next = self.window.first + self.part.lines.len() as u64;
        self.part.total.is_none_or(|total| next <= total).then_some(next)
    }

    fn ends(&self) -> &'static str {
        let has = |end| self.part.lines.iter().any(|line| line.end == end);
        match (has(End::Lf), has(End::CrLf)) {
            (true, true) => "mixed",
            (false, true) => "crlf",
            (_, false) => "lf",
        }
    }

    fn cut(&self) -> impl Iterator<Item = &Line> {
        self.part.lines.iter().filter(|line| line.cut.is_some())
    }
}

impl End {
    const fn text(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
            Self::Nothing => "",
        }
    }
}

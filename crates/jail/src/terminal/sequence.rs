//! Which terminal sequences pass. A sequence passes whole or not at all.
//!
//! Sequences that only affect the screen pass: colours, cursor, screens, modes, mouse, paste brackets, questions with an answer of
//! fixed form. Those that reach beyond it are dropped: the clipboard, the window, the desktop, the printer, the file system,
//! and answers whose text the program could choose, because an answer arrives as if it had been typed.

#![expect(clippy::match_same_arms, reason = "a row is one decision with one reason")]

/// Verdict on a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Shown.
    Pass,
    /// Shown, and the terminal answers it.
    Ask,
    /// Not shown.
    Drop,
}

/// Judges a sequence that is neither a control sequence nor a string, from ESC to its last byte.
pub(super) fn judge_escape(sequence: &[u8]) -> Verdict {
    match sequence {
        // Leaves UTF-8, after which bytes inside of letters are controls.
        [_, b'%', ..] => Verdict::Drop,
        // The end of a string that did not pass.
        [_, b'\\'] => Verdict::Drop,
        [_, b'Z'] => Verdict::Ask,
        _ => Verdict::Pass,
    }
}

/// Judges a control sequence: what stands between `ESC [` and the end, last byte included.
pub(super) fn judge_control(body: &[u8]) -> Verdict {
    let Some(control) = Control::parse(body) else { return Verdict::Drop };
    match (control.prefix, control.intermediate, control.last) {
        (None, b"", b't') => judge_window(control.number()),
        // Sets the encoding of reported titles: no title is reported.
        (Some(_), b"", b't') => Verdict::Drop,
        // Prints the screen, or everything from here on.
        (_, b"", b'i') => Verdict::Drop,
        // Checksums of screen areas, one letter at a time: reads what others have written. And self-tests.
        (_, _, b'y') => Verdict::Drop,
        // The Linux console: brings another console to the front, blanks the screen.
        (None, b"", b']') => Verdict::Drop,
        // VT52 mode: another command language from here on, which this filter would not judge.
        (Some(b'?'), b"", b'l') if control.numbers().any(|number| number == 2) => Verdict::Drop,
        (_, b"", b'c' | b'n' | b'x') => Verdict::Ask,
        (_, b"$", b'p' | b'u' | b'w') | (_, b"#", b'|' | b'R' | b'S') => Verdict::Ask,
        (Some(b'>'), b"", b'q') | (Some(b'?'), b"", b'u' | b'm' | b'S') => Verdict::Ask,
        _ => Verdict::Pass,
    }
}

fn judge_window(operation: u32) -> Verdict {
    match operation {
        // Sizes of the text area, of a letter, of the screen: how programs scale pictures and fit.
        14 | 16 | 18 | 19 => Verdict::Ask,
        // Keeps the title and puts it back: editors do so, and the kept title is the user's own.
        22 | 23 => Verdict::Pass,
        // Reports the title, which the program may have set (20, 21); moves, raises, resizes, minimises the window; says
        // where it is.
        _ => Verdict::Drop,
    }
}

/// Judges an operating system command: what stands between `ESC ]` and its end.
pub(super) fn judge_command(body: &[u8]) -> Verdict {
    let (number, rest) = split(body, b';');
    let Some(number) = parse_number(number) else { return Verdict::Drop };
    match number {
        // Some terminals answer a title of `?` with the title.
        0..=2 if rest == b"?" => Verdict::Drop,
        // Titles. Their content cannot come back as input, see `judge_window`.
        0..=2 => Verdict::Pass,
        // Colours, set or asked for, and the pointer's shape. The answer is a colour or the name of a shape.
        4 | 5 | 10..=19 | 22 if rest.contains(&b'?') => Verdict::Ask,
        4 | 5 | 10..=19 | 22 | 104 | 105 | 110..=119 => Verdict::Pass,
        8 => judge_link(rest),
        9 => judge_progress(rest),
        // Marks where a prompt and an output begin.
        133 => Verdict::Pass,
        // 52 and 5522: clipboard. 50: fonts, with answers that echo the question. 7: the directory of the next tab, which
        // would run what lies in it. 3: properties of the window. 9, 99, 777: notifications on the desktop, in the name of another program.
        // 633: commands to be run again. 1337: files, clipboard, variables. And all codes that have not been reviewed yet.
        _ => Verdict::Drop,
    }
}

/// Links into the web pass, one click of a person away. Other schemes start programs and open files of the host. The text
/// of the link stays.
fn judge_link(rest: &[u8]) -> Verdict {
    let (_, target) = split(rest, b';');
    let web = |scheme: &str| {
        target.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
    };
    let ends = target.is_empty();
    if ends || web("https://") || web("http://") { Verdict::Pass } else { Verdict::Drop }
}

/// A progress bar, which is numbers. The same command with text is a notification.
fn judge_progress(rest: &[u8]) -> Verdict {
    let (kind, numbers) = split(rest, b';');
    let bar = kind == b"4" && numbers.iter().all(|byte| byte.is_ascii_digit() || *byte == b';');
    if bar { Verdict::Pass } else { Verdict::Drop }
}

/// A control sequence in its parts.
struct Control<'a> {
    prefix: Option<u8>,
    parameters: &'a [u8],
    intermediate: &'a [u8],
    last: u8,
}

impl<'a> Control<'a> {
    /// The parts in the order the standard gives them, or nothing: terminals disagree about the rest.
    fn parse(body: &'a [u8]) -> Option<Self> {
        let (&last, body) = body.split_last()?;
        let prefix = body.first().copied().filter(|byte| (b'<'..=b'?').contains(byte));
        let body = &body[usize::from(prefix.is_some())..];
        let end = body.iter().position(|byte| !(b'0'..=b';').contains(byte)).unwrap_or(body.len());
        let (parameters, intermediate) = body.split_at(end);
        let ordered = intermediate.iter().all(|byte| (b' '..=b'/').contains(byte));
        ordered.then_some(Self { prefix, parameters, intermediate, last })
    }

    fn number(&self) -> u32 {
        self.numbers().next().unwrap_or(0)
    }

    fn numbers(&self) -> impl Iterator<Item = u32> {
        self.parameters.split(|byte| *byte == b';').map(|number| parse_number(number).unwrap_or(0))
    }
}

/// Splits at the first `at`: returns the bytes before it and the bytes after it.
fn split(bytes: &[u8], at: u8) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == at) {
        Some(place) => (&bytes[..place], &bytes[place + 1..]),
        None => (bytes, &[]),
    }
}

fn parse_number(digits: &[u8]) -> Option<u32> {
    let add = |sum: u32, byte: &u8| {
        byte.is_ascii_digit().then(|| sum.saturating_mul(10).saturating_add(u32::from(byte - b'0')))
    };
    if digits.is_empty() { None } else { digits.iter().try_fold(0, add) }
}

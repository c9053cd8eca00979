//! One line of the ledger: how it is sealed and how it is read back.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::de::IgnoredAny;
use sha2::{Digest as _, Sha256};

/// The most bytes that a line takes, its line break included.
pub const MAX_RECORD: usize = 64 * 1024;

/// A SHA-256 hash; shown as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

/// The newest record: publish it elsewhere, and cutting or rewriting what came before is noticed.
///
/// Shown and read as `seq:hash`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The number of the record.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}

/// Text that is not a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a head: a number, a colon and 64 hexadecimal digits")]
pub struct HeadError;

/// One record, read back.
#[derive(Debug, Clone)]
pub struct Record {
    line: String,
    head: Head,
    fields: serde_json::Map<String, serde_json::Value>,
}

impl Digest {
    /// Hashes bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Reads 64 lower-case hexadecimal digits.
    pub(crate) fn read(hex: &[u8]) -> Option<Self> {
        let hex: &[u8; 64] = hex.try_into().ok()?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Self(bytes))
    }

    pub(crate) fn hex(self) -> [u8; 64] {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut out = [0; 64];
        for (pair, byte) in out.chunks_exact_mut(2).zip(self.0) {
            pair[0] = HEX[usize::from(byte >> 4)];
            pair[1] = HEX[usize::from(byte & 15)];
        }
        out
    }
}

impl Head {
    /// Before the first record: number 0, a hash of zeros.
    pub(crate) const GENESIS: Self = Self { seq: 0, hash: Digest([0; 32]) };
}

impl Record {
    /// The line as it stands in the ledger, without its line break.
    #[must_use]
    pub fn line(&self) -> &str {
        &self.line
    }

    /// Its number and hash.
    #[must_use]
    pub fn head(&self) -> Head {
        self.head
    }

    /// When it was recorded, as written: RFC 3339 in UTC, to the microsecond.
    #[must_use]
    pub fn time(&self) -> &str {
        self.text("time").unwrap_or_default()
    }

    /// When it was recorded, unless the time cannot be read.
    #[must_use]
    pub fn timestamp(&self) -> Option<Timestamp> {
        self.time().parse().ok()
    }

    /// The name of the event.
    #[must_use]
    pub fn event(&self) -> &str {
        self.text("event").unwrap_or_default()
    }

    /// A field that holds text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str()
    }

    /// All fields, those of the envelope included.
    #[must_use]
    pub fn fields(&self) -> &serde_json::Map<String, serde_json::Value> {
        &self.fields
    }

    #[cfg(test)]
    pub(crate) fn fields_mut(&mut self) -> &mut serde_json::Map<String, serde_json::Value> {
        &mut self.fields
    }

    /// Reads a line that was already found to be in order.
    pub(crate) fn read(line: &[u8], head: Head) -> Option<Self> {
        let line = std::str::from_utf8(line.strip_suffix(b"\n").unwrap_or(line)).ok()?.to_owned();
        let fields = serde_json::from_str(&line).ok()?;
        Some(Self { line, head, fields })
    }
}

/// Position of one line in the chain. The line's own hash is right.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sealed<'l> {
    pub(crate) head: Head,
    pub(crate) prev: Digest,
    pub(crate) event: &'l str,
}

/// Why a line is not a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// It does not have the form of a record.
    Form,
    /// It has the form, and another hash than its bytes.
    Hash,
}

impl Flaw {
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Form => "the line is not a record",
            Self::Hash => "the record does not match its own hash",
        }
    }
}

/// No ledger gets there; a forged number that did could not be counted on.
const MAX_SEQ: u64 = u64::MAX / 2;

const START: &[u8] = b"{\"v\":1,\"seq\":";
const TIME: &[u8] = b",\"time\":\"";
const BODY: &[u8] = b"\",";
const EVENT: &[u8] = b"\"event\":\"";
const PREV: &[u8] = b",\"prev\":\"";
const HASH: &[u8] = b"\",\"hash\":\"";
const END: &[u8] = b"\"}\n";

/// Writes the line that follows `last`, and returns the new head.
///
/// The hash covers every byte before `,"hash":"`, the hash of the record before included.
pub(crate) fn seal(line: &mut Vec<u8>, last: &Head, time: Timestamp, body: &[u8]) -> Head {
    let seq = last.seq + 1;
    line.clear();
    line.extend_from_slice(START);
    line.extend_from_slice(seq.to_string().as_bytes());
    line.extend_from_slice(TIME);
    line.extend_from_slice(format!("{time:.6}").as_bytes());
    line.extend_from_slice(BODY);
    line.extend_from_slice(body);
    line.extend_from_slice(PREV);
    line.extend_from_slice(&last.hash.hex());
    // The quote that ends `prev` is hashed, the rest of `HASH` is not.
    line.push(HASH[0]);
    let hash = Digest::of(line);
    line.extend_from_slice(&HASH[1..]);
    line.extend_from_slice(&hash.hex());
    line.extend_from_slice(END);
    Head { seq, hash }
}

/// Reads a complete line, its line break included, and checks its hash. Never panics on any input.
pub(crate) fn open(line: &[u8]) -> Result<Sealed<'_>, Flaw> {
    let sealed = parts(line).ok_or(Flaw::Form)?;
    let hashed = &line[..line.len() - (HASH.len() - 1) - 64 - END.len()];
    if Digest::of(hashed) != sealed.head.hash {
        return Err(Flaw::Hash);
    }
    let text = std::str::from_utf8(line).map_err(|_| Flaw::Form)?;
    serde_json::from_str::<IgnoredAny>(text).map_err(|_| Flaw::Form)?;
    Ok(sealed)
}

/// The number that a line claims, whether or not the rest is in order.
pub(crate) fn claimed_seq(line: &[u8]) -> Option<u64> {
    Some(take_seq(line.strip_prefix(START)?)?.0)
}

/// Returns true if bytes without a line break are what a crash leaves of a record: its beginning, or blocks of zeros that were
/// never written, or both. Anything else was not written by us.
pub(crate) fn is_torn_record(bytes: &[u8]) -> bool {
    let written = &bytes[..bytes.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1)];
    let shared = written.len().min(START.len());
    bytes.len() <= MAX_RECORD && written[..shared] == START[..shared]
}

fn parts(line: &[u8]) -> Option<Sealed<'_>> {
    let (seq, rest) = take_seq(line.strip_prefix(START)?)?;
    let rest = rest.strip_prefix(TIME)?;
    let time_end = rest.iter().position(|&byte| byte == b'"')?;
    let rest = rest[time_end..].strip_prefix(BODY)?.strip_prefix(EVENT)?;
    let event = std::str::from_utf8(&rest[..rest.iter().position(|&byte| byte == b'"')?]).ok()?;

    let rest = rest.strip_suffix(END)?;
    let (rest, hash) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
    let rest = rest.strip_suffix(HASH)?;
    let (rest, prev) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
    rest.strip_suffix(PREV)?;
    Some(Sealed { head: Head { seq, hash: Digest::read(hash)? }, prev: Digest::read(prev)?, event })
}

fn take_seq(rest: &[u8]) -> Option<(u64, &[u8])> {
    let digits = rest.iter().take(21).take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at(digits);
    if digits.is_empty() || digits[0] == b'0' {
        return None;
    }
    let seq = std::str::from_utf8(digits).ok()?.parse().ok().filter(|&seq| seq <= MAX_SEQ)?;
    Some((seq, rest))
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hex().iter().try_for_each(|&digit| fmt::Write::write_char(f, char::from(digit)))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, self.hash)
    }
}

impl FromStr for Head {
    type Err = HeadError;

    fn from_str(text: &str) -> Result<Self, HeadError> {
        let (seq, hash) = text.split_once(':').ok_or(HeadError)?;
        let (seq, rest) = take_seq(seq.as_bytes()).ok_or(HeadError)?;
        let hash = Digest::read(hash.as_bytes()).filter(|_| rest.is_empty()).ok_or(HeadError)?;
        Ok(Self { seq, hash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Timestamp = Timestamp::UNIX_EPOCH;

    fn line(body: &str) -> (Vec<u8>, Head) {
        let mut line = Vec::new();
        let head = seal(&mut line, &Head::GENESIS, TIME, body.as_bytes());
        (line, head)
    }

    #[test]
    fn a_line_reads_as_documented() {
        let (line, _) = line(r#""event":"ledger.started","version":"0.1.0""#);
        insta::assert_snapshot!(String::from_utf8(line).unwrap(), @r#"{"v":1,"seq":1,"time":"1970-01-01T00:00:00.000000Z","event":"ledger.started","version":"0.1.0","prev":"0000000000000000000000000000000000000000000000000000000000000000","hash":"70f23beabb247eca792bff821c8c98cb840e911a1e214199bb3fd3338856be64"}"#);
    }

    #[test]
    fn what_was_sealed_opens() {
        let (line, head) = line(r#""event":"a.b","text":"x""#);
        let sealed = open(&line).unwrap();
        assert_eq!((sealed.head, sealed.prev, sealed.event), (head, Head::GENESIS.hash, "a.b"));
        assert_eq!(claimed_seq(&line), Some(1));
    }

    #[test]
    fn lines_that_are_no_records() {
        let (good, _) = line(r#""event":"a.b""#);
        let good = String::from_utf8(good).unwrap();
        let rows: &[(String, Flaw)] = &[
            (String::new(), Flaw::Form),
            ("\n".into(), Flaw::Form),
            ("{}\n".into(), Flaw::Form),
            (good.trim_end().into(), Flaw::Form),
            (good.replace("\"v\":1", "\"v\":2"), Flaw::Form),
            (good.replace("\"seq\":1", "\"seq\":01"), Flaw::Form),
            (good.replace("\"seq\":1", "\"seq\":2"), Flaw::Hash),
            (good.replace("\"seq\":1", "\"seq\":99999999999999999999999"), Flaw::Form),
            (good.replace("\"seq\":1", &format!("\"seq\":{}", u64::MAX)), Flaw::Form),
            (good.replace("a.b", "a.c"), Flaw::Hash),
            (good.to_uppercase(), Flaw::Form),
            (good.replace('\n', " \n"), Flaw::Form),
        ];
        for (line, flaw) in rows {
            assert_eq!(open(line.as_bytes()).unwrap_err(), *flaw, "{line}");
        }
    }

    #[test]
    fn a_well_hashed_line_that_is_not_json_is_no_record() {
        let (line, _) = line(r#""event":"a.b",oops"#);
        assert_eq!(open(&line).unwrap_err(), Flaw::Form);
    }

    #[test]
    fn heads_are_read_back_and_nothing_else_is() {
        let head = Head { seq: 7, hash: Digest::of(b"x") };
        assert_eq!(head.to_string().parse(), Ok(head));
        let hash = Digest::of(b"x").to_string();
        let rows = [
            "",
            "7",
            "7:",
            ":",
            &format!(":{hash}"),
            &format!("0:{hash}"),
            &format!("7:{hash}0"),
            &format!("7 :{hash}"),
        ];
        for row in rows {
            assert_eq!(row.parse::<Head>(), Err(HeadError), "{row}");
        }
        assert_eq!(format!("7:{}", hash.to_uppercase()).parse::<Head>(), Err(HeadError));
    }
}

//! Parses the index of a repository, and checks the paths in it.
//!
//! Git takes the paths of its index as they are, so `git checkout .` writes to `../x` if an entry says so. The parser accepts less than
//! git does: the places of the entries must be the same however git reads them, in one pass or in blocks by several threads.

use std::time::Instant;

use super::tracked_path::{LONGEST, refusal};

/// Largest index that is read, in bytes.
pub(super) const LARGEST: u64 = 256 << 20;

/// Bytes of an entry before the object name.
const STAT: usize = 40;
const HEADER: usize = 12;
const EXTENDED: u16 = 0x4000;
const NAME_LENGTH: u16 = 0x0fff;
/// Bytes of a path that are told.
const SHOWN: usize = 200;

const MALFORMED: &str = "it is malformed";

/// Says why an index should not be used. `hash` is the length of an object name in bytes.
pub(super) fn problem(data: &[u8], hash: usize, end: Instant) -> Option<String> {
    let Some(body) = data.len().checked_sub(hash).and_then(|end| data.get(..end)) else {
        return Some(MALFORMED.to_owned());
    };
    let parsed = Parser { body, hash, at: HEADER, end, starts: Vec::new(), unnamed: false }.run();
    parsed.err().map(|fault| match fault {
        Fault::Malformed => MALFORMED.to_owned(),
        Fault::Slow => "it takes too long to read".to_owned(),
        Fault::Path(why, path) => {
            let path = String::from_utf8_lossy(&path[..path.len().min(SHOWN)]).into_owned();
            format!("it has {why}: `{}`", path.escape_debug())
        }
    })
}

/// Reads bytes as an index, with either length of object names, for tests with bytes by chance.
pub fn read_as_git_index(bytes: &[u8]) {
    let end = Instant::now() + std::time::Duration::from_secs(60);
    for hash in [20, 32] {
        drop(problem(bytes, hash, end));
    }
}

#[derive(Debug)]
enum Fault {
    Malformed,
    Slow,
    Path(&'static str, Vec<u8>),
}

/// The place of an entry, and whether its name takes nothing from the one before.
struct Start {
    at: usize,
    whole: bool,
}

struct Parser<'a> {
    /// Everything before the checksum, which git does not verify.
    body: &'a [u8],
    hash: usize,
    at: usize,
    end: Instant,
    starts: Vec<Start>,
    /// An entry without a name, which replaces one of a shared index.
    unnamed: bool,
}

impl Parser<'_> {
    fn run(mut self) -> Result<(), Fault> {
        let version = be32(self.body, 4)?;
        if !self.body.starts_with(b"DIRC") || !(2..=4).contains(&version) {
            return Err(Fault::Malformed);
        }
        let count = be32(self.body, 8)?;
        let mut name = Vec::new();
        for number in 0..count {
            if number % 4096 == 0 && Instant::now() > self.end {
                return Err(Fault::Slow);
            }
            self.entry(version, &mut name)?;
        }
        let entries_end = self.at;
        let linked = self.extensions(entries_end)?;
        if self.unnamed && !linked { Err(Fault::Path("an empty name", Vec::new())) } else { Ok(()) }
    }

    /// Reads an entry. `name` is the name of the entry before, and becomes the one of this entry.
    fn entry(&mut self, version: u32, name: &mut Vec<u8>) -> Result<(), Fault> {
        let start = self.at;
        let mode = be32(self.body, start + 24)?;
        let mut at = start + STAT + self.hash;
        let flags = be16(self.body, at)?;
        at += 2;
        // Git looks at the flag alone, not at the version.
        if flags & EXTENDED != 0 {
            be16(self.body, at)?;
            at += 2;
        }
        let mut kept = 0;
        if version == 4 {
            let (dropped, after) = varint(self.body, at)?;
            kept = name.len().checked_sub(dropped).ok_or(Fault::Malformed)?;
            at = after;
        }
        let rest = self.body.get(at..).ok_or(Fault::Malformed)?;
        let rest = &rest[..rest.len().min(LONGEST + 1)];
        let length = rest.iter().position(|byte| *byte == 0).ok_or(Fault::Malformed)?;
        self.starts.push(Start { at: start, whole: kept == 0 });
        name.truncate(kept);
        name.extend(&rest[..length]);
        let said = usize::from(flags & NAME_LENGTH);
        if said != name.len() && said != usize::from(NAME_LENGTH) {
            return Err(Fault::Malformed);
        }
        self.at = match version {
            4 => at + length + 1,
            _ => start + ((at + length - start + 8) & !7),
        };
        if self.at > self.body.len() {
            return Err(Fault::Malformed);
        }
        if name.is_empty() {
            self.unnamed = true;
            return Ok(());
        }
        refusal(name, mode).map_or(Ok(()), |why| Err(Fault::Path(why, name.clone())))
    }

    /// Reads the extensions, and returns whether the index belongs to a shared one.
    fn extensions(&mut self, entries_end: usize) -> Result<bool, Fault> {
        // Git finds this one from the end of the file, and takes the place of the others from it.
        let last = self.body.len().checked_sub(12 + self.hash).filter(|at| *at >= entries_end);
        if let Some(last) = last.filter(|at| self.body[*at..].starts_with(b"EOIE"))
            && be32(self.body, last + 8)? as usize != entries_end
        {
            return Err(Fault::Malformed);
        }
        let mut linked = false;
        while self.at < self.body.len() {
            let size = be32(self.body, self.at + 4)? as usize;
            let name = &self.body[self.at..self.at + 4];
            let end = (self.at + 8).checked_add(size).ok_or(Fault::Malformed)?;
            let content = self.body.get(self.at + 8..end).ok_or(Fault::Malformed)?;
            match name {
                b"link" => linked = true,
                b"IEOT" => self.blocks(content)?,
                _ => {}
            }
            self.at = end;
        }
        Ok(linked)
    }

    /// Checks that the blocks which threads read are the entries that were read.
    fn blocks(&self, content: &[u8]) -> Result<(), Fault> {
        let rows = content.get(4..).ok_or(Fault::Malformed)?.chunks(8);
        let mut next = 0;
        for row in rows {
            let (at, count) = (be32(row, 0)? as usize, be32(row, 4)? as usize);
            if self.starts.get(next).is_none_or(|start| start.at != at || !start.whole) {
                return Err(Fault::Malformed);
            }
            next = next.saturating_add(count);
        }
        if next == self.starts.len() { Ok(()) } else { Err(Fault::Malformed) }
    }
}

fn be32(data: &[u8], at: usize) -> Result<u32, Fault> {
    let bytes = at.checked_add(4).and_then(|end| data.get(at..end)).ok_or(Fault::Malformed)?;
    bytes.try_into().map(u32::from_be_bytes).map_err(|_| Fault::Malformed)
}

fn be16(data: &[u8], at: usize) -> Result<u16, Fault> {
    let bytes = at.checked_add(2).and_then(|end| data.get(at..end)).ok_or(Fault::Malformed)?;
    bytes.try_into().map(u16::from_be_bytes).map_err(|_| Fault::Malformed)
}

/// Reads a number in git's encoding, and returns it with the place after it.
fn varint(data: &[u8], mut at: usize) -> Result<(usize, usize), Fault> {
    let mut value = 0_usize;
    // No name is so long that its length takes more bytes.
    for number in 0..3 {
        let byte = *data.get(at).ok_or(Fault::Malformed)?;
        at += 1;
        value = ((value + usize::from(number > 0)) << 7) + usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Ok((value, at));
        }
    }
    Err(Fault::Malformed)
}

#[cfg(test)]
mod tests;

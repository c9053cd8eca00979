//! A small file system that can only be read, served by a thread of the test: one that tells letters apart, or not.

use std::ffi::CString;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::Path;
use std::thread;

use rustix::mount::{MountFlags, mount};
use unicode_normalization::UnicodeNormalization as _;

/// Which names are one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// Those that are equal.
    Exact,
    /// Those that differ in case alone.
    Folded,
    /// Those that look the same, in any normal form.
    Normalised,
}

/// Paths from the root of the file system with what is in them; those that end in a slash are directories.
pub(crate) type Files = &'static [(&'static str, &'static str)];

struct Node {
    parent: u64,
    name: String,
    /// `None`: a directory.
    content: Option<&'static str>,
}

struct Served {
    names: Names,
    /// Number 1 is the root, at index 0.
    nodes: Vec<Node>,
}

/// Mounts it. It is there until the namespace ends.
pub(crate) fn serve(on: &Path, names: Names, files: Files) -> std::io::Result<()> {
    let device = File::options().read(true).write(true).open("/dev/fuse")?;
    let options = format!("fd={},rootmode=40000,user_id=0,group_id=0", device.as_raw_fd());
    let options = CString::new(options).unwrap();
    mount("ringfence-test", on, "fuse", MountFlags::empty(), options.as_c_str())?;
    let mut served = Served { names, nodes: vec![Node { parent: 1, name: String::new(), content: None }] };
    for (path, content) in files {
        served.add(path, content);
    }
    thread::spawn(move || served.answer(device));
    Ok(())
}

impl Served {
    fn add(&mut self, path: &str, content: &'static str) {
        let mut parent = 1;
        let directory = path.ends_with('/');
        let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
        for (index, part) in parts.iter().enumerate() {
            let content = (index + 1 == parts.len() && !directory).then_some(content);
            parent = self.child(parent, part).unwrap_or_else(|| {
                self.nodes.push(Node { parent, name: (*part).to_owned(), content });
                self.nodes.len() as u64
            });
        }
    }

    fn seen(&self, name: &str) -> String {
        match self.names {
            Names::Exact => name.to_owned(),
            Names::Folded => name.nfd().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect(),
            Names::Normalised => name.nfd().collect(),
        }
    }

    fn child(&self, parent: u64, name: &str) -> Option<u64> {
        let name = self.seen(name);
        let is_it =
            |node: &Node| node.parent == parent && !node.name.is_empty() && self.seen(&node.name) == name;
        self.nodes.iter().position(is_it).map(|index| index as u64 + 1)
    }

    fn answer(self, mut device: File) {
        let mut buffer = vec![0; 256 << 10];
        while let Ok(length) = device.read(&mut buffer) {
            let request = &buffer[..length];
            let (code, unique, node) = (number(request, 4, 4), number(request, 8, 8), number(request, 16, 8));
            // Those that want no answer: to forget one, to interrupt, to forget many.
            if [2, 36, 42].contains(&code) {
                continue;
            }
            let answer = self.reply(code, node, &request[40..]);
            let (error, body) = answer.map_or_else(|error| (-error, vec![]), |body| (0, body));
            let mut out = Vec::new();
            put(&mut out, 4, body.len() as u64 + 16);
            out.extend(error.to_le_bytes());
            put(&mut out, 8, unique);
            out.extend(body);
            if device.write_all(&out).is_err() {
                return;
            }
        }
    }

    /// The answer to one request, or an error number.
    fn reply(&self, code: u64, node: u64, body: &[u8]) -> Result<Vec<u8>, i32> {
        let mut out = Vec::new();
        match code {
            // Look a name up.
            1 => {
                let name = body.split(|byte| *byte == 0).next().unwrap_or_default();
                let child =
                    std::str::from_utf8(name).ok().and_then(|name| self.child(node, name)).ok_or(2)?;
                for value in [child, 0, 0, 0, 0] {
                    put(&mut out, 8, value);
                }
                self.attributes(&mut out, child);
            }
            // Attributes.
            3 => {
                out.resize(16, 0);
                self.attributes(&mut out, node);
            }
            // Open a file, or a directory.
            14 | 27 => out.resize(16, 0),
            // Read a file.
            15 => out.extend(part(self.node(node).content.unwrap_or_default().as_bytes(), body)),
            // Room in the file system.
            17 => out.resize(80, 0),
            // Close a file or a directory, access.
            18 | 29 | 34 => {}
            // The first of all: the version of the protocol, and nothing that goes beyond it.
            26 => {
                for (width, value) in [(4, 7), (4, 31), (4, 0), (4, 0), (2, 12), (2, 9), (4, 4096), (4, 1)] {
                    put(&mut out, width, value);
                }
                out.resize(64, 0);
            }
            // Read a directory.
            28 => out.extend(self.entries(node, number(body, 8, 8), number(body, 16, 4))),
            // All other requests.
            _ => return Err(38),
        }
        Ok(out)
    }

    fn node(&self, number: u64) -> &Node {
        &self.nodes[usize::try_from(number).unwrap() - 1]
    }

    fn attributes(&self, out: &mut Vec<u8>, number: u64) {
        let content = self.node(number).content;
        let mode = if content.is_some() { 0o100_644 } else { 0o040_755 };
        for value in [number, content.map_or(0, str::len) as u64, 0, 0, 0, 0] {
            put(out, 8, value);
        }
        for value in [0, 0, 0, mode, 1, 0, 0, 0, 4096, 0] {
            put(out, 4, value);
        }
    }

    fn entries(&self, directory: u64, from: u64, room: u64) -> Vec<u8> {
        let mut out = Vec::new();
        let inside = |(_, node): &(usize, &Node)| node.parent == directory && !node.name.is_empty();
        for (index, node) in self.nodes.iter().enumerate().filter(inside) {
            let number = index as u64 + 1;
            if number <= from || out.len() as u64 + 300 > room {
                continue;
            }
            put(&mut out, 8, number);
            put(&mut out, 8, number);
            put(&mut out, 4, node.name.len() as u64);
            put(&mut out, 4, if node.content.is_some() { 8 } else { 4 });
            out.extend(node.name.as_bytes());
            out.resize(out.len().next_multiple_of(8), 0);
        }
        out
    }
}

/// The part of a content that is asked for.
fn part<'a>(content: &'a [u8], body: &[u8]) -> &'a [u8] {
    let from = content.len().min(usize::try_from(number(body, 8, 8)).unwrap());
    let length = usize::try_from(number(body, 16, 4)).unwrap();
    &content[from..content.len().min(from + length)]
}

fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    bytes[at..at + width].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

fn put(out: &mut Vec<u8>, width: usize, value: u64) {
    out.extend(&value.to_le_bytes()[..width]);
}

//! Lines of bounded length, in constant memory.

use std::io::{self, BufRead};

use crate::record::MAX_RECORD;

/// Next element of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// A complete line is in the buffer, its line break included.
    Line,
    /// The file ends without a line break; what is left is in the buffer.
    Torn,
    /// A line longer than any record.
    Endless,
    /// Nothing more.
    End,
}

/// Reads one line into `line`.
pub(crate) fn next(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Next> {
    line.clear();
    loop {
        let chunk = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            chunk => chunk?,
        };
        if chunk.is_empty() {
            return Ok(if line.is_empty() { Next::End } else { Next::Torn });
        }
        let (taken, complete) = match memchr(chunk) {
            Some(at) => (at + 1, true),
            None => (chunk.len(), false),
        };
        if line.len() + taken > MAX_RECORD {
            return Ok(Next::Endless);
        }
        line.extend_from_slice(&chunk[..taken]);
        reader.consume(taken);
        if complete {
            return Ok(Next::Line);
        }
    }
}

fn memchr(chunk: &[u8]) -> Option<usize> {
    chunk.iter().position(|&byte| byte == b'\n')
}

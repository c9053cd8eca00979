//! Bytes from outside, no more than asked for.

use std::io::{self, Read};

/// Bytes read before the cap.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BoundedBytes {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// True if there were more.
    pub more: bool,
}

/// Reads at most `max_bytes`, and says whether there was more.
///
/// The cap holds while reading: a stream without end costs no more memory than a short one. Where a stream is
/// decompressed, put this behind the decompressor, or a small file becomes a large one.
pub fn read(from: impl Read, max_bytes: usize) -> io::Result<BoundedBytes> {
    let one_more = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    from.take(one_more).read_to_end(&mut bytes)?;
    let more = bytes.len() > max_bytes;
    bytes.truncate(max_bytes);
    Ok(BoundedBytes { bytes, more })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_up_to_the_cap() {
        let rows = [(0, 3, 0, false), (2, 3, 2, false), (3, 3, 3, false), (4, 3, 3, true), (9, 0, 0, true)];
        for (there, cap, expected, more) in rows {
            let taken = read(&vec![7; there][..], cap).unwrap();
            assert_eq!((taken.bytes.len(), taken.more), (expected, more), "{there} of {cap}");
        }
    }

    #[test]
    fn a_stream_without_end_ends() {
        let taken = read(io::repeat(0), 100_000).unwrap();
        assert_eq!((taken.bytes.len(), taken.more), (100_000, true));
    }

    #[test]
    fn a_broken_stream_is_an_error() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::ConnectionReset.into())
            }
        }
        assert_eq!(read((&b"ab"[..]).chain(Broken), 10).unwrap_err().kind(), io::ErrorKind::ConnectionReset);
        assert!(read((&b"abc"[..]).chain(Broken), 2).unwrap().more);
    }
}

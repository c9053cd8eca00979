//! Kind of a file, by its first bytes.

use super::image::Format;

/// Number of bytes that are examined.
pub(crate) const HEAD: usize = 8192;

/// Kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text(Encoding),
    Image(Format),
    /// Something else, by its name.
    Other(&'static str),
}

/// Encoding of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    /// With a byte order mark, which is not part of the text.
    Utf8Marked,
    Utf16Little,
    Utf16Big,
}

/// First bytes, and what begins with them.
const OTHERS: &[(&[u8], &str)] = &[
    (b"%PDF-", "a PDF document"),
    (b"\x7fELF", "an ELF program or library"),
    (b"MZ", "a Windows program or library"),
    (b"\xfe\xed\xfa\xce", "a Mach-O program or library"),
    (b"\xfe\xed\xfa\xcf", "a Mach-O program or library"),
    (b"\xce\xfa\xed\xfe", "a Mach-O program or library"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
    (b"\xca\xfe\xba\xbe", "a Java class or a Mach-O program"),
    (b"\0asm", "a WebAssembly module"),
    (b"PK\x03\x04", "a ZIP archive, or a document in one"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x1f\x8b", "data compressed with gzip"),
    (b"BZh", "data compressed with bzip2"),
    (b"\xfd7zXZ\0", "data compressed with xz"),
    (b"\x28\xb5\x2f\xfd", "data compressed with zstd"),
    (b"\x04\x22\x4d\x18", "data compressed with lz4"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"!<arch>\n", "an archive of object files or a Debian package"),
    (b"SQLite format 3\0", "a SQLite database"),
    (b"PACK\0", "a pack of git objects"),
    (b"DIRC\0", "a git index"),
    (b"PAR1", "a Parquet file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (b"OggS", "Ogg audio or video"),
    (b"ID3", "MP3 audio"),
    (b"\xff\xfb", "MP3 audio"),
    (b"fLaC", "FLAC audio"),
    (b"\x1aE\xdf\xa3", "Matroska or WebM video"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"\0\0\x01\0", "a Windows icon"),
    (b"wOFF", "a web font"),
    (b"wOF2", "a web font"),
    (b"\0\x01\0\0\0", "a TrueType font"),
    (b"OTTO", "an OpenType font"),
    (b"\0\0\xfe\xff", "UTF-32 text"),
    (b"\xff\xfe\0\0", "UTF-32 text"),
];

/// The same for what stands further on.
const FURTHER_ON: &[(usize, &[u8], &str)] = &[
    (257, b"ustar", "a tar archive"),
    (4, b"ftyp", "MP4 video, or an image or audio in its container"),
    (8, b"WAVE", "WAVE audio"),
    (8, b"AVI ", "AVI video"),
];

impl Kind {
    /// Returns the kind of a file that begins like this. `all` says that nothing follows.
    pub(crate) fn of(head: &[u8], all: bool) -> Self {
        // Some formats are text all through, and not readable.
        if head.starts_with(b"%PDF-") {
            return Self::Other("a PDF document");
        }
        // A file that reads as text is text, with any first letters.
        if let Some(encoding) = encoding(head, all) {
            return Self::Text(encoding);
        }
        Format::of(head).map_or_else(|| Self::Other(other(head)), Self::Image)
    }
}

fn other(head: &[u8]) -> &'static str {
    let first = OTHERS.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, name)| *name);
    let further = || {
        let found = |(at, magic, _): &&(usize, &[u8], &str)| {
            head.get(*at..).is_some_and(|rest| rest.starts_with(magic))
        };
        FURTHER_ON.iter().find(found).map(|(_, _, name)| *name)
    };
    first.or_else(further).unwrap_or(if head.contains(&0) {
        "binary data of no known type"
    } else {
        "neither UTF-8 nor UTF-16 text, maybe text in an older encoding"
    })
}

fn encoding(head: &[u8], all: bool) -> Option<Encoding> {
    match head {
        [0xff, 0xfe, rest @ ..] if is_utf16(rest, u16::from_le_bytes) => Some(Encoding::Utf16Little),
        [0xfe, 0xff, rest @ ..] if is_utf16(rest, u16::from_be_bytes) => Some(Encoding::Utf16Big),
        [0xef, 0xbb, 0xbf, rest @ ..] if is_utf8(rest, all) => Some(Encoding::Utf8Marked),
        _ => is_utf8(head, all).then_some(Encoding::Utf8),
    }
}

/// Returns true if it is text as far as it goes: the last character may be cut.
fn is_utf8(head: &[u8], all: bool) -> bool {
    let cut_only = |error: std::str::Utf8Error| error.error_len().is_none() && !all;
    !head.contains(&0) && std::str::from_utf8(head).map_or_else(cut_only, |_| true)
}

fn is_utf16(head: &[u8], unit: fn([u8; 2]) -> u16) -> bool {
    let (pairs, _) = head.as_chunks::<2>();
    let mut units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    if units.last().is_some_and(|last| (0xd800..0xdc00).contains(last)) {
        units.pop();
    }
    char::decode_utf16(units).all(|c| c.is_ok_and(|c| c != '\0'))
}

impl Encoding {
    /// The bytes of the mark at the beginning.
    pub(crate) const fn mark(self) -> usize {
        match self {
            Self::Utf8 => 0,
            Self::Utf8Marked => 3,
            Self::Utf16Little | Self::Utf16Big => 2,
        }
    }

    /// The word for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Utf8Marked => "UTF-8 with a byte order mark",
            Self::Utf16Little => "UTF-16, little-endian",
            Self::Utf16Big => "UTF-16, big-endian",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_what_files_are() {
        let text = |encoding| Kind::Text(encoding);
        let rows: &[(&[u8], bool, Kind)] = &[
            (b"", true, text(Encoding::Utf8)),
            (b"plain\n", true, text(Encoding::Utf8)),
            ("caf\u{e9}".as_bytes(), true, text(Encoding::Utf8)),
            (b"caf\xc3", false, text(Encoding::Utf8)),
            (b"caf\xc3", true, Kind::Other("neither UTF-8 nor UTF-16 text, maybe text in an older encoding")),
            (
                b"caf\xe9 noir",
                false,
                Kind::Other("neither UTF-8 nor UTF-16 text, maybe text in an older encoding"),
            ),
            (b"\xef\xbb\xbfmarked", true, text(Encoding::Utf8Marked)),
            (b"\xff\xfeh\0i\0", true, text(Encoding::Utf16Little)),
            (b"\xfe\xff\0h\0i", true, text(Encoding::Utf16Big)),
            (b"\xff\xfe\x00\xdcx\0", true, Kind::Other("binary data of no known type")),
            (b"\xff\xfe\0\0h\0\0\0", true, Kind::Other("UTF-32 text")),
            (b"BMW drives", true, text(Encoding::Utf8)),
            (b"MZ is a name", true, text(Encoding::Utf8)),
            (b"MZ\x90\0", true, Kind::Other("a Windows program or library")),
            (b"%PDF-1.4\n%text", true, Kind::Other("a PDF document")),
            (b"\x7fELF\x02\x01\x01\0", true, Kind::Other("an ELF program or library")),
            (b"PK\x03\x04\x14\0", true, Kind::Other("a ZIP archive, or a document in one")),
            (b"a\0b", true, Kind::Other("binary data of no known type")),
            (b"RIFF\x24\0\0\0WAVEfmt ", true, Kind::Other("WAVE audio")),
            (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", true, Kind::Image(Format::Png)),
            (b"\xff\xd8\xff\xe0\0\x10JFIF\0", true, Kind::Image(Format::Jpeg)),
        ];
        for (head, all, kind) in rows {
            assert_eq!(Kind::of(head, *all), *kind, "{head:?}");
        }
    }
}

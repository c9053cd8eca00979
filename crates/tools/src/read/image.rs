//! Images: what they are and how large, from their first bytes.

/// The formats that models look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Png,
    Jpeg,
    Gif,
    WebP,
    Bmp,
}

impl Format {
    pub(crate) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::WebP),
            // The size of the second header tells it from other files that begin with these letters.
            [b'B', b'M', ..] if matches!(little(head, 14, 4), Some(12 | 40 | 52 | 56 | 64 | 108 | 124)) => {
                Some(Self::Bmp)
            }
            _ => None,
        }
    }

    pub(crate) const fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
            Self::Bmp => "image/bmp",
        }
    }

    /// Width and height, if the header says so.
    pub(crate) fn dimensions(self, bytes: &[u8]) -> Option<(u32, u32)> {
        match self {
            Self::Png => Some((big(bytes, 16, 4)?, big(bytes, 20, 4)?)),
            Self::Gif => Some((little(bytes, 6, 2)?, little(bytes, 8, 2)?)),
            Self::Bmp => bmp(bytes),
            Self::Jpeg => jpeg(bytes),
            Self::WebP => webp(bytes),
        }
    }
}

fn bmp(bytes: &[u8]) -> Option<(u32, u32)> {
    if little(bytes, 14, 4)? == 12 {
        return Some((little(bytes, 18, 2)?, little(bytes, 20, 2)?));
    }
    // A negative height means that the rows are stored from the top.
    let height = little(bytes, 22, 4)?.cast_signed();
    Some((little(bytes, 18, 4)?, height.unsigned_abs()))
}

/// Follows the segments until one begins a frame.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xff {
            return None;
        }
        match *bytes.get(at + 1)? {
            // Filling.
            0xff => at += 1,
            // Markers that stand alone.
            0x01 | 0xd0..=0xd8 => at += 2,
            // Frames; the gaps among them are tables.
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?));
            }
            // The image began, or ended, without a frame.
            0xd9 | 0xda => return None,
            _ => at += 2 + usize::try_from(big(bytes, at + 2, 2)?.max(2)).ok()?,
        }
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8 " => Some((little(bytes, 26, 2)? & 0x3fff, little(bytes, 28, 2)? & 0x3fff)),
        b"VP8L" => {
            let bits = little(bytes, 21, 4)?;
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        _ => None,
    }
}

fn big(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}

fn little(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(length)?)?;
    Some(bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first bytes of an image, 300 wide and 200 high.
    fn rows() -> Vec<(&'static str, Format, Vec<u8>)> {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x2c\0\0\0\xc8\x08\x06".to_vec();
        let gif = b"GIF89a\x2c\x01\xc8\0\x80\0\0".to_vec();
        let mut bmp = b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x2c\x01\0\0".to_vec();
        let mut upside_down = bmp.clone();
        bmp.extend(b"\xc8\0\0\0");
        upside_down.extend((-200_i32).to_le_bytes());
        let old = b"BM\0\0\0\0\0\0\0\0\x1a\0\0\0\x0c\0\0\0\x2c\x01\xc8\0".to_vec();
        let mut jpeg = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0".to_vec();
        jpeg.extend(b"\xff\xff\xdb\0\x04\0\0\xff\xc2\0\x11\x08\0\xc8\x01\x2c\x03");
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x2c\x01\xc8\0".to_vec();
        let mut lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f".to_vec();
        lossless.extend((299_u32 + (199 << 14)).to_le_bytes());
        let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x2b\x01\0\xc7\0\0".to_vec();
        vec![
            ("png", Format::Png, png),
            ("gif", Format::Gif, gif),
            ("bmp", Format::Bmp, bmp),
            ("bmp from the top", Format::Bmp, upside_down),
            ("old bmp", Format::Bmp, old),
            ("jpeg", Format::Jpeg, jpeg),
            ("webp, lossy", Format::WebP, lossy),
            ("webp, lossless", Format::WebP, lossless),
            ("webp, extended", Format::WebP, extended),
        ]
    }

    #[test]
    fn headers_say_how_large_images_are() {
        for (what, format, bytes) in rows() {
            assert_eq!(Format::of(&bytes), Some(format), "{what}");
            assert_eq!(format.dimensions(&bytes), Some((300, 200)), "{what}");
        }
    }

    #[test]
    fn a_cut_header_says_nothing() {
        for (what, format, bytes) in rows() {
            for length in 0..bytes.len() {
                let cut = format.dimensions(&bytes[..length]);
                assert!(cut.is_none_or(|size| size == (300, 200)), "{what}, {length} bytes: {cut:?}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn no_header_panics(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..64), which in 0..5_usize) {
            let format = [Format::Png, Format::Jpeg, Format::Gif, Format::WebP, Format::Bmp][which];
            format.dimensions(&bytes);
        }
    }
}

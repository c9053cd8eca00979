//! Which bytes above ASCII are part of a character, and which steer.

/// Class of a byte from 0x80 on, given the bytes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Byte {
    /// Part of a character, or a stray byte that steers nothing.
    Text,
    /// A control that opens a string or a sequence, ends one, or asks the terminal who it is; alone or encoded.
    Control(u8),
}

/// Follows UTF-8 from byte to byte, so that 0x9b in the middle of a letter is a letter and elsewhere a control.
///
/// A terminal that shows UTF-8 is assumed to decode before it looks for controls. Encodings that are not allowed (too
/// long, surrogates) are not followed: a lenient decoder would find a control in them.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Utf8 {
    /// Number of bytes of the character that are missing.
    missing: u8,
    /// The lowest and the highest byte that may come next.
    next: (u8, u8),
    /// True if the character lies below U+00C0, where the controls are.
    low: bool,
}

impl Utf8 {
    /// Forgets an unfinished character: an ASCII byte came.
    pub(super) fn reset(&mut self) {
        self.missing = 0;
    }

    /// Takes the next byte, which is not ASCII.
    pub(super) fn take(&mut self, byte: u8) -> Byte {
        let (lowest, highest) = self.next;
        if self.missing == 0 || byte < lowest || byte > highest {
            *self = Self::begin(byte);
            return if self.missing == 0 { stray(byte) } else { Byte::Text };
        }
        self.missing -= 1;
        self.next = CONTINUATION;
        if self.low { stray(byte) } else { Byte::Text }
    }

    fn begin(byte: u8) -> Self {
        let (missing, next) = match byte {
            0xc2..=0xdf => (1, CONTINUATION),
            0xe0 => (2, (0xa0, 0xbf)),
            0xed => (2, (0x80, 0x9f)),
            0xe1..=0xef => (2, CONTINUATION),
            0xf0 => (3, (0x90, 0xbf)),
            0xf1..=0xf3 => (3, CONTINUATION),
            0xf4 => (3, (0x80, 0x8f)),
            _ => (0, CONTINUATION),
        };
        Self { missing, next, low: byte == 0xc2 }
    }
}

const CONTINUATION: (u8, u8) = (0x80, 0xbf);

/// The controls left out here move the cursor or set a tab, which ordinary sequences do as well; as bytes they are letters
/// in many old encodings.
fn stray(byte: u8) -> Byte {
    match byte {
        // DCS, SOS, SGCI, DECID, CSI, ST, OSC, PM, APC.
        0x90 | 0x98..=0x9f => Byte::Control(byte),
        _ => Byte::Text,
    }
}

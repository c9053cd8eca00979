//! Deltas: an object as pieces of another one and pieces of its own.

/// Makes an object out of its base. `None` if the delta is damaged, belongs to another base, or makes more than `limit` bytes.
pub(super) fn apply(base: &[u8], delta: &[u8], limit: usize) -> Option<Vec<u8>> {
    let mut reader = Reader { rest: delta };
    let (from, to) = (reader.size()?, reader.size()?);
    if from != base.len() || to > limit {
        return None;
    }
    let mut made = Vec::with_capacity(to);
    while let Some(instruction) = reader.byte() {
        let piece = reader.piece(instruction, base)?;
        if piece.len() > to - made.len() {
            return None;
        }
        made.extend_from_slice(piece);
    }
    (made.len() == to).then_some(made)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Reads a size: seven bits in a byte, the lowest first.
    fn size(&mut self) -> Option<usize> {
        let mut size = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = usize::from(byte & 0x7f);
            size |= bits.checked_shl(shift).filter(|moved| moved >> shift == bits)?;
            if byte & 0x80 == 0 {
                return Some(size);
            }
        }
        None
    }

    fn piece<'b>(&mut self, instruction: u8, base: &'b [u8]) -> Option<&'b [u8]>
    where
        'a: 'b,
    {
        match instruction {
            0 => None,
            1..0x80 => {
                let (piece, rest) = self.rest.split_at_checked(usize::from(instruction))?;
                self.rest = rest;
                Some(piece)
            }
            _ => {
                let start = self.number(instruction, 4)?;
                let length = self.number(instruction >> 4, 3)?;
                let length = if length == 0 { 0x10000 } else { length };
                base.get(start..start.checked_add(length)?)
            }
        }
    }

    /// Reads the bytes of a number that are there, each announced by a bit.
    fn number(&mut self, present: u8, bytes: usize) -> Option<usize> {
        let mut number = 0;
        for at in 0..bytes {
            if present >> at & 1 == 1 {
                number |= usize::from(self.byte()?) << (at * 8);
            }
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deltas_make_what_they_say_and_nothing_else() {
        let base = b"0123456789";
        let rows: [(&[u8], Option<&[u8]>); 13] = [
            (&[10, 3, 0x91, 2, 3], Some(b"234")),
            (&[10, 5, 2, b'a', b'b', 0x91, 7, 3], Some(b"ab789")),
            (&[10, 3, 0x90, 3], Some(b"012")),
            (&[10, 0], Some(b"")),
            (&[10, 3, 0x91, 2, 2], None),
            (&[10, 3, 0x91, 2, 4], None),
            (&[10, 3, 0x91, 8, 3], None),
            (&[9, 3, 0x91, 2, 3], None),
            (&[10, 3, 0], None),
            (&[10, 3, 0x91, 2], None),
            (&[10, 3, 5, b'a'], None),
            (&[10], None),
            (&[0x8a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1, 0], None),
        ];
        for (delta, expected) in rows {
            assert_eq!(apply(base, delta, 100).as_deref(), expected, "{delta:?}");
        }
        assert_eq!(apply(base, &[10, 3, 0x91, 2, 3], 2), None, "more than is allowed");
    }
}

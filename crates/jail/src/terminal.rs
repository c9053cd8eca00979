//! Filter of what passes between a jailed program and the caller's terminal. Pure: bytes in, bytes out.

mod filter;
mod sequence;
mod utf8;

pub(crate) use filter::Filter;

/// Filters output that comes in pieces, for tests with bytes by chance.
#[must_use]
pub fn filter_for_terminal<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let (mut screen, mut filter) = (Vec::new(), Filter::default());
    pieces.for_each(|piece| filter.push(piece, &mut screen));
    screen
}

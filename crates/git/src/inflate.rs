//! Decompression into a buffer that does not grow beyond a limit.

use flate2::{Decompress, FlushDecompress, Status};

/// Decompresses one object after the other with the same tables.
pub(super) struct Inflater {
    state: Decompress,
    input: Vec<u8>,
}

const INPUT: usize = 4096;
const OUTPUT: usize = 4096;

impl Inflater {
    pub(super) fn new() -> Self {
        Self { state: Decompress::new(true), input: vec![0; INPUT] }
    }

    /// Decompresses what `read` gives, until the stream ends. `None` if it is damaged, does not end, or is longer than `limit`.
    pub(super) fn inflate(
        &mut self,
        limit: usize,
        mut read: impl FnMut(&mut [u8]) -> Option<usize>,
    ) -> Option<Vec<u8>> {
        self.state.reset(true);
        let mut output = Vec::with_capacity(limit.min(OUTPUT));
        let (mut from, mut to) = (0, 0);
        loop {
            if from == to {
                (from, to) = (0, read(&mut self.input).filter(|read| *read > 0 && *read <= INPUT)?);
            }
            // One byte more than is allowed is room enough to see that there are more.
            if output.len() == output.capacity() {
                let room = output.len().clamp(1, OUTPUT * 16).min((limit + 1).checked_sub(output.len())?);
                output.reserve_exact(room);
            }
            let before = (self.state.total_in(), output.len());
            let input = self.input.get(from..to)?;
            let status = self.state.decompress_vec(input, &mut output, FlushDecompress::None).ok()?;
            from += usize::try_from(self.state.total_in() - before.0).ok()?;
            if output.len() > limit {
                return None;
            }
            match status {
                Status::StreamEnd => return Some(output),
                Status::Ok => {}
                Status::BufError => {
                    let moved = (self.state.total_in(), output.len()) != before;
                    let full = output.len() == output.capacity();
                    (moved || full || from == to).then_some(())?;
                }
            }
        }
    }
}

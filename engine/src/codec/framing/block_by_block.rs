//! Common steps of the framings: a block is decoded whole, and copied to the output as there is room.

use super::super::{State, Step};
use yunti_base::Result;

/// A framing that decodes one block at a time.
pub trait BlockByBlock {
    /// Returns the last decoded block, and how much of it was copied out.
    fn decoded(&mut self) -> (&[u8], &mut usize);
    /// Takes some of the input, which is not empty, when the last block is copied out; returns the bytes taken.
    fn advance(&mut self, input: &[u8], at: u64) -> Result<usize>;
    /// Returns true if the data may end here, once the block is copied out.
    fn may_end(&self) -> bool;
}

/// Implements `Format::step`.
pub fn step(blocks: &mut impl BlockByBlock, input: &[u8], output: &mut [u8], at: u64) -> Result<Step> {
    let (mut read, mut written) = (0, 0);
    let handed_out = loop {
        let (block, done) = blocks.decoded();
        let ready = (block.len() - *done).min(output.len() - written);
        output[written..written + ready].copy_from_slice(&block[*done..*done + ready]);
        *done += ready;
        written += ready;
        let handed_out = *done == block.len();
        if read == input.len() || !handed_out {
            break handed_out;
        }
        read += blocks.advance(&input[read..], at + read as u64)?;
    };
    Ok(Step { read, written, state: if handed_out && blocks.may_end() { State::End } else { State::More } })
}

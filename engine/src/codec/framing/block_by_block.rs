//! What the framings have in common: a block is decoded whole, and handed out as there is room for it.

use super::super::{State, Step};
use yunti_base::Result;

pub trait BlockByBlock {
    /// The block that was decoded last, and how much of it was handed out.
    fn decoded(&mut self) -> (&[u8], &mut usize);
    /// Takes some of the input, which is not empty, with no block left to hand out; how much.
    fn advance(&mut self, input: &[u8], at: u64) -> Result<usize>;
    /// Whether the data may end here, once all of the block is handed out.
    fn may_end(&self) -> bool;
}

/// As `Format::step`.
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

//! Generators of test data: the same arguments give the same bytes on any number of threads.
//!
//! TeraSort records (`TeraRows`, `TeraAsciiRows`) can start at any row. Text (`TextBlocks`, `ZipfBlocks`, `PairBlocks`)
//! is a sequence of independent blocks of whole lines:
//!
//! ```text
//!   seed, block 0        seed, block 1        seed, block 2
//!  +------------------+ +------------------+ +---------------+
//!  | line LF line LF  | | line LF line LF  | | line LF ..    |   <= BLOCK_BYTES each
//!  +------------------+ +------------------+ +---------------+
//! ```
//!
//! So a thread can make block *i* alone, and block *i* is the same in a file of any size.

mod lines;
pub mod pairs;
mod random;
pub mod tera;
pub mod tera_ascii;
pub mod text;
mod words;
pub mod zipf;

pub use pairs::PairBlocks;
pub use tera::{TERA_RECORD_BYTES, TeraRows};
pub use tera_ascii::TeraAsciiRows;
pub use text::TextBlocks;
pub use zipf::ZipfBlocks;

/// Bytes of a block of text at most; a block is at most one word or pair shorter.
pub const BLOCK_BYTES: usize = 1 << 20;

/// Lines of text in blocks, each made independently.
pub trait Blocks: Send + Sync {
    /// Replaces `out` by the first lines of block `index`: as many bytes as fit in `bytes_max`, ending with LF. `out`
    /// becomes empty if not even one word fits.
    fn block(&self, index: u64, bytes_max: usize, out: &mut Vec<u8>);
}

#[cfg(test)]
pub(crate) mod testing {
    //! Properties of every generator of blocks.

    use super::{BLOCK_BYTES, Blocks};

    /// FNV-1a hash, which pins generated data in the tests without storing it.
    pub fn fnv64(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0xcbf29ce484222325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100000001b3))
    }

    /// Checks a generator. `slack`: length of the longest item that is never cut, separator included.
    pub fn check_blocks(blocks: &dyn Blocks, slack: usize) {
        let (mut first, mut again, mut second) = (Vec::new(), vec![7; 3 * BLOCK_BYTES], Vec::new());
        blocks.block(0, BLOCK_BYTES, &mut first);
        blocks.block(0, BLOCK_BYTES, &mut again);
        blocks.block(1, BLOCK_BYTES, &mut second);
        assert!(first == again, "a block depends on what the buffer held");
        assert!(first != second, "two blocks are alike");
        for (bytes_max, block) in [(BLOCK_BYTES, &first), (BLOCK_BYTES, &second)] {
            assert!(block.len() <= bytes_max && block.len() + slack > bytes_max, "{}", block.len());
            assert_eq!(block.last(), Some(&b'\n'));
        }
        let mut cut = Vec::new();
        for bytes_max in (0..200).chain([4096, 65_537, BLOCK_BYTES - 1]) {
            blocks.block(0, bytes_max, &mut cut);
            assert!(cut.len() <= bytes_max && cut.len() + slack > bytes_max, "{bytes_max}: {}", cut.len());
            if let Some((last, body)) = cut.split_last() {
                assert_eq!(*last, b'\n');
                assert!(first.starts_with(body), "{bytes_max}: not the beginning of the block");
            }
        }
    }
}

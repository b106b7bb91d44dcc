//! The lz4 block format, for the blocks of spill runs: it costs so little that smaller writes are always faster.
//!
//! A block has neither its length nor a checksum; the run format stores both sizes and a CRC32C next to it.
//! Incompressible data grows by up to 1/255. Compare the result with the input and store such data as it is.

use lz4_flex::block::{CompressTable, compress_into_with_table, decompress_into, get_maximum_output_size};
use yunti_base::{Code, Error, Result};

/// Bytes of a spill run's block. On source text 64 KiB is 5 % larger, 1 MiB is 1 % smaller; the speed is the same.
pub const BLOCK_BYTES: usize = 256 << 10;

/// Returns the output space that suffices for any `input_bytes` bytes.
pub const fn compressed_bytes_max(input_bytes: usize) -> usize {
    get_maximum_output_size(input_bytes)
}

/// Compressor of blocks; it keeps its table (16 KiB) between them. One per thread.
pub struct Compressor {
    table: CompressTable,
}

impl Compressor {
    /// Returns a compressor with an empty table.
    pub fn new() -> Self {
        Compressor { table: CompressTable::large() }
    }

    /// Compresses one block and returns the bytes written to the front of `output`.
    ///
    /// Panics if `output` is shorter than `compressed_bytes_max(input.len())`.
    pub fn compress(&mut self, input: &[u8], output: &mut [u8]) -> usize {
        assert!(output.len() >= compressed_bytes_max(input.len()), "too little room for an lz4 block");
        compress_into_with_table(input, output, &mut self.table).expect("the room is enough for any block")
    }

    /// Appends the compressed block to `output`. `compress` with a kept output is faster: this function clears the room
    /// first.
    pub fn compress_append(&mut self, input: &[u8], output: &mut Vec<u8>) {
        let begin = output.len();
        output.resize(begin + compressed_bytes_max(input.len()), 0);
        let written = self.compress(input, &mut output[begin..]);
        output.truncate(begin + written);
    }
}

impl Default for Compressor {
    fn default() -> Self {
        Compressor::new()
    }
}

/// Appends `input`, compressed, to `output`; for occasional blocks.
pub fn compress(input: &[u8], output: &mut Vec<u8>) {
    Compressor::new().compress_append(input, output);
}

/// Decompresses one block to the front of `output` and returns its length. Bytes of `output` behind it may change.
///
/// Errors: `Corrupt` if `input` is not an lz4 block or exceeds `output`. The caller knows the file and the offset, and
/// compares the length with the stored one.
pub fn decompress(input: &[u8], output: &mut [u8]) -> Result<usize> {
    decompress_into(input, output).map_err(|error| {
        Error::new(Code::Corrupt, format!("the lz4 block is damaged ({error})"))
            .hint("run the job again; check the disk")
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{noise, text};
    use super::*;

    fn samples() -> Vec<Vec<u8>> {
        let mut samples: Vec<Vec<u8>> = (0..40).map(|n| vec![b'a'; n]).collect();
        for bytes in [1, 12, 13, 14, 64, 65_534, 65_535, 65_536, 65_537, BLOCK_BYTES, BLOCK_BYTES + 1] {
            samples.push(vec![0; bytes]);
            samples.push(text(bytes));
            samples.push(noise(bytes));
        }
        samples
    }

    #[test]
    fn restores_blocks() {
        let mut compressor = Compressor::new();
        for data in samples() {
            let mut block = b"before".to_vec();
            compressor.compress_append(&data, &mut block);
            assert!(block.starts_with(b"before"));
            assert!(block.len() - 6 <= compressed_bytes_max(data.len()));
            let mut alone = Vec::new();
            compress(&data, &mut alone);
            assert_eq!(alone, &block[6..], "a kept table changes nothing");

            let mut output = vec![0xAA; data.len() + 3];
            assert_eq!(decompress(&block[6..], &mut output).unwrap(), data.len());
            assert!(output[..data.len()] == data);
            if !data.is_empty() {
                assert_eq!(decompress(&block[6..], &mut output[..data.len() - 1]).unwrap_err().code(), Code::Corrupt);
            }
        }
    }

    #[test]
    fn decodes_a_block_of_the_reference_implementation() {
        // `lz4 -c` of 25 times 'a', the block inside its frame.
        let block = [0x1F, b'a', 0x01, 0x00, 0x00, 0x50, b'a', b'a', b'a', b'a', b'a'];
        let mut output = [0; 64];
        let n = decompress(&block, &mut output).unwrap();
        assert_eq!(&output[..n], &[b'a'; 25]);
    }

    /// There is no checksum here, so damage may pass as other data. It may not panic, hang or write outside of the
    /// output.
    #[test]
    fn damaged_blocks_fail_or_decode_within_bounds() {
        for data in [text(700), noise(300), vec![7; 5000]] {
            let mut block = Vec::new();
            compress(&data, &mut block);
            let mut output = vec![0; data.len() + 100];
            for at in 0..block.len() {
                for bit in 0..8 {
                    let mut damaged = block.clone();
                    damaged[at] ^= 1 << bit;
                    if let Ok(n) = decompress(&damaged, &mut output) {
                        assert!(n <= output.len());
                    }
                }
                let cut = decompress(&block[..at], &mut output);
                assert!(cut.is_err() || cut.is_ok_and(|n| n < data.len()), "cut at {at}");
            }
        }
    }
}

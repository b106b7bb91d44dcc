//! Arbitrary bytes as an lz4 block and as data to compress: no access past the end, and a round trip gives the same
//! bytes.

use yunti_engine::codec::lz4_block;

/// Checks one input. The first byte sets the output size, in units of 64 bytes.
pub fn check(bytes: &[u8]) {
    let [room, file @ ..] = bytes else { return };
    let mut output = vec![0; *room as usize * 64];
    if let Ok(written) = lz4_block::decompress(file, &mut output) {
        assert!(written <= output.len());
    }
    let mut block = Vec::new();
    lz4_block::compress(file, &mut block);
    let mut back = vec![0; file.len()];
    assert_eq!(lz4_block::decompress(&block, &mut back).unwrap(), file.len());
    assert!(back == file);
}

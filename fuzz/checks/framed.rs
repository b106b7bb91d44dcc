//! Arbitrary bytes as framed records: whole records with their offsets, or one error. Whole records round-trip.

use yunti_base::Code;
use yunti_engine::format::framed::{self, FramedSplitter};

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let whole = match framed::whole(bytes) {
        Ok(n) => &bytes[..n],
        Err(e) => return assert!(e.code() == Code::Corrupt && e.hint_text().is_some(), "{e}"),
    };
    let mut splitter = FramedSplitter::default();
    splitter.split(whole);
    let mut back = Vec::new();
    for i in 0..splitter.key_offsets.len() {
        let key = &whole[splitter.key_offsets[i] as usize..][..splitter.key_lengths[i] as usize];
        let value = &whole[splitter.value_offsets[i] as usize..][..splitter.value_lengths[i] as usize];
        back.extend_from_slice(&framed::header(key, value));
        back.extend_from_slice(key);
        back.extend_from_slice(value);
    }
    assert!(back == whole);
}

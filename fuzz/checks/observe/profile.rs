//! Arbitrary bytes as profiles: what is read is written and read again. The tests of `observe/record/` replay these
//! corpora, so this module is not in `mod.rs`, which belongs to the engine.

use yunti_record::{collapsed, otlp, pprof};

/// Checks pprof, gzipped or not, and the facts at its beginning.
pub fn pprof(bytes: &[u8]) {
    let _ = pprof::read_facts(bytes);
    if let Ok(slice) = pprof::read(bytes) {
        let written = pprof::write(&slice);
        assert!(pprof::read(&written).unwrap() == slice);
        // Facts that are longer than the beginning are read from the whole only.
        assert!(pprof::read_facts(&written[..]).is_ok_and(|facts| facts == slice.facts) || bytes.len() > 16 << 10);
        for measure in slice.stacks.measures() {
            let text = collapsed::write(&slice.stacks, measure);
            let again = collapsed::read(&text, measure, 1);
            assert!(again.is_ok() || text.contains(char::is_control), "{text}");
        }
    }
}

/// Checks OTLP profiles, whose kinds of code are fewer than ours: the second time is equal.
pub fn otlp(bytes: &[u8]) {
    for slice in otlp::read(bytes).into_iter().flatten() {
        let again = otlp::read(&otlp::write(&slice)).unwrap();
        assert!(again == otlp::read(&otlp::write(&again[0])).unwrap());
        assert!(again[0].facts == slice.facts);
    }
}

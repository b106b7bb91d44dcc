//! Arbitrary bytes into a decoder, in slices of any size: no panic, no hang, no memory above the limit, and the same
//! result for all slice sizes.
//!
//! The first two bytes are the sizes of the input and output slices; the rest is the file.
use std::collections::HashSet;
use yunti_base::{Code, Result};
use yunti_engine::codec::{CodecKind, State, decoder};

/// Bytes of output after which decoding stops: a few bytes of input may expand to terabytes of zeros.
const OUTPUT_BYTES_MAX: usize = 1 << 20;
const MEMORY_LIMIT_BYTES: u64 = 16 << 20;

/// Checks one input.
pub fn check(kind: CodecKind, bytes: &[u8]) {
    let [input_slice, output_slice, file @ ..] = bytes else { return };
    let sliced = decode(kind, file, *input_slice as usize + 1, *output_slice as usize + 1);
    let whole = decode(kind, file, file.len(), OUTPUT_BYTES_MAX);
    match (sliced, whole) {
        (Ok(a), Ok(b)) => assert!(a == b, "the slices changed the data"),
        (Err(a), Err(b)) => {
            assert_eq!(a.code(), b.code());
            for error in [a, b] {
                assert!(matches!(error.code(), Code::Corrupt | Code::Memory | Code::Input), "{error}");
                assert!(error.offset().unwrap() <= file.len() as u64 && error.hint_text().is_some(), "{error}");
            }
        }
        (a, b) => panic!("the slices changed the result: {:?}, {:?}", a.map(|d| d.len()), b.map(|d| d.len())),
    }
}

/// Returns the data, or its first `OUTPUT_BYTES_MAX` bytes.
fn decode(kind: CodecKind, file: &[u8], input_slice: usize, output_slice: usize) -> Result<Vec<u8>> {
    let mut decoder = decoder(kind, MEMORY_LIMIT_BYTES)?;
    let mut output = vec![0; output_slice];
    let (mut data, mut at) = (Vec::new(), 0);
    let mut seen = HashSet::new();
    loop {
        let end = (at + input_slice).min(file.len());
        let last = end == file.len();
        let room = output.len().min(OUTPUT_BYTES_MAX - data.len());
        let step = decoder.decode(&file[at..end], &mut output[..room], last)?;
        data.extend(&output[..step.written]);
        at += step.read;
        if data.len() == OUTPUT_BYTES_MAX || (last && at == end && step.state == State::End) {
            return Ok(data);
        }
        assert!(!last || seen.insert((at, data.len())), "no progress at {at}");
    }
}

//! Arbitrary bytes as CSV, in slices of any size: all slice sizes give the same records or the same error.

use yunti_base::{Code, Result};
use yunti_engine::format::columns::{BadRecords, Columns, RecordBuilder};
use yunti_engine::format::csv::{CsvParser, CsvShape};

type Records = Vec<(Vec<u8>, Vec<u8>)>;

/// Checks one input. The first byte sets the options, the second the slice size.
pub fn check(bytes: &[u8]) {
    let [options, slice, text @ ..] = bytes else { return };
    let header = options & 1 == 0;
    let (key, value) = if header { ("a", "b") } else { ("1", "2") };
    let names = |name: &str, bit: u8| if options & bit == 0 { vec![name.to_string()] } else { Vec::new() };
    let columns = Columns { key: names(key, 2), value: names(value, 4) };
    let bad = if options & 8 == 0 { BadRecords::Skip } else { BadRecords::Fail };
    let shape = CsvShape { separator: b",;\t|"[usize::from(options >> 4) % 4], header, columns, bad };
    let sliced = parse(&shape, text, usize::from(*slice) + 1);
    let whole = parse(&shape, text, text.len().max(1));
    match (sliced, whole) {
        (Ok(a), Ok(b)) => assert!(a == b, "the slices changed the records"),
        (Err(a), Err(b)) => {
            assert!(a == b && matches!(a.code(), Code::Corrupt | Code::Input), "{a} | {b}");
            assert!(a.offset().unwrap() <= text.len() as u64 && a.hint_text().is_some(), "{a}");
        }
        (a, b) => panic!("the slices changed the result: {:?}, {:?}", a.map(|r| r.0.len()), b.map(|r| r.0.len())),
    }
}

/// Returns the records and the number of bad records.
fn parse(shape: &CsvShape, text: &[u8], slice: usize) -> Result<(Records, u64)> {
    let (mut parser, mut built, mut records) = (CsvParser::new(shape.clone()), RecordBuilder::new(None), Vec::new());
    parser.begin();
    let mut at = 0;
    loop {
        let end = (at + slice).min(text.len());
        let last = end == text.len();
        let taken = parser.parse(&text[at..end], at as u64, last, slice, &mut built)?;
        at += taken;
        built.seal();
        for i in 0..built.records() {
            let cell = |offset: u32, length: u32| built.data()[offset as usize..][..length as usize].to_vec();
            let key = cell(built.key_offsets[i], built.key_lengths[i]);
            records.push((key, cell(built.value_offsets[i], built.value_lengths[i])));
        }
        let some = built.bytes() > 0;
        built.clear();
        if last && at == text.len() && !some {
            return Ok((records, parser.bad_records));
        }
        assert!(taken > 0 || some || last, "no progress at {at}");
    }
}

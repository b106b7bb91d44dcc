//! Arbitrary bytes as lines of JSON: each is a record of cells, or one error with its offset.

use yunti_base::Code;
use yunti_engine::format::columns::{BadRecords, Columns, RecordBuilder};
use yunti_engine::format::json::{JsonParser, JsonShape};

/// Checks one input. The first byte sets the options.
pub fn check(bytes: &[u8]) {
    let [options, text @ ..] = bytes else { return };
    let names = |name: &str, bit: u8| if options & bit == 0 { vec![name.to_string()] } else { Vec::new() };
    let columns =
        Columns { key: [names("a", 1), names("a.b", 2)].concat(), value: [names("c", 4), names("", 8)].concat() };
    let mut strict = JsonParser::new(JsonShape { columns: columns.clone(), bad: BadRecords::Fail });
    let mut patient = JsonParser::new(JsonShape { columns, bad: BadRecords::Skip });
    for line in text.split(|&b| b == b'\n') {
        let (mut a, mut b) = (RecordBuilder::new(None), RecordBuilder::new(None));
        let (bad, skipped) = (strict.parse(line, 7, &mut a), patient.bad_records);
        patient.parse(line, 7, &mut b).unwrap();
        match bad {
            Ok(()) => assert!(a.data() == b.data() && a.records() == b.records() && patient.bad_records == skipped),
            Err(e) => {
                assert!(b.records() == 0 && patient.bad_records == skipped + 1);
                assert!(e.code() == Code::Corrupt && e.hint_text().is_some(), "{e}");
                assert!((7..=7 + line.len() as u64).contains(&e.offset().unwrap()), "{e}");
            }
        }
    }
}

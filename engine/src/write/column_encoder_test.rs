//! Columns as they are written, and as our readers read them back.

use super::*;
use crate::env::random::Random;
use crate::format::columns::{BadRecords, RecordBuilder};
use crate::format::csv::{CsvParser, CsvShape};
use crate::format::json::{JsonParser, JsonShape};

const TEXT: (Type, Type) = (Type::Bytes, Type::Bytes);

fn columns(key: &[&str], value: &[&str]) -> Columns {
    let names = |names: &[&str]| names.iter().map(|n| n.to_string()).collect();
    Columns { key: names(key), value: names(value) }
}

fn encode(columned: &ColumnEncoder, key: &[u8], value: &[u8]) -> String {
    let mut out = columned.head().to_vec();
    columned.encode(key, value, &mut CellPlaces::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn texts_of_json_values_are_not_quoted() {
    let names = Columns { key: vec!["n".into()], value: vec!["list".into(), "s".into()] };
    let json =
        ColumnEncoder::json((Type::Bytes, Type::Bytes), &names).unwrap().with_json_values(&names, &["n", "list"]);
    for (key, value, expect) in [
        (&b"-7"[..], &b"[1,\"a\\\\n\"]\t1"[..], r#"{"n":-7,"list":[1,"a\n"],"s":"1"}"#),
        (b"", b"\tx", r#"{"n":null,"list":null,"s":"x"}"#),
        (b"NaN", b"true\t", r#"{"n":"NaN","list":true,"s":""}"#),
    ] {
        let mut out = Vec::new();
        json.encode(key, value, &mut CellPlaces::default(), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("{expect}\n"));
    }
}

#[test]
fn quotes_cells_that_need_quotes() {
    let check = |types, names: &Columns, separator, key: &[u8], value: &[u8], expect: &str| {
        let header = !names.key.is_empty() || !names.value.is_empty();
        assert_eq!(encode(&ColumnEncoder::csv(types, names, separator, header).unwrap(), key, value), expect);
    };
    let none = columns(&[], &[]);
    check(TEXT, &none, b',', b"a", b"b", "a,b\n");
    check(TEXT, &none, b',', b"a\tb,c", b" d\te\\n\\\\\\x", "a,\"b,c\", d,\"e\n\\\\x\"\n");
    check(TEXT, &none, b';', b"a,b", b"say \"x\"", "a,b;\"say \"\"x\"\"\"\n");
    check(TEXT, &none, b',', b"", b"", ",\n");
    check((Type::Bytes, Type::None), &none, b',', b"", b"", "\"\"\n");
    check((Type::I64, Type::F64), &none, b'-', &(-1i64).to_le_bytes(), &1.5f64.to_le_bytes(), "\"-1\"-1.5\n");
    let names = columns(&["a,b"], &["c"]);
    // One column is unchanged, with tabs and backslashes.
    check(TEXT, &names, b',', b"x\ty\\n", b"z", "\"a,b\",c\nx\ty\\n,z\n");
    check(TEXT, &columns(&[], &["c", "d"]), b',', b"not written", b"1\t2\\t", "c,d\n1,2\t\n");
    check((Type::Bytes, Type::U32), &columns(&["k"], &[]), b',', b"only", &[0; 4], "k\nonly\n");
}

#[test]
fn marked_nulls_are_no_texts() {
    let names = Columns { key: vec!["a".into()], value: vec!["b".into(), "n".into()] };
    let json = ColumnEncoder::json((Type::Bytes, Type::Bytes), &names).unwrap();
    let json = json.with_json_values(&names, &["n"]).with_marked_nulls();
    for (key, value, expect) in [
        (&b"\\N"[..], &b"\\N\t\\N"[..], r#"{"a":null,"b":null,"n":null}"#),
        (b"", b"\t", r#"{"a":"","b":"","n":null}"#),
        (b"\\\\N", b"\\\\N\t7", r#"{"a":"\\N","b":"\\N","n":7}"#),
        (b"x\\ty", b"N\t1.5", r#"{"a":"x\ty","b":"N","n":1.5}"#),
    ] {
        let mut out = Vec::new();
        json.encode(key, value, &mut CellPlaces::default(), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("{expect}\n"));
    }
}

#[test]
fn members_have_their_json_types() {
    let check = |types, names: &Columns, key: &[u8], value: &[u8], expect: &str| {
        assert_eq!(encode(&ColumnEncoder::json(types, names).unwrap(), key, value), expect);
    };
    let pair = columns(&["k"], &["v"]);
    check((Type::Bytes, Type::I64), &pair, b"the", &7i64.to_le_bytes(), "{\"k\":\"the\",\"v\":7}\n");
    check(
        TEXT,
        &pair,
        b"\"\\\n\x01\x1f/",
        b"\xff\xc3\xa9\xe2\x82",
        "{\"k\":\"\\\"\\\\\\n\\u0001\\u001f/\",\"v\":\"\u{fffd}é\u{fffd}\"}\n",
    );
    let several = columns(&["id"], &["user.name", "n", "user.note.x"]);
    let expect = "{\"id\":\"1\",\"user\":{\"name\":\"a\\tb\",\"note\":{\"x\":\"\\\\y\"}},\"n\":\"\"}\n";
    check(TEXT, &several, b"1", b"a\\tb\t\t\\y", expect);
    for (number, expect) in
        [(f64::NAN, "null"), (f64::INFINITY, "null"), (1e300, "1e300"), (-0.0, "-0.0"), (0.1, "0.1")]
    {
        check(
            (Type::Bytes, Type::F64),
            &columns(&[], &["x"]),
            b"",
            &number.to_le_bytes(),
            &format!("{{\"x\":{expect}}}\n"),
        );
    }
    check((Type::F32, Type::None), &columns(&["x"], &[]), &f32::NEG_INFINITY.to_le_bytes(), b"", "{\"x\":null}\n");
}

#[test]
fn reports_columns_that_do_not_fit() {
    let usage = |types, names: &Columns, expect: &str| {
        for error in
            [ColumnEncoder::json(types, names).unwrap_err(), ColumnEncoder::csv(types, names, b',', true).unwrap_err()]
        {
            assert!(error.code() == Code::Usage && error.to_string().starts_with(expect), "{error}");
        }
    };
    usage((Type::I64, Type::Bytes), &columns(&["a", "b"], &[]), "a key of type i64 is one column, but 2 are named");
    usage((Type::Bytes, Type::None), &columns(&["a"], &["b"]), "the job has no value to write as columns");
    usage(TEXT, &columns(&["a", "b"], &["a"]), "the output has two columns 'a'");
    for names in [columns(&["a"], &["a.b"]), columns(&["a.b", "a"], &[])] {
        let error = ColumnEncoder::json(TEXT, &names).unwrap_err();
        assert!(error.to_string().starts_with("the column 'a' of the output cannot be an object too"), "{error}");
    }
    let csv = ColumnEncoder::csv(TEXT, &columns(&["k"], &["a", "b"]), b',', true).unwrap();
    for (value, n) in [(&b"1"[..], 1), (b"1\t2\t3", 3)] {
        let error = csv.encode(b"k", value, &mut CellPlaces::default(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.what(), format!("a value with {n} columns was emitted, but 2 are named"));
    }
}

/// Writes and reads back records of random cells.
#[test]
fn reads_back_what_it_wrote() {
    let mut random = Random::new(7);
    let pieces = ["a", "\"", ",", ";", "\n", "\r", "\t", "\\", "\\t", "é", "", " ", "x\u{1}", "longer "];
    for round in 0..200 {
        let names: Vec<String> = (0..1 + random.below(5)).map(|n| format!("c,{n}.\"{}", n % 2)).collect();
        let keys = random.below(names.len() as u64 + 1) as usize;
        let names = Columns { key: names[..keys].to_vec(), value: names[keys..].to_vec() };
        let mut built = RecordBuilder::new(None);
        for _ in 0..20 {
            let mut cells = |n: usize| -> Vec<String> {
                (0..n).map(|_| (0..random.below(4)).map(|_| pieces[random.below(14) as usize]).collect()).collect()
            };
            let (key, value) = (cells(names.key.len()), cells(names.value.len()));
            built.push(key.iter().map(|c| c.as_bytes()), value.iter().map(|c| c.as_bytes())).unwrap();
        }
        built.seal();
        let records = records(&built);
        let separator = b",;\t|"[round % 4];
        let csv = ColumnEncoder::csv(TEXT, &names, separator, true).unwrap();
        let json = ColumnEncoder::json(TEXT, &names).unwrap();
        let (mut as_csv, mut as_json) = (csv.head().to_vec(), Vec::new());
        let mut places = CellPlaces::default();
        for (key, value) in &records {
            csv.encode(key, value, &mut places, &mut as_csv).unwrap();
            json.encode(key, value, &mut places, &mut as_json).unwrap();
        }
        let shape = CsvShape { separator, header: true, columns: names.clone(), bad: BadRecords::Fail };
        let mut again = RecordBuilder::new(None);
        let mut parser = CsvParser::new(shape);
        parser.begin();
        parser.parse(&as_csv, 0, true, usize::MAX, &mut again).unwrap();
        // With key columns only, our reader puts all other columns in the value; here there are none.
        assert_eq!(self::records(&again), records, "{}", String::from_utf8_lossy(&as_csv));

        let mut again = RecordBuilder::new(None);
        let mut parser = JsonParser::new(JsonShape { columns: names.clone(), bad: BadRecords::Fail });
        for line in as_json.split_inclusive(|&b| b == b'\n') {
            parser.parse(&line[..line.len() - 1], 0, &mut again).unwrap();
        }
        let mut read = self::records(&again);
        if names.value.is_empty() {
            read.iter_mut().for_each(|r| r.1.clear());
        }
        assert_eq!(read, records, "{}", String::from_utf8_lossy(&as_json));
    }
}

fn records(built: &RecordBuilder) -> Vec<(Vec<u8>, Vec<u8>)> {
    let slice = |o: u32, l: u32| built.data()[o as usize..][..l as usize].to_vec();
    (0..built.records())
        .map(|i| {
            (slice(built.key_offsets[i], built.key_lengths[i]), slice(built.value_offsets[i], built.value_lengths[i]))
        })
        .collect()
}

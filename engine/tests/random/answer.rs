//! The output of a random job, parsed by simple code and compared with the expected records.

use std::collections::BTreeMap;

use yunti_engine::env::random::Random as Numbers;
use yunti_engine::job::{JobSpec, Mode, OutputFormat};
use yunti_engine::operator::Type;

use crate::input;
use crate::shapes::{self, Record, chance, pick};
use crate::stage::{Dataset, Order};

/// Chooses an output format from which the records can be recovered.
pub fn format(spec: &mut JobSpec, answer: &Dataset, value_columns: usize, tabless: bool, random: &mut Numbers) {
    let any = matches!(answer.order, Order::AnyInParts | Order::Any);
    // Floats are printed in the sort tests only.
    let text = !matches!(answer.key_type, Type::F32 | Type::F64);
    let columns = if answer.value_type == Type::Bytes { value_columns } else { 1 };
    match random.below(5) {
        0 if text && !any => spec.output_format = OutputFormat::Text { separator: b"\t".to_vec() },
        1 if !any => spec.output_format = OutputFormat::Raw,
        2 if text => {
            let header = chance(random, 50);
            spec.output_format = OutputFormat::Csv { separator: pick(random, b",;|\t"), header };
            // Without names every tab separates columns, from any source.
            if header || !tabless || chance(random, 50) {
                spec.output_columns = input::names(true, columns);
            }
        }
        3 if text => {
            spec.output_format = OutputFormat::Json;
            spec.output_columns = input::names(true, columns);
        }
        _ => spec.output_format = OutputFormat::Framed,
    }
    if answer.value_type == Type::None {
        spec.output_columns.value.clear();
    }
}

/// Checks the parts against the expected records; panics if they differ.
pub fn expect(spec: &JobSpec, answer: &Dataset, parts: &[Vec<u8>]) {
    let last = spec.then.last().unwrap_or(spec);
    assert!(last.mode == Mode::None || parts.len() == last.reduces as usize, "{} parts", parts.len());
    let types = (answer.key_type, answer.value_type);
    let got: Vec<Vec<Record>> = match &spec.output_format {
        // Text and raw output cannot be parsed, so the bytes are compared.
        OutputFormat::Text { .. } | OutputFormat::Raw => {
            let expect: Vec<Vec<u8>> = answer.parts.iter().map(|p| encoded(p, &spec.output_format, types)).collect();
            assert!(
                if answer.order == Order::Parts { *parts == expect } else { parts.concat() == expect.concat() },
                "another answer"
            );
            return;
        }
        OutputFormat::Framed => parts.iter().map(|part| framed_records(part)).collect(),
        OutputFormat::Csv { .. } => parts.iter().map(|part| csv_records(part, spec, types)).collect(),
        OutputFormat::Json => parts.iter().map(|part| json_records(part, spec, types)).collect(),
        OutputFormat::Class(_) => unreachable!("no class writes random jobs"),
    };
    let mut expect = answer.parts.clone();
    if spec.output_format == OutputFormat::Json {
        // Invalid UTF-8 is replaced.
        let text = |kind: Type, bytes: &mut Vec<u8>| {
            if kind == Type::Bytes {
                *bytes = String::from_utf8_lossy(bytes).into_owned().into_bytes();
            }
        };
        for (key, value) in expect.iter_mut().flatten() {
            text(types.0, key);
            text(types.1, value);
        }
    }
    let sorted = |mut records: Vec<Record>| {
        records.sort();
        records
    };
    let same = match answer.order {
        Order::Parts => got == expect,
        Order::Joined => got.concat() == expect.concat(),
        Order::AnyInParts => {
            got.len() == expect.len() && got.into_iter().zip(expect).all(|(got, expect)| sorted(got) == sorted(expect))
        }
        Order::Any => sorted(got.concat()) == sorted(expect.concat()),
    };
    assert!(same, "another answer");
}

pub fn encoded(records: &[Record], format: &OutputFormat, (key_type, value_type): (Type, Type)) -> Vec<u8> {
    let OutputFormat::Text { separator } = format else {
        return if *format == OutputFormat::Framed {
            shapes::framed(records)
        } else {
            shapes::joined(records, b"", b"")
        };
    };
    let mut out = Vec::new();
    for (key, value) in records {
        out.extend(printed(key_type, key));
        if value_type != Type::None {
            out.extend_from_slice(separator);
            out.extend(printed(value_type, value));
        }
        out.push(b'\n');
    }
    out
}

fn printed(kind: Type, bytes: &[u8]) -> Vec<u8> {
    match kind {
        Type::I64 => i64::from_le_bytes(bytes.try_into().unwrap()).to_string().into_bytes(),
        Type::U64 => u64::from_le_bytes(bytes.try_into().unwrap()).to_string().into_bytes(),
        Type::I32 => i32::from_le_bytes(bytes.try_into().unwrap()).to_string().into_bytes(),
        Type::U32 => u32::from_le_bytes(bytes.try_into().unwrap()).to_string().into_bytes(),
        _ => bytes.to_vec(),
    }
}

/// Parses a cell as bytes of its type.
fn typed(kind: Type, cell: &[u8]) -> Vec<u8> {
    let number = || std::str::from_utf8(cell).unwrap().parse::<i128>().unwrap().to_le_bytes();
    match kind {
        Type::Bytes | Type::None => cell.to_vec(),
        _ => number()[..kind.fixed_bytes().unwrap()].to_vec(),
    }
}

fn framed_records(mut bytes: &[u8]) -> Vec<Record> {
    let mut records = Vec::new();
    while let Some((header, rest)) = bytes.split_first_chunk::<8>() {
        let number = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().unwrap()) as usize;
        let (key, rest) = rest.split_at(number(0));
        let (value, rest) = rest.split_at(number(4));
        records.push((key.to_vec(), value.to_vec()));
        bytes = rest;
    }
    assert!(bytes.is_empty());
    records
}

/// Joins columns into a value.
fn value_of(cells: &[Vec<u8>]) -> Vec<u8> {
    match cells {
        [one] => one.clone(),
        several => several.iter().map(|c| shapes::escaped(c)).collect::<Vec<_>>().join(&b'\t'),
    }
}

fn csv_records(part: &[u8], spec: &JobSpec, (key_type, value_type): (Type, Type)) -> Vec<Record> {
    let OutputFormat::Csv { separator, header } = spec.output_format else { unreachable!() };
    let mut rows = rows_of(part, separator);
    let names = &spec.output_columns;
    let named = 1 + names.value.len();
    if header {
        let head: Vec<Vec<u8>> = names.key.iter().chain(&names.value).map(|n| n.clone().into_bytes()).collect();
        assert!(!rows.is_empty() && rows.remove(0) == head, "a part without the names of its columns");
    }
    let record = |row: Vec<Vec<u8>>| {
        assert!(names.key.is_empty() || row.len() == named, "{} cells", row.len());
        let value = if value_type == Type::None { &[][..] } else { &row[1..] };
        assert!(value.len() + 1 == row.len());
        (typed(key_type, &row[0]), if value.is_empty() { Vec::new() } else { typed(value_type, &value_of(value)) })
    };
    rows.into_iter().map(record).collect()
}

/// Parses RFC 4180 with line ends of LF only.
fn rows_of(bytes: &[u8], separator: u8) -> Vec<Vec<Vec<u8>>> {
    let (mut rows, mut row, mut at) = (Vec::new(), Vec::new(), 0);
    while at < bytes.len() {
        let mut cell = Vec::new();
        if bytes[at] == b'"' {
            at += 1;
            loop {
                let end = at + bytes[at..].iter().position(|&b| b == b'"').expect("the end of a cell");
                cell.extend_from_slice(&bytes[at..end]);
                at = end + 1;
                if bytes.get(at) != Some(&b'"') {
                    break;
                }
                cell.push(b'"');
                at += 1;
            }
        } else {
            let end = at + bytes[at..].iter().position(|&b| b == separator || b == b'\n').expect("the end of a line");
            cell.extend_from_slice(&bytes[at..end]);
            at = end;
        }
        row.push(cell);
        match bytes[at] {
            b'\n' => rows.push(std::mem::take(&mut row)),
            other => assert_eq!(other, separator),
        }
        at += 1;
    }
    assert!(row.is_empty(), "a line without an end");
    rows
}

fn json_records(part: &[u8], spec: &JobSpec, (key_type, value_type): (Type, Type)) -> Vec<Record> {
    let text = std::str::from_utf8(part).unwrap();
    assert!(text.is_empty() || text.ends_with('\n'), "a line without an end");
    let record = |line: &str| {
        let mut members: BTreeMap<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        let mut cell = |name: &String, kind: Type| match members.remove(name).expect("a column") {
            serde_json::Value::String(text) => {
                assert_eq!(kind, Type::Bytes);
                text.into_bytes()
            }
            number => typed(kind, number.to_string().as_bytes()),
        };
        let key = cell(&spec.output_columns.key[0], key_type);
        let cells: Vec<Vec<u8>> = spec.output_columns.value.iter().map(|name| cell(name, value_type)).collect();
        assert!(members.is_empty(), "{members:?}");
        (key, if cells.is_empty() { Vec::new() } else { value_of(&cells) })
    };
    text.split_terminator('\n').map(record).collect()
}

//! Files whose bytes are changed or cut, all of them: values or an error, never a panic, within the held memory.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::types::*;
use arrow_array::*;
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema};

use crate::orc::check::read;
use crate::orc::encode::FileWriter;

/// Lists, maps, structs, a union and a dictionary in 12 rows: pyarrow wrote it, without compression.
const NESTED: &[u8] = include_bytes!("../../../tests/nested.orc");

/// Returns a table with a column of each type that is written, with nulls, runs and repeats.
fn table(rows: usize) -> RecordBatch {
    let some = |row: usize| (row % 5 != 3).then_some(row as i64);
    let ints = || (0..rows).map(move |row| some(row).map(|n| if n % 7 == 0 { n * n * 1_000_003 } else { 42 }));
    let mut words = StringBuilder::new();
    (0..rows).for_each(|row| words.append_option(some(row).map(|n| ["red", "green", ""][n as usize % 3])));
    let texts: StringArray = (0..rows).map(|row| some(row).map(|n| format!("text {n}"))).collect();
    let binary: BinaryArray = texts.iter().map(|text| text.map(str::as_bytes)).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("flag", Arc::new((0..rows).map(|row| some(row).map(|n| n % 3 == 0)).collect::<BooleanArray>())),
        ("tiny", Arc::new(ints().map(|n| n.map(|n| n as i8)).collect::<PrimitiveArray<Int8Type>>())),
        ("small", Arc::new(ints().map(|n| n.map(|n| n as i16)).collect::<PrimitiveArray<Int16Type>>())),
        ("int", Arc::new(ints().map(|n| n.map(|n| n as i32)).collect::<PrimitiveArray<Int32Type>>())),
        ("long", Arc::new(ints().map(|n| n.map(|n| -n)).collect::<PrimitiveArray<Int64Type>>())),
        ("float", Arc::new(ints().map(|n| n.map(|n| n as f32)).collect::<PrimitiveArray<Float32Type>>())),
        ("double", Arc::new(ints().map(|n| n.map(|n| n as f64)).collect::<PrimitiveArray<Float64Type>>())),
        ("word", Arc::new(words.finish())),
        ("text", Arc::new(texts)),
        ("binary", Arc::new(binary)),
        ("date", Arc::new((0..rows).map(|row| some(row).map(|n| n as i32)).collect::<PrimitiveArray<Date32Type>>())),
        ("time", Arc::new(ints().map(|n| n.map(|n| n * 1000)).collect::<PrimitiveArray<TimestampMicrosecondType>>())),
        ("none", Arc::new((0..rows).map(|_| None::<i32>).collect::<PrimitiveArray<Int32Type>>())),
        (
            "decimal",
            Arc::new(
                ints()
                    .map(|n| n.map(|n| i128::from(n) * 1_000_000_007))
                    .collect::<Decimal128Array>()
                    .with_precision_and_scale(38, 4)
                    .expect("38 digits"),
            ),
        ),
    ];
    let fields = columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
    let schema = Schema::new(fields.collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array)| array).collect()).expect("equal rows")
}

fn written(table: &RecordBatch, codec: &str, batch: usize, stripe_bytes: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut file = FileWriter::begin(&table.schema(), codec, stripe_bytes, &mut out).ok().expect("a codec");
    for at in (0..table.num_rows()).step_by(batch) {
        let rows = table.slice(at, batch.min(table.num_rows() - at));
        assert!(file.add(&rows, &mut out).is_ok());
    }
    assert!(file.finish(&mut out).is_ok());
    out
}

/// Returns the texts of a column in all batches.
fn texts(batches: &[RecordBatch], column: usize, of: &DataType) -> Vec<Option<String>> {
    let text = |batch: &RecordBatch| {
        let mut array = cast(batch.column(column), &DataType::Binary)
            .or_else(|_| cast(batch.column(column), of))
            .expect("the type of the column");
        if *of != DataType::Binary {
            array = cast(&array, &DataType::Utf8).expect("a text");
            return array
                .as_any()
                .downcast_ref::<StringArray>()
                .expect("texts")
                .iter()
                .map(|text| text.map(str::to_string))
                .collect::<Vec<_>>();
        }
        let array = array.as_any().downcast_ref::<BinaryArray>().expect("bytes");
        array.iter().map(|bytes| bytes.map(|bytes| format!("{bytes:?}"))).collect()
    };
    batches.iter().flat_map(text).collect()
}

#[test]
fn tables_come_back_in_every_codec_and_size() {
    for codec in ["none", "zlib", "snappy", "lz4", "zstd"] {
        for (rows, batch, stripe_bytes) in
            [(0, 1, 1), (1, 1, 1), (17, 5, 1), (9000, 700, 20_000), (9000, 9000, 1 << 30)]
        {
            let table = table(rows);
            let Ok(back) = read(&written(&table, codec, batch, stripe_bytes)) else { panic!("{codec} {rows}") };
            for (number, field) in table.schema().fields().iter().enumerate() {
                let kind = field.data_type();
                let wanted = texts(std::slice::from_ref(&table), number, kind);
                assert_eq!(texts(&back, number, kind), wanted, "{codec} {rows} {}", field.name());
            }
        }
    }
}

#[test]
fn any_changed_bit_gives_values_or_an_error() {
    let mut files: Vec<Vec<u8>> = vec![NESTED.to_vec()];
    for codec in ["none", "zlib", "snappy", "lz4", "zstd"] {
        files.push(written(&table(20), codec, 20, 1 << 20));
    }
    for file in &mut files {
        assert!(read(file).is_ok_and(|batches| !batches.is_empty()));
        for at in 0..file.len() {
            for bit in 0..8 {
                file[at] ^= 1 << bit;
                let _ = read(file);
                file[at] ^= 1 << bit;
            }
            let byte = file[at];
            for other in [0, 0xff, 0x80] {
                file[at] = other;
                let _ = read(file);
            }
            file[at] = byte;
        }
    }
}

#[test]
fn a_cut_file_is_an_error() {
    for file in [NESTED.to_vec(), written(&table(20), "zstd", 20, 1 << 20)] {
        for n in 0..file.len() {
            assert!(read(&file[..n]).is_err(), "{n} of {}", file.len());
        }
    }
}

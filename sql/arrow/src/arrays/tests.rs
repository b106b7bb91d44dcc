//! Tests of the conversion: values survive it, and values that do not fit are errors.

use super::*;
use arrow_schema::Field;
use yunti_engine::columns::vector::Value;
use yunti_engine::env::random::Random;

/// All types that have a shape, with values at the ends of their ranges.
fn types() -> Vec<(DataType, Vec<Value>)> {
    let ints = |values: &[i64]| values.iter().map(|&value| Value::Int(value)).collect::<Vec<_>>();
    let floats = |values: &[f64]| values.iter().map(|&value| Value::Float(value)).collect::<Vec<_>>();
    let decimals = |values: &[i128]| values.iter().map(|&value| Value::Decimal(value)).collect::<Vec<_>>();
    let texts =
        || ["", "a", "云梯", "a longer text of more than twelve bytes"].map(|text| Value::Bytes(text.into())).to_vec();
    vec![
        (DataType::Boolean, vec![Value::Bool(true), Value::Bool(false)]),
        (DataType::Int8, ints(&[-128, 0, 127])),
        (DataType::Int16, ints(&[-32768, 0, 32767])),
        (DataType::Int32, ints(&[i32::MIN.into(), 0, i32::MAX.into()])),
        (DataType::Int64, ints(&[i64::MIN, 0, i64::MAX])),
        (DataType::UInt8, ints(&[0, 255])),
        (DataType::UInt16, ints(&[0, 65535])),
        (DataType::UInt32, ints(&[0, u32::MAX.into()])),
        (DataType::UInt64, decimals(&[0, u64::MAX.into()])),
        (DataType::Float16, floats(&[-1.5, 0.0, 65504.0])),
        (DataType::Float32, floats(&[-1.5, 0.0, f32::MAX.into()])),
        (DataType::Float64, floats(&[-1.5, 0.0, f64::MAX, f64::MIN_POSITIVE])),
        (DataType::Decimal32(9, 2), decimals(&[-999_999_999, 0, 999_999_999])),
        (DataType::Decimal64(18, 2), decimals(&[-(10i128.pow(18)) + 1, 0, 10i128.pow(18) - 1])),
        (DataType::Decimal128(38, 2), decimals(&[-(10i128.pow(38)) + 1, 0, 10i128.pow(38) - 1])),
        (DataType::Utf8, texts()),
        (DataType::LargeUtf8, texts()),
        (DataType::Utf8View, texts()),
        (DataType::Binary, vec![Value::Bytes(vec![0, 255]), Value::Bytes(vec![])]),
        (DataType::LargeBinary, vec![Value::Bytes(vec![0, 255]), Value::Bytes(vec![])]),
        (DataType::BinaryView, vec![Value::Bytes(vec![0, 255]), Value::Bytes(vec![])]),
        (DataType::Date32, ints(&[i32::MIN.into(), 0, i32::MAX.into()])),
        (DataType::Time32(TimeUnit::Second), ints(&[0, 86_399])),
        (DataType::Time64(TimeUnit::Nanosecond), ints(&[0, 86_399_999_999_999])),
        (DataType::Timestamp(TimeUnit::Microsecond, None), ints(&[i64::MIN, 0, i64::MAX])),
        (DataType::Timestamp(TimeUnit::Second, Some("+00:00".into())), ints(&[-1, 0, 1])),
    ]
}

fn is_equal(a: &Vector, b: &Vector) -> bool {
    a.len() == b.len() && (0..a.len()).all(|row| a.value(row) == b.value(row))
}

#[test]
fn all_types_come_back() {
    let mut random = Random::new(7);
    for (data_type, values) in types() {
        let kind = yunti_sql_plan::kind_of(&data_type).unwrap();
        for rows in [0usize, 1, 7, 1000] {
            for null_share in [0u64, 3, 1] {
                let mut builder = yunti_engine::columns::text::Builder::new(kind);
                for _ in 0..rows {
                    let is_null = null_share > 0 && random.next_u64() % null_share == 0;
                    let value = &values[(random.next_u64() % values.len() as u64) as usize];
                    builder.push_value(if is_null { Value::Null } else { value.clone() });
                }
                let vector = builder.take();
                let array = array(&vector, &data_type).unwrap();
                assert_eq!(array.data_type(), &data_type);
                assert_eq!(array.len(), rows);
                let back = super::vector(&array).unwrap();
                assert!(is_equal(&vector, &back), "{data_type} {rows} {null_share}");
                // A slice begins anywhere.
                if rows > 3 {
                    let slice = array.slice(2, rows - 3);
                    let picked: Vec<u32> = (2..rows as u32 - 1).collect();
                    assert!(is_equal(&vector.select(&picked), &super::vector(&slice).unwrap()), "{data_type}");
                }
            }
        }
    }
}

#[test]
fn codes_become_values() {
    let texts: Bytes = [&b"x"[..], b"yy"].into_iter().collect();
    let codes = Vector { data: Data::Codes(vec![1, 0, 1], Arc::new(texts)), nulls: Some(vec![false, true, false]) };
    let shown = array(&codes, &DataType::Utf8).unwrap();
    assert_eq!(shown.as_string::<i32>().iter().collect::<Vec<_>>(), [Some("yy"), None, Some("yy")]);
    let numbers = Vector::of(Data::NumberCodes(vec![1, 1, 0], Arc::new(Data::Ints(vec![5, 6]))));
    let shown = array(&numbers, &DataType::Int32).unwrap();
    assert_eq!(shown.as_primitive::<Int32Type>().values().to_vec(), [6, 6, 5]);
    let small = Vector::of(Data::SmallDecimals(vec![150]));
    let shown = array(&small, &DataType::Decimal128(10, 2)).unwrap();
    assert_eq!(shown.as_primitive::<Decimal128Type>().value_as_string(0), "1.50");
}

#[test]
fn values_that_do_not_fit_are_errors() {
    for (data, data_type) in [
        (Data::Ints(vec![128]), DataType::Int8),
        (Data::Ints(vec![-1]), DataType::UInt32),
        (Data::Decimals(vec![-1]), DataType::UInt64),
        (Data::Decimals(vec![i64::MAX as i128 + 1]), DataType::Decimal64(18, 0)),
        (Data::Bytes([&[0xff][..]].into_iter().collect()), DataType::Utf8),
    ] {
        assert!(array(&Vector::of(data), &data_type).is_err(), "{data_type}");
    }
    // A null may have any value beneath.
    let vector = Vector { data: Data::Ints(vec![1000, 1]), nulls: Some(vec![true, false]) };
    assert_eq!(array(&vector, &DataType::Int8).unwrap().null_count(), 1);
}

#[test]
fn rows_without_columns_keep_their_number() {
    let schema: SchemaRef = Arc::new(arrow_schema::Schema::empty());
    let batch = Batch { columns: Vec::new(), rows: 3 };
    let rows = record_batch(&batch, &schema).unwrap();
    assert_eq!(rows.num_rows(), 3);
    assert_eq!(batch_of(&rows).unwrap().rows, 3);
    let _ = Field::new("x", DataType::Null, true);
}

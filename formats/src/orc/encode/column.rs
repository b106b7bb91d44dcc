//! Encoder of one column: the streams of the open stripe, and statistics of the file.
//!
//! Texts begin with a dictionary. A column whose values are mostly different loses it for the rest of the file.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, TimeUnit};
use yunti_api::{Result, fail};

use super::ints::Ints;
use super::runs::{Bits, ByteRuns};
use super::statistics::Statistics;
use super::{Message, OutStream, Packer};
use crate::file::varint;

/// Bytes of a dictionary's values, at most.
const DICTIONARY_BYTES: usize = 1 << 20;
/// Texts after which a dictionary must pay: at most half of them are different.
const DICTIONARY_TRIAL: usize = 4096;
/// Memory of a value in a dictionary, besides its bytes.
const VALUE_BYTES: usize = 64;
/// Seconds from 1970 to 2015, from which timestamps count.
const EPOCH: i64 = 1_420_070_400;

/// Encoder of a column.
pub struct ColumnWriter {
    pub name: String,
    /// Type that the values are cast to before they are encoded.
    kind: DataType,
    present: Bits,
    has_null: bool,
    values: Values,
    pub statistics: Statistics,
}

enum Values {
    Booleans(Bits),
    Bytes(ByteRuns),
    Ints(Ints),
    Floats(OutStream),
    Texts { lengths: Ints, bytes: OutStream, dictionary: Option<Dictionary> },
    Times { seconds: Ints, nanos: Ints },
    Decimals { digits: OutStream, scales: Ints },
}

/// Texts of the open stripe, each value once.
#[derive(Default)]
struct Dictionary {
    numbers: HashMap<Box<[u8]>, u32>,
    bytes: usize,
    codes: Vec<u32>,
}

impl Dictionary {
    /// Returns the values in the order of their numbers.
    fn values(&self) -> Vec<&[u8]> {
        let mut values = vec![&b""[..]; self.numbers.len()];
        self.numbers.iter().for_each(|(value, &number)| values[number as usize] = value);
        values
    }

    fn pays(&self) -> bool {
        !self.codes.is_empty() && self.numbers.len() * 2 <= self.codes.len()
    }
}

/// A stream of a stripe: its kind, and its bytes.
pub type StripeStream = (u64, Vec<u8>);

/// Returns the type as which ORC keeps values of a type. Fails for a type that it does not have.
fn kept(kind: &DataType, name: &str) -> Result<DataType> {
    Ok(match kind {
        DataType::UInt8 => DataType::Int16,
        DataType::UInt16 => DataType::Int32,
        DataType::UInt32 => DataType::Int64,
        DataType::UInt64 => DataType::Decimal128(20, 0),
        DataType::Float16 => DataType::Float32,
        DataType::LargeUtf8 | DataType::Utf8View | DataType::Time32(_) | DataType::Time64(_) => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => DataType::Binary,
        DataType::Date64 => DataType::Date32,
        DataType::Decimal32(p, s) | DataType::Decimal64(p, s) | DataType::Decimal128(p, s) if *s >= 0 => {
            DataType::Decimal128(*p, *s)
        }
        DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::Float32
        | DataType::Float64
        | DataType::Utf8
        | DataType::Binary
        | DataType::Date32
        | DataType::Timestamp(..) => kind.clone(),
        other => return fail(format!("orc.types: ORC has no type for the column {name}, which is {other}")),
    })
}

impl ColumnWriter {
    pub fn create(name: &str, of: &DataType) -> Result<ColumnWriter> {
        let kind = kept(of, name)?;
        let values = match kind {
            DataType::Boolean => Values::Booleans(Bits::default()),
            DataType::Int8 => Values::Bytes(ByteRuns::default()),
            DataType::Float32 | DataType::Float64 => Values::Floats(OutStream::default()),
            DataType::Utf8 | DataType::Binary => Values::Texts {
                lengths: Ints::new(false),
                bytes: OutStream::default(),
                dictionary: (kind == DataType::Utf8).then(Dictionary::default),
            },
            DataType::Timestamp(..) => Values::Times { seconds: Ints::new(true), nanos: Ints::new(false) },
            DataType::Decimal128(..) => Values::Decimals { digits: OutStream::default(), scales: Ints::new(true) },
            _ => Values::Ints(Ints::new(true)),
        };
        let (present, statistics) = (Bits::default(), Statistics::default());
        Ok(ColumnWriter { name: name.into(), kind, present, has_null: false, values, statistics })
    }

    /// Returns the type's message of the footer.
    pub fn kind(&self) -> Message {
        let kind = |n| Message::default().number(1, n);
        match &self.kind {
            DataType::Boolean => kind(0),
            DataType::Int8 => kind(1),
            DataType::Int16 => kind(2),
            DataType::Int32 => kind(3),
            DataType::Int64 => kind(4),
            DataType::Float32 => kind(5),
            DataType::Float64 => kind(6),
            DataType::Binary => kind(8),
            DataType::Timestamp(_, None) => kind(9),
            DataType::Timestamp(_, Some(_)) => kind(18),
            DataType::Decimal128(precision, scale) => {
                kind(14).number(5, u64::from(*precision)).number(6, *scale as u64)
            }
            DataType::Date32 => kind(15),
            _ => kind(7),
        }
    }

    /// Adds the values of a batch.
    pub fn push(&mut self, array: &ArrayRef, packer: &mut Packer) -> Result<()> {
        let strict = CastOptions { safe: false, ..CastOptions::default() };
        let array = cast_with_options(array, &self.kind, &strict)?;
        for row in 0..array.len() {
            self.present.push(array.is_valid(row));
        }
        self.has_null |= array.null_count() > 0;
        self.statistics.has_null |= array.null_count() > 0;
        self.statistics.values += (array.len() - array.null_count()) as u64;
        let valid = (0..array.len()).filter(|&row| array.is_valid(row));
        let bounds = &mut self.statistics.bounds;
        match (&mut self.values, &self.kind) {
            (Values::Booleans(bits), _) => {
                for row in valid {
                    let value = array.as_boolean().value(row);
                    bounds.boolean(value);
                    bits.push(value);
                }
            }
            (Values::Bytes(bytes), _) => {
                for row in valid {
                    let value = array.as_primitive::<Int8Type>().value(row);
                    bounds.int(value.into());
                    bytes.push(value as u8);
                }
            }
            (Values::Ints(ints), kind) => {
                for row in valid {
                    let value = match kind {
                        DataType::Int16 => array.as_primitive::<Int16Type>().value(row).into(),
                        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).into(),
                        DataType::Date32 => array.as_primitive::<Date32Type>().value(row).into(),
                        _ => array.as_primitive::<Int64Type>().value(row),
                    };
                    if *kind == DataType::Date32 {
                        bounds.date(value)
                    } else {
                        bounds.int(value)
                    }
                    ints.push(value);
                }
            }
            (Values::Floats(out), DataType::Float32) => {
                for row in valid {
                    let value = array.as_primitive::<Float32Type>().value(row);
                    bounds.double(value.into());
                    out.plain.extend_from_slice(&value.to_le_bytes());
                }
            }
            (Values::Floats(out), _) => {
                for row in valid {
                    let value = array.as_primitive::<Float64Type>().value(row);
                    bounds.double(value);
                    out.plain.extend_from_slice(&value.to_le_bytes());
                }
            }
            (Values::Texts { lengths, bytes, dictionary }, kind) => {
                for row in valid {
                    let value = match kind {
                        DataType::Utf8 => array.as_string::<i32>().value(row).as_bytes(),
                        _ => array.as_binary::<i32>().value(row),
                    };
                    if *kind == DataType::Utf8 {
                        bounds.text(value)
                    } else {
                        bounds.binary(value)
                    }
                    put_text(value, lengths, bytes, dictionary);
                }
            }
            (Values::Times { seconds, nanos }, kind) => {
                for row in valid {
                    let (second, nano) = time(&array, kind, row);
                    bounds.time(second.saturating_mul(1000).saturating_add(i64::from(nano) / 1_000_000));
                    put_time(second, nano, seconds, nanos)?;
                }
            }
            (Values::Decimals { digits, scales }, kind) => {
                let DataType::Decimal128(_, scale) = kind else { unreachable!("it was cast") };
                for row in valid {
                    let value = array.as_primitive::<Decimal128Type>().value(row);
                    bounds.decimal(value, *scale);
                    varint::put_wide(varint::zigzag_wide(value), &mut digits.plain);
                    scales.push(i64::from(*scale));
                }
            }
        }
        self.streams(|_, out| out.settle(packer))
    }

    /// Calls `each` with every stream but dictionaries, and its kind.
    fn streams(&mut self, mut each: impl FnMut(u64, &mut OutStream) -> Result<()>) -> Result<()> {
        each(0, &mut self.present.bytes.out)?;
        match &mut self.values {
            Values::Booleans(bits) => each(1, &mut bits.bytes.out),
            Values::Bytes(bytes) => each(1, &mut bytes.out),
            Values::Ints(ints) => each(1, &mut ints.out),
            Values::Floats(out) => each(1, out),
            Values::Texts { lengths, bytes, .. } => {
                each(1, bytes)?;
                each(2, &mut lengths.out)
            }
            Values::Times { seconds, nanos } => {
                each(1, &mut seconds.out)?;
                each(5, &mut nanos.out)
            }
            Values::Decimals { digits, scales } => {
                each(1, digits)?;
                each(5, &mut scales.out)
            }
        }
    }

    /// Returns the memory of the open stripe.
    pub fn bytes(&mut self) -> usize {
        let mut sum = match &self.values {
            Values::Texts { dictionary: Some(dictionary), .. } => {
                dictionary.bytes + VALUE_BYTES * dictionary.numbers.len() + 4 * dictionary.codes.len()
            }
            _ => 0,
        };
        let _ = self.streams(|_, out| {
            sum += out.bytes();
            Ok(())
        });
        sum
    }

    /// Ends the stripe: returns its streams and the column's encoding.
    pub fn finish(&mut self, packer: &mut Packer) -> Result<(Vec<StripeStream>, Message)> {
        self.present.flush();
        let (mut encoding, mut values) = (Message::default().number(1, 0), None);
        match &mut self.values {
            Values::Booleans(bits) => bits.flush(),
            Values::Bytes(bytes) => bytes.flush(),
            Values::Floats(_) => {}
            Values::Texts { lengths, bytes, dictionary } => {
                encoding = Message::default().number(1, 2);
                let pays = dictionary.as_ref().is_some_and(Dictionary::pays);
                match std::mem::take(dictionary) {
                    Some(whole) if pays => {
                        encoding = Message::default().number(1, 3).number(2, whole.numbers.len() as u64);
                        values = Some(put_dictionary(&whole, lengths, bytes));
                        *dictionary = Some(Dictionary::default());
                    }
                    Some(whole) => {
                        put_plain(&whole, lengths, bytes);
                        *dictionary = Some(Dictionary::default());
                    }
                    None => {}
                }
                lengths.flush();
            }
            Values::Ints(ints) => {
                encoding = Message::default().number(1, 2);
                ints.flush();
            }
            Values::Times { seconds, nanos } => {
                encoding = Message::default().number(1, 2);
                seconds.flush();
                nanos.flush();
            }
            Values::Decimals { scales, .. } => {
                encoding = Message::default().number(1, 2);
                scales.flush();
            }
        }
        let has_null = std::mem::take(&mut self.has_null);
        let mut streams = Vec::new();
        self.streams(|kind, out| {
            let bytes = out.take(packer)?;
            // Other readers want empty streams too.
            if kind != 0 || has_null {
                streams.push((kind, bytes));
            }
            Ok(())
        })?;
        if let Some(values) = values {
            let mut packed = Vec::new();
            packer.pack(&values, &mut packed)?;
            streams.push((3, packed));
        }
        Ok((streams, encoding))
    }
}

fn put_text(value: &[u8], lengths: &mut Ints, bytes: &mut OutStream, dictionary: &mut Option<Dictionary>) {
    let Some(known) = dictionary else {
        lengths.push(value.len() as i64);
        bytes.plain.extend_from_slice(value);
        return;
    };
    let number = match known.numbers.get(value) {
        Some(&number) => number,
        None => {
            let number = known.numbers.len() as u32;
            known.bytes += value.len();
            known.numbers.insert(value.into(), number);
            number
        }
    };
    known.codes.push(number);
    let is_tried = known.codes.len() >= DICTIONARY_TRIAL;
    if known.bytes > DICTIONARY_BYTES || (is_tried && !known.pays()) {
        put_plain(known, lengths, bytes);
        *dictionary = None;
    }
}

/// Writes the texts of a dictionary one after another.
fn put_plain(dictionary: &Dictionary, lengths: &mut Ints, bytes: &mut OutStream) {
    let values = dictionary.values();
    for &code in &dictionary.codes {
        let value = values[code as usize];
        lengths.push(value.len() as i64);
        bytes.plain.extend_from_slice(value);
    }
}

/// Writes codes as the data and the lengths of the values. Returns the values, which are sorted.
fn put_dictionary(dictionary: &Dictionary, lengths: &mut Ints, codes: &mut OutStream) -> Vec<u8> {
    let values = dictionary.values();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by_key(|&number| values[number]);
    let mut places = vec![0; values.len()];
    let mut all = Vec::with_capacity(dictionary.bytes);
    for (place, &number) in order.iter().enumerate() {
        places[number] = place as i64;
        lengths.push(values[number].len() as i64);
        all.extend_from_slice(values[number]);
    }
    let mut data = Ints::new(false);
    dictionary.codes.iter().for_each(|&code| data.push(places[code as usize]));
    data.flush();
    codes.plain.append(&mut data.out.plain);
    all
}

/// Returns the seconds from 1970 and the nanoseconds of a timestamp.
fn time(array: &ArrayRef, kind: &DataType, row: usize) -> (i64, u32) {
    let (value, parts) = match kind {
        DataType::Timestamp(TimeUnit::Second, _) => (array.as_primitive::<TimestampSecondType>().value(row), 1),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            (array.as_primitive::<TimestampMillisecondType>().value(row), 1000)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            (array.as_primitive::<TimestampMicrosecondType>().value(row), 1_000_000)
        }
        _ => (array.as_primitive::<TimestampNanosecondType>().value(row), 1_000_000_000),
    };
    (value.div_euclid(parts), (value.rem_euclid(parts) * (1_000_000_000 / parts)) as u32)
}

/// Appends a timestamp. Fails in the last second before 1970, which readers take for the first one after it.
fn put_time(second: i64, nano: u32, seconds: &mut Ints, nanos: &mut Ints) -> Result<()> {
    if second == -1 && nano > 999_999 {
        return fail("ORC cannot keep a timestamp in the last second before 1970: write the column as text");
    }
    // Seconds before 1970 are rounded towards 1970.
    let second = if second < 0 && nano > 999_999 { second + 1 } else { second };
    let Some(stored) = second.checked_sub(EPOCH) else { return fail("a timestamp is out of ORC's range") };
    seconds.push(stored);
    let (mut digits, mut zeros) = (i64::from(nano), 0);
    while digits != 0 && digits % 10 == 0 && zeros < 8 {
        digits /= 10;
        zeros += 1;
    }
    // One zero is not worth its count.
    let (digits, code) = if zeros >= 2 { (digits, zeros - 1) } else { (i64::from(nano), 0) };
    nanos.push(digits << 3 | code);
    Ok(())
}

//! Values of a column by its type, for the rows that have one.

use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BinaryArray, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int32Array,
    PrimitiveArray, StringArray,
};
use arrow_buffer::{BooleanBuffer, NullBuffer};
use yunti_api::Result;

use super::nested::Nested;
use super::times::{Decimals, Times};
use super::*;
use crate::orc::store::Stream;

/// Bytes of the texts of a batch, or of a dictionary, at most: offsets are 32 bits.
const TEXT_MAX: u64 = i32::MAX as u64;

/// Decoder of values.
pub enum Values {
    Booleans(Bits),
    Bytes(ByteRuns),
    Shorts(Ints),
    Ints(Ints),
    Longs(Ints),
    Dates(Ints),
    Floats(Stream),
    Doubles(Stream),
    /// Texts: their lengths and bytes.
    Plain {
        lengths: Ints,
        bytes: Stream,
        is_text: bool,
    },
    /// Texts: their places in a dictionary, which has `n` values.
    Codes {
        codes: Ints,
        dictionary: ArrayRef,
    },
    Times(Times),
    Decimals(Decimals),
    Nested(Box<Nested>),
}

impl Values {
    pub fn open(of: &Type, want: &Want, is_top: bool, stripe: &mut Stripe, memory: &mut Memory) -> Result<Values> {
        let number = of.number;
        Ok(match of.kind {
            Kind::Boolean => Values::Booleans(Bits::new(stripe.stream(number, StreamKind::Data))),
            Kind::Byte => Values::Bytes(ByteRuns::new(stripe.stream(number, StreamKind::Data))),
            Kind::Short => Values::Shorts(ints(of, StreamKind::Data, true, stripe)?),
            Kind::Int => Values::Ints(ints(of, StreamKind::Data, true, stripe)?),
            Kind::Long => Values::Longs(ints(of, StreamKind::Data, true, stripe)?),
            Kind::Date => Values::Dates(ints(of, StreamKind::Data, true, stripe)?),
            Kind::Float => Values::Floats(stripe.stream(number, StreamKind::Data)),
            Kind::Double => Values::Doubles(stripe.stream(number, StreamKind::Data)),
            Kind::String | Kind::Varchar(_) | Kind::Char(_) | Kind::Binary => {
                let is_text = !is_top && of.kind != Kind::Binary;
                let encoding = stripe.encoding(number)?;
                let mut lengths = ints(of, StreamKind::Length, false, stripe)?;
                match encoding.dictionary {
                    None => Values::Plain { lengths, bytes: stripe.stream(number, StreamKind::Data), is_text },
                    Some(n) => {
                        let mut bytes = stripe.stream(number, StreamKind::DictionaryData);
                        let dictionary = texts(&mut lengths, &mut bytes, n as usize, None, is_text, memory)?;
                        memory.keep();
                        Values::Codes { codes: ints(of, StreamKind::Data, false, stripe)?, dictionary }
                    }
                }
            }
            Kind::Timestamp | Kind::Instant => Values::Times(Times::open(of, stripe)?),
            Kind::Decimal(scale) => Values::Decimals(Decimals::open(of, scale, stripe)?),
            Kind::List | Kind::Map | Kind::Struct | Kind::Union => {
                Values::Nested(Box::new(Nested::open(of, want, stripe, memory)?))
            }
        })
    }

    /// Decodes the next `n` rows, of which `rows` have a value.
    pub fn read(&mut self, n: usize, rows: Option<NullBuffer>, memory: &mut Memory) -> Result<ArrayRef> {
        let valid = count(n, rows.as_ref());
        // Values once as they are stored, and once spread.
        memory.take(16 * n as u64)?;
        Ok(match self {
            Values::Booleans(bits) => {
                let values = (0..valid).map(|_| bits.next()).collect::<Result<Vec<_>>>()?;
                Arc::new(BooleanArray::new(BooleanBuffer::from(spread(values, n, rows.as_ref())), rows))
            }
            Values::Bytes(runs) => {
                let values = (0..valid).map(|_| Ok(runs.next()? as i8)).collect::<Result<Vec<_>>>()?;
                primitive::<Int8Type>(values, n, rows)
            }
            Values::Shorts(ints) => primitive::<Int16Type>(narrow(ints.take(valid)?)?, n, rows),
            Values::Ints(ints) => primitive::<Int32Type>(narrow(ints.take(valid)?)?, n, rows),
            Values::Longs(ints) => primitive::<Int64Type>(ints.take(valid)?, n, rows),
            Values::Dates(ints) => primitive::<Date32Type>(narrow(ints.take(valid)?)?, n, rows),
            Values::Floats(stream) => {
                let mut bytes = vec![0; 4 * valid];
                stream.fill(&mut bytes)?;
                let values = bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect();
                Arc::new(Float32Array::new(spread(values, n, rows.as_ref()).into(), rows))
            }
            Values::Doubles(stream) => {
                let mut bytes = vec![0; 8 * valid];
                stream.fill(&mut bytes)?;
                let values = bytes.as_chunks::<8>().0.iter().map(|&b| f64::from_le_bytes(b)).collect();
                Arc::new(Float64Array::new(spread(values, n, rows.as_ref()).into(), rows))
            }
            Values::Plain { lengths, bytes, is_text } => texts(lengths, bytes, n, rows, *is_text, memory)?,
            Values::Codes { codes, dictionary } => {
                let codes: Vec<i32> = narrow(codes.take(valid)?)?;
                if codes.iter().any(|&code| code < 0 || code as usize >= dictionary.len()) {
                    return Err(damaged("a value is not in its dictionary"));
                }
                let codes = Int32Array::new(spread(codes, n, rows.as_ref()).into(), rows);
                let array = DictionaryArray::try_new(codes, dictionary.clone());
                Arc::new(array.map_err(damaged)?)
            }
            Values::Times(times) => times.read(n, rows, memory)?,
            Values::Decimals(decimals) => decimals.read(n, rows, memory)?,
            Values::Nested(nested) => nested.read(n, rows, memory)?,
        })
    }
}

fn primitive<T: ArrowPrimitiveType>(values: Vec<T::Native>, n: usize, rows: Option<NullBuffer>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(spread(values, n, rows.as_ref()).into(), rows))
}

fn narrow<T: TryFrom<i64>>(values: Vec<i64>) -> Result<Vec<T>> {
    let narrow = |n: i64| T::try_from(n).map_err(|_| damaged(format!("the number {n} does not fit its column")));
    values.into_iter().map(narrow).collect()
}

/// Decodes texts of `n` rows: `is_text` as UTF-8, which is checked.
fn texts(
    lengths: &mut Ints,
    bytes: &mut Stream,
    n: usize,
    rows: Option<NullBuffer>,
    is_text: bool,
    memory: &mut Memory,
) -> Result<ArrayRef> {
    memory.take(12 * n as u64)?;
    let (lengths, sum) = lengths.lengths(count(n, rows.as_ref()))?;
    if sum > TEXT_MAX {
        return Err(unsupported(format!("{sum} bytes of texts at once")));
    }
    memory.take(sum)?;
    let offsets = offsets(lengths, n, rows.as_ref());
    let mut all = vec![0; sum as usize];
    bytes.fill(&mut all)?;
    Ok(match is_text {
        true => Arc::new(StringArray::try_new(offsets, all.into(), rows).map_err(|_| damaged("a text is not UTF-8"))?),
        false => Arc::new(BinaryArray::try_new(offsets, all.into(), rows).map_err(damaged)?),
    })
}

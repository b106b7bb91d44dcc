//! Blocks of columns: the value of a record by which a source hands on typed columns of many rows at once, instead of
//! a record of text for each row. docs/formats/column-block.md is the layout; a source writes it, this module reads it.

use std::sync::Arc;

use super::kind::Kind;
use super::vector::{Bytes, Data, Dictionary, Vector};
use yunti_base::{Code, Error, Result};

/// First bytes of a block.
pub const MAGIC: &[u8; 4] = b"YCB1";

/// Shapes of a column, with their numbers in the block.
mod shape {
    pub const BOOLS: u8 = 1;
    pub const INTS: u8 = 2;
    pub const FLOATS: u8 = 3;
    pub const DECIMALS: u8 = 4;
    pub const BYTES: u8 = 5;
    pub const CODES: u8 = 6;
    /// Codes in the dictionary of the block before.
    pub const CODES_AS_BEFORE: u8 = 7;
    pub const SMALL_DECIMALS: u8 = 8;
    /// Codes in a dictionary of another shape.
    pub const CODES_OF_NUMBERS: u8 = 9;
}

/// Reads the blocks of a split. Dictionaries stay for the blocks behind them.
#[derive(Default)]
pub struct BlockReader {
    dictionaries: Vec<Option<Dictionary>>,
}

/// Bytes of a block that are not read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn number(&mut self) -> Option<usize> {
        let bytes = self.take(4)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*bytes) as usize)
    }

    #[inline(always)]
    fn values<const N: usize, T>(&mut self, n: usize, of: impl Fn([u8; N]) -> T) -> Option<Vec<T>> {
        let (values, _) = self.take(n.checked_mul(N)?)?.as_chunks::<N>();
        Some(values.iter().map(|bytes| of(*bytes)).collect())
    }

    fn bools(&mut self, n: usize) -> Option<Vec<bool>> {
        Some(self.take(n)?.iter().map(|&byte| byte != 0).collect())
    }

    fn bytes(&mut self, n: usize) -> Option<Bytes> {
        let offsets = self.values(n.checked_add(1)?, u32::from_le_bytes)?;
        let len = *offsets.last()? as usize;
        Bytes::of(offsets, self.take(len)?.to_vec())
    }
}

impl BlockReader {
    /// Returns the columns of a block, which must have these types, and its number of rows.
    ///
    /// Errors: `UserCode` if the source does not keep to the layout, or gives another type.
    pub fn read(&mut self, block: &[u8], kinds: &[Kind]) -> Result<(Vec<Vector>, usize)> {
        self.dictionaries.resize(kinds.len(), None);
        let wrong = || Error::new(Code::UserCode, "the source passed on a block of columns that is damaged");
        let mut rest = Rest(block);
        if rest.take(4) != Some(MAGIC) {
            return Err(wrong());
        }
        let (rows, columns) = rest.number().zip(rest.number()).ok_or_else(wrong)?;
        if columns != kinds.len() {
            return Err(wrong());
        }
        let mut all = Vec::with_capacity(columns);
        for (kind, dictionary) in kinds.iter().zip(&mut self.dictionaries) {
            let vector = column(&mut rest, rows, dictionary).ok_or_else(wrong)?;
            let fits = has_shape_of(&vector.data, *kind);
            if !fits {
                let what = format!("a column is no {kind}, which it is in the first file of the job");
                return Err(Error::new(Code::Input, what).hint("the files of a job must have the same types"));
            }
            all.push(vector);
        }
        Ok((all, rows))
    }
}

fn has_shape_of(data: &Data, kind: Kind) -> bool {
    match data {
        Data::Bools(_) => kind == Kind::Boolean,
        Data::Ints(_) => matches!(kind, Kind::Int | Kind::Date | Kind::Time(_) | Kind::Timestamp { .. }),
        Data::Floats(_) => matches!(kind, Kind::Float | Kind::Float32),
        Data::Decimals(_) | Data::SmallDecimals(_) => matches!(kind, Kind::Decimal { .. }),
        Data::Bytes(_) | Data::Codes(..) => kind == Kind::Text,
        Data::NumberCodes(_, values) => has_shape_of(values, kind),
    }
}

fn column(rest: &mut Rest<'_>, rows: usize, dictionary: &mut Option<Dictionary>) -> Option<Vector> {
    let (shape, has_nulls) = (rest.byte()?, rest.byte()? != 0);
    let nulls = if has_nulls { Some(rest.bools(rows)?) } else { None };
    let data = match shape {
        shape::CODES | shape::CODES_AS_BEFORE | shape::CODES_OF_NUMBERS => {
            if shape == shape::CODES {
                let n = rest.number()?;
                *dictionary = Some(Dictionary::Texts(Arc::new(rest.bytes(n)?)));
            } else if shape == shape::CODES_OF_NUMBERS {
                let (n, shape) = (rest.number()?, rest.byte()?);
                *dictionary = Some(Dictionary::Numbers(Arc::new(numbers(rest, shape, n)?)));
            }
            let values = dictionary.as_ref()?;
            let codes = rest.values(rows, u32::from_le_bytes)?;
            // All bits together are no less than the largest, and cheaper: most often they are within already.
            let together = codes.iter().fold(0, |all, code| all | code);
            let largest = || codes.iter().fold(0, |most, code| most.max(*code));
            if together as usize >= values.len() && largest() as usize >= values.len() && !codes.is_empty() {
                return None;
            }
            values.coded(codes)
        }
        shape::BYTES => Data::Bytes(rest.bytes(rows)?),
        shape => numbers(rest, shape, rows)?,
    };
    Some(Vector { data, nulls })
}

/// Returns values of a fixed length.
fn numbers(rest: &mut Rest<'_>, shape: u8, n: usize) -> Option<Data> {
    Some(match shape {
        shape::BOOLS => Data::Bools(rest.bools(n)?),
        shape::INTS => Data::Ints(rest.values(n, i64::from_le_bytes)?),
        shape::FLOATS => Data::Floats(rest.values(n, f64::from_le_bytes)?),
        shape::DECIMALS => Data::Decimals(rest.values(n, i128::from_le_bytes)?),
        shape::SMALL_DECIMALS => Data::SmallDecimals(rest.values(n, i64::from_le_bytes)?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::vector::Value;

    fn block(rows: u32, columns: &[Vec<u8>]) -> Vec<u8> {
        let head = [&MAGIC[..], &rows.to_le_bytes(), &(columns.len() as u32).to_le_bytes()].concat();
        [head, columns.concat()].concat()
    }

    #[test]
    fn reads_each_shape_and_refuses_damage() {
        let ints = [vec![shape::INTS, 1, 0, 1], 5i64.to_le_bytes().to_vec(), 0i64.to_le_bytes().to_vec()].concat();
        let words = |numbers: &[u32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
        let text = [vec![shape::BYTES, 0], words(&[0, 1, 3]), b"abc".to_vec()].concat();
        let codes = [vec![shape::CODES, 0], words(&[2, 0, 1, 2]), b"xy".to_vec(), words(&[1, 0])].concat();
        let before = [vec![shape::CODES_AS_BEFORE, 0], words(&[1, 1])].concat();
        let kinds = [Kind::Int, Kind::Text, Kind::Text, Kind::Decimal { scale: 2 }, Kind::Decimal { scale: 2 }];
        let of = |values: &[i64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let small = [vec![shape::SMALL_DECIMALS, 0], of(&[-7, 8])].concat();
        let coded = [vec![shape::CODES_OF_NUMBERS, 0], words(&[2]), vec![shape::SMALL_DECIMALS], of(&[3, 4])];
        let coded = [coded.concat(), words(&[1, 0])].concat();
        let whole = block(2, &[ints.clone(), text.clone(), codes, small.clone(), coded]);
        let mut reader = BlockReader::default();
        let (columns, rows) = reader.read(&whole, &kinds).unwrap();
        assert_eq!(
            (rows, columns[0].is_null(1), columns[1].bytes(1), columns[2].bytes(0)),
            (2, true, &b"bc"[..], &b"y"[..])
        );
        assert_eq!(columns[3].value(0), Value::Decimal(-7));
        assert_eq!((columns[4].value(0), columns[4].value(1)), (Value::Decimal(4), Value::Decimal(3)));
        assert_eq!(*columns[4].decoded(), Vector::of(Data::SmallDecimals(vec![4, 3])));
        let (columns, _) =
            reader.read(&block(2, &[ints, text, before.clone(), small, before.clone()]), &kinds).unwrap();
        assert_eq!((columns[2].bytes(0), columns[4].value(1)), (&b"y"[..], Value::Decimal(4)));
        for len in 0..whole.len() {
            assert!(BlockReader::default().read(&whole[..len], &kinds).is_err(), "{len} bytes");
        }
        // Any byte may be wrong; the worst that happens is an error or other values.
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            let _ = BlockReader::default().read(&damaged, &kinds);
        }
        assert!(BlockReader::default().read(&block(2, &[before]), &[Kind::Text]).is_err());
        for other in [Kind::Float, Kind::Text] {
            let kinds = [kinds[0], kinds[1], kinds[2], kinds[3], other];
            assert!(reader.read(&whole, &kinds).is_err());
        }
    }
}

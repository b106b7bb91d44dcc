//! Batches as bytes: the layout of docs/formats/column-block.md, which the engine's `BlockReader` reads.
//!
//! A block is complete in itself. A dictionary is written with the values that the rows use, or not at all where the
//! texts themselves are shorter.

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::block::{BlockReader, MAGIC};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Bytes, Data, Vector};
use yunti_sql_plan::Batch;

/// Shapes of a column, with their numbers in the block.
mod shape {
    pub const BOOLS: u8 = 1;
    pub const INTS: u8 = 2;
    pub const FLOATS: u8 = 3;
    pub const DECIMALS: u8 = 4;
    pub const BYTES: u8 = 5;
    pub const CODES: u8 = 6;
    pub const SMALL_DECIMALS: u8 = 8;
}

/// Appends a batch.
///
/// Errors: `Memory` if its texts are 4 GiB or more.
pub fn put(batch: &Batch, out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&(batch.rows as u32).to_le_bytes());
    out.extend_from_slice(&(batch.columns.len() as u32).to_le_bytes());
    batch.columns.iter().try_for_each(|column| put_column(column, out))
}

/// Returns the batch of a block with columns of these types.
pub fn take(block: &[u8], kinds: &[Kind]) -> Result<Batch> {
    let damaged = |_| Error::new(Code::Corrupt, "a spilled block of columns is damaged");
    let (columns, rows) = BlockReader::default().read(block, kinds).map_err(damaged)?;
    Ok(Batch::of(columns, rows))
}

fn put_values<const N: usize, T: Copy>(values: &[T], of: impl Fn(T) -> [u8; N], out: &mut Vec<u8>) {
    out.reserve(N * values.len());
    values.iter().for_each(|&value| out.extend_from_slice(&of(value)));
}

fn put_column(column: &Vector, out: &mut Vec<u8>) -> Result<()> {
    let decoded = column.decoded();
    let head = |shape: u8, out: &mut Vec<u8>| {
        out.extend_from_slice(&[shape, column.nulls.is_some().into()]);
        if let Some(nulls) = &column.nulls {
            put_values(nulls, |null| [u8::from(null)], out);
        }
    };
    match &decoded.data {
        Data::Bools(v) => {
            head(shape::BOOLS, out);
            put_values(v, |v| [u8::from(v)], out);
        }
        Data::Ints(v) => {
            head(shape::INTS, out);
            put_values(v, i64::to_le_bytes, out);
        }
        Data::Floats(v) => {
            head(shape::FLOATS, out);
            put_values(v, f64::to_le_bytes, out);
        }
        Data::Decimals(v) => {
            head(shape::DECIMALS, out);
            put_values(v, i128::to_le_bytes, out);
        }
        Data::SmallDecimals(v) => {
            head(shape::SMALL_DECIMALS, out);
            put_values(v, i64::to_le_bytes, out);
        }
        Data::Bytes(v) => {
            head(shape::BYTES, out);
            put_texts(|n| v.get(n), v.len(), out)?;
        }
        Data::Codes(codes, values) => match used(codes, values) {
            Some((new, used)) => {
                head(shape::CODES, out);
                out.extend_from_slice(&(used.len() as u32).to_le_bytes());
                put_texts(|n| values.get(used[n] as usize), used.len(), out)?;
                put_values(&new, u32::to_le_bytes, out);
            }
            None => {
                head(shape::BYTES, out);
                put_texts(|n| values.get(codes[n] as usize), codes.len(), out)?;
            }
        },
        Data::NumberCodes(..) => return Err(crate::store::wrong_shape()),
    }
    Ok(())
}

/// Returns codes in a dictionary of the values that are used, and the old code of each; None if the texts are shorter.
fn used(codes: &[u32], values: &Bytes) -> Option<(Vec<u32>, Vec<u32>)> {
    if values.len() / 8 > codes.len() {
        return None;
    }
    let mut places = vec![u32::MAX; values.len()];
    let mut used = Vec::new();
    let (mut texts, mut dictionary) = (0, 4);
    let new = codes.iter().map(|&code| {
        let place = &mut places[code as usize];
        let len = values.get(code as usize).len();
        texts += len;
        if *place == u32::MAX {
            *place = used.len() as u32;
            used.push(code);
            dictionary += 4 + len;
        }
        *place
    });
    let new: Vec<u32> = new.collect();
    (dictionary < texts).then_some((new, used))
}

fn put_texts<'t>(text: impl Fn(usize) -> &'t [u8], n: usize, out: &mut Vec<u8>) -> Result<()> {
    let mut end = 0u32;
    out.extend_from_slice(&end.to_le_bytes());
    for n in 0..n {
        let next = u32::try_from(text(n).len()).ok().and_then(|len| end.checked_add(len));
        end = next.ok_or_else(|| Error::new(Code::Memory, "the texts of a batch of rows are more than 4 GiB"))?;
        out.extend_from_slice(&end.to_le_bytes());
    }
    (0..n).for_each(|n| out.extend_from_slice(text(n)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::kinds_of;
    use crate::store::random::{self, Row, below};
    use yunti_engine::env::random::Random;

    #[test]
    fn rows_of_all_shapes_come_back() {
        let mut random = Random::new(33);
        let types = random::all_types();
        for _ in 0..200 {
            let n = below(&mut random, 50);
            let rows: Vec<Row> = random::rows(&mut random, &types, n, 20, 10);
            let column =
                |random: &mut Random, n: usize| random::vector(random, &types[n], rows.iter().map(|row| &row[n]));
            let columns = (0..types.len()).map(|n| column(&mut random, n)).collect();
            let mut block = Vec::new();
            put(&Batch::of(columns, n), &mut block).unwrap();
            let back = take(&block, &kinds_of(&types).unwrap()).unwrap();
            assert_eq!(back.rows, n);
            for (row, want) in rows.iter().enumerate() {
                let have: Row = back.columns.iter().map(|column| column.value(row)).collect();
                assert_eq!(random::text(&have), random::text(want));
            }
            if n > 0 {
                let at = below(&mut random, block.len());
                assert!(take(&block[..at], &kinds_of(&types).unwrap()).is_err());
            }
        }
    }
}

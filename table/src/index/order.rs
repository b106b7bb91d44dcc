//! Order of keys: column by column, integers by value, texts by their bytes.

use std::cmp::Ordering;

use crate::format::schema::{Kind, Schema};

/// Returns an integer as a number that has its order.
fn ordered(kind: Kind, value: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide.iter_mut().zip(value).for_each(|(wide, byte)| *wide = *byte);
    let number = u64::from_le_bytes(wide);
    // A damaged row has no value.
    if !kind.is_signed() || value.is_empty() {
        return number;
    }
    let unused = 64 - 8 * value.len().min(8) as u32;
    // The sign bit in front, and inverted: negative numbers are before the others.
    (((number << unused) as i64 >> unused) as u64) ^ 1 << 63
}

/// Returns the begin of a key. `values` are those of the key's columns, as they are in a row.
pub fn begin<'a>(schema: &Schema, mut values: impl Iterator<Item = &'a [u8]>) -> u64 {
    let kind = schema.columns[schema.keys[0]].kind;
    let value = values.next().unwrap_or_default();
    if kind.width().is_some() {
        return ordered(kind, value);
    }
    let mut bytes = [0; 8];
    bytes.iter_mut().zip(value).for_each(|(to, from)| *to = *from);
    u64::from_be_bytes(bytes)
}

/// Returns the first 16 bytes of a key, which its order begins with: integers give 8 bytes each, up to the first text.
pub fn long_begin<'a>(schema: &Schema, values: impl Iterator<Item = &'a [u8]>) -> u128 {
    let (mut bytes, mut used) = ([0; 16], 0);
    for (column, value) in schema.keys.iter().zip(values) {
        let kind = schema.columns[*column].kind;
        let wide;
        let value = match kind.width() {
            Some(_) => {
                wide = ordered(kind, value).to_be_bytes();
                wide.as_slice()
            }
            None => value,
        };
        let count = value.len().min(16 - used);
        bytes[used..used + count].copy_from_slice(&value[..count]);
        used += count;
        if kind.width().is_none() || used == 16 {
            break;
        }
    }
    u128::from_be_bytes(bytes)
}

/// Compares keys, or the begins of keys: what one does not have of columns does not count.
pub fn compare<'a>(
    schema: &Schema,
    one: impl Iterator<Item = &'a [u8]>,
    other: impl Iterator<Item = &'a [u8]>,
) -> Ordering {
    let kinds = schema.keys.iter().map(|key| schema.columns[*key].kind);
    let mut compared = kinds.zip(one.zip(other)).map(|(kind, (one, other))| match kind.width() {
        Some(_) => ordered(kind, one).cmp(&ordered(kind, other)),
        None => one.cmp(other),
    });
    compared.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::schema::Column;

    fn schema(kinds: &[Kind]) -> Schema {
        let columns = kinds.iter().enumerate().map(|(at, kind)| Column::new(&format!("c{at}"), *kind, false));
        Schema::new(columns.collect(), (0..kinds.len()).collect()).unwrap()
    }

    #[test]
    fn integers_have_the_order_of_their_values() {
        let numbers = [i64::MIN, -70_000, -1, 0, 1, 300, i64::MAX];
        let bytes = numbers.map(i64::to_le_bytes);
        let schema64 = schema(&[Kind::I64]);
        assert!(bytes.windows(2).all(|two| {
            let (one, other) = (two[0].as_slice(), two[1].as_slice());
            compare(&schema64, [one].into_iter(), [other].into_iter()).is_lt()
                && begin(&schema64, [one].into_iter()) < begin(&schema64, [other].into_iter())
        }));
        let one = |kind: Kind, a: &[u8], b: &[u8]| ordered(kind, a).cmp(&ordered(kind, b));
        assert!(one(Kind::I8, &[0xff], &[0]).is_lt() && one(Kind::U8, &[0xff], &[0]).is_gt());
        assert!(one(Kind::I16, &[0, 0x80], &[0xff, 0x7f]).is_lt() && one(Kind::Bool, &[0], &[1]).is_lt());
    }

    #[test]
    fn begins_never_fall() {
        let schema = schema(&[Kind::Utf8, Kind::U16]);
        let keys: [(&str, u16); 7] =
            [("", 5), ("\0", 1), ("a", 0), ("a", 900), ("a\0", 3), ("abcdefgh", 1), ("abcdefghi", 0)];
        let values = |(text, number): (&str, u16)| [text.as_bytes().to_vec(), number.to_le_bytes().to_vec()];
        for two in keys.windows(2) {
            let (one, other) = (values(two[0]), values(two[1]));
            let of = |values: &'_ [Vec<u8>; 2]| values.clone();
            let (a, b) = (of(&one), of(&other));
            assert!(compare(&schema, a.iter().map(Vec::as_slice), b.iter().map(Vec::as_slice)).is_lt());
            assert!(begin(&schema, a.iter().map(Vec::as_slice)) <= begin(&schema, b.iter().map(Vec::as_slice)));
            let long = |values: &[Vec<u8>]| long_begin(&schema, values.iter().map(Vec::as_slice));
            assert!(long(&a) <= long(&b) && (long(&a) >> 64) as u64 == begin(&schema, a.iter().map(Vec::as_slice)));
            // A begin of the key is equal to all that have it.
            assert!(compare(&schema, a.iter().map(Vec::as_slice).take(0), b.iter().map(Vec::as_slice)).is_eq());
        }
    }
}

//! A whole column of kept rows.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Data, Vector};

use super::texts::Texts;
use super::{NO_ROW, wrong_shape};

/// Values of a whole column.
pub enum Values {
    /// Values of a fixed size: neither texts nor codes.
    Fixed(Data),
    Texts(Texts),
}

/// A whole column with its nulls.
pub struct Column {
    pub values: Values,
    pub nulls: Option<Vec<bool>>,
}

impl Column {
    /// Returns the values of parts, one part behind the other: `rows` in all.
    pub fn of(parts: Vec<Arc<Vector>>, kind: Kind, rows: usize) -> Result<Column> {
        let nulls = nulls(&parts, rows);
        let values = match kind {
            Kind::Boolean => Values::Fixed(Data::Bools(join(parts, rows, |data| match data {
                Data::Bools(v) => Some(v),
                _ => None,
            })?)),
            Kind::Float | Kind::Float32 => Values::Fixed(Data::Floats(join(parts, rows, |data| match data {
                Data::Floats(v) => Some(v),
                _ => None,
            })?)),
            Kind::Int | Kind::Date | Kind::Time(_) | Kind::Timestamp { .. } => {
                Values::Fixed(Data::Ints(join(parts, rows, |data| match data {
                    Data::Ints(v) => Some(v),
                    _ => None,
                })?))
            }
            Kind::Decimal { .. } => Values::Fixed(decimals(parts, rows)?),
            Kind::Text => Values::Texts(Texts::of(parts, rows)?),
        };
        Ok(Column { values, nulls })
    }

    /// Returns true for a null.
    #[inline]
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls[row])
    }

    /// Returns the bytes that the values take.
    pub fn bytes(&self) -> u64 {
        let nulls = self.nulls.as_ref().map_or(0, Vec::len) as u64;
        nulls
            + match &self.values {
                Values::Fixed(data) => super::size::fixed_bytes(data),
                Values::Texts(texts) => texts.bytes(),
            }
    }

    /// Returns the values of some rows, in the order of `rows`.
    pub fn gather(&self, rows: &[u32]) -> Vector {
        let data = match &self.values {
            Values::Fixed(data) => data.select(rows),
            Values::Texts(texts) => texts.gather(rows),
        };
        let nulls = self.nulls.as_ref().map(|nulls| rows.iter().map(|&row| nulls[row as usize]).collect());
        Vector { data, nulls }
    }

    /// Returns the values of some rows, and null for `NO_ROW`.
    pub fn gather_optional(&self, rows: &[u32], kind: Kind) -> Vector {
        let len = self.nulls.as_ref().map_or_else(|| self.len(), Vec::len);
        if len == 0 {
            return Vector { data: Data::zeros(kind, rows.len()), nulls: Some(vec![true; rows.len()]) };
        }
        let some: Vec<u32> = rows.iter().map(|&row| if row == NO_ROW { 0 } else { row }).collect();
        let mut vector = self.gather(&some);
        let missing = rows.iter().map(|&row| row == NO_ROW);
        vector.nulls = Some(match vector.nulls.take() {
            Some(nulls) => nulls.into_iter().zip(missing).map(|(null, missing)| null | missing).collect(),
            None => missing.collect(),
        });
        vector
    }

    fn len(&self) -> usize {
        match &self.values {
            Values::Fixed(data) => data.len(),
            Values::Texts(texts) => texts.count(),
        }
    }
}

fn nulls(parts: &[Arc<Vector>], rows: usize) -> Option<Vec<bool>> {
    parts.iter().any(|part| part.nulls.is_some()).then(|| {
        let mut all = Vec::with_capacity(rows);
        for part in parts {
            match &part.nulls {
                Some(nulls) => all.extend_from_slice(nulls),
                None => all.resize(all.len() + part.len(), false),
            }
        }
        all
    })
}

fn join<T: Copy>(parts: Vec<Arc<Vector>>, rows: usize, values: impl Fn(&Data) -> Option<&Vec<T>>) -> Result<Vec<T>> {
    let mut all = Vec::with_capacity(rows);
    for part in parts {
        match &part.data {
            Data::NumberCodes(codes, dictionary) => {
                let dictionary = values(dictionary).ok_or_else(wrong_shape)?;
                all.extend(codes.iter().map(|&code| dictionary[code as usize]));
            }
            data => all.extend_from_slice(values(data).ok_or_else(wrong_shape)?),
        }
    }
    Ok(all)
}

fn decimals(parts: Vec<Arc<Vector>>, rows: usize) -> Result<Data> {
    let plain = |part: &Vector| match &part.data {
        Data::NumberCodes(_, dictionary) => matches!(**dictionary, Data::SmallDecimals(_)),
        data => matches!(data, Data::SmallDecimals(_)),
    };
    if parts.iter().all(|part| plain(part)) {
        return Ok(Data::SmallDecimals(join(parts, rows, |data| match data {
            Data::SmallDecimals(v) => Some(v),
            _ => None,
        })?));
    }
    let mut all: Vec<i128> = Vec::with_capacity(rows);
    for part in parts {
        match &part.decoded().data {
            Data::Decimals(v) => all.extend_from_slice(v),
            Data::SmallDecimals(v) => all.extend(v.iter().map(|&v| i128::from(v))),
            _ => return Err(wrong_shape()),
        }
    }
    Ok(Data::Decimals(all))
}

//! A whole column of kept rows.

use std::sync::{Arc, Mutex};

use yunti_base::Result;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Data, Vector};

use super::texts::Texts;
use super::{NO_ROW, wrong_shape};
use crate::parallel::parallel;

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
    /// Returns the values of parts, one part behind the other: `rows` in all. `threads` copy them: fresh memory costs
    /// more than the copy.
    pub fn of(parts: Vec<Arc<Vector>>, kind: Kind, (rows, threads): (usize, usize)) -> Result<Column> {
        let nulls = nulls(&parts, rows);
        let values = match kind {
            Kind::Boolean => Values::Fixed(Data::Bools(join(&parts, (rows, threads), |data| match data {
                Data::Bools(v) => Some(v),
                _ => None,
            })?)),
            Kind::Float | Kind::Float32 => {
                Values::Fixed(Data::Floats(join(&parts, (rows, threads), |data| match data {
                    Data::Floats(v) => Some(v),
                    _ => None,
                })?))
            }
            Kind::Int | Kind::Date | Kind::Time(_) | Kind::Timestamp { .. } => {
                Values::Fixed(Data::Ints(join(&parts, (rows, threads), |data| match data {
                    Data::Ints(v) => Some(v),
                    _ => None,
                })?))
            }
            Kind::Decimal { .. } => Values::Fixed(decimals(&parts, (rows, threads))?),
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

/// Values that a thread copies, at least.
const COPIED_ROWS: usize = if cfg!(test) { 16 } else { 1 << 16 };

/// Returns the values of parts, one part behind the other; `copy` sets those of a part.
fn joined<T: Copy + Default + Send>(
    parts: &[Arc<Vector>],
    (rows, threads): (usize, usize),
    copy: impl Fn(&Vector, &mut [T]) -> Result<()> + Sync,
) -> Result<Vec<T>> {
    let mut all = vec![T::default(); rows];
    let each = rows.div_ceil(threads.max(1)).max(COPIED_ROWS);
    let (mut pieces, mut rest, mut parts) = (Vec::new(), &mut all[..], parts);
    while !parts.is_empty() {
        let (mut len, mut count) = (0, 0);
        while count < parts.len() && len < each {
            len += parts[count].len();
            count += 1;
        }
        let (own, behind) = parts.split_at(count);
        let (to, more) = std::mem::take(&mut rest).split_at_mut_checked(len).ok_or_else(wrong_shape)?;
        pieces.push((own, Mutex::new(to)));
        (parts, rest) = (behind, more);
    }
    let done = parallel(&pieces, |(parts, to)| -> Result<()> {
        let mut to = to.lock().unwrap_or_else(|e| e.into_inner());
        let mut rest = &mut to[..];
        for part in *parts {
            let (own, behind) = rest.split_at_mut(part.len());
            copy(part, own)?;
            rest = behind;
        }
        Ok(())
    });
    done.into_iter().collect::<Result<()>>()?;
    Ok(all)
}

fn join<T: Copy + Default + Send + Sync>(
    parts: &[Arc<Vector>],
    rows: (usize, usize),
    values: impl Fn(&Data) -> Option<&Vec<T>> + Sync,
) -> Result<Vec<T>> {
    joined(parts, rows, |part, to| {
        match &part.data {
            Data::NumberCodes(codes, dictionary) => {
                let dictionary = values(dictionary).ok_or_else(wrong_shape)?;
                to.iter_mut().zip(codes).for_each(|(to, &code)| *to = dictionary[code as usize]);
            }
            data => to.copy_from_slice(values(data).ok_or_else(wrong_shape)?),
        }
        Ok(())
    })
}

fn decimals(parts: &[Arc<Vector>], rows: (usize, usize)) -> Result<Data> {
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
    let all = joined(parts, rows, |part, to: &mut [i128]| {
        match &part.decoded().data {
            Data::Decimals(v) => to.copy_from_slice(v),
            Data::SmallDecimals(v) => to.iter_mut().zip(v).for_each(|(to, &v)| *to = i128::from(v)),
            _ => return Err(wrong_shape()),
        }
        Ok(())
    })?;
    Ok(Data::Decimals(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_copy_the_same_values() {
        let part = |from: i64, len: i64| Arc::new(Vector::of(Data::SmallDecimals((from..from + len).collect())));
        let codes = Data::NumberCodes(vec![1, 0, 1], Arc::new(Data::SmallDecimals(vec![7, -7])));
        let wide = Arc::new(Vector::of(Data::Decimals(vec![1 << 70, 5])));
        let narrow = vec![part(0, 40), part(0, 0), Arc::new(Vector::of(codes)), part(100, 17), part(5, 1)];
        for parts in [narrow.clone(), [narrow, vec![wide]].concat(), Vec::new()] {
            let rows = parts.iter().map(|part| part.len()).sum();
            let expect: Vec<Vec<_>> =
                parts.iter().map(|part| (0..part.len()).map(|n| part.value(n)).collect()).collect();
            for threads in 0..5 {
                let column = Column::of(parts.clone(), Kind::Decimal { scale: 2 }, (rows, threads)).unwrap();
                let all = column.gather(&(0..rows as u32).collect::<Vec<_>>());
                assert_eq!((0..rows).map(|n| all.value(n)).collect::<Vec<_>>(), expect.concat(), "{threads} threads");
            }
        }
        assert!(Column::of(vec![part(0, 3)], Kind::Int, (3, 2)).is_err());
    }
}

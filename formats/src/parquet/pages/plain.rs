//! Values in the encoding PLAIN: picked from stored bytes, in the shape of a block, or tested where they stand.

use super::form::Form;
use crate::bounds::Test;
use crate::bounds::value_set::ValueSet;
use crate::parquet::prune::units;

/// Number that is no place: the row is null.
pub const NULL: u32 = u32::MAX;

/// Places of values in a page or dictionary.
#[derive(Clone, Copy)]
pub enum Places<'a> {
    /// From the first up to the second.
    Range(usize, usize),
    /// `NULL` picks zero.
    List(&'a [u32]),
}

impl Places<'_> {
    pub fn len(self) -> usize {
        match self {
            Places::Range(from, to) => to - from,
            Places::List(list) => list.len(),
        }
    }
}

#[inline(always)]
fn put_as<const S: usize, const N: usize>(
    stored: &[u8],
    places: Places<'_>,
    of: impl Fn([u8; S]) -> [u8; N],
    out: &mut Vec<u8>,
) {
    let stored = stored.as_chunks::<S>().0;
    let start = out.len();
    out.resize(start + N * places.len(), 0);
    let to = out[start..].as_chunks_mut::<N>().0.iter_mut();
    match places {
        Places::Range(from, end) => to.zip(&stored[from..end]).for_each(|(to, value)| *to = of(*value)),
        Places::List(list) => to.zip(list).for_each(|(to, &place)| {
            // A null is beyond the end.
            *to = stored.get(place as usize).map_or([0; N], |value| of(*value));
        }),
    }
}

/// Appends stored values of a fixed length in the shape of a block.
pub fn put(form: Form, stored: &[u8], places: Places<'_>, out: &mut Vec<u8>) {
    match form {
        Form::Bool => put_as::<1, 1>(stored, places, |v| v, out),
        Form::I32 | Form::Units32 => put_as(stored, places, |v| i64::from(i32::from_le_bytes(v)).to_le_bytes(), out),
        Form::U32 => put_as(stored, places, |v| i64::from(u32::from_le_bytes(v)).to_le_bytes(), out),
        Form::I64 | Form::F64 | Form::Units64 => match places {
            Places::Range(from, to) => out.extend_from_slice(&stored[8 * from..8 * to]),
            Places::List(_) => put_as::<8, 8>(stored, places, |v| v, out),
        },
        Form::F32 => put_as(stored, places, |v| f64::from(f32::from_le_bytes(v)).to_le_bytes(), out),
        Form::UnitsIn(len) => {
            let mut one = |place: usize| {
                let value = stored.get(place * len..).and_then(|rest| rest.get(..len)).and_then(units).unwrap_or(0);
                let bytes = value.to_le_bytes();
                out.extend_from_slice(if len <= 8 { &bytes[..8] } else { &bytes });
            };
            match places {
                Places::Range(from, to) => (from..to).for_each(one),
                // A null is beyond the end of every page.
                Places::List(list) => list.iter().for_each(|&place| one(place as usize)),
            }
        }
        Form::Bytes | Form::Text => unreachable!("values of any length have ends"),
    }
}

/// Removes from `rows` those whose value fails a test. `place`: where the value of a row stands, or `NULL`.
pub fn retain(form: Form, stored: &[u8], tests: &[Test], rows: &mut Vec<u32>, place: impl Fn(u32) -> u32) {
    let (least, most) = Test::whole_range(tests);
    let clamp = |value: i128| value.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    if least > most || least > i64::MAX.into() || most < i64::MIN.into() {
        // Wide decimals alone could be there.
        if !matches!(form, Form::UnitsIn(9..) | Form::Bool | Form::F32 | Form::F64) {
            return rows.clear();
        }
    }
    let within = clamp(least)..=clamp(most);
    match Test::sets(tests)[..] {
        [] => retain_by(form, (stored, tests), rows, place, |value| within.contains(&value)),
        // What a set is made of is no question of each row.
        [ValueSet::Bits(bits)] => {
            retain_by(form, (stored, tests), rows, place, |value| within.contains(&value) & bits.has(value));
        }
        [ValueSet::List(list)] => {
            retain_by(form, (stored, tests), rows, place, |value| within.contains(&value) && list.has(value));
        }
        ref sets => retain_by(form, (stored, tests), rows, place, |value| {
            within.contains(&value) && sets.iter().all(|set| set.has(value))
        }),
    }
}

/// Removes rows as `retain` does. `whole`: a test of numbers that have 64 bits.
#[inline(always)]
fn retain_by(
    form: Form,
    (stored, tests): (&[u8], &[Test]),
    rows: &mut Vec<u32>,
    place: impl Fn(u32) -> u32,
    whole: impl Fn(i64) -> bool,
) {
    fn by<const S: usize>(
        stored: &[u8],
        rows: &mut Vec<u32>,
        place: impl Fn(u32) -> u32,
        passes: impl Fn([u8; S]) -> bool,
    ) {
        let stored = stored.as_chunks::<S>().0;
        keep(rows, |row| stored.get(place(row) as usize).is_some_and(|value| passes(*value)));
    }
    let float = |value: f64| tests.iter().all(|test| test.float(value));
    match form {
        Form::Bool => keep(rows, |row| place(row) != NULL),
        Form::I32 | Form::Units32 => by(stored, rows, place, |v| whole(i32::from_le_bytes(v).into())),
        Form::U32 => by(stored, rows, place, |v| whole(u32::from_le_bytes(v).into())),
        Form::I64 | Form::Units64 => by(stored, rows, place, |v| whole(i64::from_le_bytes(v))),
        Form::F32 => by(stored, rows, place, |v| float(f32::from_le_bytes(v).into())),
        Form::F64 => by(stored, rows, place, |v| float(f64::from_le_bytes(v))),
        Form::UnitsIn(len) => keep(rows, |row| {
            let value = stored.get(place(row) as usize * len..).and_then(|rest| rest.get(..len));
            value.and_then(units).is_some_and(|value| tests.iter().all(|test| test.whole(value)))
        }),
        Form::Bytes | Form::Text => unreachable!("values of any length have ends"),
    }
}

/// Removes the rows for which `passes` is false.
#[inline(always)]
pub fn keep(rows: &mut Vec<u32>, passes: impl Fn(u32) -> bool) {
    let mut kept = 0;
    for at in 0..rows.len() {
        let row = rows[at];
        // Without a branch: which rows pass is hard to predict.
        rows[kept] = row;
        kept += usize::from(passes(row));
    }
    rows.truncate(kept);
}

/// Starts of values of any length, each behind its length, and the end of the last.
pub struct Texts {
    starts: Vec<u32>,
}

impl Texts {
    /// Finds `n` values; None if there are fewer.
    pub fn find(stored: &[u8], n: usize) -> Option<Texts> {
        // Each has a length of four bytes: a page cannot claim more than it has.
        if stored.len() / 4 < n || stored.len() > u32::MAX as usize {
            return None;
        }
        let mut starts = Vec::with_capacity(n + 1);
        let mut at = 0usize;
        for _ in 0..n {
            let len = u32::from_le_bytes(*stored.get(at..)?.first_chunk()?) as usize;
            starts.push(at as u32);
            at += 4 + len;
        }
        starts.push(at as u32);
        (at <= stored.len()).then_some(Texts { starts })
    }

    /// Returns a value; None for `NULL`.
    #[inline]
    pub fn get<'a>(&self, stored: &'a [u8], place: usize) -> Option<&'a [u8]> {
        let (from, to) = (*self.starts.get(place)?, *self.starts.get(place + 1)?);
        stored.get(from as usize + 4..to as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_values_of_each_form() {
        let put = |form, stored: &[u8], places| {
            let mut out = Vec::new();
            put(form, stored, places, &mut out);
            out
        };
        let of = |values: &[i64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
        let four: Vec<u8> = [5i32, -1, 7].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(put(Form::I32, &four, Places::Range(1, 3)), of(&[-1, 7]));
        assert_eq!(put(Form::U32, &four, Places::List(&[1, NULL, 0])), of(&[u32::MAX.into(), 0, 5]));
        assert_eq!(put(Form::UnitsIn(3), &[0xff, 0xff, 0xfe, 0, 1, 0], Places::Range(0, 2)), of(&[-2, 256]));
        let wide = put(Form::UnitsIn(9), &[0xff; 9], Places::List(&[0, NULL]));
        assert_eq!(wide, [(-1i128).to_le_bytes(), [0; 16]].concat());
        assert_eq!(put(Form::F32, &1.5f32.to_le_bytes(), Places::Range(0, 1)), 1.5f64.to_le_bytes());
    }

    #[test]
    fn texts_end_within_their_page() {
        let stored = b"\x02\0\0\0ab\0\0\0\0\x01\0\0\0c";
        let texts = Texts::find(stored, 3).unwrap();
        assert_eq!((texts.get(stored, 0), texts.get(stored, 1)), (Some(&b"ab"[..]), Some(&b""[..])));
        assert_eq!((texts.get(stored, 2), texts.get(stored, NULL as usize)), (Some(&b"c"[..]), None));
        assert!(Texts::find(stored, 4).is_none());
        assert!(Texts::find(&stored[..14], 3).is_none());
        assert!(Texts::find(b"\xff\xff\xff\xff", 1).is_none());
    }
}

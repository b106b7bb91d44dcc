//! Least or largest number of each group: integers, decimals, booleans, and floats by their place in their order.

use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::normal::{float_of, ordered_float};
use yunti_engine::columns::vector::{Data, Vector};

use super::{Argument, Rows, Seen, State, put_number, same, take, take_number};
use crate::operators::aggregate::keys::smallest;

/// A number of 64 or 128 bits.
pub trait Number: Copy + Ord + Send + Into<i128> + 'static {
    const LEAST: Self;
    const MOST: Self;
    fn of(number: i128) -> Option<Self>;
}

impl Number for i64 {
    const LEAST: Self = i64::MIN;
    const MOST: Self = i64::MAX;
    fn of(number: i128) -> Option<Self> {
        number.try_into().ok()
    }
}

impl Number for i128 {
    const LEAST: Self = i128::MIN;
    const MOST: Self = i128::MAX;
    fn of(number: i128) -> Option<Self> {
        Some(number)
    }
}

pub struct Least<T> {
    largest: bool,
    kind: Kind,
    values: Vec<T>,
    seen: Seen,
}

/// Returns the states of the least or largest value of a type that is no text.
pub fn of_kind(kind: Kind, largest: bool) -> Box<dyn State> {
    match kind {
        Kind::Decimal { .. } => Box::new(Least::<i128>::new(kind, largest)),
        _ => Box::new(Least::<i64>::new(kind, largest)),
    }
}

/// Returns a number in the order of floats.
#[inline(always)]
fn ordered(value: f64) -> i64 {
    (ordered_float(value) ^ 1 << 63) as i64
}

impl<T: Number> Least<T> {
    fn new(kind: Kind, largest: bool) -> Least<T> {
        Least { largest, kind, values: Vec::new(), seen: Seen::default() }
    }

    fn empty(&self) -> T {
        if self.largest { T::LEAST } else { T::MOST }
    }

    #[inline(always)]
    fn add(&mut self, rows: &Rows<'_>, nulls: Option<&Vec<bool>>, value: impl Fn(usize) -> T) {
        let values = &mut self.values;
        if self.largest {
            rows.each(nulls, |group, row| values[group] = values[group].max(value(row)));
        } else {
            rows.each(nulls, |group, row| values[group] = values[group].min(value(row)));
        }
    }

    fn put(&mut self, group: usize, value: T) {
        let before = self.values[group];
        self.values[group] = if self.largest { before.max(value) } else { before.min(value) };
    }
}

impl<T: Number> State for Least<T> {
    fn resize(&mut self, groups: usize) {
        self.values.resize(groups, self.empty());
        self.seen.resize(groups);
    }

    fn reserve(&mut self, groups: usize) {
        self.values.reserve_exact(groups - self.values.len());
    }

    fn clear(&mut self) {
        self.values.clear();
        self.seen.clear();
    }

    fn group_bytes(&self) -> usize {
        size_of::<T>()
    }

    fn other_bytes(&self) -> usize {
        self.seen.used_bytes()
    }

    fn update(&mut self, rows: &Rows<'_>, argument: Option<&Argument>) {
        let Some(Argument { vector, .. }) = argument else { return };
        let nulls = vector.nulls.as_ref();
        self.seen.note(rows, nulls);
        // A number of this table's width holds each value of the type; others are a bug that the types exclude.
        let of = |value: i128| T::of(value).unwrap_or(T::MOST);
        match &vector.data {
            Data::Ints(values) | Data::SmallDecimals(values) => self.add(rows, nulls, |row| of(values[row].into())),
            Data::Floats(values) => self.add(rows, nulls, |row| of(ordered(values[row]).into())),
            Data::Bools(values) => self.add(rows, nulls, |row| of(values[row].into())),
            Data::Decimals(values) => self.add(rows, nulls, |row| of(values[row])),
            _ => {}
        }
    }

    fn add(&mut self, group: usize, number: i128, values: i64) {
        if let (true, Some(number)) = (values > 0, T::of(number)) {
            self.seen.set(group);
            self.put(group, number);
        }
    }

    fn merge(&mut self, from: &dyn State, groups: &[u32], to: &[u32]) {
        let from = same::<Least<T>>(from);
        self.seen.merge(&from.seen, groups, to);
        groups.iter().zip(to).for_each(|(&group, &to)| self.put(to as usize, from.values[group as usize]));
    }

    fn encode(&self, group: usize, out: &mut Vec<u8>) {
        out.push(self.seen.has(group).into());
        if self.seen.has(group) {
            put_number(self.values[group].into(), out);
        }
    }

    fn decode(&mut self, group: usize, from: &mut &[u8]) -> Option<()> {
        if take::<1>(from)?[0] == 1 {
            let value = T::of(take_number(from)?)?;
            self.seen.set(group);
            self.put(group, value);
        }
        Some(())
    }

    fn results(&self, groups: &[u32]) -> Vector {
        let nulls = self.seen.nulls(groups);
        let is_null = |n: usize| nulls.as_ref().is_some_and(|nulls| nulls[n]);
        let values = groups.iter().enumerate().map(|(n, &group)| {
            let value: i128 = self.values[group as usize].into();
            if is_null(n) { 0 } else { value }
        });
        let data = match self.kind {
            Kind::Boolean => Data::Bools(values.map(|v| v != 0).collect()),
            Kind::Float | Kind::Float32 => Data::Floats(values.map(|v| float_of(v as i64 as u64 ^ 1 << 63)).collect()),
            Kind::Decimal { .. } => smallest(values.collect()),
            _ => Data::Ints(values.map(|v| v as i64).collect()),
        };
        Vector { data, nulls }
    }
}

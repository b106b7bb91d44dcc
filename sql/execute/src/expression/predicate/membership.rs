//! `in`: the values of a list, ready to be looked up.

use std::collections::HashSet;

use yunti_base::Result;
use yunti_engine::columns::expression::Side;
use yunti_engine::columns::normal::ordered_float;
use yunti_engine::columns::vector::{Data, Value, Vector};

use crate::expression::operand::{Operand, Texts, Units, bools, floats, ints, shapes_differ, units};

/// Values of a list.
pub struct Set {
    values: Values,
    has_null: bool,
    is_empty: bool,
}

enum Values {
    Bools([bool; 2]),
    Ints(Ints),
    /// Floats by the number that orders them.
    Floats(Ints),
    Decimals {
        small: Ints,
        wide: HashSet<i128>,
    },
    Texts(HashSet<Vec<u8>>),
}

/// Whole numbers.
enum Ints {
    /// Some numbers: each is compared, without a branch.
    Few(Vec<i64>),
    /// A bit for each number from the smallest.
    Bits { first: i64, bits: Vec<u64> },
    /// Slots by the hash, at most half of them full; a free one has `free`.
    Slots { slots: Vec<i64>, free: i64, shift: u32 },
}

/// Numbers that are compared one after the other: a loop over eight takes 1 ns a row, as a look-up does.
const FEW: usize = 8;

impl Ints {
    fn of(mut numbers: Vec<i64>) -> Ints {
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.len() <= FEW {
            return Ints::Few(numbers);
        }
        let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
        let range = last.abs_diff(first);
        if range < 64 * numbers.len() as u64 {
            let mut bits = vec![0u64; range as usize / 64 + 1];
            for number in &numbers {
                let place = number.abs_diff(first) as usize;
                bits[place / 64] |= 1 << (place % 64);
            }
            return Ints::Bits { first, bits };
        }
        let size = (2 * numbers.len()).next_power_of_two();
        // Some number that is not in the list; the numbers are sorted.
        let mut free = i64::MIN;
        for number in &numbers {
            if *number != free {
                break;
            }
            free += 1;
        }
        let shift = 64 - size.trailing_zeros();
        let mut slots = vec![free; size];
        for number in numbers {
            let mut place = hash(number, shift);
            while slots[place] != free {
                place = (place + 1) & (size - 1);
            }
            slots[place] = number;
        }
        Ints::Slots { slots, free, shift }
    }

    /// Computes for each number if it is in the list.
    fn contain(&self, numbers: Side<'_, i64>, rows: usize) -> Vec<bool> {
        let numbers = match numbers {
            Side::Many(numbers) => numbers,
            Side::One(number) => return vec![self.contain(Side::Many(&[number]), 1)[0]; rows],
        };
        match self {
            Ints::Few(list) => {
                let mut found = vec![false; numbers.len()];
                for &one in list {
                    found.iter_mut().zip(numbers).for_each(|(found, &number)| *found |= number == one);
                }
                found
            }
            Ints::Bits { first, bits } => numbers
                .iter()
                .map(|&number| {
                    let place = (number as u64).wrapping_sub(*first as u64);
                    bits.get((place / 64) as usize).is_some_and(|bits| bits >> (place % 64) & 1 == 1)
                })
                .collect(),
            Ints::Slots { slots, free, shift } => {
                let mask = slots.len() - 1;
                let found = |number: i64| {
                    let mut place = hash(number, *shift);
                    loop {
                        let slot = slots[place & mask];
                        if slot == number || slot == *free {
                            return slot == number && number != *free;
                        }
                        place += 1;
                    }
                };
                numbers.iter().map(|&number| found(number)).collect()
            }
        }
    }
}

fn hash(number: i64, shift: u32) -> usize {
    ((number as u64 ^ (number as u64) >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift) as usize
}

impl Set {
    /// Returns the values of a list.
    pub fn of(list: &[Value]) -> Set {
        let first = list.iter().find(|value| **value != Value::Null);
        let values = match first {
            None | Some(Value::Null | Value::Bool(_)) => {
                Values::Bools([list.contains(&Value::Bool(false)), list.contains(&Value::Bool(true))])
            }
            Some(Value::Int(_)) => Values::Ints(Ints::of(list.iter().filter_map(int).collect())),
            Some(Value::Float(_)) => {
                let numbers = list.iter().filter_map(|value| match value {
                    Value::Float(value) => Some(ordered_float(*value) as i64),
                    _ => None,
                });
                Values::Floats(Ints::of(numbers.collect()))
            }
            Some(Value::Decimal(_)) => {
                let wide: HashSet<i128> = list.iter().filter_map(decimal).collect();
                let small = wide.iter().filter_map(|&value| i64::try_from(value).ok()).collect();
                Values::Decimals { small: Ints::of(small), wide }
            }
            Some(Value::Bytes(_)) => {
                let texts = list.iter().filter_map(|value| match value {
                    Value::Bytes(text) => Some(text.clone()),
                    _ => None,
                });
                Values::Texts(texts.collect())
            }
        };
        Set { values, has_null: list.contains(&Value::Null), is_empty: list.is_empty() }
    }

    /// Computes for each value if it is in the list: null if the value is null, or if it is not found and the list has
    /// a null. Nothing is in an empty list, not even null.
    pub fn contain(&self, operand: &Operand, negated: bool, rows: usize) -> Result<Vector> {
        if self.is_empty {
            return Ok(Vector::of(Data::Bools(vec![negated; rows])));
        }
        let mut found = match &self.values {
            _ if operand.is_null() => {
                return Ok(Vector { data: Data::Bools(vec![false; rows]), nulls: Some(vec![true; rows]) });
            }
            // A list of nulls alone.
            Values::Bools([false, false]) => vec![false; rows],
            Values::Bools(has) => match bools(operand).ok_or_else(shapes_differ)? {
                Side::Many(values) => values.iter().map(|&value| has[usize::from(value)]).collect(),
                Side::One(value) => vec![has[usize::from(value)]; rows],
            },
            Values::Ints(list) => list.contain(ints(operand).ok_or_else(shapes_differ)?, rows),
            Values::Floats(list) => {
                let numbers: Vec<i64> = match floats(operand).ok_or_else(shapes_differ)? {
                    Side::Many(values) => values.iter().map(|&value| ordered_float(value) as i64).collect(),
                    Side::One(value) => vec![ordered_float(value) as i64; rows],
                };
                list.contain(Side::Many(&numbers), rows)
            }
            Values::Decimals { small, wide } => {
                let units = units(operand).ok_or_else(shapes_differ)?;
                match (&units, units.small()) {
                    (_, Some(numbers)) => small.contain(numbers, rows),
                    (Units::One(value), None) => vec![wide.contains(value); rows],
                    (other, None) => other.wide().iter().map(|value| wide.contains(value)).collect(),
                }
            }
            Values::Texts(list) => Texts::of(operand).ok_or_else(shapes_differ)?.map(rows, |text| list.contains(text)),
        };
        let nulls = match (self.has_null, operand.nulls()) {
            (false, nulls) => nulls.cloned(),
            (true, None) => Some(found.iter().map(|found| !found).collect()),
            (true, Some(nulls)) => Some(nulls.iter().zip(&found).map(|(null, found)| null | !found).collect()),
        };
        if negated {
            found.iter_mut().for_each(|found| *found = !*found);
        }
        Ok(Vector { data: Data::Bools(found), nulls })
    }
}

fn int(value: &Value) -> Option<i64> {
    if let Value::Int(value) = value { Some(*value) } else { None }
}

fn decimal(value: &Value) -> Option<i128> {
    if let Value::Decimal(value) = value { Some(*value) } else { None }
}

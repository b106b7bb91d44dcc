//! States of one aggregate for many groups, side by side: a loop over rows touches what it needs and no more.

use super::Function;
use super::distinct_sketch::DistinctSketch;
use super::float_sum::FloatSum;
use super::quantile_sketch::QuantileSketch;
use crate::columns::grouping::{hash_bytes, mix};
use crate::columns::kind::Kind;
use crate::columns::normal;
use crate::columns::vector::{Data, Value, Vector};
use yunti_base::{Code, Error, Result};

/// Place of a row in the input: the number of the file, the place of the split in it, and rows before it.
pub type Origin = (u64, u64, u64);

/// States of an aggregate.
pub struct Accumulator {
    function: Function,
    kind: Kind,
    states: States,
}

enum States {
    Counts(Vec<u64>),
    /// Sums of integers or of the units of decimals, and the numbers of values.
    Sums(Vec<i128>, Vec<u64>),
    FloatSums(Vec<FloatSum>, Vec<u64>),
    /// Least or largest value, if there is one.
    Ints(Vec<Option<i64>>),
    Floats(Vec<Option<u64>>),
    Values(Vec<Value>),
    /// First or last value, with its place; a null is a value too.
    Edges(Vec<Option<(Origin, Value)>>),
    Distinct(Vec<DistinctSketch>),
    Quantiles(Vec<QuantileSketch>),
}

/// Rows of a batch, and the group of each.
#[derive(Default)]
pub struct Rows {
    pub groups: Vec<u32>,
    /// Rows of each group, if the groups are few.
    tally: Option<Vec<u64>>,
}

/// Groups whose sums of a batch gather in a table of their own, at most.
const FEW_GROUPS: usize = 512;
/// Tables of sums that take turns: rows of one group do not wait for each other.
const LANES: usize = 4;

impl Rows {
    /// Counts the rows of each of `groups` groups.
    pub fn count(&mut self, groups: usize) {
        self.tally = (groups <= FEW_GROUPS && groups * LANES <= self.groups.len())
            .then(|| by_lanes(&self.groups, groups, |_| 1).map(|n| n as u64).collect());
    }
}

/// Returns the sum of `value` over the rows of each group.
fn by_lanes(rows: &[u32], groups: usize, value: impl Fn(usize) -> i64) -> impl Iterator<Item = i64> {
    let mut lanes = vec![0i64; groups * LANES];
    let (four, rest) = rows.as_chunks::<LANES>();
    for (n, groups) in four.iter().enumerate() {
        for (lane, &group) in groups.iter().enumerate() {
            lanes[group as usize * LANES + lane] += value(n * LANES + lane);
        }
    }
    for (n, &group) in rest.iter().enumerate() {
        lanes[group as usize * LANES] += value(four.len() * LANES + n);
    }
    (0..groups).map(move |group| lanes[group * LANES..][..LANES].iter().sum())
}

impl Accumulator {
    /// Returns no states of a function of values of a type.
    pub fn new(function: Function, kind: Kind) -> Accumulator {
        let states = match (function, kind) {
            // The values of exact aggregates are sorted; their states only count them.
            (Function::Count | Function::Distinct | Function::Quantile(_) | Function::Median, _) => {
                States::Counts(Vec::new())
            }
            (Function::Sum | Function::Mean, Kind::Float | Kind::Float32) => States::FloatSums(Vec::new(), Vec::new()),
            (Function::Sum | Function::Mean, _) => States::Sums(Vec::new(), Vec::new()),
            (Function::Min | Function::Max, Kind::Float | Kind::Float32) => States::Floats(Vec::new()),
            (Function::Min | Function::Max, Kind::Text | Kind::Boolean | Kind::Decimal { .. }) => {
                States::Values(Vec::new())
            }
            (Function::Min | Function::Max, _) => States::Ints(Vec::new()),
            (Function::First | Function::Last, _) => States::Edges(Vec::new()),
            (Function::ApproxDistinct, _) => States::Distinct(Vec::new()),
            (Function::ApproxQuantile(_), _) => States::Quantiles(Vec::new()),
        };
        Accumulator { function, kind, states }
    }

    /// Adds empty states up to a number of groups.
    pub fn grow(&mut self, groups: usize) {
        match &mut self.states {
            States::Counts(v) => v.resize(groups, 0),
            States::Sums(v, n) => {
                v.resize(groups, 0);
                n.resize(groups, 0);
            }
            States::FloatSums(v, n) => {
                v.resize(groups, FloatSum::default());
                n.resize(groups, 0);
            }
            States::Ints(v) => v.resize(groups, None),
            States::Floats(v) => v.resize(groups, None),
            States::Values(v) => v.resize(groups, Value::Null),
            States::Edges(v) => v.resize(groups, None),
            States::Distinct(v) => v.resize(groups, DistinctSketch::default()),
            States::Quantiles(v) => v.resize(groups, QuantileSketch::default()),
        }
    }

    /// Removes all states, and keeps their memory.
    pub fn clear(&mut self) {
        match &mut self.states {
            States::Counts(v) => v.clear(),
            States::Sums(v, n) => {
                v.clear();
                n.clear();
            }
            States::FloatSums(v, n) => {
                v.clear();
                n.clear();
            }
            States::Ints(v) => v.clear(),
            States::Floats(v) => v.clear(),
            States::Values(v) => v.clear(),
            States::Edges(v) => v.clear(),
            States::Distinct(v) => v.clear(),
            States::Quantiles(v) => v.clear(),
        }
    }

    /// Returns the bytes of a group's state, about.
    pub fn state_bytes(&self) -> usize {
        match &self.states {
            States::Counts(_) => 8,
            States::Sums(..) => 24,
            States::FloatSums(..) => 64,
            States::Ints(_) | States::Floats(_) => 16,
            States::Values(_) => 64,
            States::Edges(_) => 96,
            States::Distinct(_) => 4096,
            States::Quantiles(_) => 2048,
        }
    }

    /// Adds the values of rows to the states of their groups. `column` is None for a count of rows.
    pub fn add(&mut self, rows: &Rows, column: Option<&Vector>, first: Origin) -> Result<()> {
        let groups = &rows.groups[..];
        let without_nulls = column.is_none_or(|column| column.nulls.is_none());
        let tally = rows.tally.as_ref().filter(|_| without_nulls);
        if let (States::Counts(counts), Some(tally)) = (&mut self.states, tally) {
            counts.iter_mut().zip(tally).for_each(|(count, rows)| *count += rows);
            return Ok(());
        }
        let Some(column) = column else {
            if let States::Counts(counts) = &mut self.states {
                groups.iter().for_each(|&group| counts[group as usize] += 1);
            }
            return Ok(());
        };
        let largest = matches!(self.function, Function::Max | Function::Last);
        match (&mut self.states, &column.data) {
            (States::Counts(counts), _) => each(groups, column, |group, _| counts[group] += 1),
            (States::Sums(sums, counts), Data::Ints(values) | Data::SmallDecimals(values)) => {
                // A sum of all rows of a batch must fit.
                let all = values.iter().fold(0, |all, v| all | (v ^ v >> 63));
                let fits = all.leading_zeros() > (groups.len() + 1).ilog2() + 2;
                if let (Some(tally), true) = (tally, fits) {
                    let of_batch = by_lanes(groups, tally.len(), |row| values[row]);
                    sums.iter_mut().zip(of_batch).for_each(|(sum, more)| *sum += i128::from(more));
                    counts.iter_mut().zip(tally).for_each(|(count, rows)| *count += rows);
                    return Ok(());
                }
                each(groups, column, |group, row| {
                    sums[group] += i128::from(values[row]);
                    counts[group] += 1;
                });
            }
            (States::Sums(sums, counts), Data::Decimals(values)) => {
                let mut is_over = false;
                each(groups, column, |group, row| {
                    let (sum, over) = sums[group].overflowing_add(values[row]);
                    is_over |= over;
                    sums[group] = sum;
                    counts[group] += 1;
                });
                if is_over {
                    return Err(too_large());
                }
            }
            (States::FloatSums(sums, counts), Data::Floats(values)) => {
                each(groups, column, |group, row| {
                    sums[group].add(values[row]);
                    counts[group] += 1;
                });
            }
            (States::Ints(states), Data::Ints(values)) => each(groups, column, |group, row| {
                let state = &mut states[group];
                *state = Some(better(*state, values[row], largest));
            }),
            (States::Floats(states), Data::Floats(values)) => each(groups, column, |group, row| {
                let state = &mut states[group];
                *state = Some(better(*state, normal::ordered_float(values[row]), largest));
            }),
            (States::Values(states), Data::Decimals(values)) => each(groups, column, |group, row| {
                let before = if let Value::Decimal(before) = states[group] { Some(before) } else { None };
                states[group] = Value::Decimal(better(before, values[row], largest));
            }),
            (States::Values(states), Data::SmallDecimals(values)) => each(groups, column, |group, row| {
                let before = if let Value::Decimal(before) = states[group] { Some(before) } else { None };
                states[group] = Value::Decimal(better(before, values[row].into(), largest));
            }),
            (States::Values(states), Data::Bools(values)) => each(groups, column, |group, row| {
                let before = if let Value::Bool(before) = states[group] { Some(before) } else { None };
                states[group] = Value::Bool(better(before, values[row], largest));
            }),
            (States::Values(states), Data::Bytes(_) | Data::Codes(..)) => each(groups, column, |group, row| {
                let text = column.bytes(row);
                let wins = match &states[group] {
                    Value::Bytes(before) => is_better(text, before, largest),
                    _ => true,
                };
                if wins {
                    states[group] = Value::Bytes(text.to_vec());
                }
            }),
            (States::Edges(states), _) => {
                for (row, &group) in groups.iter().enumerate() {
                    let place = (first.0, first.1, first.2 + row as u64);
                    let state = &mut states[group as usize];
                    if state.as_ref().is_none_or(|(before, _)| is_better(&place, before, largest)) {
                        *state = Some((place, column.value(row)));
                    }
                }
            }
            (States::Distinct(sketches), Data::Ints(values)) => {
                each(groups, column, |group, row| sketches[group].add(mix(values[row] as u64)));
            }
            (States::Distinct(sketches), _) => {
                let mut form = Vec::new();
                each(groups, column, |group, row| {
                    form.clear();
                    normal::put(column.cell(row), &mut form);
                    sketches[group].add(hash_bytes(&form));
                });
            }
            (States::Quantiles(sketches), Data::Floats(values)) => {
                each(groups, column, |group, row| sketches[group].add(values[row]));
            }
            _ => return Err(Error::new(Code::Internal, "an aggregate has values of another shape")),
        }
        Ok(())
    }

    /// Appends the state of a group.
    pub fn encode(&self, group: usize, out: &mut Vec<u8>) {
        let put_value = |value: &Value, out: &mut Vec<u8>| normal::put(value.cell(), out);
        match &self.states {
            States::Counts(v) => out.extend_from_slice(&v[group].to_le_bytes()),
            States::Sums(v, n) => {
                out.extend_from_slice(&v[group].to_le_bytes());
                out.extend_from_slice(&n[group].to_le_bytes());
            }
            States::FloatSums(v, n) => {
                v[group].encode(out);
                out.extend_from_slice(&n[group].to_le_bytes());
            }
            States::Ints(v) => put_value(&v[group].map_or(Value::Null, Value::Int), out),
            States::Floats(v) => {
                put_value(&v[group].map_or(Value::Null, |v| Value::Float(normal::float_of(v))), out);
            }
            States::Values(v) => put_value(&v[group], out),
            States::Edges(v) => match &v[group] {
                None => out.push(0),
                Some(((file, split, row), value)) => {
                    out.push(1);
                    for n in [file, split, row] {
                        out.extend_from_slice(&n.to_le_bytes());
                    }
                    put_value(value, out);
                }
            },
            States::Distinct(v) => v[group].encode(out),
            States::Quantiles(v) => v[group].encode(out),
        }
    }

    /// Takes a state from the front of `from`, and adds it to a group's. Errors: `Corrupt` if it is none.
    pub fn merge(&mut self, group: usize, from: &mut &[u8]) -> Result<()> {
        let damaged = || Error::new(Code::Corrupt, "the state of an aggregate is damaged");
        self.merge_encoded(group, from).unwrap_or_else(|| Err(damaged()))
    }

    /// Returns None for a state that is damaged.
    fn merge_encoded(&mut self, group: usize, from: &mut &[u8]) -> Option<Result<()>> {
        let (kind, largest) = (self.kind, matches!(self.function, Function::Max | Function::Last));
        fn number<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
            let (bytes, rest) = from.split_first_chunk::<N>()?;
            *from = rest;
            Some(*bytes)
        }
        match &mut self.states {
            States::Counts(v) => v[group] += u64::from_le_bytes(number(from)?),
            States::Sums(v, n) => {
                let (sum, is_over) = v[group].overflowing_add(i128::from_le_bytes(number(from)?));
                if is_over {
                    return Some(Err(too_large()));
                }
                v[group] = sum;
                n[group] += u64::from_le_bytes(number(from)?);
            }
            States::FloatSums(v, n) => {
                v[group].merge(&FloatSum::decode(from)?);
                n[group] += u64::from_le_bytes(number(from)?);
            }
            States::Ints(v) => {
                if let Value::Int(value) = normal::take(kind, from)? {
                    v[group] = Some(better(v[group], value, largest));
                }
            }
            States::Floats(v) => {
                if let Value::Float(value) = normal::take(kind, from)? {
                    v[group] = Some(better(v[group], normal::ordered_float(value), largest));
                }
            }
            States::Values(v) => {
                let value = normal::take(kind, from)?;
                let wins = match (&v[group], &value) {
                    (_, Value::Null) => false,
                    (Value::Bytes(a), Value::Bytes(b)) => is_better(b, a, largest),
                    (Value::Decimal(a), Value::Decimal(b)) => is_better(b, a, largest),
                    (Value::Bool(a), Value::Bool(b)) => is_better(b, a, largest),
                    _ => true,
                };
                if wins {
                    v[group] = value;
                }
            }
            States::Edges(v) => {
                if number::<1>(from)?[0] == 1 {
                    let place = (
                        u64::from_le_bytes(number(from)?),
                        u64::from_le_bytes(number(from)?),
                        u64::from_le_bytes(number(from)?),
                    );
                    let value = normal::take(kind, from)?;
                    if v[group].as_ref().is_none_or(|(before, _)| is_better(&place, before, largest)) {
                        v[group] = Some((place, value));
                    }
                }
            }
            States::Distinct(v) => v[group].merge(&DistinctSketch::decode(from)?),
            States::Quantiles(v) => v[group].merge(&QuantileSketch::decode(from)?),
        }
        Some(Ok(()))
    }

    /// Returns the result of a group.
    pub fn finish(&self, group: usize) -> Result<Value> {
        Ok(match &self.states {
            States::Counts(v) => Value::Int(v[group] as i64),
            States::Sums(_, n) | States::FloatSums(_, n) if n[group] == 0 => Value::Null,
            States::Sums(v, n) if self.function == Function::Mean => {
                let one = if let Kind::Decimal { scale } = self.kind { 10f64.powi(scale.into()) } else { 1.0 };
                Value::Float(v[group] as f64 / n[group] as f64 / one)
            }
            States::Sums(v, _) if v[group].unsigned_abs() >= 10u128.pow(38) => return Err(too_large()),
            States::Sums(v, _) => Value::Decimal(v[group]),
            States::FloatSums(v, n) if self.function == Function::Mean => {
                Value::Float(v[group].value() / n[group] as f64)
            }
            States::FloatSums(v, _) => Value::Float(v[group].value()),
            States::Ints(v) => v[group].map_or(Value::Null, Value::Int),
            States::Floats(v) => v[group].map_or(Value::Null, |v| Value::Float(normal::float_of(v))),
            States::Values(v) => v[group].clone(),
            States::Edges(v) => v[group].as_ref().map_or(Value::Null, |(_, value)| value.clone()),
            States::Distinct(v) => Value::Int(v[group].estimate() as i64),
            States::Quantiles(v) => match self.function {
                Function::ApproxQuantile(share) => {
                    v[group].quantile(f64::from_bits(share)).map_or(Value::Null, Value::Float)
                }
                _ => Value::Null,
            },
        })
    }
}

fn too_large() -> Error {
    let error = Error::new(Code::UserCode, "a sum has more than 38 digits");
    error.hint("sum floats: sum(cast(x as double))")
}

/// Calls `f` with the group and the number of each row that is no null.
#[inline(always)]
fn each(groups: &[u32], column: &Vector, mut f: impl FnMut(usize, usize)) {
    match &column.nulls {
        None => groups.iter().enumerate().for_each(|(row, &group)| f(group as usize, row)),
        Some(nulls) => {
            for ((row, &group), &null) in groups.iter().enumerate().zip(nulls) {
                if !null {
                    f(group as usize, row);
                }
            }
        }
    }
}

/// Returns true if a value takes the place of the one before.
#[inline(always)]
fn is_better<T: Ord + ?Sized>(value: &T, before: &T, largest: bool) -> bool {
    if largest { value > before } else { value < before }
}

#[inline(always)]
fn better<T: Ord>(before: Option<T>, value: T, largest: bool) -> T {
    match before {
        Some(before) if !is_better(&value, &before, largest) => before,
        _ => value,
    }
}

//! Run of a query: candidates in one reading of the dump, then what they refer to, batch by batch.

use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};

use yunti_base::{Code, Error, Result};

use super::expression::{Evaluator, Known, Missing, Operator, Value, compare, is_like, two};
use super::parse::{Aggregate, Query};
use crate::file::records::{Blocks, Visitor, walk};
use crate::graph::bits::Bits;
use crate::heap::{Dominator, Heap};
use crate::model::name;
use crate::pass::crew;
use crate::pass::locate::Body;

/// Objects that a query may have after the first reading.
const CANDIDATES_MAX: usize = 10_000_000;
/// Candidates whose further objects are read together.
const BATCH: usize = if cfg!(debug_assertions) { 3 } else { 200_000 };
/// Objects on the way to a value, one behind the other.
const ROUNDS_MAX: usize = 64;

/// Result of a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answered {
    /// Headings.
    pub columns: Vec<String>,
    /// Rows, a value for each column.
    pub rows: Vec<Vec<Value>>,
    /// Rows without the limit.
    pub found: u64,
    /// Names of the objects among the values.
    pub names: HashMap<u64, String>,
}

/// Runs a query. `rows_max`: the greatest number of rows, if the query has none. Garbage is left out.
pub fn run(heap: &Heap, query: &Query, rows_max: usize) -> Result<Answered> {
    let columns = query.items.iter().map(|item| item.name.clone()).collect();
    let Candidates { ids: candidates, are_decided, counted, mut sums } = candidates(heap, query)?;
    let limit = query.limit.unwrap_or(rows_max);
    let mut result = Answered { columns, found: counted, ..Answered::default() };
    // Key and id of each kept object.
    let mut kept: Vec<(Value, u64)> = Vec::new();
    for batch in candidates.chunks(BATCH) {
        let mut evaluator = Evaluator::new(heap);
        let passing = if are_decided { batch.to_vec() } else { passing(&mut evaluator, query, batch)? };
        result.found += passing.len() as u64;
        if query.is_aggregate() {
            for row in rows(&mut evaluator, query, &passing)? {
                sums.iter_mut().zip(row).for_each(|(sum, value)| sum.add(value));
            }
        } else if let Some((key, _)) = &query.order {
            let keys = in_rounds(&mut evaluator, passing.len(), |evaluator, at| evaluator.value(key, passing[at]))?;
            kept.extend(keys.into_iter().zip(passing));
            if kept.len() > limit.saturating_mul(2).max(BATCH) {
                sort(query, &mut kept);
                kept.truncate(limit);
            }
        } else {
            let room = limit.saturating_sub(kept.len());
            kept.extend(passing.into_iter().take(room).map(|id| (Value::Null, id)));
        }
    }
    if query.is_aggregate() {
        result.rows = vec![sums.into_iter().map(Sum::finish).collect()];
        return Ok(result);
    }
    sort(query, &mut kept);
    kept.truncate(limit);
    let ids: Vec<u64> = kept.into_iter().map(|(_, id)| id).collect();
    for batch in ids.chunks(BATCH) {
        let mut evaluator = Evaluator::new(heap);
        let rows = rows(&mut evaluator, query, batch)?;
        let object = |value: &Value| if let Value::Object(id) = value { Some(*id) } else { None };
        let objects: BTreeSet<u64> = rows.iter().flatten().filter_map(object).collect();
        let objects: Vec<u64> = objects.into_iter().collect();
        let bodies = heap.bodies(&objects)?;
        result.names.extend(objects.into_iter().map(|id| (id, heap.name_of(id, bodies.get(&id)))));
        result.rows.extend(rows);
    }
    Ok(result)
}

/// Sorts by key, values without an order last, then by id.
fn sort(query: &Query, kept: &mut [(Value, u64)]) {
    let Some((_, is_descending)) = query.order else { return };
    kept.sort_by(|a, b| {
        let is_null = |value: &Value| *value == Value::Null;
        let order = match is_null(&a.0).cmp(&is_null(&b.0)) {
            Ordering::Equal => {
                let order = compare(&a.0, &b.0).unwrap_or(Ordering::Equal);
                if is_descending { order.reverse() } else { order }
            }
            nulls => nulls,
        };
        order.then(a.1.cmp(&b.1))
    });
}

/// Objects of the classes, by id, whose condition is not false by their own fields.
struct Candidates {
    ids: Vec<u64>,
    /// True if the condition is true for all of them.
    are_decided: bool,
    /// Further objects, which are in the sums already.
    counted: u64,
    sums: Vec<Sum>,
}

fn no_sums(query: &Query) -> Vec<Sum> {
    query.items.iter().map(|item| Sum::of(item.aggregate)).collect()
}

fn candidates(heap: &Heap, query: &Query) -> Result<Candidates> {
    let classes = classes(heap, query)?;
    let new = || Collector {
        evaluator: Evaluator::new(heap),
        heap,
        query,
        classes: &classes,
        found: Vec::new(),
        are_decided: true,
        counted: 0,
        sums: no_sums(query),
        failed: None,
    };
    let state = || (Blocks::new(&heap.source), new());
    let crew = crew::share(heap.threads, heap.units.len(), state, |(blocks, collector), item| {
        let unit = heap.units[item];
        walk(blocks, heap.map.id_bytes, unit.begin, unit.end, collector)?;
        collector.failed.take().map_or(Ok(()), Err)
    })?;
    let mut are_decided = crew.iter().all(|(_, collector)| collector.are_decided);
    let (mut ids, mut sums, mut counted) = (Vec::new(), no_sums(query), 0);
    for (_, collector) in crew {
        ids.extend(collector.found);
        counted += collector.counted;
        sums.iter_mut().zip(collector.sums).for_each(|(sum, own)| sum.join(own));
    }
    if classes.get(heap.classes.class) {
        ids.extend(heap.classes.list.iter().map(|class| class.record.id).filter(|&id| is_reached(heap, id)));
        are_decided &= query.condition.is_none();
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(Candidates { ids, are_decided, counted, sums })
}

/// Returns the indexes of the classes that a query names.
fn classes(heap: &Heap, query: &Query) -> Result<Bits> {
    let list = &heap.classes.list;
    let pattern = query.class.replace('_', "\u{1}").replace('*', "%");
    let is_named = |name: &str| {
        if query.class.contains('*') { is_like(&name.replace('_', "\u{1}"), &pattern) } else { name == query.class }
    };
    let mut found = Bits::new(list.len());
    for (index, _) in list.iter().enumerate().filter(|(_, class)| is_named(&class.name)) {
        found.set(index as u32);
    }
    if found.iter().next().is_none() {
        let last = query.class.rsplit('.').next().unwrap_or_default();
        let near = list.iter().find(|class| class.name.rsplit(['.', '$']).next() == Some(last));
        let hint = match near {
            Some(class) => format!("the dump has {}", class.name),
            None => "write the whole name, such as java.util.HashMap or \"shop.*\"".to_owned(),
        };
        return Err(Error::new(Code::Usage, format!("the dump has no class '{}'", query.class)).hint(hint));
    }
    if query.with_subclasses {
        let named = found.clone();
        for index in 0..list.len() as u32 {
            let above = std::iter::successors(Some(index), |&class| list[class as usize].above).take(list.len());
            if above.into_iter().any(|class| named.get(class)) {
                found.set(index);
            }
        }
    }
    Ok(found)
}

fn is_reached(heap: &Heap, id: u64) -> bool {
    let place = heap.ids.number(id).map(|number| heap.forest.places[number as usize]);
    place.is_some_and(|place| heap.dominator(place) != Dominator::Garbage)
}

/// Visitor that collects the candidates.
struct Collector<'a> {
    evaluator: Evaluator<'a>,
    heap: &'a Heap,
    query: &'a Query,
    classes: &'a Bits,
    found: Vec<u64>,
    are_decided: bool,
    counted: u64,
    sums: Vec<Sum>,
    failed: Option<Error>,
}

impl Collector<'_> {
    fn object(&mut self, id: u64, class: u32, body: impl FnOnce() -> Body) {
        if !self.classes.get(class) || self.failed.is_some() || !is_reached(self.heap, id) {
            return;
        }
        self.evaluator.read_alone(id, body());
        let condition = self.query.condition.as_ref();
        match condition.map_or(Ok(Value::Bool(true)), |condition| self.evaluator.value(condition, id)) {
            Ok(Value::Bool(true)) => {
                if self.query.is_aggregate() && self.sum(id) {
                    return;
                }
            }
            Ok(_) => return,
            Err(Missing::Object(_)) => self.are_decided = false,
            Err(Missing::Failed(error)) => self.failed = Some(error),
        }
        if self.found.len() >= CANDIDATES_MAX {
            let what = format!("more than {CANDIDATES_MAX} objects of {} may match", self.query.class);
            self.failed = Some(Error::new(Code::Usage, what).hint("add conditions on its own fields"));
        }
        self.found.push(id);
    }

    /// Adds an object to the sums. Returns false if its values need other objects.
    fn sum(&mut self, id: u64) -> bool {
        let values: Known<Vec<Value>> =
            self.query.items.iter().map(|item| self.evaluator.value(&item.of, id)).collect();
        let Ok(values) = values else { return false };
        self.sums.iter_mut().zip(values).for_each(|(sum, value)| sum.add(value));
        self.counted += 1;
        true
    }
}

impl Visitor for Collector<'_> {
    fn instance(&mut self, _at: u64, id: u64, class: u64, data: &[u8]) {
        if let Some(index) = self.heap.classes.index(class) {
            self.object(id, index, || Body::Instance { class, data: data.to_vec() });
        }
    }

    fn object_array(&mut self, at: u64, id: u64, class: u64, length: u32) {
        if let Some(index) = self.heap.classes.index(class) {
            let values_at = at + 9 + 2 * self.heap.map.id_bytes as u64;
            self.object(id, index, || Body::Array { class, length, values_at });
        }
    }

    fn primitive_array(&mut self, _at: u64, id: u64, kind: u8, length: u32, values_at: u64) {
        let class = self.heap.classes.primitive_arrays[name::primitive_index(kind)];
        self.object(id, class, || Body::Primitive { kind, length, values_at });
    }
}

/// Returns the objects of a batch for which the condition is true.
fn passing(evaluator: &mut Evaluator, query: &Query, batch: &[u64]) -> Result<Vec<u64>> {
    let Some(condition) = &query.condition else { return Ok(batch.to_vec()) };
    let is_true = |evaluator: &Evaluator, at: usize| Ok(evaluator.value(condition, batch[at])? == Value::Bool(true));
    let passing = in_rounds(evaluator, batch.len(), is_true)?;
    Ok(batch.iter().zip(passing).filter(|(_, is)| *is).map(|(id, _)| *id).collect())
}

/// Returns the values of all columns for some objects.
fn rows(evaluator: &mut Evaluator, query: &Query, ids: &[u64]) -> Result<Vec<Vec<Value>>> {
    in_rounds(evaluator, ids.len(), |evaluator, at| {
        query.items.iter().map(|item| evaluator.value(&item.of, ids[at])).collect()
    })
}

/// Returns a value for each index. What is missing for any of them is read together, round by round.
fn in_rounds<T>(
    evaluator: &mut Evaluator,
    count: usize,
    value: impl Fn(&Evaluator, usize) -> Known<T>,
) -> Result<Vec<T>> {
    let mut values: Vec<Option<T>> = (0..count).map(|_| None).collect();
    for _ in 0..ROUNDS_MAX {
        let mut missing = Vec::new();
        for (at, slot) in values.iter_mut().enumerate().filter(|(_, slot)| slot.is_none()) {
            match value(evaluator, at) {
                Ok(value) => *slot = Some(value),
                Err(Missing::Object(id)) => missing.push(id),
                Err(Missing::Failed(error)) => return Err(error),
            }
        }
        if missing.is_empty() {
            return Ok(values.into_iter().flatten().collect());
        }
        evaluator.read(&missing)?;
    }
    Err(Error::new(Code::Usage, format!("a value is more than {ROUNDS_MAX} objects away")))
}

/// Sum of one column.
struct Sum {
    aggregate: Option<Aggregate>,
    value: Value,
}

impl Sum {
    fn of(aggregate: Option<Aggregate>) -> Sum {
        let is_number = matches!(aggregate, Some(Aggregate::Count | Aggregate::Sum));
        Sum { aggregate, value: if is_number { Value::Int(0) } else { Value::Null } }
    }

    /// Adds a value; null counts for nothing.
    fn add(&mut self, value: Value) {
        if value == Value::Null {
            return;
        }
        let is_beyond = |order: Ordering| self.value == Value::Null || compare(&value, &self.value) == Some(order);
        self.value = match self.aggregate {
            Some(Aggregate::Count) => two(Operator::Add, &self.value, &Value::Int(1)),
            Some(Aggregate::Sum) => match two(Operator::Add, &self.value, &value) {
                Value::Null => return,
                sum => sum,
            },
            Some(Aggregate::Min) if is_beyond(Ordering::Less) => value,
            Some(Aggregate::Max) if is_beyond(Ordering::Greater) => value,
            _ => return,
        };
    }

    /// Adds another sum of the same column.
    fn join(&mut self, other: Sum) {
        match self.aggregate {
            Some(Aggregate::Count) => self.value = two(Operator::Add, &self.value, &other.value),
            _ => self.add(other.value),
        }
    }

    fn finish(self) -> Value {
        self.value
    }
}

//! Lists, maps, structs and unions: counts or tags of the rows, then columns of their own.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, ListArray, MapArray, NullArray, StructArray, UnionArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, FieldRef, Fields, UnionFields};
use yunti_api::Result;

use super::*;

/// Items of lists in a batch, at most: offsets are 32 bits.
const ITEMS_MAX: u64 = i32::MAX as u64;

/// Decoder of a nested column.
pub enum Nested {
    List { lengths: Ints, items: Column },
    Map { lengths: Ints, keys: Column, values: Column },
    Struct { members: Vec<(String, Column)> },
    Union { tags: ByteRuns, members: Vec<Column> },
}

impl Nested {
    pub fn open(of: &Type, want: &Want, stripe: &mut Stripe, memory: &mut Memory) -> Result<Nested> {
        let mut below = |number: usize, want: &Want, stripe: &mut Stripe| {
            Column::open(&of.below[number], want, false, stripe, memory)
        };
        Ok(match of.kind {
            Kind::List => {
                let lengths = ints(of, StreamKind::Length, false, stripe)?;
                Nested::List { lengths, items: below(0, &Want::All, stripe)? }
            }
            Kind::Map => {
                let lengths = ints(of, StreamKind::Length, false, stripe)?;
                let (keys, values) = (below(0, &Want::All, stripe)?, below(1, &Want::All, stripe)?);
                Nested::Map { lengths, keys, values }
            }
            Kind::Union => {
                let tags = ByteRuns::new(stripe.stream(of.number, StreamKind::Data));
                let members = (0..of.below.len()).map(|n| below(n, &Want::All, stripe)).collect::<Result<_>>()?;
                Nested::Union { tags, members }
            }
            _ => {
                let mut members = Vec::new();
                for (number, name) in of.names.iter().enumerate() {
                    if let Some(want) = want.member(number) {
                        members.push((name.clone(), below(number, want, stripe)?));
                    }
                }
                Nested::Struct { members }
            }
        })
    }

    /// Decodes the next `n` rows, of which `rows` have a value.
    pub fn read(&mut self, n: usize, rows: Option<NullBuffer>, memory: &mut Memory) -> Result<ArrayRef> {
        let valid = count(n, rows.as_ref());
        Ok(match self {
            Nested::List { lengths, items } => {
                let (lengths, sum) = lengths_of(lengths, valid)?;
                let items = items.read(sum, None, memory)?;
                let offsets = offsets(lengths, n, rows.as_ref());
                let list = ListArray::try_new(field("item", &items), offsets, items, rows);
                Arc::new(list.map_err(damaged)?)
            }
            Nested::Map { lengths, keys, values } => {
                let (lengths, sum) = lengths_of(lengths, valid)?;
                let (keys, values) = (keys.read(sum, None, memory)?, values.read(sum, None, memory)?);
                if keys.null_count() > 0 {
                    return Err(unsupported("a map has a null as a key"));
                }
                let key = Arc::new(Field::new("key", keys.data_type().clone(), false));
                let fields = Fields::from(vec![key, field("value", &values)]);
                let entries = StructArray::try_new_with_length(fields, vec![keys, values], None, sum);
                let entries = entries.map_err(damaged)?;
                let entry = Arc::new(Field::new("entries", entries.data_type().clone(), false));
                let map = MapArray::try_new(entry, offsets(lengths, n, rows.as_ref()), entries, rows, false);
                Arc::new(map.map_err(damaged)?)
            }
            Nested::Struct { members } => {
                let (mut fields, mut columns) = (Vec::new(), Vec::new());
                for (name, column) in members {
                    let column = column.read(n, rows.as_ref(), memory)?;
                    fields.push(field(name, &column));
                    columns.push(column);
                }
                let of = StructArray::try_new_with_length(fields.into(), columns, rows, n);
                Arc::new(of.map_err(damaged)?)
            }
            Nested::Union { tags, members } => union(tags, members, n, rows, memory)?,
        })
    }
}

fn field(name: &str, of: &ArrayRef) -> FieldRef {
    Arc::new(Field::new(name, of.data_type().clone(), true))
}

fn lengths_of(lengths: &mut Ints, n: usize) -> Result<(Vec<i64>, usize)> {
    let (lengths, sum) = lengths.lengths(n)?;
    if sum > ITEMS_MAX {
        return Err(unsupported(format!("{sum} items of lists at once")));
    }
    Ok((lengths, sum as usize))
}

/// Decodes a union. A null is a value of one more member, whose type is null: unions of Arrow have no nulls.
fn union(
    tags: &mut ByteRuns,
    members: &mut [Column],
    n: usize,
    rows: Option<NullBuffer>,
    memory: &mut Memory,
) -> Result<ArrayRef> {
    let null = members.len() as i8;
    let mut counts = vec![0i32; members.len() + 1];
    let (mut numbers, mut offsets) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for row in 0..n {
        let tag = match rows.as_ref().is_none_or(|rows| rows.is_valid(row)) {
            true => i8::try_from(tags.next()?).unwrap_or(i8::MAX),
            false => null,
        };
        if tag > null || (tag == null && rows.as_ref().is_none_or(|rows| rows.is_valid(row))) {
            return Err(damaged("a union has a type that it does not have"));
        }
        numbers.push(tag);
        offsets.push(counts[tag as usize]);
        counts[tag as usize] += 1;
    }
    let mut columns = Vec::with_capacity(members.len() + 1);
    for (column, &n) in members.iter_mut().zip(&counts) {
        columns.push(column.read(n as usize, None, memory)?);
    }
    columns.push(Arc::new(NullArray::new(counts[null as usize] as usize)) as ArrayRef);
    let fields = columns.iter().enumerate();
    let fields: UnionFields = fields
        .map(|(tag, column)| {
            let kind = if tag == null as usize { DataType::Null } else { column.data_type().clone() };
            (tag as i8, Arc::new(Field::new(tag.to_string(), kind, true)))
        })
        .collect();
    let union = UnionArray::try_new(fields, numbers.into(), Some(offsets.into()), columns);
    Ok(Arc::new(union.map_err(damaged)?))
}

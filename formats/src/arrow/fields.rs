//! Places of the fields of a schema in a record batch: nodes, buffers, and counts of variadic buffers.

use std::ops::Range;

use arrow_ipc::MetadataVersion;
use arrow_schema::{DataType, Field, FieldRef, SchemaRef, UnionMode};
use yunti_api::Result;

use super::messages::damaged;

/// Ranges of a top field and all fields in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub nodes: Range<usize>,
    pub buffers: Range<usize>,
    pub variadic: Range<usize>,
}

#[derive(Clone, Copy, Default)]
struct At {
    node: usize,
    buffer: usize,
    variadic: usize,
}

/// Returns the span of each top field. `variadic`: buffers of each view column, in order.
pub fn spans(schema: &SchemaRef, version: MetadataVersion, variadic: &[i64]) -> Result<Vec<Span>> {
    let mut at = At::default();
    let mut spans = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let start = at;
        pass(field, version, variadic, &mut at)?;
        spans.push(Span {
            nodes: start.node..at.node,
            buffers: start.buffer..at.buffer,
            variadic: start.variadic..at.variadic,
        });
    }
    Ok(spans)
}

fn pass(field: &Field, version: MetadataVersion, variadic: &[i64], at: &mut At) -> Result<()> {
    at.node += 1;
    let below = |field: &FieldRef, at: &mut At| pass(field, version, variadic, at);
    match field.data_type() {
        DataType::Null => {}
        DataType::Utf8 | DataType::Binary | DataType::LargeUtf8 | DataType::LargeBinary => at.buffer += 3,
        DataType::Utf8View | DataType::BinaryView => {
            let count = variadic.get(at.variadic).and_then(|count| usize::try_from(*count).ok());
            let count =
                count.filter(|count| *count < 1 << 24).ok_or_else(|| damaged("a view has no count of its buffers"))?;
            at.variadic += 1;
            at.buffer += 2 + count;
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => {
            at.buffer += 2;
            below(item, at)?;
        }
        DataType::ListView(item) | DataType::LargeListView(item) => {
            at.buffer += 3;
            below(item, at)?;
        }
        DataType::FixedSizeList(item, _) => {
            at.buffer += 1;
            below(item, at)?;
        }
        DataType::Struct(fields) => {
            at.buffer += 1;
            for field in fields {
                below(field, at)?;
            }
        }
        DataType::RunEndEncoded(ends, values) => {
            below(ends, at)?;
            below(values, at)?;
        }
        DataType::Union(fields, mode) => {
            // Before version 5 a union has a bitmap of nulls.
            at.buffer += 1 + usize::from(version < MetadataVersion::V5) + usize::from(*mode == UnionMode::Dense);
            for (_, field) in fields.iter() {
                below(field, at)?;
            }
        }
        _ => at.buffer += 2,
    }
    Ok(())
}

//! Record batches of the wanted columns: only their buffers are read, and lengths are checked before memory is taken.
//!
//! The crate decodes a batch whose message and body are made here: the nodes and buffers of the wanted columns, one
//! behind another. A compressed buffer says its plain length in its first eight bytes, which the budget has to grant.

use std::collections::HashMap;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::reader::RecordBatchDecoder;
use arrow_ipc::{BodyCompressionBuilder, BodyCompressionMethod, FieldNode, MetadataVersion, RecordBatchBuilder};
use arrow_schema::SchemaRef;
use flatbuffers::FlatBufferBuilder;
use yunti_api::{Error, Result, SourceFile};

use super::fields::{Span, spans};
use super::messages::{Place, damaged, of_text};
use crate::failure::guarded;

/// Rows of a batch, at most.
const ROWS_MAX: i64 = i32::MAX as i64;
/// Rows of arrays in a batch, such as the items of its lists, at most.
const ITEMS_MAX: i64 = 1 << 40;
/// Places of buffers in a body.
const ALIGNMENT: usize = 64;
/// Bytes of a length before a compressed buffer.
const LENGTH_BYTES: usize = 8;

/// Wanted columns of record batches.
pub struct Wanted {
    /// Numbers of the top fields, ascending, and the schema of these.
    pub columns: Vec<usize>,
    pub schema: SchemaRef,
}

/// Counts of a batch, without its values.
pub struct Counts {
    pub rows: u64,
    /// Stored bytes and nulls of each top field.
    pub columns: Vec<(u64, u64)>,
}

/// Returns the rows of a batch, and what its columns take.
pub fn counts(batch: &arrow_ipc::RecordBatch<'_>, schema: &SchemaRef, version: MetadataVersion) -> Result<Counts> {
    let parts = Parts::of(batch, schema, version)?;
    let column = |span: &Span| {
        let bytes = parts.buffers[span.buffers.clone()].iter().map(|b| b.length().max(0) as u64);
        let nulls = parts.nodes.get(span.nodes.start).map_or(0, |node| node.null_count().max(0) as u64);
        (bytes.fold(0, u64::saturating_add), nulls)
    };
    Ok(Counts { rows: parts.rows, columns: parts.spans.iter().map(column).collect() })
}

/// Message of a batch, taken apart.
struct Parts {
    rows: u64,
    nodes: Vec<FieldNode>,
    buffers: Vec<arrow_ipc::Buffer>,
    variadic: Vec<i64>,
    spans: Vec<Span>,
}

impl Parts {
    fn of(batch: &arrow_ipc::RecordBatch<'_>, schema: &SchemaRef, version: MetadataVersion) -> Result<Parts> {
        let nodes: Vec<FieldNode> = batch.nodes().iter().flatten().copied().collect();
        let buffers: Vec<arrow_ipc::Buffer> = batch.buffers().iter().flatten().copied().collect();
        let variadic: Vec<i64> = batch.variadicBufferCounts().iter().flatten().collect();
        let spans = spans(schema, version, &variadic)?;
        let (n, b) = spans.last().map_or((0, 0), |span| (span.nodes.end, span.buffers.end));
        if nodes.len() < n || buffers.len() < b {
            return Err(damaged("a record batch has fewer buffers than its schema"));
        }
        let is_count = |node: &FieldNode| {
            (0..=ITEMS_MAX).contains(&node.length()) && (0..=node.length()).contains(&node.null_count())
        };
        if !(0..=ROWS_MAX).contains(&batch.length()) || !nodes.iter().all(is_count) {
            return Err(damaged("a record batch has a wrong number of rows"));
        }
        Ok(Parts { rows: batch.length() as u64, nodes, buffers, variadic, spans })
    }
}

/// Reads the wanted columns of a batch. `held`: memory that the file holds already.
///
/// Returns the batch, and the memory that it takes.
pub fn read(
    file: &SourceFile,
    place: Place,
    batch: &arrow_ipc::RecordBatch<'_>,
    (schema, version): (&SchemaRef, MetadataVersion),
    wanted: &Wanted,
    dictionaries: &HashMap<i64, ArrayRef>,
    held: u64,
) -> Result<(RecordBatch, u64)> {
    let parts = Parts::of(batch, schema, version)?;
    if wanted.columns.is_empty() {
        let options = RecordBatchOptions::new().with_row_count(Some(parts.rows as usize));
        let empty = RecordBatch::try_new_with_options(wanted.schema.clone(), Vec::new(), &options);
        return Ok((empty.map_err(|e| of_text(&e.to_string()))?, 0));
    }
    let (mut nodes, mut buffers, mut variadic) = (Vec::new(), Vec::new(), Vec::new());
    for column in &wanted.columns {
        let span = &parts.spans[*column];
        nodes.extend_from_slice(&parts.nodes[span.nodes.clone()]);
        buffers.extend_from_slice(&parts.buffers[span.buffers.clone()]);
        variadic.extend_from_slice(&parts.variadic[span.variadic.clone()]);
    }
    let (body, places, memory) = read_buffers(file, place, &buffers, batch.compression().is_some(), held)?;
    let message = message(batch, &nodes, &places, &variadic);
    let decoded = guarded(of_text, || {
        let batch = flatbuffers::root::<arrow_ipc::RecordBatch<'_>>(&message).map_err(|e| of_text(&e.to_string()))?;
        RecordBatchDecoder::try_new(&body, batch, wanted.schema.clone(), dictionaries, &version)
            .and_then(RecordBatchDecoder::read_record_batch)
            .map_err(|e| of_arrow(&e))
    })?;
    Ok((decoded, memory))
}

/// Returns the error of the crate for a batch.
pub fn of_arrow(error: &arrow_schema::ArrowError) -> Error {
    match error {
        arrow_schema::ArrowError::NotYetImplemented(what) => {
            Error::unsupported(format!("the Arrow file cannot be read: {}", crate::failure::line(what)))
        }
        other => of_text(&other.to_string()),
    }
}

/// Reads buffers of a body into one, and returns their places there, and the memory of all, plain.
fn read_buffers(
    file: &SourceFile,
    place: Place,
    buffers: &[arrow_ipc::Buffer],
    compressed: bool,
    held: u64,
) -> Result<(Buffer, Vec<arrow_ipc::Buffer>, u64)> {
    let (places, bytes) = places_of(place, buffers)?;
    let mut memory = 2 * bytes as u64;
    file.hold(held + memory)?;
    let mut body = MutableBuffer::from_len_zeroed(bytes);
    for (buffer, to) in buffers.iter().zip(&places) {
        let to = &mut body[range(to)];
        if !to.is_empty() {
            file.read_at(to, place.offset + place.head + buffer.offset() as u64)?;
        }
        if compressed {
            memory = memory.saturating_add(decompressed_memory(place, to)?);
        }
    }
    file.hold(held.saturating_add(memory))?;
    Ok((body.into(), places, memory))
}

/// Reads a body as it is, and takes the memory of it and of its buffers, plain, beside `held`.
pub fn read_whole(
    file: &SourceFile,
    place: Place,
    buffers: &[arrow_ipc::Buffer],
    compressed: bool,
    held: u64,
) -> Result<Buffer> {
    let (_, bytes) = places_of(place, buffers)?;
    let mut memory = place.body + 2 * bytes as u64;
    file.hold(held + memory)?;
    let mut body = MutableBuffer::from_len_zeroed(place.body as usize);
    if !body.is_empty() {
        file.read_at(&mut body, place.offset + place.head)?;
    }
    if compressed {
        for buffer in buffers {
            memory = memory.saturating_add(decompressed_memory(place, &body[range(buffer)])?);
        }
    }
    file.hold(held.saturating_add(memory))?;
    Ok(body.into())
}

fn range(buffer: &arrow_ipc::Buffer) -> std::ops::Range<usize> {
    let start = buffer.offset() as usize;
    start..start + buffer.length() as usize
}

fn outside(place: Place) -> Error {
    damaged(&format!("a buffer lies outside of the message at byte {}", place.offset))
}

/// Returns the places of buffers one behind another, and their bytes. Fails for a buffer outside of the body.
fn places_of(place: Place, buffers: &[arrow_ipc::Buffer]) -> Result<(Vec<arrow_ipc::Buffer>, usize)> {
    let outside = || outside(place);
    let mut bytes = 0usize;
    let mut places = Vec::with_capacity(buffers.len());
    for buffer in buffers {
        let (offset, length) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length()));
        let (Ok(offset), Ok(length)) = (offset, length) else { return Err(outside()) };
        if offset.checked_add(length).is_none_or(|end| end > place.body) {
            return Err(outside());
        }
        places.push(arrow_ipc::Buffer::new(bytes as i64, length as i64));
        // Buffers may overlap in a hostile file: the sum is bounded by the budget.
        bytes = bytes.checked_add(length as usize).ok_or_else(outside)?.next_multiple_of(ALIGNMENT);
    }
    Ok((places, bytes))
}

/// Returns the memory that a compressed buffer takes beside its stored bytes: none if it is empty.
fn decompressed_memory(place: Place, stored: &[u8]) -> Result<u64> {
    if stored.is_empty() {
        return Ok(0);
    }
    let plain = stored.first_chunk::<LENGTH_BYTES>().ok_or_else(|| outside(place))?;
    match i64::from_le_bytes(*plain) {
        // This buffer is not compressed.
        -1 => Ok(0),
        plain => {
            let plain = u64::try_from(plain).map_err(|_| damaged("a buffer has a negative length"))?;
            Ok(plain.saturating_mul(2))
        }
    }
}

/// Returns the message of a batch with some of its columns.
fn message(
    batch: &arrow_ipc::RecordBatch<'_>,
    nodes: &[FieldNode],
    buffers: &[arrow_ipc::Buffer],
    variadic: &[i64],
) -> Vec<u8> {
    let mut builder = FlatBufferBuilder::new();
    let nodes = builder.create_vector(nodes);
    let buffers = builder.create_vector(buffers);
    let variadic = builder.create_vector(variadic);
    let compression = batch.compression().map(|compression| {
        let mut to = BodyCompressionBuilder::new(&mut builder);
        to.add_method(BodyCompressionMethod::BUFFER);
        to.add_codec(compression.codec());
        to.finish()
    });
    let mut to = RecordBatchBuilder::new(&mut builder);
    to.add_length(batch.length());
    to.add_nodes(nodes);
    to.add_buffers(buffers);
    to.add_variadicBufferCounts(variadic);
    if let Some(compression) = compression {
        to.add_compression(compression);
    }
    let root = to.finish();
    builder.finish(root, None);
    builder.finished_data().to_vec()
}

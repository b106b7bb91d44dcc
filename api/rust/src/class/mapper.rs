//! Mappers: user code that makes records from the input's records.

use super::Class;
use crate::error::{Result, fail};
use crate::layout::Batch;
use crate::out::{Form, Out};
use crate::types::{Bytes, Type};

/// One record of the input, valid until the call returns.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    /// Key as it is stored; empty for text, whose lines have no keys.
    pub key: &'a [u8],
    /// Value; a line without its end.
    pub value: &'a [u8],
    /// Byte offset in the (decompressed) file.
    pub position: u64,
    /// Index of the file in the job's input, from 0 ([`Context::input`](crate::Context::input)).
    pub file_index: u32,
}

/// Whole records of text with their line ends, valid until the call returns.
#[derive(Clone, Copy)]
pub struct Span<'a> {
    /// The text. The last line of a file may lack its end.
    pub text: &'a [u8],
    /// Byte offset of the text in the (decompressed) file.
    pub position: u64,
    /// Index of the file in the job's input, from 0.
    pub file_index: u32,
}

/// A mapper of records: lines of text, or keys and values.
///
/// Call order: `create`, `map` for each record of a split, `flush`.
pub trait Mapper: Class {
    /// Type of the keys that it emits.
    type Key: Type;
    /// Type of the values that it emits.
    type Value: Type;
    /// Promise: each key is a slice of the input. With values of eight bytes, the engine copies no key.
    const KEYS_ARE_SLICES: bool = false;
    /// Promise: each value is 1.
    const VALUE_IS_ONE: bool = false;

    /// Maps a record.
    fn map<F: Form>(&mut self, record: Record<'_>, out: &mut Out<'_, Self::Key, Self::Value, F>) -> Result<()>;

    /// Ends the task, and may emit.
    fn flush(&mut self, _out: &mut Out<'_, Self::Key, Self::Value>) -> Result<()> {
        Ok(())
    }
}

/// A mapper of spans: many lines at once, the fastest way for text.
///
/// Call order: `create`, `map_span` for each span of a split, `flush`. An input that is no text comes value by value.
pub trait SpanMapper: Class {
    /// Type of the keys that it emits.
    type Key: Type;
    /// Type of the values that it emits.
    type Value: Type;
    /// Promise: each key is a slice of the input. With values of eight bytes, the engine copies no key.
    const KEYS_ARE_SLICES: bool = false;
    /// Promise: each value is 1.
    const VALUE_IS_ONE: bool = false;

    /// Maps a span.
    fn map_span<F: Form>(&mut self, span: Span<'_>, out: &mut Out<'_, Self::Key, Self::Value, F>) -> Result<()>;

    /// Ends the task, and may emit.
    fn flush(&mut self, _out: &mut Out<'_, Self::Key, Self::Value>) -> Result<()> {
        Ok(())
    }
}

/// Interface of both kinds of mappers to the entry.
pub trait Maps {
    type Object: Class;
    type Key: Type;
    type Value: Type;
    const SPANS: bool;
    const SLICES: bool;
    const ONE: bool;
    fn map<F: Form>(
        object: &mut Self::Object,
        batch: &Batch<'_>,
        out: &mut Out<'_, Self::Key, Self::Value, F>,
    ) -> Result<()>;
    fn flush(object: &mut Self::Object, out: &mut Out<'_, Self::Key, Self::Value>) -> Result<()>;
}

/// Returns the promises that a table of mappers declares: references, and ones. Fails to compile if they contradict the
/// types.
pub const fn promises<M: Maps>() -> (bool, bool) {
    assert!(!M::SLICES || M::Key::ID == Bytes::ID && M::Key::BYTES == 0, "keys that are slices have the type Bytes");
    assert!(
        !M::ONE || M::Value::ID == i64::ID || M::Value::ID == u64::ID,
        "VALUE_IS_ONE needs values of the type i64 or u64"
    );
    (M::SLICES && M::Value::BYTES == 8, M::SLICES && M::ONE)
}

/// A [`Mapper`] as the entry calls it.
pub struct Records<M>(std::marker::PhantomData<M>);

impl<M: Mapper> Maps for Records<M> {
    type Object = M;
    type Key = M::Key;
    type Value = M::Value;
    const SPANS: bool = false;
    const SLICES: bool = M::KEYS_ARE_SLICES;
    const ONE: bool = M::VALUE_IS_ONE;

    fn map<F: Form>(mapper: &mut M, batch: &Batch<'_>, out: &mut Out<'_, M::Key, M::Value, F>) -> Result<()> {
        if batch.is_span() {
            return fail("the engine passed a span of text to a mapper of records");
        }
        let file_index = batch.file_index();
        for i in 0..batch.len() {
            let (key, value, position) = (batch.key(i), batch.value(i), batch.position(i));
            mapper.map(Record { key, value, position, file_index }, out)?;
        }
        Ok(())
    }

    fn flush(mapper: &mut M, out: &mut Out<'_, M::Key, M::Value>) -> Result<()> {
        mapper.flush(out)
    }
}

/// A [`SpanMapper`] as the entry calls it.
pub struct Spans<M>(std::marker::PhantomData<M>);

impl<M: SpanMapper> Maps for Spans<M> {
    type Object = M;
    type Key = M::Key;
    type Value = M::Value;
    const SPANS: bool = true;
    const SLICES: bool = M::KEYS_ARE_SLICES;
    const ONE: bool = M::VALUE_IS_ONE;

    fn map<F: Form>(mapper: &mut M, batch: &Batch<'_>, out: &mut Out<'_, M::Key, M::Value, F>) -> Result<()> {
        let file_index = batch.file_index();
        if batch.is_span() {
            return mapper.map_span(Span { text: batch.data(), position: batch.position(0), file_index }, out);
        }
        for i in 0..batch.len() {
            let position = batch.position(i);
            mapper.map_span(Span { text: batch.value(i), position, file_index }, out)?;
        }
        Ok(())
    }

    fn flush(mapper: &mut M, out: &mut Out<'_, M::Key, M::Value>) -> Result<()> {
        mapper.flush(out)
    }
}

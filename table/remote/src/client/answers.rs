//! Rows that were found.

use std::sync::Arc;

use serde_json::Value;
use yunti_base::Result;
use yunti_table::format::json;
use yunti_table::format::row::{Layout, damaged};
use yunti_table::format::schema::Column;

use crate::protocol::parts::Parts;

/// Columns of rows, and where rows have them.
pub struct Shape {
    pub columns: Vec<Column>,
    pub layout: Layout,
}

/// Rows of many keys, in one buffer.
pub struct Answers {
    shape: Arc<Shape>,
    bytes: Vec<u8>,
    /// For each key, where its rows begin, and how many there are.
    spans: Vec<(usize, usize)>,
}

impl Answers {
    pub(super) fn new(shape: Arc<Shape>, keys: usize) -> Answers {
        Answers { shape, bytes: Vec::new(), spans: vec![(0, 0); keys] }
    }

    /// Adds the rows of some keys from a response; `None` if it is no response to them.
    pub(super) fn add(&mut self, keys: &[u32], payload: &[u8]) -> Option<()> {
        let base = self.bytes.len();
        let mut parts = Parts(payload);
        for key in keys {
            let count = parts.number()?;
            let begin = payload.len() - parts.0.len();
            // Each row has a byte of length at the least.
            if count > parts.0.len() {
                return None;
            }
            for _ in 0..count {
                parts.bytes()?;
            }
            *self.spans.get_mut(*key as usize)? = (base + begin, count);
        }
        self.bytes.extend_from_slice(payload);
        parts.is_at_end().then_some(())
    }

    /// Returns the bytes of all rows.
    pub fn bytes_len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the first row of the key with this number.
    pub fn first(&self, key: usize) -> Option<RemoteRow<'_>> {
        self.rows(key).next()
    }

    /// Yields the rows of the key with this number.
    pub fn rows(&self, key: usize) -> impl Iterator<Item = RemoteRow<'_>> {
        let (begin, count) = self.spans.get(key).copied().unwrap_or_default();
        let mut parts = Parts(&self.bytes[begin..]);
        let row = move |bytes| RemoteRow { shape: &self.shape, bytes };
        (0..count).filter_map(move |_| parts.bytes()).map(row)
    }
}

/// A row that a server sent.
#[derive(Clone, Copy)]
pub struct RemoteRow<'a> {
    shape: &'a Shape,
    bytes: &'a [u8],
}

impl<'a> RemoteRow<'a> {
    /// Returns the bytes of a value; `None` if it is missing.
    pub fn value(&self, column: usize) -> Result<Option<&'a [u8]>> {
        self.shape.layout.value(self.bytes, column)
    }

    /// Returns the bytes of the row.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns a value as text, a nested one as JSON; `None` if it is missing.
    pub fn text(&self, column: usize) -> Result<Option<String>> {
        let Some(bytes) = self.value(column)? else { return Ok(None) };
        json::text(self.shape.columns.get(column).ok_or_else(damaged)?, bytes).map(Some)
    }

    /// Returns all values as an object of JSON.
    pub fn object(&self) -> Result<Value> {
        json::object(&self.shape.columns, |column| self.value(column))
    }
}

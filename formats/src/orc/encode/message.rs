//! Messages of Protocol Buffers: fields in the order of the calls (proto.rs has the drawing).

use crate::file::varint;

/// A message that is being written.
#[derive(Default)]
pub struct Message(Vec<u8>);

impl Message {
    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn number(mut self, field: u32, n: u64) -> Message {
        varint::put(u64::from(field) << 3, &mut self.0);
        varint::put(n, &mut self.0);
        self
    }

    /// Adds a number in zigzag form.
    pub fn signed(self, field: u32, n: i64) -> Message {
        self.number(field, varint::zigzag(n))
    }

    pub fn double(mut self, field: u32, n: f64) -> Message {
        varint::put(u64::from(field) << 3 | 1, &mut self.0);
        self.0.extend_from_slice(&n.to_le_bytes());
        self
    }

    pub fn bytes_of(mut self, field: u32, bytes: &[u8]) -> Message {
        varint::put(u64::from(field) << 3 | 2, &mut self.0);
        varint::put(bytes.len() as u64, &mut self.0);
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn message(self, field: u32, message: &Message) -> Message {
        self.bytes_of(field, &message.0)
    }

    /// Adds one large number as a packed field.
    pub fn packed_long(self, field: u32, n: u64) -> Message {
        let mut bytes = Vec::new();
        varint::put(n, &mut bytes);
        self.bytes_of(field, &bytes)
    }

    /// Adds numbers in one field.
    pub fn packed(self, field: u32, numbers: &[u32]) -> Message {
        let mut bytes = Vec::new();
        numbers.iter().for_each(|&n| varint::put(u64::from(n), &mut bytes));
        self.bytes_of(field, &bytes)
    }
}

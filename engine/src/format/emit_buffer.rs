//! An emit buffer: it grows around the output of a class, either the records of a reader or the bytes of a writer.
//!
//! ```text
//!   COPY   | klen | vlen | key | value | pad | klen | vlen | ..     a whole batch: nothing is copied again
//!   BYTES  | .. |                                                   output
//! ```

use crate::memory::Buffer;
use crate::memory::budget::Grant;
use crate::operator::batch::Slices;
use crate::operator::cursor::{HEADER_BYTES, copied};
use crate::operator::types::wrong_length;
use crate::operator::{Batch, Emitter, Form, Sink, Type};
use yunti_base::{Code, Error, Result};

/// A sink that keeps all emitted records or bytes side by side.
pub struct EmitBuffer {
    buffer: Buffer,
    len: usize,
    form: Form,
    what: &'static str,
}

impl EmitBuffer {
    /// Returns an empty buffer of the size of `grant`, which grows with it. `what` is the purpose, for errors.
    ///
    /// Fails with `Code::Memory` if the system cannot map it.
    pub fn new(form: Form, grant: Grant, what: &'static str) -> Result<EmitBuffer> {
        Ok(EmitBuffer { buffer: Buffer::new(grant.bytes() as usize, Some(grant))?, len: 0, form, what })
    }

    /// Returns an emitter into a new buffer.
    pub fn emitter(form: Form, grant: Grant, what: &'static str) -> Result<Emitter<EmitBuffer>> {
        Emitter::new(EmitBuffer::new(form, grant, what)?, false, false)
    }

    /// Returns the bytes handed over so far.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// Removes the bytes handed over. The cursor must hand over again before it is used.
    pub fn clear(&mut self) {
        self.len = 0;
    }

    fn room(&mut self, need: usize) -> Result<(*mut u8, usize)> {
        let wanted = self.len + need;
        if wanted > u32::MAX as usize {
            return Err(Error::new(Code::UserCode, format!("{} of more than 4 GiB at once", self.what)));
        }
        if wanted > self.buffer.len() {
            self.buffer.grow(wanted.max(2 * self.buffer.len()), self.what)?;
        }
        let free = self.buffer.len() - self.len;
        Ok((self.buffer[self.len..].as_mut_ptr(), free))
    }
}

impl Sink for EmitBuffer {
    fn form(&self, _: bool, _: bool) -> Form {
        self.form
    }

    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        self.room(0)
    }

    fn filled(&mut self, len: usize, need: usize, _: &[u8]) -> Result<(*mut u8, usize)> {
        self.len += len;
        if self.form == Form::Copy {
            self.len = self.len.next_multiple_of(8).min(self.buffer.len());
        }
        self.room(need)
    }

    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        let header = if self.form == Form::Copy { HEADER_BYTES } else { 0 };
        let bytes = header + key.len() + value.len();
        self.room(bytes.next_multiple_of(8))?;
        let to = &mut self.buffer[self.len..];
        if header > 0 {
            to[..4].copy_from_slice(&(key.len() as u32).to_le_bytes());
            to[4..8].copy_from_slice(&(value.len() as u32).to_le_bytes());
        }
        to[header..header + key.len()].copy_from_slice(key);
        to[header + key.len()..bytes].copy_from_slice(value);
        let taken = if header > 0 { bytes.next_multiple_of(8) } else { bytes };
        self.len += taken;
        self.room(0)
    }
}

/// Offsets and lengths of a batch's records.
#[derive(Default)]
pub struct RecordPlaces {
    key_offsets: Vec<u32>,
    key_lengths: Vec<u32>,
    value_offsets: Vec<u32>,
    value_lengths: Vec<u32>,
}

impl RecordPlaces {
    /// Removes all records.
    pub fn clear(&mut self) {
        for column in [&mut self.key_offsets, &mut self.key_lengths, &mut self.value_offsets, &mut self.value_lengths] {
            column.clear();
        }
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.key_offsets.len()
    }

    /// Returns true if there are no records.
    pub fn is_empty(&self) -> bool {
        self.key_offsets.is_empty()
    }

    /// Adds a record: the offset of its key, with the value behind it.
    pub fn push(&mut self, key: usize, key_bytes: usize, value_bytes: usize) {
        self.key_offsets.push(key as u32);
        self.key_lengths.push(key_bytes as u32);
        self.value_offsets.push((key + key_bytes) as u32);
        self.value_lengths.push(value_bytes as u32);
    }

    /// Sets the records to all those in an emit buffer's `records`. Fails with `Code::UserCode` if one differs from the
    /// declared types.
    pub fn find(&mut self, records: &[u8], types: (Type, Type)) -> Result<()> {
        self.clear();
        for (at, key, value) in copied(records) {
            if at + HEADER_BYTES + key + value > records.len() || !types.0.fits(key) || !types.1.fits(value) {
                return Err(wrong_length(types, key, value));
            }
            self.push(at + HEADER_BYTES, key, value);
        }
        Ok(())
    }

    /// Returns the records of `data` as a batch; the slack of batches must be behind `data`.
    pub fn batch<'a>(&'a self, data: &'a [u8]) -> Batch<'a> {
        let keys = Slices { offsets: &self.key_offsets, lengths: &self.key_lengths };
        Batch::records(data, Some(keys), Slices { offsets: &self.value_offsets, lengths: &self.value_lengths })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Budget;

    fn emitter(form: Form, budget: u64) -> Emitter<EmitBuffer> {
        let budget = Budget::new(budget);
        EmitBuffer::emitter(form, budget.grant(64, "a test").unwrap(), "a test").unwrap()
    }

    #[test]
    fn keeps_records_of_all_lengths_in_one_batch() {
        let mut emitter = emitter(Form::Copy, 10 << 20);
        let records: Vec<(Vec<u8>, Vec<u8>)> =
            [0, 1, 7, 100, 65_530, 70_000, 3].iter().map(|&n| (vec![n as u8; n], vec![!(n as u8); n / 2])).collect();
        let mut places = RecordPlaces::default();
        for _ in 0..2 {
            emitter.sink_mut().clear();
            emitter.hand_over().unwrap();
            for (key, value) in &records {
                emitter.run(&[], |out| Ok(out.emit(key, value)?)).unwrap();
            }
            emitter.hand_over().unwrap();
            let bytes = emitter.sink().bytes();
            places.find(bytes, (Type::Bytes, Type::Bytes)).unwrap();
            let batch = places.batch(bytes);
            let got: Vec<_> = (0..batch.len()).map(|i| batch.record(i)).collect();
            assert!(got.iter().zip(&records).all(|(a, b)| a.0 == b.0 && a.1 == b.1) && got.len() == records.len());
        }
        let error = places.find(emitter.sink().bytes(), (Type::I64, Type::Bytes)).unwrap_err();
        assert!(error.to_string().starts_with("a key of 0 bytes and a value of 0 bytes were emitted"), "{error}");
    }

    #[test]
    fn keeps_bytes_side_by_side_within_the_budget() {
        let mut emitter = emitter(Form::Bytes, 1 << 20);
        let mut expect = Vec::new();
        for n in [1, 0, 100, 70_000, 65_536, 5] {
            expect.extend(vec![n as u8; n]);
            emitter.run(&[], |out| Ok(out.append(&vec![n as u8; n])?)).unwrap();
        }
        assert_eq!(emitter.sink().bytes(), expect);
        let error = emitter.run(&[], |out| Ok(out.append(&[0; 1 << 20])?)).unwrap_err();
        assert_eq!(error.code(), Code::Memory);
    }
}

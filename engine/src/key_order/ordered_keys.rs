//! Ordered keys of records, made by a key order class, a block of records at a time.

use crate::memory::buffer::SLACK_BYTES;
use crate::operator::batch::{Batch, Slices};
use crate::operator::cursor::{HEADER_BYTES, Scratch, copied};
use crate::operator::key_orderer::WHOLE_KEY;
use crate::operator::types::wrong_length;
use crate::operator::{Emitter, KeyOrderer, Sink, Type};
use yunti_base::{Code, Error, Result};

/// Runs one instance of a key order class and checks the ordered keys that it emits.
pub struct OrderedKeyEncoder {
    orderer: Box<dyn KeyOrderer>,
    /// Name of the class, for errors.
    name: String,
    /// Set when the class declares that a part of its ordered key can be the group.
    groups: bool,
    /// Types of the records' keys and values.
    types: (Type, Type),
    emitter: Emitter<OrderedKeys>,
    group: Vec<u32>,
    /// Key offsets, key lengths, value offsets, value lengths.
    columns: [Vec<u32>; 4],
}

/// A record and its ordered key.
#[derive(Clone, Copy, Debug)]
pub struct EncodedRecord<'a> {
    /// Bytes that compare as the class orders the keys.
    pub ordered_key: &'a [u8],
    /// Leading bytes of the ordered key that identify the group.
    pub group_bytes: usize,
    /// The mapper's key.
    pub key: &'a [u8],
    /// The mapper's value.
    pub value: &'a [u8],
}

impl OrderedKeyEncoder {
    /// `name` and `groups` (`Flags::groups`) describe the class. `types` are the types of the records' keys and values.
    pub fn new(
        orderer: Box<dyn KeyOrderer>,
        name: &str,
        groups: bool,
        types: (Type, Type),
    ) -> Result<OrderedKeyEncoder> {
        let emitter = Emitter::new(OrderedKeys::new()?, false, false)?;
        let (group, columns) = Default::default();
        Ok(OrderedKeyEncoder { orderer, name: name.into(), groups, types, emitter, group, columns })
    }

    /// Encodes each record of a block in form COPY (readable slack behind it), and passes it to `each` with its number.
    ///
    /// Fails with `Code::UserCode` if the class emits too few or too many ordered keys, a value, or a wrong group
    /// length.
    pub fn encode_block(
        &mut self,
        block: &[u8],
        each: impl FnMut(usize, EncodedRecord<'_>) -> Result<()>,
    ) -> Result<()> {
        let [koff, klen, voff, vlen] = &mut self.columns;
        for column in [&mut *koff, &mut *klen, &mut *voff, &mut *vlen] {
            column.clear();
        }
        for (at, k, v) in copied(block) {
            if !self.types.0.fits(k) || !self.types.1.fits(v) {
                return Err(wrong_length(self.types, k, v));
            }
            koff.push((at + HEADER_BYTES) as u32);
            klen.push(k as u32);
            voff.push((at + HEADER_BYTES + k) as u32);
            vlen.push(v as u32);
        }
        self.encode(block, each)
    }

    /// Encodes one record that is not in a block; `each` gets it with number 0.
    pub fn encode_one(
        &mut self,
        key: &[u8],
        value: &[u8],
        each: impl FnMut(usize, EncodedRecord<'_>) -> Result<()>,
    ) -> Result<()> {
        if !self.types.0.fits(key.len()) || !self.types.1.fits(value.len()) {
            return Err(wrong_length(self.types, key.len(), value.len()));
        }
        let mut record = Vec::with_capacity(key.len() + value.len() + SLACK_BYTES);
        record.extend_from_slice(key);
        record.extend_from_slice(value);
        self.columns = [vec![0], vec![key.len() as u32], vec![key.len() as u32], vec![value.len() as u32]];
        self.encode(&record, each)
    }

    fn encode(&mut self, data: &[u8], mut each: impl FnMut(usize, EncodedRecord<'_>) -> Result<()>) -> Result<()> {
        let [koff, klen, voff, vlen] = &self.columns;
        let n = koff.len();
        if n == 0 {
            return Ok(());
        }
        let keys = Slices { offsets: koff, lengths: klen };
        let values = Slices { offsets: voff, lengths: vlen };
        let batch = Batch::records(data, Some(keys), values);
        self.emitter.sink_mut().clear();
        self.group.clear();
        self.group.resize(n, WHOLE_KEY);
        let (orderer, group) = (&mut self.orderer, &mut self.group);
        self.emitter.run(data, |out| orderer.order_keys(&batch, out, group))?;
        self.emitter.hand_over()?;
        let OrderedKeys { bytes, ends, .. } = self.emitter.sink();
        let wrong = |what: String| Err(Error::new(Code::UserCode, format!("the key order {} {what}", self.name)));
        if ends.len() != n {
            return wrong(format!("emitted {} ordered keys for {n} records", ends.len()));
        }
        let mut start = 0;
        for i in 0..n {
            let ordered_key = &bytes[start..ends[i]];
            start = ends[i];
            let group_bytes = match self.group[i] {
                WHOLE_KEY => ordered_key.len(),
                bytes if self.groups && bytes as usize <= ordered_key.len() => bytes as usize,
                bytes if self.groups => {
                    return wrong(format!("set a group of {bytes} bytes in an ordered key of {}", ordered_key.len()));
                }
                _ => return wrong("set a group, but its class does not declare groups".into()),
            };
            let slice = |offset: u32, len: u32| &data[offset as usize..][..len as usize];
            let (key, value) = (slice(koff[i], klen[i]), slice(voff[i], vlen[i]));
            each(i, EncodedRecord { ordered_key, group_bytes, key, value })?;
        }
        Ok(())
    }
}

/// Ordered keys that the class emitted, one behind the other.
struct OrderedKeys {
    block: Scratch,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl OrderedKeys {
    fn new() -> Result<OrderedKeys> {
        Ok(OrderedKeys { block: Scratch::new()?, bytes: Vec::new(), ends: Vec::new() })
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(4 * Scratch::BYTES);
        self.ends.clear();
    }
}

fn no_value() -> Error {
    Error::new(Code::UserCode, "a key order emitted a value").hint("emit the ordered key with an empty value")
}

impl Sink for OrderedKeys {
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        Ok(self.block.block())
    }

    fn filled(&mut self, len: usize, _: usize, _: &[u8]) -> Result<(*mut u8, usize)> {
        let OrderedKeys { block, bytes, ends } = self;
        let filled = block.bytes(len);
        for (at, klen, vlen) in copied(filled) {
            if vlen > 0 {
                return Err(no_value());
            }
            bytes.extend_from_slice(&filled[at + HEADER_BYTES..][..klen]);
            ends.push(bytes.len());
        }
        Ok(self.block.block())
    }

    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        if !value.is_empty() {
            return Err(no_value());
        }
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
        Ok(self.block.block())
    }
}

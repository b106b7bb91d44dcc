//! The collector of a map worker. It takes records as they are, or encodes their keys first if the key order is a
//! class.

use super::ordered_keys::{EncodedRecord, OrderedKeyEncoder};
use crate::bytes::ordered_record::{ORDERED_HEADER_BYTES, ordered_header};
use crate::bytes::{KeyOrder, RecordBytes};
use crate::collect::partition::{Partition, hash_bytes};
use crate::collect::{CollectedRecords, Collector};
use crate::operator::Sink;
use crate::operator::cursor::{HEADER_BYTES, Scratch, copied};
use yunti_base::Result;

/// A `Collector`, with the encoder of ordered keys in front of it if the key order is a class.
pub struct KeyOrderCollector<'a> {
    collector: Collector<'a>,
    class_order: Option<ClassOrder>,
}

/// The encoder in front of the collector, and the records between them.
struct ClassOrder {
    encoder: OrderedKeyEncoder,
    /// Chooses partitions by the mapper's keys; the collector receives them with the records.
    partition: Partition,
    block: Scratch,
    staged: Staged,
    /// Records taken, and bytes of their keys and values.
    records: u64,
    bytes: RecordBytes,
}

/// Encoded records in form COPY that the collector has not taken yet, and their partitions.
#[derive(Default)]
struct Staged {
    bytes: Vec<u8>,
    partitions: Vec<u32>,
}

/// Bytes of records passed to the collector at once.
const STAGED_BYTES: usize = 16 << 10;

impl<'a> KeyOrderCollector<'a> {
    /// Returns a collector of records with plain keys.
    pub fn plain(collector: Collector<'a>) -> Self {
        KeyOrderCollector { collector, class_order: None }
    }

    /// Returns a collector of records with ordered keys. `collector` takes keys and values as bytes
    /// (`Partition::given`); `partition` chooses their partitions.
    pub fn with_class(collector: Collector<'a>, encoder: OrderedKeyEncoder, partition: Partition) -> Result<Self> {
        let (block, staged) = (Scratch::new()?, Staged::default());
        Ok(KeyOrderCollector {
            collector,
            class_order: Some(ClassOrder {
                encoder,
                partition,
                block,
                staged,
                records: 0,
                bytes: RecordBytes::default(),
            }),
        })
    }

    /// Starts a split: later records belong to it. See `Collector::begin_split`.
    pub fn begin_split(&mut self, split: u32) {
        self.collector.begin_split(split);
    }

    /// Returns the number of records taken so far, and the bytes of their keys and values.
    pub fn totals(&self) -> (u64, RecordBytes) {
        self.class_order.as_ref().map_or((self.collector.records, self.collector.bytes), |a| (a.records, a.bytes))
    }

    /// See `Collector::fill_fixed`. Only for records with plain keys.
    pub fn fill_fixed(&mut self, fill: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<usize> {
        debug_assert!(self.class_order.is_none());
        self.collector.fill_fixed(fill)
    }

    /// See `Collector::index_mapped`. Only for records with plain keys.
    pub fn index_mapped(&mut self, at: usize, bytes: &[u8], offsets: &[u32], lengths: &[u32]) -> Result<()> {
        debug_assert!(self.class_order.is_none());
        self.collector.index_mapped(at, bytes, offsets, lengths)
    }

    /// See `Collector::spill_splits`. The caller has handed over the emitter's block before, and gets a new one after.
    pub fn spill_splits(&mut self) -> Result<()> {
        self.collector.spill_splits()
    }

    /// See `Collector::fill`.
    pub fn fill(&self) -> (u64, u64) {
        self.collector.fill()
    }

    /// Returns the collected records. The caller has handed over the emitter's block before.
    pub fn into_collected(self) -> CollectedRecords {
        self.collector.into_collected()
    }
}

impl ClassOrder {
    fn take_block(&mut self, len: usize, collector: &mut Collector<'_>) -> Result<()> {
        let ClassOrder { encoder, partition, block, staged, records, bytes } = self;
        let block = block.bytes(len);
        partition.choose(block, copied(block))?;
        encoder.encode_block(block, |i, record| {
            *records += 1;
            bytes.add(record.key.len(), record.value.len());
            staged.add(record, choose(partition, i, &record), collector)
        })?;
        staged.pass_on(collector)
    }

    fn take_large(&mut self, key: &[u8], value: &[u8], collector: &mut Collector<'_>) -> Result<()> {
        self.partition.choose_one(key, value)?;
        self.records += 1;
        self.bytes.add(key.len(), value.len());
        let ClassOrder { encoder, partition, staged, .. } = self;
        encoder.encode_one(key, value, |i, record| staged.add(record, choose(partition, i, &record), collector))?;
        staged.pass_on(collector)
    }
}

/// Returns the partition of record i. Hash partitions follow the group alone, so that keys of one group meet.
fn choose(partition: &Partition, i: usize, record: &EncodedRecord<'_>) -> u32 {
    match partition {
        Partition::Hash { parts, .. } => {
            (hash_bytes(&record.ordered_key[..record.group_bytes]) & i32::MAX) as u32 % parts
        }
        other => other.of(i, record.key, record.ordered_key, KeyOrder::BYTES.prefix(record.ordered_key, 0)),
    }
}

impl Staged {
    fn add(&mut self, record: EncodedRecord<'_>, partition: u32, collector: &mut Collector<'_>) -> Result<()> {
        let EncodedRecord { ordered_key, group_bytes, key, value } = record;
        let header = ordered_header(group_bytes as u32, key.len() as u32);
        let value_len = ORDERED_HEADER_BYTES + key.len() + value.len();
        let need = (HEADER_BYTES + ordered_key.len() + value_len).next_multiple_of(8);
        if self.bytes.len() + need > STAGED_BYTES {
            self.pass_on(collector)?;
        }
        if need > STAGED_BYTES {
            return collector.put_large(ordered_key, &[&header, key, value].concat(), partition);
        }
        self.bytes.extend_from_slice(&(ordered_key.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(&(value_len as u32).to_le_bytes());
        for part in [ordered_key, &header, key, value] {
            self.bytes.extend_from_slice(part);
        }
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        self.partitions.push(partition);
        Ok(())
    }

    fn pass_on(&mut self, collector: &mut Collector<'_>) -> Result<()> {
        collector.put(self.bytes.len(), &self.partitions, |to| {
            to.copy_from_slice(&self.bytes);
            Ok(())
        })?;
        self.bytes.clear();
        self.partitions.clear();
        Ok(())
    }
}

impl Sink for KeyOrderCollector<'_> {
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        match &mut self.class_order {
            None => self.collector.begin(),
            Some(order) => Ok(order.block.block()),
        }
    }

    fn filled(&mut self, len: usize, need: usize, data: &[u8]) -> Result<(*mut u8, usize)> {
        match &mut self.class_order {
            None => self.collector.filled(len, need, data),
            Some(order) => {
                order.take_block(len, &mut self.collector)?;
                Ok(order.block.block())
            }
        }
    }

    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        match &mut self.class_order {
            None => self.collector.large(key, value),
            Some(order) => {
                order.take_large(key, value, &mut self.collector)?;
                Ok(order.block.block())
            }
        }
    }
}

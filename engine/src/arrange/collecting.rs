//! A collector of records as they are, or of arranged ones where the order of keys is a class's.

use super::arranging::{Arranging, WithForm};
use crate::bytes::KeyOrder;
use crate::bytes::arranged::{ARRANGED_HEADER_BYTES, arranged_header};
use crate::collect::partition::{Partition, hash_bytes};
use crate::collect::{Collected, Collector};
use crate::operator::Sink;
use crate::operator::cursor::{HEADER_BYTES, Scratch, copied};
use yunti_base::Result;

pub struct ArrangingCollector<'a> {
    collector: Collector<'a>,
    arranged: Option<Arranged>,
}

struct Arranged {
    arranging: Arranging,
    /// Where the records that come go; the collector is told.
    partition: Partition,
    block: Scratch,
    staged: Staged,
    records: u64,
    bytes: u64,
}

/// Arranged records on their way to the collector, with headers, and their partitions.
#[derive(Default)]
struct Staged {
    bytes: Vec<u8>,
    partitions: Vec<u32>,
}

/// Bytes of records that go to the collector at a time.
const STAGED_BYTES: usize = 16 << 10;

impl<'a> ArrangingCollector<'a> {
    /// Of records as they are.
    pub fn plain(collector: Collector<'a>) -> Self {
        ArrangingCollector { collector, arranged: None }
    }

    /// `collector` takes byte strings in the partitions that it is given; `partition` chooses them.
    pub fn arranged(collector: Collector<'a>, arranging: Arranging, partition: Partition) -> Result<Self> {
        let (block, staged) = (Scratch::new()?, Staged::default());
        Ok(ArrangingCollector {
            collector,
            arranged: Some(Arranged { arranging, partition, block, staged, records: 0, bytes: 0 }),
        })
    }

    pub fn begin_split(&mut self, split: u32) {
        self.collector.begin_split(split);
    }

    /// Records that came so far, and the bytes of their keys and values.
    pub fn totals(&self) -> (u64, u64) {
        self.arranged.as_ref().map_or((self.collector.records, self.collector.bytes), |a| (a.records, a.bytes))
    }

    /// See `Collector::fill_fixed`: only for records as they are.
    pub fn fill_fixed(&mut self, fill: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<usize> {
        debug_assert!(self.arranged.is_none());
        self.collector.fill_fixed(fill)
    }

    pub fn into_collected(self) -> Collected {
        self.collector.into_collected()
    }
}

impl Arranged {
    fn take_block(&mut self, len: usize, collector: &mut Collector<'_>) -> Result<()> {
        let Arranged { arranging, partition, block, staged, records, bytes } = self;
        let block = block.bytes(len);
        partition.choose(block, copied(block))?;
        arranging.block(block, |i, record| {
            *records += 1;
            *bytes += (record.key.len() + record.value.len()) as u64;
            staged.add(record, choose(partition, i, &record), collector)
        })?;
        staged.pass_on(collector)
    }

    fn take_big(&mut self, key: &[u8], value: &[u8], collector: &mut Collector<'_>) -> Result<()> {
        self.partition.choose_one(key, value)?;
        self.records += 1;
        self.bytes += (key.len() + value.len()) as u64;
        let Arranged { arranging, partition, staged, .. } = self;
        arranging.one(key, value, |i, record| staged.add(record, choose(partition, i, &record), collector))?;
        staged.pass_on(collector)
    }
}

/// Records of one group meet, whatever bytes their keys have.
fn choose(partition: &Partition, i: usize, record: &WithForm<'_>) -> u32 {
    match partition {
        Partition::Hash { parts, .. } => (hash_bytes(&record.form[..record.group]) & i32::MAX) as u32 % parts,
        other => other.of(i, record.key, record.form, KeyOrder::BYTES.prefix(record.form, 0)),
    }
}

impl Staged {
    fn add(&mut self, record: WithForm<'_>, partition: u32, collector: &mut Collector<'_>) -> Result<()> {
        let WithForm { form, group, key, value } = record;
        let header = arranged_header(group as u32, key.len() as u32);
        let value_len = ARRANGED_HEADER_BYTES + key.len() + value.len();
        let need = (HEADER_BYTES + form.len() + value_len).next_multiple_of(8);
        if self.bytes.len() + need > STAGED_BYTES {
            self.pass_on(collector)?;
        }
        if need > STAGED_BYTES {
            return collector.put_big(form, &[&header, key, value].concat(), partition);
        }
        self.bytes.extend_from_slice(&(form.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(&(value_len as u32).to_le_bytes());
        for part in [form, &header, key, value] {
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

impl Sink for ArrangingCollector<'_> {
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        match &mut self.arranged {
            None => self.collector.begin(),
            Some(arranged) => Ok(arranged.block.block()),
        }
    }

    fn filled(&mut self, len: usize, need: usize, data: &[u8]) -> Result<(*mut u8, usize)> {
        match &mut self.arranged {
            None => self.collector.filled(len, need, data),
            Some(arranged) => {
                arranged.take_block(len, &mut self.collector)?;
                Ok(arranged.block.block())
            }
        }
    }

    fn big(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        match &mut self.arranged {
            None => self.collector.big(key, value),
            Some(arranged) => {
                arranged.take_big(key, value, &mut self.collector)?;
                Ok(arranged.block.block())
            }
        }
    }
}

//! Operators other than mappers whose instances live in worker processes.

use super::emit::Emit;
use super::instance::Instance;
use super::message::ask;
use super::request::{send_batch, send_chunk, send_groups};
use super::wire::Put;
use super::worker::unexpected;
use crate::operator::groups::GROUP_CONT;
use crate::operator::replay::Replay;
use crate::operator::{Batch, Chunk, Groups, KeyOrderer, Kind, Out, Partitioner, Reader, Reducer, Writer};
use yunti_base::Result;

/// A reducer or combiner in a worker. A reducer can restart. A combiner takes the batch again that it failed at: what
/// it emits for a group depends on the group alone, and its batches have whole groups.
pub struct IsolatedReducer {
    instance: Instance,
    replay: Replay,
}

impl IsolatedReducer {
    pub fn new(instance: Instance) -> IsolatedReducer {
        IsolatedReducer { instance, replay: Replay::default() }
    }
}

impl Reducer for IsolatedReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        let IsolatedReducer { instance, replay } = self;
        let groups = groups.columns();
        if instance.class.info.kind != Kind::Combiner || groups.flags & GROUP_CONT != 0 {
            let emit = Emit { out, data: groups.data, replay: Some(replay), sent: 0..0 };
            return send_groups(&groups, |parts| instance.call(ask::REDUCE, parts, Some(emit))).map(drop);
        }
        let mut replay = Replay::default();
        instance.again(|instance| {
            replay.restart();
            let emit = Emit { out, data: groups.data, replay: Some(&mut replay), sent: 0..0 };
            send_groups(&groups, |parts| instance.call(ask::REDUCE, parts, Some(emit)))?;
            replay.finish()
        })
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        self.instance.flush(Emit { out, data: &[], replay: Some(&mut self.replay), sent: 0..0 })?;
        self.replay.finish()
    }

    fn restart(&mut self) -> bool {
        self.replay.restart();
        self.instance.restart()
    }
}

/// A partitioner in a worker.
pub struct IsolatedPartitioner(pub Instance);

impl Partitioner for IsolatedPartitioner {
    fn partition(&mut self, batch: &Batch<'_>, parts: u32, part: &mut [u32]) -> Result<()> {
        self.0.again(|instance| {
            // The number of partitions is sent in place of a form.
            let (_, chosen) = send_batch(batch, parts, |parts| instance.call(ask::PARTITION, parts, None))?;
            take_numbers(&chosen, &mut part[..batch.len()])
        })
    }
}

/// Copies numbers of a result. Fails if there are fewer or more.
fn take_numbers(bytes: &[u8], to: &mut [u32]) -> Result<()> {
    if bytes.len() != 4 * to.len() {
        return Err(unexpected());
    }
    for (to, from) in to.iter_mut().zip(bytes.chunks_exact(4)) {
        *to = u32::from_le_bytes([from[0], from[1], from[2], from[3]]);
    }
    Ok(())
}

/// A key orderer in a worker.
pub struct IsolatedKeyOrderer(pub Instance);

impl KeyOrderer for IsolatedKeyOrderer {
    fn order_keys(&mut self, batch: &Batch<'_>, out: &mut Out, group: &mut [u32]) -> Result<()> {
        let (form, mut replay) = (out.form() as u32, Replay::default());
        self.0.again(|instance| {
            replay.restart();
            let emit = Emit { out, data: batch.data(), replay: Some(&mut replay), sent: 0..0 };
            let (_, groups) = send_batch(batch, form, |parts| instance.call(ask::ORDER_KEYS, parts, Some(emit)))?;
            replay.finish()?;
            take_numbers(&groups, &mut group[..batch.len()])
        })
    }
}

/// A reader in a worker.
pub struct IsolatedReader(pub Instance);

impl Reader for IsolatedReader {
    fn find(&mut self, chunk: &Chunk<'_>) -> Result<Option<u64>> {
        let (start, _) = send_chunk(chunk, |parts| self.0.call(ask::FIND, parts, None))?;
        Ok((start != u64::MAX).then_some(start))
    }

    fn read(&mut self, chunk: &Chunk<'_>, out: &mut Out) -> Result<u64> {
        let emit = Emit { out, data: &[], replay: None, sent: 0..0 };
        let (taken, _) = send_chunk(chunk, |parts| self.0.call(ask::READ, parts, Some(emit)))?;
        Ok(taken)
    }
}

/// A writer in a worker.
pub struct IsolatedWriter(pub Instance);

impl IsolatedWriter {
    fn edge(&mut self, kind: u32, bytes: &mut Out) -> Result<()> {
        let head = Put::default().u32(bytes.form() as u32);
        self.0.call(kind, &[&head.0], Some(Emit { out: bytes, data: &[], replay: None, sent: 0..0 }))?;
        Ok(())
    }
}

impl Writer for IsolatedWriter {
    fn begin(&mut self, bytes: &mut Out) -> Result<()> {
        self.edge(ask::BEGIN, bytes)
    }
    fn write(&mut self, records: &Batch<'_>, bytes: &mut Out) -> Result<()> {
        let form = bytes.form() as u32;
        let emit = Emit { out: bytes, data: &[], replay: None, sent: 0..0 };
        send_batch(records, form, |parts| self.0.call(ask::WRITE, parts, Some(emit)))?;
        Ok(())
    }
    fn end(&mut self, bytes: &mut Out) -> Result<()> {
        self.edge(ask::END, bytes)
    }
}

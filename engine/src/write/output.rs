//! Where a job's records go: part files, a stream, or the few that are shown; and the writer that a task has.

use std::sync::atomic::{AtomicU64, Ordering};

use super::encoder::Encoder;
use super::part_file::PartFile;
use super::top::Top;
use crate::base::Result;
use crate::env::{Cancel, Clock};

pub enum Output {
    /// One a partition (or a split, in mode none).
    Parts(Vec<PartFile>),
    /// All tickets of all parts, one after the other.
    Stream(PartFile),
    Top(Top),
}

/// Staged bytes before a write: large enough for one system call to be cheap, small enough to stay in L2.
pub const STAGING_BYTES: usize = 1 << 20;

/// A task's way to the output. Dropped without `finish` it has failed, and nobody waits for it: the job has.
pub struct OutputWriter<'a> {
    output: &'a Output,
    encoder: &'a Encoder,
    part: usize,
    ticket: usize,
    ordered: bool,
    staging: Vec<u8>,
    staging_bytes: usize,
    cancel: &'a Cancel,
    stop: &'a (dyn Fn() -> bool + Sync),
    clock: &'a dyn Clock,
    totals: &'a OutputTotals,
    records: u64,
    write_ns: u64,
}

/// Sums over all tasks, for counters and progress.
#[derive(Default)]
pub struct OutputTotals {
    pub records: AtomicU64,
    pub bytes: AtomicU64,
    pub write_ns: AtomicU64,
}

/// What all writers of a job share.
#[derive(Clone, Copy)]
pub struct WriterSetup<'a> {
    pub output: &'a Output,
    pub encoder: &'a Encoder,
    pub cancel: &'a Cancel,
    pub stop: &'a (dyn Fn() -> bool + Sync),
    pub clock: &'a dyn Clock,
    pub totals: &'a OutputTotals,
    pub staging_bytes: usize,
}

impl<'a> OutputWriter<'a> {
    /// `ticket`: the place in the order of the part (of the stream: in the order of the job); `None`: the order does not matter.
    /// `staging` is reused from the task before.
    pub fn new(setup: WriterSetup<'a>, part: usize, ticket: Option<usize>, mut staging: Vec<u8>) -> Self {
        staging.clear();
        staging.reserve(setup.staging_bytes);
        OutputWriter {
            output: setup.output,
            encoder: setup.encoder,
            part,
            ticket: ticket.unwrap_or(0),
            ordered: ticket.is_some(),
            staging,
            staging_bytes: setup.staging_bytes,
            cancel: setup.cancel,
            stop: setup.stop,
            clock: setup.clock,
            totals: setup.totals,
            records: 0,
            write_ns: 0,
        }
    }

    #[inline]
    pub fn write(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.records += 1;
        if let Output::Top(top) = self.output {
            top.offer(key, value, (self.part << 32 | self.ticket, self.records));
            return Ok(());
        }
        let need = self.encoder.bytes_max(key, value);
        if self.staging.len() + need > self.staging_bytes && !self.staging.is_empty() {
            self.flush()?;
        }
        self.encoder.encode(key, value, &mut self.staging);
        Ok(())
    }

    fn file(&self) -> Option<&'a PartFile> {
        match self.output {
            Output::Parts(parts) => Some(&parts[self.part]),
            Output::Stream(file) => Some(file),
            Output::Top(_) => None,
        }
    }

    fn flush(&mut self) -> Result<()> {
        let start = self.clock.now_ns();
        if let Some(file) = self.file() {
            if self.ordered {
                file.write(self.ticket, &self.staging, self.cancel, self.stop)?;
            } else {
                file.append(&self.staging)?;
            }
        }
        self.write_ns += self.clock.now_ns() - start;
        self.totals.bytes.fetch_add(self.staging.len() as u64, Ordering::Relaxed);
        self.staging.clear();
        // One record larger than the staging made it grow: it does not stay so.
        self.staging.shrink_to(self.staging_bytes * 2);
        Ok(())
    }

    /// Writes the rest; gives the staging buffer back and says how long writing took.
    pub fn finish(mut self) -> Result<(Vec<u8>, u64)> {
        let start = self.clock.now_ns();
        if let Some(file) = self.file() {
            if self.ordered {
                file.finish(self.ticket, &self.staging, self.cancel, self.stop)?;
            } else if !self.staging.is_empty() {
                file.append(&self.staging)?;
            }
        }
        self.write_ns += self.clock.now_ns() - start;
        self.totals.bytes.fetch_add(self.staging.len() as u64, Ordering::Relaxed);
        self.totals.records.fetch_add(self.records, Ordering::Relaxed);
        self.totals.write_ns.fetch_add(self.write_ns, Ordering::Relaxed);
        Ok((self.staging, self.write_ns))
    }
}

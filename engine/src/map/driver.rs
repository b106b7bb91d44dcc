//! One split through a mapper: read a batch, map it, repeat, and flush. A mapper that can restart gets the split again
//! after a failure.

use crate::env::Clock;
use crate::operator::mapper::Restart;
use crate::operator::{Emitter, Mapper, Sink};
use crate::read::{Split, SplitReader};
use yunti_base::{Cancel, Code, Error, Result};

/// Cost of a split, for the report.
#[derive(Clone, Copy, Debug, Default)]
pub struct MapCost {
    pub read_ns: u64,
    /// Mapper and sink together, in nanoseconds.
    pub map_ns: u64,
    /// Bytes of the split, once for all attempts.
    pub bytes: u64,
}

/// A split to map, and the job's part in it.
pub struct MapTask<'a> {
    pub split: &'a Split,
    pub clock: &'a dyn Clock,
    pub cancel: &'a Cancel,
    /// Attempts until an error of user code ends the job, at least 1.
    pub attempts_max: u32,
    /// Called with the error of a failed attempt that another follows, and the number of the attempt from 1.
    pub on_failure: &'a dyn Fn(&Error, u32),
}

/// Maps a split. `progress` is called with the bytes of each batch; those of a second attempt count once.
///
/// Errors are those of the reader and the mapper, after the last attempt; `Cancelled`.
pub fn map_split<S: Sink>(
    task: &MapTask<'_>,
    reader: &mut SplitReader,
    mapper: &mut dyn Mapper,
    emitter: &mut Emitter<S>,
    mut progress: impl FnMut(u64),
) -> Result<MapCost> {
    let mut cost = MapCost::default();
    let records = reader.records;
    let mut attempt = 1;
    loop {
        let mut bytes = 0;
        let mut advance = |cost: &mut MapCost, n: u64| {
            bytes += n;
            if bytes > cost.bytes {
                progress(bytes - cost.bytes);
                cost.bytes = bytes;
            }
        };
        match map_once(task, reader, mapper, emitter, &mut cost, &mut advance) {
            Err(e) if e.code() == Code::UserCode && attempt < task.attempts_max => {
                match mapper.restart(&e) {
                    Restart::Impossible => return Err(e),
                    Restart::Found(named) => return Err(named),
                    Restart::Attempt => {
                        (task.on_failure)(&e, attempt);
                        attempt += 1;
                    }
                    Restart::Search => {}
                    Restart::LeftOut => attempt = 1,
                }
                reader.records = records;
                reader.take_bad_records();
            }
            result => return result.map(|()| cost),
        }
    }
}

fn map_once<S: Sink>(
    task: &MapTask<'_>,
    reader: &mut SplitReader,
    mapper: &mut dyn Mapper,
    emitter: &mut Emitter<S>,
    cost: &mut MapCost,
    advance: &mut impl FnMut(&mut MapCost, u64),
) -> Result<()> {
    let clock = task.clock;
    reader.begin(task.split);
    if let Some(first) = task.split.pieces.first() {
        mapper.begin(first.file, first.start);
    }
    let mut now = clock.now_ns();
    loop {
        task.cancel.check()?;
        let batch = reader.next_batch()?;
        let read = clock.now_ns();
        cost.read_ns += read - now;
        let Some(batch) = batch else { break };
        emitter.run(batch.data(), |out| mapper.map(&batch, out))?;
        now = clock.now_ns();
        cost.map_ns += now - read;
        advance(cost, batch.data().len() as u64);
    }
    let start = clock.now_ns();
    emitter.run(&[], |out| mapper.flush(out))?;
    emitter.hand_over()?;
    cost.map_ns += clock.now_ns() - start;
    Ok(())
}

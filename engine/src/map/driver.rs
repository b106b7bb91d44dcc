//! One split through a mapper: read a batch, map it, repeat, and flush.

use crate::env::Clock;
use crate::operator::{Emitter, Mapper, Sink};
use crate::read::{Split, SplitReader};
use yunti_base::Cancel;
use yunti_base::Result;

/// Cost of a split, for the report.
#[derive(Clone, Copy, Debug, Default)]
pub struct MapCost {
    pub read_ns: u64,
    /// Mapper and sink together, in nanoseconds.
    pub map_ns: u64,
    pub bytes: u64,
}

/// Maps a split. `progress` is called with the bytes of each batch. Errors are those of the reader and the mapper;
/// `Cancelled`.
pub fn map_split<S: Sink>(
    split: &Split,
    reader: &mut SplitReader,
    mapper: &mut dyn Mapper,
    emitter: &mut Emitter<S>,
    clock: &dyn Clock,
    cancel: &Cancel,
    mut progress: impl FnMut(u64),
) -> Result<MapCost> {
    let mut task = MapCost::default();
    reader.begin(split);
    let mut now = clock.now_ns();
    loop {
        cancel.check()?;
        let batch = reader.next_batch()?;
        let read = clock.now_ns();
        task.read_ns += read - now;
        let Some(batch) = batch else { break };
        emitter.run(batch.data(), |out| mapper.map(&batch, out))?;
        now = clock.now_ns();
        task.map_ns += now - read;
        task.bytes += batch.data().len() as u64;
        progress(batch.data().len() as u64);
    }
    let start = clock.now_ns();
    emitter.run(&[], |out| mapper.flush(out))?;
    emitter.hand_over()?;
    task.map_ns += clock.now_ns() - start;
    Ok(task)
}

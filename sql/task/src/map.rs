//! The mapper of a fragment: blocks of its input in, records of its rows out.

use yunti_api::{Bytes, Class, Context as TaskContext, Form, Out, Record, Result};
use yunti_engine::columns::block::BlockReader;
use yunti_engine::columns::kind::Kind;
use yunti_sql_execute::Context;
use yunti_sql_plan::wire::{Fragment, Stage};
use yunti_sql_plan::{Batch, kind_of};

use crate::failure::{self, end, keep};
use crate::feed::Feed;
use crate::send::Sender;
use crate::stage;

/// A mapper of one split, which belongs to one fragment.
pub struct Map {
    task: TaskContext,
    context: Context,
    stage: Stage,
    running: Option<Running>,
}

struct Running {
    number: u32,
    kinds: Vec<Kind>,
    blocks: BlockReader,
    feed: Feed,
    sender: Sender,
}

impl Class for Map {
    fn create(task: &TaskContext) -> Result<Map> {
        let stage = stage::outline(task).map_err(failure::of)?;
        Ok(Map { task: task.clone(), context: stage::context(task)?, stage, running: None })
    }
}

impl Map {
    fn start(&self, number: u32, fragment: &Fragment) -> yunti_base::Result<Running> {
        let lacks = || yunti_base::Error::new(yunti_base::Code::Internal, "a column of the input has no shape");
        let kinds = fragment.input.fields.iter().map(|field| kind_of(&field.data_type).ok_or_else(lacks));
        let kinds = kinds.collect::<yunti_base::Result<Vec<_>>>()?;
        let sender = match &fragment.route {
            None => Sender::to_output(self.stage.tag),
            Some(route) => Sender::to_reduction(route, self.task.partitions(), self.task.task())?,
        };
        let bytes = stage::bytes(&self.task)?;
        let feed = Feed::start(&self.context, move |open| {
            let stage = Stage::of_bytes(&bytes, open)?;
            Ok(stage.fragments.into_iter().nth(number as usize).map(|fragment| fragment.plan))
        })?;
        Ok(Running { number, kinds, blocks: BlockReader::default(), feed, sender })
    }

    fn add(&mut self, record: &Record<'_>, emit: &mut crate::send::Emit<'_>) -> yunti_base::Result<()> {
        let number = record.key.first_chunk::<4>().map(|key| u32::from_be_bytes(*key));
        let fragment = number.and_then(|number| self.stage.fragments.get(number as usize));
        let (Some(number), Some(fragment)) = (number, fragment) else {
            return Err(yunti_base::Error::new(yunti_base::Code::Corrupt, "a block of rows belongs to no fragment"));
        };
        let running = match &mut self.running {
            Some(running) => running,
            None => {
                let running = self.start(number, fragment)?;
                self.running.insert(running)
            }
        };
        if running.number != number {
            return Err(yunti_base::Error::new(yunti_base::Code::Corrupt, "a split has blocks of two fragments"));
        }
        let (columns, rows) = running.blocks.read(record.value, &running.kinds)?;
        let Running { feed, sender, .. } = running;
        feed.push(0, Batch::of(columns, rows), &mut |batch| sender.send(&batch, emit))
    }
}

impl yunti_api::Mapper for Map {
    type Key = Bytes;
    type Value = Bytes;

    fn map<F: Form>(&mut self, record: Record<'_>, out: &mut Out<'_, Bytes, Bytes, F>) -> Result<()> {
        let mut stopped = None;
        let done = self.add(&record, &mut |key, block| out.emit(key, block).map_err(|e| keep(e, &mut stopped)));
        end(done, stopped)
    }

    fn flush(&mut self, out: &mut Out<'_, Bytes, Bytes>) -> Result<()> {
        // A split without a block has no rows, and a fragment makes none of its own.
        let Some(Running { feed, mut sender, .. }) = self.running.take() else { return Ok(()) };
        let mut stopped = None;
        let mut emit = |key: &[u8], block: &[u8]| out.emit(key, block).map_err(|e| keep(e, &mut stopped));
        let done = feed.finish(&mut |batch| sender.send(&batch, &mut emit));
        end(done, stopped)
    }
}

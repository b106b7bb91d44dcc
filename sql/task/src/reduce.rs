//! The reducer of a stage: blocks of a partition in, input by input; records of the reduction's rows out.

use yunti_api::{Bytes, Class, Context as TaskContext, Out, Result, StepReducer};
use yunti_base::{Code, Error};
use yunti_engine::columns::block::BlockReader;
use yunti_engine::columns::kind::Kind;
use yunti_sql_plan::wire::Stage;
use yunti_sql_plan::{Batch, kind_of};

use crate::failure::{self, end, keep};
use crate::feed::Feed;
use crate::send::{KEY_BYTES, Sender};
use crate::stage;

/// A reducer of one partition.
pub struct Reduce {
    /// Shapes of each input's columns.
    kinds: Vec<Vec<Kind>>,
    /// None at the end.
    feed: Option<Feed>,
    sender: Sender,
    waiting: Vec<(u32, Batch)>,
}

impl Class for Reduce {
    fn create(task: &TaskContext) -> Result<Reduce> {
        let create = || {
            let outline = stage::outline(task)?;
            let Some(reduction) = outline.reduction else {
                return Err(Error::new(Code::Internal, "the stage has no reduction"));
            };
            let lacks = || Error::new(Code::Internal, "a column of the input has no shape");
            let kinds_of = |types: &Vec<_>| types.iter().map(|of| kind_of(of).ok_or_else(lacks)).collect();
            let kinds = reduction.inputs.iter().map(kinds_of).collect::<yunti_base::Result<Vec<_>>>()?;
            let context = stage::context(task).map_err(|e| Error::new(Code::Usage, e.to_string()))?;
            let bytes = stage::bytes(task)?;
            let feed = Feed::start(&context, move |open| {
                Ok(Stage::of_bytes(&bytes, open)?.reduction.map(|reduction| reduction.plan))
            })?;
            Ok(Reduce { kinds, feed: Some(feed), sender: Sender::to_output(outline.tag), waiting: Vec::new() })
        };
        create().map_err(failure::of)
    }
}

impl StepReducer for Reduce {
    type InKey = Bytes;
    type InValue = Bytes;
    type Key = Bytes;
    type Value = Bytes;

    fn begin(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn add(&mut self, key: &[u8], block: &[u8]) -> Result<()> {
        let read = || {
            let damaged = || Error::new(Code::Corrupt, "a block of rows names no input");
            let key: &[u8; KEY_BYTES] = key.try_into().map_err(|_| damaged())?;
            let input = u32::from_be_bytes([key[4], key[5], key[6], key[7]]);
            let kinds = self.kinds.get(input as usize).ok_or_else(damaged)?;
            let (columns, rows) = BlockReader::default().read(block, kinds)?;
            Ok((input, Batch::of(columns, rows)))
        };
        self.waiting.push(read().map_err(failure::of)?);
        Ok(())
    }

    fn end(&mut self, _: &[u8], out: &mut Out<'_, Bytes, Bytes>) -> Result<()> {
        let Some(feed) = &mut self.feed else { return Ok(()) };
        let sender = &mut self.sender;
        let mut stopped = None;
        let mut emit = |key: &[u8], block: &[u8]| out.emit(key, block).map_err(|e| keep(e, &mut stopped));
        let mut push = || {
            for (input, batch) in self.waiting.drain(..) {
                feed.push(input, batch, &mut |batch| sender.send(&batch, &mut emit))?;
            }
            Ok(())
        };
        let done = push();
        end(done, stopped)
    }

    fn flush(&mut self, out: &mut Out<'_, Bytes, Bytes>) -> Result<()> {
        let Some(feed) = self.feed.take() else { return Ok(()) };
        let sender = &mut self.sender;
        let mut stopped = None;
        let mut emit = |key: &[u8], block: &[u8]| out.emit(key, block).map_err(|e| keep(e, &mut stopped));
        let done = feed.finish(&mut |batch| sender.send(&batch, &mut emit));
        end(done, stopped)
    }
}

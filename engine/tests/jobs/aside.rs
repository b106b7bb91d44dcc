//! Classes that use a task's extras: named outputs and side files.

use std::collections::BTreeSet;
use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::operator::context::NamedOutput;
use yunti_engine::operator::{Batch, Class, ClassInfo, Emitter, Groups, Mapper, Out, Reducer, TaskContext, Type};

/// Name of the output for records that are put aside.
pub const ASIDE: &str = "aside";
/// Name of the side file with keys to drop.
pub const GONE: &str = "_gone";

/// Returns true for keys whose records are put aside.
pub fn is_aside(key: &[u8]) -> bool {
    key.last().is_some_and(|b| b % 2 == 1)
}

/// `Test.Aside` (mapper) and `Test.AsideReducer`: pass records, some of them to the output `aside`.
pub struct Aside(pub ClassInfo);

struct AsideOperator(Emitter<Box<dyn NamedOutput>>);

impl AsideOperator {
    fn new(context: &Arc<TaskContext>) -> Result<Box<AsideOperator>> {
        Ok(Box::new(AsideOperator(context.output(ASIDE, (Type::Bytes, Type::Bytes))?)))
    }
    fn put(&mut self, key: &[u8], value: &[u8], out: &mut Out) -> Result<()> {
        match is_aside(key) {
            true => self.0.run(&[], |aside| Ok(aside.emit(key, value)?)),
            false => Ok(out.emit(key, value)?),
        }
    }
    fn close(&mut self) -> Result<()> {
        self.0.hand_over()?;
        self.0.sink_mut().close()
    }
}

impl Class for Aside {
    fn info(&self) -> &ClassInfo {
        &self.0
    }
    fn mapper(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Mapper>> {
        Ok(AsideOperator::new(context)?)
    }
    fn reducer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Reducer>> {
        Ok(AsideOperator::new(context)?)
    }
}

impl Mapper for AsideOperator {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        (0..batch.len()).try_for_each(|i| {
            let (key, value) = batch.record(i);
            self.put(key, value, out)
        })
    }
    fn flush(&mut self, _: &mut Out) -> Result<()> {
        self.close()
    }
}

impl Reducer for AsideOperator {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        for i in 0..groups.len() {
            groups.range(i).try_for_each(|v| self.put(groups.key(i), groups.value(v), out))?;
        }
        Ok(())
    }
    fn flush(&mut self, _: &mut Out) -> Result<()> {
        self.close()
    }
}

/// `Test.Without` (mapper): passes records except those with a key in the side file, where each key follows its length
/// (u32).
pub struct Without(pub ClassInfo);

struct WithoutMapper(BTreeSet<Vec<u8>>);

impl Class for Without {
    fn info(&self) -> &ClassInfo {
        &self.0
    }
    fn mapper(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Mapper>> {
        let (mut gone, mut rest) = (BTreeSet::new(), &context.job.side_files[GONE][..]);
        while let Some((length, keys)) = rest.split_first_chunk() {
            let (key, others) = keys.split_at(u32::from_le_bytes(*length) as usize);
            gone.insert(key.to_vec());
            rest = others;
        }
        Ok(Box::new(WithoutMapper(gone)))
    }
}

impl Mapper for WithoutMapper {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        for i in 0..batch.len() {
            let (key, value) = batch.record(i);
            if !self.0.contains(key) {
                out.emit(key, value)?;
            }
        }
        Ok(())
    }
}

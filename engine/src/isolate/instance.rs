//! An instance of a class in a worker process.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::emit::Emit;
use super::message::{RemoteClass, ask};
use super::wire::{Put, Take};
use super::worker::{Limits, Replies, Worker, WorkerPool, unexpected};
use crate::env::process::SharedMemory;
use crate::operator::context::{NamedOutput, attempts_max, failed_attempt};
use crate::operator::{Emitter, Kind, TaskContext, Type};
use yunti_base::{Code, Error, Result};

/// An instance of a class in a worker process.
pub struct Instance {
    pool: Arc<WorkerPool>,
    pub class: Arc<RemoteClass>,
    kind: Kind,
    pub context: Arc<TaskContext>,
    timeout: Option<Duration>,
    /// Attempts of one call, for kinds that keep no state between calls.
    attempts_max: u32,
    /// Worker with the instance; it is made with the first call.
    worker: Option<Worker>,
    /// Error after which the instance is of no use.
    failed: Option<Error>,
    /// True if the last failure was a call that took too long.
    pub timed_out: bool,
    outputs: NamedOutputs,
}

/// Named outputs that the instance has opened.
#[derive(Default)]
struct NamedOutputs {
    open: BTreeMap<String, Emitter<Box<dyn NamedOutput>>>,
    /// True once one has a record or has ended, which cannot be taken back.
    are_used: bool,
}

impl Instance {
    /// Returns an instance; its first call makes it in a worker of the pool. Errors: `Usage` for a bad number of
    /// attempts.
    pub fn new(
        pool: Arc<WorkerPool>,
        class: Arc<RemoteClass>,
        kind: Kind,
        context: &Arc<TaskContext>,
        timeout: Option<Duration>,
    ) -> Result<Instance> {
        let attempts_max = attempts_max(&context.job.settings, context.is_reduce)?;
        let (context, outputs) = (context.clone(), NamedOutputs::default());
        Ok(Instance {
            pool,
            class,
            kind,
            context,
            timeout,
            attempts_max,
            worker: None,
            failed: None,
            timed_out: false,
            outputs,
        })
    }

    /// Takes a worker and makes the instance in it.
    fn begin(&mut self) -> Result<()> {
        let mut worker = self.pool.take()?;
        if let Err(error) = worker.set_job(&self.context.job) {
            self.timed_out = worker.timed_out;
            return Err(error);
        }
        let head = Put::default().text(&self.class.info.name).u32(self.kind as u32);
        let head = head.u32(u32::from(self.context.is_reduce)).u32(self.context.task).u32(self.context.partitions);
        let limits = Limits { timeout: self.timeout, job: Some(&self.context.job) };
        // A class may open its named outputs when it is made.
        let mut replies = CallReplies { emit: None, context: &self.context, outputs: &mut self.outputs };
        if let Err(error) = worker.call(&self.class.info.name, ask::CREATE, 0, &[&head.0], &limits, &mut replies) {
            self.timed_out = worker.timed_out;
            return Err(error);
        }
        self.worker = Some(worker);
        Ok(())
    }

    /// Makes a call. After a failure the worker is gone, and further calls fail with the same error.
    pub fn call(&mut self, kind: u32, parts: &[&[u8]], emit: Option<Emit<'_, '_>>) -> Result<(u64, Vec<u8>)> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let result = self.try_call(kind, parts, emit);
        if let Err(error) = &result {
            self.failed = Some(error.clone());
        }
        result
    }

    fn try_call(&mut self, kind: u32, parts: &[&[u8]], emit: Option<Emit<'_, '_>>) -> Result<(u64, Vec<u8>)> {
        if self.worker.is_none() {
            self.begin()?;
        }
        let Instance { worker: place, class, context, timeout, outputs, .. } = self;
        let Some(mut worker) = place.take() else { return Err(unexpected()) };
        let limits = Limits { timeout: *timeout, job: Some(&context.job) };
        let mut replies = CallReplies { emit, context, outputs };
        let result = worker.call(&class.info.name, kind, 0, parts, &limits, &mut replies);
        match &result {
            Ok(_) => *place = Some(worker),
            // The class failed in an orderly way: the worker can make other instances.
            Err(_) if worker.waits && kind != ask::DESTROY => {
                if worker.call(&class.info.name, ask::DESTROY, 0, &[], &limits, &mut ()).is_ok() {
                    self.pool.put_back(worker);
                }
            }
            Err(_) => self.timed_out = worker.timed_out,
        }
        result
    }

    /// Prepares another attempt in another worker. Returns false after records for named outputs, which cannot be
    /// taken back.
    pub fn restart(&mut self) -> bool {
        (self.worker, self.failed, self.timed_out) = (None, None, false);
        !self.outputs.are_used
    }

    /// Calls `call` again, in another worker each time, as long as attempts are left.
    pub fn again<T>(&mut self, mut call: impl FnMut(&mut Instance) -> Result<T>) -> Result<T> {
        let mut attempt = 1;
        loop {
            match call(self) {
                Err(e) if e.code() == Code::UserCode && attempt < self.attempts_max && self.restart() => {
                    let TaskContext { is_reduce, task, job, .. } = &*self.context;
                    let line = failed_attempt(*is_reduce, *task, (attempt, self.attempts_max), &e, "the batch");
                    job.host.messages.show(&line);
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    pub fn flush(&mut self, emit: Emit<'_, '_>) -> Result<()> {
        let head = Put::default().u32(emit.out.form() as u32);
        self.call(ask::FLUSH, &[&head.0], Some(emit))?;
        self.end()
    }

    /// Ends the instance and adds its counters to the task.
    fn end(&mut self) -> Result<()> {
        if self.worker.is_none() {
            return Ok(());
        }
        let (_, counters) = self.call(ask::DESTROY, &[], None)?;
        let mut take = Take(&counters);
        for (group, name, by) in take.list(|take| Ok((take.text()?, take.text()?, take.u64()?)))? {
            self.context.count(&group, &name, by);
        }
        if let Some(worker) = self.worker.take() {
            self.pool.put_back(worker);
        }
        Ok(())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // An operator that is flushed has ended already. For the others an error comes too late.
        let _ = self.end();
    }
}

/// Messages of a worker during one call.
struct CallReplies<'c, 'e, 'o> {
    emit: Option<Emit<'e, 'o>>,
    context: &'c Arc<TaskContext>,
    outputs: &'c mut NamedOutputs,
}

impl Replies for CallReplies<'_, '_, '_> {
    fn block(&mut self, memory: &SharedMemory, len: usize, scratch: &mut Vec<u8>) -> Result<()> {
        self.emit.as_mut().ok_or_else(unexpected)?.block(memory, len, scratch)
    }

    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.emit.as_mut().ok_or_else(unexpected)?.large(key, value)
    }

    fn columns(&mut self, payload: &[u8]) -> Result<()> {
        self.emit.as_mut().ok_or_else(unexpected)?.columns(payload)
    }

    fn words(&mut self) -> Result<()> {
        self.emit.as_mut().ok_or_else(unexpected)?.words()
    }

    fn output(&mut self, payload: &[u8], close: bool) -> Result<()> {
        let mut take = Take(payload);
        let name = take.text()?;
        let mut ty = || Type::from_abi(take.u32()?).ok_or_else(unexpected);
        let types = (ty()?, ty()?);
        let all = &mut self.outputs.open;
        if !all.contains_key(&name) {
            all.insert(name.clone(), self.context.output(&name, types)?);
        }
        let Some(output) = all.get_mut(&name) else { return Ok(()) };
        let records = take.list(|take| Ok((take.bytes()?, take.bytes()?)))?;
        self.outputs.are_used |= close || !records.is_empty();
        output.run(&[], |out| records.iter().try_for_each(|(key, value)| Ok(out.emit(key, value)?)))?;
        if close {
            output.hand_over()?;
            output.sink_mut().close()?;
            all.remove(&name);
        }
        Ok(())
    }

    fn status(&mut self, text: String) {
        self.context.set_status(text);
    }
}

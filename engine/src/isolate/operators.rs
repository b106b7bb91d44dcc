//! Operators whose instances live in worker processes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::columns;
use super::message::{RemoteClass, ask};
use super::request::{send_batch, send_chunk, send_groups};
use super::wire::{Put, Take};
use super::worker::{Limits, Replies, Worker, WorkerPool, unexpected};
use crate::env::process::SharedMemory;
use crate::env::process::shared_memory::eights_of;
use crate::operator::context::{NamedOutput, attempts_max};
use crate::operator::cursor::{Form, HEADER_BYTES, LARGE_BYTES, copied};
use crate::operator::folder::{FoldValues, state_bytes};
use crate::operator::replay::Replay;
use crate::operator::{
    Batch, Chunk, Emitter, FoldShape, Folder, Groups, KeyOrderer, Kind, Mapper, Out, Partitioner, Reader, Reducer,
    TaskContext, Type, Writer,
};
use yunti_base::{Code, Error, Result};

/// An instance of a class in a worker process.
pub struct Instance {
    pool: Arc<WorkerPool>,
    class: Arc<RemoteClass>,
    kind: Kind,
    context: Arc<TaskContext>,
    timeout: Option<Duration>,
    /// Attempts of one call, for kinds that keep no state between calls.
    attempts_max: u32,
    /// Worker with the instance; it is made with the first call.
    worker: Option<Worker>,
    /// Error after which the instance is of no use.
    failed: Option<Error>,
    outputs: NamedOutputs,
}

/// Named outputs that the instance has opened.
#[derive(Default)]
struct NamedOutputs(BTreeMap<String, Emitter<Box<dyn NamedOutput>>>);

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
        Ok(Instance { pool, class, kind, context, timeout, attempts_max, worker: None, failed: None, outputs })
    }

    /// Takes a worker and makes the instance in it.
    fn begin(&mut self) -> Result<()> {
        let mut worker = self.pool.take()?;
        worker.set_job(&self.context.job)?;
        let head = Put::default().text(&self.class.info.name).u32(self.kind as u32);
        let head = head.u32(u32::from(self.context.is_reduce)).u32(self.context.task).u32(self.context.partitions);
        let limits = Limits { timeout: self.timeout, job: Some(&self.context.job) };
        worker.call(&self.class.info.name, ask::CREATE, 0, &[&head.0], &limits, &mut ())?;
        self.worker = Some(worker);
        Ok(())
    }

    /// Makes a call. After a failure the worker is gone, and further calls fail with the same error.
    fn call(&mut self, kind: u32, parts: &[&[u8]], emit: Option<Emit<'_, '_>>) -> Result<(u64, Vec<u8>)> {
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
        let result = worker.call(&class.info.name, kind, 0, parts, &limits, &mut replies)?;
        *place = Some(worker);
        Ok(result)
    }

    /// Prepares another attempt in another worker. Returns false after records for named outputs, which cannot be
    /// taken back.
    fn restart(&mut self) -> bool {
        (self.worker, self.failed) = (None, None);
        self.outputs.0.is_empty()
    }

    /// Calls `call` again, in another worker each time, as long as attempts are left.
    fn again<T>(&mut self, mut call: impl FnMut(&mut Instance) -> Result<T>) -> Result<T> {
        let mut attempt = 1;
        loop {
            match call(self) {
                Err(e) if e.code() == Code::UserCode && attempt < self.attempts_max && self.restart() => {
                    let (max, task) = (self.attempts_max, self.context.task);
                    let kind = if self.context.is_reduce { "reduce" } else { "map" };
                    let line = format!("{kind} task {task}, attempt {attempt} of {max}: {e}; the batch is tried again");
                    self.context.job.host.messages.show(&line);
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    fn flush(&mut self, emit: Emit<'_, '_>) -> Result<()> {
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

/// Records that come back, checked and passed on.
struct Emit<'e, 'o> {
    out: &'o mut Out,
    /// Bytes that references may point into.
    data: &'e [u8],
    replay: Option<&'e mut Replay>,
}

impl Emit<'_, '_> {
    fn block(&mut self, memory: &SharedMemory, len: usize) -> Result<()> {
        let form = self.out.form();
        let repeats = self.replay.as_ref().is_some_and(|replay| replay.repeats());
        if matches!(form, Form::One | Form::Ref) && !repeats {
            // The common case: the entries go to the cursor's block at once, and are checked there.
            let unit = if form == Form::One { 8 } else { 16 };
            if !len.is_multiple_of(unit) {
                return Err(unexpected());
            }
            let Emit { out, data, replay } = self;
            let mut at = 0;
            return out.append_entries(len, |to| {
                memory.copy_block(at, to);
                at += to.len();
                if !refer_into(to, data.len(), form) {
                    return Err(unexpected());
                }
                match replay {
                    Some(replay) => replay.fresh(to).map(drop),
                    None => Ok(()),
                }
            });
        }
        let mut block = vec![0; len];
        memory.copy_block(0, &mut block);
        let fresh = match &mut self.replay {
            Some(replay) => replay.fresh(&block)?,
            None => &block[..],
        };
        match form {
            Form::Copy => copies(fresh, self.out),
            Form::Bytes => Ok(fresh.chunks(LARGE_BYTES).try_for_each(|part| self.out.append_checked(part))?),
            _ if refer_into(fresh, self.data.len(), form) => {
                let mut rest = fresh;
                self.out.append_entries(fresh.len(), |to| {
                    let (now, later) = rest.split_at(to.len());
                    to.copy_from_slice(now);
                    rest = later;
                    Ok(())
                })
            }
            _ => Err(unexpected()),
        }
    }

    fn columns(&mut self, payload: &[u8]) -> Result<()> {
        if let Some(replay) = &mut self.replay
            && !replay.is_fresh_message(payload)?
        {
            return Ok(());
        }
        columns::emit(payload, self.data, self.out)
    }

    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        if let Some(replay) = &mut self.replay
            && !replay.is_fresh(key, value)?
        {
            return Ok(());
        }
        match self.out.form() {
            Form::Bytes => Ok(self.out.append(key)?),
            Form::Copy => Ok(self.out.emit(key, value)?),
            _ => Err(unexpected()),
        }
    }
}

/// Appends records in form COPY, as many at once as the cursor takes.
fn copies(block: &[u8], out: &mut Out) -> Result<()> {
    let mut from = 0;
    let mut end = 0;
    for (at, klen, vlen) in copied(block) {
        let next = (at + HEADER_BYTES + klen + vlen).next_multiple_of(8);
        if next > block.len() || next - at > LARGE_BYTES {
            return Err(unexpected());
        }
        if next - from > LARGE_BYTES {
            out.append_checked(&block[from..at])?;
            from = at;
        }
        end = next;
    }
    if end != block.len() {
        return Err(unexpected());
    }
    Ok(out.append_checked(&block[from..end])?)
}

/// Returns true if all entries of a block name bytes of the batch.
fn refer_into(block: &[u8], data_bytes: usize, form: Form) -> bool {
    if !block.as_ptr().cast::<u64>().is_aligned() {
        return false;
    }
    // An entry beyond the batch makes the difference negative. One bit collects all of them, without a branch.
    let beyond = |entry: u64| (data_bytes as u64).wrapping_sub((entry & 0xffff_ffff) + (entry >> 32));
    let all = match form {
        Form::One => eights_of(block).iter().fold(0, |all, &entry| all | beyond(entry)),
        _ => eights_of(block).chunks_exact(2).fold(0, |all, entry| all | beyond(entry[0])),
    };
    all >> 63 == 0
}

/// Messages of a worker during one call.
struct CallReplies<'c, 'e, 'o> {
    emit: Option<Emit<'e, 'o>>,
    context: &'c Arc<TaskContext>,
    outputs: &'c mut NamedOutputs,
}

impl Replies for CallReplies<'_, '_, '_> {
    fn block(&mut self, memory: &SharedMemory, len: usize) -> Result<()> {
        self.emit.as_mut().ok_or_else(unexpected)?.block(memory, len)
    }

    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.emit.as_mut().ok_or_else(unexpected)?.large(key, value)
    }

    fn columns(&mut self, payload: &[u8]) -> Result<()> {
        self.emit.as_mut().ok_or_else(unexpected)?.columns(payload)
    }

    fn output(&mut self, payload: &[u8], close: bool) -> Result<()> {
        let mut take = Take(payload);
        let name = take.text()?;
        let mut ty = || Type::from_abi(take.u32()?).ok_or_else(unexpected);
        let types = (ty()?, ty()?);
        let all = &mut self.outputs.0;
        if !all.contains_key(&name) {
            all.insert(name.clone(), self.context.output(&name, types)?);
        }
        let Some(output) = all.get_mut(&name) else { return Ok(()) };
        let records = take.list(|take| Ok((take.bytes()?, take.bytes()?)))?;
        output.run(&[], |out| records.iter().try_for_each(|(key, value)| Ok(out.emit(key, value)?)))?;
        if close {
            output.hand_over()?;
            output.sink_mut().close()?;
            all.remove(&name);
        }
        Ok(())
    }

    fn status(&mut self, text: String) {
        *self.context.status.lock().unwrap_or_else(|e| e.into_inner()) = Some(text);
    }
}

/// A mapper in a worker. It can restart: a new worker maps the split again.
pub struct IsolatedMapper {
    instance: Instance,
    replay: Replay,
}

impl IsolatedMapper {
    pub fn new(instance: Instance) -> IsolatedMapper {
        IsolatedMapper { instance, replay: Replay::default() }
    }
}

impl Mapper for IsolatedMapper {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let IsolatedMapper { instance, replay } = self;
        let form = out.form() as u32;
        let emit = Emit { out, data: batch.data(), replay: Some(replay) };
        let result = send_batch(batch, form, |parts| instance.call(ask::MAP, parts, Some(emit)));
        let place = |e: Error| {
            let file = instance.context.job.inputs.get(batch.file_index() as usize);
            let e = e.at_offset(batch.first_position());
            file.map_or(e.clone(), |file| e.at_path(file.as_str()))
        };
        result.map(drop).map_err(|e| if e.code() == Code::UserCode { place(e) } else { e })
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        let IsolatedMapper { instance, replay } = self;
        instance.flush(Emit { out, data: &[], replay: Some(replay) })?;
        self.replay.finish()
    }

    fn restart(&mut self) -> bool {
        self.replay.restart();
        self.instance.restart()
    }
}

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
        if instance.class.info.kind != Kind::Combiner || groups.continues() {
            let emit = Emit { out, data: &[], replay: Some(replay) };
            return send_groups(groups, |parts| instance.call(ask::REDUCE, parts, Some(emit))).map(drop);
        }
        let mut replay = Replay::default();
        instance.again(|instance| {
            replay.restart();
            let emit = Emit { out, data: &[], replay: Some(&mut replay) };
            send_groups(groups, |parts| instance.call(ask::REDUCE, parts, Some(emit)))?;
            replay.finish()
        })
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        self.instance.flush(Emit { out, data: &[], replay: Some(&mut self.replay) })?;
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
            let emit = Emit { out, data: batch.data(), replay: Some(&mut replay) };
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
        let emit = Emit { out, data: &[], replay: None };
        let (taken, _) = send_chunk(chunk, |parts| self.0.call(ask::READ, parts, Some(emit)))?;
        Ok(taken)
    }
}

/// A writer in a worker.
pub struct IsolatedWriter(pub Instance);

impl IsolatedWriter {
    fn edge(&mut self, kind: u32, bytes: &mut Out) -> Result<()> {
        let head = Put::default().u32(bytes.form() as u32);
        self.0.call(kind, &[&head.0], Some(Emit { out: bytes, data: &[], replay: None }))?;
        Ok(())
    }
}

impl Writer for IsolatedWriter {
    fn begin(&mut self, bytes: &mut Out) -> Result<()> {
        self.edge(ask::BEGIN, bytes)
    }
    fn write(&mut self, records: &Batch<'_>, bytes: &mut Out) -> Result<()> {
        let form = bytes.form() as u32;
        let emit = Emit { out: bytes, data: &[], replay: None };
        send_batch(records, form, |parts| self.0.call(ask::WRITE, parts, Some(emit)))?;
        Ok(())
    }
    fn end(&mut self, bytes: &mut Out) -> Result<()> {
        self.edge(ask::END, bytes)
    }
}

/// A known fold of a library: the engine runs it itself, so no worker is needed.
pub struct KnownStates(pub FoldShape);

impl Folder for KnownStates {
    fn shape(&self) -> FoldShape {
        self.0
    }
    fn init(&mut self, _: &[*mut u8]) -> Result<()> {
        Ok(())
    }
    fn fold(&mut self, _: &[*mut u8], _: FoldValues<'_>) -> Result<()> {
        Ok(())
    }
    fn merge(&mut self, _: &[*mut u8], _: &[*const u8]) -> Result<()> {
        Ok(())
    }
    fn finish(&mut self, keys: &[&[u8]], states: &[*const u8], out: &mut Out) -> Result<()> {
        for (key, state) in keys.iter().zip(states) {
            out.emit(key, state_bytes(state, self.0.state_bytes))?;
        }
        Ok(())
    }
}

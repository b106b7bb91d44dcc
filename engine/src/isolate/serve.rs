//! The worker's side: it makes instances of its classes and runs them, one at a time.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use super::message::{RemoteClass, VERSION, ask, kind_of, put_error, reply};
use super::request::{Parts, take_batch, take_chunk, take_groups};

use super::wire::{Put, Take};
use crate::env::process::shared_memory::{REPLY_BYTES, bytes_of};
use crate::env::process::{Head, SharedMemory, Side};
use crate::operator::class::find_class;
use crate::operator::context::{JobContext, NamedOutput, Outputs};
use crate::operator::cursor::{Form, Out, RecordSink, RecordTarget};
use crate::operator::key_orderer::WHOLE_KEY;
use crate::operator::reducer::fold_reduce::{FoldInput, FoldReduce};
use crate::operator::{
    Class, ClassSource, Emitter, KeyOrderer, Kind, Mapper, Partitioner, Reader, Reducer, Sink, TaskContext, Type,
    Writer,
};
use yunti_base::{Code, Error, Result};

/// Interval at which an idle worker checks that the engine lives.
const TICK: Duration = Duration::from_millis(500);

/// Serves the classes of `sources` to the engine behind `memory`, until the engine ends. `ended` returns true once the
/// engine has ended.
///
/// Errors: `Memory` if the memory cannot be mapped. Errors of classes go to the engine.
pub fn serve(sources: Vec<Arc<dyn ClassSource>>, memory: OwnedFd, ended: impl Fn() -> bool) -> Result<()> {
    let channel = Arc::new(Channel(SharedMemory::open(memory).map_err(no_memory)?));
    let mut server = Server { sources, channel, ended: &ended, job: None, instance: None };
    if server.next().is_none() {
        return Ok(());
    }
    let hello = server.hello();
    // An engine of another version refuses this one.
    server.channel.reply(reply::DONE, VERSION, &hello);
    while let Some(head) = server.next() {
        let result = server.call(head);
        let Server { channel, .. } = &server;
        match result {
            Ok(done) => channel.reply_with(reply::DONE, done.value, &done.bytes, done.block),
            Err(e) => channel.reply(reply::FAILED, 0, &put_error(&e, Put::default()).0),
        }
    }
    Ok(())
}

/// Serves only the error of a worker that could not load its classes.
pub fn refuse(error: &Error, memory: OwnedFd, ended: impl Fn() -> bool) -> Result<()> {
    let channel = Channel(SharedMemory::open(memory).map_err(no_memory)?);
    while channel.0.wait(Side::Worker, TICK).is_none() {
        if ended() {
            return Ok(());
        }
    }
    channel.reply(reply::FAILED, 0, &put_error(error, Put::default()).0);
    Ok(())
}

fn no_memory(e: std::io::Error) -> Error {
    Error::io(Code::Memory, "cannot map the engine's memory", &e)
}

/// Way to the engine.
struct Channel(SharedMemory);

impl Channel {
    /// Sends a message, in as many parts as it needs, and does not wait for an answer to the last.
    fn reply(&self, kind: u32, value: u64, bytes: &[u8]) {
        self.reply_with(kind, value, bytes, 0);
    }

    /// As `reply`; `block`: bytes of the block that go with the last part.
    fn reply_with(&self, kind: u32, value: u64, bytes: &[u8], block: usize) {
        let mut rest = bytes;
        while rest.len() > REPLY_BYTES {
            let (part, behind) = rest.split_at(REPLY_BYTES);
            self.0.put_message(part);
            self.pass(Head { kind: reply::PART, len: part.len(), ..Head::default() });
            self.wait();
            rest = behind;
        }
        self.0.put_message(rest);
        self.pass(Head { kind, value, len: rest.len(), block });
    }

    /// Sends a message and waits until the engine has taken it.
    fn send(&self, kind: u32, value: u64, bytes: &[u8]) {
        self.reply(kind, value, bytes);
        self.wait();
    }

    /// Sends the block, which is in place.
    fn send_block(&self, len: usize) {
        self.pass(Head { kind: reply::BLOCK, block: len, ..Head::default() });
        self.wait();
    }

    fn pass(&self, head: Head) {
        self.0.pass(Side::Worker, head);
    }

    /// Waits for the engine to go on. If the engine ends, a thread of the worker ends the process.
    fn wait(&self) {
        while self.0.wait(Side::Worker, TICK).is_none() {}
    }
}

struct Server<'s> {
    sources: Vec<Arc<dyn ClassSource>>,
    channel: Arc<Channel>,
    ended: &'s dyn Fn() -> bool,
    job: Option<Arc<JobContext>>,
    instance: Option<(Operator, Arc<TaskContext>)>,
}

enum Operator {
    Mapper(Box<dyn Mapper>),
    Reducer(Box<dyn Reducer>),
    Partitioner(Box<dyn Partitioner>),
    KeyOrderer(Box<dyn KeyOrderer>),
    Reader(Box<dyn Reader>),
    Writer(Box<dyn Writer>),
}

impl Server<'_> {
    /// Waits for the next request. None: the engine has ended.
    fn next(&self) -> Option<Head> {
        loop {
            if let Some(head) = self.channel.0.wait(Side::Worker, TICK) {
                return Some(head);
            }
            if (self.ended)() {
                return None;
            }
        }
    }

    fn hello(&self) -> Vec<u8> {
        let context = TaskContext::new(JobContext::empty(), false, 0, 1);
        let remote = |class: Arc<dyn Class>| {
            // A class that needs settings to make a folder is found out in its job.
            let shape = (class.info().kind == Kind::Folder || class.info().is_fold)
                .then(|| class.folder(&context).ok().map(|folder| folder.shape()))
                .flatten();
            let mut info = class.info().clone();
            if shape.is_some_and(|shape| shape.known.is_none()) {
                // The engine cannot fold with it. As a reducer, its result for a group depends on the group alone.
                info.is_fold = false;
                info.flags.pure |= info.kind == Kind::Folder;
            }
            let merging = class.info().merging().name;
            let folds_early =
                info.kind == Kind::Folder && self.sources.iter().any(|source| source.find(&merging).is_some());
            let extension = class.extension().to_owned();
            RemoteClass { info, look_back: class.look_back(), extension, shape, folds_early }
        };
        let classes: Vec<RemoteClass> = self
            .sources
            .iter()
            .flat_map(|source| source.names().into_iter().filter_map(|name| source.find(&name)).map(remote))
            .collect();
        Put::default().list(classes.iter(), |put, class| class.put(put)).0
    }

    fn call(&mut self, head: Head) -> Result<Done> {
        let channel = self.channel.clone();
        let request = |at, len| channel.0.request(at, len);
        match head.kind {
            ask::JOB => {
                self.job = Some(job_context(Take(request(0, head.len)))?);
                Ok(Done::default())
            }
            ask::CREATE => {
                self.create(Take(request(0, head.len)))?;
                Ok(Done::default())
            }
            ask::DESTROY => {
                let Some((operator, context)) = self.instance.take() else { return Ok(Done::default()) };
                drop(operator);
                let counters = context.counters.lock().unwrap_or_else(|e| e.into_inner());
                let put = Put::default()
                    .list(counters.iter(), |put, ((group, name), by)| put.text(group).text(name).u64(*by));
                Ok(Done { bytes: put.0, ..Done::default() })
            }
            kind => {
                let Some((operator, context)) = &mut self.instance else {
                    return Err(Error::new(Code::Internal, "a call without an instance"));
                };
                let result = operate(operator, kind, head.len, &request, &channel);
                if let Some(status) = context.status.lock().unwrap_or_else(|e| e.into_inner()).take() {
                    channel.send(reply::STATUS, 0, status.as_bytes());
                }
                result
            }
        }
    }

    fn create(&mut self, mut take: Take<'_>) -> Result<()> {
        let (name, kind) = (take.text()?, kind_of(take.u32()?)?);
        let (is_reduce, task, partitions) = (take.u32()? != 0, take.u32()?, take.u32()?);
        let job = self.job.clone().ok_or_else(|| Error::new(Code::Internal, "an instance without a job"))?;
        let outputs: Arc<dyn Outputs> = Arc::new(RemoteOutputs(self.channel.clone()));
        let context = TaskContext::with_outputs(job, is_reduce, task, partitions, Some(outputs));
        let kinds: &[Kind] = match kind {
            Kind::Reducer => &[Kind::Reducer, Kind::Combiner, Kind::Folder],
            _ => &[kind],
        };
        let class = find_class(&self.sources, &name, kinds)?;
        // The class before it is gone, if its task failed.
        self.instance = None;
        let operator = match kind {
            Kind::Mapper => Operator::Mapper(class.mapper(&context)?),
            Kind::Reducer if class.info().kind == Kind::Folder => {
                Operator::Reducer(Box::new(FoldReduce::new(class.folder(&context)?, FoldInput::Values)))
            }
            Kind::Reducer | Kind::Combiner => Operator::Reducer(class.reducer(&context)?),
            Kind::Partitioner => Operator::Partitioner(class.partitioner(&context)?),
            Kind::KeyOrder => Operator::KeyOrderer(class.key_orderer(&context)?),
            Kind::Reader => Operator::Reader(class.reader(&context)?),
            Kind::Writer => Operator::Writer(class.writer(&context)?),
            Kind::Source | Kind::Function | Kind::Aggregate => {
                let what = format!("a {} does not run in a worker", kind.name());
                return Err(Error::new(Code::Internal, what));
            }
            Kind::Folder => return Err(Error::new(Code::Internal, "a folder of a worker is made as a reducer")),
        };
        self.instance = Some((operator, context));
        Ok(())
    }
}

fn job_context(mut take: Take<'_>) -> Result<Arc<JobContext>> {
    let settings = take.list(|take| Ok((take.text()?, take.text()?)))?;
    let side_files = take.list(|take| Ok((take.text()?, take.bytes()?.to_vec())))?;
    let inputs = take.list(Take::text)?;
    Ok(JobContext::new(settings.into_iter().collect(), side_files.into_iter().collect(), inputs))
}

/// End of a call that succeeded.
#[derive(Default)]
struct Done {
    value: u64,
    bytes: Vec<u8>,
    /// Bytes of emitted records that are still in the block.
    block: usize,
}

/// Makes one call of an operator.
fn operate<'r>(
    operator: &mut Operator,
    kind: u32,
    len: usize,
    request: &impl Fn(usize, usize) -> &'r [u8],
    channel: &Arc<Channel>,
) -> Result<Done> {
    let emit = |form: u32, data: &[u8], call: &mut dyn FnMut(&mut Out) -> Result<()>| {
        let mut emitter = Emitter::new(ChannelSink { channel: channel.clone(), form }, true, true)?;
        emitter.run_last(data, call).map(|block| Done { block, ..Done::default() })
    };
    match (kind, operator) {
        (ask::FLUSH, operator) => {
            let form = Take(request(0, len)).u32()?;
            emit(form, &[], &mut |out| match operator {
                Operator::Mapper(mapper) => mapper.flush(out),
                Operator::Reducer(reducer) => reducer.flush(out),
                _ => Ok(()),
            })
        }
        (ask::BEGIN | ask::END, Operator::Writer(writer)) => {
            let form = Take(request(0, len)).u32()?;
            emit(form, &[], &mut |out| if kind == ask::BEGIN { writer.begin(out) } else { writer.end(out) })
        }
        (kind, operator) => {
            let mut parts = Parts::find(len, request)?;
            match (kind, operator) {
                (ask::MAP, Operator::Mapper(mapper)) => {
                    let (form, batch) = take_batch(&mut parts)?;
                    emit(form, batch.data(), &mut |out| mapper.map(&batch, out))
                }
                (ask::REDUCE, Operator::Reducer(reducer)) => {
                    let groups = take_groups(&mut parts)?;
                    emit(Form::Copy as u32, &[], &mut |out| reducer.reduce(&groups, out))
                }
                (ask::PARTITION, Operator::Partitioner(partitioner)) => {
                    let (partitions, batch) = take_batch(&mut parts)?;
                    let mut chosen = vec![0; batch.len()];
                    partitioner.partition(&batch, partitions, &mut chosen)?;
                    Ok(Done { bytes: bytes_of(&chosen).to_vec(), ..Done::default() })
                }
                (ask::ORDER_KEYS, Operator::KeyOrderer(orderer)) => {
                    let (form, batch) = take_batch(&mut parts)?;
                    // The engine's mark of a group without an end of its own.
                    let mut groups = vec![WHOLE_KEY; batch.len()];
                    let done = emit(form, batch.data(), &mut |out| orderer.order_keys(&batch, out, &mut groups))?;
                    Ok(Done { bytes: bytes_of(&groups).to_vec(), ..done })
                }
                (ask::FIND, Operator::Reader(reader)) => {
                    let start = reader.find(&take_chunk(&mut parts)?)?;
                    Ok(Done { value: start.unwrap_or(u64::MAX), ..Done::default() })
                }
                (ask::READ, Operator::Reader(reader)) => {
                    let chunk = take_chunk(&mut parts)?;
                    let mut taken = 0;
                    let done = emit(Form::Copy as u32, &[], &mut |out| {
                        taken = reader.read(&chunk, out)?;
                        Ok(())
                    })?;
                    Ok(Done { value: taken, ..done })
                }
                (ask::WRITE, Operator::Writer(writer)) => {
                    let (form, batch) = take_batch(&mut parts)?;
                    emit(form, &[], &mut |out| writer.write(&batch, out))
                }
                _ => Err(Error::new(Code::Internal, "a call that the instance does not have")),
            }
        }
    }
}

/// Sink whose block is shared memory.
struct ChannelSink {
    channel: Arc<Channel>,
    form: u32,
}

impl Sink for ChannelSink {
    fn form(&self, _: bool, _: bool) -> Form {
        Form::from_abi(self.form)
    }

    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        Ok(self.channel.0.block())
    }

    fn filled(&mut self, len: usize, _: usize, _: &[u8]) -> Result<(*mut u8, usize)> {
        if len > 0 {
            self.channel.send_block(len);
        }
        self.begin()
    }

    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        self.channel.send(reply::LARGE, key.len() as u64, &[key, value].concat());
        self.begin()
    }
}

/// Named outputs of the engine.
struct RemoteOutputs(Arc<Channel>);

impl Outputs for RemoteOutputs {
    fn open(&self, _: &Arc<TaskContext>, name: &str, types: (Type, Type)) -> Result<Box<dyn NamedOutput>> {
        let target =
            RemoteTarget { channel: self.0.clone(), name: name.to_owned(), types, waiting: Vec::new(), bytes: 0 };
        // The engine knows whether the job has this output.
        target.send(reply::OUTPUT);
        Ok(Box::new(RemoteOutput(RecordSink::new(target)?)))
    }
}

/// Bytes of records that are sent at once.
const OUTPUT_BYTES: usize = 64 << 10;

struct RemoteTarget {
    channel: Arc<Channel>,
    name: String,
    types: (Type, Type),
    waiting: Vec<(Vec<u8>, Vec<u8>)>,
    bytes: usize,
}

impl RemoteTarget {
    fn send(&self, kind: u32) {
        let put = Put::default().text(&self.name).u32(self.types.0 as u32).u32(self.types.1 as u32);
        let put = put.list(self.waiting.iter(), |put, (key, value)| put.bytes(key).bytes(value));
        self.channel.send(kind, 0, &put.0);
    }
}

impl RecordTarget for RemoteTarget {
    fn append(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.bytes += key.len() + value.len();
        self.waiting.push((key.to_vec(), value.to_vec()));
        if self.bytes >= OUTPUT_BYTES {
            self.send(reply::OUTPUT);
            (self.waiting, self.bytes) = (Vec::new(), 0);
        }
        Ok(())
    }
}

struct RemoteOutput(RecordSink<RemoteTarget>);

impl Sink for RemoteOutput {
    fn begin(&mut self) -> Result<(*mut u8, usize)> {
        self.0.begin()
    }
    fn filled(&mut self, len: usize, need: usize, data: &[u8]) -> Result<(*mut u8, usize)> {
        self.0.filled(len, need, data)
    }
    fn large(&mut self, key: &[u8], value: &[u8]) -> Result<(*mut u8, usize)> {
        self.0.large(key, value)
    }
}

impl NamedOutput for RemoteOutput {
    fn close(&mut self) -> Result<()> {
        self.0.target_mut().send(reply::CLOSE);
        Ok(())
    }
}

//! Wrappers of the job's classes that note each call: the class that runs on this thread, and the input of its batch.
//!
//! A call handles a batch, or 64 states of a folder. A note writes three thread-local words. Rejected: notes in the
//! engine's adapters (`abi/`). They would be process state in a library that may run several jobs in a JVM.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::operator::{
    Batch, Chunk, Class, ClassInfo, ClassSource, FoldShape, Folder, Groups, KeyOrderer, Mapper, Out, Partitioner,
    Reader, Reducer, Scan, Source, SourceFile, TaskContext, Unit, Writer, folder::FoldValues,
};

use super::running::{self, Kind, Note};

/// Classes of a library, or the built-in classes.
pub struct WatchedSource {
    pub inner: Arc<dyn ClassSource>,
    /// True for a library, whose code may end the process. For built-in mappers only the input is noted, because later
    /// classes need it.
    pub foreign: bool,
}

impl ClassSource for WatchedSource {
    fn find(&self, name: &str) -> Option<Arc<dyn Class>> {
        let inner = self.inner.find(name)?;
        let note = self.foreign.then(|| running::intern(&inner.info().name, Kind::Class));
        Some(Arc::new(WatchedClass { inner, note }))
    }
    fn names(&self) -> Vec<String> {
        self.inner.names()
    }
}

/// Class with the note of its name.
struct WatchedClass<T> {
    inner: T,
    note: Option<&'static Note>,
}

/// Instance of a class. Dropping it is a noted call too.
struct Instance<T: ?Sized> {
    inner: Option<Box<T>>,
    note: Option<&'static Note>,
    inputs: Inputs,
}

/// Notes of a task's input files.
struct Inputs {
    context: Arc<TaskContext>,
    last: Option<(u32, Option<&'static Note>)>,
}

impl Inputs {
    fn enter(&mut self, file: u32, byte: u64) {
        let note = match self.last {
            Some((last, note)) if last == file => note,
            _ => {
                let name = self.context.job.inputs.get(file as usize);
                let name = name.map(|name| if name == "-" { "standard input" } else { name });
                name.map(|name| running::intern(name, Kind::Input))
            }
        };
        self.last = Some((file, note));
        running::set_input(note, byte);
    }
}

impl WatchedClass<Arc<dyn Class>> {
    fn instance<T: ?Sized>(
        &self,
        context: &Arc<TaskContext>,
        make: impl FnOnce(&dyn Class) -> Result<Box<T>>,
    ) -> Result<Instance<T>> {
        if context.is_reduce {
            // A worker runs the map phase and the reduces on the same thread.
            running::set_input(None, 0);
        }
        let _entered = self.note.map(running::enter);
        let inner = Some(make(&*self.inner)?);
        Ok(Instance { inner, note: self.note, inputs: Inputs { context: context.clone(), last: None } })
    }
}

impl<T: ?Sized> Instance<T> {
    #[inline]
    fn call<R>(&mut self, body: impl FnOnce(&mut T) -> R) -> R {
        let _entered = self.note.map(running::enter);
        body(self.inner.as_mut().expect("the instance exists until it is dropped"))
    }
}

impl<T: ?Sized> Drop for Instance<T> {
    fn drop(&mut self) {
        let _entered = self.note.map(running::enter);
        drop(self.inner.take());
    }
}

impl Class for WatchedClass<Arc<dyn Class>> {
    fn info(&self) -> &ClassInfo {
        self.inner.info()
    }
    fn mapper(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Mapper>> {
        Ok(Box::new(self.instance(context, |class| class.mapper(context))?))
    }
    fn reducer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Reducer>> {
        if self.note.is_none() {
            return self.inner.reducer(context);
        }
        Ok(Box::new(self.instance(context, |class| class.reducer(context))?))
    }
    fn folder(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Folder>> {
        if self.note.is_none() {
            return self.inner.folder(context);
        }
        Ok(Box::new(self.instance(context, |class| class.folder(context))?))
    }
    fn partitioner(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Partitioner>> {
        if self.note.is_none() {
            return self.inner.partitioner(context);
        }
        Ok(Box::new(self.instance(context, |class| class.partitioner(context))?))
    }
    fn key_orderer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn KeyOrderer>> {
        if self.note.is_none() {
            return self.inner.key_orderer(context);
        }
        Ok(Box::new(self.instance(context, |class| class.key_orderer(context))?))
    }
    fn reader(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Reader>> {
        Ok(Box::new(self.instance(context, |class| class.reader(context))?))
    }
    fn look_back(&self) -> u32 {
        self.inner.look_back()
    }
    fn source(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Source>> {
        Ok(Box::new(self.instance(context, |class| class.source(context))?))
    }
    fn writer(&self, context: &Arc<TaskContext>) -> Result<Box<dyn Writer>> {
        if self.note.is_none() {
            return self.inner.writer(context);
        }
        Ok(Box::new(self.instance(context, |class| class.writer(context))?))
    }
    fn extension(&self) -> &str {
        self.inner.extension()
    }
}

impl Mapper for Instance<dyn Mapper> {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        self.inputs.enter(batch.file_index(), batch.first_position());
        self.call(|mapper| mapper.map(batch, out))
    }
    fn flush(&mut self, out: &mut Out) -> Result<()> {
        self.call(|mapper| mapper.flush(out))
    }
}

impl Reducer for Instance<dyn Reducer> {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        self.call(|reducer| reducer.reduce(groups, out))
    }
    fn flush(&mut self, out: &mut Out) -> Result<()> {
        self.call(|reducer| reducer.flush(out))
    }
}

impl Folder for Instance<dyn Folder> {
    fn shape(&self) -> FoldShape {
        self.inner.as_ref().expect("the instance exists until it is dropped").shape()
    }
    fn init(&mut self, states: &[*mut u8]) -> Result<()> {
        self.call(|folder| folder.init(states))
    }
    fn fold(&mut self, states: &[*mut u8], values: FoldValues<'_>) -> Result<()> {
        self.call(|folder| folder.fold(states, values))
    }
    fn merge(&mut self, into: &[*mut u8], from: &[*const u8]) -> Result<()> {
        self.call(|folder| folder.merge(into, from))
    }
    fn finish(&mut self, keys: &[&[u8]], states: &[*const u8], out: &mut Out) -> Result<()> {
        running::set_input(None, 0);
        self.call(|folder| folder.finish(keys, states, out))
    }
}

impl Partitioner for Instance<dyn Partitioner> {
    fn partition(&mut self, batch: &Batch<'_>, parts: u32, part: &mut [u32]) -> Result<()> {
        self.call(|partitioner| partitioner.partition(batch, parts, part))
    }
}

impl KeyOrderer for Instance<dyn KeyOrderer> {
    fn order_keys(&mut self, batch: &Batch<'_>, out: &mut Out, group: &mut [u32]) -> Result<()> {
        self.call(|orderer| orderer.order_keys(batch, out, group))
    }
}

impl Reader for Instance<dyn Reader> {
    fn find(&mut self, chunk: &Chunk<'_>) -> Result<Option<u64>> {
        self.inputs.enter(chunk.file_index, chunk.position);
        self.call(|reader| reader.find(chunk))
    }
    fn read(&mut self, chunk: &Chunk<'_>, out: &mut Out) -> Result<u64> {
        self.inputs.enter(chunk.file_index, chunk.position);
        self.call(|reader| reader.read(chunk, out))
    }
}

impl Source for Instance<dyn Source> {
    fn plan(&mut self, file: &Arc<SourceFile>, scan: &Scan) -> Result<Vec<Unit>> {
        self.inputs.enter(file.index(), 0);
        self.call(|source| source.plan(file, scan))
    }
    fn open(&mut self, file: &Arc<SourceFile>, scan: &Scan, unit: u64) -> Result<()> {
        self.inputs.enter(file.index(), 0);
        self.call(|source| source.open(file, scan, unit))
    }
    fn next(&mut self, out: &mut Out) -> Result<bool> {
        self.call(|source| source.next(out))
    }
    fn describe(&mut self, file: &Arc<SourceFile>, out: &mut Out) -> Result<()> {
        self.inputs.enter(file.index(), 0);
        self.call(|source| source.describe(file, out))
    }
}

impl Writer for Instance<dyn Writer> {
    fn begin(&mut self, bytes: &mut Out) -> Result<()> {
        self.call(|writer| writer.begin(bytes))
    }
    fn write(&mut self, records: &Batch<'_>, bytes: &mut Out) -> Result<()> {
        self.call(|writer| writer.write(records, bytes))
    }
    fn end(&mut self, bytes: &mut Out) -> Result<()> {
        self.call(|writer| writer.end(bytes))
    }
}

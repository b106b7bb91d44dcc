//! Adapters: foreign instances as operators of the engine.
//! One of the listed files with `unsafe`: it calls functions of class libraries.

use std::ffi::c_void;
use std::sync::Arc;

use super::context::ForeignContext;
use super::layout::{
    CHUNK_FIRST, CHUNK_LAST, ClassTable, FIND_MORE, Flush, FolderTable, RawChunk, ReaderTable, Status, WriterTable,
};
use crate::operator::cursor::{Out, RawStr, STATUS_OK};
use crate::operator::folder::{FOLD_BATCH, FoldShape, FoldValues, KnownFold};
use crate::operator::{
    Batch, Chunk, Folder, Groups, KeyOrderer, Mapper, Partitioner, Reader, Reducer, TaskContext, Writer,
};
use yunti_base::{Code, Error, Result};

/// One instance of a foreign class.
pub struct Instance {
    name: Arc<str>,
    class: ClassTable,
    pub(super) this: *mut c_void,
    context: Box<ForeignContext>,
}

// SAFETY: the ABI lets an instance move between threads; one uses it at a time.
unsafe impl Send for Instance {}

impl Instance {
    /// Creates an instance of a class for a task. Fails with the class's own error.
    pub fn create(name: &Arc<str>, class: &ClassTable, task: &Arc<TaskContext>) -> Result<Instance> {
        let mut instance = Instance {
            name: name.clone(),
            class: *class,
            this: std::ptr::null_mut(),
            context: ForeignContext::new(task),
        };
        if let Some(create) = class.create {
            let mut this = std::ptr::null_mut();
            // SAFETY: the ABI: create gets a context that lives until destroy, and sets `this`.
            let status = unsafe { create(&instance.context.table, &mut this) };
            instance.check(status)?;
            instance.this = this;
        }
        Ok(instance)
    }

    pub(super) fn check(&mut self, status: Status) -> Result<()> {
        if status == STATUS_OK { Ok(()) } else { Err(self.context.failure(&self.name, status)) }
    }

    pub(super) fn lacks(&self, what: &str) -> Error {
        Error::new(Code::UserCode, format!("{} has no function {what}", self.name))
    }

    fn flush(&mut self, out: &mut Out) -> Result<()> {
        if let Some(flush) = self.class.flush {
            // SAFETY: the ABI; `out` is a live cursor in form COPY or the mapper's own form.
            let status = unsafe { flush(self.this, out) };
            self.check(status)?;
        }
        self.context.close_outputs()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let (Some(destroy), false) = (self.class.destroy, self.this.is_null()) {
            // SAFETY: created by the class's own create, and not used again.
            unsafe { destroy(self.this) };
        }
        self.context.settle();
    }
}

/// A mapper of a class library.
pub struct ForeignMapper(pub Instance);

impl Mapper for ForeignMapper {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let Some(map) = self.0.class.map else { return Err(self.0.lacks("map")) };
        // SAFETY: Batch has the layout of yt_batch; its slices live for the call.
        let status = unsafe { map(self.0.this, std::ptr::from_ref(batch).cast(), out) };
        self.0.check(status)
    }
    fn flush(&mut self, out: &mut Out) -> Result<()> {
        self.0.flush(out)
    }
}

/// A reducer or combiner of a class library.
pub struct ForeignReducer(pub Instance);

impl Reducer for ForeignReducer {
    fn reduce(&mut self, groups: &Groups<'_>, out: &mut Out) -> Result<()> {
        let Some(reduce) = self.0.class.reduce else { return Err(self.0.lacks("reduce")) };
        // SAFETY: Groups has the layout of yt_groups; its slices live for the call.
        let status = unsafe { reduce(self.0.this, std::ptr::from_ref(groups).cast(), out) };
        self.0.check(status)
    }
    fn flush(&mut self, out: &mut Out) -> Result<()> {
        self.0.flush(out)
    }
}

/// A partitioner of a class library.
pub struct ForeignPartitioner(pub Instance);

impl Partitioner for ForeignPartitioner {
    fn partition(&mut self, batch: &Batch<'_>, parts: u32, part: &mut [u32]) -> Result<()> {
        let Some(partition) = self.0.class.partition else { return Err(self.0.lacks("partition")) };
        assert!(part.len() >= batch.len());
        // SAFETY: as for the mapper; `part` has room for each record.
        let status = unsafe { partition(self.0.this, std::ptr::from_ref(batch).cast(), parts, part.as_mut_ptr()) };
        self.0.check(status)
    }
}

/// A key orderer of a class library.
pub struct ForeignKeyOrderer(pub Instance);

impl KeyOrderer for ForeignKeyOrderer {
    fn order_keys(&mut self, batch: &Batch<'_>, out: &mut Out, group: &mut [u32]) -> Result<()> {
        let Some(arrange) = self.0.class.arrange else { return Err(self.0.lacks("arrange")) };
        assert!(group.len() >= batch.len());
        // SAFETY: as for the mapper; `group` has room for each record.
        let status = unsafe { arrange(self.0.this, std::ptr::from_ref(batch).cast(), out, group.as_mut_ptr()) };
        self.0.check(status)
    }
}

/// A reader of a class library.
pub struct ForeignReader {
    /// The instance.
    pub instance: Instance,
    /// Functions of the reader.
    pub table: ReaderTable,
}

fn raw(chunk: &Chunk<'_>) -> RawChunk {
    RawChunk {
        size: size_of::<RawChunk>() as u32,
        flags: if chunk.first { CHUNK_FIRST } else { 0 } | if chunk.last { CHUNK_LAST } else { 0 },
        base: chunk.bytes.as_ptr(),
        bytes: chunk.bytes.len() as u64,
        limit: chunk.limit,
        position: chunk.position,
        file_index: chunk.file_index,
        before: chunk.before,
    }
}

impl Reader for ForeignReader {
    fn find(&mut self, chunk: &Chunk<'_>) -> Result<Option<u64>> {
        let Some(find) = self.table.find else { return Err(self.instance.lacks("find")) };
        let mut start = FIND_MORE;
        // SAFETY: the ABI; the chunk's bytes live for the call.
        let status = unsafe { find(self.instance.this, &raw(chunk), &mut start) };
        self.instance.check(status)?;
        Ok((start != FIND_MORE).then_some(start))
    }
    fn read(&mut self, chunk: &Chunk<'_>, out: &mut Out) -> Result<u64> {
        let Some(read) = self.table.read else { return Err(self.instance.lacks("read")) };
        let mut taken = 0;
        // SAFETY: as in `find`; `out` is a live cursor in form COPY.
        let status = unsafe { read(self.instance.this, &raw(chunk), out, &mut taken) };
        self.instance.check(status)?;
        Ok(taken)
    }
}

/// A writer of a class library.
pub struct ForeignWriter {
    /// The instance.
    pub instance: Instance,
    /// Functions of the writer.
    pub table: WriterTable,
}

// SAFETY: the table is constant data of a library that is never closed; the rest is Send.
unsafe impl Send for ForeignWriter {}

impl ForeignWriter {
    fn frame(&mut self, call: Option<Flush>, bytes: &mut Out) -> Result<()> {
        let Some(call) = call else { return Ok(()) };
        // SAFETY: the ABI; `bytes` is a live cursor in form BYTES.
        let status = unsafe { call(self.instance.this, bytes) };
        self.instance.check(status)
    }
}

impl Writer for ForeignWriter {
    fn begin(&mut self, bytes: &mut Out) -> Result<()> {
        self.frame(self.table.begin, bytes)
    }
    fn write(&mut self, records: &Batch<'_>, bytes: &mut Out) -> Result<()> {
        let Some(write) = self.table.write else { return Err(self.instance.lacks("write")) };
        // SAFETY: Batch has the layout of yt_batch; its slices live for the call.
        let status = unsafe { write(self.instance.this, std::ptr::from_ref(records).cast(), bytes) };
        self.instance.check(status)
    }
    fn end(&mut self, bytes: &mut Out) -> Result<()> {
        self.frame(self.table.end, bytes)
    }
}

/// A folder of a class library.
pub struct ForeignFolder {
    instance: Instance,
    table: FolderTable,
    shape: FoldShape,
    /// Byte strings for one call.
    strings: Vec<RawStr>,
}

// SAFETY: the strings are used within one call only; the rest is Send.
unsafe impl Send for ForeignFolder {}

impl ForeignFolder {
    /// Returns the folder of an instance.
    pub fn new(instance: Instance, table: FolderTable, shape: FoldShape) -> ForeignFolder {
        ForeignFolder { instance, table, shape, strings: Vec::new() }
    }
}

/// Returns the shape that a folder's table declares. Fails with `Code::UserCode` if it is invalid. `eight`: values have
/// eight bytes.
pub fn shape_of(name: &str, table: &FolderTable, eight: bool) -> Result<FoldShape> {
    let wrong = |what: &str| Err(Error::new(Code::UserCode, format!("the folder {name} {what}")));
    let known = match (table.known, KnownFold::from_abi(table.known)) {
        (0, _) => None,
        (_, None) => return wrong("names a known fold that this engine does not know"),
        (_, known) => known,
    };
    let state_bytes = if known.is_some() { 8 } else { table.state_size as usize };
    if !(1..=65_536).contains(&state_bytes) {
        return wrong("declares a state of 0 or over 65536 bytes");
    }
    if known.is_none()
        && (table.init.is_none() || table.fold.is_none() || table.merge.is_none() || table.finish.is_none())
    {
        return wrong("lacks init, fold, merge or finish");
    }
    let exact = if known.is_some() { known != Some(KnownFold::SumF64) } else { table.exact == 1 };
    Ok(FoldShape { state_bytes, known, exact, eight: eight || known.is_some() })
}

impl Folder for ForeignFolder {
    fn shape(&self) -> FoldShape {
        self.shape
    }

    fn init(&mut self, states: &[*mut u8]) -> Result<()> {
        let Some(init) = self.table.init else { return Err(self.instance.lacks("init")) };
        // SAFETY: the ABI; the states are the engine's and live for the call.
        let status = unsafe { init(self.instance.this, states.as_ptr(), states.len() as u32) };
        self.instance.check(status)
    }

    fn fold(&mut self, states: &[*mut u8], values: FoldValues<'_>) -> Result<()> {
        let Some(fold) = self.table.fold else { return Err(self.instance.lacks("fold")) };
        assert!(states.len() == values.len() && states.len() <= FOLD_BATCH);
        let (strings, numbers) = match values {
            FoldValues::Eight(numbers) => (std::ptr::null(), numbers.as_ptr()),
            FoldValues::Slices(slices) => {
                self.strings.clear();
                self.strings.extend(slices.iter().map(|s| RawStr::of(s)));
                (self.strings.as_ptr(), std::ptr::null())
            }
        };
        // SAFETY: as in `init`; as many values as states.
        let status = unsafe { fold(self.instance.this, states.as_ptr(), strings, numbers, states.len() as u32) };
        self.instance.check(status)
    }

    fn merge(&mut self, into: &[*mut u8], from: &[*const u8]) -> Result<()> {
        let Some(merge) = self.table.merge else { return Err(self.instance.lacks("merge")) };
        assert!(into.len() == from.len());
        // SAFETY: as in `init`.
        let status = unsafe { merge(self.instance.this, into.as_ptr(), from.as_ptr(), into.len() as u32) };
        self.instance.check(status)
    }

    fn finish(&mut self, keys: &[&[u8]], states: &[*const u8], out: &mut Out) -> Result<()> {
        assert!(keys.len() == states.len());
        let Some(finish) = self.table.finish else {
            for (key, state) in keys.iter().zip(states) {
                out.emit(key, crate::operator::folder::state_bytes(state, self.shape.state_bytes))?;
            }
            return Ok(());
        };
        self.strings.clear();
        self.strings.extend(keys.iter().map(|k| RawStr::of(k)));
        // SAFETY: as in `init`; `out` is a live cursor in form COPY.
        let status =
            unsafe { finish(self.instance.this, self.strings.as_ptr(), states.as_ptr(), states.len() as u32, out) };
        self.instance.check(status)
    }
}

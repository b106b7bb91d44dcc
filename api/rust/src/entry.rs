//! Entries: the functions that the engine calls.
//! One of the listed files with `unsafe`: it takes pointers of the engine and gives it some.
//!
//! Each entry turns its arguments into safe views and runs safe code behind `guard`: an error becomes its message in
//! the context, and a panic becomes an error. Nothing unwinds into the engine.

use std::any::Any as Payload;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Once};

use crate::class::Class;
use crate::class::file::{Scan, SourceFile};
use crate::class::folder::Folder;
use crate::class::key_order::{self, KeyOrder};
use crate::class::mapper::{Maps, promises};
use crate::class::partitioner::{self, Partitioner};
use crate::class::reader::{Chunk, Reader};
use crate::class::reducer::{Folding, Reduces, key_of, reduce};
use crate::class::source::Source;
use crate::class::writer::{self, Writer};
use crate::context::{Context, Task};
use crate::cursor::Cursor;
use crate::error::{Error, Result, fail};
use crate::layout::*;
use crate::out::{Copied, Form, Ones, Out, References, Sink};
use crate::state::State;
use crate::types::{Bytes, Type};

/// Target of `self`: the user's object, and the engine's side of it.
struct Instance<T> {
    task: Arc<Task>,
    object: T,
}

thread_local! {
    /// True while an entry runs on this thread.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// Place of the last panic of this thread.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}
static HOOK: Once = Once::new();

/// Keeps the place of a panic for the message, in place of the lines that Rust prints. This library has a standard
/// library of its own, so the hook is its own too.
fn keep_places_of_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !INSIDE.get() {
            return before(panic);
        }
        if let Some(place) = panic.location() {
            PLACE.with_borrow_mut(|kept| *kept = place.to_string());
        }
    }));
}

/// Runs user code, and returns a status for the engine.
fn guard(task: &Task, call: impl FnOnce() -> Result<()>) -> i32 {
    let _call = task.enter();
    let outer = INSIDE.replace(true);
    let done = catch_unwind(AssertUnwindSafe(call));
    INSIDE.set(outer);
    match done {
        Ok(Ok(())) => OK,
        Ok(Err(error)) => task.report(error.reason()),
        Err(panic) => task.report(panicked(panic).reason()),
    }
}

#[cold]
fn panicked(payload: Box<dyn Payload + Send>) -> Error {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text.as_str(),
        _ => "a value that is no text",
    };
    let error = Error::new(format!("panicked at {}: {text}", PLACE.with_borrow(|place| place.clone())));
    // A payload of user code may panic in its own drop.
    std::mem::forget(payload);
    error
}

/// Ends the process if a context, a counter or an output outlives its object: it would lead to freed memory.
fn check_alone(task: &Arc<Task>) {
    if Arc::strong_count(task) > 1 {
        eprintln!("yunti-api: a Context, Counter or NamedOutput outlived the object that it was made for");
        std::process::abort();
    }
}

unsafe extern "C" fn create<T: Class>(raw: *const RawContext, this: *mut *mut c_void) -> i32 {
    HOOK.call_once(keep_places_of_panics);
    // SAFETY: the ABI: the context lives until destroy() has returned.
    let task = unsafe { Task::new(read(raw)) };
    let mut object = None;
    let status = guard(&task, || {
        object = Some(T::create(&Context::new(task.clone()))?);
        Ok(())
    });
    match object {
        // SAFETY: the ABI: `this` may be written.
        Some(object) => unsafe { *this = Box::into_raw(Box::new(Instance { task, object })).cast() },
        None => check_alone(&task),
    }
    status
}

unsafe extern "C" fn destroy<T: Class>(this: *mut c_void) {
    // SAFETY: the ABI: create() made it, and nothing uses it any more.
    let Instance { task, object } = *unsafe { Box::from_raw(this.cast::<Instance<T>>()) };
    guard(&task, || {
        drop(object);
        Ok(())
    });
    check_alone(&task);
}

/// Runs `call` with the object behind `this`.
///
/// # Safety
/// create::<T> made `this`, and no other call uses it.
unsafe fn with<T: Class>(this: *mut c_void, call: impl FnOnce(&mut T, &Arc<Task>) -> Result<()>) -> i32 {
    // SAFETY: as the caller promises.
    let Instance { task, object } = unsafe { &mut *this.cast::<Instance<T>>() };
    guard(task, || call(object, task))
}

/// Returns an output at a cursor of the engine.
///
/// # Safety
/// The ABI: nothing else uses the cursor for 'a.
unsafe fn output<'a, K: Type, V: Type, F: Form>(raw: *mut RawOut, task: &Task) -> Out<'a, K, V, F> {
    // SAFETY: as the caller promises.
    Out::new(unsafe { Cursor::of(raw) }, task.edges())
}

pub(crate) unsafe extern "C" fn map<M: Maps>(this: *mut c_void, batch: *const RawBatch, raw: *mut RawOut) -> i32 {
    // SAFETY: the ABI: arguments of this class's map(), which live for the call. The batch has slack.
    unsafe {
        with::<M::Object>(this, |object, task| {
            let batch = Batch::of(batch);
            let form = (*raw).form;
            match (promises::<M>(), form) {
                ((_, true), FORM_ONE) => map_as::<M, Ones>(object, &batch, output(raw, task)),
                ((true, _), FORM_REF) => map_as::<M, References>(object, &batch, output(raw, task)),
                (_, FORM_COPY) => map_as::<M, Copied>(object, &batch, output(raw, task)),
                _ => fail("the engine requests a form of records that the mapper cannot emit"),
            }
        })
    }
}

/// # Safety
/// The batch is the engine's, with slack behind it.
unsafe fn map_as<M: Maps, F: Form>(
    object: &mut M::Object,
    batch: &Batch<'_>,
    mut out: Out<'_, M::Key, M::Value, F>,
) -> Result<()> {
    // SAFETY: as the caller promises.
    unsafe { out.cursor().set_input(batch.data()) };
    M::map(object, batch, &mut out)?;
    out.cursor().commit();
    Ok(())
}

pub(crate) unsafe extern "C" fn flush_mapper<M: Maps>(this: *mut c_void, raw: *mut RawOut) -> i32 {
    // SAFETY: the ABI: arguments of this class's flush().
    unsafe {
        with::<M::Object>(this, |object, task| {
            let mut out = output(raw, task);
            M::flush(object, &mut out)?;
            out.cursor().commit();
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn reduce_groups<R: Reduces>(
    this: *mut c_void,
    groups: *const RawGroups,
    raw: *mut RawOut,
) -> i32 {
    // SAFETY: the ABI: arguments of this class's reduce(), which live for the call. Keys have slack.
    unsafe {
        with::<R>(this, |object, task| {
            let mut out = output(raw, task);
            reduce(object, &Groups::of(groups), &mut out, |out, key| out.cursor().set_input(key))?;
            out.cursor().commit();
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn flush_reducer<R: Reduces>(this: *mut c_void, raw: *mut RawOut) -> i32 {
    // SAFETY: as in flush_mapper.
    unsafe {
        with::<R>(this, |object, task| {
            let mut out = output(raw, task);
            object.flush(&mut out)?;
            out.cursor().commit();
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn partition<P: Partitioner>(
    this: *mut c_void,
    batch: *const RawBatch,
    parts: u32,
    to: *mut u32,
) -> i32 {
    // SAFETY: the ABI: arguments of this class's partition(); `to` has a number for each record.
    unsafe {
        with::<P>(this, |object, _| {
            let batch = Batch::of(batch);
            let to = if batch.len() == 0 { &mut [] } else { std::slice::from_raw_parts_mut(to, batch.len()) };
            partitioner::partition(object, &batch, parts, to)
        })
    }
}

pub(crate) unsafe extern "C" fn arrange<O: KeyOrder>(
    this: *mut c_void,
    batch: *const RawBatch,
    raw: *mut RawOut,
    group: *mut u32,
) -> i32 {
    // SAFETY: the ABI: arguments of this class's arrange(); `group` has a number for each record.
    unsafe {
        with::<O>(this, |object, task| {
            let batch = Batch::of(batch);
            let group = if batch.len() == 0 { &mut [] } else { std::slice::from_raw_parts_mut(group, batch.len()) };
            let mut out = output::<Bytes, (), Copied>(raw, task);
            key_order::arrange(object, &batch, &mut out, group)?;
            out.cursor().commit();
            Ok(())
        })
    }
}

/// # Safety
/// As for `layout::chunk`.
unsafe fn chunk_of<'a>(raw: *const RawChunk) -> Chunk<'a> {
    // SAFETY: as the caller promises.
    let (bytes, is_first, is_last, [limit, position], [file_index, before]) = unsafe { chunk(raw) };
    Chunk { bytes, limit, position, file_index, cut: before as usize, is_first, is_last }
}

pub(crate) unsafe extern "C" fn find<R: Reader>(this: *mut c_void, raw: *const RawChunk, start: *mut u64) -> i32 {
    // SAFETY: the ABI: arguments of this class's find(), which live for the call.
    unsafe {
        with::<R>(this, |object, _| {
            *start = object.find(chunk_of(raw))?.map_or(FIND_MORE, |at| at as u64);
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn read_records<R: Reader>(
    this: *mut c_void,
    raw: *const RawChunk,
    out: *mut RawOut,
    taken: *mut u64,
) -> i32 {
    // SAFETY: the ABI: arguments of this class's read(), which live for the call. The chunk has slack.
    unsafe {
        with::<R>(this, |object, task| {
            let chunk = chunk_of(raw);
            let mut out = output(out, task);
            out.cursor().set_input(chunk.bytes);
            *taken = object.read(chunk, &mut out)? as u64;
            out.cursor().commit();
            Ok(())
        })
    }
}

/// # Safety
/// The ABI: arguments of a function of a writer that create::<W> made.
unsafe fn with_sink<W: Writer>(
    this: *mut c_void,
    raw: *mut RawOut,
    call: impl FnOnce(&mut W, &mut Sink<'_>) -> Result<()>,
) -> i32 {
    // SAFETY: as the caller promises.
    unsafe {
        with::<W>(this, |object, _| {
            let mut sink = Sink::new(Cursor::of(raw));
            call(object, &mut sink)?;
            sink.commit();
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn begin_part<W: Writer>(this: *mut c_void, raw: *mut RawOut) -> i32 {
    // SAFETY: the ABI.
    unsafe { with_sink::<W>(this, raw, |writer, out| writer.begin(out)) }
}

pub(crate) unsafe extern "C" fn end_part<W: Writer>(this: *mut c_void, raw: *mut RawOut) -> i32 {
    // SAFETY: the ABI.
    unsafe { with_sink::<W>(this, raw, |writer, out| writer.end(out)) }
}

pub(crate) unsafe extern "C" fn write_records<W: Writer>(
    this: *mut c_void,
    batch: *const RawBatch,
    raw: *mut RawOut,
) -> i32 {
    // SAFETY: the ABI; the batch lives for the call.
    unsafe { with_sink::<W>(this, raw, |writer, out| writer::write(writer, &Batch::of(batch), out)) }
}

pub(crate) unsafe extern "C" fn plan_units<S: Source>(
    this: *mut c_void,
    file: *const RawFile,
    scan: *const RawScan,
    units: *const RawUnits,
) -> i32 {
    // SAFETY: the ABI: arguments of this class's plan(), which live for the call; the file lives as long as the object.
    unsafe {
        with::<S>(this, |object, task| {
            let to = units.read_unaligned();
            for unit in object.plan(&SourceFile::new(file, task), &Scan::of(scan))? {
                if (to.add)(to.engine, &unit) != OK {
                    return fail("the file has more units than the engine takes");
                }
            }
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn open_unit<S: Source>(
    this: *mut c_void,
    file: *const RawFile,
    scan: *const RawScan,
    unit: u64,
) -> i32 {
    // SAFETY: as in plan_units.
    unsafe { with::<S>(this, |object, task| object.open(&SourceFile::new(file, task), &Scan::of(scan), unit)) }
}

pub(crate) unsafe extern "C" fn next_records<S: Source>(this: *mut c_void, raw: *mut RawOut, more: *mut u32) -> i32 {
    // SAFETY: the ABI: arguments of this class's next().
    unsafe {
        with::<S>(this, |object, task| {
            let mut out = output(raw, task);
            *more = u32::from(object.next(&mut out)?);
            out.cursor().commit();
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn describe_file<S: Source>(
    this: *mut c_void,
    file: *const RawFile,
    raw: *mut RawOut,
) -> i32 {
    // SAFETY: as in plan_units.
    unsafe {
        with::<S>(this, |object, task| {
            let mut sink = Sink::new(Cursor::of(raw));
            object.describe(&SourceFile::new(file, task), &mut sink)?;
            sink.commit();
            Ok(())
        })
    }
}

/// A class that is a folder, or has one.
pub(crate) trait HasFolder<F: Folder>: Class {
    fn folder(&mut self) -> &mut F;
}
/// Object of a class that is a folder alone.
pub(crate) struct Alone<F>(F);
impl<F: Folder> Class for Alone<F> {
    fn create(context: &Context) -> Result<Self> {
        Ok(Alone(F::create(context)?))
    }
}
impl<F: Folder> HasFolder<F> for Alone<F> {
    fn folder(&mut self) -> &mut F {
        &mut self.0
    }
}
impl<F: Folder> HasFolder<F> for Folding<F> {
    fn folder(&mut self) -> &mut F {
        &mut self.folder
    }
}

/// Bytes of a state up to which it is copied to registers and back.
const SMALL_STATE: usize = 64;

/// Calls `call` with the state at p, which need not be aligned.
///
/// # Safety
/// p leads to a state of type S that nothing else uses.
#[inline(always)]
unsafe fn with_state<S: State, R>(p: *mut c_void, call: impl FnOnce(&mut S) -> R) -> R {
    let p = p.cast::<S>();
    // SAFETY: as the caller promises; a State is plain data.
    unsafe {
        if size_of::<S>() > SMALL_STATE && p.is_aligned() {
            return call(&mut *p);
        }
        let mut state = p.read_unaligned();
        let result = call(&mut state);
        p.write_unaligned(state);
        result
    }
}

pub(crate) unsafe extern "C" fn init_states<F: Folder, H: HasFolder<F>>(
    this: *mut c_void,
    states: *const *mut c_void,
    n: u32,
) -> i32 {
    // SAFETY: the ABI: n places of state_size bytes.
    unsafe {
        with::<H>(this, |object, _| {
            for &state in slice(states, n as usize) {
                // Zeros between fields make the bytes of a state depend on its fields alone.
                state.cast::<F::State>().write_bytes(0, 1);
                state.cast::<F::State>().write_unaligned(object.folder().init());
            }
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn fold_values<F: Folder, H: HasFolder<F>>(
    this: *mut c_void,
    states: *const *mut c_void,
    values: *const RawStr,
    numbers: *const u64,
    n: u32,
) -> i32 {
    // SAFETY: the ABI: n states, and n values in one of the two columns or in none.
    unsafe {
        with::<H>(this, |object, _| {
            let (values, numbers) = (slice(values, n as usize), slice(numbers, n as usize));
            for (i, &state) in slice(states, n as usize).iter().enumerate() {
                let bytes = match (numbers.get(i), values.get(i)) {
                    (Some(number), _) => slice(std::ptr::from_ref(number).cast(), 8),
                    (None, Some(value)) if F::InValue::BYTES != 8 => slice(value.p, value.n as usize),
                    (None, Some(_)) => return wrong_value(),
                    (None, None) => &[],
                };
                let Some(value) = F::InValue::decode(bytes) else { return wrong_value() };
                with_state(state, |state| object.folder().fold(state, value))?;
            }
            Ok(())
        })
    }
}

#[cold]
fn wrong_value() -> Result<()> {
    fail("the folder's values differ in length from the mapper's: declare the same value type in both")
}

pub(crate) unsafe extern "C" fn merge_states<F: Folder, H: HasFolder<F>>(
    this: *mut c_void,
    into: *const *mut c_void,
    from: *const *const c_void,
    n: u32,
) -> i32 {
    // SAFETY: the ABI: n states on both sides; those of `from` are not written, and no state is on both sides.
    unsafe {
        with::<H>(this, |object, _| {
            for (&into, &from) in slice(into, n as usize).iter().zip(slice(from, n as usize)) {
                let other = from.cast::<F::State>().read_unaligned();
                with_state(into, |state| object.folder().merge(state, &other))?;
            }
            Ok(())
        })
    }
}

pub(crate) unsafe extern "C" fn finish_states<F: Folder, H: HasFolder<F>>(
    this: *mut c_void,
    keys: *const RawStr,
    states: *const *const c_void,
    n: u32,
    raw: *mut RawOut,
) -> i32 {
    // SAFETY: the ABI: n keys with slack, n states that are not written.
    unsafe {
        with::<H>(this, |object, task| {
            let mut out = output(raw, task);
            for (key, &state) in slice(keys, n as usize).iter().zip(slice(states, n as usize)) {
                let key = slice(key.p, key.n as usize);
                out.cursor().set_input(key);
                let state = state.cast::<F::State>().read_unaligned();
                object.folder().finish(key_of::<F::Key>(key)?, &state, &mut out)?;
            }
            out.cursor().commit();
            Ok(())
        })
    }
}

/// Entry of a class in the table of its library.
#[repr(transparent)]
pub struct Entry(RawClass);

// SAFETY: a constant table of constants.
unsafe impl Sync for Entry {}

impl Entry {
    pub(crate) const fn new(class: RawClass) -> Entry {
        Entry(class)
    }
    pub(crate) const fn raw(&self) -> *const RawClass {
        &self.0
    }
    pub(crate) const fn name(&self) -> &CStr {
        // SAFETY: `entry` set it from a CStr that lives for ever.
        unsafe { CStr::from_ptr(self.0.name) }
    }
}

pub(crate) const fn entry<T: Class>(kind: u32, name: &'static CStr) -> RawClass {
    RawClass {
        size: size_of::<RawClass>() as u32,
        kind,
        name: name.as_ptr(),
        flags: 0,
        key_type: 0,
        value_type: 0,
        in_value_type: 0,
        create: Some(create::<T>),
        destroy: Some(destroy::<T>),
        map: None,
        reduce: None,
        partition: None,
        folder: std::ptr::null(),
        flush: None,
        reader: std::ptr::null(),
        writer: std::ptr::null(),
        arrange: None,
        source: std::ptr::null(),
        function: std::ptr::null(),
        aggregate: std::ptr::null(),
    }
}

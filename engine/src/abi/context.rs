//! The context of a foreign instance: settings, counters, messages, named outputs.
//! One of the listed files with `unsafe`: it is reached through a `void *`.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::layout::{ABI_MINOR, Context, STATUS_DAMAGED, STATUS_UNSUPPORTED};
use crate::bytes::masks;
use crate::operator::context::NamedOutput;
use crate::operator::cursor::{Out, RawStr};
use crate::operator::{Emitter, TaskContext, Type};
use yunti_base::{Code, Error, Result};

/// Context of one foreign instance; it lives as long as the instance, at one address.
pub struct ForeignContext {
    /// Functions and values that the instance sees.
    pub table: Context,
    state: Box<State>,
}

struct State {
    task: Arc<TaskContext>,
    /// Counter slots of the instance; added to the task's counters when the instance is destroyed.
    counters: BTreeMap<(String, String), Box<u64>>,
    error: Option<String>,
    /// Open named outputs; the instance holds their cursors.
    outputs: BTreeMap<String, Box<Emitter<Box<dyn NamedOutput>>>>,
    /// First error of opening an output.
    refused: Option<Error>,
}

impl ForeignContext {
    /// Returns the context of a new instance in `task`.
    pub fn new(task: &Arc<TaskContext>) -> Box<ForeignContext> {
        let mut state = Box::new(State {
            task: task.clone(),
            counters: BTreeMap::new(),
            error: None,
            outputs: BTreeMap::new(),
            refused: None,
        });
        let engine: *mut State = &mut *state;
        let table = Context {
            size: size_of::<Context>() as u32,
            abi_minor: ABI_MINOR,
            engine: engine.cast(),
            config,
            counter,
            error,
            status,
            mask_any: mask,
            is_reduce: task.is_reduce as u32,
            task: task.task,
            partitions: task.partitions,
            pad: 0,
            edges,
            side_file,
            input,
            output,
            reserved: [0; 4],
        };
        Box::new(ForeignContext { table, state })
    }

    /// Returns the error of a call that failed with `status`, with the instance's message.
    pub fn failure(&mut self, class: &str, status: i32) -> Error {
        if let Some(refused) = self.refused() {
            return refused.within(class);
        }
        let said = self.state.error.take();
        match (status, said) {
            (crate::operator::cursor::STATUS_STOP, None) => Error::new(Code::Cancelled, "the task was stopped"),
            (crate::operator::cursor::STATUS_NOMEM, None) => {
                Error::new(Code::UserCode, format!("{class}: an allocation of the class failed"))
            }
            (STATUS_DAMAGED, Some(text)) => Error::new(Code::Corrupt, text).hint("copy the file again"),
            (STATUS_UNSUPPORTED, Some(text)) => Error::new(Code::Input, text),
            (_, Some(text)) => Error::new(Code::UserCode, format!("{class}: {text}")),
            (status, None) => Error::new(Code::UserCode, format!("{class} failed with status {status} and no message")),
        }
    }

    /// Writes the instance's named outputs. Fails with the first error of an output, even if the instance ignored it.
    pub fn close_outputs(&mut self) -> Result<()> {
        if let Some(refused) = self.refused() {
            return Err(refused);
        }
        for output in self.state.outputs.values_mut() {
            output.hand_over()?;
            output.sink_mut().close()?;
        }
        Ok(())
    }

    fn refused(&mut self) -> Option<Error> {
        let State { refused, outputs, .. } = &mut *self.state;
        refused.take().or_else(|| outputs.values_mut().find_map(|output| output.refused()))
    }

    /// Adds the instance's counters to the task's counters.
    pub fn settle(&mut self) {
        let mut counters = self.state.task.counters.lock().unwrap_or_else(|e| e.into_inner());
        for (name, slot) in &mut self.state.counters {
            *counters.entry(name.clone()).or_insert(0) += std::mem::take(&mut **slot);
        }
    }
}

// SAFETY: the pointers in the table lead to the box that this value owns; one thread uses an instance at a time.
unsafe impl Send for ForeignContext {}

/// # Safety
/// `engine` is the pointer that `new` made, and the ForeignContext lives.
unsafe fn state<'a>(engine: *mut c_void) -> &'a mut State {
    // SAFETY: as the caller promises; calls of one instance do not overlap.
    unsafe { &mut *engine.cast::<State>() }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

unsafe extern "C" fn config(engine: *mut c_void, key: RawStr) -> RawStr {
    // SAFETY: the ABI: `engine` is the context's, `key` a string of the caller's.
    let (state, key) = unsafe { (state(engine), key.bytes()) };
    match std::str::from_utf8(key).ok().and_then(|k| state.task.setting(k)) {
        // The settings outlive the instance.
        Some(value) => RawStr::of(value.as_bytes()),
        None => RawStr { p: std::ptr::null(), n: 0 },
    }
}

unsafe extern "C" fn counter(engine: *mut c_void, group: RawStr, name: RawStr) -> *mut u64 {
    // SAFETY: as in `config`.
    let (state, group, name) = unsafe { (state(engine), group.bytes(), name.bytes()) };
    &mut **state.counters.entry((text(group), text(name))).or_default()
}

unsafe extern "C" fn error(engine: *mut c_void, message: RawStr) {
    // SAFETY: as in `config`.
    let (state, message) = unsafe { (state(engine), message.bytes()) };
    // The first message is the cause.
    state.error.get_or_insert_with(|| text(message));
}

unsafe extern "C" fn status(engine: *mut c_void, message: RawStr) {
    // SAFETY: as in `config`.
    let (state, message) = unsafe { (state(engine), message.bytes()) };
    *state.task.status.lock().unwrap_or_else(|e| e.into_inner()) = Some(text(message));
}

unsafe extern "C" fn side_file(engine: *mut c_void, name: RawStr) -> RawStr {
    // SAFETY: as in `config`.
    let (state, name) = unsafe { (state(engine), name.bytes()) };
    match std::str::from_utf8(name).ok().and_then(|name| state.task.job.side_files.get(name)) {
        // The job outlives the instance. An empty vector's pointer is not null.
        Some(bytes) => RawStr::of(bytes),
        None => RawStr { p: std::ptr::null(), n: 0 },
    }
}

unsafe extern "C" fn input(engine: *mut c_void, file: u32) -> RawStr {
    // SAFETY: as in `config`.
    let state = unsafe { state(engine) };
    match state.task.job.inputs.get(file as usize) {
        Some(name) => RawStr::of(name.as_bytes()),
        None => RawStr { p: std::ptr::null(), n: 0 },
    }
}

unsafe extern "C" fn output(engine: *mut c_void, name: RawStr, key_type: u32, value_type: u32) -> *mut Out {
    // SAFETY: as in `config`.
    let (state, name) = unsafe { (state(engine), text(name.bytes())) };
    if let Some(open) = state.outputs.get_mut(&name) {
        return open.open();
    }
    let opened = catch_unwind(AssertUnwindSafe(|| {
        let (Some(key), Some(value)) = (Type::from_abi(key_type), Type::from_abi(value_type)) else {
            return Err(Error::new(Code::UserCode, format!("the output {name} was requested with an unknown type")));
        };
        state.task.output(&name, (key, value))
    }));
    match opened.unwrap_or_else(|panic| Err(yunti_base::error::of_panic(&*panic))) {
        Ok(emitter) => state.outputs.entry(name).or_insert(Box::new(emitter)).open(),
        Err(error) => {
            state.refused.get_or_insert(error);
            std::ptr::null_mut()
        }
    }
}

unsafe extern "C" fn mask(p: *const u8, n: u64, set: *const u8, set_n: u32, bits: *mut u64) {
    if n == 0 {
        return;
    }
    // SAFETY: the ABI: n bytes at p, set_n (at most 8) at set, ceil(n / 64) words at bits.
    unsafe {
        let bytes = std::slice::from_raw_parts(p, n as usize);
        let set = std::slice::from_raw_parts(set, (set_n as usize).min(masks::SET_MAX));
        masks::mask_any(bytes, set, std::slice::from_raw_parts_mut(bits, bytes.len().div_ceil(64)));
    }
}

unsafe extern "C" fn edges(
    p: *const u8,
    n: u64,
    set: *const u8,
    set_n: u32,
    base: u32,
    before: *mut u32,
    to: *mut u32,
) -> u64 {
    if n == 0 {
        return 0;
    }
    // SAFETY: the ABI: n bytes at p, set_n (at most 8) at set, one number at before, n + 64 numbers at `to`. The
    // numbers at `to` are only written, so they need no initial value.
    unsafe {
        let bytes = std::slice::from_raw_parts(p, n as usize);
        let set = std::slice::from_raw_parts(set, (set_n as usize).min(masks::SET_MAX));
        let to = std::slice::from_raw_parts_mut(to, bytes.len() + masks::EDGES_SLACK);
        let mut inside = *before != 0;
        let found = masks::edges(bytes, set, base, &mut inside, to);
        *before = u32::from(inside);
        found as u64
    }
}

//! Programs of `bpf/`: loading for one process, ring buffers and accounts.

pub mod tracepoint;

use std::cell::RefCell;
use std::os::fd::RawFd;
use std::rc::Rc;

use libbpf_rs::{
    Link, Map, MapCore, MapFlags, MapImpl, Object, ObjectBuilder, ProgramMut, RingBuffer, RingBufferBuilder, UprobeOpts,
};
use yunti_base::{Code, Error, Result};

use crate::code::Function;
use crate::target::Process;

/// Constants of a program.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// Process to measure; 0 for all but this one.
    pub pid: u32,
    /// True for a JVM, whose threads get SIGPROF; false requests stacks through a perf event.
    pub stacks_by_signal: bool,
    /// Stacks a second, at most.
    pub stacks_a_second_max: u32,
    /// True if gates decide what is recorded.
    pub has_gates: bool,
}

/// Events that were not recorded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// Events that did not fit into the ring buffer.
    pub lost: u64,
    /// Stacks omitted by the limit a second.
    pub stacks_dropped: u64,
}

/// Records of a ring buffer, as bytes.
pub type Records = Rc<RefCell<Vec<Vec<u8>>>>;

/// The initial PID namespace, PROC_PID_INIT_INO.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// Loads the programs `wanted` of an object for one process. Fails with the reason in one line if the kernel or the
/// rights do not suffice.
pub fn load(image: &[u8], settings: Settings, wanted: &[&str]) -> Result<Object> {
    first_namespace()?;
    let words = [
        settings.pid,
        settings.stacks_by_signal.into(),
        settings.stacks_a_second_max,
        settings.has_gates.into(),
        std::process::id(),
    ];
    let watched = if settings.pid == 0 { "the machine".to_owned() } else { format!("process {}", settings.pid) };
    load_for(image, &watched, &words, wanted)
}

/// Fails outside the initial PID namespace, because programs use the kernel's own process numbers.
pub fn first_namespace() -> Result<()> {
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    if namespace.to_string_lossy() == FIRST_NAMESPACE {
        return Ok(());
    }
    let error = Error::new(Code::Input, "this container does not know the kernel's own process numbers");
    Err(error.hint("run it outside, on the host"))
}

/// Loads the programs `wanted` of an object. `watched`: the target, for error messages; `settings`: the object's
/// constants.
pub fn load_for(image: &[u8], watched: &str, settings: &[u32], wanted: &[&str]) -> Result<Object> {
    let failed = |e: &libbpf_rs::Error| refused(watched, e);
    libbpf_rs::set_print(None);
    let mut open = ObjectBuilder::default().open_memory(image).map_err(|e| failed(&e))?;
    for mut map in open.maps_mut() {
        if !settings.is_empty() && map.name().to_string_lossy().ends_with(".rodata") {
            let bytes: Vec<u8> = settings.iter().flat_map(|word| word.to_le_bytes()).collect();
            map.set_initial_value(&bytes).map_err(|e| failed(&e))?;
        }
    }
    for mut program in open.progs_mut() {
        let is_wanted = wanted.iter().any(|name| program.name() == *name);
        program.set_autoload(is_wanted);
    }
    open.load().map_err(|e| failed(&e))
}

fn refused(watched: &str, error: &libbpf_rs::Error) -> Error {
    let text = error.to_string();
    let refusal = Error::new(Code::Input, format!("{watched} cannot be watched by the kernel: {text}"));
    match error.kind() {
        libbpf_rs::ErrorKind::PermissionDenied => refusal.hint("run as root"),
        _ => refusal.hint("Linux 5.15 or later with BPF and its types (CONFIG_DEBUG_INFO_BTF) is needed"),
    }
}

/// Returns a program of the object.
pub fn program<'o>(object: &'o Object, name: &str) -> Result<ProgramMut<'o>> {
    object
        .progs_mut()
        .find(|program| program.name() == name)
        .ok_or_else(|| Error::new(Code::Internal, format!("bpf/ has no program {name}")))
}

/// Returns a map of the object.
pub fn map<'o>(object: &'o Object, name: &str) -> Result<Map<'o>> {
    object
        .maps()
        .find(|map| map.name() == name)
        .ok_or_else(|| Error::new(Code::Internal, format!("bpf/ has no map {name}")))
}

/// Returns the link, or an error that names `what`, or the end of the process.
pub fn attached<'p, T>(what: &str, process: impl Into<Option<&'p Process>>, link: libbpf_rs::Result<T>) -> Result<T> {
    link.map_err(|e| match process.into() {
        Some(process) if !process.is_alive() => process.has_ended(),
        _ => Error::new(Code::Input, format!("{what} cannot be watched: {e}")),
    })
}

/// Attaches a uprobe at an offset in a function's file.
pub fn uprobe(
    object: &Object,
    name: &str,
    process: &Process,
    function: &Function,
    offset: u64,
    cookie: u64,
) -> Result<Link> {
    let opts = UprobeOpts { cookie, ..UprobeOpts::default() };
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    let link = program(object, name)?.attach_uprobe_with_opts(process.pid as i32, &function.path, offset, opts);
    attached(&format!("{} of {}", function.name, function.file), process, link)
}

/// Returns a ring buffer, and the records that each `consume` of it appends.
pub fn ring(object: &Object, name: &str) -> Result<(RingBuffer<'static>, Records)> {
    let failed = |e: libbpf_rs::Error| Error::new(Code::Internal, format!("the ring {name}: {e}"));
    let records = Records::default();
    let to = records.clone();
    let map = map(object, name)?;
    let mut builder = RingBufferBuilder::new();
    builder
        .add(&map, move |bytes| {
            to.borrow_mut().push(bytes.to_vec());
            0
        })
        .map_err(failed)?;
    Ok((builder.build().map_err(failed)?, records))
}

/// Returns the account of the programs.
pub fn account(object: &Object) -> Account {
    let all = lookup(object, "accounts", &0u32.to_le_bytes());
    Account { lost: word(&all, 0), stacks_dropped: word(&all, 1) }
}

/// Returns a value of a map, or no bytes.
pub fn lookup(object: &Object, name: &str, key: &[u8]) -> Vec<u8> {
    map(object, name).ok().and_then(|map| map.lookup(key, MapFlags::ANY).ok().flatten()).unwrap_or_default()
}

/// Writes a value of a map.
pub fn put(object: &Object, name: &str, key: &[u8], value: &[u8]) -> Result<()> {
    let put = map(object, name)?.update(key, value, MapFlags::ANY);
    put.map_err(|e| Error::new(Code::Internal, format!("the map {name}: {e}")))
}

/// Writes descriptors to a map by processor.
pub fn put_descriptors(object: &Object, name: &str, of_processor: &[(usize, RawFd)]) -> Result<()> {
    of_processor
        .iter()
        .try_for_each(|(processor, fd)| put(object, name, &(*processor as u32).to_le_bytes(), &fd.to_le_bytes()))
}

/// Returns all values of a map.
pub fn values<T>(map: &MapImpl<'_, T>) -> Vec<Vec<u8>>
where
    for<'m> MapImpl<'m, T>: MapCore,
{
    map.keys().filter_map(|key| map.lookup(&key, MapFlags::ANY).ok().flatten()).collect()
}

/// Returns all keys and values of a map.
pub fn values_by_key<T>(map: &MapImpl<'_, T>) -> Vec<(Vec<u8>, Vec<u8>)>
where
    for<'m> MapImpl<'m, T>: MapCore,
{
    map.keys()
        .filter_map(|key| {
            let value = map.lookup(&key, MapFlags::ANY).ok().flatten()?;
            Some((key, value))
        })
        .collect()
}

/// Returns the n-th 64-bit word of a record; 0 behind its end.
pub fn word(bytes: &[u8], n: usize) -> u64 {
    bytes.get(n * 8..n * 8 + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// Returns the n-th 32-bit word behind `words` 64-bit ones.
pub fn half(bytes: &[u8], words: usize, n: usize) -> u32 {
    let at = words * 8 + n * 4;
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

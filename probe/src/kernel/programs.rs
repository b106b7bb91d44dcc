//! Programs of `bpf/`: loaded for one process, their rings and accounts.

use std::cell::RefCell;
use std::os::fd::RawFd;
use std::rc::Rc;

use libbpf_rs::{
    Link, Map, MapCore, MapFlags, MapImpl, Object, ObjectBuilder, ProgramMut, RingBuffer, RingBufferBuilder, UprobeOpts,
};
use yunti_base::{Code, Error, Result};

use crate::native::Function;
use crate::target::Process;

/// What a program is told of its target.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    pub pid: u32,
    /// A JVM's threads are asked by SIGPROF; others by an event of perf.
    pub stacks_by_signal: bool,
    pub stacks_a_second_max: u32,
}

/// What was not taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Account {
    /// Events that there was no room for.
    pub lost: u64,
    pub stacks_left_away: u64,
}

/// Records of a ring, as bytes.
pub type Records = Rc<RefCell<Vec<Vec<u8>>>>;

/// Of the PID namespace that the kernel starts with: PROC_PID_INIT_INO.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// Loads the programs of an object that are wanted, for one process.
///
/// # Errors
/// What forbids it here, in one line.
pub fn load(image: &[u8], settings: Settings, wanted: &[&str]) -> Result<Object> {
    first_namespace()?;
    let words = [settings.pid, settings.stacks_by_signal.into(), settings.stacks_a_second_max];
    load_for(image, &format!("process {}", settings.pid), &words, wanted)
}

/// Programs know processes by the kernel's own numbers.
pub fn first_namespace() -> Result<()> {
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    if namespace.to_string_lossy() == FIRST_NAMESPACE {
        return Ok(());
    }
    let error = Error::new(Code::Input, "the kernel's own numbers of processes are not known in this container");
    Err(error.hint("run it outside, on the host"))
}

/// The same for anything else.
///
/// @param watched what is to be watched, for errors
/// @param settings the object's constants
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
    let said = Error::new(Code::Input, format!("{watched} cannot be watched by the kernel: {text}"));
    match error.kind() {
        libbpf_rs::ErrorKind::PermissionDenied => said.hint("run as root"),
        _ => said.hint("Linux 5.15 or later with BPF and its types (CONFIG_DEBUG_INFO_BTF) is needed"),
    }
}

pub fn program<'o>(object: &'o Object, name: &str) -> Result<ProgramMut<'o>> {
    object
        .progs_mut()
        .find(|program| program.name() == name)
        .ok_or_else(|| Error::new(Code::Internal, format!("bpf/ has no program {name}")))
}

pub fn map<'o>(object: &'o Object, name: &str) -> Result<Map<'o>> {
    object
        .maps()
        .find(|map| map.name() == name)
        .ok_or_else(|| Error::new(Code::Internal, format!("bpf/ has no map {name}")))
}

pub fn attached<T>(what: &str, process: &Process, link: libbpf_rs::Result<T>) -> Result<T> {
    link.map_err(|e| match process.is_alive() {
        true => Error::new(Code::Input, format!("{what} cannot be watched: {e}")),
        false => process.has_ended(),
    })
}

/// A uprobe at a place in a function's file.
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

/// A ring of records, and where they are laid when it is emptied.
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

pub fn account(object: &Object) -> Account {
    let all = lookup(object, "accounts", &0u32.to_le_bytes());
    Account { lost: word(&all, 0), stacks_left_away: word(&all, 1) }
}

pub fn lookup(object: &Object, name: &str, key: &[u8]) -> Vec<u8> {
    map(object, name).ok().and_then(|map| map.lookup(key, MapFlags::ANY).ok().flatten()).unwrap_or_default()
}

pub fn put(object: &Object, name: &str, key: &[u8], value: &[u8]) -> Result<()> {
    let put = map(object, name)?.update(key, value, MapFlags::ANY);
    put.map_err(|e| Error::new(Code::Internal, format!("the map {name}: {e}")))
}

/// Puts descriptors where programs find them by their processor.
pub fn put_descriptors(object: &Object, name: &str, of_processor: &[(usize, RawFd)]) -> Result<()> {
    of_processor
        .iter()
        .try_for_each(|(processor, fd)| put(object, name, &(*processor as u32).to_le_bytes(), &fd.to_le_bytes()))
}

/// All values of a map.
pub fn values<T>(map: &MapImpl<'_, T>) -> Vec<Vec<u8>>
where
    for<'m> MapImpl<'m, T>: MapCore,
{
    map.keys().filter_map(|key| map.lookup(&key, MapFlags::ANY).ok().flatten()).collect()
}

/// All of a map.
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

/// The n-th 64-bit word of a record; 0 beyond its end.
pub fn word(bytes: &[u8], n: usize) -> u64 {
    bytes.get(n * 8..n * 8 + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// The n-th 32-bit word behind a number of 64-bit ones.
pub fn half(bytes: &[u8], words: usize, n: usize) -> u32 {
    let at = words * 8 + n * 4;
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes)
}

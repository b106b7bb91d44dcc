//! Names of addresses: functions of files, with inlined ones; of the kernel; and of JIT compilers that write a perf
//! map (`/tmp/perf-PID.map`: JVMs with an agent, Python, Node).

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

use blazesym::symbolize::source::{Elf, Kernel, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};

use super::memory::Memory;
use crate::code::mangled::readable;
use crate::code::{GoFunctions, GoProgram};
use crate::stack::{Frame, Kind};
use crate::target::{Mapping, Process};

thread_local! {
    /// One for all, because it reads the symbols of the kernel and of each file once: some 100 ms and 50 ms.
    /// Names of C are not C++; `readable` distinguishes them.
    static SYMBOLIZER: Rc<Symbolizer> = Rc::new(Symbolizer::builder().enable_demangling(false).build());
}

/// Names of the addresses of a process.
pub struct Names {
    symbolizer: Rc<Symbolizer>,
    known: HashMap<u64, Rc<[Frame]>>,
    perf_map: PerfMap,
    go: Option<GoFunctions>,
}

/// Functions in the map of a JIT compiler, which keeps growing.
struct PerfMap {
    path: PathBuf,
    /// Size of the file at the last reading.
    bytes: u64,
    /// Begin, length and name, sorted by begin.
    functions: Vec<(u64, u64, String)>,
}

impl Names {
    /// Returns the names of a process.
    pub fn new(process: &Process) -> Names {
        let path = process.path(&format!("/tmp/perf-{}.map", process.pid_inside));
        Names {
            symbolizer: SYMBOLIZER.with(Rc::clone),
            known: HashMap::new(),
            perf_map: PerfMap { path, bytes: 0, functions: Vec::new() },
            // Stripped programs of Go have names only in Go's own table, and its debugging information is slow to read.
            go: GoProgram::of(process, &[]).ok().flatten().and_then(|program| program.functions()),
        }
    }

    /// Returns the function at a user address with the functions inlined into it, outermost first.
    pub fn user(&mut self, address: u64, memory: &Memory) -> Rc<[Frame]> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        // An address without a name may get one later, so it is not cached.
        let frames: Rc<[Frame]> = match memory.mapping(address) {
            Some(mapping) if mapping.name.starts_with('/') => self.of_file(address, mapping, memory).into(),
            Some(mapping) => match self.perf_map.name(address) {
                Some(name) => [native(name)].into(),
                None if mapping.name.is_empty() => return [native("[code without a name]".to_owned())].into(),
                None => return [native(mapping.name.clone())].into(),
            },
            None => return [native("[unknown]".to_owned())].into(),
        };
        self.known.insert(address, frames.clone());
        frames
    }

    /// Returns the kernel function at an address.
    pub fn kernel(&mut self, address: u64) -> Rc<[Frame]> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let source = Source::Kernel(Kernel::default());
        let name = match self.symbolizer.symbolize_single(&source, Input::AbsAddr(address)) {
            Ok(Symbolized::Sym(symbol)) => symbol.name.into_owned(),
            // /proc/kallsyms is not readable.
            _ => "[kernel]".to_owned(),
        };
        let frames: Rc<[Frame]> = vec![Frame { name: name.into(), kind: Kind::Kernel }].into();
        self.known.insert(address, frames.clone());
        frames
    }

    fn of_file(&self, address: u64, mapping: &Mapping, memory: &Memory) -> Vec<Frame> {
        if let Some(names) = self.go.as_ref().and_then(|go| go.names(address)) {
            let kind = |i| if i == 0 { Kind::Native } else { Kind::Inlined };
            return names.into_iter().enumerate().map(|(i, name)| Frame { name: name.into(), kind: kind(i) }).collect();
        }
        let file = mapping.name.rsplit('/').next().unwrap_or(&mapping.name);
        let source = Source::Elf(Elf::new(memory.path(mapping)));
        let offset = address - mapping.begin + mapping.offset;
        match self.symbolizer.symbolize_single(&source, Input::FileOffset(offset)) {
            Ok(Symbolized::Sym(symbol)) => {
                let kind = if file == "libjvm.so" { Kind::Jvm } else { Kind::Native };
                // blazesym returns the innermost inlined function last.
                let outer = Frame { name: readable(&symbol.name).into(), kind };
                let inlined =
                    symbol.inlined.iter().map(|f| Frame { name: readable(&f.name).into(), kind: Kind::Inlined });
                std::iter::once(outer).chain(inlined).collect()
            }
            _ => vec![native(format!("[{file}]"))],
        }
    }
}

impl PerfMap {
    fn name(&mut self, address: u64) -> Option<String> {
        if let Some(name) = self.known(address) {
            return Some(name);
        }
        let bytes = fs::metadata(&self.path).ok()?.len();
        if bytes == self.bytes {
            return None;
        }
        self.bytes = bytes;
        let text = String::from_utf8_lossy(&fs::read(&self.path).ok()?).into_owned();
        self.functions = text.lines().filter_map(perf_map_line).collect();
        // The later of two functions at one address has replaced the earlier.
        self.functions.sort_by_key(|(begin, _, _)| *begin);
        self.known(address)
    }

    fn known(&self, address: u64) -> Option<String> {
        let at = self.functions.partition_point(|(begin, _, _)| *begin <= address).checked_sub(1)?;
        let (begin, length, name) = &self.functions[at];
        (address - begin < *length).then(|| name.clone())
    }
}

fn native(name: String) -> Frame {
    Frame { name: name.into(), kind: Kind::Native }
}

/// Parses `7f3c2a 40 name of it`.
fn perf_map_line(line: &str) -> Option<(u64, u64, String)> {
    let (begin, rest) = line.split_once(' ')?;
    let (length, name) = rest.split_once(' ')?;
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    Some((hex(begin)?, hex(length)?, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_perf_maps() {
        assert_eq!(perf_map_line("7f10 40 py::f:/a b.py"), Some((0x7f10, 0x40, "py::f:/a b.py".to_owned())));
        assert!(perf_map_line("7f10 40").is_none() && perf_map_line("").is_none());
    }
}

//! What addresses are called: functions of files, with those that were inlined; of the kernel; of compilers at run time that write a perf
//! map (`/tmp/perf-PID.map`: JVMs with an agent, Python, Node).

use std::collections::HashMap;
use std::fs;
use std::rc::Rc;

use blazesym::symbolize::source::{Elf, Kernel, Source};
use blazesym::symbolize::{Input, Symbolized, Symbolizer};

use super::memory::{Mapping, Memory};
use crate::stack::{Frame, Kind};
use crate::target::Process;

pub struct Names {
    symbolizer: Symbolizer,
    known: HashMap<u64, Rc<[Frame]>>,
    /// Begin, length, name; by begin.
    perf_map: Vec<(u64, u64, String)>,
}

impl Names {
    pub fn new(process: &Process) -> Names {
        let map =
            fs::read_to_string(process.path(&format!("/tmp/perf-{}.map", process.pid_inside))).unwrap_or_default();
        let mut perf_map: Vec<_> = map.lines().filter_map(perf_map_line).collect();
        perf_map.sort();
        Names { symbolizer: Symbolizer::new(), known: HashMap::new(), perf_map }
    }

    /// The function at an address of the process, with those that it is inlined into, the outermost first.
    pub fn user(&mut self, address: u64, memory: &Memory) -> Rc<[Frame]> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let frames: Rc<[Frame]> = match memory.mapping(address) {
            Some(mapping) if mapping.name.starts_with('/') => self.of_file(address, mapping, memory),
            Some(mapping) => vec![native(self.of_perf_map(address).unwrap_or_else(|| {
                if mapping.name.is_empty() { "[code without a name]".to_owned() } else { mapping.name.clone() }
            }))],
            None => vec![native("[unknown]".to_owned())],
        }
        .into();
        self.known.insert(address, frames.clone());
        frames
    }

    pub fn kernel(&mut self, address: u64) -> Rc<[Frame]> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let source = Source::Kernel(Kernel::default());
        let name = match self.symbolizer.symbolize_single(&source, Input::AbsAddr(address)) {
            Ok(Symbolized::Sym(symbol)) => symbol.name.into_owned(),
            // Without the right to read /proc/kallsyms.
            _ => "[kernel]".to_owned(),
        };
        let frames: Rc<[Frame]> = vec![Frame { name: name.into(), kind: Kind::Kernel }].into();
        self.known.insert(address, frames.clone());
        frames
    }

    fn of_file(&self, address: u64, mapping: &Mapping, memory: &Memory) -> Vec<Frame> {
        let file = mapping.name.rsplit('/').next().unwrap_or(&mapping.name);
        let source = Source::Elf(Elf::new(memory.path(mapping)));
        let offset = address - mapping.begin + mapping.offset;
        match self.symbolizer.symbolize_single(&source, Input::FileOffset(offset)) {
            Ok(Symbolized::Sym(symbol)) => {
                let kind = if file == "libjvm.so" { Kind::Jvm } else { Kind::Native };
                // blazesym names the innermost of inlined functions last.
                let outer = Frame { name: symbol.name.into_owned().into(), kind };
                let inlined =
                    symbol.inlined.iter().map(|f| Frame { name: f.name.to_string().into(), kind: Kind::Inlined });
                std::iter::once(outer).chain(inlined).collect()
            }
            _ => vec![native(format!("[{file}]"))],
        }
    }

    fn of_perf_map(&self, address: u64) -> Option<String> {
        let at = self.perf_map.partition_point(|(begin, _, _)| *begin <= address).checked_sub(1)?;
        let (begin, length, name) = &self.perf_map[at];
        (address - begin < *length).then(|| name.clone())
    }
}

fn native(name: String) -> Frame {
    Frame { name: name.into(), kind: Kind::Native }
}

/// `7f3c2a 40 name of it`.
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
    fn lines_of_perf_maps() {
        assert_eq!(perf_map_line("7f10 40 py::f:/a b.py"), Some((0x7f10, 0x40, "py::f:/a b.py".to_owned())));
        assert!(perf_map_line("7f10 40").is_none() && perf_map_line("").is_none());
    }
}

//! What is mapped where in a process, and how to get from a function to its caller.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use framehop::{ExplicitModuleSectionInfo, Module, Unwinder};
use object::{Object, ObjectSection, ObjectSegment};

use crate::target::Process;

#[cfg(target_arch = "aarch64")]
use framehop::aarch64::{CacheAarch64 as Cache, UnwindRegsAarch64 as Registers, UnwinderAarch64 as Tables};
#[cfg(target_arch = "x86_64")]
use framehop::x86_64::{CacheX86_64 as Cache, UnwindRegsX86_64 as Registers, UnwinderX86_64 as Tables};

/// A stack is cut off there, as the kernel's own are.
const FRAMES_MAX: usize = 512;

/// Code of a file, where it is mapped.
#[derive(Clone, Debug)]
pub struct Mapping {
    pub begin: u64,
    pub end: u64,
    /// Of `begin` in the file.
    pub offset: u64,
    /// As the process calls it: `/usr/lib/libc.so.6`, `[vdso]`, `` where there is none.
    pub name: String,
}

pub struct Memory {
    process: Process,
    mappings: Vec<Mapping>,
    tables: Tables<Vec<u8>>,
    cache: Cache,
    /// Begins of modules that have been read.
    known: HashSet<u64>,
}

impl Memory {
    pub fn new(process: &Process) -> Memory {
        let mut memory = Memory {
            process: process.clone(),
            mappings: Vec::new(),
            tables: Tables::new(),
            cache: Cache::new(),
            known: HashSet::new(),
        };
        memory.look();
        memory
    }

    /// Reads what is mapped now: libraries come later, and functions of a JIT compiler.
    pub fn look(&mut self) {
        let Ok(maps) = fs::read_to_string(format!("/proc/{}/maps", self.process.pid)) else { return };
        let all: Vec<(Mapping, bool)> = maps.lines().filter_map(parsed).collect();
        if all.is_empty() {
            return; // it has just ended: what is known stays
        }
        for (mapping, is_code) in &all {
            if *is_code && mapping.name.starts_with('/') && self.known.insert(mapping.begin) {
                if let Some(module) = self.module(mapping) {
                    self.tables.add_module(module);
                }
            }
        }
        self.mappings = all.into_iter().filter(|(_, is_code)| *is_code).map(|(mapping, _)| mapping).collect();
    }

    pub fn mapping(&self, address: u64) -> Option<&Mapping> {
        let at = self.mappings.partition_point(|m| m.end <= address);
        self.mappings.get(at).filter(|m| m.begin <= address)
    }

    /// A path under which we reach a file of the process, if it has been replaced since as well.
    pub fn path(&self, mapping: &Mapping) -> PathBuf {
        let named = self.process.path(&mapping.name);
        if !mapping.name.ends_with(" (deleted)") && named.is_file() {
            return named;
        }
        PathBuf::from(format!("/proc/{}/map_files/{:x}-{:x}", self.process.pid, mapping.begin, mapping.end))
    }

    fn module(&self, mapping: &Mapping) -> Option<Module<Vec<u8>>> {
        let bytes = fs::read(self.path(mapping)).ok()?;
        let file = object::File::parse(&*bytes).ok()?;
        // Where the file's addresses lie in the process: of the segment that this mapping is of.
        let segment = file.segments().find(|s| {
            let (offset, size) = s.file_range();
            offset <= mapping.offset + 0xfff && mapping.offset < offset + size.max(1)
        })?;
        let bias = mapping
            .begin
            .wrapping_sub(mapping.offset)
            .wrapping_add(segment.file_range().0)
            .wrapping_sub(segment.address());
        let range = |name: &str| file.section_by_name(name).map(|s| s.address()..s.address() + s.size());
        let data =
            |name: &str| file.section_by_name(name).and_then(|s| s.uncompressed_data().ok()).map(|d| d.into_owned());
        let sections = ExplicitModuleSectionInfo {
            base_svma: 0,
            text_svma: range(".text"),
            text: data(".text"),
            got_svma: range(".got"),
            eh_frame_svma: range(".eh_frame"),
            eh_frame: data(".eh_frame"),
            eh_frame_hdr_svma: range(".eh_frame_hdr"),
            eh_frame_hdr: data(".eh_frame_hdr"),
            debug_frame: data(".debug_frame"),
            ..Default::default()
        };
        Some(Module::new(mapping.name.clone(), mapping.begin..mapping.end, bias, sections))
    }

    /// Addresses of the calls that lead here, the innermost first; and whether the copy of the stack ended before they did.
    ///
    /// @param registers as [`super::counters`] takes them
    pub fn unwind(&mut self, registers: &[u64], stack: &[u8]) -> (Vec<u64>, bool) {
        let Some((pc, sp, regs)) = named(registers) else { return (Vec::new(), false) };
        let mut is_cut = false;
        let mut read = |address: u64| {
            let at = address.checked_sub(sp).and_then(|at| usize::try_from(at).ok()).ok_or(())?;
            let bytes = stack.get(at..at + 8).ok_or_else(|| is_cut = true)?;
            Ok(u64::from_le_bytes(bytes.try_into().map_err(|_| ())?))
        };
        let mut frames = Vec::new();
        let mut calls = self.tables.iter_frames(pc, regs, &mut self.cache, &mut read);
        while let Ok(Some(frame)) = calls.next() {
            frames.push(frame.address_for_lookup());
            if frames.len() == FRAMES_MAX {
                break;
            }
        }
        let is_cut = is_cut || frames.len() == FRAMES_MAX;
        (frames, is_cut)
    }
}

/// Program counter, stack pointer, and what unwinding begins with.
#[cfg(target_arch = "x86_64")]
fn named(registers: &[u64]) -> Option<(u64, u64, Registers)> {
    let [bp, sp, ip] = *registers else { return None };
    Some((ip, sp, Registers::new(ip, sp, bp)))
}

#[cfg(target_arch = "aarch64")]
fn named(registers: &[u64]) -> Option<(u64, u64, Registers)> {
    let [fp, lr, sp, pc] = *registers else { return None };
    Some((pc, sp, Registers::new(lr, sp, fp)))
}

/// `7f00-7f10 r-xp 00001000 08:01 42   /usr/lib/x.so`: a mapping, and whether it is code.
fn parsed(line: &str) -> Option<(Mapping, bool)> {
    let mut words = line.splitn(6, ' ');
    let (begin, end) = words.next()?.split_once('-')?;
    let is_code = words.next()?.as_bytes().get(2) == Some(&b'x');
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = hex(words.next()?)?;
    let name = words.nth(2).unwrap_or_default().trim().to_owned();
    Some((Mapping { begin: hex(begin)?, end: hex(end)?, offset, name }, is_code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps() {
        let (mapping, is_code) =
            parsed("7f00-7f10 r-xp 00001000 08:01 42                 /usr/lib/a b.so (deleted)").unwrap();
        assert!(is_code);
        assert_eq!((mapping.begin, mapping.end, mapping.offset), (0x7f00, 0x7f10, 0x1000));
        assert_eq!(mapping.name, "/usr/lib/a b.so (deleted)");
        assert_eq!(
            parsed("10-20 rw-p 00000000 00:00 0 ").map(|(m, code)| (m.name, code)),
            Some((String::new(), false))
        );
        assert!(parsed("").is_none() && parsed("x-y").is_none());
    }
}

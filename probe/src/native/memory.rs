//! Mappings of a process, and unwinding from a function to its caller.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use framehop::{ExplicitModuleSectionInfo, Module, Unwinder};

use crate::code::sections::{FileParts, Sections};
use crate::target::{Mapping, Process, mappings};

#[cfg(target_arch = "aarch64")]
use framehop::aarch64::{CacheAarch64 as Cache, UnwindRegsAarch64 as Registers, UnwinderAarch64 as Tables};
#[cfg(target_arch = "x86_64")]
use framehop::x86_64::{CacheX86_64 as Cache, UnwindRegsX86_64 as Registers, UnwinderX86_64 as Tables};

/// Frames; deeper stacks are cut off, as the kernel does.
const FRAMES_MAX: usize = 512;

/// Mappings and unwind tables of a process.
pub struct Memory {
    process: Process,
    mappings: Vec<Mapping>,
    tables: Tables<Vec<u8>>,
    cache: Cache,
    /// First addresses of modules that have been read.
    known: HashSet<u64>,
    /// Open files by name, readable after the process has ended.
    files: HashMap<String, File>,
}

impl Memory {
    /// Reads the mappings of a process.
    pub fn new(process: &Process) -> Memory {
        let mut memory = Memory {
            process: process.clone(),
            mappings: Vec::new(),
            tables: Tables::new(),
            cache: Cache::new(),
            known: HashSet::new(),
            files: HashMap::new(),
        };
        memory.refresh();
        memory
    }

    /// Reads the mappings again, for libraries and JIT code added later.
    pub fn refresh(&mut self) {
        let mut all = mappings(&self.process);
        if all.is_empty() {
            return; // the process has ended: known mappings stay
        }
        all.retain(|mapping| mapping.is_code);
        for mapping in &all {
            if mapping.name.starts_with('/')
                && self.known.insert(mapping.begin)
                && let Some(module) = self.module(mapping)
            {
                self.tables.add_module(module);
            }
        }
        self.mappings = all;
    }

    /// Returns the mapping of an address.
    pub fn mapping(&self, address: u64) -> Option<&Mapping> {
        let at = self.mappings.partition_point(|m| m.end <= address);
        self.mappings.get(at).filter(|m| m.begin <= address)
    }

    /// Returns a path to a file of the process that works after its end.
    pub fn path(&self, mapping: &Mapping) -> PathBuf {
        let path = mapping.path(&self.process);
        match self.files.get(&mapping.name) {
            Some(file) if !path.exists() => PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())),
            _ => path,
        }
    }

    fn module(&mut self, mapping: &Mapping) -> Option<Module<Vec<u8>>> {
        let opened = File::open(mapping.path(&self.process)).ok()?;
        let opened = self.files.entry(mapping.name.clone()).insert_entry(opened);
        let parts = FileParts::of(opened.get());
        let file = Sections::of(&parts)?;
        // Bias between file addresses and process addresses, from the segment of this mapping.
        let segments = file.segments();
        let segment = segments
            .iter()
            .find(|s| s.offset <= mapping.offset + 0xfff && mapping.offset < s.offset + s.file_bytes.max(1))?;
        let bias =
            mapping.begin.wrapping_sub(mapping.offset).wrapping_add(segment.offset).wrapping_sub(segment.address);
        let data = |name: &str| file.data(name).map(<[u8]>::to_vec);
        let eh_frame = data(".eh_frame");
        let sections = ExplicitModuleSectionInfo {
            base_svma: 0,
            text_svma: file.range(".text"),
            got_svma: file.range(".got"),
            eh_frame_svma: file.range(".eh_frame"),
            eh_frame_hdr_svma: file.range(".eh_frame_hdr"),
            eh_frame_hdr: data(".eh_frame_hdr"),
            // Used by programs without .eh_frame only; it can be larger than the code.
            debug_frame: if eh_frame.is_none() { data(".debug_frame") } else { None },
            eh_frame,
            ..Default::default()
        };
        Some(Module::new(mapping.name.clone(), mapping.begin..mapping.end, bias, sections))
    }

    /// Returns the addresses of the calls on the stack, innermost first, and true if the copied stack ended too early.
    /// `registers`: values as in [`super::counters`].
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

/// Program counter, stack pointer, and start registers of the unwinding.
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

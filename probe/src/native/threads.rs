//! Positions of a process's threads at one moment: `bpf/threads.bpf.c`.
//!
//! One of the listed files with `unsafe`: libbpf-rs has no iterator over the threads of one process.

use std::io::Read;
use std::mem::size_of;
use std::ptr::NonNull;

use libbpf_rs::{AsRawLibbpf, Iter, Link, Object, ProgramMut};
use yunti_base::{Code, Error, Result};

use crate::programs::{Settings, attached, half, load, program, word};
use crate::target::Process;

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/threads.bpf.o"));

/// Sizes as in bpf/threads.bpf.c.
const THREAD_BYTES: usize = 24;
const REGISTERS_MAX: usize = 4;
const FRAMES_MAX: usize = 32;
const PLACE_BYTES: usize = (REGISTERS_MAX + FRAMES_MAX) * 8;
const RUNS: u32 = 1;
const SAME: u32 = 2;
/// State of a thread that has ended and is not reaped.
const DEAD: u32 = 0x80;
const READ_BYTES: usize = 64 << 10;

/// Thread at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Thread number.
    pub tid: u32,
    /// Times that it got a processor.
    pub runs: u64,
    /// True if it waits for a processor only.
    pub is_queued: bool,
    /// Position.
    pub at: At,
}

/// Position of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// On a processor.
    Processor,
    /// At the same position as at the previous reading.
    Same,
    /// Off the processor. Registers as in [`super::REGISTERS`]; addresses in the kernel, innermost first.
    Away { registers: Vec<u64>, kernel: Vec<u64> },
}

/// Iterator over the threads of a process.
pub struct Threads {
    link: Link,
    _object: Object,
}

impl Threads {
    /// Loads the iterator for a process.
    pub fn of(process: &Process) -> Result<Threads> {
        let settings = Settings { pid: process.pid, ..Settings::default() };
        let object = load(IMAGE, settings, &["threads"])?;
        let program = program(&object, "threads")?;
        // Before Linux 6.1 the iterator covers all threads of the machine.
        let link = over_one(&program, process.pid).map_or_else(|| program.attach(), Ok);
        Ok(Threads { link: attached("threads", process, link)?, _object: object })
    }

    /// Returns the threads of the process.
    pub fn read(&self) -> Result<Vec<Thread>> {
        let failed = |e: &dyn std::fmt::Display| Error::new(Code::Input, format!("threads cannot be read: {e}"));
        let mut iterator = Iter::new(&self.link).map_err(|e| failed(&e))?;
        let (mut bytes, mut read) = (Vec::new(), vec![0; READ_BYTES]);
        loop {
            match iterator.read(&mut read) {
                Ok(0) => break,
                Ok(n) => bytes.extend_from_slice(&read[..n]),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(failed(&e)),
            }
        }
        Ok(threads(&bytes))
    }
}

fn over_one(program: &ProgramMut<'_>, pid: u32) -> Option<Link> {
    let mut info = libbpf_sys::bpf_iter_link_info::default();
    info.task = libbpf_sys::bpf_iter_link_info__bindgen_ty_3 { pid, ..Default::default() };
    let options = libbpf_sys::bpf_iter_attach_opts {
        sz: size_of::<libbpf_sys::bpf_iter_attach_opts>() as _,
        link_info: &raw mut info,
        link_info_len: size_of::<libbpf_sys::bpf_iter_link_info>() as _,
        ..Default::default()
    };
    // SAFETY: the program is loaded and lives as long as its object. The options and their targets outlive the call,
    // which copies them.
    let link = unsafe { libbpf_sys::bpf_program__attach_iter(program.as_libbpf_object().as_ptr(), &raw const options) };
    // SAFETY: libbpf has created the link for this caller alone; it returns null on failure.
    NonNull::new(link).map(|link| unsafe { Link::from_ptr(link) })
}

fn threads(mut bytes: &[u8]) -> Vec<Thread> {
    let mut threads = Vec::new();
    while bytes.len() >= THREAD_BYTES {
        let (thread, rest) = bytes.split_at(THREAD_BYTES);
        bytes = rest;
        let at = match half(thread, 0, 1) {
            RUNS => At::Processor,
            SAME => At::Same,
            _ => {
                let Some((place, rest)) = bytes.split_at_checked(PLACE_BYTES) else { break };
                bytes = rest;
                let count = super::REGISTERS.count_ones() as usize;
                At::Away {
                    registers: (0..count).map(|n| word(place, n)).collect(),
                    kernel: (REGISTERS_MAX..).map(|n| word(place, n)).take_while(|a| *a != 0).collect(),
                }
            }
        };
        let state = half(thread, 0, 2);
        if state & DEAD == 0 {
            threads.push(Thread { tid: half(thread, 0, 0), runs: word(thread, 2), is_queued: state == 0, at });
        }
    }
    threads
}

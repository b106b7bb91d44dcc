//! What the threads of a process are at, at one moment: `bpf/threads.bpf.c`.
//!
//! One of the listed files with `unsafe`: libbpf-rs has no word for an iterator over the threads of one process.

use std::io::Read;
use std::mem::size_of;
use std::ptr::NonNull;

use libbpf_rs::{AsRawLibbpf, Iter, Link, Object, ProgramMut};
use yunti_base::{Code, Error, Result};

use super::programs::{Settings, attached, half, load, program, word};
use crate::target::Process;

static IMAGE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/threads.bpf.o"));

/// As of bpf/threads.bpf.c.
const THREAD_BYTES: usize = 24;
const REGISTERS_MAX: usize = 4;
const FRAMES_MAX: usize = 32;
const PLACE_BYTES: usize = (REGISTERS_MAX + FRAMES_MAX) * 8;
const RUNS: u32 = 1;
const SAME: u32 = 2;
/// Of a thread that has ended and is not buried yet.
const DEAD: u32 = 0x80;
const READ_BYTES: usize = 64 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    pub tid: u32,
    /// How often it was given a processor.
    pub runs: u64,
    /// It waits for nothing but a processor.
    pub is_queued: bool,
    pub at: At,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    Processor,
    /// Where it was when it was looked at last.
    Same,
    /// Registers as of [`crate::native::REGISTERS`]; addresses in the kernel, the innermost first.
    Away {
        registers: Vec<u64>,
        kernel: Vec<u64>,
    },
}

pub struct Threads {
    link: Link,
    _object: Object,
}

impl Threads {
    pub fn of(process: &Process) -> Result<Threads> {
        let settings = Settings { pid: process.pid, ..Settings::default() };
        let object = load(IMAGE, settings, &["threads"])?;
        let program = program(&object, "threads")?;
        // Before Linux 6.1 it goes over all threads of the machine.
        let link = over_one(&program, process.pid).map_or_else(|| program.attach(), Ok);
        Ok(Threads { link: attached("threads", process, link)?, _object: object })
    }

    pub fn look(&self) -> Result<Vec<Thread>> {
        let failed = |e: &dyn std::fmt::Display| Error::new(Code::Input, format!("threads cannot be looked at: {e}"));
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
    // SAFETY: the program is loaded and lives as long as its object; the options and what they point to outlive the call, which copies them.
    let link = unsafe { libbpf_sys::bpf_program__attach_iter(program.as_libbpf_object().as_ptr(), &raw const options) };
    // SAFETY: libbpf has made it for us alone; it gives null where it has failed.
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
                let count = crate::native::REGISTERS.count_ones() as usize;
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

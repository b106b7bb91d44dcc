//! Counters of the kernel that interrupt a thread after so much processor time and tell where it was: perf_event_open(2).
//!
//! A counter for each thread and each processor, since only such ones are inherited by threads that come later; all of one processor share
//! a ring.
//!
//! One of the listed files with `unsafe`: the ioctl that makes them share it.

use std::os::fd::AsRawFd;

use perf_event::events::Software;
use perf_event::{Builder, Counter, SampleFlag, Sampler};
use perf_event_data::Record;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use yunti_engine::base::{Code, Error, Result};

use crate::target::Process;

/// Of a user's stack, copied with each sample: what is deeper is cut off.
pub const STACK_BYTES: u32 = 32 << 10;
/// Where the kernel limits it (perf_event_mlock_kb), the next is tried.
const RING_BYTES: [usize; 3] = [4 << 20, 1 << 20, 256 << 10];
/// `_IO('$', 5)`: records of one counter go to the ring of another.
const SET_OUTPUT: libc::c_ulong = 0x2405;
/// rbp, rsp and rip of x86-64; x29, sp, pc and x30 of arm64: arch/*/include/uapi/asm/perf_regs.h.
#[cfg(target_arch = "x86_64")]
const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
#[cfg(target_arch = "aarch64")]
const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;

/// What a thread was doing.
pub struct Raw {
    pub tid: u32,
    /// Addresses in the kernel, the innermost first.
    pub kernel: Vec<u64>,
    /// Of [`REGISTERS`], in their order; empty: the thread was never in its own code.
    pub registers: Vec<u64>,
    pub stack: Vec<u8>,
}

pub struct Counters {
    rings: Vec<Sampler>,
    _others: Vec<Counter>,
    pub sees_kernel: bool,
    pub lost: u64,
}

impl Counters {
    pub fn start(process: &Process, rate: u32) -> Result<Counters> {
        allow_many_files();
        // With perf_event_paranoid 2 and no rights, one's own code only.
        match Counters::open(process, rate, true) {
            Ok(counters) => Ok(counters),
            Err(_) => Counters::open(process, rate, false).map_err(|e| {
                if !process.is_alive() {
                    return process.has_ended();
                }
                let hint = if e.raw_os_error() == Some(libc::EMFILE) {
                    "it has more threads than this limit of open files allows: ulimit -n"
                } else {
                    "run as its owner, or as root; /proc/sys/kernel/perf_event_paranoid must be 2 or less"
                };
                Error::io(Code::Input, &format!("process {} cannot be sampled", process.pid), &e).hint(hint)
            }),
        }
    }

    fn open(process: &Process, rate: u32, kernel: bool) -> std::io::Result<Counters> {
        let mut rings: Vec<Sampler> = Vec::new();
        let mut others = Vec::new();
        let mut all: Vec<(usize, Counter)> = Vec::new();
        let processors = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
        for processor in listed(&processors) {
            let mut ring: Option<usize> = None;
            for tid in process.threads() {
                let make = || builder(rate, kernel).observe_pid(tid as i32).one_cpu(processor).build();
                let opened = match ring {
                    None => with_ring(make).map(|first| {
                        ring = Some(rings.len());
                        rings.push(first);
                    }),
                    Some(ring) => make().map(|counter| all.push((ring, counter))),
                };
                match opened {
                    // The thread has ended.
                    Err(e) if e.raw_os_error() == Some(libc::ESRCH) => {}
                    opened => opened?,
                }
            }
        }
        if rings.is_empty() {
            return Err(std::io::Error::from_raw_os_error(libc::ESRCH));
        }
        for (ring, counter) in all {
            // SAFETY: both are open, and the ioctl takes a descriptor by value.
            if unsafe { libc::ioctl(counter.as_raw_fd(), SET_OUTPUT, rings[ring].as_counter().as_raw_fd()) } != 0 {
                return Err(std::io::Error::last_os_error());
            }
            others.push(counter);
        }
        for counter in rings.iter_mut().map(Sampler::as_counter_mut).chain(others.iter_mut()) {
            counter.enable()?;
        }
        Ok(Counters { rings, _others: others, sees_kernel: kernel, lost: 0 })
    }

    /// Hands on what has come since the last time.
    pub fn drain(&mut self, mut take: impl FnMut(Raw)) {
        for ring in &mut self.rings {
            while let Some(record) = ring.next_record() {
                match record.parse_record() {
                    Ok(Record::Sample(sample)) => {
                        let user = |address: &u64| *address >> 63 == 0;
                        let chain = sample.callchain().unwrap_or_default();
                        take(Raw {
                            tid: sample.tid().unwrap_or(0),
                            // Addresses at the top of the address space are markers: PERF_CONTEXT_KERNEL and the like.
                            kernel: chain.iter().copied().filter(|a| !user(a) && *a < u64::MAX - 4095).collect(),
                            registers: sample.regs_user().map(|r| r.regs.to_vec()).unwrap_or_default(),
                            stack: sample.stack_user().unwrap_or_default().to_vec(),
                        });
                    }
                    Ok(Record::Lost(lost)) => self.lost += lost.lost,
                    _ => {}
                }
            }
        }
    }
}

/// A descriptor a thread and a processor: a thousand threads on sixteen processors are sixteen thousand.
fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

fn builder(rate: u32, kernel: bool) -> Builder<'static> {
    let mut builder = Builder::new(Software::CPU_CLOCK);
    builder
        .sample_frequency(rate.into())
        .sample(SampleFlag::TID | SampleFlag::CALLCHAIN | SampleFlag::REGS_USER | SampleFlag::STACK_USER)
        .sample_regs_user(REGISTERS)
        .sample_stack_user(STACK_BYTES)
        .exclude_callchain_user(true)
        .exclude_kernel(!kernel)
        .exclude_callchain_kernel(!kernel)
        .exclude_hv(true)
        .inherit(true)
        .enabled(false);
    builder
}

/// The largest ring that there is room for. One that cannot be mapped takes its counter with it.
fn with_ring(make: impl Fn() -> std::io::Result<Counter>) -> std::io::Result<Sampler> {
    let mut last = None;
    for bytes in RING_BYTES {
        match make()?.sampled(bytes) {
            Ok(sampler) => return Ok(sampler),
            Err(e) => last = Some(e),
        }
    }
    Err(last.unwrap_or_else(|| std::io::Error::from_raw_os_error(libc::ENOMEM)))
}

/// `0-3,8` as numbers.
fn listed(text: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',') {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(low), Ok(high)) = (low.parse::<usize>(), high.parse::<usize>()) {
            numbers.extend(low..=high);
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors() {
        assert_eq!(listed("0-2,8\n"), [0, 1, 2, 8]);
        assert_eq!(listed("0"), [0]);
        assert!(listed("").is_empty() && listed("x-y").is_empty());
    }
}

//! Counters of the kernel that interrupt a thread after a period of processor time and record its position:
//! perf_event_open(2).
//!
//! As root, there is one counter for each processor, and a kernel program keeps the samples of the process. Else there
//! is one for each thread and processor, because only such counters are inherited by later threads; the counters of a
//! processor share a ring buffer.
//!
//! One of the listed files with `unsafe`: the ioctl that shares a ring buffer, and a borrowed descriptor of a counter.

use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use perf_event::events::Software;
use perf_event::{Builder, Clock, Counter, SampleFlag, Sampler};
use perf_event_data::{Record, Sample};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use yunti_base::{Code, Error, Result};

use super::counted::Counted;
use super::only_target::OnlyTarget;
use crate::target::Process;
use crate::target::schedule::listed;

/// Bytes of the user stack that are copied with each sample; deeper parts are cut off.
pub const STACK_BYTES: u32 = 32 << 10;
/// Ring buffer sizes in bytes, tried in this order, because perf_event_mlock_kb may limit them.
const RING_BYTES: [usize; 3] = [4 << 20, 1 << 20, 256 << 10];
/// Bytes for requested stacks of all processors together. They come in bursts, each as large as a copied stack.
const ASKED_BYTES_MAX: usize = 256 << 20;
const ASKED_RING_BYTES: [usize; 3] = [64 << 20, 8 << 20, 1 << 20];
/// `_IO('$', 5)`: directs the records of one counter to the ring buffer of another.
const SET_OUTPUT: libc::c_ulong = 0x2405;
/// Registers rbp, rsp and rip of x86-64; x29, sp, pc and x30 of arm64: arch/*/include/uapi/asm/perf_regs.h.
#[cfg(target_arch = "x86_64")]
pub const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
/// Registers rbp, rsp and rip of x86-64; x29, sp, pc and x30 of arm64: arch/*/include/uapi/asm/perf_regs.h.
#[cfg(target_arch = "aarch64")]
pub const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;

/// Source of interrupts of a thread.
#[derive(Clone, Copy, Debug)]
pub enum Ticks {
    /// Samples in a second of processor time.
    Clock(u32),
    /// Samples in a second in which the event occurs, or fewer. The kernel adapts the events between two samples.
    Counted(Counted, u32),
}

impl Ticks {
    fn builder(self, kernel: bool) -> Builder<'static> {
        let (mut builder, rate) = match self {
            Ticks::Clock(rate) => (Builder::new(Software::CPU_CLOCK), rate),
            Ticks::Counted(event, rate) => (event.builder(), rate),
        };
        fill(&mut builder, kernel);
        builder.sample_frequency(rate.into());
        builder
    }

    /// Counts the event in all threads, without samples: the periods of samples add up to it only in the long run.
    fn exact(self, process: &Process) -> Vec<Counter> {
        let Ticks::Counted(event, _) = self else { return Vec::new() };
        let count = |tid: u32, kernel: bool| {
            let mut builder = event.builder();
            builder.observe_pid(tid as i32).any_cpu().inherit(true).exclude_kernel(!kernel).exclude_hv(true);
            let mut counter = builder.build()?;
            counter.enable()?;
            Ok::<Counter, std::io::Error>(counter)
        };
        process.threads().into_iter().filter_map(|tid| count(tid, true).or_else(|_| count(tid, false)).ok()).collect()
    }
}

/// Raw sample of a thread.
pub struct Raw {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Time on CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Events since the last sample; of a clock nanoseconds.
    pub period: u64,
    /// Addresses in the kernel, innermost first.
    pub kernel: Vec<u64>,
    /// Values of [`REGISTERS`], in their order; empty if the thread has no user code.
    pub registers: Vec<u64>,
    /// Copy of the stack's memory, from the stack pointer on.
    pub stack: Vec<u8>,
}

/// Open counters of a process.
pub struct Counters {
    // Dropped before the events that it belongs to.
    _filter: Option<OnlyTarget>,
    rings: Vec<Sampler>,
    _others: Vec<Counter>,
    /// Exact numbers of a counted event, by thread; later threads are in those of their parents.
    exact: Vec<Counter>,
    /// True if kernel code is sampled too.
    pub sees_kernel: bool,
    /// Samples that did not fit into the ring buffers.
    pub lost: u64,
}

impl Counters {
    /// Starts to sample a process. Fails without the rights.
    pub fn start(process: &Process, ticks: Ticks) -> Result<Counters> {
        allow_many_files();
        let exact = ticks.exact(process);
        let counters = Counters::sample(process, ticks)?;
        Ok(Counters { exact, ..counters })
    }

    /// Returns the number of events since the start; `None` for a clock, and if they cannot be counted.
    pub fn events(&mut self) -> Option<u64> {
        let sum = self.exact.iter_mut().try_fold(0, |sum, counter| Some(sum + counter.read().ok()?))?;
        (!self.exact.is_empty()).then_some(sum)
    }

    fn sample(process: &Process, ticks: Ticks) -> Result<Counters> {
        // One clock a processor, for any number of threads, even short-lived ones. Only root may sample the whole
        // machine.
        if let Ok(counters) = OnlyTarget::of(process).and_then(|filter| Counters::open_whole(process, ticks, filter)) {
            return if process.is_alive() { Ok(counters) } else { Err(process.has_ended()) };
        }
        // With perf_event_paranoid 2 and without rights, only user code can be sampled.
        match Counters::open(process, ticks, true) {
            Ok(counters) => Ok(counters),
            Err(_) => Counters::open(process, ticks, false).map_err(|e| {
                if !process.is_alive() {
                    return process.has_ended();
                }
                let hint = if e.raw_os_error() == Some(libc::EMFILE) {
                    "it has more threads than the limit of open files allows: raise it with ulimit -n"
                } else {
                    "run as its owner, or as root; /proc/sys/kernel/perf_event_paranoid must be 2 or less"
                };
                Error::io(Code::Input, &format!("process {} cannot be sampled", process.pid), &e).hint(hint)
            }),
        }
    }

    fn open_whole(process: &Process, ticks: Ticks, mut filter: OnlyTarget) -> Result<Counters> {
        let failed = |e: std::io::Error| Error::io(Code::Input, "the machine's clocks", &e);
        let mut rings = Vec::new();
        for processor in processors() {
            let make = || {
                let mut builder = ticks.builder(true);
                builder.any_pid().one_cpu(processor).build()
            };
            let mut ring = with_ring(&RING_BYTES, make).map_err(failed)?;
            filter.attach(process, own_descriptor(ring.as_counter()).map_err(failed)?)?;
            ring.as_counter_mut().enable().map_err(failed)?;
            rings.push(ring);
        }
        let (others, exact) = (Vec::new(), Vec::new());
        Ok(Counters { _filter: Some(filter), rings, _others: others, exact, sees_kernel: true, lost: 0 })
    }

    /// Opens a counter for each thread and processor. A thread is sampled each time that it has run for a period;
    /// shorter runs are not sampled.
    fn open(process: &Process, ticks: Ticks, kernel: bool) -> std::io::Result<Counters> {
        let mut rings: Vec<Sampler> = Vec::new();
        let mut others = Vec::new();
        let mut all: Vec<(usize, Counter)> = Vec::new();
        for processor in processors() {
            let mut ring: Option<usize> = None;
            for tid in process.threads() {
                let make = || {
                    let mut builder = ticks.builder(kernel);
                    builder.inherit(true);
                    builder.observe_pid(tid as i32).one_cpu(processor).build()
                };
                let opened = match ring {
                    None => with_ring(&RING_BYTES, make).map(|first| {
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
        Ok(Counters { _filter: None, rings, _others: others, exact: Vec::new(), sees_kernel: kernel, lost: 0 })
    }

    /// Calls `take` for the samples since the last call.
    pub fn drain(&mut self, mut take: impl FnMut(Raw)) {
        for ring in &mut self.rings {
            self.lost += drain(ring, |sample| take(Raw::of(sample)));
        }
    }
}

impl Raw {
    fn of(sample: &Sample<'_>) -> Raw {
        let user = |address: &u64| *address >> 63 == 0;
        let chain = sample.callchain().unwrap_or_default();
        Raw {
            pid: sample.pid().unwrap_or(0),
            tid: sample.tid().unwrap_or(0),
            time_ns: sample.time().unwrap_or(0),
            period: sample.period().unwrap_or(1),
            // Addresses at the top of the address space are markers, such as PERF_CONTEXT_KERNEL.
            kernel: chain.iter().copied().filter(|a| !user(a) && *a < u64::MAX - 4095).collect(),
            registers: sample.regs_user().map(|r| r.regs.to_vec()).unwrap_or_default(),
            stack: sample.stack_user().unwrap_or_default().to_vec(),
        }
    }
}

/// Empties a ring buffer. Returns the samples that did not fit into it.
fn drain(ring: &mut Sampler, mut take: impl FnMut(&Sample<'_>)) -> u64 {
    let mut lost = 0;
    while let Some(record) = ring.next_record() {
        match record.parse_record() {
            Ok(Record::Sample(sample)) => take(&sample),
            Ok(Record::Lost(some)) => lost += some.lost,
            _ => {}
        }
    }
    lost
}

/// Stacks that kernel programs request: an event a processor, which the programs find by its descriptor and write a
/// word to.
/// Receiver of requested stacks.
pub struct AskedStacks {
    rings: Vec<(usize, Sampler)>,
    /// Stacks that did not fit into the ring buffers.
    pub lost: u64,
}

impl AskedStacks {
    /// Opens an event on each processor.
    pub fn open() -> std::io::Result<AskedStacks> {
        allow_many_files();
        let mut rings = Vec::new();
        let processors = processors();
        let share = ASKED_BYTES_MAX / processors.len().max(1).next_power_of_two();
        let sizes = ASKED_RING_BYTES.map(|bytes| bytes.min(share));
        for processor in processors {
            let make = || {
                let mut builder = Builder::new(Software::BPF_OUTPUT);
                fill(&mut builder, true);
                builder.sample_period(1).sample(SampleFlag::RAW).any_pid().one_cpu(processor).build()
            };
            let mut ring = with_ring(&sizes, make)?;
            ring.as_counter_mut().enable()?;
            rings.push((processor, ring));
        }
        Ok(AskedStacks { rings, lost: 0 })
    }

    /// Returns the descriptors by processor.
    pub fn descriptors(&self) -> Vec<(usize, RawFd)> {
        self.rings.iter().map(|(processor, ring)| (*processor, ring.as_counter().as_raw_fd())).collect()
    }

    /// Calls `take` with the word and the stack of each request.
    pub fn drain(&mut self, mut take: impl FnMut(&[u8], Raw)) {
        for (_, ring) in &mut self.rings {
            self.lost += drain(ring, |sample| take(sample.raw().unwrap_or_default(), Raw::of(sample)));
        }
    }
}

/// Raises the limit of open files. A descriptor is needed for each thread and processor: 16,000 for a thousand threads
/// on 16 processors.
fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Sets what all samples have.
fn fill(builder: &mut Builder<'_>, kernel: bool) {
    builder
        .sample(
            SampleFlag::TID
                | SampleFlag::TIME
                | SampleFlag::PERIOD
                | SampleFlag::CALLCHAIN
                | SampleFlag::REGS_USER
                | SampleFlag::STACK_USER,
        )
        .clockid(Clock::MONOTONIC)
        .sample_regs_user(REGISTERS)
        .sample_stack_user(STACK_BYTES)
        .exclude_callchain_user(true)
        .exclude_kernel(!kernel)
        .exclude_callchain_kernel(!kernel)
        .exclude_hv(true)
        .enabled(false);
}

/// Returns another descriptor of a counter.
fn own_descriptor(counter: &Counter) -> std::io::Result<OwnedFd> {
    // SAFETY: the counter is borrowed, and its descriptor stays open for that time.
    let descriptor = unsafe { BorrowedFd::borrow_raw(counter.as_raw_fd()) };
    descriptor.try_clone_to_owned()
}

/// Opens a counter with the largest ring buffer that can be mapped. A failed mapping closes its counter.
fn with_ring(sizes: &[usize], make: impl Fn() -> std::io::Result<Counter>) -> std::io::Result<Sampler> {
    let mut last = None;
    for bytes in sizes {
        match make()?.sampled(*bytes) {
            Ok(sampler) => return Ok(sampler),
            Err(e) => last = Some(e),
        }
    }
    Err(last.unwrap_or_else(|| std::io::Error::from_raw_os_error(libc::ENOMEM)))
}

fn processors() -> Vec<usize> {
    listed(&std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default())
}

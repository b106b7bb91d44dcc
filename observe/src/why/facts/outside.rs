//! Facts about what is outside of a process: the other processes, the machine, the control group.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::why::account::waiting::Waiting;
use crate::why::facts::Facts;
use yunti_probe::stack::{Frame, Kind};
use yunti_probe::target::cgroup::{IoLimit, io_limits};
use yunti_probe::target::outside::{
    Attached, Freezer, GroupMemory, Handle, Machine, MachineChange, NameWatch, Placement, Speed, Stops, Usage,
    mapped_bytes, swapped_bytes, tracer_of, usages,
};
use yunti_probe::target::schedule::ThreadTime;
use yunti_probe::target::{Policy, Process, label};

/// Facts about what is outside of the process.
#[derive(Default)]
pub struct OutsideFacts {
    pub pid: u32,
    pub nice: i64,
    pub session: u32,
    pub age_seconds: f64,
    pub policy: Policy,
    /// Threads in a stop of a tracer at a time, on average.
    pub traced_threads: f64,
    pub tracer_pid: Option<u32>,
    /// Name of the tracer with its number.
    pub tracer: Option<String>,
    /// Share of all its threads' time in which a signal had stopped them.
    pub stopped_share: f64,
    /// Share of the time in which its control group was frozen.
    pub frozen_share: f64,
    pub placement: Placement,
    /// Limits of its control groups on reads and writes.
    pub io_limits: Vec<IoLimit>,
    pub machine: MachineChange,
    pub speed: Speed,
    pub memory: Option<GroupChange>,
    pub swapped_bytes: u64,
    /// Growth of the mapped pages of files that are in memory.
    pub mapped_more_bytes: f64,
    /// Processes that name it on their command line: name, how many, and the number of one.
    pub named_by: Vec<(String, usize, u32)>,
    /// Processes with handles on it; searched only if there is an effect of an unknown cause.
    pub attached: Vec<Attached>,
    /// Processor time of the JVM's thread that answers tools.
    pub attach_seconds: f64,
}

/// Change of the memory of the narrowest limited control group.
#[derive(Clone, Debug, Default)]
pub struct GroupChange {
    pub folder: String,
    pub limit_bytes: u64,
    /// Limit at the begin.
    pub limit_before_bytes: u64,
    pub used_bytes: u64,
    /// Times that an allocation met the limit.
    pub met: u64,
    /// Share of the time in which one of its processes waited for memory.
    pub stalled: f64,
}

impl OutsideFacts {
    /// Returns the processes that name it on their command lines, as text: `strace 4712`, `jstack (80 processes)`.
    pub fn named(&self) -> Option<String> {
        let one = |(name, n, pid): &(String, usize, u32)| match n {
            1 => format!("{name} {pid}"),
            n => format!("{name} ({n} processes, one after the other)"),
        };
        (!self.named_by.is_empty()).then(|| self.named_by.iter().take(3).map(one).collect::<Vec<_>>().join(", "))
    }

    /// Returns the processes with one of these handles, as text.
    pub fn holders(&self, handles: &[Handle]) -> Option<String> {
        let has = |attached: &&Attached| attached.handles.iter().any(|handle| handles.contains(handle));
        let names: Vec<String> =
            self.attached.iter().filter(has).take(3).map(|it| format!("{} {}", it.label, it.pid)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Returns the likely culprits: processes with one of these handles, else processes that name it.
    pub fn culprit(&self, handles: &[Handle]) -> Option<String> {
        self.named().or_else(|| self.holders(handles))
    }
}

/// Sampler of what is outside.
pub struct OutsideWatch {
    freezer: Freezer,
    frozen: u64,
    rounds: u64,
    next: Instant,
    names: NameWatch,
    speed: Speed,
    machine: Machine,
    group: Option<GroupMemory>,
    mapped_bytes: u64,
    tracer: Option<u32>,
    pub usages: HashMap<u32, Usage>,
}

const EVERY: Duration = Duration::from_millis(100);
/// Rounds between two samples of the clock, which costs more.
const SPEED_EVERY: u64 = 5;

type ThreadTimes = HashMap<u32, (String, ThreadTime)>;

impl OutsideWatch {
    pub fn new(process: &Process) -> OutsideWatch {
        OutsideWatch {
            freezer: Freezer::of(process),
            frozen: 0,
            rounds: 0,
            next: Instant::now(),
            names: NameWatch::new(process),
            speed: Speed::default(),
            machine: Machine::now(),
            group: GroupMemory::of(process),
            mapped_bytes: mapped_bytes(process),
            tracer: tracer_of(process, process.pid),
            usages: usages(),
        }
    }

    pub fn keep_up(&mut self) {
        if Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + EVERY;
        self.frozen += u64::from(self.freezer.is_frozen());
        if self.rounds.is_multiple_of(SPEED_EVERY) {
            self.speed.sample();
        }
        self.rounds += 1;
        self.names.keep_up();
    }

    /// Returns the facts. `samples`: of all its threads, without `stops`.
    pub fn facts(
        self,
        process: &Process,
        stops: &Stops,
        samples: u64,
        rounds: u64,
        threads: (&ThreadTimes, &ThreadTimes),
        seconds: f64,
    ) -> OutsideFacts {
        let usage = self.usages.get(&process.pid).copied().unwrap_or_default();
        let tracer = stops.tracer().or(self.tracer);
        let name = |pid: u32| {
            let label = Process::of(pid).map_or_else(|_| "a process".to_owned(), |it| label(&it));
            format!("{label} {pid}")
        };
        let all = samples + stops.stopped + stops.traced;
        let attach = |times: &ThreadTimes| {
            let these = times.values().filter(|(name, _)| name.starts_with("Attach Listener"));
            these.map(|(_, time)| time.ran_ns as f64 / 1e9).sum::<f64>()
        };
        OutsideFacts {
            pid: process.pid,
            nice: usage.nice,
            session: usage.session,
            age_seconds: process.age_seconds(),
            policy: usage.policy,
            traced_threads: stops.traced as f64 / rounds.max(1) as f64,
            tracer_pid: tracer,
            tracer: tracer.map(name),
            stopped_share: stops.stopped as f64 / all.max(1) as f64,
            frozen_share: self.frozen as f64 / self.rounds.max(1) as f64,
            io_limits: io_limits(process),
            placement: Placement::of(process, threads.0, threads.1),
            machine: Machine::now().since(&self.machine, seconds),
            speed: self.speed,
            memory: self.group.as_ref().and_then(|before| {
                let now = before.again()?;
                Some(GroupChange {
                    folder: now.folder().display().to_string(),
                    limit_bytes: now.limit_bytes,
                    limit_before_bytes: before.limit_bytes,
                    used_bytes: now.used_bytes,
                    met: now.met.saturating_sub(before.met),
                    stalled: now.stalls_us.saturating_sub(before.stalls_us) as f64 / 1e6 / seconds.max(0.001),
                })
            }),
            swapped_bytes: swapped_bytes(process),
            mapped_more_bytes: mapped_bytes(process) as f64 - self.mapped_bytes as f64,
            named_by: self.names.found(),
            attached: Vec::new(),
            attach_seconds: (attach(threads.1) - attach(threads.0)).max(0.0),
        }
    }
}

/// Stops of a tracer (ptrace).
pub struct TracerStops {
    /// Share of the time in which the threads have work.
    pub share: f64,
    /// Stops in a second, at most; 0 if they are few.
    pub per_second: f64,
    /// Processors that the process uses in the kernel for them.
    pub processors: f64,
}

/// Context switches in a second of a traced process from which on they are stops. Each takes microseconds in the
/// kernel, before and after the thread stands.
const SWITCHES_OF_STOPS: f64 = 1000.0;
/// Threads that wait at a time, on average, below which the switches are not those of its own waits.
const WAITING_FEW: f64 = 0.1;

impl Facts {
    /// Returns the stops of its tracer. The samples may miss them: a tracer and its process take turns on one
    /// processor, and a sampler that wakes there takes the place of the tracer, when the process runs.
    pub fn stops_of_tracer(&self) -> TracerStops {
        let (held, seconds) = (self.outside.traced_threads, self.seconds.max(0.001));
        let waiting: f64 = self.threads.iter().map(|thread| 1.0 - thread.share(Waiting::Not)).sum();
        let switches = self.switches / seconds;
        let is_of_stops = held > 0.0 || waiting - held < WAITING_FEW * self.threads.len() as f64;
        let is_often = self.outside.tracer.is_some() && is_of_stops && switches >= SWITCHES_OF_STOPS;
        // Ticks may all fall beside the stops; samples tell better.
        let is_in_kernel = |frames: &[Frame]| frames.iter().any(|frame| frame.kind == Kind::Kernel);
        let in_kernel = self.system_seconds.max(self.cpu_seconds() * self.cpu_share(is_in_kernel));
        let (per_second, processors) = if is_often { (switches, in_kernel / seconds) } else { (0.0, 0.0) };
        let share = ((held + processors) / (held + self.busy_threads()).max(0.01)).min(1.0);
        TracerStops { share, per_second, processors }
    }
}

//! Numbers of a process that grow all the time during the measurement: leaks of descriptors, threads, mappings, memory,
//! children, and of the objects that stay in a JVM's heap.

use std::fs;
use std::time::{Duration, Instant};

use super::HeapFacts;
use yunti_probe::answer;
use yunti_probe::target::outside::GroupMemory;
use yunti_probe::target::{Process, mappings};

/// Kind of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    Descriptors,
    Threads,
    Mappings,
    Memory,
    Children,
    /// Bytes in the old generation after collections.
    Heap,
}

/// A number that grew all the time.
#[derive(Clone, Debug)]
pub struct Growth {
    pub counted: Counted,
    pub from: f64,
    pub to: f64,
    pub per_second: f64,
    pub limit: Option<f64>,
    /// Most frequent kind of the new ones: `sockets`.
    pub kind: String,
}

/// Share of the limit from which on it bounds.
const AT_LIMIT: f64 = 0.97;
/// Samples that show growth.
const SAMPLES_MIN: usize = 6;
/// Steps that go up, of all steps, and that do not go down.
const UP_MIN: f64 = 0.5;
const NOT_DOWN_MIN: f64 = 0.9;

impl Counted {
    const ALL: [Counted; 6] =
        [Counted::Descriptors, Counted::Threads, Counted::Mappings, Counted::Memory, Counted::Children, Counted::Heap];

    fn name(self) -> &'static str {
        match self {
            Counted::Descriptors => "file descriptors",
            Counted::Threads => "threads",
            Counted::Mappings => "memory mappings",
            Counted::Memory => "memory",
            Counted::Children => "child processes",
            Counted::Heap => "heap after collections",
        }
    }

    pub fn cause(self) -> &'static str {
        match self {
            Counted::Descriptors => "leak-of-descriptors",
            Counted::Threads => "leak-of-threads",
            Counted::Mappings => "leak-of-mappings",
            Counted::Memory => "leak-of-memory",
            Counted::Children => "leak-of-children",
            Counted::Heap => "leak-of-heap",
        }
    }

    fn is_bytes(self) -> bool {
        matches!(self, Counted::Memory | Counted::Heap)
    }

    /// Least growth over the measurement that counts: absolute, and relative to the begin.
    fn least(self, from: f64) -> f64 {
        match self {
            Counted::Memory => (16e6_f64).max(from * 0.02),
            Counted::Heap => (4e6_f64).max(from * 0.05),
            Counted::Descriptors | Counted::Threads | Counted::Children => (8.0_f64).max(from * 0.02),
            Counted::Mappings => (50.0_f64).max(from * 0.02),
        }
    }

    fn text(self, value: f64) -> String {
        if self.is_bytes() { answer::bytes(value.max(0.0) as u64) } else { format!("{value:.0}") }
    }
}

impl Growth {
    /// Returns the growth of a series, if it goes on all the time.
    ///
    /// @param samples seconds and values, in order of time
    pub fn of(counted: Counted, samples: &[(f64, f64)], limit: Option<f64>) -> Option<Growth> {
        let (first, last) = (samples.first()?, samples.last()?);
        let steps = samples.windows(2).map(|pair| pair[1].1 - pair[0].1);
        let n = (samples.len() - 1).max(1) as f64;
        let (up, down) = (steps.clone().filter(|step| *step > 0.0).count(), steps.filter(|step| *step < 0.0).count());
        // A pool that was filled at the begin is not growing at the end.
        let middle = samples[samples.len() / 2].1;
        let grows = up as f64 >= n * UP_MIN && down as f64 <= n * (1.0 - NOT_DOWN_MIN);
        let gained = last.1 - first.1;
        let in_both_halves = (last.1 - middle).min(middle - first.1) > gained * 0.2;
        // At a limit nothing grows.
        let is_full =
            !counted.is_bytes() && limit.is_some_and(|limit| samples.iter().all(|(_, n)| *n >= limit * AT_LIMIT));
        let is_growth = samples.len() >= SAMPLES_MIN && grows && in_both_halves && gained >= counted.least(first.1);
        (is_growth || is_full).then(|| Growth {
            counted,
            from: first.1,
            to: last.1,
            per_second: gained / (last.0 - first.0).max(0.001),
            limit,
            kind: String::new(),
        })
    }

    /// Returns the share of the limit that is used.
    pub fn used(&self) -> f64 {
        self.limit.map_or(0.0, |limit| self.to / limit.max(1.0))
    }

    /// Returns true if the limit is as good as reached.
    pub fn is_at_limit(&self) -> bool {
        self.used() >= AT_LIMIT
    }

    pub fn sentence(&self) -> String {
        let text = |value| self.counted.text(value);
        let name = match self.kind.is_empty() {
            true => self.counted.name().to_owned(),
            false => format!("{} (mostly {})", self.counted.name(), self.kind),
        };
        if let Some(limit) = self.limit.filter(|_| self.is_at_limit() && self.per_second <= 0.0) {
            return format!("It has no {name} left: {} of {} are in use.", text(self.to), text(limit));
        }
        let until = match self.limit {
            Some(limit) if !self.is_at_limit() => format!(
                "; at this rate the limit of {} is reached in {}",
                text(limit),
                duration((limit - self.to) / self.per_second.max(1e-9))
            ),
            Some(limit) => format!("; the limit is {}", text(limit)),
            None => String::new(),
        };
        format!(
            "Its {name} grow all the time, from {} to {}: {} per second{until}.",
            text(self.from),
            text(self.to),
            if self.counted.is_bytes() { text(self.per_second) } else { format!("{:.1}", self.per_second) }
        )
    }
}

fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} minutes", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} hours", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

/// Sampler of numbers that may grow.
pub struct GrowthWatch {
    process: Process,
    begun_at: Instant,
    next: Instant,
    /// Earliest time of the next costly count: descriptors, mappings.
    next_costly: Instant,
    samples: Vec<(Counted, f64, f64)>,
}

const EVERY: Duration = Duration::from_millis(250);
/// Share of the time that costly counts may take.
const SHARE_MAX: u32 = 200;

impl GrowthWatch {
    pub fn new(process: &Process) -> GrowthWatch {
        let now = Instant::now();
        let mut watch =
            GrowthWatch { process: process.clone(), begun_at: now, next: now, next_costly: now, samples: Vec::new() };
        watch.keep_up();
        watch
    }

    pub fn keep_up(&mut self) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + EVERY;
        let at = (now - self.begun_at).as_secs_f64();
        let pid = self.process.pid;
        let statm = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        let pages = statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<f64>().ok());
        let mut take = |counted, value: Option<f64>| self.samples.extend(value.map(|value| (counted, at, value)));
        take(Counted::Memory, pages.map(|pages| pages * rustix::param::page_size() as f64));
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // Field 20 of proc_pid_stat(5), behind the name.
        let threads = stat.rsplit_once(')').and_then(|(_, tail)| tail.split_whitespace().nth(17)?.parse().ok());
        take(Counted::Threads, threads);
        if now < self.next_costly {
            return;
        }
        let entries = |folder: &str| fs::read_dir(format!("/proc/{pid}/{folder}")).ok().map(|all| all.count() as f64);
        take(Counted::Descriptors, entries("fd"));
        take(Counted::Children, Some(children(&self.process) as f64));
        take(Counted::Mappings, Some(mappings(&self.process).len() as f64));
        self.next_costly = Instant::now() + now.elapsed() * SHARE_MAX;
    }

    /// Returns the numbers that grew all the time.
    pub fn finish(mut self, heap: Option<&HeapFacts>) -> Vec<Growth> {
        self.next = Instant::now();
        self.keep_up();
        let of = |counted: Counted| {
            let own = self.samples.iter().filter(|(it, ..)| *it == counted).map(|(_, at, value)| (*at, *value));
            let samples: Vec<(f64, f64)> = match (counted, heap) {
                (Counted::Heap, Some(heap)) => heap.after_collections.clone(),
                _ => own.collect(),
            };
            let mut growth = Growth::of(counted, &samples, self.limit(counted, heap))?;
            if counted == Counted::Descriptors {
                growth.kind = kind_of_descriptors(&self.process).unwrap_or_default();
            }
            Some(growth)
        };
        let mut all: Vec<Growth> = Counted::ALL.into_iter().filter_map(of).collect();
        // The stacks of threads are mappings and memory, too.
        let has = |all: &[Growth], counted| all.iter().any(|growth| growth.counted == counted);
        if has(&all, Counted::Threads) {
            all.retain(|growth| growth.counted != Counted::Mappings);
        }
        // A heap that fills up to its size touches fresh memory, which is no leak.
        if heap.is_some() {
            all.retain(|growth| growth.counted != Counted::Memory);
        }
        all
    }

    fn limit(&self, counted: Counted, heap: Option<&HeapFacts>) -> Option<f64> {
        let pid = self.process.pid;
        let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<f64>().ok();
        let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default();
        let soft = |name: &str| {
            limits.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok())
        };
        match counted {
            Counted::Descriptors => soft("Max open files"),
            Counted::Threads | Counted::Children => {
                [soft("Max processes"), number("/proc/sys/kernel/threads-max")].into_iter().flatten().reduce(f64::min)
            }
            Counted::Mappings => number("/proc/sys/vm/max_map_count"),
            Counted::Memory => GroupMemory::of(&self.process).map(|group| group.limit_bytes as f64),
            Counted::Heap => heap.map(|heap| heap.old_max_bytes),
        }
    }
}

/// Number of children, zombies too.
fn children(process: &Process) -> usize {
    let of = |tid: u32| fs::read_to_string(format!("/proc/{}/task/{tid}/children", process.pid)).unwrap_or_default();
    process.threads().into_iter().take(64).map(|tid| of(tid).split_whitespace().count()).sum()
}

/// Descriptors whose kind is read at most, the newest ones.
const LINKS_MAX: usize = 200;

/// Returns the most frequent kind among the newest descriptors: `sockets`, `pipes`, or the folder of files.
fn kind_of_descriptors(process: &Process) -> Option<String> {
    let folder = format!("/proc/{}/fd", process.pid);
    let mut numbers: Vec<u64> =
        fs::read_dir(&folder).ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    let mut kinds: std::collections::HashMap<String, usize> = std::collections::HashMap::new();
    for number in numbers.iter().rev().take(LINKS_MAX) {
        let Ok(target) = fs::read_link(format!("{folder}/{number}")) else { continue };
        let name = target.to_string_lossy();
        let kind = match name.split_once(':') {
            Some(("anon_inode", kind)) => kind.trim_matches(['[', ']']).to_owned(),
            Some((kind @ ("socket" | "pipe"), _)) => format!("{kind}s"),
            _ => format!("files in {}", target.parent().unwrap_or(&target).display()),
        };
        *kinds.entry(kind).or_default() += 1;
    }
    kinds.into_iter().max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0))).map(|(kind, _)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: &[f64]) -> Vec<(f64, f64)> {
        values.iter().enumerate().map(|(i, value)| (i as f64 * 0.5, *value)).collect()
    }

    fn grows(values: &[f64]) -> bool {
        Growth::of(Counted::Descriptors, &series(values), None).is_some()
    }

    #[test]
    fn growth_goes_on_all_the_time() {
        assert!(grows(&[10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]));
        // A pool that fills and stays, connections that come and go, few samples, little growth.
        assert!(!grows(&[10.0, 60.0, 70.0, 70.0, 70.0, 70.0, 70.0]));
        assert!(!grows(&[10.0, 30.0, 20.0, 40.0, 30.0, 50.0, 40.0]));
        assert!(!grows(&[10.0, 20.0, 30.0]) && !grows(&[10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0]));
    }

    #[test]
    fn counts_this_process() {
        let me = Process::of(std::process::id()).unwrap();
        let watch = GrowthWatch::new(&me);
        assert!(watch.samples.iter().any(|(counted, _, n)| *counted == Counted::Descriptors && *n > 2.0));
        assert!(watch.samples.iter().any(|(counted, _, n)| *counted == Counted::Threads && *n >= 1.0));
        assert!(watch.finish(None).is_empty());
    }
}

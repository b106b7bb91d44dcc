//! Measurement of all control groups. Groups that begin or end within it are reported with their use.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use yunti_program::failure::Failure;

use super::counters::{Counters, Memory, Pressure};
use super::hierarchy::{Controller, Hierarchies};
use super::instance::{Instance, Threads};
use super::jobs::{self, Job};
use super::live::Live;
use super::sample::{CgroupSample, Group, instance, is_wanted};
use super::{names, sharing};
use yunti_probe::answer::or_skip;
use yunti_probe::kernel::system::{GroupCounts, RequestCounts, ThreadCounts};

/// Interval of `pass`.
pub const PULSE: Duration = Duration::from_millis(100);
const SECOND: Duration = Duration::from_secs(1);

/// Thread number and start time, because numbers are reused.
type ThreadId = (u32, u64);

/// Running measurement.
pub struct CgroupMeasurement {
    hierarchies: Hierarchies,
    counts: Option<GroupCounts>,
    groups: BTreeMap<PathBuf, Group>,
    /// Paths by the inodes of folders, ended groups included: of the hierarchies for threads and for I/O.
    of_threads: HashMap<u64, PathBuf>,
    of_requests: HashMap<u64, PathBuf>,
    threads_before: HashMap<ThreadId, ThreadCounts>,
    ended: HashMap<u64, Threads>,
    ended_of_processes: HashMap<u32, Threads>,
    jobs_before: HashMap<u32, Job>,
    jobs: HashMap<u32, Job>,
    refreshed: Instant,
    live: Live,
}

impl CgroupMeasurement {
    /// Starts a measurement. Parts that fail are added to `skips`.
    pub fn start(hierarchies: Hierarchies, live: Live, skips: &mut Vec<String>) -> CgroupMeasurement {
        let is_version_1 = hierarchies.is_version_1();
        let started = GroupCounts::start(is_version_1, skips);
        let counts = or_skip(skips, "switches, run queue, I/O", started);
        let threads = counts.as_ref().and_then(|counts| counts.threads().ok()).unwrap_or_default();
        let mut measurement = CgroupMeasurement {
            hierarchies,
            groups: BTreeMap::new(),
            of_threads: HashMap::new(),
            of_requests: HashMap::new(),
            threads_before: threads.iter().map(|thread| ((thread.tid, thread.started), *thread)).collect(),
            counts,
            ended: HashMap::new(),
            ended_of_processes: HashMap::new(),
            jobs_before: HashMap::new(),
            jobs: HashMap::new(),
            refreshed: Instant::now(),
            live,
        };
        measurement.refresh(true);
        measurement.jobs_before = measurement.jobs.clone();
        measurement
    }

    /// Returns true if a group matches one of `only`.
    pub fn has_any(&self, only: &[String]) -> bool {
        self.groups.keys().any(|path| is_wanted(path, &names::of(path), only))
    }

    /// Does the work that is due. Returns false when the measurement must end.
    pub fn pass(&mut self) -> bool {
        self.take_ended();
        if self.refreshed.elapsed() >= SECOND {
            self.refresh(false);
            if self.live.is_table() {
                let live = self.counts.as_ref().and_then(|counts| counts.threads().ok()).unwrap_or_default();
                let (threads, requests) = (self.threads_of(&live), self.requests_of());
                self.live.show_table(&self.groups, threads, requests);
            } else {
                self.live.show_line(&self.groups);
            }
        }
        self.live.outcome.is_ok()
    }

    /// Reads the counters of all groups. `is_first`: groups found now existed before, so their earlier use does not
    /// count.
    fn refresh(&mut self, is_first: bool) {
        let now = Instant::now();
        let groups: BTreeSet<PathBuf> = self.hierarchies.groups();
        self.of_threads.extend(self.hierarchies.by_inode(Controller::Cpu, &groups));
        self.of_requests.extend(self.hierarchies.by_inode(Controller::Io, &groups));
        for path in groups {
            let Some(counters) = Counters::of(&self.hierarchies, &path) else { continue };
            let first = if is_first { counters.clone() } else { at_creation(&counters) };
            let group = self.groups.entry(path).or_insert_with(|| Group {
                first,
                last: counters.clone(),
                first_seen: now,
                last_seen: now,
            });
            (group.last, group.last_seen) = (counters, now);
        }
        let found = jobs::find(yunti_probe::target::processes());
        self.jobs.extend(found.into_iter().map(|job| (job.pid, job)));
        self.refreshed = now;
    }

    fn take_ended(&mut self) {
        let (before, ended, of_processes) = (&self.threads_before, &mut self.ended, &mut self.ended_of_processes);
        let Some(counts) = &mut self.counts else { return };
        counts.take_ended(|thread| {
            let old = before.get(&(thread.tid, thread.started));
            ended.entry(thread.group).or_default().add(&thread, old);
            of_processes.entry(thread.pid).or_default().add(&thread, old);
        });
    }

    /// Ends the measurement, and returns its result.
    pub fn end(mut self, skips: &mut Vec<String>) -> std::result::Result<CgroupSample, Failure> {
        self.live.end();
        std::mem::replace(&mut self.live.outcome, Ok(()))?;
        // Threads are read first: one that ends now is reported as ended, or is still listed.
        let live = self.counts.as_ref().map_or(Ok(Vec::new()), GroupCounts::threads)?;
        self.refresh(false);
        let mut of_processes = std::mem::take(&mut self.ended_of_processes);
        for thread in &live {
            let old = self.threads_before.get(&(thread.tid, thread.started));
            of_processes.entry(thread.pid).or_default().add(thread, old);
        }
        let (threads, requests) = (self.threads_of(&live), self.requests_of());
        let end = self.refreshed;
        let mut left = sharing::PROCESSES_MAX;
        let mut instances = Vec::new();
        for (path, group) in &self.groups {
            let mut instance = instance(path, group, end);
            instance.threads = threads.get(path).copied().unwrap_or_default();
            instance.requests = requests.get(path).copied().unwrap_or_default();
            // Without the kernel programs, the counters of version 2 remain.
            if self.counts.is_none() {
                instance.requests.read_bytes = group.last.read_bytes.saturating_sub(group.first.read_bytes);
                instance.requests.written_bytes = group.last.written_bytes.saturating_sub(group.first.written_bytes);
            }
            if group.last.cpu_seconds.is_none() {
                instance.cpu_seconds = instance.threads.ran_ns as f64 / 1e9;
            }
            instances.push(instance);
        }
        instances.retain(Instance::is_there);
        instances.sort_by_key(|instance| std::cmp::Reverse(instance.memory.as_ref().map_or(0, |memory| memory.file)));
        for instance in instances.iter_mut().filter(|instance| instance.path != Path::new("/")) {
            instance.shared_bytes = sharing::shared_bytes(&self.hierarchies, &instance.path, &mut left);
        }
        instances.extend(self.jobs.values().map(|job| self.job(job, of_processes.get(&job.pid))));
        self.skip(skips);
        Ok(CgroupSample { instances, lost: self.counts.as_ref().map_or(0, GroupCounts::lost) })
    }

    /// Sums of threads since the start, by group. `live`: the threads that exist now.
    fn threads_of(&self, live: &[ThreadCounts]) -> HashMap<PathBuf, Threads> {
        let mut of_groups = self.ended.clone();
        for thread in live {
            let old = self.threads_before.get(&(thread.tid, thread.started));
            of_groups.entry(thread.group).or_default().add(thread, old);
        }
        with_those_below(of_groups, &self.of_threads, |sum: &mut Threads, more| sum.add_all(more))
    }

    fn requests_of(&self) -> HashMap<PathBuf, RequestCounts> {
        let requested = self.counts.as_ref().map(GroupCounts::requests).unwrap_or_default();
        with_those_below(requested.into_iter().collect(), &self.of_requests, add_requests)
    }

    fn job(&self, job: &Job, threads: Option<&Threads>) -> Instance {
        let before = self.jobs_before.get(&job.pid);
        let threads = threads.copied().unwrap_or_default();
        let moved = |now: u64, of: fn(&Job) -> u64| now.saturating_sub(before.map_or(0, of));
        Instance {
            path: PathBuf::from(&job.group),
            name: format!("{} / yunti run {}", names::of(Path::new(&job.group)), job.pid),
            cpu_seconds: threads.ran_ns as f64 / 1e9,
            threads,
            requests: RequestCounts {
                read_bytes: moved(job.read_bytes, |job| job.read_bytes),
                written_bytes: moved(job.written_bytes, |job| job.written_bytes),
                ..RequestCounts::default()
            },
            memory: Some(Memory {
                used: job.anonymous_bytes + job.file_bytes,
                anonymous: job.anonymous_bytes,
                mapped: job.file_bytes,
                ..Memory::default()
            }),
            is_job: true,
            ..Instance::default()
        }
    }

    fn skip(&self, skips: &mut Vec<String>) {
        if self.groups.values().all(|group| group.last.pressure.is_none()) {
            skips.push(
                "pressure of groups: control groups of version 1 do not report it; /proc/pressure has the machine's"
                    .to_owned(),
            );
        }
        skips.push("time in which I/O was throttled: the kernel does not report it".to_owned());
    }
}

/// Counters at a group's creation: zero, with its present quota and limits.
fn at_creation(counters: &Counters) -> Counters {
    Counters {
        cpu_seconds: counters.cpu_seconds.map(|_| 0.0),
        memory: counters.memory.clone().map(|memory| Memory { refaults: 0, ..memory }),
        pressure: counters.pressure.map(|_| Pressure::default()),
        ..Counters::default()
    }
}

/// Counts by path, from counts by inode, added to all groups above.
fn with_those_below<T: Default>(
    counted: HashMap<u64, T>,
    paths: &HashMap<u64, PathBuf>,
    add: impl Fn(&mut T, &T),
) -> HashMap<PathBuf, T> {
    let mut sums: HashMap<PathBuf, T> = HashMap::new();
    for (inode, counts) in counted {
        // The parents of a group that began and ended between two readings are unknown, so it counts for the root.
        let path = paths.get(&inode).map_or(Path::new("/"), PathBuf::as_path);
        for group in path.ancestors() {
            add(sums.entry(group.to_owned()).or_default(), &counts);
        }
    }
    sums
}

fn add_requests(sum: &mut RequestCounts, more: &RequestCounts) {
    sum.read_bytes += more.read_bytes;
    sum.written_bytes += more.written_bytes;
    sum.reads += more.reads;
    sum.writes += more.writes;
    sum.queued_ns += more.queued_ns;
    sum.device_ns += more.device_ns;
}

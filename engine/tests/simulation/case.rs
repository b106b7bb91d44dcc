//! One simulated job: a random job, what goes wrong, and what must hold afterwards.
//!
//! | what happened | what must hold |
//! |---|---|
//! | the job succeeded | its output is the expected one, nothing else is there |
//! | the job failed | the error is one that the troubles explain; an older output is whole; nothing else is there |
//! | the process was killed | there is no output, the older one, or all of the new one; the next run succeeds |
//! | the power was lost, the job is durable | the same; after a success, all of the output |
//! | the power was lost, the job is not durable | the next run succeeds |
//! | a job with a journal failed | as after a kill |
//! | the output's disk is gone | the error says so; once it is back, the next run succeeds |
//! | two jobs write one output, and wait | both succeed, one after the other |

use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use yunti_base::{Code, Result};
use yunti_engine::env::process::Launcher;
use yunti_engine::env::random::Random as Numbers;
use yunti_engine::env::simulated::{Disks, Finished, Host, Serve, Simulation, Trouble};
use yunti_engine::env::{Env, Files};
use yunti_engine::isolate::{isolated, serve};
use yunti_engine::job::{Control, JobSpec, run};
use yunti_engine::library::builtin_classes;
use yunti_engine::map::folding::FoldingClasses;
use yunti_engine::operator::ClassSource;

use crate::classes::test_classes;
use crate::job::{Limits, Random, names_in};
use crate::shapes::{chance, magnitude, pick};
use crate::watch::watched;

/// Disks of a simulated machine.
const MOUNTS: [&str; 4] = ["/", "/in", "/s", "/t"];
const OUTPUT_DISK: usize = 0;
const INPUT_DISK: usize = 1;
const SCRATCH_DISKS: [usize; 2] = [2, 3];

/// Bytes of input, at most.
const BYTES_MAX: [u64; 8] = [2000, 2000, 2000, 20_000, 20_000, 20_000, 200_000, u64::MAX];

/// Bytes of a large input, at least: more than a small budget holds.
const LARGE_BYTES: u64 = 1_200_000;

/// Seed of the schedule and the troubles, beside the seed of the job.
const OTHER: u64 = 0x5eed_0000_0000_0001;

/// Smaller variant of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Only {
    pub limits: Limits,
    /// Numbers of the troubles that are kept; None: all.
    pub troubles: Option<Vec<usize>>,
}

impl fmt::Display for Only {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limits { bytes, reduces, threads, later, .. } = self.limits;
        let mut parts = Vec::new();
        let mut limit = |name: &str, n: u64, all: u64| {
            if n != all {
                parts.push(format!("{name}={n}"));
            }
        };
        limit("bytes", bytes, u64::MAX);
        limit("reduces", reduces.into(), u32::MAX.into());
        limit("threads", threads as u64, usize::MAX as u64);
        limit("later", later as u64, usize::MAX as u64);
        if let Some(kept) = &self.troubles {
            parts.push(format!("troubles={}", kept.iter().map(usize::to_string).collect::<Vec<_>>().join("+")));
        }
        write!(f, "{}", parts.join(","))
    }
}

impl Only {
    /// Parses what `fmt` writes.
    pub fn parse(text: &str) -> Only {
        let mut only = Only::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or_else(|| panic!("{part} is no NAME=NUMBER"));
            let number = || value.parse::<u64>().unwrap_or_else(|_| panic!("{value} is no number"));
            match name {
                "bytes" => only.limits.bytes = number(),
                "reduces" => only.limits.reduces = number() as u32,
                "threads" => only.limits.threads = number() as usize,
                "later" => only.limits.later = number() as usize,
                "troubles" => {
                    let number = |n: &str| n.parse().unwrap_or_else(|_| panic!("{n} is no number"));
                    only.troubles = Some(value.split('+').filter(|n| !n.is_empty()).map(number).collect());
                }
                _ => panic!("unknown limit {name}"),
            }
        }
        only
    }
}

/// A random job and what goes wrong.
pub struct Case {
    pub seed: u64,
    pub job: Random,
    pub troubles: Vec<Trouble>,
    /// True if the classes run in worker processes.
    isolated: bool,
    /// Jobs that write the same output at once.
    pub rivals: usize,
    open_max: usize,
    /// True if the file system can exchange two names.
    pub exchanges: bool,
    /// Operation at which the run after a crash is killed too.
    crash_again: Option<u64>,
    /// True if the run after a crash or an error goes on with what was kept, if the job keeps a journal.
    goes_on: bool,
    left_bytes: u64,
    /// Wraps the files of the job: a planted bug.
    pub around: fn(Arc<dyn Files>) -> Arc<dyn Files>,
}

/// Result of a case.
pub struct Verdict {
    /// Name of the outcome, or what is wrong.
    pub outcome: std::result::Result<&'static str, String>,
    /// Hash of all operations of all runs.
    pub hash: u64,
    pub operations: u64,
    /// Runs of records that were spilled.
    pub spilled: u64,
    /// Last operations of the last runs.
    pub trace: Vec<String>,
}

/// The job's side of a simulation.
pub struct Controlled(pub Arc<Control>);

impl Host for Controlled {
    fn shrink(&self, bytes: u64) {
        self.0.ask_for_memory(bytes);
    }
    fn crashed(&self) {
        self.0.cancel();
    }
}

#[derive(Default)]
struct Runs {
    hash: u64,
    operations: u64,
    spilled: u64,
    /// Starts of the machine so far.
    boots: u64,
    trace: Vec<String>,
}

impl Case {
    /// Returns the case of a seed.
    pub fn of(seed: u64, only: &Only) -> Case {
        let random = &mut Numbers::new(seed ^ OTHER);
        // Most bugs need few bytes, and small jobs are quick. Some are large, for their memory.
        let (is_large, bytes) = (chance(random, 3), pick(random, &BYTES_MAX));
        let (bytes, bytes_min) = if is_large { (u64::MAX, LARGE_BYTES) } else { (bytes, 0) };
        let limits = Limits { bytes: bytes.min(only.limits.bytes), bytes_min, ..only.limits.clone() };
        let mut job = Random::of(&mut Numbers::new(seed), &limits);
        if is_large {
            // Encoders need more memory.
            (job.spec.memory_bytes, job.spec.compress) = (Some(pick(random, &[2, 2, 3, 4]) << 20), None);
        }
        let isolated = chance(random, 15);
        let elastic = chance(random, 15);
        let rivals = if chance(random, 4) { 2 } else { 1 };
        let open_max = pick(random, &[12, 40, 1024]);
        let exchanges = chance(random, 60);
        let crash_again = chance(random, 30).then(|| 1 + magnitude(random, 200));
        let (resumes, eager, goes_on) = (chance(random, 40), chance(random, 60), chance(random, 80));
        let power_alone = chance(random, 20);
        let left_bytes = pick(random, &[100u64, 400, 1000]) << 20;
        let mut troubles = troubles(isolated, elastic, random);
        if rivals > 1 {
            // A trouble of one job would be one of both.
            troubles.retain(|t| {
                matches!(t, Trouble::SlowDisk { .. } | Trouble::Short { .. } | Trouble::Interrupted { .. })
            });
        }
        if let Some(kept) = &only.troubles {
            let all = std::mem::take(&mut troubles);
            troubles = kept.iter().filter_map(|&n| all.get(n).copied()).collect();
        }
        if elastic {
            job.spec.memory_bytes = None;
        }
        let has = |is: fn(&Trouble) -> bool| troubles.iter().any(is);
        job.spec.resume = resumes && rivals == 1;
        if job.spec.resume && eager {
            // Each split is a checkpoint.
            job.spec.settings.insert("resume.checkpoint.ms".into(), "0".into());
        }
        if has(|t| matches!(t, Trouble::Crash { power: true, .. })) {
            job.spec.durable = !power_alone;
        }
        if rivals > 1 {
            (job.spec.overwrite, job.spec.wait) = (true, true);
        }
        if job.older && job.spec.durable {
            // If the new directory can neither be synced nor changed, both outputs stay.
            troubles.retain(|t| !matches!(t, Trouble::Failing { disk: OUTPUT_DISK, .. }));
        }
        let around = |files| files;
        Case { seed, job, troubles, isolated, rivals, open_max, exchanges, crash_again, goes_on, left_bytes, around }
    }

    pub fn describe(&self) -> String {
        let Case {
            seed, job, troubles, isolated, rivals, open_max, exchanges, crash_again, goes_on, left_bytes, ..
        } = self;
        format!(
            "seed {seed}: {}, isolated: {isolated}, jobs: {rivals}, open files: {open_max}, names \
             exchanged: {exchanges}, killed again: {crash_again:?}, goes on: {goes_on}, memory left: {left_bytes}, \
             troubles: {troubles:?}",
            job.describe()
        )
    }

    /// Runs the case: the job, and a second one where it must put things right.
    pub fn run(&self) -> Verdict {
        let runs = RefCell::new(Runs::default());
        let outcome = watched(self.describe(), || quietly(|| self.check(&runs)));
        let Runs { hash, operations, spilled, trace, .. } = runs.into_inner();
        Verdict { outcome, hash, operations, spilled, trace }
    }

    fn check(&self, runs: &RefCell<Runs>) -> &'static str {
        let spec = self.job.spec_in(Path::new("/"));
        let disks = self.disks();
        let (mut result, mut finished) = self.simulate(disks, &self.troubles, &spec, self.seed, runs);
        let mut with_more = false;
        let has = |is: fn(&Trouble) -> bool| self.troubles.iter().any(is);
        let fails = has(|t| matches!(t, Trouble::Failing { disk: OUTPUT_DISK, .. }));
        // Where names cannot be exchanged, an older output may wait in the directory of the claim.
        let lost = has(|t| matches!(t, Trouble::LostDisk { disk: OUTPUT_DISK, .. }))
            || (fails && self.job.older && !self.exchanges);
        let power = has(|t| matches!(t, Trouble::Crash { power: true, .. }));
        if result.as_ref().is_err_and(|e| e.code() == Code::Memory) && !finished.has_crashed {
            // Encoders of some codecs need more memory than the least budget.
            let more = JobSpec { memory_bytes: Some(256 << 20), ..spec.clone() };
            let disks = self.on(finished.disks, |files| match power || lost || spec.resume {
                true => self.expect_whole(files),
                false => self.expect_error(files),
            });
            (result, finished) = self.simulate(disks, &self.troubles, &more, self.seed, runs);
            with_more = true;
        }
        if finished.has_crashed || power {
            let disks = self.on(finished.disks, |files| {
                if finished.has_crashed || result.is_err() || !self.survives() {
                    self.expect_whole(files);
                } else {
                    self.job.expect_output(files, Path::new("/"));
                }
            });
            self.again(disks, &spec, runs);
            return if finished.has_crashed { "crashed, then the same" } else { "the power lost after the end" };
        }
        match result {
            Err(e) => {
                self.check_error(&e);
                if lost || spec.resume {
                    // What cannot be removed, or is worth keeping, stays until the next job for the output.
                    let disks = self.on(finished.disks, |files| self.expect_whole(files));
                    self.again(disks, &spec, runs);
                    return "one error, then the same";
                }
                self.on(finished.disks, |files| self.expect_error(files));
                "troubled, one error"
            }
            Ok(()) if lost => {
                let disks = self.on(finished.disks, |files| self.job.expect_output(files, Path::new("/")));
                self.again(disks, &spec, runs);
                "a lost disk, then the same"
            }
            Ok(()) => {
                self.on(finished.disks, |files| self.expect_output(files));
                match (with_more, self.troubles.is_empty()) {
                    (true, _) => "with more memory",
                    (_, true) => "the same",
                    (_, false) => "troubled, the same",
                }
            }
        }
    }

    /// Returns true if the job promises that its output survives what happens.
    fn survives(&self) -> bool {
        self.job.spec.durable || !self.troubles.iter().any(|t| matches!(t, Trouble::Crash { power: true, .. }))
    }

    /// Runs the job once more: it replaces what is there, and leaves nothing else. It may be killed too, and run again.
    fn again(&self, mut disks: Disks, spec: &JobSpec, runs: &RefCell<Runs>) {
        (0..disks.len()).for_each(|disk| disks.set_free(disk, u64::MAX));
        let resume = spec.resume && self.goes_on;
        let spec = JobSpec { overwrite: true, memory_bytes: Some(256 << 20), resume, ..spec.clone() };
        if let Some(nth) = self.crash_again {
            let crash = [Trouble::Crash { nth, power: false }];
            let (_, finished) = self.simulate(disks, &crash, &spec, self.seed ^ 1, runs);
            disks = self.on(finished.disks, |files| self.expect_whole(files));
        }
        let (result, finished) = self.simulate(disks, &[], &spec, self.seed ^ 2, runs);
        result.unwrap_or_else(|e| panic!("the run after: {e}"));
        self.on(finished.disks, |files| self.expect_output(files));
    }

    fn expect_output(&self, files: &dyn Files) {
        assert_eq!(names_in(files, Path::new("/")), ["in", "out", "s", "t"], "something is left");
        // A scratch file with a name stays on a disk that is gone, and where the journal that names it was not synced.
        let is_lost = self.troubles.iter().any(|t| matches!(t, Trouble::LostDisk { .. }));
        if !self.job.spec.resume || (!is_lost && self.survives()) {
            let scratch = [names_in(files, Path::new("/s")), names_in(files, Path::new("/t"))].concat();
            assert_eq!(scratch, [""; 0], "scratch files are left");
        }
        self.job.expect_output(files, Path::new("/"));
    }

    fn expect_error(&self, files: &dyn Files) {
        self.job.expect_nothing(files, Path::new("/"));
    }

    /// Expects no output, the older one, or all of the new one, if the job promises that.
    fn expect_whole(&self, files: &dyn Files) {
        if !self.survives() {
            return;
        }
        let aside = Path::new("/.out._temporary/older");
        if files.meta(Path::new("/out")).is_ok() {
            self.expect_either(files, Path::new("/out"));
        } else if files.meta(aside).is_ok() {
            // Between two renames. It is the new output of an earlier run, if that run succeeded.
            self.expect_either(files, aside);
        } else {
            assert!(!self.job.older, "the older output is gone");
        }
    }

    /// Expects the older output in a directory, or all of the new one.
    fn expect_either(&self, files: &dyn Files, directory: &Path) {
        let older = directory.join("older");
        if names_in(files, directory) == ["older"] {
            assert!(self.job.older && crate::job::read(files, &older) == b"older", "the older output is damaged");
        } else {
            self.job.expect_output_at(files, directory);
        }
    }

    /// Expects an error that the troubles explain.
    fn check_error(&self, e: &yunti_base::Error) {
        let allowed = |trouble: &Trouble| -> &[Code] {
            match trouble {
                Trouble::Error { .. } | Trouble::Failing { .. } | Trouble::LostDisk { .. } => {
                    &[Code::Input, Code::Output]
                }
                Trouble::FullDisk { .. } => &[Code::Output],
                Trouble::BitFlip { .. } => &[Code::Corrupt],
                _ => &[],
            }
        };
        let is_allowed = self.troubles.iter().any(|trouble| allowed(trouble).contains(&e.code()));
        // A first worker that cannot even start is an error before the job.
        let is_start = self.isolated && e.code() == Code::UserCode && e.to_string().starts_with("a worker process ");
        // A class that waits for its named output on a slow disk makes no progress.
        let is_slow = self.isolated
            && e.to_string().contains("took more than")
            && self.troubles.iter().any(|trouble| matches!(trouble, Trouble::SlowDisk { .. }));
        let is_explained = is_start || is_slow || self.may_fail_by_worker(e);
        assert!((is_allowed && e.path().is_some()) || is_explained, "{:?}: {e}", e.code());
        assert!(!e.to_string().contains('\n'), "{e}");
    }

    /// Returns true for the failure of a worker whose class cannot begin again: a reducer as a combiner may hold a
    /// group between two calls, and records of a named output cannot be taken back.
    fn may_fail_by_worker(&self, e: &yunti_base::Error) -> bool {
        let jobs = || std::iter::once(&self.job.spec).chain(&self.job.spec.then);
        let by_worker = |trouble: &Trouble| {
            let (Trouble::WorkerDies { .. } | Trouble::WorkerHangs { .. } | Trouble::WorkerDamages { .. }) = trouble
            else {
                return false;
            };
            true
        };
        e.code() == Code::UserCode
            && self.troubles.iter().any(by_worker)
            && jobs().any(|job| job.combiner.is_some() || !job.outputs.is_empty())
    }

    fn disks(&self) -> Disks {
        let mut disks = Disks::new(&MOUNTS);
        for (name, bytes) in &self.job.files {
            disks.put(&Path::new("/in").join(name), bytes);
        }
        if self.job.older {
            disks.put(Path::new("/out/older"), b"older");
        }
        disks
    }

    /// Runs the job in a simulated process.
    fn simulate(
        &self,
        disks: Disks,
        troubles: &[Trouble],
        spec: &JobSpec,
        seed: u64,
        runs: &RefCell<Runs>,
    ) -> (Result<()>, Finished) {
        let control = Control::new();
        let serve: Serve = Arc::new(|memory| drop(serve::serve(worker_sources(), memory, || false)));
        let simulation = Simulation {
            disks,
            troubles: troubles.to_vec(),
            seed: seed ^ OTHER,
            job_seed: self.seed,
            open_max: self.open_max,
            exchanges: self.exchanges,
            boot: runs.borrow().boots,
            threads_max: self.job.threads_given,
            left_bytes: self.left_bytes,
            host: Box::new(Controlled(control.clone())),
            serve,
            around: self.around,
        };
        let (result, mut finished) = simulation.run(|env| {
            if self.rivals == 1 {
                return self.one(env, spec, &control);
            }
            let results: Mutex<Vec<Result<u64>>> = Mutex::default();
            let one = |_| {
                let result = self.one(env, spec, &Control::new());
                results.lock().unwrap().push(result);
            };
            env.threads.run(self.rivals, &one);
            results.into_inner().unwrap().into_iter().sum()
        });
        let mut runs = runs.borrow_mut();
        runs.boots += u64::from(troubles.iter().any(|t| matches!(t, Trouble::Crash { power: true, .. })));
        let result = result.map(|spilled| runs.spilled += spilled);
        runs.hash = runs.hash.rotate_left(7) ^ finished.trace.hash();
        runs.operations += finished.operations;
        runs.trace.push(format!("run with {troubles:?}: {result:?}"));
        if KEEPS_TRACES.get() {
            runs.trace.extend(finished.trace.lines());
        }
        if let Some(failure) = finished.failure.take() {
            panic!("{failure}");
        }
        assert_eq!(finished.left_open, 0, "files that were not closed");
        (result, finished)
    }

    /// Runs a job. Returns its number of spilled runs.
    fn one(&self, env: &Env, spec: &JobSpec, control: &Control) -> Result<u64> {
        let classes = match self.isolated {
            false => sources(),
            true => {
                let launcher = Launcher {
                    program: "/worker".into(),
                    arguments: Vec::new(),
                    variables: Vec::new(),
                    memory_bytes: None,
                };
                vec![isolated(launcher, env, Some(Duration::from_secs(5)))?]
            }
        };
        run(spec, env, &classes, control).map(|outcome| outcome.report.spill.runs)
    }

    /// Looks at disks without a schedule or troubles.
    fn on(&self, disks: Disks, look: impl FnOnce(&dyn Files)) -> Disks {
        let simulation = Simulation {
            disks,
            troubles: Vec::new(),
            seed: 0,
            job_seed: 0,
            open_max: 1024,
            exchanges: true,
            boot: 0,
            threads_max: 1,
            left_bytes: 0,
            host: Box::new(Controlled(Control::new())),
            serve: Arc::new(drop),
            around: |files| files,
        };
        simulation.run(|env| look(&*env.files)).1.disks
    }
}

/// Returns the classes of the jobs.
pub fn sources() -> Vec<Arc<dyn ClassSource>> {
    vec![builtin_classes(), test_classes()]
}

/// Returns the classes that a worker serves.
pub fn worker_sources() -> Vec<Arc<dyn ClassSource>> {
    let mut classes = sources();
    classes.push(Arc::new(FoldingClasses(sources())));
    classes
}

fn troubles(isolated: bool, elastic: bool, random: &mut Numbers) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    if chance(random, 20) {
        return troubles;
    }
    for _ in 0..1 + random.below(3) {
        let nth = 1 + magnitude(random, 600);
        let disk = pick(random, &[OUTPUT_DISK, INPUT_DISK, SCRATCH_DISKS[0], SCRATCH_DISKS[1]]);
        let errno = pick(random, &[libc::EIO, libc::ENOSPC, libc::EACCES, libc::EMFILE]);
        let few = 1 + magnitude(random, 300);
        let memory = (1 << 20) + magnitude(random, 100 << 20);
        let trouble = match random.below(16) {
            0 | 1 => Trouble::Error { nth, errno, disk: if chance(random, 50) { Some(disk) } else { None } },
            2 => Trouble::Failing { nth, errno, disk },
            3 => Trouble::LostDisk { nth, disk },
            4 => Trouble::FullDisk { disk, free_bytes: 4096 * (1 + magnitude(random, 1000)) },
            5 => Trouble::SlowDisk { nth, disk, factor: pick(random, &[10, 1000, 100_000]) },
            6 => Trouble::BitFlip { nth },
            7 => Trouble::Short { chance: few },
            8 => Trouble::Interrupted { chance: few },
            9..=11 => Trouble::Crash { nth, power: chance(random, 50) },
            12 => Trouble::Shrink { nth, bytes: memory },
            13 if elastic => Trouble::Pressure { nth, bytes: memory },
            13..16 if isolated => match random.below(3) {
                0 => Trouble::WorkerDies { nth },
                1 => Trouble::WorkerHangs { nth },
                _ => Trouble::WorkerDamages { nth },
            },
            _ => continue,
        };
        let is_crash = |trouble: &Trouble| matches!(trouble, Trouble::Crash { .. });
        if !is_crash(&trouble) || !troubles.iter().any(is_crash) {
            troubles.push(trouble);
        }
    }
    troubles
}

thread_local! {
    /// Set while panics are caught and kept instead of printed.
    static CAUGHT: RefCell<Option<String>> = const { RefCell::new(None) };
    static IS_QUIET: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// True if traces are kept as lines.
    pub static KEEPS_TRACES: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Runs a check. Returns its result, or the message of its panic.
fn quietly<T>(check: impl FnOnce() -> T) -> std::result::Result<T, String> {
    static HOOK: std::sync::Once = std::sync::Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if IS_QUIET.get() {
                let place = info.location().map(|at| format!("{at}: ")).unwrap_or_default();
                let payload = info.payload();
                let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
                let message = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
                CAUGHT.set(Some(format!("{place}{message}")));
            } else {
                before(info);
            }
        }));
    });
    IS_QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(check));
    IS_QUIET.set(false);
    result.map_err(|_| CAUGHT.take().unwrap_or_default())
}

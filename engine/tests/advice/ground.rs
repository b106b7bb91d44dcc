//! Environment of the test jobs: a directory, one job at a time, and causes outside of a job. These are a control
//! group, other programs, and a small file system.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use yunti_engine::env::{Env, Files};
use yunti_engine::job::report::Report;
use yunti_engine::job::{Control, JobSpec, Mode, OutputTarget, run};
use yunti_engine::library::builtin_classes;

use crate::classes::test_classes;

/// Rules that name the causes.
pub const CAUSES: [&str; 16] = [
    "slow-class",
    "hot-key",
    "small-files",
    "whole-files",
    "slow-disk",
    "spills",
    "many-reduces",
    "few-threads",
    "cold-cache",
    "slow-writer",
    "huge-record",
    "slow-group",
    "cpu-quota",
    "busy-neighbour",
    "full-disk",
    "bad-reads",
];

/// Milliseconds that a job must take for advice.
const LONG_MS: f64 = 250.0;

/// A directory removed with its contents on drop, and a lock. One job runs at a time, because a report counts the time
/// of the whole process.
pub struct Ground {
    path: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

impl Ground {
    pub fn new(name: &str) -> Ground {
        static ALONE: Mutex<()> = Mutex::new(());
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("yunti-advice-{}-{name}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Ground { path, _alone: alone }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub fn text_path(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> String {
        std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        std::fs::write(self.path(name), bytes).unwrap();
        self.text_path(name)
    }

    /// Runs a job and returns its report. The output goes to `out` unless the job names a directory.
    pub fn run(&self, spec: &JobSpec) -> Report {
        self.run_on(spec, |files| files)
    }

    /// Runs a job on growing input until it is long enough for advice. Returns the last report and job.
    pub fn run_long(&self, spec: JobSpec) -> (Report, JobSpec) {
        let mut spec = spec;
        for _ in 0..6 {
            let report = self.run(&spec);
            if report.job.wall_ms >= LONG_MS {
                return (report, spec);
            }
            spec.inputs = [&spec.inputs[..], &spec.inputs].concat();
        }
        panic!("no input is large enough: {}", describe(&self.run(&spec)))
    }

    /// Runs a job with `around` wrapped around its files.
    pub fn run_on(&self, spec: &JobSpec, around: impl FnOnce(Arc<dyn Files>) -> Arc<dyn Files>) -> Report {
        let output = match &spec.output {
            OutputTarget::Directory(path) => path.clone(),
            _ => self.path("out"),
        };
        let spec = JobSpec {
            output: OutputTarget::Directory(output),
            scratch_dirs: if spec.scratch_dirs.is_empty() {
                vec![self.path("").into()]
            } else {
                spec.scratch_dirs.clone()
            },
            overwrite: true,
            ..spec.clone()
        };
        let real = Env::real();
        // Limits measured on this machine must not affect these jobs.
        let env = Env { files: around(real.files.clone()), cache_dir: None, ..real };
        run(&spec, &env, &[builtin_classes(), test_classes()], &Control::new()).unwrap().report
    }

    /// Runs a job as [`Self::run_long`], again while other programs take its processors. Returns `None` on a machine
    /// that stays busy, after a check that the report says so.
    pub fn run_undisturbed(&self, spec: JobSpec) -> Option<Report> {
        let (mut report, spec) = self.run_long(spec);
        for _ in 0..20 {
            if report.bottleneck.resource != "other_processes" {
                return Some(report);
            }
            self.assert_cause(&report, "busy-neighbour", &["other programs"]);
            std::thread::sleep(std::time::Duration::from_millis(500));
            report = self.run(&spec);
        }
        None
    }

    /// Checks [`Self::assert_cause`] of a job that runs as [`Self::run_undisturbed`].
    pub fn assert_cause_undisturbed(&self, spec: JobSpec, rule: &str, parts: &[&str]) {
        if let Some(report) = self.run_undisturbed(spec) {
            self.assert_cause(&report, rule, parts);
        }
    }

    /// Checks that `rule` is among the first two advices, with all `parts` in its sentence.
    pub fn assert_cause(&self, report: &Report, rule: &str, parts: &[&str]) {
        assert!(CAUSES.contains(&rule), "{rule}");
        let first = report.advice.iter().take(2).find(|a| a.rule == rule);
        let Some(given) = first else { panic!("{rule} is not named\n{}", describe(report)) };
        let text = format!("{}; {} {}", given.seen, given.change, given.flag.clone().unwrap_or_default());
        for part in parts {
            assert!(text.contains(part), "'{part}' is not in the advice of {rule}\n{}", describe(report));
        }
        println!("{rule} ({:.0} ms): {text}", report.job.wall_ms);
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Describes a report for a failed test.
pub fn describe(report: &Report) -> String {
    let mut out = format!("{} in {:.0} ms: {}\n", report.job.name, report.job.wall_ms, report.bottleneck.text);
    for advice in &report.advice {
        out += &format!("  {}: {}; {} {:?}\n", advice.rule, advice.seen, advice.change, advice.flag);
    }
    for stage in &report.stages {
        out += &format!("  {} {:.0} ms, {} bytes\n", stage.name, stage.busy_ms, stage.bytes);
    }
    out += &format!("  processor {:.0} ms, {:?}\n", report.job.cpu_ms, report.waits);
    for files in &report.files {
        out += &format!("  {files:?}\n");
    }
    out + &format!("  {:?}\n  {:?}\n  {:?}\n", report.groups, report.input, report.spill)
}

pub fn application(name: &str) -> JobSpec {
    let found = yunti_engine::job::application(name).unwrap();
    (found.spec)()
}

/// Job of a mapper without a reduce.
pub fn map_only(mapper: &str) -> JobSpec {
    JobSpec { name: mapper.into(), mapper: Some(mapper.into()), mode: Mode::None, ..JobSpec::default() }
}

/// Returns lines of words, the same in every run.
pub fn text(bytes: usize) -> Vec<u8> {
    let mut random = yunti_engine::env::random::Random::new(7);
    let mut out = Vec::with_capacity(bytes + 100);
    while out.len() < bytes {
        for _ in 0..8 {
            out.extend_from_slice(format!("word{:04x} ", random.below(5000)).as_bytes());
        }
        out.push(b'\n');
    }
    out
}

/// Control group that contains this process until dropped.
pub struct Quota {
    own: PathBuf,
    before: PathBuf,
}

impl Quota {
    /// Makes the group and enters it. `None`, with a message, without control groups or permission.
    pub fn new(processors: f64) -> Option<Quota> {
        let root = Path::new("/sys/fs/cgroup");
        let v2 = root.join("cgroup.controllers").exists();
        let mounted = if v2 { root.into() } else { root.join("cpu") };
        let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let of_cpu = |line: &&str| {
            let controllers = line.split(':').nth(1).unwrap_or("-");
            if v2 { controllers.is_empty() } else { controllers.split(',').any(|c| c == "cpu") }
        };
        let path = groups.lines().find(of_cpu).and_then(|line| line.splitn(3, ':').nth(2)).unwrap_or("/");
        let quota = Quota {
            own: mounted.join(format!("yunti-advice-{}", std::process::id())),
            before: mounted.join(path.trim_start_matches('/')),
        };
        let made = std::fs::create_dir(&quota.own).and_then(|()| {
            let us = (processors * 100_000.0) as u64;
            if v2 {
                std::fs::write(quota.own.join("cpu.max"), format!("{us} 100000"))?;
            } else {
                std::fs::write(quota.own.join("cpu.cfs_period_us"), "100000")?;
                std::fs::write(quota.own.join("cpu.cfs_quota_us"), us.to_string())?;
            }
            std::fs::write(quota.own.join("cgroup.procs"), std::process::id().to_string())
        });
        if let Err(e) = made {
            eprintln!("SKIPPED: a quota: no control group can be made: {}: {e} (run as root)", quota.own.display());
            return None;
        }
        Some(quota)
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let _ = std::fs::write(self.before.join("cgroup.procs"), std::process::id().to_string());
        let _ = std::fs::remove_dir(&self.own);
    }
}

/// Programs that keep processors busy until dropped, for half a minute at most.
pub struct Neighbours(Vec<Child>);

impl Neighbours {
    pub fn start(n: usize) -> Neighbours {
        let start = || {
            let mut command = Command::new("timeout");
            command.args(["-s", "KILL", "30", "sh", "-c", "exec 2>/dev/null; while :; do :; done"]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        Neighbours((0..n).map(|_| start()).collect())
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // `timeout` ends its children on SIGTERM, but could not on a signal that it cannot catch.
            let _ = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
            let _ = child.wait();
        }
    }
}

/// Small file system mounted in a directory until dropped.
pub struct Mount(PathBuf);

impl Mount {
    /// Mounts it. `None`, with a message, without permission.
    pub fn small(path: PathBuf, mib: u32) -> Option<Mount> {
        std::fs::create_dir(&path).unwrap();
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={mib}m"), "tmpfs"]).arg(&path);
        if !command.output().is_ok_and(|o| o.status.success()) {
            eprintln!("SKIPPED: a disk that is nearly full: a file system cannot be mounted here (run as root)");
            return None;
        }
        Some(Mount(path))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Drops the file from the page cache. Returns false, with a message, if that is impossible.
pub fn drop_from_cache(path: &str) -> bool {
    let output = |program: &str, args: &[&str]| Command::new(program).args(args).output();
    let kind = output("stat", &["-f", "-c", "%T", path]).map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string());
    let of_a_disk = kind.as_ref().is_ok_and(|k| !matches!(&**k, "tmpfs" | "ramfs" | "overlayfs" | ""));
    let synced = output("sync", &[path]).is_ok_and(|o| o.status.success());
    let from = format!("if={path}");
    let dropped = output("dd", &[&from, "iflag=nocache", "count=0", "status=none"]).is_ok_and(|o| o.status.success());
    if !of_a_disk || !synced || !dropped {
        eprintln!("SKIPPED: a cold cache: files here lie in memory ({kind:?}), or dd cannot drop them");
        return false;
    }
    true
}

/// Runs `work`. Returns the share of processor time that other programs used during it, 0 to 1, and the result.
pub fn measure_others<T>(work: impl FnOnce() -> T) -> (f64, T) {
    // Ticks: (all processors and programs, idle, this process).
    let sample = || {
        let stat = std::fs::read_to_string("/proc/stat").unwrap_or_default();
        let all: Vec<f64> =
            stat.lines().next().unwrap_or("").split_whitespace().filter_map(|n| n.parse().ok()).collect();
        let of = |i: usize| all.get(i).copied().unwrap_or(0.0);
        let own = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let own: Vec<f64> =
            own.rsplit(')').next().unwrap_or("").split_whitespace().filter_map(|n| n.parse().ok()).collect();
        // After the name come the state (not a number) and ten numbers before the ticks.
        let own = own.get(10).copied().unwrap_or(0.0) + own.get(11).copied().unwrap_or(0.0);
        (all.iter().take(8).sum::<f64>(), of(3) + of(4), own)
    };
    let before = sample();
    let result = work();
    let after = sample();
    let all = (after.0 - before.0).max(1.0);
    let others = all - (after.1 - before.1) - (after.2 - before.2);
    ((others / all).clamp(0.0, 1.0), result)
}

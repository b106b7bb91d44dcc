//! Checks whether a machine is set up well for a job: `yunti machine doctor`. It reads and measures; it changes
//! nothing.
//!
//! ```text
//!   finding    present state, effect, cure                       report    findings as a table or as JSON
//!   cgroup     limits of control groups
//!   settings   what `yunti machine` can change, with measurements and counters; yunti-settings has the rules
//!   scratch    scratch directories: their file systems, features and speed
//!   live       state during the checks: load and pressure, allocation stalls, network interrupts
//!   processor, memory, limits, overlays, java, parts: the rules, one file a concern
//! ```
//! A rule is a function of a `System`. Tests run each rule on small trees of files: one where it holds, one where it
//! does not.

mod cgroup;
mod finding;
mod java;
mod limits;
mod live;
mod memory;
mod overlays;
mod parts;
mod processor;
mod report;
mod scratch;
mod settings;

use std::path::{Path, PathBuf};

use clap::Args;
use yunti_base::Code;
use yunti_engine::bytes::simd;
use yunti_engine::env::Env;
use yunti_engine::job::default_budget_bytes_below;

use finding::{Finding, Level};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;
use yunti_settings::System;

/// Check whether this machine is set up well for a job
///
/// Checks processors, memory, limits, settings of disks and network, JVMs, scratch directories and load. Prints the
/// state, its effect, the cure and how to undo it. Changes nothing. A warning is a failure only with --strict.
#[derive(Debug, Args)]
pub struct DoctorFlags {
    /// Check this scratch directory; may be repeated [default: the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    pub scratch: Vec<PathBuf>,

    /// Skip measurements: write nothing to scratch directories, start no JVM
    #[arg(long)]
    pub quick: bool,

    /// Exit with 1 on a warning
    #[arg(long)]
    pub strict: bool,

    /// Print one JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Runs all checks and prints their findings. Fails with `Failure::Reported` if `--strict` is set and a check warns.
pub fn doctor(flags: &DoctorFlags) -> Outcome {
    let env = Env::real();
    let system = System::at(Path::new("/"));
    let dirs = if flags.scratch.is_empty() { vec![env.temp_dir.clone()] } else { flags.scratch.clone() };
    let processors = env.threads.processors();
    let mut findings = check_machine(&system, processors, simd::allowed(), !flags.quick);
    // The trials above touch much memory themselves, so the counters are compared from here on.
    let begun = (!flags.quick).then(|| live::Watched::begin(&system));
    for dir in &dirs {
        let trial = scratch::trial::attempt(&env, dir, flags.quick);
        scratch::add_to_scheduler(&system, dir, &trial, &mut findings);
        findings.extend(scratch::findings(&system, dir, &trial));
    }
    let path = std::env::var_os("PATH");
    findings.extend(java::findings(&system, processors));
    findings.extend(parts::java(path.as_deref()).and_then(|java| java::start(&java, !flags.quick)));
    findings.extend(parts::findings(&env, path.as_deref()));
    findings.extend(begun.unwrap_or_default().end(&system));
    if flags.json {
        stdout::print_json(&report::document(&findings))?;
    } else {
        stdout::print(&report::text(&findings))?;
    }
    if flags.strict && findings.iter().any(|f| f.level == Level::Warning) {
        return Err(Failure::Reported(Code::Internal));
    }
    Ok(())
}

/// Findings of all checks that need no scratch directory. `workers`: threads of a job by default; `allowed`: the
/// widest instruction set that is not masked.
fn check_machine(system: &System, workers: usize, allowed: simd::Level, measures: bool) -> Vec<Finding> {
    let budget_bytes = default_budget_bytes_below(system.root());
    let mut findings = processor::findings(system, workers, allowed);
    findings.extend(memory::findings(system, budget_bytes));
    findings.extend(settings::huge_pages::findings(system));
    findings.extend(settings::findings(system, measures));
    findings.extend(overlays::findings(system));
    findings.extend(limits::findings(system, workers, budget_bytes));
    findings.extend(live::pressure::findings(system, workers));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_settings::tree::Tree;

    /// Files of a machine on which every check is `ok`.
    pub const GOOD: &[(&str, &str)] = &[
        (
            "proc/cpuinfo",
            "model name\t: A\nflags\t\t: sse2 popcnt avx2 aes bmi2 avx512f avx512dq avx512bw avx512vl avx512_vbmi2\n",
        ),
        ("proc/self/status", "Cpus_allowed_list:\t0-3\nTHP_enabled:\t1\n"),
        ("sys/devices/system/cpu/online", "0-3\n"),
        ("proc/self/cgroup", "0::/\n"),
        ("proc/loadavg", "0.10 0.20 0.30 1/100 5\n"),
        (
            "proc/meminfo",
            "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\nCommitLimit: 8000000 \
             kB\nCommitted_AS: 100000 kB\n",
        ),
        ("proc/sys/vm/overcommit_memory", "0\n"),
        ("proc/sys/vm/swappiness", "60\n"),
        ("proc/sys/vm/zone_reclaim_mode", "0\n"),
        ("proc/sys/net/core/somaxconn", "4096\n"),
        ("sys/devices/system/node/node0/x", ""),
        ("sys/block/sda/queue/scheduler", "[none] mq-deadline\n"),
        ("sys/block/sda/queue/rotational", "0\n"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("sys/kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise [madvise] never\n"),
        (
            "proc/self/limits",
            "Limit                     Soft Limit           Hard Limit           Units     \n\
            Max file size             unlimited            unlimited            bytes     \n\
            Max data size             unlimited            unlimited            bytes     \n\
            Max processes             90000                90000                processes \n\
            Max open files            20000                20000                files     \n\
            Max locked memory         65536                65536                bytes     \n\
            Max address space         unlimited            unlimited            bytes     \n",
        ),
        ("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"),
        (
            "proc/pressure/io",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        ),
        (
            "proc/pressure/memory",
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        ),
        ("proc/self/mountinfo", "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"),
        ("sys/dev/block/8:1/partition", "1\n"),
        ("proc/sys/vm/dirty_ratio", "20\n"),
        ("sys/dev/block/queue/rotational", "0\n"),
        ("sys/dev/block/queue/read_ahead_kb", "128\n"),
    ];

    /// The good machine with some files replaced; the text `-` removes the file.
    pub fn machine(changes: &[(&str, &str)]) -> Tree {
        let unchanged = GOOD.iter().filter(|(path, _)| !changes.iter().any(|(changed, _)| changed == path));
        Tree::of(&unchanged.chain(changes.iter().filter(|(_, text)| *text != "-")).copied().collect::<Vec<_>>())
    }

    /// Level of the only finding with this name.
    pub fn level_of(findings: &[Finding], name: &str) -> Level {
        let found: Vec<_> = findings.iter().filter(|f| f.name == name).collect();
        assert_eq!(found.len(), 1, "{name}: {findings:#?}");
        found[0].level
    }

    /// Each rule is `ok` on the good machine, and has its level with the change.
    #[test]
    fn each_rule_detects_its_problem() {
        use Level::{Note, Ok, Warning};
        let limits = GOOD.iter().find(|(path, _)| *path == "proc/self/limits").unwrap().1;
        let few_files = limits.replace("Max open files            20000", "Max open files            128  ");
        let some_files = limits.replace("Max open files            20000", "Max open files            1000 ");
        let address = limits.replace("Max address space         unlimited", "Max address space         1000000  ");
        let small_files = limits.replace("Max file size             unlimited", "Max file size             1000     ");
        let processes = limits.replace("Max processes             90000", "Max processes             7    ");
        let huge = "sys/kernel/mm/transparent_hugepage/enabled";
        let defrag = "sys/kernel/mm/transparent_hugepage/defrag";
        let cases: &[(&str, Level, &[(&str, &str)])] = &[
            ("instructions", Note, &[("proc/cpuinfo", "flags : avx2 popcnt\n")]),
            ("instructions", Warning, &[("proc/cpuinfo", "flags : sse2\n")]),
            ("instructions", Note, &[("proc/cpuinfo", "-")]),
            ("processors", Note, &[("proc/self/status", "Cpus_allowed_list:\t0-1\n")]),
            ("processors", Note, &[("sys/fs/cgroup/cpu.max", "200000 100000\n")]),
            ("processors", Warning, &[("sys/fs/cgroup/cpu.max", "50000 100000\n")]),
            (
                "processors",
                Note,
                &[
                    ("proc/self/cgroup", "4:cpu,cpuacct:/a\n"),
                    ("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "100000"),
                    ("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000"),
                ],
            ),
            ("processors", Ok, &[("sys/fs/cgroup/cpu.max", "max 100000\n")]),
            ("available", Note, &[("proc/self/cgroup", "0::/a/b\n"), ("sys/fs/cgroup/a/memory.max", "4000000000\n")]),
            (
                "available",
                Note,
                &[
                    ("proc/self/cgroup", "3:memory:/a\n"),
                    ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "4000000000\n"),
                ],
            ),
            ("available", Warning, &[("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 200000 kB\n")]),
            ("available", Note, &[("proc/meminfo", "-")]),
            ("overcommit", Warning, &[("proc/sys/vm/overcommit_memory", "2\n")]),
            ("overcommit", Ok, &[("proc/sys/vm/overcommit_memory", "1\n")]),
            ("swap", Warning, &[("proc/meminfo", "MemTotal: 9 kB\nSwapTotal: 2000000 kB\nSwapFree: 1000000 kB\n")]),
            ("swap", Ok, &[("proc/meminfo", "MemTotal: 9 kB\nSwapTotal: 2000000 kB\nSwapFree: 2000000 kB\n")]),
            ("huge-pages", Warning, &[(huge, "always madvise [never]\n")]),
            ("huge-pages", Ok, &[(huge, "[always] madvise never\n")]),
            ("huge-pages-defrag", Note, &[(defrag, "always defer defer+madvise madvise [never]\n")]),
            ("huge-pages-defrag", Ok, &[(defrag, "[always] defer defer+madvise madvise never\n")]),
            (
                "swappiness",
                Note,
                &[(
                    "proc/meminfo",
                    "MemTotal: 16000000 kB\nMemAvailable: 12000000 kB\nSwapTotal: 2000000 kB\nSwapFree: 2000000 kB\n",
                )],
            ),
            (
                "zone-reclaim",
                Warning,
                &[("proc/sys/vm/zone_reclaim_mode", "1\n"), ("sys/devices/system/node/node1/x", "")],
            ),
            ("io-scheduler", Note, &[("sys/block/sda/queue/scheduler", "none mq-deadline [bfq]\n")]),
            ("listen-backlog", Note, &[("proc/sys/net/core/somaxconn", "128\n")]),
            ("open files", Warning, &[("proc/self/limits", &few_files)]),
            ("open files", Note, &[("proc/self/limits", &some_files)]),
            ("address space", Warning, &[("proc/self/limits", &address)]),
            ("file size", Warning, &[("proc/self/limits", &small_files)]),
            ("threads", Warning, &[("proc/self/limits", &processes)]),
            ("threads", Warning, &[("sys/fs/cgroup/pids.max", "10\n"), ("sys/fs/cgroup/pids.current", "7\n")]),
            ("threads", Ok, &[("sys/fs/cgroup/pids.max", "1000\n"), ("sys/fs/cgroup/pids.current", "7\n")]),
            ("load", Warning, &[("proc/loadavg", "4.5 1 1 1/1 1\n")]),
            ("load", Note, &[("proc/loadavg", "2.5 1 1 1/1 1\n")]),
            ("waiting for disks", Warning, &[("proc/pressure/io", "some avg10=30.00 avg60=0\n")]),
            ("waiting for disks", Note, &[("proc/pressure/io", "some avg10=5.00 avg60=0\n")]),
            (
                "waiting for memory",
                Warning,
                &[("proc/pressure/memory", "some avg10=9 avg60=0\nfull avg10=3.00 avg60=0\n")],
            ),
        ];
        let good = machine(&[]);
        let on_good = check_machine(&good.system(), 4, simd::Level::Avx512, false);
        for (name, level, changes) in cases {
            assert_eq!(level_of(&on_good, name), Ok, "{name} of the good machine");
            let broken = machine(changes);
            assert_eq!(
                level_of(&check_machine(&broken.system(), 4, simd::Level::Avx512, false), name),
                *level,
                "{name}: {changes:?}"
            );
        }
    }

    /// Huge pages that the kernel lacks, or that are switched off for this process.
    #[test]
    fn reports_missing_huge_pages_of_this_process() {
        for (changes, level) in [
            (("sys/kernel/mm/transparent_hugepage/enabled", "-"), Level::Note),
            (("proc/self/status", "Cpus_allowed_list:\t0-3\nTHP_enabled:\t0\n"), Level::Warning),
        ] {
            let broken = machine(&[changes]);
            assert_eq!(level_of(&check_machine(&broken.system(), 4, simd::Level::Avx512, false), "huge pages"), level);
        }
    }

    #[test]
    fn missing_files_are_notes_not_warnings() {
        let nothing = Tree::of(&[]);
        let findings = check_machine(&nothing.system(), 1, simd::Level::Avx512, false);
        assert!(findings.len() > 5);
        assert!(findings.iter().all(|f| f.level != Level::Warning), "{findings:#?}");
        // Bytes that are no numbers count as missing.
        let noise: Vec<_> = GOOD.iter().map(|(path, _)| (*path, "\u{fffd}:: - \n[ ::: max 9 0\n")).collect();
        assert!(
            check_machine(&Tree::of(&noise).system(), 1, simd::Level::Avx512, false)
                .iter()
                .all(|f| f.level != Level::Warning)
        );
    }

    #[test]
    fn reports_masked_instructions() {
        let good = machine(&[]);
        let masked = processor::findings(&good.system(), 4, simd::Level::Avx2);
        let finding = masked.iter().find(|f| f.name == "instructions").unwrap();
        assert!(finding.level == Level::Note && finding.seen.contains("masked"), "{finding:?}");
    }

    #[test]
    fn each_problem_has_a_reason_and_an_undo() {
        let poor = machine(&[
            ("proc/cpuinfo", "flags : sse2\n"),
            ("sys/fs/cgroup/cpu.max", "50000 100000\n"),
            ("proc/sys/vm/overcommit_memory", "2\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n"),
        ]);
        for finding in check_machine(&poor.system(), 4, simd::Level::Avx512, false) {
            assert!(!finding.seen.is_empty() && !finding.why.is_empty(), "{finding:?}");
            // A change that needs root has an undo.
            let sets = finding.change.as_deref().is_some_and(|c| c.contains("sudo"));
            assert!(!sets || finding.undo.is_some(), "{finding:?}");
            // A change by `yunti machine apply` also has a cost.
            let applies = finding.change.as_deref().is_some_and(|c| c.contains("yunti machine apply"));
            assert!(!applies || finding.cost.as_deref().is_some_and(|c| !c.is_empty()), "{finding:?}");
        }
    }
}

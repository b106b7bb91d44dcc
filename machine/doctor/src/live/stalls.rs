//! Programs that wait inside an allocation: compaction for huge pages, and direct reclaim.
//!
//! A program that needs memory waits here only if the background threads are too slow: kcompactd makes free pages of
//! 2 MiB, kswapd makes free pages. The kernel counts each wait.

use std::time::{Duration, Instant};

use yunti_program::text::numbers;
use yunti_settings::System;

use super::super::finding::{Finding, Level};

const AREA: &str = "memory";
/// Waits a second. Each takes 0.1 to 10 ms, so this is up to a tenth of one program's time.
const WAITS_NOTE: f64 = 10.0;
/// Waits a second.
const WAITS_WARNING: f64 = 200.0;
/// Share of huge pages that the kernel could not provide.
const FAILED_NOTE: f64 = 0.5;
/// Huge pages; fewer show nothing.
const HUGE_MIN: u64 = 100;
/// Bytes that `min_free_kbytes` may take at most.
const RESERVE_BYTES_MAX: u64 = 2 << 30;
const RESERVE: &str = "proc/sys/vm/min_free_kbytes";
const DEFRAG: &str = "sys/kernel/mm/transparent_hugepage/defrag";

/// Counters of the kernel at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Time of the sample, or `None` for the boot.
    at: Option<Instant>,
    /// Waits for compaction.
    compactions: u64,
    /// Waits after which there was no huge page.
    compactions_failed: u64,
    /// Waits for reclaim, of all zones.
    reclaims: u64,
    /// Page faults that got a huge page.
    huge: u64,
    /// Page faults that wanted a huge page and got a small one.
    huge_failed: u64,
}

/// Counters of a machine that has just booted.
pub const BOOT: Sample =
    Sample { at: None, compactions: 0, compactions_failed: 0, reclaims: 0, huge: 0, huge_failed: 0 };

/// Returns the present counters. `None`: the kernel counts no compaction.
pub fn sample(system: &System) -> Option<Sample> {
    let text = system.text("proc/vmstat")?;
    let sum = |of: &dyn Fn(&str) -> bool| {
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let numbers = lines.filter(|(name, _)| of(name)).filter_map(|(_, n)| n.parse::<u64>().ok());
        numbers.reduce(|a, b| a.saturating_add(b))
    };
    let of = |exact: &str| sum(&|name| name == exact);
    Some(Sample {
        at: Some(Instant::now()),
        compactions: of("compact_stall")?,
        compactions_failed: of("compact_fail").unwrap_or(0),
        reclaims: sum(&|name| name == "allocstall" || name.starts_with("allocstall_")).unwrap_or(0),
        huge: of("thp_fault_alloc").unwrap_or(0),
        huge_failed: of("thp_fault_fallback").unwrap_or(0),
    })
}

/// Returns the finding about the waits between two samples.
pub fn finding(system: &System, before: &Sample, after: &Sample) -> Option<Finding> {
    let period = match before.at {
        Some(at) => after.at?.saturating_duration_since(at),
        None => uptime(system)?,
    };
    let seconds = period.as_secs_f64().max(0.1);
    let since = |of: fn(&Sample) -> u64| of(after).saturating_sub(of(before));
    let (compactions, reclaims) = (since(|s| s.compactions), since(|s| s.reclaims));
    let (huge, failed) = (since(|s| s.huge), since(|s| s.huge_failed));
    let seen = format!(
        "{}: {} waits for compaction ({} in vain), {} for reclaim; {} of {} huge pages were not available",
        if before.at.is_some() { "during the checks" } else { "since boot" },
        numbers::count(compactions),
        numbers::count(since(|s| s.compactions_failed)),
        numbers::count(reclaims),
        numbers::count(failed),
        numbers::count(huge.saturating_add(failed)),
    );
    let (compactions_a_second, reclaims_a_second) = (compactions as f64 / seconds, reclaims as f64 / seconds);
    let lacks_huge = huge + failed >= HUGE_MIN && failed as f64 > (huge + failed) as f64 * FAILED_NOTE;
    let worst = compactions_a_second.max(reclaims_a_second);
    let level = match () {
        () if worst >= WAITS_WARNING => Level::Warning,
        () if worst >= WAITS_NOTE || lacks_huge => Level::Note,
        () => Level::Ok,
    };
    let why = match () {
        () if worst < WAITS_NOTE && lacks_huge => {
            "memory is fragmented: buffers and heaps get small pages, which are slower to touch"
        }
        () if level == Level::Ok => "a program that allocates memory waits for compaction or reclaim; here few do",
        () if compactions_a_second >= reclaims_a_second => {
            "programs that touch fresh memory wait 0.1 to 10 ms each time until the kernel has moved pages together \
             for a huge page"
        }
        () => {
            "programs that allocate memory free pages themselves, 0.1 to 10 ms each time, because the kernel's \
             background thread begins too late"
        }
    };
    let finding = Finding::new(AREA, "allocation-stalls", seen, why).level(level);
    let cure = if worst >= WAITS_NOTE && compactions_a_second >= reclaims_a_second {
        without_waits(system).or_else(|| larger_reserve(system))
    } else {
        larger_reserve(system)
    };
    let Some(cure) = cure else { return Some(finding.change("more memory, or smaller heaps and --memory")) };
    Some(finding.change(cure.change).cost(cure.cost).undo(cure.undo))
}

/// Lines to paste.
struct Cure {
    change: String,
    cost: &'static str,
    undo: String,
}

/// Huge pages only where they are free at once. `None`: the setting does that already, or is missing.
fn without_waits(system: &System) -> Option<Cure> {
    let chosen = system.chosen(DEFRAG)?;
    let value = match &*chosen {
        "always" => "madvise",
        "madvise" | "defer+madvise" => "defer",
        _ => return None,
    };
    Some(Cure {
        change: format!("sudo yunti machine apply huge-pages-defrag={value}"),
        cost: match value {
            "madvise" => "programs that request no huge pages get fewer of them",
            _ => "programs that request huge pages get small ones until the background thread has made some",
        },
        undo: "sudo yunti machine undo huge-pages-defrag".to_owned(),
    })
}

/// A larger reserve of free pages, so that the background thread begins earlier. `None`: it is large already.
fn larger_reserve(system: &System) -> Option<Cure> {
    let now = system.number(RESERVE)?;
    let total = system.memory_bytes("MemTotal")?;
    let most = (total / 20).min(RESERVE_BYTES_MAX) >> 10;
    let good = (total / 100 >> 10).max(now.saturating_mul(2)).min(most);
    (good > now).then(|| Cure {
        change: format!("sudo sysctl vm.min_free_kbytes={good}"),
        cost: "this much memory stays free, and is missing in the page cache",
        undo: format!("sudo sysctl vm.min_free_kbytes={now}"),
    })
}

fn uptime(system: &System) -> Option<Duration> {
    let seconds: f64 = system.text("proc/uptime")?.split_whitespace().next()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_settings::tree::Tree;

    fn machine(defrag: &str, reserve: &str) -> Tree {
        Tree::of(&[
            (DEFRAG, defrag),
            (RESERVE, reserve),
            ("proc/meminfo", "MemTotal: 16000000 kB\n"),
            ("proc/uptime", "1000.5 2000.1\n"),
        ])
    }

    const ALWAYS: &str = "[always] defer defer+madvise madvise never\n";
    const MADVISE: &str = "always defer defer+madvise [madvise] never\n";
    const DEFER: &str = "always [defer] defer+madvise madvise never\n";

    /// Finding about ten seconds with these counters.
    fn check(tree: &Tree, counts: [u64; 4]) -> Finding {
        let start = Instant::now();
        let before = Sample { at: Some(start), compactions: 5, reclaims: 7, ..BOOT };
        let [compactions, reclaims, huge, huge_failed] = counts;
        let after = Sample {
            at: Some(start + Duration::from_secs(10)),
            compactions: 5 + compactions,
            compactions_failed: compactions / 2,
            reclaims: 7 + reclaims,
            huge,
            huge_failed,
        };
        finding(&tree.system(), &before, &after).unwrap()
    }

    #[test]
    fn only_many_waits_are_a_problem() {
        let tree = machine(MADVISE, "67584\n");
        for (counts, level) in [
            ([0, 0, 0, 0], Level::Ok),
            ([99, 99, 1000, 10], Level::Ok),
            ([100, 0, 0, 0], Level::Note),
            ([0, 100, 0, 0], Level::Note),
            ([2000, 0, 0, 0], Level::Warning),
            ([0, 2000, 0, 0], Level::Warning),
            ([0, 0, 10, 90], Level::Note),
            ([0, 0, 9, 90], Level::Ok),
            ([0, 0, 90, 10], Level::Ok),
        ] {
            assert_eq!(check(&tree, counts).level, level, "{counts:?}");
        }
    }

    #[test]
    fn the_cure_depends_on_the_waits_and_the_setting() {
        let change = |defrag, reserve, counts| {
            let found = check(&machine(defrag, reserve), counts);
            assert!(found.undo.is_some() == found.cost.is_some(), "{found:?}");
            found.change.unwrap()
        };
        let apply = |value: &str| format!("sudo yunti machine apply huge-pages-defrag={value}");
        assert_eq!(change(ALWAYS, "67584\n", [500, 0, 0, 0]), apply("madvise"));
        assert_eq!(change(MADVISE, "67584\n", [500, 0, 0, 0]), apply("defer"));
        assert_eq!(change(DEFER, "67584\n", [500, 0, 0, 0]), "sudo sysctl vm.min_free_kbytes=160000");
        assert_eq!(change(ALWAYS, "67584\n", [10, 500, 0, 0]), "sudo sysctl vm.min_free_kbytes=160000");
        assert_eq!(change(ALWAYS, "67584\n", [0, 0, 10, 90]), "sudo sysctl vm.min_free_kbytes=160000");
        // Twice the present reserve, up to a twentieth of the memory; then more memory is the only cure.
        assert_eq!(change(ALWAYS, "200000\n", [0, 500, 0, 0]), "sudo sysctl vm.min_free_kbytes=400000");
        assert_eq!(change(ALWAYS, "790000\n", [0, 500, 0, 0]), "sudo sysctl vm.min_free_kbytes=800000");
        assert_eq!(change(ALWAYS, "800000\n", [0, 500, 0, 0]), "more memory, or smaller heaps and --memory");
        assert_eq!(check(&machine(ALWAYS, "67584\n"), [0; 4]).change, None);
    }

    #[test]
    fn reads_counters_since_boot() {
        let tree = machine(ALWAYS, "67584\n");
        tree.write(
            "proc/vmstat",
            "allocstall_dma 1\nallocstall_normal 20000\nallocstall_movable 300\ncompact_stall 40\ncompact_fail 5\n\
             compact_success 35\nthp_fault_alloc 60\nthp_fault_fallback 7\nthp_fault_fallback_charge 1\n",
        );
        let found = finding(&tree.system(), &BOOT, &sample(&tree.system()).unwrap()).unwrap();
        assert_eq!(
            found.seen,
            "since boot: 40 waits for compaction (5 in vain), 20,301 for reclaim; 7 of 67 huge pages were not available"
        );
        // 20 a second.
        assert_eq!(found.level, Level::Note);
        let old = Tree::of(&[("proc/vmstat", "allocstall 4\ncompact_stall 1\n")]);
        assert_eq!(sample(&old.system()).unwrap().reclaims, 4);
        assert_eq!(sample(&Tree::of(&[("proc/vmstat", "allocstall x\n")]).system()), None);
    }
}

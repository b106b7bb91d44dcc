//! Memory: huge pages, swappiness, dirty limits, NUMA, mappings.

use crate::setting::{Advice, Setting, Values};
use crate::system::System;

const AREA: &str = "memory";
const HUGE: &str = "sys/kernel/mm/transparent_hugepage";
const VM: &str = "proc/sys/vm";
/// Bytes. More dirty pages take long to write, and are lost in a crash.
const DIRTY_BYTES_MAX: u64 = 4 << 30;
/// Bytes that a good disk writes in a second or two.
const DIRTY_BYTES_GOOD: u64 = 1 << 30;
/// Mappings a process, the kernel's default.
const MAPPINGS: u64 = 65_530;

/// Returns the memory settings of this machine.
pub fn settings(system: &System) -> Vec<Setting> {
    let one_by_one = [huge_pages, compaction, swappiness, dirty_limits, zone_reclaim, numa_balancing, mappings];
    one_by_one.iter().filter_map(|setting| setting(system)).collect()
}

/// Returns the words that the file offers, without brackets.
fn words(system: &System, path: &str) -> Option<Vec<String>> {
    Some(system.text(path)?.split_whitespace().map(|w| w.trim_matches(['[', ']']).to_owned()).collect())
}

fn huge_pages(system: &System) -> Option<Setting> {
    let path = format!("{HUGE}/enabled");
    let chosen = system.chosen(&path)?;
    let values = Values::Word { words: words(system, &path)?, paths: vec![path] };
    Some(
        Setting::new("huge-pages", AREA, chosen.clone(), values)
            .why(
                "buffers and heaps get pages of 2 MiB on request: fresh memory is several times faster, with fewer \
                TLB misses; a JVM requests them with -XX:+UseTransparentHugePages",
            )
            .better(
                chosen == "never",
                Advice::Change,
                "madvise",
                "memory in larger pieces for programs that request \
                it; other programs are not affected",
            ),
    )
}

fn compaction(system: &System) -> Option<Setting> {
    let path = format!("{HUGE}/defrag");
    let chosen = system.chosen(&path)?;
    let values = Values::Word { words: words(system, &path)?, paths: vec![path] };
    Some(
        Setting::new("huge-pages-defrag", AREA, chosen.clone(), values)
            .why(
                "a program that requests a huge page waits for compaction; else it gets small pages on a machine \
                with fragmented memory",
            )
            .better(
                chosen == "never" || chosen == "defer",
                Advice::Consider,
                "madvise",
                "programs that request huge pages wait some milliseconds for compaction at their start",
            ),
    )
}

fn swappiness(system: &System) -> Option<Setting> {
    let path = format!("{VM}/swappiness");
    let value = system.number(&path)?;
    let swap = system.memory_bytes("SwapTotal").unwrap_or(0);
    // A swapped page in memory (zram) needs no read from a disk.
    let in_memory = system.text("proc/swaps").is_some_and(|text| text.contains("/dev/zram"));
    let now = if swap == 0 { format!("{value}; no swap") } else { value.to_string() };
    Some(
        Setting::new("swappiness", AREA, now, Values::Number { path, min: 0, max: 200 })
            .why(
                "above 10, the kernel swaps out heap memory to keep files in the page cache; a garbage collection \
                then reads all of it back page by page",
            )
            .better(
                swap > 0 && !in_memory && value > 10,
                Advice::Consider,
                "10",
                "less page cache when memory is \
                short",
            ),
    )
}

/// Returns the bytes that may be dirty before writers wait, and true if the limit is set in bytes.
pub fn dirty_bytes_max(system: &System) -> Option<(u64, bool)> {
    match system.number(format!("{VM}/dirty_bytes")) {
        Some(bytes) if bytes > 0 => Some((bytes, true)),
        _ => {
            let percent = system.number(format!("{VM}/dirty_ratio"))?;
            // The percentage applies to available memory: free pages and page cache.
            Some((system.memory_bytes("MemAvailable")? / 100 * percent.min(100), false))
        }
    }
}

fn dirty_limits(system: &System) -> Option<Setting> {
    let (limit, in_bytes) = dirty_bytes_max(system)?;
    let how = if in_bytes {
        "vm.dirty_bytes".to_owned()
    } else {
        format!("{} % of available memory", system.number(format!("{VM}/dirty_ratio"))?)
    };
    let now = format!("up to {} MiB ({how})", limit >> 20);
    Some(
        Setting::new("dirty-limit", AREA, now, Values::DirtyLimit)
            .why(
                "bytes that programs may write before they wait for a disk; above it all writers wait at once, and \
                an fsync of a few bytes waits behind them",
            )
            .better(
                limit > DIRTY_BYTES_MAX,
                Advice::Consider,
                format!("{}M", DIRTY_BYTES_GOOD >> 20),
                "writers wait for the disk sooner, for shorter times; short-lived files are written too",
            ),
    )
}

/// Returns the number of NUMA nodes.
fn nodes(system: &System) -> usize {
    let names = system.names("sys/devices/system/node");
    names.iter().filter(|name| name.strip_prefix("node").is_some_and(|n| n.parse::<u32>().is_ok())).count()
}

fn zone_reclaim(system: &System) -> Option<Setting> {
    let path = format!("{VM}/zone_reclaim_mode");
    let value = system.number(&path)?;
    let nodes = nodes(system);
    Some(
        Setting::new(
            "zone-reclaim",
            AREA,
            format!(
                "{value}; {} \
            memory",
                of_nodes(nodes)
            ),
            Values::Number { path, min: 0, max: 7 },
        )
        .why(
            "if not 0, the kernel drops pages of the own node before it uses another node's memory: the page \
                cache is limited to one node, and allocations wait",
        )
        .better(
            value != 0 && nodes > 1,
            Advice::Change,
            "0",
            "more memory of other nodes, with 1.3 to 2 times \
                the latency",
        ),
    )
}

fn of_nodes(nodes: usize) -> String {
    if nodes > 1 { format!("{nodes} nodes of") } else { "one node of".to_owned() }
}

fn numa_balancing(system: &System) -> Option<Setting> {
    let path = "proc/sys/kernel/numa_balancing".to_owned();
    let value = system.number(&path)?;
    let nodes = nodes(system);
    // With one heap for all nodes, each page move is soon reversed.
    Some(
        Setting::new(
            "numa-balancing",
            AREA,
            format!(
                "{value}; {} \
            memory",
                of_nodes(nodes)
            ),
            Values::Number { path, min: 0, max: 3 },
        )
        .why(
            "the kernel unmaps pages from time to time to find the node that uses them, and moves them there: a \
                gain for programs that stay on a node; page faults without gain where threads of all nodes share a \
                heap (use -XX:+UseNUMA)",
        )
        .better(false, Advice::Keep, "", ""),
    )
}

fn mappings(system: &System) -> Option<Setting> {
    let path = format!("{VM}/max_map_count");
    let value = system.number(&path)?;
    Some(
        Setting::new("max-map-count", AREA, value.to_string(), Values::Number { path, min: 1024, max: 1 << 31 })
            .why(
                "mapped files and ZGC heaps use many mappings; a process above the limit fails with `Cannot allocate \
                memory` while memory is free",
            )
            .better(value < MAPPINGS, Advice::Change, "262144", "kernel memory, 200 bytes for each mapping in use"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{RATIOS, advice};

    #[test]
    fn each_rule_detects_its_problem() {
        let keep = Some((Advice::Keep, None));
        let is = |advice, value: &str| Some((advice, Some(value.to_owned())));
        let (node0, node1) = (("sys/devices/system/node/node0/x", ""), ("sys/devices/system/node/node1/x", ""));
        let enabled = "sys/kernel/mm/transparent_hugepage/enabled";
        let defrag = "sys/kernel/mm/transparent_hugepage/defrag";
        assert_eq!(advice("huge-pages", &[(enabled, "always [madvise] never\n")]), keep);
        assert_eq!(advice("huge-pages", &[(enabled, "always madvise [never]\n")]), is(Advice::Change, "madvise"));
        assert_eq!(advice("huge-pages", &[]), None);
        assert_eq!(
            advice("huge-pages-defrag", &[(defrag, "always defer madvise [never]\n")]),
            is(Advice::Consider, "madvise")
        );
        assert_eq!(advice("huge-pages-defrag", &[(defrag, "always defer [madvise] never\n")]), keep);
        let swap = ("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 10000000 kB\nSwapTotal: 1000 kB\n");
        let no_swap = ("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 10000000 kB\nSwapTotal: 0 kB\n");
        let sixty = ("proc/sys/vm/swappiness", "60\n");
        assert_eq!(advice("swappiness", &[swap, sixty]), is(Advice::Consider, "10"));
        assert_eq!(advice("swappiness", &[no_swap, sixty]), keep);
        assert_eq!(advice("swappiness", &[swap, sixty, ("proc/swaps", "/dev/zram0 partition 9 0 9\n")]), keep);
        assert_eq!(advice("swappiness", &[swap, ("proc/sys/vm/swappiness", "10\n")]), keep);
        let zone = "proc/sys/vm/zone_reclaim_mode";
        assert_eq!(advice("zone-reclaim", &[(zone, "1\n"), node0, node1]), is(Advice::Change, "0"));
        assert_eq!(advice("zone-reclaim", &[(zone, "1\n"), node0]), keep);
        assert_eq!(advice("zone-reclaim", &[(zone, "0\n"), node0, node1]), keep);
        assert_eq!(advice("max-map-count", &[("proc/sys/vm/max_map_count", "1024\n")]), is(Advice::Change, "262144"));
        assert_eq!(advice("max-map-count", &[("proc/sys/vm/max_map_count", "65530\n")]), keep);
    }

    #[test]
    fn large_dirty_limits_have_a_better_value() {
        assert_eq!(advice("dirty-limit", &RATIOS), Some((Advice::Consider, Some("1024M".to_owned()))));
        let small = [
            RATIOS[0],
            RATIOS[1],
            RATIOS[2],
            RATIOS[3],
            ("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 9000000 kB\n"),
        ];
        assert_eq!(advice("dirty-limit", &small), Some((Advice::Keep, None)));
    }
}

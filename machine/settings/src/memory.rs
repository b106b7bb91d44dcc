//! Memory: huge pages, what is swapped, how much may be dirty, other nodes' memory, mappings.

use crate::setting::{Advice, Refusal, Setting, Takes, Wanted, Write, now};
use crate::system::System;

const AREA: &str = "memory";
const HUGE: &str = "sys/kernel/mm/transparent_hugepage";
const VM: &str = "proc/sys/vm";
/// More that is dirty takes long to write, and a crash loses it.
const DIRTY_BYTES_MAX: u64 = 4 << 30;
/// A second or two of what a good disk writes.
const DIRTY_BYTES_GOOD: u64 = 1 << 30;
/// The kernel takes no less than two pages; less than this helps nobody.
const DIRTY_BYTES_LEAST: u64 = 1 << 20;
const MAPPINGS: u64 = 65_530;

pub fn settings(system: &System) -> Vec<Setting> {
    let one_by_one = [huge_pages, compaction, swappiness, dirty_limits, zone_reclaim, numa_balancing, mappings];
    one_by_one.iter().filter_map(|setting| setting(system)).collect()
}

fn words(system: &System, path: &str) -> Option<Vec<String>> {
    Some(system.text(path)?.split_whitespace().map(|w| w.trim_matches(['[', ']']).to_owned()).collect())
}

fn huge_pages(system: &System) -> Option<Setting> {
    let path = format!("{HUGE}/enabled");
    let chosen = system.chosen(&path)?;
    let takes = Takes::Word { words: words(system, &path)?, paths: vec![path] };
    Some(
        Setting::new("huge-pages", AREA, chosen.clone(), takes)
            .why("buffers and heaps that ask for pages of 2 MiB get them: fresh memory is then several times faster, and its addresses are found sooner; a JVM asks with -XX:+UseTransparentHugePages")
            .better(chosen == "never", Advice::Change, "madvise", "memory in larger pieces for those that ask; nobody else is concerned"),
    )
}

fn compaction(system: &System) -> Option<Setting> {
    let path = format!("{HUGE}/defrag");
    let chosen = system.chosen(&path)?;
    let takes = Takes::Word { words: words(system, &path)?, paths: vec![path] };
    Some(
        Setting::new("huge-pages-defrag", AREA, chosen.clone(), takes)
            .why("who asks for a huge page waits until there is one; else it gets small ones on a machine whose memory is in pieces")
            .better(
                chosen == "never" || chosen == "defer",
                Advice::Consider,
                "madvise",
                "those that ask wait for memory to be put together, some milliseconds at their start",
            ),
    )
}

fn swappiness(system: &System) -> Option<Setting> {
    let path = format!("{VM}/swappiness");
    let value = system.number(&path)?;
    let swap = system.memory_bytes("SwapTotal").unwrap_or(0);
    // In memory (zram) a page that is swapped is no read from a disk.
    let in_memory = system.text("proc/swaps").is_some_and(|text| text.contains("/dev/zram"));
    let now = if swap == 0 { format!("{value}; there is no swap") } else { value.to_string() };
    Some(
        Setting::new("swappiness", AREA, now, Takes::Number { path, min: 0, max: 200 })
            .why("above 10, memory of heaps is swapped out to keep files in the page cache; a garbage collection then reads all of it back, a page at a time")
            .better(swap > 0 && !in_memory && value > 10, Advice::Consider, "10", "less page cache when memory is short"),
    )
}

/// What may be dirty before writers wait, in bytes; and whether it is said in bytes.
pub fn dirty_bytes_max(system: &System) -> Option<(u64, bool)> {
    match system.number(format!("{VM}/dirty_bytes")) {
        Some(bytes) if bytes > 0 => Some((bytes, true)),
        _ => {
            let percent = system.number(format!("{VM}/dirty_ratio"))?;
            // Of what can be had: free, and the page cache.
            Some((system.memory_bytes("MemAvailable")? / 100 * percent.min(100), false))
        }
    }
}

fn dirty_limits(system: &System) -> Option<Setting> {
    let (limit, in_bytes) = dirty_bytes_max(system)?;
    let how = if in_bytes {
        "vm.dirty_bytes".to_owned()
    } else {
        format!("{} % of what is available", system.number(format!("{VM}/dirty_ratio"))?)
    };
    let now = format!("up to {} MiB ({how})", limit >> 20);
    Some(
        Setting::new("dirty-limit", AREA, now, Takes::DirtyLimit)
            .why("so much may be written before anybody waits for a disk; then all that write wait for it at once, and an fsync of a few bytes waits behind it")
            .better(
                limit > DIRTY_BYTES_MAX,
                Advice::Consider,
                format!("{}M", DIRTY_BYTES_GOOD >> 20),
                "writers wait for the disk sooner, in small pieces; files that are deleted soon are written after all",
            ),
    )
}

/// The kernel sets `.._ratio` to 0 when `.._bytes` is written, and the other way round.
pub(crate) fn dirty_limit(system: &System, limit: u64) -> Result<Wanted, Refusal> {
    let total = system.memory_bytes("MemTotal").unwrap_or(u64::MAX);
    if limit < DIRTY_BYTES_LEAST || limit > total / 2 {
        return Err(format!("{limit} bytes is no limit for this machine: from 1M to half of its memory"));
    }
    let path = |name: &str| format!("{VM}/{name}");
    // The lower first: the kernel halves the one that begins where it were not below the limit.
    let writes = vec![Write::new(path("dirty_background_bytes"), limit / 4), Write::new(path("dirty_bytes"), limit)];
    let old = now(system, &writes)?;
    let mut restore = Vec::new();
    for (bytes, ratio) in [("dirty_bytes", "dirty_ratio"), ("dirty_background_bytes", "dirty_background_ratio")] {
        let in_force = match system.number(path(bytes)) {
            Some(1..) => path(bytes),
            _ => path(ratio),
        };
        let value = system.number(&in_force).ok_or_else(|| format!("/{in_force} cannot be read"))?;
        restore.push(Write::new(in_force, value));
    }
    Ok(Wanted { writes, old, restore })
}

fn nodes(system: &System) -> usize {
    let names = system.names("sys/devices/system/node");
    names.iter().filter(|name| name.strip_prefix("node").is_some_and(|n| n.parse::<u32>().is_ok())).count()
}

fn zone_reclaim(system: &System) -> Option<Setting> {
    let path = format!("{VM}/zone_reclaim_mode");
    let value = system.number(&path)?;
    let nodes = nodes(system);
    Some(
        Setting::new("zone-reclaim", AREA, format!("{value}; {} memory", of_nodes(nodes)), Takes::Number { path, min: 0, max: 7 })
            .why("where it is not 0, pages of the own node are dropped before memory of another node is used: the page cache is as large as one node, and who allocates waits")
            .better(value != 0 && nodes > 1, Advice::Change, "0", "more memory of other nodes, which is 1.3 to 2 times as far"),
    )
}

fn of_nodes(nodes: usize) -> String {
    if nodes > 1 { format!("{nodes} nodes of") } else { "one node of".to_owned() }
}

fn numa_balancing(system: &System) -> Option<Setting> {
    let path = "proc/sys/kernel/numa_balancing".to_owned();
    let value = system.number(&path)?;
    let nodes = nodes(system);
    // One heap for all nodes: what moves it moves it back.
    Some(
        Setting::new("numa-balancing", AREA, format!("{value}; {} memory", of_nodes(nodes)), Takes::Number { path, min: 0, max: 3 })
            .why("pages are unmapped now and then to see from where they are used, and moved there: that pays for programs that stay on a node, and costs faults where threads of all nodes use one heap (there: -XX:+UseNUMA)")
            .better(false, Advice::Keep, "", ""),
    )
}

fn mappings(system: &System) -> Option<Setting> {
    let path = format!("{VM}/max_map_count");
    let value = system.number(&path)?;
    Some(
        Setting::new("max-map-count", AREA, value.to_string(), Takes::Number { path, min: 1024, max: 1 << 31 })
            .why("mapped files and heaps of ZGC are many mappings; who has no more of them fails with `Cannot allocate memory` while there is enough")
            .better(value < MAPPINGS, Advice::Change, "262144", "kernel memory for those that use them, 200 bytes each"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    fn advice(name: &str, files: &[(&str, &str)]) -> Option<(Advice, Option<String>)> {
        let tree = Tree::of(files);
        let setting = settings(&tree.system()).into_iter().find(|s| s.name == name)?;
        // What is recommended can be asked for.
        if let Some(value) = &setting.recommended {
            setting.wanted(&tree.system(), value).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        Some((setting.advice, setting.recommended))
    }

    #[test]
    fn each_rule_holds_and_is_broken() {
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

    const RATIOS: [(&str, &str); 5] = [
        ("proc/sys/vm/dirty_ratio", "20\n"),
        ("proc/sys/vm/dirty_background_ratio", "10\n"),
        ("proc/sys/vm/dirty_bytes", "0\n"),
        ("proc/sys/vm/dirty_background_bytes", "0\n"),
        ("proc/meminfo", "MemTotal: 64000000 kB\nMemAvailable: 60000000 kB\n"),
    ];

    #[test]
    fn what_may_be_dirty() {
        assert_eq!(advice("dirty-limit", &RATIOS), Some((Advice::Consider, Some("1024M".to_owned()))));
        let small = [
            RATIOS[0],
            RATIOS[1],
            RATIOS[2],
            RATIOS[3],
            ("proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 9000000 kB\n"),
        ];
        assert_eq!(advice("dirty-limit", &small), Some((Advice::Keep, None)));
        let tree = Tree::of(&RATIOS);
        let wanted = dirty_limit(&tree.system(), 1 << 30).unwrap();
        let of = |name: &str, value: u64| Write::new(format!("proc/sys/vm/{name}"), value);
        assert_eq!(wanted.writes, [of("dirty_background_bytes", 1 << 28), of("dirty_bytes", 1 << 30)]);
        // The form that was in force comes back.
        assert_eq!(wanted.restore, [of("dirty_ratio", 20), of("dirty_background_ratio", 10)]);
        tree.write("proc/sys/vm/dirty_bytes", "5000000\n");
        let wanted = dirty_limit(&tree.system(), 1 << 30).unwrap();
        assert_eq!(wanted.restore, [of("dirty_bytes", 5_000_000), of("dirty_background_ratio", 10)]);
        assert!(dirty_limit(&tree.system(), 1000).is_err() && dirty_limit(&tree.system(), 1 << 40).is_err());
    }
}

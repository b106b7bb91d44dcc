//! What the kernel has counted since the machine was started, that says whether a setting matters here: some small files of proc and sys.

use yunti_settings::System;

use yunti_program::text::numbers;

const PAGE_BYTES: u64 = 4096;

/// None: nothing is counted about it, or this system does not tell.
pub fn of(system: &System, name: &str) -> Option<String> {
    match name {
        "swappiness" => {
            let bytes = |name| Some(numbers::bytes(paged(system, name)? * PAGE_BYTES));
            let file = paged(system, "workingset_refault_file").or_else(|| paged(system, "workingset_refault"));
            let again = file.map_or(String::new(), |n| {
                format!("; {} of files read again soon after they were dropped", numbers::bytes(n * PAGE_BYTES))
            });
            Some(format!("{} swapped out, {} swapped in{again}", bytes("pswpout")?, bytes("pswpin")?))
        }
        "dirty-limit" => {
            let written = paged(system, "nr_written")? * PAGE_BYTES;
            let now = system.memory_bytes("Dirty")? + system.memory_bytes("Writeback").unwrap_or(0);
            Some(format!("{} written back, {} dirty now", numbers::bytes(written), numbers::bytes(now)))
        }
        "zone-reclaim" | "numa-balancing" => {
            let (own, other) = (of_nodes(system, "local_node")?, of_nodes(system, "other_node")?);
            let moved = paged(system, "numa_pages_migrated")
                .filter(|n| *n > 0)
                .map_or(String::new(), |n| format!(", {n} pages moved"));
            Some(format!("{:.1} % of the memory from another node{moved}", share(other, own + other)))
        }
        "huge-pages-defrag" => {
            let (given, not) = (paged(system, "thp_fault_alloc")?, paged(system, "thp_fault_fallback")?);
            (given + not > 0).then(|| {
                format!("{given} huge pages given, {:.1} % of those that were wanted not", share(not, given + not))
            })
        }
        "tw-reuse" | "local-ports" => {
            let (ended, again) =
                (counter(system, "TW")? + counter(system, "TWKilled").unwrap_or(0), counter(system, "TWRecycled")?);
            Some(format!("{ended} connections have waited to their end, {again} ports were taken again before"))
        }
        "fin-timeout" => {
            let memory = counter(system, "TCPAbortOnTimeout")?;
            let orphans = system.field("proc/net/sockstat", "TCP")?;
            let mut words = orphans.split_whitespace();
            let orphans = words.find(|word| *word == "orphan").and_then(|_| words.next())?;
            Some(format!("{memory} connections given up as nothing came; {orphans} without an owner now"))
        }
        "listen-backlog" => {
            let (full, dropped) = (counter(system, "ListenOverflows")?, counter(system, "ListenDrops")?);
            Some(format!("{full} connections found a full queue, {dropped} were dropped"))
        }
        _ => None,
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// A line of `proc/vmstat`.
fn paged(system: &System, name: &str) -> Option<u64> {
    let text = system.text("proc/vmstat")?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

/// A name's sum over all nodes of memory.
fn of_nodes(system: &System, name: &str) -> Option<u64> {
    let folder = "sys/devices/system/node";
    let nodes =
        system.names(folder).into_iter().filter(|n| n.strip_prefix("node").is_some_and(|n| n.parse::<u32>().is_ok()));
    let counts = nodes.filter_map(|node| {
        let text = system.text(format!("{folder}/{node}/numastat"))?;
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse::<u64>().ok())
    });
    counts.reduce(|a, b| a + b)
}

/// Of `proc/net/netstat`, whose names stand a line above their values.
fn counter(system: &System, name: &str) -> Option<u64> {
    let text = system.text("proc/net/netstat")?;
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("TcpExt: "));
    let (names, values) = (lines.next()?, lines.next()?);
    let at = names.split(' ').position(|n| n == name)?;
    values.split(' ').nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_settings::tree::Tree;

    #[test]
    fn what_is_counted_is_told() {
        let tree = Tree::of(&[
            (
                "proc/vmstat",
                "pswpin 1\npswpout 512\nworkingset_refault_file 0\nnr_written 256\nthp_fault_alloc 3\nthp_fault_fallback 1\nnuma_pages_migrated 5\n",
            ),
            ("proc/meminfo", "Dirty: 2048 kB\nWriteback: 0 kB\n"),
            (
                "proc/net/netstat",
                "TcpExt: TW TWRecycled TWKilled ListenOverflows ListenDrops TCPAbortOnTimeout\nTcpExt: 40 7 1 3 4 9\nIpExt: A\nIpExt: 1\n",
            ),
            ("proc/net/sockstat", "sockets: used 9\nTCP: inuse 4 orphan 2 tw 123 alloc 7 mem 1\n"),
            ("sys/devices/system/node/node0/numastat", "numa_hit 1\nlocal_node 90\nother_node 10\n"),
            ("sys/devices/system/node/node1/numastat", "numa_hit 1\nlocal_node 60\nother_node 40\n"),
        ]);
        for (name, said) in [
            ("swappiness", "2.1 MB swapped out, 4.1 kB swapped in"),
            ("dirty-limit", "1.05 MB written back, 2.1 MB dirty now"),
            ("zone-reclaim", "25.0 % of the memory from another node, 5 pages moved"),
            ("huge-pages-defrag", "3 huge pages given, 25.0 %"),
            ("tw-reuse", "41 connections have waited to their end, 7 ports"),
            ("fin-timeout", "9 connections given up as nothing came; 2 without"),
            ("listen-backlog", "3 connections found a full queue, 4 were dropped"),
        ] {
            let counted = of(&tree.system(), name).unwrap();
            assert!(counted.contains(said), "{name}: {counted}");
        }
        let nothing = Tree::of(&[("proc/net/netstat", "TcpExt: TW\n"), ("proc/vmstat", "pswpin x\n")]);
        for name in ["swappiness", "tw-reuse", "zone-reclaim", "max-map-count", "listen-backlog"] {
            assert_eq!(of(&nothing.system(), name), None, "{name}");
        }
    }
}

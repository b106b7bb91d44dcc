//! Counters of the kernel since boot that show whether a setting matters on this machine, from small files of proc and
//! sys.

use yunti_settings::System;

use yunti_program::text::numbers;

const PAGE_BYTES: u64 = 4096;

/// Returns the counters about setting `name` as text. `None`: the kernel has none, or does not report them.
pub fn since_boot(system: &System, name: &str) -> Option<String> {
    match name {
        "swappiness" => {
            let bytes = |name| Some(numbers::bytes(vmstat(system, name)? * PAGE_BYTES));
            let file = vmstat(system, "workingset_refault_file").or_else(|| vmstat(system, "workingset_refault"));
            let again = file.map_or(String::new(), |n| {
                format!("; {} of file pages read back soon after eviction", numbers::bytes(n * PAGE_BYTES))
            });
            Some(format!("{} swapped out, {} swapped in{again}", bytes("pswpout")?, bytes("pswpin")?))
        }
        "dirty-limit" => {
            let written = vmstat(system, "nr_written")? * PAGE_BYTES;
            let now = system.memory_bytes("Dirty")? + system.memory_bytes("Writeback").unwrap_or(0);
            Some(format!("{} written back, {} dirty now", numbers::bytes(written), numbers::bytes(now)))
        }
        "zone-reclaim" | "numa-balancing" => {
            let (own, other) = (numa_sum(system, "local_node")?, numa_sum(system, "other_node")?);
            let moved = vmstat(system, "numa_pages_migrated")
                .filter(|n| *n > 0)
                .map_or(String::new(), |n| format!(", {n} pages moved"));
            Some(format!("{:.1} % of allocations from another node{moved}", share(other, own + other)))
        }
        "huge-pages-defrag" => {
            let (allocated, failed) = (vmstat(system, "thp_fault_alloc")?, vmstat(system, "thp_fault_fallback")?);
            (allocated + failed > 0).then(|| {
                format!(
                    "{allocated} huge pages allocated; huge-page allocations failed: {:.1} %",
                    share(failed, allocated + failed)
                )
            })
        }
        "tw-reuse" | "local-ports" => {
            let (ended, again) =
                (counter(system, "TW")? + counter(system, "TWKilled").unwrap_or(0), counter(system, "TWRecycled")?);
            Some(format!("{ended} connections left TIME_WAIT by timeout, {again} ports were reused earlier"))
        }
        "fin-timeout" => {
            let memory = counter(system, "TCPAbortOnTimeout")?;
            let orphans = system.field("proc/net/sockstat", "TCP")?;
            let mut words = orphans.split_whitespace();
            let orphans = words.find(|word| *word == "orphan").and_then(|_| words.next())?;
            Some(format!("{memory} connections aborted by timeout; {orphans} without an owner now"))
        }
        "listen-backlog" => {
            let (full, dropped) = (counter(system, "ListenOverflows")?, counter(system, "ListenDrops")?);
            Some(format!("{full} connections met a full accept queue, {dropped} were dropped"))
        }
        _ => None,
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// Returns the value of `name` in `proc/vmstat`.
fn vmstat(system: &System, name: &str) -> Option<u64> {
    let text = system.text("proc/vmstat")?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

/// Returns the sum of counter `name` over all NUMA nodes.
fn numa_sum(system: &System, name: &str) -> Option<u64> {
    let folder = "sys/devices/system/node";
    let nodes =
        system.names(folder).into_iter().filter(|n| n.strip_prefix("node").is_some_and(|n| n.parse::<u32>().is_ok()));
    let counts = nodes.filter_map(|node| {
        let text = system.text(format!("{folder}/{node}/numastat"))?;
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse::<u64>().ok())
    });
    counts.reduce(|a, b| a + b)
}

/// Returns the TCP counter `name` of `proc/net/netstat`, where the line of names is above the line of values.
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
    fn reports_counters_of_each_setting() {
        let tree = Tree::of(&[
            (
                "proc/vmstat",
                "pswpin 1\npswpout 512\nworkingset_refault_file 0\nnr_written 256\nthp_fault_alloc \
                 3\nthp_fault_fallback 1\nnuma_pages_migrated 5\n",
            ),
            ("proc/meminfo", "Dirty: 2048 kB\nWriteback: 0 kB\n"),
            (
                "proc/net/netstat",
                "TcpExt: TW TWRecycled TWKilled ListenOverflows ListenDrops TCPAbortOnTimeout\nTcpExt: 40 7 1 3 4 \
                 9\nIpExt: A\nIpExt: 1\n",
            ),
            ("proc/net/sockstat", "sockets: used 9\nTCP: inuse 4 orphan 2 tw 123 alloc 7 mem 1\n"),
            ("sys/devices/system/node/node0/numastat", "numa_hit 1\nlocal_node 90\nother_node 10\n"),
            ("sys/devices/system/node/node1/numastat", "numa_hit 1\nlocal_node 60\nother_node 40\n"),
        ]);
        for (name, expected) in [
            ("swappiness", "2.1 MB swapped out, 4.1 kB swapped in"),
            ("dirty-limit", "1.05 MB written back, 2.1 MB dirty now"),
            ("zone-reclaim", "25.0 % of allocations from another node, 5 pages moved"),
            ("huge-pages-defrag", "3 huge pages allocated; huge-page allocations failed: 25.0 %"),
            ("tw-reuse", "41 connections left TIME_WAIT by timeout, 7 ports"),
            ("fin-timeout", "9 connections aborted by timeout; 2 without"),
            ("listen-backlog", "3 connections met a full accept queue, 4 were dropped"),
        ] {
            let counted = since_boot(&tree.system(), name).unwrap();
            assert!(counted.contains(expected), "{name}: {counted}");
        }
        let nothing = Tree::of(&[("proc/net/netstat", "TcpExt: TW\n"), ("proc/vmstat", "pswpin x\n")]);
        for name in ["swappiness", "tw-reuse", "zone-reclaim", "max-map-count", "listen-backlog"] {
            assert_eq!(since_boot(&nothing.system(), name), None, "{name}");
        }
    }
}

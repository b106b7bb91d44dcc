//! Memory of a JVM's process beside the heap's objects.

use std::fs;

use yunti_probe::target::Process;

use crate::jvm::{PerfData, diagnose};

/// Use of memory with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// Name.
    pub name: String,
    /// Bytes.
    pub bytes: u64,
}

/// Generations and spaces that counters may have.
const GENERATIONS: usize = 3;
const SPACES: usize = 5;

/// Returns the bytes of a heap in use by the counters, which the JVM renews at each collection.
pub fn heap_used(counters: &PerfData) -> u64 {
    let spaces = (0..GENERATIONS).flat_map(|generation| (0..SPACES).map(move |space| (generation, space)));
    let used = spaces.filter_map(|(g, s)| counters.get(&format!("sun.gc.generation.{g}.space.{s}.used")));
    used.sum::<f64>() as u64
}

/// Returns what the process has in memory: by the kernel, by the JVM's counters, and by its own account of native
/// memory if that is on.
pub fn memory(process: &Process, counters: Option<&PerfData>) -> Vec<MemoryUse> {
    let status = fs::read_to_string(format!("/proc/{}/status", process.pid)).unwrap_or_default();
    let of_kernel = [
        ("resident memory of the process", "VmRSS:"),
        ("  of it anonymous", "RssAnon:"),
        ("  of it pages of files", "RssFile:"),
        ("swapped out", "VmSwap:"),
    ];
    let mut all: Vec<MemoryUse> = of_kernel
        .into_iter()
        .filter_map(|(name, key)| Some(MemoryUse { name: name.to_owned(), bytes: kilobytes(&status, key)? }))
        .filter(|memory| memory.bytes > 0)
        .collect();
    if let Some(counters) = counters {
        let of_counters = [
            ("metaspace in use", "sun.gc.metaspace.used"),
            ("metaspace committed", "sun.gc.metaspace.capacity"),
            ("of it classes", "sun.gc.compressedclassspace.used"),
        ];
        all.extend(of_counters.into_iter().filter_map(|(name, key)| {
            Some(MemoryUse { name: name.to_owned(), bytes: counters.get(key).filter(|&n| n > 0.0)? as u64 })
        }));
    }
    if let Ok(account) = diagnose(process, "VM.native_memory summary") {
        all.extend(native_memory(&account));
    }
    all
}

fn kilobytes(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|n| n * 1024)
}

/// Parses lines such as `-                     Class (reserved=1048731KB, committed=667KB)`.
fn native_memory(account: &str) -> Vec<MemoryUse> {
    let part = |line: &str| {
        let (name, sizes) = line.trim_start().strip_prefix('-')?.split_once('(')?;
        let committed = sizes.split("committed=").nth(1)?.split("KB").next()?.parse::<u64>().ok()?;
        let name = format!("native memory tracking: {}", name.trim());
        Some(MemoryUse { name, bytes: committed * 1024 })
    };
    account.lines().filter_map(part).filter(|memory| memory.bytes > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_of_native_memory_is_read() {
        let account = "Native Memory Tracking:\n\nTotal: reserved=5846MB, committed=373MB\n\
            -                 Java Heap (reserved=4194304KB, committed=262144KB)\n\
            \x20                           (mmap: reserved=4194304KB, committed=262144KB) \n \n\
            -                     Class (reserved=1048731KB, committed=667KB)\n";
        let of = |name: &str, kb: u64| MemoryUse { name: format!("native memory tracking: {name}"), bytes: kb * 1024 };
        assert_eq!(native_memory(account), [of("Java Heap", 262_144), of("Class", 667)]);
        assert_eq!(native_memory("Native memory tracking is not enabled\n"), []);
    }

    #[test]
    fn used_bytes_are_summed() {
        let names = ["sun.gc.generation.0.space.0.used", "sun.gc.generation.1.space.0.used", "sun.gc.policy.x"];
        let counters = PerfData::of(&[(names[0], 5), (names[1], 7), (names[2], 100)], &[]);
        assert_eq!(heap_used(&counters), 12);
    }
}

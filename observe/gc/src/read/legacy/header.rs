//! First lines of a log of JDK 8: version, memory and flags; and lines around collections that say nothing new.

use crate::model::collector::Collector;
use crate::model::log::Log;
use crate::scan::{Scan, after};

/// Starts of lines that are of the JVM and say nothing that is used.
const IGNORED: &[&str] = &[
    "Heap",
    "{Heap before",
    "}",
    "Desired survivor size",
    "PSYoungGen",
    "ParOldGen",
    "PSOldGen",
    "Metaspace",
    "class space",
    "eden space",
    "from space",
    "to   space",
    "to space",
    "object space",
    "def new generation",
    "tenured generation",
    "the space",
    "par new generation",
    "concurrent mark-sweep",
    "garbage-first heap",
    "region size",
    "PSPermGen",
    "compacting perm gen",
    "No shared spaces",
    "Statistics for",
    "AdaptiveSizePolicy",
    "SoftReference",
    "Finished",
    "Allocated",
    "Using",
    "Memory:",
    "User=",
    "data space",
    "Before GC",
    "After GC",
    "Total Free Space",
    "Max   Chunk",
    "Number of Blocks",
    "Av.  Block",
    "Tree      Height",
    "-----",
    "Regions:",
    "Humongous object",
    "Max TLAB",
    "GC threads",
    "Heuristics",
    "Shenandoah",
    "Pacer",
    "Initialize Shenandoah",
    "Reference processing",
    "Soft Max Heap",
    "Update Region States",
    "Trigger",
    "Free:",
    "Adaptive CSet",
    "Immediate Garbage",
    "Collectable Garbage",
    "CMS: Large block",
    "concurrent-mark-sweep perm gen",
    "Min:",
    "Avg:",
    "Sum:",
    // G1SummarizeRSetStats
    "Recent concurrent refinement",
    "Concurrent RS",
    "Conc RS",
    "Concurrent sampling",
    "Current rem set",
    "Total heap region",
    "Total per region",
    "Static structures",
    "Max size region",
    "Region with largest",
    "Of ",
    "Did ",
    // TraceClassHistogram
    "num     #instances",
    "Total ",
    "GC locker: Trying",
    "GC log file",
    "TLAB",
];

/// Takes a line. Returns false if it is none of a JVM.
pub fn take(text: &[u8], log: &mut Log) -> bool {
    if let Some(flags) = text.strip_prefix(b"CommandLine flags: ") {
        command_line(flags, log);
        return true;
    }
    if let Some(rest) = after(text, b"Server VM (").or_else(|| after(text, b"Client VM (")) {
        let version = after(rest, b"JRE (").unwrap_or(rest).split(|c| *c == b')').next().unwrap_or_default();
        log.settings.version = String::from_utf8_lossy(&version[..version.len().min(60)]).into_owned();
        return true;
    }
    if let Some(memory) = text.strip_prefix(b"Memory: ").and_then(|rest| after(rest, b"physical ")) {
        log.settings.memory = Scan(memory).size().unwrap_or(0);
        return true;
    }
    let Some(first) = text.first() else { return false };
    let is_start = |start: &&str| start.as_bytes()[0] == *first && text.starts_with(start.as_bytes());
    IGNORED.iter().any(is_start) || is_histogram_row(text)
}

/// Returns true for a class in a histogram: `   1:       9249662      876131272  [C`.
pub fn is_histogram_row(text: &[u8]) -> bool {
    let mut scan = Scan(text);
    let is_number = |scan: &mut Scan| scan.spaces().integer().is_some();
    is_number(&mut scan) && scan.eat(b": ") && is_number(&mut scan) && scan.eat(b" ") && is_number(&mut scan)
}

fn command_line(flags: &[u8], log: &mut Log) {
    let settings = &mut log.settings;
    settings.flags = String::from_utf8_lossy(&flags[..flags.len().min(4000)]).trim().to_owned();
    for flag in flags.split(|c| *c == b' ') {
        let value = |name: &[u8]| flag.strip_prefix(name).and_then(|rest| Scan(rest).size());
        if let Some(bytes) = value(b"-XX:MaxHeapSize=") {
            settings.heap_max = bytes;
        } else if let Some(bytes) = value(b"-XX:InitialHeapSize=") {
            settings.heap_initial = bytes;
        } else if let Some(bytes) = value(b"-XX:G1HeapRegionSize=") {
            settings.region_bytes = bytes;
        } else if let Some(count) = value(b"-XX:ParallelGCThreads=") {
            settings.workers = count.min(u64::from(u32::MAX)) as u32;
        }
        log.collector = match flag {
            b"-XX:+UseG1GC" => Some(Collector::G1),
            b"-XX:+UseConcMarkSweepGC" => Some(Collector::Cms),
            b"-XX:+UseParallelGC" | b"-XX:+UseParallelOldGC" => Some(Collector::Parallel),
            b"-XX:+UseSerialGC" => Some(Collector::Serial),
            b"-XX:+UseShenandoahGC" => Some(Collector::Shenandoah),
            b"-XX:ShenandoahGCMode=generational" => Some(Collector::GenerationalShenandoah),
            b"-XX:+UseZGC" if log.collector.is_none() => Some(Collector::Z),
            b"-XX:+ZGenerational" => Some(Collector::GenerationalZ),
            b"-XX:+UseEpsilonGC" => Some(Collector::Epsilon),
            _ => log.collector,
        };
    }
}

//! Settings that a log names at its start, tags `gc`, `gc,init` and `gc,heap`.

use crate::model::collector::Collector;
use crate::model::log::Log;
use crate::scan::Scan;

/// Takes a message about the JVM. Returns false if it is none.
pub fn take(text: &[u8], log: &mut Log) -> bool {
    if let Some(name) = text.strip_prefix(b"Using ") {
        let collector = match name {
            b"G1" => Collector::G1,
            b"Serial" => Collector::Serial,
            b"Parallel" => Collector::Parallel,
            b"Concurrent Mark Sweep" => Collector::Cms,
            b"Shenandoah" => Collector::Shenandoah,
            _ if name.starts_with(b"The Z ") => Collector::Z,
            _ if name.eq_ignore_ascii_case(b"Epsilon") => Collector::Epsilon,
            _ => return false,
        };
        // The name of the variant may come first.
        if log.collector.is_none_or(|known| known.with_generations() != collector.with_generations()) {
            log.collector = Some(collector);
        }
        return true;
    }
    let mut scan = Scan(text.trim_ascii_start());
    let Some(name) = scan.until(b':') else { return false };
    let value = scan.spaces();
    let settings = &mut log.settings;
    let integer = |mut value: Scan| value.integer().map_or(0, |n| n.min(u64::from(u32::MAX)) as u32);
    match name {
        b"Version" => settings.version = version(value.0),
        b"CPUs" => {
            // `CPUs: 4 total, 2 available`
            let available = crate::scan::after(value.0, b"total, ").map_or(*value, Scan);
            settings.processors = integer(available);
        }
        b"Memory" => settings.memory = value.size().unwrap_or(0),
        b"Heap Region Size" | b"Heap region size" | b"Region Size" => {
            settings.region_bytes = value.size().unwrap_or(0).min(1 << 40);
        }
        b"Heap Min Capacity" | b"Min Capacity" => settings.heap_min = value.size().unwrap_or(0),
        b"Heap Initial Capacity" | b"Initial Capacity" => settings.heap_initial = value.size().unwrap_or(0),
        b"Heap Max Capacity" | b"Max Capacity" => settings.heap_max = value.size().unwrap_or(0),
        b"Parallel Workers" | b"GC Workers" | b"STW Workers" => settings.workers = integer(*value),
        b"Mode" if value.0.starts_with(b"Generational") => generational(log),
        b"GC Workers for Old Generation" | b"GC Workers for Young Generation" => generational(log),
        _ => return false,
    }
    true
}

fn generational(log: &mut Log) {
    let known = log.collector.unwrap_or(Collector::Z);
    log.collector = Some(known.with_generations());
}

/// Returns the version without remarks: `17.0.2+8 (release)` is `17.0.2+8`.
fn version(text: &[u8]) -> String {
    let word = text.split(|c| *c == b' ').next().unwrap_or_default();
    String::from_utf8_lossy(&word[..word.len().min(60)]).into_owned()
}

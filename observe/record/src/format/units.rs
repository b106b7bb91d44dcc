//! Units and types of samples that other programs write, as measures.

use crate::slice::Measure;

/// Returns the measure of a sample type and the factor to its unit, or `None` for types that are none of ours.
pub fn measure_of(kind: &str, unit: &str) -> Option<(Measure, f64)> {
    let (nanoseconds, bytes) = (nanoseconds_of(unit), bytes_of(unit));
    match kind {
        "cpu" | "process_cpu" | "on_cpu" => Some((Measure::Cpu, nanoseconds?)),
        "wall" | "wall_clock" => Some((Measure::Wall, nanoseconds?)),
        "alloc" | "alloc_space" | "alloc_bytes" | "allocated_space" | "alloc_in_new_tlab_bytes" | "allocations" => {
            Some((Measure::Alloc, bytes?))
        }
        "lock" | "delay" | "lock_duration" | "lock-time" | "contention" => Some((Measure::Lock, nanoseconds?)),
        _ => None,
    }
}

fn nanoseconds_of(unit: &str) -> Option<f64> {
    match unit {
        "nanoseconds" | "nanosecond" | "ns" => Some(1.0),
        "microseconds" | "microsecond" | "us" => Some(1e3),
        "milliseconds" | "millisecond" | "ms" => Some(1e6),
        "seconds" | "second" | "s" => Some(1e9),
        _ => None,
    }
}

fn bytes_of(unit: &str) -> Option<f64> {
    match unit {
        "bytes" | "byte" | "By" => Some(1.0),
        "kilobytes" | "kilobyte" | "kb" => Some(1024.0),
        "megabytes" | "megabyte" | "mb" => Some(1024.0 * 1024.0),
        _ => None,
    }
}

/// Returns a value in the unit of its measure. Values below 0, as in differences, become 0.
pub fn scaled(value: u64, factor: f64) -> u64 {
    let value = (value as i64).max(0) as u64;
    if factor == 1.0 { value } else { (value as f64 * factor).round() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_converted() {
        assert_eq!(measure_of("cpu", "milliseconds"), Some((Measure::Cpu, 1e6)));
        assert_eq!(measure_of("alloc_space", "bytes"), Some((Measure::Alloc, 1.0)));
        assert_eq!(measure_of("cpu", "count"), None);
        assert_eq!(measure_of("inuse_space", "bytes"), None);
        assert_eq!((scaled(3, 1e6), scaled(u64::MAX, 1.0), scaled(5, 1.0)), (3_000_000, 0, 5));
    }
}

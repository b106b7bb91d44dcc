//! Rules about disks that are slow, full or failing.

use super::super::FileUse;
use super::*;

/// Fires if all spills went to one disk, and that disk bounds the job.
pub(super) fn slow_scratch(report: &Report) -> Option<Advice> {
    let disk = bound_by(report, "disk_write") || bound_by(report, "disk_read");
    let of_spills = matches!(&*report.bottleneck.stage, "spill" | "merge");
    if on_cluster(report) || report.spill.runs == 0 || report.spill.directories.len() != 1 || !disk || !of_spills {
        return None;
    }
    advice(
        "slow-scratch",
        format!("all spills went to {}, whose disk bounds the job", report.spill.directories[0]),
        "add a directory on another disk, or use only one on a faster disk".into(),
        Some("--scratch DIR".into()),
    )
}

/// Fires for a scratch directory that failed during the job.
pub(super) fn failed_scratch(report: &Report) -> Option<Advice> {
    let failed = &report.spill.failed_directories;
    if failed.is_empty() {
        return None;
    }
    let seen = format!("{} failed while the job ran and was taken out of use", failed.join(", "));
    advice("failed-scratch", seen, "check its disk, or leave it out of --scratch".into(), None)
}

/// Rate of a disk below which it is slow for data processing.
const SLOW_MB_PER_S: f64 = 200.0;

/// Fires for input or output on a slow disk.
pub(super) fn slow_disk(report: &Report) -> Option<Advice> {
    let ways = report.files.iter().filter(|f| f.place != "scratch").flat_map(|f| {
        let (read_ms, write_ms) = (in_calls(report, f.read_ms), in_calls(report, f.write_ms));
        [("reading", f.read_bytes, read_ms), ("writing", f.written_bytes, write_ms)].map(|way| (f, way))
    });
    let slow = |&(_, (_, bytes, ms)): &(_, (_, u64, f64))| {
        part_of_busy(report, ms) >= 0.3 && (bytes as f64) < SLOW_MB_PER_S * 1e3 * ms
    };
    let (of, (doing, bytes, ms)) = ways.filter(slow).max_by(|a, b| a.1.2.total_cmp(&b.1.2))?;
    if on_cluster(report) || !is_long(report) {
        return None;
    }
    let directory = of.directory.as_ref().map_or(String::new(), |d| format!(" in {d}"));
    let seen = format!(
        "{doing} the {}{directory} took {} of the workers' time, {} a worker",
        of.place,
        percent(part_of_busy(report, ms)),
        rate(bytes, ms)
    );
    if of.place == "input" {
        let change = "move it to a faster or nearer disk; compressed (zstd) it is fewer bytes to read";
        return advice("slow-disk", seen, change.into(), None);
    }
    let flag = report.job.output_by.is_none().then(|| "--compress zstd".into());
    advice("slow-disk", seen, "write to a faster disk, or fewer bytes".into(), flag)
}

/// Fires for input that was read from the disk instead of the page cache.
pub(super) fn cold_cache(report: &Report) -> Option<Advice> {
    let from_disk = report.waits.as_ref()?.disk_read_bytes;
    let input = report.files.iter().find(|f| f.place == "input")?;
    let read_ms = in_calls(report, input.read_ms);
    let took = part_of_busy(report, read_ms);
    // The process counter includes reads of spilled runs.
    let spilled = report.files.iter().filter(|f| f.place == "scratch").map(|f| f.read_bytes).sum::<u64>();
    let cold = from_disk.saturating_sub(spilled).min(input.read_bytes);
    if on_cluster(report) || !is_long(report) || cold < input.read_bytes / 2 || cold < 1 << 20 || took < 0.2 {
        return None;
    }
    let again = match report.machine.memory_bytes / 2 {
        room if room > 0 && input.read_bytes > room => {
            "it is larger than the page cache of this machine: use a faster disk, or compress the input"
        }
        _ => "a second run finds it in memory; read it with cat first, or use a faster disk",
    };
    advice(
        "cold-cache",
        format!(
            "{} of the {} of input came from the disk and not from memory, {} a worker: {} of the workers' time",
            budget::size(cold),
            budget::size(input.read_bytes),
            rate(input.read_bytes, read_ms),
            percent(took)
        ),
        again.into(),
        None,
    )
}

/// Fires for spilled blocks that had to be read again.
pub(super) fn bad_reads(report: &Report) -> Option<Advice> {
    let reads: u64 = report.spill.bad_reads.values().sum();
    let (worst, _) = report.spill.bad_reads.iter().max_by_key(|(_, n)| **n)?;
    let others = match report.spill.bad_reads.len() {
        1 => String::new(),
        n => format!(" (and {} more directories)", n - 1),
    };
    if reads == 0 {
        return None;
    }
    let blocks = if reads == 1 { "1 spilled block" } else { &format!("{reads} spilled blocks") };
    advice(
        "bad-reads",
        format!("{blocks} came back damaged or not at all from {worst}{others}, and had to be read again"),
        "check its disk (dmesg, smartctl), its cable and the memory, or leave it out of --scratch".into(),
        None,
    )
}

/// Fires for a file system with less free space than the job used of it.
pub(super) fn full_disk(report: &Report) -> Option<Advice> {
    let took =
        |f: &FileUse| if f.place == "scratch" { report.spill.peak_bytes.min(f.written_bytes) } else { f.written_bytes };
    let tight = report.files.iter().filter(|f| took(f) >= 1 << 20 && f.free_bytes.is_some_and(|free| free < took(f)));
    let fullest = tight.min_by_key(|f| f.free_bytes)?;
    let free = fullest.free_bytes?;
    advice(
        "full-disk",
        format!(
            "{} has {} left, and this job took {} of it for its {}: the next one may not fit",
            fullest.directory.as_deref().unwrap_or("the disk"),
            budget::size(free),
            budget::size(took(fullest)),
            fullest.place
        ),
        if fullest.place == "scratch" {
            "free some space, or name a directory on another disk".into()
        } else {
            "free some space, or write to another disk; compressed it is fewer bytes".into()
        },
        Some(if fullest.place == "scratch" { "--scratch DIR" } else { "--compress zstd" }.into()),
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::Waits;
    use super::super::check::*;
    use super::*;

    #[test]
    fn scratch_on_one_slow_disk() {
        let mut report = spilled();
        report.stages.last_mut().unwrap().busy_ms = 500.0;
        report.bottleneck.resource = "disk_write".into();
        report.bottleneck.stage = "spill".into();
        fires(&report, "slow-scratch", &["/scratch", "--scratch DIR"]);
        report.spill.directories.push("/other".into());
        is_quiet(&report);
        report.spill.directories.pop();
        report.bottleneck.stage = "write".into();
        is_quiet(&report);
    }

    #[test]
    fn scratch_directory_that_failed() {
        let mut report = quiet();
        report.spill.failed_directories = vec!["/bad".into()];
        fires(&report, "failed-scratch", &["/bad failed"]);
    }

    fn used(place: &str, read: (u64, f64), written: (u64, f64)) -> FileUse {
        FileUse {
            place: place.into(),
            directory: Some("/data".into()),
            read_bytes: read.0,
            read_ms: read.1,
            written_bytes: written.0,
            write_ms: written.1,
            ..FileUse::default()
        }
    }

    #[test]
    fn input_or_output_on_a_slow_disk() {
        let mut report = quiet();
        report.files = vec![used("input", (1 << 30, 6000.0), (0, 0.0))];
        fires(&report, "slow-disk", &["reading the input in /data took 32 %", "170.7 MiB/s a worker"]);
        // Reads that wait for a processor, not for the disk.
        report.waits = Some(Waits { processor_ms: 6000.0, ..Waits::default() });
        report.job.cpu_ms = 60_000.0;
        report.workers = vec![Worker { busy_ms: 20_000.0, ..Worker::default() }];
        is_quiet(&report);
        report.waits = None;
        report.files[0].read_ms = 5000.0;
        is_quiet(&report);
        report.files = vec![used("output", (0, 0.0), (1 << 30, 6000.0))];
        fires(&report, "slow-disk", &["writing the output in /data", "--compress zstd"]);
        report.files[0].written_bytes = 2 << 30;
        is_quiet(&report);
        report.files[0].place = "scratch".into();
        report.files[0].written_bytes = 1 << 30;
        is_quiet(&report);
    }

    #[test]
    fn input_from_the_disk() {
        let mut report = quiet();
        report.files = vec![used("input", (1 << 30, 4000.0), (0, 0.0))];
        report.waits = Some(Waits { disk_read_bytes: 1 << 30, ..Waits::default() });
        fires(&report, "cold-cache", &["1 GiB of the 1 GiB", "256 MiB/s a worker: 21 %", "a second run"]);
        report.machine.memory_bytes = 1 << 30;
        fires(&report, "cold-cache", &["larger than the page cache"]);
        report.waits.as_mut().unwrap().disk_read_bytes = 500 << 20;
        is_quiet(&report);
        report.waits.as_mut().unwrap().disk_read_bytes = 1 << 30;
        report.files[0].read_ms = 3000.0;
        is_quiet(&report);
    }

    #[test]
    fn blocks_that_were_read_again() {
        let mut report = quiet();
        report.spill.bad_reads.insert("/a".into(), 0);
        is_quiet(&report);
        report.spill.bad_reads.insert("/b".into(), 3);
        fires(&report, "bad-reads", &["3 spilled blocks", "from /b (and 1 more"]);
    }

    #[test]
    fn disk_that_is_nearly_full() {
        let mut report = quiet();
        report.files = vec![used("output", (0, 0.0), (2 << 30, 10.0))];
        is_quiet(&report);
        report.files[0].free_bytes = Some((2 << 30) - 1);
        fires(&report, "full-disk", &["/data has 2 GiB left", "for its output", "--compress zstd"]);
        report.files[0].free_bytes = Some(2 << 30);
        is_quiet(&report);
        report.files[0] = FileUse { free_bytes: Some(100), ..used("scratch", (0, 0.0), (2 << 30, 10.0)) };
        is_quiet(&report);
        report.spill.peak_bytes = 1 << 30;
        fires(&report, "full-disk", &["took 1 GiB of it for its scratch", "--scratch DIR"]);
    }
}

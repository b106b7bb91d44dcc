//! Rules about input that cannot be split, or is split badly.

use super::*;

/// Fires for files that one task had to read whole while other workers waited.
pub(super) fn whole_files(report: &Report) -> Option<Advice> {
    let input = report.input.as_ref()?;
    let longest = input.longest_whole.as_ref()?;
    // Files of even length divide the work as well as splits do.
    let even = report.job.input_bytes / u64::from(report.job.threads.max(1));
    if !is_long(report) || !bound_by(report, "input") || longest.bytes <= even + even / 10 {
        return None;
    }
    let why = match longest.reason.as_str() {
        "" => "pipes, CSV and framed records cannot be split",
        reason => reason,
    };
    let n = input.whole_files;
    let others = if n > 1 { format!(" (and {} more files like it)", n - 1) } else { String::new() };
    let as_parts = match longest.codec.as_deref() {
        Some("gzip" | "deflate") => "with bgzip, which writes members that can be split",
        Some("zstd") => "with pzstd, which writes frames that can be split",
        Some("xz") => "with xz --block-size=24MiB, which writes blocks that can be split",
        Some("lz4") => "with lz4 --no-frame-crc, which writes blocks that can be split",
        Some(_) => "as zstd by yunti run identity --compress zstd, which can be split",
        None => "as bzip2, which can be split, or as uncompressed lines",
    };
    let change = format!(
        "store it as {} files or more, one for each of the {} threads; or {as_parts}",
        report.job.threads.max(2),
        report.job.threads
    );
    advice("whole-files", format!("one task read all of {}{others}: {why}", longest.path), change, None)
}

/// Fires if there are fewer splits than threads although the input can be split.
pub(super) fn few_splits(report: &Report) -> Option<Advice> {
    let input = report.input.as_ref()?;
    let (splits, threads) = (report.job.splits, u64::from(report.job.threads.min(report.machine.processors.max(1))));
    if !is_long(report) || splits == 0 || splits >= threads || input.longest_whole.is_some() {
        return None;
    }
    let each = (report.job.input_bytes / (threads * 2)).max(1 << 20);
    if each >= input.split_bytes {
        return None;
    }
    let flag = format!("--split-size {}", whole_size(each));
    advice(
        "few-splits",
        format!("{splits} splits of {} for {threads} threads", budget::size(input.split_bytes)),
        "smaller splits keep all threads busy".into(),
        Some(flag),
    )
}

/// Fires if one of many splits takes as long as the job.
pub(super) fn long_split(report: &Report) -> Option<Advice> {
    let input = report.input.as_ref()?;
    let alone = report.bottleneck.parallelism == 1.0 && report.job.splits > 1;
    if !is_long(report) || !bound_by(report, "input") || !alone || input.longest_whole.is_some() {
        return None;
    }
    let maps = report.workers.iter().flat_map(|w| &w.spans).filter(|s| s.kind == "map");
    let longest = maps.max_by(|a, b| (a.end_ms - a.start_ms).total_cmp(&(b.end_ms - b.start_ms)))?;
    let each = (input.split_bytes / 4).max(1 << 20);
    if each >= input.split_bytes {
        return None;
    }
    let took = (longest.end_ms - longest.start_ms) / report.job.wall_ms.max(1e-6);
    advice(
        "long-split",
        format!("split {} alone took {} of the time", longest.task, percent(took.min(1.0))),
        "smaller splits divide its records among the workers".into(),
        Some(format!("--split-size {}", whole_size(each))),
    )
}

/// Fires for one record that is a large part of all bytes: only one worker can map it.
pub(super) fn huge_record(report: &Report) -> Option<Advice> {
    let largest = report.input.as_ref()?.largest_record.as_ref()?;
    let has = largest.bytes_least as f64 / report.job.input_bytes.max(1) as f64;
    if !is_long(report) || largest.bytes_least < 1 << 20 || report.job.input_records < 2 || has < 0.1 {
        return None;
    }
    let mean = report.job.input_bytes / report.job.input_records;
    advice(
        "huge-record",
        format!(
            "a record of more than {} at byte {} of {} is {} of the input or more (mean: {}): one worker had to \
             map it alone",
            budget::size(largest.bytes_least),
            largest.offset,
            largest.path,
            percent(has),
            budget::size(mean)
        ),
        "split it at its source, or check the record delimiter".into(),
        Some("--input-delimiter TEXT".into()),
    )
}

/// Fires for many small files, if finding and opening them costs time.
pub(super) fn small_files(report: &Report) -> Option<Advice> {
    let files = report.input.as_ref()?.files;
    let used = report.files.iter().find(|f| f.place == "input")?;
    let each = report.job.input_bytes / files.max(1);
    let took = (used.open_ms / busy_ms(report).max(report.job.wall_ms)).min(1.0);
    if !is_long(report) || files < 100 || each > 128 << 10 || took < 0.1 {
        return None;
    }
    advice(
        "small-files",
        format!(
            "{files} files of {} on average{}: finding and opening them took {:.1} s, {} of the time",
            budget::size(each),
            used.directory.as_ref().map_or(String::new(), |d| format!(" in {d}")),
            used.open_ms / 1000.0,
            percent(took)
        ),
        "merge them once: cat, tar, or yunti run identity into a few parts".into(),
        None,
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::FileUse;
    use super::super::check::*;
    use super::*;

    #[test]
    fn one_large_compressed_file() {
        let mut report = quiet();
        let file = WholeFile {
            path: "logs.gz".into(),
            bytes: 3 << 30,
            codec: Some("gzip".into()),
            reason: "it is one gzip member".into(),
        };
        report.input = Some(Input { whole_files: 1, longest_whole: Some(file), ..Input::default() });
        report.job.splits = 1;
        // Other work kept the processors busy.
        is_quiet(&report);
        report.bottleneck.resource = "input".into();
        fires(&report, "whole-files", &["all of logs.gz", "it is one gzip member", "2 files or more", "bgzip"]);
        // One of several similar files.
        report.job.input_bytes = 6 << 30;
        is_quiet(&report);
        report.job.input_bytes = 5 << 30;
        fires(&report, "whole-files", &[]);
        report.job.wall_ms = SHORT_MS / 2.0;
        is_quiet(&report);
    }

    #[test]
    fn fewer_splits_than_threads() {
        let mut report = quiet();
        report.job.splits = 1;
        report.job.input_bytes = 16 << 20;
        fires(&report, "few-splits", &["1 splits of 16 MiB for 2 threads", "--split-size 4MiB"]);
        report.job.splits = 2;
        is_quiet(&report);
        report.job.splits = 1;
        report.job.input_bytes = 100;
        report.input.as_mut().unwrap().split_bytes = 1 << 20;
        is_quiet(&report);
    }

    #[test]
    fn one_split_as_long_as_the_job() {
        let mut report = quiet();
        report.bottleneck.resource = "input".into();
        report.bottleneck.parallelism = 1.0;
        is_quiet(&report);
        let span = |task, end_ms| Span { kind: "map".into(), task, end_ms, ..Span::default() };
        report.workers.push(Worker { spans: vec![span(4, 100.0), span(7, 9000.0)], ..Worker::default() });
        fires(&report, "long-split", &["split 7 alone took 90 %", "--split-size 4MiB"]);
        report.bottleneck.parallelism = 2.0;
        is_quiet(&report);
    }

    #[test]
    fn one_record_that_is_most_of_the_input() {
        let mut report = quiet();
        report.job.input_records = 1000;
        let largest = LargeRecord { path: "in".into(), offset: 77, bytes_least: 128 << 20 };
        report.input.as_mut().unwrap().largest_record = Some(largest);
        fires(&report, "huge-record", &["more than 128 MiB", "77 of in", "12 %", "mean: 1 MiB"]);
        report.input.as_mut().unwrap().largest_record.as_mut().unwrap().bytes_least = 64 << 20;
        is_quiet(&report);
    }

    #[test]
    fn thousands_of_tiny_files() {
        let mut report = quiet();
        report.job.input_bytes = 10 << 20;
        report.input.as_mut().unwrap().files = 10_000;
        let used =
            FileUse { place: "input".into(), directory: Some("logs".into()), open_ms: 5000.0, ..FileUse::default() };
        report.files = vec![used];
        fires(&report, "small-files", &["10000 files of 1 KiB on average in logs", "5.0 s, 26 %"]);
        report.files[0].open_ms = 1500.0;
        is_quiet(&report);
        report.files[0].open_ms = 5000.0;
        report.job.input_bytes = 10 << 30;
        is_quiet(&report);
    }
}

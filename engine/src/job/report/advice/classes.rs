//! Rules about slow classes of the user, and about the cost of encoding the output.

use super::*;

/// Share of the workers' time that makes a class the cause.
const MOST: f64 = 0.5;
/// Rate above which a class is not slow.
const FAST_MB_PER_S: f64 = 50.0;
/// Cost of a record in large groups, as a multiple of the cost in small groups, that is worth advice.
const STEEP: f64 = 8.0;

/// Fires for a reducer whose time grows faster than its groups.
pub(super) fn slow_group(report: &Report) -> Option<Advice> {
    let groups = report.groups.as_ref()?;
    let reducer = report.job.classes.get("reducer").filter(|name| is_own(name))?;
    let of = |least: u64, most: u64| {
        let sizes = groups.sizes.iter().filter(|s| s.records_least >= least && s.records_least <= most);
        sizes.fold((0u64, 0.0), |(records, ms), s| (records + s.records, ms + s.busy_ms))
    };
    let most = groups.sizes.iter().max_by(|a, b| a.busy_ms.total_cmp(&b.busy_ms))?;
    let (records, ms) = of(most.records_least, u64::MAX);
    let (small, small_ms) = of(0, most.records_least / 16);
    let took = part_of_busy(report, ms);
    let each = |records: u64, ms: f64| ms * 1000.0 / records.max(1) as f64;
    let steep = each(records, ms) / each(small, small_ms).max(1e-6);
    if !is_long(report) || small == 0 || took < 0.3 || steep < STEEP {
        return None;
    }
    advice(
        "slow-group",
        format!(
            "the reducer {reducer} took {:.2} us a record in groups of {} records or more and {:.2} us in \
             small ones: {} of the time; the largest, {}, has {}",
            each(records, ms),
            most.records_least,
            each(small, small_ms),
            percent(took),
            place_of_group(report),
            groups.largest_records
        ),
        "look for work that grows with the square of a group: values compared with each other, lists that are searched"
            .into(),
        None,
    )
}

/// Returns the place of the largest group, with its key if known.
pub(super) fn place_of_group(report: &Report) -> String {
    let Some(groups) = &report.groups else { return String::new() };
    let partition = format!("of partition {}", groups.largest_partition);
    match &groups.largest_key {
        Some(key) => format!("'{key}' {partition}"),
        None => format!("a group {partition}"),
    }
}

/// Fires for a mapper or reducer of the user that took most of the time.
pub(super) fn slow_class(report: &Report) -> Option<Advice> {
    let classes = &report.job.classes;
    let map = report.stages.iter().find(|s| s.name == "map");
    let mapper = classes.get("mapper").zip(map).map(|(name, s)| ("mapper", name, s.busy_ms, s.bytes));
    let reduced = report.groups.as_ref().map(|g| g.sizes.iter().map(|s| s.busy_ms).sum::<f64>());
    let given = report.partitions.as_ref().and_then(|p| p.measures.iter().find(|m| m.name == "input_bytes"));
    let bytes = given.map_or(report.job.input_bytes, |m| m.total);
    let reducer = classes.get("reducer").zip(reduced).map(|(name, ms)| ("reducer", name, ms, bytes));
    let slow = |&(_, name, ms, bytes): &(&str, &String, f64, u64)| {
        is_own(name) && part_of_busy(report, ms) >= MOST && bytes as f64 / 1e3 < FAST_MB_PER_S * ms
    };
    let (role, name, ms, bytes) = mapper.into_iter().chain(reducer).filter(slow).max_by(|a, b| a.2.total_cmp(&b.2))?;
    if on_cluster(report) || !is_long(report) {
        return None;
    }
    let rest = busy_ms(report) - ms;
    advice(
        "slow-class",
        format!(
            "the {role} {name} took {} of the workers' time, {} a worker; everything else would reach {}",
            percent(part_of_busy(report, ms)),
            rate(bytes, ms),
            rate(report.job.input_bytes, rest)
        ),
        format!("optimise its code: perf record -g yunti run .. shows where {name} spends its time"),
        None,
    )
}

/// Fires for slow compression of the output, or a slow writer class.
pub(super) fn slow_writer(report: &Report) -> Option<Advice> {
    // Workers that wait for their turn in a part wait for the encoding of others.
    let ms_of = |name: &str| report.stages.iter().find(|s| s.name == name).map_or(0.0, |s| s.busy_ms);
    let written_ms = report.files.iter().filter(|f| f.place == "output").map(|f| f.write_ms).sum::<f64>();
    let turns_ms = (ms_of("write") - written_ms).max(0.0);
    let ms = ms_of("encode");
    let took = (ms / (busy_ms(report) - turns_ms).max(1e-6)).min(1.0);
    let by = report.job.output_by.as_ref()?;
    if !is_long(report) || took < 0.4 {
        return None;
    }
    let seen = |what: &str| {
        format!("{what} took {} of the workers' time, {} a worker", percent(took), rate(report.job.output_bytes, ms))
    };
    if let Some(writer) = report.job.classes.get("writer") {
        let change = format!("optimise its code: perf record -g yunti run .. shows where {writer} spends its time");
        return advice("slow-writer", seen(&format!("the writer {writer}")), change, None);
    }
    let flag = if by.starts_with("zstd") { "--compress lz4" } else { "--compress zstd" };
    advice(
        "slow-writer",
        seen(&format!("compressing the output as {by}")),
        "use a lower level or a faster codec".into(),
        Some(flag.into()),
    )
}

#[cfg(test)]
mod tests {
    use super::super::check::*;
    use super::*;

    fn reduced(small_ms: f64, large_ms: f64) -> Report {
        let mut report = quiet();
        class(&mut report, "reducer", "Mine.Reducer");
        class(&mut report, "combiner", "Mine.Reducer");
        let size = |records_least, records, busy_ms| GroupSize { records_least, records, busy_ms };
        report.groups = Some(GroupUse {
            largest_records: 1500,
            largest_partition: 3,
            largest_key: Some("the".into()),
            sizes: vec![size(8, 100_000, small_ms), size(1024, 10_000, large_ms)],
        });
        report
    }

    #[test]
    fn reducer_with_quadratic_cost() {
        fires(
            &reduced(100.0, 8000.0),
            "slow-group",
            &[
                "Mine.Reducer",
                "800.00 us a record in groups of 1024",
                "1.00 us",
                "'the' of partition 3, has 1500",
                "42 %",
            ],
        );
        // Ten times the time for a tenth of the records, but a small share of the whole.
        is_quiet(&reduced(10.0, 5000.0));
        // Small groups are as slow.
        is_quiet(&reduced(8000.0 / STEEP * 10.5, 8000.0));
    }

    #[test]
    fn mapper_that_takes_most_of_the_time() {
        let mut report = quiet();
        class(&mut report, "mapper", "Mine.Mapper");
        report.stages[1].bytes = 300 << 20;
        is_quiet(&report);
        report.stages[1].busy_ms = 12_000.0;
        fires(&report, "slow-class", &["the mapper Mine.Mapper took 52 %", "25 MiB/s a worker"]);
        report.stages[1].bytes = 3 << 30;
        is_quiet(&report);
        report.stages[1].bytes = 300 << 20;
        class(&mut report, "mapper", "Yunti.Grep");
        is_quiet(&report);
    }

    #[test]
    fn reducer_that_takes_most_of_the_time() {
        let mut report = reduced(10_000.0, 1000.0);
        report.job.input_bytes = 100 << 20;
        fires(&report, "slow-class", &["the reducer Mine.Reducer took 58 %"]);
        report.job.input_bytes = 1 << 30;
        is_quiet(&report);
    }

    #[test]
    fn output_that_is_slow_to_encode() {
        let mut report = quiet();
        report.job.output_by = Some("xz:9".into());
        stage(&mut report, "encode", 13_000.0);
        fires(&report, "slow-writer", &["compressing the output as xz:9 took 41 %", "--compress zstd"]);
        class(&mut report, "writer", "Mine.Writer");
        fires(&report, "slow-writer", &["the writer Mine.Writer took 41 %"]);
        report.stages.last_mut().unwrap().busy_ms = 12_000.0;
        is_quiet(&report);
    }
}

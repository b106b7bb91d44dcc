//! Rules about work that is divided unevenly among partitions and threads.

use super::*;

/// Fires for one partition with many more records than the others.
pub(super) fn skew(report: &Report) -> Option<Advice> {
    let partitions = report.partitions.as_ref().filter(|p| p.of == "partition" && p.count > 1)?;
    let column = partitions.measures.iter().position(|m| m.name == "input_records")?;
    let measure = &partitions.measures[column];
    let fair = 1.0 / partitions.count as f64;
    let has = measure.most as f64 / measure.total.max(1) as f64;
    let reducing = share(report, &["sort", "merge", "reduce", "write", "shuffle"]);
    if !is_long(report) || has < 0.25 || has < fair * 2.0 || reducing < LITTLE * 2.0 {
        return None;
    }
    let fullest = partitions.rows.iter().find(|r| r.values.get(column) == Some(&measure.most))?;
    let seen = format!(
        "partition {} has {} of the records, {} would be even: one or a few keys have them",
        fullest.number,
        percent(has),
        percent(fair)
    );
    let classes = &report.job.classes;
    if wants_combiner(report) {
        let change = "use a combiner or a folder, which makes one record of many before the sort";
        return advice("skew", seen, change.into(), Some("--combiner CLASS".into()));
    }
    let change = "divide by sampled ranges, or by a partitioner of your own that knows these keys";
    let ranges = classes.get("partitioner").is_none_or(|p| p != "total-order");
    advice("skew", seen, change.into(), ranges.then(|| "--partitioner total-order".into()))
}

/// Fires if too few reduce tasks bound the job.
pub(super) fn few_reduces(report: &Report) -> Option<Advice> {
    let (reduces, threads) = (report.job.reduces, report.job.threads);
    if !is_long(report) || !bound_by(report, "partitions") || reduces >= threads {
        return None;
    }
    let flag =
        if on_cluster(report) { format!("-D mapreduce.job.reduces={threads}") } else { format!("--reduces {threads}") };
    advice(
        "few-reduces",
        format!("{reduces} reduce tasks for {threads} workers, {} of the time", percent(report.bottleneck.utilisation)),
        "as many partitions as workers share the work; a reducer that is declared pure needs no more partitions".into(),
        Some(flag),
    )
}

/// Fires if the job used fewer threads than there are processors, and they bound it.
pub(super) fn few_threads(report: &Report) -> Option<Advice> {
    let (threads, processors) = (report.job.threads, report.machine.processors);
    let enough = report.job.splits >= u64::from(processors);
    if on_cluster(report) || !is_long(report) || threads >= processors || !bound_by(report, "cpu") || !enough {
        return None;
    }
    advice(
        "few-threads",
        format!("{threads} of {processors} processors were used, and they bound the job"),
        "use all processors; if the memory was too small for more workers, raise --memory too".into(),
        Some(format!("--threads {processors}")),
    )
}

/// Fires if many records a key go through a sort, and no class combines them.
pub(super) fn combine(report: &Report) -> Option<Advice> {
    let (records, groups) = (counter(report, "REDUCE_INPUT_RECORDS"), counter(report, "REDUCE_INPUT_GROUPS"));
    let sorting = share(report, &["collect", "spill", "sort", "merge", "shuffle"]);
    if !is_long(report) || !wants_combiner(report) || groups == 0 || sorting < LITTLE * 3.0 {
        return None;
    }
    let each = records / groups;
    if each < 10 {
        return None;
    }
    advice(
        "combine",
        format!("each key has {each} records on average, and {} of the time went into sorting them", percent(sorting)),
        "if your reducer can work on parts of a key's values, name it as the combiner, or write it as a folder".into(),
        Some("--combiner CLASS".into()),
    )
}

/// Fires for part files that are too small.
pub(super) fn many_reduces(report: &Report) -> Option<Advice> {
    let (reduces, threads) = (u64::from(report.job.reduces), u64::from(report.job.threads.max(1)));
    let each = report.job.output_bytes / reduces.max(1);
    if reduces <= threads * 4 || reduces < 32 || each >= 1 << 20 || report.job.output.is_none() {
        return None;
    }
    let enough = (report.job.output_bytes >> 26).max(threads).max(1);
    let n =
        if on_cluster(report) { format!("-D mapreduce.job.reduces={enough}") } else { format!("--reduces {enough}") };
    advice(
        "many-reduces",
        format!("{reduces} part files of {} each on average", budget::size(each)),
        "fewer and larger parts are faster to write and to read".into(),
        Some(n),
    )
}

/// Fires for a job that is too small to become faster.
pub(super) fn small_job(report: &Report) -> Option<Advice> {
    if on_cluster(report) || !bound_by(report, "start") || is_long(report) {
        return None;
    }
    advice("small-job", "the job ends before all workers start".into(), "nothing to change at this size".into(), None)
}

/// Fires for one key with a large part of all records.
pub(super) fn hot_key(report: &Report) -> Option<Advice> {
    let groups = report.groups.as_ref()?;
    let (records, n) = (counter(report, "REDUCE_INPUT_RECORDS"), counter(report, "REDUCE_INPUT_GROUPS"));
    let has = groups.largest_records as f64 / records.max(1) as f64;
    let reducing = share(report, &["sort", "spill", "merge", "reduce"]);
    if !is_long(report) || n < 10 || records < 1000 || has < 0.25 || reducing < LITTLE * 4.0 {
        return None;
    }
    let classes = &report.job.classes;
    let combines = classes.contains_key("combiner") || classes.contains_key("folder");
    let (change, flag) = if classes.get("reducer").is_some_and(|name| name == joins::REDUCERS[0]) {
        ("one worker pairs its lines: leave the key out if its pairs are not wanted, or use hash-join", None)
    } else if combines {
        ("split the key into several (key and number), and merge them in a second job", None)
    } else {
        ("use a combiner or a folder, which makes one record of many before the sort", Some("--combiner CLASS".into()))
    };
    advice(
        "hot-key",
        format!("{} has {} of {records} records, among {n} keys", classes::place_of_group(report), percent(has)),
        change.into(),
        flag,
    )
}

#[cfg(test)]
mod tests {
    use super::super::check::*;
    use super::*;

    fn skewed(values: [u64; 4]) -> Report {
        let mut report = quiet();
        let measure = Measure {
            name: "input_records".into(),
            total: values.iter().sum(),
            most: values.into_iter().max().unwrap_or(0),
            ..Measure::default()
        };
        let rows = (0..).zip(values).map(|(number, value)| PartitionRow { number, values: vec![value] }).collect();
        report.partitions = Some(Partitions { of: "partition".into(), count: 4, measures: vec![measure], rows });
        report
    }

    #[test]
    fn one_partition_with_most_of_the_records() {
        let mut report = skewed([10, 10, 70, 10]);
        fires(&report, "skew", &["partition 2 has 70 %", "25 % would be even", "--partitioner total-order"]);
        class(&mut report, "reducer", "Mine.Reducer");
        fires(&report, "skew", &["--combiner CLASS"]);
        class(&mut report, "combiner", "Mine.Reducer");
        class(&mut report, "partitioner", "total-order");
        fires(&report, "skew", &["a partitioner of your own"]);
        assert_eq!(give(&report)[0].flag, None);
        is_quiet(&skewed([20, 20, 40, 20]));
    }

    #[test]
    fn fewer_reduces_than_workers() {
        let mut report = quiet();
        report.job.reduces = 1;
        is_quiet(&report);
        report.bottleneck.resource = "partitions".into();
        fires(&report, "few-reduces", &["1 reduce tasks for 2 workers, 90 %", "--reduces 2"]);
        report.job.id = Some("job".into());
        fires(&report, "few-reduces", &["-D mapreduce.job.reduces=2"]);
        report.job.reduces = 2;
        is_quiet(&report);
    }

    #[test]
    fn one_thread_of_two_processors() {
        let mut report = quiet();
        report.job.threads = 1;
        fires(&report, "few-threads", &["1 of 2 processors", "--threads 2"]);
        report.bottleneck.resource = "disk_read".into();
        is_quiet(&report);
    }

    #[test]
    fn many_records_a_key_and_no_combiner() {
        let mut report = quiet();
        count(&mut report, "REDUCE_INPUT_RECORDS", 5_000_000);
        count(&mut report, "REDUCE_INPUT_GROUPS", 1000);
        is_quiet(&report);
        class(&mut report, "reducer", joins::REDUCERS[0]);
        is_quiet(&report);
        class(&mut report, "reducer", "Mine.Reducer");
        fires(&report, "combine", &["5000 records on average", "26 %", "--combiner CLASS"]);
        count(&mut report, "REDUCE_INPUT_GROUPS", 1_000_000);
        is_quiet(&report);
        count(&mut report, "REDUCE_INPUT_GROUPS", 1000);
        class(&mut report, "combiner", "Mine.Reducer");
        is_quiet(&report);
    }

    #[test]
    fn thousand_tiny_part_files() {
        let mut report = quiet();
        report.job.reduces = 1000;
        report.job.output_bytes = 100 << 20;
        fires(&report, "many-reduces", &["1000 part files of 102.4 KiB", "--reduces 2"]);
        report.job.output_bytes = 10 << 30;
        is_quiet(&report);
        report.job.output_bytes = 100 << 20;
        report.job.output = None;
        is_quiet(&report);
    }

    #[test]
    fn job_that_ends_at_once() {
        let mut report = quiet();
        report.bottleneck.resource = "start".into();
        is_quiet(&report);
        report.job.wall_ms = 10.0;
        fires(&report, "small-job", &["nothing to change"]);
    }

    #[test]
    fn one_key_with_most_of_the_records() {
        let mut report = quiet();
        count(&mut report, "REDUCE_INPUT_RECORDS", 100_000);
        count(&mut report, "REDUCE_INPUT_GROUPS", 50_000);
        class(&mut report, "reducer", "Mine.Reducer");
        let groups = GroupUse { largest_records: 80_000, largest_key: Some("the".into()), ..GroupUse::default() };
        report.groups = Some(groups);
        fires(&report, "hot-key", &["'the' of partition 0 has 80 % of 100000 records", "--combiner CLASS"]);
        class(&mut report, "combiner", "Mine.Reducer");
        fires(&report, "hot-key", &["split the key into several"]);
        report.job.classes.remove("combiner");
        class(&mut report, "reducer", joins::REDUCERS[0]);
        fires(&report, "hot-key", &["one worker pairs its lines", "hash-join"]);
        report.groups.as_mut().unwrap().largest_records = 24_999;
        is_quiet(&report);
    }
}

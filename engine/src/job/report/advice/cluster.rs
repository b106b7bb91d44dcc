//! Rules for jobs on a cluster: attempts, containers, the network.

use super::*;

/// Fires for attempts that failed or were killed.
pub(super) fn lost_attempts(report: &Report) -> Option<Advice> {
    let lost = report.tasks.iter().filter(|t| t.state != "succeeded").count();
    let took = share(report, &["lost"]);
    if lost == 0 || took < LITTLE {
        return None;
    }
    let nodes = report.tasks.iter().filter(|t| t.state != "succeeded").map(|t| &*t.node);
    let mut nodes: Vec<&str> = nodes.filter(|n| !n.is_empty()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let on = match nodes[..] {
        [one] => format!(", all on {one}"),
        _ => String::new(),
    };
    advice(
        "lost-attempts",
        format!("{lost} attempts were lost{on}, with {} of the time", percent(took)),
        "their logs show the cause (yarn logs); if they were killed for a faster duplicate, turn off speculation"
            .into(),
        Some("-D mapreduce.map.speculative=false".into()),
    )
}

/// Fires on a cluster for many tasks with little work.
pub(super) fn tiny_tasks(report: &Report) -> Option<Advice> {
    let each = report.job.input_bytes / report.job.splits.max(1);
    let launching = share(report, &["launch", "jvm-start"]);
    if !on_cluster(report) || report.job.splits < 16 || each > 32 << 20 || launching < 0.2 {
        return None;
    }
    advice(
        "tiny-tasks",
        format!(
            "{} map tasks of {} each; starting them took {} of the time",
            report.job.splits,
            budget::size(each),
            percent(launching)
        ),
        "larger splits need fewer containers; CombineTextInputFormat reads many small files together".into(),
        Some("-D mapreduce.input.fileinputformat.split.minsize=268435456".into()),
    )
}

/// Fires on a cluster if starting containers takes most of a job with few of them.
pub(super) fn launches(report: &Report) -> Option<Advice> {
    if !on_cluster(report) || !bound_by(report, "start") {
        return None;
    }
    advice(
        "launches",
        "the cluster was mostly busy with starting the job and its containers".into(),
        "a job of this size finishes sooner in one container, or by yunti run on one machine".into(),
        Some("-D mapreduce.job.ubertask.enable=true".into()),
    )
}

/// Fires on a cluster if reduces waited for map output.
pub(super) fn fetching(report: &Report) -> Option<Advice> {
    if !on_cluster(report) || !bound_by(report, "network") {
        return None;
    }
    advice(
        "fetching",
        "reduces waited for map output after all maps were done".into(),
        "compress map output, and combine if possible".into(),
        Some("-D mapreduce.map.output.compress=true".into()),
    )
}

#[cfg(test)]
mod tests {
    use super::super::check::*;

    #[test]
    fn lost_attempts_of_tasks() {
        let mut report = on_a_cluster();
        report.tasks.push(TaskRow { state: "failed".into(), node: "b".into(), ..TaskRow::default() });
        is_quiet(&report);
        stage(&mut report, "lost", 3000.0);
        fires(&report, "lost-attempts", &["1 attempts were lost, all on b", "14 %", "speculative"]);
    }

    #[test]
    fn containers_with_little_work() {
        let mut report = on_a_cluster();
        stage(&mut report, "jvm-start", 30_000.0);
        report.job.input_bytes = 64 << 20;
        fires(&report, "tiny-tasks", &["64 map tasks of 1 MiB", "61 %", "split.minsize"]);
        report.job.input_bytes = 64 << 30;
        is_quiet(&report);
    }

    #[test]
    fn cluster_that_mostly_starts_containers() {
        let mut report = on_a_cluster();
        report.bottleneck.resource = "start".into();
        fires(&report, "launches", &["ubertask"]);
        report.bottleneck.resource = "cpu".into();
        is_quiet(&report);
    }

    #[test]
    fn reduces_that_wait_for_the_network() {
        let mut report = on_a_cluster();
        report.bottleneck.resource = "network".into();
        fires(&report, "fetching", &["mapreduce.map.output.compress=true"]);
        report.job.id = None;
        is_quiet(&report);
    }
}

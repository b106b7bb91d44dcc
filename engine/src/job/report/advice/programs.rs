//! Rules about programs as mappers and reducers.

use super::*;

/// Fires if this process's environment would have slowed Python programs down.
pub(super) fn unbuffered_python(report: &Report) -> Option<Advice> {
    let programs = counter(report, "PYTHONUNBUFFERED_REMOVED");
    if programs == 0 {
        return None;
    }
    advice(
        "unbuffered-python",
        format!(
            "PYTHONUNBUFFERED is set: it was removed from the environment of {programs} {}, since it makes \
             Python write each line by itself, which takes 2 to 3 times as long",
            if programs == 1 { "program" } else { "programs" }
        ),
        "unset it where else programs read and write many lines; a program that needs it gets it by a setting".into(),
        Some("-D stream.environment.PYTHONUNBUFFERED=1".into()),
    )
}

/// Share of the job's duration from which the programs of few reduces matter.
const REDUCE_SHARE: f64 = 0.1;

/// Fires if the reducer is a program, and fewer of them than workers took a share of the job's time.
pub(super) fn few_reducers(report: &Report) -> Option<Advice> {
    let (reduces, threads) = (report.job.reduces, report.job.threads);
    let reducer = report.job.classes.get("reducer").filter(|name| is_program(name))?;
    let busy_ms: f64 = report.stages.iter().filter(|stage| stage.name == "reduce").map(|stage| stage.busy_ms).sum();
    // The workers of several reduces work at the same time.
    let share = busy_ms / f64::from(reduces.max(1)) / report.job.wall_ms.max(1e-6);
    // The rule few-reduces says the same.
    if !is_long(report) || reduces >= threads || share < REDUCE_SHARE || bound_by(report, "partitions") {
        return None;
    }
    let flag =
        if on_cluster(report) { format!("-D mapreduce.job.reduces={threads}") } else { format!("--reduces {threads}") };
    let programs = if reduces == 1 { "one program reduces".into() } else { format!("{reduces} programs reduce") };
    advice(
        "few-reducers",
        format!("{programs} ({reducer}) for {threads} workers, {} of the time", percent(share.min(1.0))),
        "each part has a program of its own: with as many parts as workers, all of them run at once".into(),
        Some(flag),
    )
}

/// Returns true for the command of a program: it has blanks, a directory, or an extension; classes are `Library.Class`.
fn is_program(name: &str) -> bool {
    name.contains([' ', '/']) || name.rsplit_once('.').is_none_or(|(_, end)| !end.starts_with(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use super::super::check::*;
    use super::*;

    fn reduce_takes(report: &mut Report, share: f64) {
        let busy_ms = share * report.job.wall_ms;
        report.stages.iter_mut().filter(|stage| stage.name == "reduce").for_each(|stage| stage.busy_ms = busy_ms);
    }

    #[test]
    fn one_program_for_two_workers() {
        let mut report = quiet();
        report.job.reduces = 1;
        reduce_takes(&mut report, 0.3);
        for (name, fires_for) in [("./r.sh", true), ("uniq -c", true), ("sum.py", true), ("Mine.Reducer", false)] {
            class(&mut report, "reducer", name);
            match fires_for {
                true => fires(&report, "few-reducers", &[name, "30 % of the time", "--reduces 2"]),
                false => is_quiet(&report),
            }
        }
        class(&mut report, "reducer", "cat");
        report.job.reduces = 2;
        is_quiet(&report);
        report.job.reduces = 1;
        reduce_takes(&mut report, 0.05);
        is_quiet(&report);
    }

    #[test]
    fn removed_variable() {
        let mut report = quiet();
        count(&mut report, "PYTHONUNBUFFERED_REMOVED", 4);
        fires(&report, "unbuffered-python", &["of 4 programs", "stream.environment.PYTHONUNBUFFERED=1"]);
    }
}

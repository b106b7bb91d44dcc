//! Rules about processors that the job wanted and did not get.

use super::*;

/// Share of throttled periods, or of runnable time, below which the rules are silent.
const HELD_BACK: f64 = 0.25;

/// Fires for a control group that allows less processor time than the job needs.
pub(super) fn cpu_quota(report: &Report) -> Option<Advice> {
    let waits = report.waits.as_ref()?;
    let quota = waits.quota_processors?;
    let held = waits.throttled_periods as f64 / waits.quota_periods.max(1) as f64;
    if !is_long(report) || waits.quota_periods < 2 || held < HELD_BACK {
        return None;
    }
    advice(
        "cpu-quota",
        format!(
            "the control group allows {quota:.2} processors and throttled the job in {} of {} periods ({})",
            waits.throttled_periods,
            waits.quota_periods,
            percent(held.min(1.0))
        ),
        "raise its quota (cpu.max, cpu.cfs_quota_us, the container's --cpus), or give the job no \
         more threads than it allows"
            .into(),
        Some(format!("--threads {}", (quota.floor() as u32).max(1))),
    )
}

/// Fires if other programs used the processors.
pub(super) fn busy_neighbour(report: &Report) -> Option<Advice> {
    let waits = report.waits.as_ref()?;
    let job = &report.job;
    let waited = waits.processor_ms / (waits.processor_ms + job.cpu_ms).max(1e-6);
    let own = job.threads > report.machine.processors || cpu_quota(report).is_some();
    if on_cluster(report) || !is_long(report) || own || waited < HELD_BACK {
        return None;
    }
    advice(
        "busy-neighbour",
        format!(
            "other programs used the processors: runnable workers waited {:.1} s for one, {} of their runnable time",
            waits.processor_ms / 1000.0,
            percent(waited)
        ),
        "run it when the machine is less busy, or give the others less time (nice, cpu.weight)".into(),
        None,
    )
}

#[cfg(test)]
mod tests {
    use super::super::check::*;
    use crate::job::report::Waits;

    #[test]
    fn quota_that_throttles_the_job() {
        let mut report = quiet();
        let waits =
            Waits { quota_processors: Some(0.5), quota_periods: 100, throttled_periods: 80, ..Waits::default() };
        report.waits = Some(waits);
        fires(&report, "cpu-quota", &["0.50 processors", "80 of 100 periods", "--threads 1"]);
        // The quota explains the waiting.
        report.job.cpu_ms = 1000.0;
        report.waits.as_mut().unwrap().processor_ms = 9000.0;
        fires(&report, "cpu-quota", &[]);
        report.waits = Some(Waits { throttled_periods: 24, ..report.waits.unwrap() });
        report.waits.as_mut().unwrap().processor_ms = 0.0;
        is_quiet(&report);
    }

    #[test]
    fn other_programs_on_the_processors() {
        let mut report = quiet();
        report.job.cpu_ms = 6000.0;
        report.waits = Some(Waits { processor_ms: 6000.0, ..Waits::default() });
        fires(&report, "busy-neighbour", &["waited 6.0 s", "50 %"]);
        report.waits.as_mut().unwrap().processor_ms = 1900.0;
        is_quiet(&report);
        // More threads than processors wait for each other.
        report.waits.as_mut().unwrap().processor_ms = 6000.0;
        report.job.threads = 4;
        is_quiet(&report);
    }
}

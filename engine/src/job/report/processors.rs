//! Processors that other programs took from a job, from the counters of the kernel.
//!
//! ```text
//!   /proc/stat            time of each processor, all programs: in use, and stolen by the host of a virtual machine
//!   /proc/pressure/cpu    time in which at least one thread of the machine waited for a processor
//!   schedstat             time in which the job's own threads waited for one (env/metered/threads.rs)
//! ```
//!
//! `schedstat` is exact, but its time includes waits of the job's threads for each other. So what others used limits
//! it. Without `schedstat` the wait is an estimate from the other two.

use yunti_base::kernel_list;

use super::Waits;

/// Counters of the processors that this process may use.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessorCounters {
    /// Time in use by any program, in milliseconds over all processors. None if the kernel does not count it.
    pub used_ms: Option<f64>,
    /// Time that the host of the virtual machine gave to others.
    pub stolen_ms: f64,
    /// Time in which a thread of the machine waited. None if the kernel does not count it.
    pub pressure_ms: Option<f64>,
}

impl ProcessorCounters {
    /// Parses the counters of the processors that this process may use. `stat`: /proc/stat. `pressure`:
    /// /proc/pressure/cpu. `status`: /proc/self/status. Empty text is a file that the kernel does not have.
    pub fn parse(stat: &str, pressure: &str, status: &str) -> ProcessorCounters {
        let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).map(str::trim);
        let mut counters = ProcessorCounters::default();
        for line in stat.lines() {
            let Some((number, times)) = line.strip_prefix("cpu").and_then(|rest| rest.split_once(' ')) else {
                continue;
            };
            let Ok(number) = number.parse::<u32>() else { continue };
            if allowed.is_some_and(|list| !kernel_list::contains(list, number)) {
                continue;
            }
            let ticks: Vec<f64> = times.split_whitespace().filter_map(|n| n.parse().ok()).collect();
            let of = |i: usize| ticks.get(i).copied().unwrap_or(0.0) * TICK_MS;
            // user nice system idle iowait irq softirq steal; guests are within user.
            let used_ms = of(0) + of(1) + of(2) + of(5) + of(6);
            counters.used_ms = Some(counters.used_ms.unwrap_or(0.0) + used_ms);
            counters.stolen_ms += of(7);
        }
        // All zero: a sandbox that shows the file and counts nothing.
        counters.used_ms = counters.used_ms.filter(|ms| *ms > 0.0);
        let some = pressure.lines().find(|line| line.starts_with("some "));
        let total_us = some.and_then(|line| line.split_once("total=")?.1.trim().parse::<f64>().ok());
        counters.pressure_ms = total_us.map(|us| us / 1000.0);
        counters
    }

    /// Returns what the counters grew by since `before`.
    pub fn since(&self, before: &ProcessorCounters) -> ProcessorCounters {
        let grown = |now: Option<f64>, before: Option<f64>| Some((now? - before?).max(0.0));
        ProcessorCounters {
            used_ms: grown(self.used_ms, before.used_ms),
            stolen_ms: (self.stolen_ms - before.stolen_ms).max(0.0),
            pressure_ms: grown(self.pressure_ms, before.pressure_ms),
        }
    }

    /// Returns the time that others used: other programs, and other virtual machines of the host.
    pub fn others_ms(&self, own_cpu_ms: f64) -> Option<f64> {
        Some((self.used_ms? - own_cpu_ms).max(0.0) + self.stolen_ms)
    }

    /// Returns the job's part of the stolen time, in proportion to its use of the processors.
    fn own_stolen_ms(&self, own_cpu_ms: f64) -> f64 {
        let used_ms = self.used_ms.unwrap_or(own_cpu_ms).max(own_cpu_ms);
        if used_ms > 0.0 { self.stolen_ms * own_cpu_ms / used_ms } else { 0.0 }
    }
}

/// Milliseconds of a tick in `/proc/stat`: USER_HZ is 100 on all platforms of the engine.
const TICK_MS: f64 = 10.0;

/// Time of a job's workers, in milliseconds over all of them.
#[derive(Clone, Copy, Debug)]
pub struct WorkerTime {
    /// Time with work.
    pub busy_ms: f64,
    /// Processor time.
    pub cpu_ms: f64,
    /// Number of workers.
    pub workers: u32,
}

/// Returns the time in which workers waited for a processor. `counted_ms`: by `schedstat`, None without it.
pub fn wait_ms(counted_ms: Option<f64>, machine: &ProcessorCounters, workers: WorkerTime) -> f64 {
    let idle_ms = (workers.busy_ms - workers.cpu_ms).max(0.0);
    match (counted_ms, machine.others_ms(workers.cpu_ms)) {
        // The kernel counts stolen time neither as waiting nor as processor time.
        (Some(counted_ms), _) => counted_ms + machine.own_stolen_ms(workers.cpu_ms),
        (None, Some(others_ms)) => {
            let pressure_ms = machine.pressure_ms.map_or(f64::MAX, |ms| ms * f64::from(workers.workers));
            others_ms.min(idle_ms).min(pressure_ms)
        }
        (None, None) => 0.0,
    }
}

/// Returns the part of the workers' waiting that other processes caused.
pub fn taken_ms(waits: &Waits, workers: u32, processors: u32, wall_ms: f64) -> f64 {
    // Threads beyond the processors wait for each other.
    let own_ms = f64::from(workers.saturating_sub(processors)) * wall_ms;
    match waits.others_ms {
        Some(others_ms) => waits.processor_ms.min(others_ms),
        None => (waits.processor_ms - own_ms).max(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  900 90 90 900 0 9 9 60 5 0\ncpu0 100 20 30 500 7 1 2 4 50 0\ncpu1 200 0 0 0 0 0 0 6 0 0\n\
                        cpu12 600 0 0 0 0 0 0 50 0 0\nintr 5 5\n";

    #[test]
    fn counters_of_the_allowed_processors() {
        let pressure = "some avg10=37.66 avg60=60.72 avg300=72.05 total=13510442\nfull avg10=0.00 total=7\n";
        let all = ProcessorCounters::parse(STAT, pressure, "Cpus_allowed_list:\t0-1,8-15\n");
        assert_eq!(all, ProcessorCounters { used_ms: Some(9530.0), stolen_ms: 600.0, pressure_ms: Some(13510.442) });
        let two = ProcessorCounters::parse(STAT, "", "Name: x\nCpus_allowed_list:\t0-1\n");
        assert_eq!(two, ProcessorCounters { used_ms: Some(3530.0), stolen_ms: 100.0, pressure_ms: None });
        assert_eq!(ProcessorCounters::parse(STAT, "", "").used_ms, Some(9530.0));
        assert_eq!(ProcessorCounters::parse("", "", ""), ProcessorCounters::default());
        assert_eq!(ProcessorCounters::parse("cpu0 0 0 0 0 0 0 0 0\n", "some\n", "").used_ms, None);
    }

    #[test]
    fn others_are_what_the_job_did_not_use() {
        let before = ProcessorCounters { used_ms: Some(1000.0), stolen_ms: 10.0, pressure_ms: Some(5.0) };
        let after = ProcessorCounters { used_ms: Some(3000.0), stolen_ms: 110.0, pressure_ms: None };
        let grown = after.since(&before);
        assert_eq!(grown, ProcessorCounters { used_ms: Some(2000.0), stolen_ms: 100.0, pressure_ms: None });
        assert_eq!(grown.others_ms(500.0), Some(1600.0));
        assert_eq!(grown.others_ms(2500.0), Some(100.0));
        assert_eq!(ProcessorCounters::default().others_ms(5.0), None);
    }

    #[test]
    fn waiting_is_counted_or_estimated() {
        let time = WorkerTime { busy_ms: 2000.0, cpu_ms: 500.0, workers: 2 };
        let machine = |used_ms: Option<f64>, stolen_ms: f64, pressure_ms: Option<f64>| ProcessorCounters {
            used_ms,
            stolen_ms,
            pressure_ms,
        };
        for (counted, counters, expect) in [
            (Some(700.0), machine(Some(1500.0), 0.0, None), 700.0),
            // A third of the processor time in use was the job's, and so was a third of the stolen time.
            (Some(700.0), machine(Some(1500.0), 300.0, None), 800.0),
            (None, machine(Some(1500.0), 0.0, None), 1000.0),
            (None, machine(Some(1500.0), 0.0, Some(200.0)), 400.0),
            (None, machine(Some(9500.0), 0.0, Some(1000.0)), 1500.0),
            (None, machine(None, 0.0, Some(1000.0)), 0.0),
        ] {
            assert_eq!(wait_ms(counted, &counters, time), expect, "{counted:?} {counters:?}");
        }
    }

    #[test]
    fn own_threads_that_wait_for_each_other_are_no_others() {
        let waits = |others_ms| Waits { processor_ms: 1800.0, others_ms, ..Waits::default() };
        assert_eq!(taken_ms(&waits(Some(5000.0)), 2, 2, 1000.0), 1800.0);
        assert_eq!(taken_ms(&waits(Some(100.0)), 4, 2, 1000.0), 100.0);
        assert_eq!(taken_ms(&waits(None), 2, 2, 1000.0), 1800.0);
        assert_eq!(taken_ms(&waits(None), 4, 2, 1000.0), 0.0);
    }
}

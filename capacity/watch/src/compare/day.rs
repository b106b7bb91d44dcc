//! Day: one measurement as statistics see it, with costs by request.

use yunti_record::statistics::median::median;

use crate::record::{Head, Record, State, Window};

/// Robust deviations beyond which a window is left out.
const OUTLIER: f64 = 4.0;
/// Deviation of windows at least, as a part of their median.
const DEVIATION_MIN: f64 = 0.02;
/// Factor from the median absolute deviation to the standard deviation of a normal distribution.
const MAD_TO_DEVIATION: f64 = 1.4826;
/// Difference of two readings of one start: the clock is set a little again and again.
const START_MS: u64 = 120_000;
/// Days before 1970-01-01 back to a Monday.
const MONDAY_SHIFT: u64 = 3;
const DAY_MS: u64 = 86_400_000;

/// Cost of a function in milliseconds a request.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    pub name: String,
    pub caller: Option<usize>,
    pub own: f64,
    pub total: f64,
}

/// One measurement with costs by request. Unknown figures are absent.
#[derive(Clone, Debug, Default)]
pub struct Day {
    pub sequence: u64,
    pub time_ms: u64,
    pub label: String,
    pub state: State,
    /// Number of the process, and the Unix time of its start in milliseconds.
    pub process: Option<(u32, u64)>,
    /// Day of the week, from 0 for Monday (UTC).
    pub weekday: usize,
    /// Requests a second.
    pub rate: Option<f64>,
    pub cpu_ms: Option<f64>,
    /// Relative standard error of `cpu_ms` by the noise between windows.
    pub cpu_error: f64,
    pub bytes: Option<f64>,
    /// Relative standard error of `bytes` by sampling.
    pub bytes_error: f64,
    pub p99_ms: Option<f64>,
    pub peak: Option<f64>,
    /// Part of the load's requests that failed.
    pub failed: Option<f64>,
    pub calibration_ms: Option<f64>,
    pub windows: usize,
    pub left_out: usize,
    /// Samples of the profile.
    pub samples: f64,
    pub functions: Vec<Cost>,
}

impl Day {
    /// Returns the day of a record.
    pub fn of(record: &Record) -> Day {
        let head = &record.head;
        let windows = &head.windows;
        let good = good_windows(windows);
        let sum = |figure: fn(&Window) -> Option<f64>| -> Option<f64> {
            let values: Vec<f64> = good.iter().filter_map(|at| figure(&windows[*at])).collect();
            (values.len() == good.len() && !good.is_empty()).then(|| values.iter().sum())
        };
        let middle = |figure: fn(&Window) -> Option<f64>| {
            let values: Vec<f64> = good.iter().filter_map(|at| figure(&windows[*at])).collect();
            (!values.is_empty()).then(|| median(&values))
        };
        let requests = sum(|w| w.requests).filter(|requests| *requests > 0.0);
        let by_request = |whole: Option<f64>| Some(whole? / requests?);
        let cpu_ms = by_request(sum(Window::own_cpu_ms)).filter(|cpu| *cpu > 0.0);
        let bytes = sum(|w| w.allocated_bytes).filter(|bytes| *bytes > 0.0);
        let seconds: f64 = good.iter().map(|at| windows[*at].seconds).sum();
        let mut day = Day {
            sequence: head.sequence,
            time_ms: head.time_ms,
            label: head.label.clone(),
            state: head.state,
            process: process(head),
            weekday: ((head.time_ms / DAY_MS + MONDAY_SHIFT) % 7) as usize,
            rate: requests.filter(|_| seconds > 0.0).map(|requests| requests / seconds),
            cpu_ms,
            cpu_error: spread(windows, &good),
            bytes: by_request(bytes),
            bytes_error: bytes.map_or(0.0, |bytes| (head.sample_bytes / bytes).sqrt()),
            p99_ms: head.load.p99_ms.or_else(|| middle(|w| w.p99_ms)).filter(|p99| *p99 > 0.0),
            failed: head.load.failed,
            peak: head.load.peak_per_second.filter(|peak| *peak > 0.0),
            calibration_ms: mean(&good, windows).filter(|ms| *ms > 0.0),
            windows: windows.len(),
            left_out: windows.len() - good.len(),
            ..Day::default()
        };
        day.take_functions(record, &good);
        day
    }

    /// Returns true if both days measured the same process.
    pub fn is_of_process(&self, other: &Day) -> bool {
        let (Some((pid, start)), Some((other_pid, other_start))) = (self.process, other.process) else { return false };
        pid == other_pid && start.abs_diff(other_start) <= START_MS
    }

    /// Returns true if the statistics can compare the day.
    pub fn is_usable(&self) -> bool {
        self.state == State::Complete && (self.cpu_ms.is_some() || self.p99_ms.is_some() || self.peak.is_some())
    }

    /// Spreads the processor time, which the kernel counts exactly, by the samples of the profile.
    fn take_functions(&mut self, record: &Record, good: &[usize]) {
        let sum = |values: &[f64]| good.iter().filter_map(|at| values.get(*at)).sum::<f64>();
        let sampled = sum(&record.sampled_ms);
        let Some(cpu_ms) = self.cpu_ms.filter(|_| sampled > 0.0 && record.head.sample_ms > 0.0) else { return };
        self.samples = sampled / record.head.sample_ms;
        let cost = |values: &[f64]| sum(values) / sampled * cpu_ms;
        let costs = record.functions.iter().map(|function| Cost {
            name: function.name.clone(),
            caller: function.caller,
            own: cost(&function.own_ms),
            total: cost(&function.total_ms),
        });
        self.functions = costs.collect();
    }
}

/// Returns the mean of the calibration loop. The median of windows would hide neighbours that slow down some of them,
/// and the service's cost, which is a sum, has them.
fn mean(good: &[usize], windows: &[Window]) -> Option<f64> {
    let known: Vec<f64> = good.iter().filter_map(|at| windows[*at].calibration_ms).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

fn process(head: &Head) -> Option<(u32, u64)> {
    let age_ms = (head.host.age_seconds * 1000.0) as u64;
    (head.host.pid > 0).then(|| (head.host.pid, head.time_ms.saturating_sub(age_ms)))
}

fn ratio(window: &Window) -> Option<f64> {
    let requests = window.requests.filter(|requests| *requests >= 1.0)?;
    window.own_cpu_ms().map(|cpu| cpu / requests)
}

/// Returns the places of the windows whose cost by request is near the median. Without counts, all are good.
fn good_windows(windows: &[Window]) -> Vec<usize> {
    let ratios: Vec<(usize, f64)> = (0..windows.len()).filter_map(|at| Some((at, ratio(&windows[at])?))).collect();
    if ratios.len() * 2 < windows.len() || ratios.is_empty() {
        return (0..windows.len()).collect();
    }
    let values: Vec<f64> = ratios.iter().map(|(_, ratio)| *ratio).collect();
    let center = median(&values);
    let distances: Vec<f64> = values.iter().map(|value| (value - center).abs()).collect();
    let deviation = (median(&distances) * MAD_TO_DEVIATION).max(DEVIATION_MIN * center);
    let near = ratios.iter().filter(|(_, ratio)| (ratio - center).abs() <= OUTLIER * deviation);
    near.map(|(at, _)| *at).collect()
}

/// Returns the relative standard error of the mean cost by request.
fn spread(windows: &[Window], good: &[usize]) -> f64 {
    let ratios: Vec<f64> = good.iter().filter_map(|at| ratio(&windows[*at])).collect();
    let count = ratios.len() as f64;
    if count < 2.0 {
        return 0.0;
    }
    let mean = ratios.iter().sum::<f64>() / count;
    let variance = ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (count - 1.0);
    if mean > 0.0 { (variance / count).sqrt() / mean } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Function;

    fn record(cpu: &[f64]) -> Record {
        let window =
            |cpu: &f64| Window { seconds: 5.0, requests: Some(100.0), cpu_ms: Some(*cpu), ..Window::default() };
        Record {
            head: Head { windows: cpu.iter().map(window).collect(), sample_ms: 10.0, ..Head::default() },
            sampled_ms: cpu.to_vec(),
            functions: vec![Function {
                name: "f".into(),
                caller: None,
                own_ms: cpu.iter().map(|cpu| cpu / 4.0).collect(),
                total_ms: cpu.to_vec(),
            }],
            ..Record::default()
        }
    }

    #[test]
    fn one_bad_window_is_left_out() {
        let day = Day::of(&record(&[400.0, 404.0, 396.0, 1200.0, 400.0]));
        assert_eq!((day.left_out, day.windows, day.rate), (1, 5, Some(20.0)));
        assert!((day.cpu_ms.unwrap() - 4.0).abs() < 1e-9);
        assert!((day.functions[0].own - 1.0).abs() < 1e-9 && (day.samples - 160.0).abs() < 1e-9);
        assert!(day.is_usable());
    }

    #[test]
    fn days_without_requests_have_no_costs() {
        let mut record = record(&[400.0, 400.0]);
        record.head.windows[1].requests = None;
        record.head.windows[0].requests = None;
        let day = Day::of(&record);
        assert!(day.cpu_ms.is_none() && day.functions.is_empty() && !day.is_usable());
        assert!(Day::of(&Record::default()).cpu_ms.is_none());
    }

    #[test]
    fn weekdays_begin_on_monday() {
        // 2026-11-29 was a Sunday.
        let head = Head { time_ms: 1_795_910_400_000, ..Head::default() };
        assert_eq!(Day::of(&Record { head, ..Record::default() }).weekday, 6);
    }
}

//! Steps: days at which a figure changed its level for good, with the release that ran then for the first time.

use serde::Serialize;
use yunti_record::statistics::median::median;

use super::day::Day;
use super::levels::levels;
use super::service::Figure;

/// Change of the level that counts.
const STEP_MIN: f64 = 0.02;

/// Change of a figure's level.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    pub figure: Figure,
    /// First measurement of the new level.
    pub sequence: u64,
    pub time_ms: u64,
    /// Release of that measurement; empty if unknown.
    pub label: String,
    /// True if that release was not measured before.
    pub is_new_label: bool,
    pub before: f64,
    pub after: f64,
}

/// Returns the steps of all figures over the last days, oldest first.
pub fn steps(days: &[Day]) -> Vec<Step> {
    let mut found: Vec<Step> = Figure::ALL.into_iter().flat_map(|figure| steps_of(figure, days)).collect();
    found.sort_by_key(|step| step.sequence);
    found
}

fn steps_of(figure: Figure, days: &[Day]) -> Vec<Step> {
    let known: Vec<(&Day, f64)> =
        days.iter().filter(|day| day.is_usable()).filter_map(|day| Some((day, figure.of(day)?))).collect();
    let logarithms: Vec<f64> = known.iter().map(|(_, value)| value.ln()).collect();
    let points = levels(&logarithms);
    let bounds: Vec<usize> = [0].into_iter().chain(points).chain([known.len()]).collect();
    let level = |from: usize, to: usize| median(&known[from..to].iter().map(|(_, value)| *value).collect::<Vec<f64>>());
    bounds
        .windows(3)
        .map(|part| {
            let at = part[1];
            let day = known[at].0;
            Step {
                figure,
                sequence: day.sequence,
                time_ms: day.time_ms,
                label: day.label.clone(),
                is_new_label: !day.label.is_empty() && !known[..at].iter().any(|(d, _)| d.label == day.label),
                before: level(part[0], at),
                after: level(at, part[2]),
            }
        })
        .filter(|step| (step.after / step.before - 1.0).abs() >= STEP_MIN)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_names_its_day_and_release() {
        let day = |at: usize| Day {
            sequence: at as u64 + 1,
            time_ms: at as u64 * 86_400_000,
            label: if at < 12 { "v1".into() } else { "v2".into() },
            cpu_ms: Some(if at < 12 { 4.0 } else { 4.4 } + 0.03 * ((at * 7) % 5) as f64),
            ..Day::default()
        };
        let days: Vec<Day> = (0..20).map(day).collect();
        let found = steps(&days);
        let [step] = &found[..] else { panic!("{found:?}") };
        assert_eq!((step.sequence, &*step.label, step.is_new_label), (13, "v2", true));
        assert!(step.figure == Figure::CpuPerRequest && step.after > step.before);
        assert!(steps(&days[..10]).is_empty() && steps(&[]).is_empty());
    }
}

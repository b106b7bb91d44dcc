//! Two ways of doing a thing, measured by turns, and the first of them once more in each round: how much it differs from itself is the noise.

use std::time::Instant;

use serde::Serialize;

use super::Bench;
use yunti_base::Result;

/// Below this no difference is believed, however quiet the machine.
const LEAST: f64 = 0.03;
/// Where old differs from itself by more, a smaller difference is not known to be none.
const NOISE_MAX: f64 = 0.25;
/// Of what is timed, fewer say nothing.
const ROUNDS_MIN: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    More,
    Less,
}

#[derive(Clone, Copy, Debug)]
pub struct Metric {
    pub name: &'static str,
    pub unit: &'static str,
    pub better: Better,
    /// A count that does not depend on time.
    pub exact: bool,
    /// What the kernel has done about it since; empty: nothing.
    pub since: &'static str,
}

impl Metric {
    pub const fn timed(name: &'static str, unit: &'static str, better: Better) -> Metric {
        Metric { name, unit, better, exact: false, since: "" }
    }

    pub const fn counted(name: &'static str, unit: &'static str, better: Better) -> Metric {
        Metric { name, unit, better, exact: true, since: "" }
    }

    pub const fn since(mut self, what: &'static str) -> Metric {
        self.since = what;
        self
    }
}

/// Which of the two, and in which of its two turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Old,
    New,
    OldAgain,
}

impl Side {
    pub fn is_new(self) -> bool {
        self == Side::New
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    #[serde(rename = "worth it")]
    WorthIt,
    #[serde(rename = "solved by the kernel")]
    Solved,
    #[serde(rename = "no difference here")]
    Same,
    #[serde(rename = "costs")]
    Costs,
    #[serde(rename = "too noisy to say")]
    TooNoisy,
    #[serde(rename = "too few rounds")]
    TooFew,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::WorthIt => "worth it",
            Verdict::Solved => "solved by the kernel",
            Verdict::Same => "no difference here",
            Verdict::Costs => "costs",
            Verdict::TooNoisy => "too noisy to say",
            Verdict::TooFew => "too few rounds",
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    pub metric: &'static str,
    pub unit: &'static str,
    pub better: Better,
    pub exact: bool,
    pub old: String,
    pub new: String,
    pub old_values: Vec<f64>,
    pub old_again_values: Vec<f64>,
    pub new_values: Vec<f64>,
    /// New by old, the median of the rounds.
    pub ratio: f64,
    /// The most that old differs from itself in a round: 0.1 is a tenth.
    pub noise: f64,
    pub verdict: Verdict,
    pub since: &'static str,
}

/// Measures both by turns. `run` gives a value for each metric, in their order.
pub fn compare(
    bench: &Bench,
    (old, new): (&str, &str),
    metrics: &[Metric],
    mut run: impl FnMut(Side) -> Result<Vec<f64>>,
) -> Result<Vec<Comparison>> {
    let mut values: Vec<[Vec<f64>; 3]> = vec![Default::default(); metrics.len()];
    let begun = Instant::now();
    for round in 0..bench.rounds {
        if round > 0 && bench.is_late(begun, round, ROUNDS_MIN) {
            break;
        }
        // Nobody is always the first.
        let mut turns = [Side::Old, Side::New, Side::OldAgain];
        turns.rotate_left(round % 3);
        for side in turns {
            bench.go_on()?;
            for (all, value) in values.iter_mut().zip(run(side)?) {
                all[side as usize].push(value);
            }
        }
    }
    bench.go_on()?;
    let comparisons = metrics.iter().zip(values).map(|(metric, [a, b, again])| {
        let (ratio, noise, verdict) = judge(metric, &a, &b, &again);
        Comparison {
            metric: metric.name,
            unit: metric.unit,
            better: metric.better,
            exact: metric.exact,
            old: old.to_owned(),
            new: new.to_owned(),
            old_values: a,
            old_again_values: again,
            new_values: b,
            ratio,
            noise,
            verdict,
            since: metric.since,
        }
    });
    Ok(comparisons.collect())
}

fn judge(metric: &Metric, old: &[f64], new: &[f64], again: &[f64]) -> (f64, f64, Verdict) {
    // Nothing read at all is less than something.
    let log = |value: f64| value.max(1e-9).ln();
    let rounds = old.iter().zip(new).zip(again);
    let effect = median(&rounds.clone().map(|((a, b), c)| log(*b) - (log(*a) + log(*c)) / 2.0).collect::<Vec<_>>());
    let noise = rounds.map(|((a, _), c)| (log(*c) - log(*a)).abs()).fold(0.0, f64::max);
    let gain = if metric.better == Better::More { effect } else { -effect };
    let verdict = if !metric.exact && old.len() < ROUNDS_MIN {
        Verdict::TooFew
    } else if gain.abs() <= noise.max((1.0 + LEAST).ln()) {
        if noise > (1.0 + NOISE_MAX).ln() {
            return (effect.exp(), noise.exp_m1(), Verdict::TooNoisy);
        }
        if metric.since.is_empty() { Verdict::Same } else { Verdict::Solved }
    } else if gain > 0.0 {
        Verdict::WorthIt
    } else {
        Verdict::Costs
    };
    (effect.exp(), noise.exp_m1(), verdict)
}

pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// A value of sorted ones.
pub fn percentile(sorted: &[u64], share: f64) -> u64 {
    let at = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(at.clamp(1, sorted.len().max(1)) - 1).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use yunti_base::Cancel;

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn verdicts() {
        let speed = Metric::timed("speed", "MB/s", Better::More);
        let quiet = [100.0, 101.0, 99.0];
        let check = |metric: &Metric, new: [f64; 3], again: [f64; 3]| judge(metric, &quiet, &new, &again).2;
        assert_eq!(check(&speed, [120.0, 121.0, 119.0], quiet), Verdict::WorthIt);
        assert_eq!(check(&speed, [80.0, 81.0, 79.0], quiet), Verdict::Costs);
        // The old way differs by half from itself: whether a fifth is something is not known, and nothing has solved it.
        assert_eq!(check(&speed, [120.0, 121.0, 119.0], [150.0, 101.0, 99.0]), Verdict::TooNoisy);
        assert_eq!(check(&speed.since("Linux 9"), [120.0, 121.0, 119.0], [150.0, 101.0, 99.0]), Verdict::TooNoisy);
        assert_eq!(check(&speed, [110.0, 111.0, 109.0], [115.0, 101.0, 99.0]), Verdict::Same);
        // Twice as much is something nevertheless.
        assert_eq!(check(&speed, [220.0, 221.0, 219.0], [150.0, 101.0, 99.0]), Verdict::WorthIt);
        assert_eq!(check(&speed, quiet, quiet), Verdict::Same);
        assert_eq!(check(&speed.since("Linux 9"), quiet, quiet), Verdict::Solved);
        let space = Metric::counted("space", "KiB", Better::Less);
        assert_eq!(judge(&space, &[4.0], &[0.0], &[4.0]).2, Verdict::WorthIt);
        assert_eq!(judge(&speed, &[4.0], &[9.0], &[4.0]).2, Verdict::TooFew);
    }

    /// One of several comparisons has its rounds, though those before it have used time; nobody has them for ever.
    #[test]
    fn rounds_of_a_later_comparison() {
        let now = Instant::now();
        let ago = |seconds| now.checked_sub(Duration::from_secs(seconds)).unwrap();
        let scratch = Scratch::new(&std::env::temp_dir()).unwrap();
        let cancel = Cancel::default();
        let bench = |spent| Bench {
            scratch: &scratch,
            rounds: 5,
            quick: false,
            image_bytes: 0,
            cancel: &cancel,
            begun: ago(spent),
            time_max: Duration::from_secs(75),
        };
        assert!(!bench(60).is_late(ago(5), 1, ROUNDS_MIN));
        assert!(!bench(100).is_late(ago(5), 2, ROUNDS_MIN) && bench(100).is_late(ago(5), 3, ROUNDS_MIN));
        assert!(bench(70).is_late(ago(30), 3, ROUNDS_MIN) && bench(140).is_late(ago(30), 1, ROUNDS_MIN));
    }

    #[test]
    fn medians_and_percentiles() {
        assert_eq!((median(&[]), median(&[3.0, 1.0, 2.0]), median(&[1.0, 2.0])), (0.0, 2.0, 1.5));
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(
            (percentile(&hundred, 0.5), percentile(&hundred, 0.99), percentile(&hundred, 1.0), percentile(&[], 0.5)),
            (50, 99, 100, 0)
        );
    }
}

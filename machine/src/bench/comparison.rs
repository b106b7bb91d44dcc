//! Comparison of an old and a new way, measured in turns. Each round measures the old way twice: the difference is the
//! noise.

use std::time::Instant;

use serde::Serialize;

use super::Bench;
use yunti_base::Result;

/// Ratio less one. A smaller difference counts as none, even on a quiet machine.
const LEAST: f64 = 0.03;
/// Ratio less one. With more noise, a smaller difference may still be real.
const NOISE_MAX: f64 = 0.25;
/// Rounds; fewer give no verdict on a timed metric.
const ROUNDS_MIN: usize = 3;

/// Direction in which a metric improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    More,
    Less,
}

/// One measured figure.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name in the table.
    pub name: &'static str,
    /// Unit in the table.
    pub unit: &'static str,
    /// Direction in which it improves.
    pub better: Better,
    /// True for a count that does not depend on time.
    pub exact: bool,
    /// Change of the kernel that has solved the problem since; empty if none.
    pub since: &'static str,
}

impl Metric {
    /// Returns a metric that depends on time.
    pub const fn timed(name: &'static str, unit: &'static str, better: Better) -> Metric {
        Metric { name, unit, better, exact: false, since: "" }
    }

    /// Returns a metric that is a count.
    pub const fn counted(name: &'static str, unit: &'static str, better: Better) -> Metric {
        Metric { name, unit, better, exact: true, since: "" }
    }

    /// Sets the change of the kernel that has solved the problem.
    pub const fn since(mut self, what: &'static str) -> Metric {
        self.since = what;
        self
    }
}

/// Way that is measured, and its turn in the round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Old,
    New,
    OldAgain,
}

impl Side {
    /// Returns true for the new way.
    pub fn is_new(self) -> bool {
        self == Side::New
    }
}

/// Verdict on a comparison.
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
    /// Returns the name in tables and JSON.
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

/// Result of comparing one metric.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Name of the metric.
    pub metric: &'static str,
    /// Unit of the values.
    pub unit: &'static str,
    /// Direction of an improvement.
    pub better: Better,
    /// True for a count that does not depend on time.
    pub exact: bool,
    /// Description of the old way.
    pub old: String,
    /// Description of the new way.
    pub new: String,
    /// Values of the old way, one a round.
    pub old_values: Vec<f64>,
    /// Values of the old way, measured again in the same rounds.
    pub old_again_values: Vec<f64>,
    /// Values of the new way, one a round.
    pub new_values: Vec<f64>,
    /// New divided by old, the median of the rounds.
    pub ratio: f64,
    /// 95 % confidence interval of the ratio, from the ranks of the rounds; with fewer than six rounds, all of them.
    pub ratio_interval: (f64, f64),
    /// Largest difference of the old way from itself in a round; 0.1 is 10 %.
    pub noise: f64,
    /// Result.
    pub verdict: Verdict,
    /// Change of the kernel that has solved the problem since; empty if none.
    pub since: &'static str,
}

/// Measures both ways in turns. `run` returns a value for each metric, in the order of `metrics`.
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
        // Each way is first in a third of the rounds.
        let mut turns = [Side::Old, Side::New, Side::OldAgain];
        turns.rotate_left(round % 3);
        for side in turns {
            bench.check_cancelled()?;
            for (all, value) in values.iter_mut().zip(run(side)?) {
                all[side as usize].push(value);
            }
        }
    }
    bench.check_cancelled()?;
    let comparisons = metrics.iter().zip(values).map(|(metric, [a, b, again])| {
        let (ratio, noise, verdict) = judge(metric, &a, &b, &again);
        let ratio_interval = interval(&effects(&a, &b, &again));
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
            ratio_interval,
            noise,
            verdict,
            since: metric.since,
        }
    });
    Ok(comparisons.collect())
}

/// Logarithm of a value. A value of zero is compared as a very small one.
fn log(value: f64) -> f64 {
    value.max(1e-9).ln()
}

/// Returns the logarithm of new to old of each round.
fn effects(old: &[f64], new: &[f64], again: &[f64]) -> Vec<f64> {
    old.iter().zip(new).zip(again).map(|((a, b), c)| log(*b) - (log(*a) + log(*c)) / 2.0).collect()
}

/// Returns the 95 % confidence interval of the median ratio, by the sign test: no distribution is assumed.
fn interval(effects: &[f64]) -> (f64, f64) {
    let mut sorted = effects.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    // Rank of the lower end, from one: the chance that the median is below it is at most 2.5 %.
    let (mut rank, mut term, mut below) = (0, 0.5f64.powi(n as i32), 0.0);
    while rank < n / 2 {
        below += term;
        if below > 0.025 {
            break;
        }
        rank += 1;
        term *= (n - rank + 1) as f64 / rank as f64;
    }
    // Too few rounds for 2.5 %: all of them.
    let first = rank.saturating_sub(1);
    match (sorted.get(first), sorted.get(n.wrapping_sub(first + 1))) {
        (Some(low), Some(high)) => (low.exp(), high.exp()),
        _ => (0.0, 0.0),
    }
}

fn judge(metric: &Metric, old: &[f64], new: &[f64], again: &[f64]) -> (f64, f64, Verdict) {
    let rounds = old.iter().zip(new).zip(again);
    let effect = median(&effects(old, new, again));
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

/// Returns the median, or 0 without values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// Returns the value below which `share` of the sorted values are.
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
    fn judges_comparisons() {
        let speed = Metric::timed("speed", "MB/s", Better::More);
        let quiet = [100.0, 101.0, 99.0];
        let check = |metric: &Metric, new: [f64; 3], again: [f64; 3]| judge(metric, &quiet, &new, &again).2;
        assert_eq!(check(&speed, [120.0, 121.0, 119.0], quiet), Verdict::WorthIt);
        assert_eq!(check(&speed, [80.0, 81.0, 79.0], quiet), Verdict::Costs);
        // The old way differs from itself by half, so a difference of a fifth is neither confirmed nor solved.
        assert_eq!(check(&speed, [120.0, 121.0, 119.0], [150.0, 101.0, 99.0]), Verdict::TooNoisy);
        assert_eq!(check(&speed.since("Linux 9"), [120.0, 121.0, 119.0], [150.0, 101.0, 99.0]), Verdict::TooNoisy);
        assert_eq!(check(&speed, [110.0, 111.0, 109.0], [115.0, 101.0, 99.0]), Verdict::Same);
        // A difference larger than the noise counts.
        assert_eq!(check(&speed, [220.0, 221.0, 219.0], [150.0, 101.0, 99.0]), Verdict::WorthIt);
        assert_eq!(check(&speed, quiet, quiet), Verdict::Same);
        assert_eq!(check(&speed.since("Linux 9"), quiet, quiet), Verdict::Solved);
        let space = Metric::counted("space", "KiB", Better::Less);
        assert_eq!(judge(&space, &[4.0], &[0.0], &[4.0]).2, Verdict::WorthIt);
        assert_eq!(judge(&speed, &[4.0], &[9.0], &[4.0]).2, Verdict::TooFew);
    }

    /// A later comparison gets its rounds although earlier ones used the time, but not without limit.
    #[test]
    fn later_comparisons_get_their_rounds() {
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

    /// The interval covers the median of a normal distribution in at least 95 % of the runs, and shrinks with rounds.
    #[test]
    fn intervals_hold_and_shrink() {
        let mut random = fastrand::Rng::with_seed(5);
        let mut effect = || (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
        let mut width = Vec::new();
        for (rounds, least) in [(6, 950), (9, 950), (15, 950), (5, 915)] {
            let (mut within, mut widths) = (0, 0.0);
            for _ in 0..1000 {
                let (low, high) = interval(&(0..rounds).map(|_| effect()).collect::<Vec<_>>());
                within += i32::from(low <= 1.0 && 1.0 <= high);
                widths += high.ln() - low.ln();
            }
            assert!(within >= least - 15, "{rounds}: {within}");
            width.push(widths);
        }
        assert!(width[0] > width[1] && width[1] > width[2], "{width:?}");
        assert_eq!((interval(&[]), interval(&[0.0])), ((0.0, 0.0), (1.0, 1.0)));
    }

    #[test]
    fn computes_medians_and_percentiles() {
        assert_eq!((median(&[]), median(&[3.0, 1.0, 2.0]), median(&[1.0, 2.0])), (0.0, 2.0, 1.5));
        let hundred: Vec<u64> = (1..=100).collect();
        assert_eq!(
            (percentile(&hundred, 0.5), percentile(&hundred, 0.99), percentile(&hundred, 1.0), percentile(&[], 0.5)),
            (50, 99, 100, 0)
        );
    }
}

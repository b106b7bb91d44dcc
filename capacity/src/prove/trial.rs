//! Trial of a copy: a warm-up, numbers of clients around the expected peak, and the best one again.

use std::time::Duration;

use serde::Serialize;
use yunti_base::{Code, Error, Result};
use yunti_model::curve::Estimate;

/// Longest round of the warm-up.
const WARM_ROUND: Duration = Duration::from_secs(2);
/// Rounds of the warm-up at most.
const WARM_MAX: usize = 15;
/// Rounds in a row that do not exceed the best one before by this share: the copy is warm. Differences would not do, as
/// the rates of a busy machine differ for ever.
const FLAT: usize = 2;
const GROWS_BY: f64 = 0.03;
const WARM_CLIENTS_MAX: usize = 16;
/// Numbers of clients, as multiples of the threads that the model predicts.
const AROUND: [f64; 4] = [0.5, 1.0, 1.5, 2.5];
/// Factor of the number of clients as long as the rate grows.
const MORE: f64 = 1.6;
const CLIENTS_MAX: usize = 512;
/// Further runs with the best number of clients.
const REPEATS: usize = 3;
/// Relative standard error of a peak beyond the spread of its seconds: two starts of a program differ.
const START_ERROR: f64 = 0.01;

/// Result of a closed loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    pub per_second: f64,
    pub mean_ms: f64,
    pub errors: u64,
    /// Answers in each full second.
    pub seconds: Vec<f64>,
    /// Absent: the round lasted as planned. Else the reason for its end.
    pub suffered: Option<String>,
}

/// Measured number of clients.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    pub clients: usize,
    pub per_second: f64,
    pub mean_ms: f64,
    pub errors: u64,
}

/// Peak of a copy, and how it was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trial {
    pub peak: Estimate,
    /// Clients at the peak.
    pub clients: usize,
    /// Mean time of an answer there.
    pub mean_ms: f64,
    pub levels: Vec<Level>,
    pub warm_up_seconds: f64,
    /// The rate no longer grew when the warm-up ended.
    pub is_warm: bool,
    /// Why the load ended before all numbers of clients were tried.
    pub suffered: Option<String>,
}

/// Sends a closed loop of some clients for a time.
pub type Load<'a> = dyn FnMut(usize, Duration) -> Result<Round> + 'a;

/// Measures a copy.
///
/// @param threads clients with which the model expects the peak
/// @param step length of the run of each number of clients
pub fn measure(load: &mut Load<'_>, threads: f64, step: Duration) -> Result<Trial> {
    let clients = (threads.round() as usize).clamp(1, WARM_CLIENTS_MAX);
    let (warm_up_seconds, is_warm) = warm_up(load, clients, WARM_ROUND.min(step))?;
    let mut all: Vec<(usize, Round)> = Vec::new();
    let mut suffered = None;
    let mut next: Vec<usize> = around(threads);
    next.reverse();
    while let Some(clients) = next.pop() {
        let round = load(clients, step)?;
        suffered.clone_from(&round.suffered);
        all.push((clients, round));
        if suffered.is_some() {
            break;
        }
        if next.is_empty() && still_grows(&all) && clients < CLIENTS_MAX {
            next.push(((clients as f64 * MORE).ceil() as usize).min(CLIENTS_MAX));
        }
    }
    let whole = || all.iter().filter(|(_, round)| round.suffered.is_none() && round.per_second > 0.0);
    // `max_by` returns the last of equal rates: in reverse, it is the one with the fewest clients.
    let best = whole().rev().max_by(|(_, a), (_, b)| a.per_second.total_cmp(&b.per_second));
    let Some((clients, chosen)) = best.cloned() else {
        let reason = suffered.unwrap_or_else(|| "it did not answer".to_owned());
        return Err(Error::new(Code::Input, format!("the copy bears no load: {reason}")));
    };
    let mut rounds = Vec::new();
    while rounds.len() < REPEATS && suffered.is_none() {
        let round = load(clients, step)?;
        suffered.clone_from(&round.suffered);
        if suffered.is_none() {
            rounds.push(round);
        }
    }
    // The chosen round is the luckiest of all: it counts only if there is no other.
    if rounds.is_empty() {
        rounds.push(chosen);
    }
    let mean = |of: fn(&Round) -> f64| rounds.iter().map(of).sum::<f64>() / rounds.len() as f64;
    let (per_second, mean_ms) = (mean(|round| round.per_second), mean(|round| round.mean_ms));
    let seconds: Vec<f64> = rounds.iter().flat_map(|round| round.seconds.iter().copied()).collect();
    let level = |(clients, round): &(usize, Round)| Level {
        clients: *clients,
        per_second: round.per_second,
        mean_ms: round.mean_ms,
        errors: round.errors,
    };
    Ok(Trial {
        peak: Estimate::around(per_second, relative_error(&seconds)),
        clients,
        mean_ms,
        levels: all.iter().map(level).collect(),
        warm_up_seconds,
        is_warm,
        suffered,
    })
}

/// Loads a copy until its rate no longer grows. Returns the seconds, and whether that was reached.
fn warm_up(load: &mut Load<'_>, clients: usize, time: Duration) -> Result<(f64, bool)> {
    let (mut best, mut flat) = (0.0_f64, 0);
    for rounds in 1..=WARM_MAX {
        let round = load(clients, time)?;
        if let Some(reason) = round.suffered.filter(|_| round.per_second <= 0.0) {
            return Err(Error::new(Code::Input, format!("the copy gives no good answer: {reason}")));
        }
        flat = if round.per_second > best * (1.0 + GROWS_BY) { 0 } else { flat + 1 };
        best = best.max(round.per_second);
        if flat == FLAT {
            return Ok((rounds as f64 * time.as_secs_f64(), true));
        }
    }
    Ok((WARM_MAX as f64 * time.as_secs_f64(), false))
}

/// Returns numbers of clients around the predicted one.
fn around(threads: f64) -> Vec<usize> {
    let mut all: Vec<usize> =
        AROUND.iter().map(|times| ((threads * times).round() as usize).clamp(1, CLIENTS_MAX)).collect();
    all.dedup();
    all
}

/// Returns whether the last number of clients is clearly the best.
fn still_grows(all: &[(usize, Round)]) -> bool {
    let [before @ .., (_, last)] = all else { return false };
    last.per_second > (1.0 + GROWS_BY) * before.iter().map(|(_, round)| round.per_second).fold(0.0, f64::max)
}

/// Returns the relative standard error of the mean of rates.
fn relative_error(rates: &[f64]) -> f64 {
    let n = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / n.max(1.0);
    if n < 2.0 || mean <= 0.0 {
        return START_ERROR + GROWS_BY;
    }
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (START_ERROR.powi(2) + variance / n / mean.powi(2)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copy that answers at most `peak` requests a second, 10 for each client.
    fn copy(peak: f64, runs: &mut Vec<usize>) -> impl FnMut(usize, Duration) -> Result<Round> {
        move |clients, time| {
            runs.push(clients);
            let rate = (clients as f64 * 10.0).min(peak);
            let seconds = vec![rate; time.as_secs() as usize];
            Ok(Round { per_second: rate, mean_ms: clients as f64 / rate * 1000.0, seconds, ..Round::default() })
        }
    }

    #[test]
    fn finds_the_peak_beyond_the_prediction() {
        for (peak, threads, clients) in [(100.0, 10.0, 10), (300.0, 10.0, 40), (20.0, 10.0, 5), (7.0, 1.0, 1)] {
            let mut runs = Vec::new();
            let found = measure(&mut copy(peak, &mut runs), threads, Duration::from_secs(3)).unwrap();
            assert_eq!((found.peak.value, found.clients, found.is_warm), (peak, clients, true), "{runs:?}");
            assert!(found.peak.low < peak && peak < found.peak.high && found.peak.high < 1.03 * peak);
        }
    }

    #[test]
    fn warms_up_until_the_rate_no_longer_grows() {
        let mut rate = 10.0;
        let mut load = |_: usize, _: Duration| {
            rate = f64::min(rate * 1.2, 60.0);
            Ok(Round { per_second: rate, ..Round::default() })
        };
        assert_eq!(warm_up(&mut load, 4, WARM_ROUND).unwrap(), (24.0, true));
        let mut rate = 10.0;
        let mut endless = |_: usize, _: Duration| {
            rate *= 1.2;
            Ok(Round { per_second: rate, ..Round::default() })
        };
        assert_eq!(warm_up(&mut endless, 4, WARM_ROUND).unwrap(), (30.0, false));
    }

    #[test]
    fn stops_when_the_copy_suffers() {
        let mut runs = 0;
        let mut load = |clients: usize, _: Duration| {
            runs += 1;
            let suffered = (clients > 10).then(|| "errors".to_owned());
            Ok(Round { per_second: clients as f64, suffered, ..Round::default() })
        };
        let found = measure(&mut load, 10.0, Duration::from_secs(1)).unwrap();
        assert_eq!((found.clients, found.suffered.as_deref(), found.levels.len()), (10, Some("errors"), 3));
        assert_eq!(runs, 6); // 3 of the warm-up, 3 levels
        let mut dead = |_: usize, _: Duration| Ok(Round { suffered: Some("refused".into()), ..Round::default() });
        let error = measure(&mut dead, 10.0, Duration::from_secs(1)).unwrap_err();
        assert!(error.what().contains("refused"), "{error}");
    }
}

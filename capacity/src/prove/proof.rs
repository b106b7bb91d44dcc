//! Proof: the predicted ratio of two peaks beside the measured one (docs/formats/what-if.schema.json).

use serde::Serialize;
use yunti_model::curve::Estimate;
use yunti_model::what_if::Answer;
use yunti_program::text::numbers;

use super::trial::Trial;

/// Requests that the prediction comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The traffic of the service, or saved demands.
    Traffic,
    /// Load of our own on the unchanged copy: the service had too little traffic.
    Copy,
}

/// Measured copy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopyReport {
    /// Number of processors.
    pub processors: usize,
    /// Addresses at which it listened.
    pub addresses: Vec<String>,
    /// Peak that the model predicts for it.
    pub predicted: Estimate,
    #[serde(flatten)]
    pub trial: Trial,
}

/// Changes tried on a copy, beside their prediction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Proof {
    pub changes: Vec<String>,
    /// Changes that the user's command has.
    pub by_user: Vec<String>,
    pub predicted_from: Source,
    /// Peak after the changes divided by the one before.
    pub predicted: Estimate,
    pub measured: Estimate,
    /// Relative error of the predicted ratio.
    pub error: Estimate,
    /// The band of the error holds 0.
    pub agrees: bool,
    pub unchanged: CopyReport,
    pub changed: CopyReport,
    pub notes: Vec<String>,
}

impl Proof {
    /// Compares an answer with what was measured.
    pub fn of(
        answer: &Answer,
        by_user: Vec<String>,
        predicted_from: Source,
        unchanged: CopyReport,
        changed: CopyReport,
    ) -> Proof {
        let gain = answer.gain;
        let predicted = Estimate { value: 1.0 + gain.value, low: 1.0 + gain.low, high: 1.0 + gain.high };
        let measured = ratio(changed.trial.peak, unchanged.trial.peak);
        let times = ratio(predicted, measured);
        let error = Estimate { value: times.value - 1.0, low: times.low - 1.0, high: times.high - 1.0 };
        let mut notes = Vec::new();
        for (name, copy) in [("unchanged", &unchanged), ("changed", &changed)] {
            if !copy.trial.is_warm {
                let seconds = copy.trial.warm_up_seconds;
                notes.push(format!("The rate of the {name} copy still grew after {seconds:.0} s of warm-up."));
            }
            if let Some(reason) = &copy.trial.suffered {
                notes.push(format!("The load on the {name} copy was stopped: {reason}"));
            }
            let errors: u64 = copy.trial.levels.iter().map(|level| level.errors).sum();
            if errors > 0 {
                notes.push(format!("{} to the {name} copy failed.", numbers::several(errors, "request")));
            }
            if let Some(open) = copy.addresses.iter().find(|address| !is_loopback(address)) {
                notes.push(format!("The {name} copy listened at {open}: other machines could reach it."));
            }
        }
        let changes = answer.changes.clone();
        let agrees = error.low <= 0.0 && 0.0 <= error.high;
        Proof { changes, by_user, predicted_from, predicted, measured, error, agrees, unchanged, changed, notes }
    }
}

fn is_loopback(address: &str) -> bool {
    address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns the ratio of two independent estimates.
fn ratio(of: Estimate, by: Estimate) -> Estimate {
    let half = |one: Estimate| (one.high - one.low) / 2.0 / one.value.max(1e-9);
    let value = of.value / by.value.max(1e-9);
    let half = half(of).hypot(half(by)) * value;
    Estimate { value, low: value - half, high: value + half }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_join_both_bands() {
        let estimate = |value: f64, half: f64| Estimate { value, low: value - half, high: value + half };
        let found = ratio(estimate(200.0, 6.0), estimate(100.0, 4.0));
        assert!((found.value - 2.0).abs() < 1e-9 && (found.high - 2.1).abs() < 1e-9 && (found.low - 1.9).abs() < 1e-9);
        assert!(is_loopback("127.0.0.1") && is_loopback("::1") && !is_loopback("0.0.0.0"));
    }
}

//! Steps: an open loop whose rate grows step by step until the server suffers.
//!
//! ```text
//!   rate     50   65   85   110   143   186   242
//!   served   50   65   85   110   143   182   171
//!   p99      6    6    7     8    14    95   640
//!                                  |     `- p99 grew many times, also when repeated: the end
//!                                  `- knee: the last rate that was served well
//! ```
//!
//! A step that fails is repeated once: a short stall of the machine would end the search too early.

use std::time::Duration;

use serde::Serialize;
use yunti_base::{Cancel, Result};

use crate::guard::End;
use crate::plan::{Arrivals, Plan};
use crate::report::{Report, Second};
use crate::schedule::arrivals::Spacing;

/// Growth of p99 over the smallest of the steps before that counts as suffering.
const P99_TIMES: f64 = 8.0;
/// Growth of p99 in milliseconds that counts at least.
const P99_MS_MIN: f64 = 10.0;
/// Share of the offered rate that must be answered.
const SERVED_MIN: f64 = 0.95;
const ERRORS_MAX: f64 = 0.01;
/// Steps at most.
const STEPS_MAX: usize = 60;
/// Shortest and longest run of a single client that finds the first rate; between them it is as long as a step.
const PROBE_MIN: Duration = Duration::from_secs(1);
const PROBE_MAX: Duration = Duration::from_secs(2);

/// Plan of the steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ladder {
    /// First rate; None to derive it from a single client.
    pub from: Option<f64>,
    /// Rate of a step over the one before; above 1.
    pub factor: f64,
    pub spacing: Spacing,
}

/// Sign of suffering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// p99 grew many times.
    Latency,
    /// Less than 95 % of the offered rate was answered.
    Throughput,
    /// More than 1 % of the requests failed.
    Errors,
}

impl Sign {
    /// Returns the words of a report.
    pub fn name(self) -> &'static str {
        match self {
            Sign::Latency => "p99 grew many times",
            Sign::Throughput => "less than 95 % was answered",
            Sign::Errors => "more than 1 % failed",
        }
    }
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    pub per_second: f64,
    pub sign: Option<Sign>,
    pub report: Report,
}

/// All steps, and what they say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Climb {
    pub steps: Vec<Step>,
    /// Largest rate that was answered in any step.
    pub peak_per_second: f64,
    /// Last offered rate that was served well; none if the first step failed.
    pub knee_per_second: Option<f64>,
    /// True if the server suffered: else its limit is higher.
    pub is_limit_found: bool,
}

/// Runs the steps.
///
/// @param on_step gets each step as soon as its run is over
pub fn run(
    plan: &Plan,
    ladder: &Ladder,
    cancel: &Cancel,
    on_second: &mut dyn FnMut(&Second),
    on_step: &mut dyn FnMut(&Step),
) -> Result<Climb> {
    let mut rate = match ladder.from {
        Some(rate) => rate,
        None => first_rate(plan, cancel)?,
    };
    let mut steps: Vec<Step> = Vec::new();
    let mut knee = None;
    let mut is_limit_found = false;
    let mut is_repeat = false;
    while steps.len() < STEPS_MAX && !cancel.is_set() {
        let arrivals = Arrivals::Rate { per_second: rate, spacing: ladder.spacing };
        let report = crate::run(&Plan { arrivals, ..plan.clone() }, cancel, on_second)?;
        let best_p99_ms = steps.iter().filter(|step| step.sign.is_none()).map(|step| step.report.latency.p99_ms);
        let sign = Served::of(&report).sign(best_p99_ms.fold(f64::INFINITY, f64::min));
        let step = Step { per_second: rate, sign, report };
        on_step(&step);
        let end = step.report.end;
        steps.push(step);
        match (sign, end) {
            (_, End::Cancelled) => break,
            (_, End::Errors | End::Silence) => {
                is_limit_found = true;
                break;
            }
            (Some(_), _) if is_repeat => {
                is_limit_found = true;
                break;
            }
            (Some(_), _) => is_repeat = true,
            (None, _) => {
                knee = Some(rate);
                is_repeat = false;
                rate *= ladder.factor;
            }
        }
    }
    let peak_per_second = steps.iter().map(|step| step.report.done_per_second).fold(0.0, f64::max);
    Ok(Climb { steps, peak_per_second, knee_per_second: knee, is_limit_found })
}

/// Returns half the rate of a single client.
fn first_rate(plan: &Plan, cancel: &Cancel) -> Result<f64> {
    let probe = Plan {
        arrivals: Arrivals::Closed,
        connections: 1,
        threads: 1,
        duration: plan.duration.clamp(PROBE_MIN, PROBE_MAX),
        ramp: Duration::ZERO,
        ..plan.clone()
    };
    let report = crate::run(&probe, cancel, &mut |_| {})?;
    Ok((report.done_per_second / 2.0).max(1.0))
}

/// Figures of a step that its sign depends on.
struct Served {
    offered: u64,
    /// Answers without a failure while requests were due.
    answered: f64,
    failed: u64,
    p99_ms: f64,
}

impl Served {
    fn of(report: &Report) -> Served {
        Served {
            offered: report.offered,
            answered: report.done_per_second * report.seconds,
            failed: report.errors,
            p99_ms: report.latency.p99_ms,
        }
    }

    /// Returns the sign that the server suffered, if there is one.
    ///
    /// @param best_p99_ms smallest p99 of the good steps before; infinite without one
    fn sign(&self, best_p99_ms: f64) -> Option<Sign> {
        let failed = self.failed as f64;
        // The requests that were due are random: the planned rate would count a short step as too slow.
        let wanted = SERVED_MIN * self.offered as f64;
        if self.answered < 0.5 || failed > ERRORS_MAX * (self.answered + failed) {
            Some(Sign::Errors)
        } else if self.answered + failed + 1.0 < wanted {
            Some(Sign::Throughput)
        } else if self.p99_ms > P99_TIMES * best_p99_ms && self.p99_ms > best_p99_ms + P99_MS_MIN {
            Some(Sign::Latency)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_suffering() {
        for (offered, answered, failed, p99_ms, best_p99_ms, expect) in [
            (1000, 1000.0, 0, 5.0, f64::INFINITY, None),
            (1000, 985.0, 9, 5.0, 5.0, None),
            (1000, 985.0, 15, 5.0, 5.0, Some(Sign::Errors)),
            (1000, 0.0, 0, 0.0, 5.0, Some(Sign::Errors)),
            (1000, 940.0, 0, 5.0, 5.0, Some(Sign::Throughput)),
            (1000, 960.0, 0, 5.0, 5.0, None),
            // Few requests: one under way at the end does not count.
            (10, 9.0, 0, 5.0, 5.0, None),
            (1000, 1000.0, 0, 39.0, 5.0, None),
            (1000, 1000.0, 0, 41.0, 5.0, Some(Sign::Latency)),
            // Eight times of nearly nothing is nothing.
            (1000, 1000.0, 0, 8.0, 0.5, None),
        ] {
            let served = Served { offered, answered, failed, p99_ms };
            assert_eq!(served.sign(best_p99_ms), expect, "{offered} {answered} {failed} {p99_ms} {best_p99_ms}");
        }
    }
}

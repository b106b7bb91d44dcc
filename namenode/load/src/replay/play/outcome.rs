//! Outcome of a replay: latencies and errors by command, and how far the calls were behind their times.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde_json::{Value, json};

use crate::call::latency::with_quantiles;
use crate::replay::command::Command;

/// Range of a histogram: a microsecond to an hour, with three digits.
const HIGHEST_US: u64 = 3_600_000_000;
const DIGITS: u8 = 3;
/// Exception of a call that permissions refuse.
pub const DENIED: &str = "AccessControlException";

/// Creates a histogram of microseconds.
pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, HIGHEST_US, DIGITS).expect("bounds that fit each other")
}

/// Outcome of one command.
#[derive(Debug)]
pub struct CommandOutcome {
    /// Microseconds from the intended time to the response, of calls that end as in the log.
    pub latency: Histogram<u64>,
    /// Calls refused here and in the log.
    pub denied_as_in_log: u64,
    /// Calls refused in the log, but not here.
    pub allowed_here: u64,
    /// Other failures: class of the error, number, first message.
    pub failed: BTreeMap<String, (u64, String)>,
}

impl CommandOutcome {
    fn new() -> CommandOutcome {
        CommandOutcome { latency: histogram(), denied_as_in_log: 0, allowed_here: 0, failed: BTreeMap::new() }
    }

    pub fn failures(&self) -> u64 {
        self.failed.values().map(|(count, _)| count).sum()
    }

    pub fn calls(&self) -> u64 {
        self.latency.len() + self.allowed_here + self.failures()
    }
}

/// Outcome of all calls.
#[derive(Debug)]
pub struct ReplayOutcome {
    pub by_command: BTreeMap<Command, CommandOutcome>,
    /// Microseconds from the intended time to the send.
    pub lag: Histogram<u64>,
    /// Calls that were sent.
    pub sent: u64,
    /// Calls that had come due without a response at the end.
    pub unanswered: u64,
    pub reconnects: u64,
    /// Seconds to the last response.
    pub seconds: f64,
    /// Requests for the name space that failed, by class, with the first message.
    pub not_created: BTreeMap<String, (u64, String)>,
}

impl ReplayOutcome {
    pub fn new() -> ReplayOutcome {
        ReplayOutcome {
            by_command: BTreeMap::new(),
            lag: histogram(),
            sent: 0,
            unanswered: 0,
            reconnects: 0,
            seconds: 0.0,
            not_created: BTreeMap::new(),
        }
    }

    /// Adds the end of a call.
    ///
    /// @param error class of the error, and its message
    /// @param us microseconds from the intended time
    pub fn add(&mut self, command: Option<Command>, is_allowed: bool, error: Option<(&str, &str)>, us: u64) {
        let Some(command) = command else {
            if let Some((class, message)) = error {
                count(&mut self.not_created, class, message);
            }
            return;
        };
        let one = self.by_command.entry(command).or_insert_with(CommandOutcome::new);
        match (is_allowed, error) {
            (true, None) => one.latency.saturating_record(us.max(1)),
            (false, Some((DENIED, _))) => {
                one.denied_as_in_log += 1;
                one.latency.saturating_record(us.max(1));
            }
            (false, None) => one.allowed_here += 1,
            (_, Some((class, message))) => count(&mut one.failed, class, message),
        }
    }

    pub fn calls(&self) -> u64 {
        self.by_command.values().map(CommandOutcome::calls).sum()
    }

    pub fn failures(&self) -> u64 {
        self.by_command.values().map(CommandOutcome::failures).sum()
    }

    pub fn to_json(&self) -> Value {
        let errors = |failed: &BTreeMap<String, (u64, String)>| {
            let rows =
                failed.iter().map(|(class, (calls, first))| json!({"class": class, "calls": calls, "first": first}));
            rows.collect::<Value>()
        };
        let of = |(command, one): (&Command, &CommandOutcome)| {
            let row = json!({
                "command": command.name(),
                "calls": one.calls(),
                "per_second": one.calls() as f64 / self.seconds.max(1e-9),
                "denied_as_in_log": one.denied_as_in_log,
                "allowed_here": one.allowed_here,
                "failed": one.failures(),
                "errors": errors(&one.failed),
            });
            with_quantiles(row, &one.latency)
        };
        json!({
            "seconds": self.seconds,
            "calls": self.calls(),
            "failed": self.failures(),
            "unanswered": self.unanswered,
            "reconnects": self.reconnects,
            "achieved_per_second": self.calls() as f64 / self.seconds.max(1e-9),
            "lag_us": {
                "p50": self.lag.value_at_quantile(0.5),
                "p99": self.lag.value_at_quantile(0.99),
                "max": self.lag.max(),
            },
            "by_command": self.by_command.iter().map(of).collect::<Value>(),
            "not_created": errors(&self.not_created),
        })
    }
}

fn count(of: &mut BTreeMap<String, (u64, String)>, class: &str, message: &str) {
    of.entry(class.to_owned()).or_insert_with(|| (0, message.to_owned())).0 += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_with_the_log() {
        let mut outcome = ReplayOutcome::new();
        let open = Some(Command::Open);
        outcome.add(open, true, None, 100);
        outcome.add(open, false, Some((DENIED, "no")), 200);
        outcome.add(open, false, None, 300);
        outcome.add(open, true, Some((DENIED, "no")), 400);
        outcome.add(open, false, Some(("FileNotFoundException", "none")), 500);
        outcome.add(None, true, Some(("QuotaException", "full")), 0);
        let one = &outcome.by_command[&Command::Open];
        assert_eq!((one.calls(), one.denied_as_in_log, one.allowed_here, one.failures()), (5, 1, 1, 2));
        assert_eq!((one.latency.len(), one.latency.max()), (2, 200));
        assert_eq!((outcome.calls(), outcome.not_created["QuotaException"].0), (5, 1));
    }
}

//! Comparison of one measurement with its history: rules, functions, steps.

use serde::Serialize;
use yunti_record::statistics::median::median;

use super::baseline::{Against, baseline, searched};
use super::causes::{Cause, Causes, causes};
use super::day::Day;
use super::functions::{Change, Functions, Part};
use super::service::{Compared, DAYS_MIN, Figure, Rule, Verdict, rule};
use super::steps::{Step, steps};
use crate::record::State;

/// Part of the service's growth that makes a function the one that has most of it.
const MOSTLY: f64 = 0.5;

/// Part of the load's requests that fails at least in a service that is worse, and the multiple of what usually fails.
const FAILED_MIN: f64 = 0.01;
const FAILED_TIMES: f64 = 2.0;

/// Parts of the load's requests that fail.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Failing {
    pub now: f64,
    /// Median of the days compared with; absent without any.
    pub usual: Option<f64>,
    pub verdict: Verdict,
}

/// Result of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    pub today: Day,
    /// Numbers of the days compared with.
    pub days: Vec<u64>,
    pub rules: Vec<Rule>,
    /// Failed requests, if there was a load run.
    pub failing: Option<Failing>,
    /// Functions that grew, largest first.
    pub causes: Vec<Cause>,
    pub common_caller: Option<String>,
    /// Function that has most of a growth of the service, where no function's growth is sure.
    pub mostly: Option<Change>,
    /// Functions whose cost fell.
    pub fallen: Vec<Change>,
    /// Functions whose growth is cost moved from others.
    pub moved: Vec<Change>,
    /// Factor of today that all functions share, against the usual one.
    pub common: Option<f64>,
    pub steps: Vec<Step>,
    pub notes: Vec<String>,
}

impl Comparison {
    /// Returns true if a rule or a function is worse.
    pub fn is_worse(&self) -> bool {
        let is_failing = self.failing.is_some_and(|failing| failing.verdict == Verdict::Worse);
        is_failing || !self.causes.is_empty() || self.rules.iter().any(|rule| rule.verdict == Verdict::Worse)
    }

    /// Returns the verdict of all rules and functions.
    pub fn verdict(&self) -> Verdict {
        let has = |verdict| self.rules.iter().any(|rule| rule.verdict == verdict);
        match () {
            () if self.is_worse() => Verdict::Worse,
            () if has(Verdict::Better) => Verdict::Better,
            () if has(Verdict::Same) => Verdict::Same,
            () => Verdict::Unknown,
        }
    }

    /// Returns the days of a history that the measurement is compared with.
    pub fn compared<'a>(&self, history: &'a [Day]) -> Vec<&'a Day> {
        history.iter().filter(|day| self.days.contains(&day.sequence)).collect()
    }

    /// Returns the rule of a figure.
    pub fn rule(&self, figure: Figure) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.figure == figure)
    }
}

/// Compares a day with days before it. `history` is in order, and may contain the day itself.
pub fn compare(history: &[Day], today: &Day, against: &Against) -> Comparison {
    let searched = searched(history, today);
    let mut days = baseline(&searched, today, against);
    let failing = failing(&days, today);
    if today.state != State::Complete {
        days.clear();
    }
    // A release or a day that the user names may be a single measurement.
    let days_min = if *against == Against::History { DAYS_MIN } else { 1 };
    let start = Figure::CpuPerRequest.start_deviation(&searched);
    let functions = if days.len() >= days_min { Functions::of(&days, today, start) } else { None };
    let compared = Compared { searched: &searched, days: &days, today, days_min };
    let rules: Vec<Rule> = Figure::ALL.into_iter().map(|figure| rule(figure, &compared, functions.as_ref())).collect();
    let (grown, fallen) = functions.as_ref().map(Functions::changes).unwrap_or_default();
    let Causes { causes, moved, common_caller } =
        functions.as_ref().map(|functions| causes(functions, &grown)).unwrap_or_default();
    let common = functions.as_ref().and_then(|functions| functions.common_change());
    let until = history.partition_point(|day| day.sequence <= today.sequence);
    let mut comparison = Comparison {
        today: today.clone(),
        days: days.iter().map(|day| day.sequence).collect(),
        rules,
        failing,
        causes,
        common_caller,
        mostly: None,
        fallen: fallen.into_iter().filter(|change| change.part == Part::Own).collect(),
        moved,
        common,
        steps: steps(&history[..until]),
        notes: Vec::new(),
    };
    comparison.mostly = mostly(&comparison, functions.as_ref());
    comparison.notes = notes(&comparison, &days, days_min, functions.as_ref());
    comparison
}

fn failing(days: &[&Day], today: &Day) -> Option<Failing> {
    let now = today.failed?;
    let known: Vec<f64> = days.iter().filter_map(|day| day.failed).collect();
    let usual = (!known.is_empty()).then(|| median(&known));
    let is_worse = now >= FAILED_MIN && now >= FAILED_TIMES * usual.unwrap_or(0.0);
    Some(Failing { now, usual, verdict: if is_worse { Verdict::Worse } else { Verdict::Same } })
}

fn mostly(comparison: &Comparison, functions: Option<&Functions>) -> Option<Change> {
    let rule = comparison.rule(Figure::CpuPerRequest).filter(|rule| rule.verdict == Verdict::Worse)?;
    let change = functions.filter(|_| comparison.causes.is_empty())?.largest_growth()?;
    (change.share >= MOSTLY * rule.change?).then_some(change)
}

fn notes(comparison: &Comparison, days: &[&Day], days_min: usize, functions: Option<&Functions>) -> Vec<String> {
    let today = &comparison.today;
    let mut notes = Vec::new();
    if today.state != State::Complete {
        notes.push(format!("the measurement is {}, so nothing is compared", today.state.name()));
    } else if days.len() < days_min {
        notes.push(format!("{} earlier measurements; {days_min} are needed to compare", days.len()));
    } else if days.len() < 7 {
        notes.push(format!("only {} earlier measurements: small changes are not sure yet", days.len()));
    }
    if today.left_out > 0 {
        notes.push(format!("{} of {} windows differ from the rest and are left out", today.left_out, today.windows));
    }
    if today.cpu_ms.is_none() {
        notes.push("requests or processor time are not known, so there is no cost by request".into());
    } else if today.functions.is_empty() {
        notes.push("there is no profile, so functions are not compared".into());
    }
    if let Some(functions) = functions
        && functions.samples_today() < 2000.0
    {
        let samples = functions.samples_today();
        notes.push(format!("{samples:.0} samples are few: give more --windows, or measure under more traffic"));
    }
    let calibrations: Vec<f64> = days.iter().filter_map(|day| day.calibration_ms).collect();
    let usual = median(&calibrations);
    if let Some(now) = today.calibration_ms.filter(|_| usual > 0.0)
        && (now / usual - 1.0).abs() > 0.05
    {
        notes.push(format!(
            "the host's processors are {:+.0} % slower than usual by their own loop",
            (now / usual - 1.0) * 100.0
        ));
    }
    notes
}

//! Advice: the gain in requests per second by another library, and what speaks against it.
//!
//! The processor time of a request falls, by Amdahl's law, from D to D - share * D * (1 - 1 / speed-up). Requests per
//! second grow by the inverse, if the processors are the bottleneck.

use serde::Serialize;

use super::shares::Share;
use super::trial::{Alternative, Range, Trial};

/// Resource that bounds the service, as a model of its capacity or the user names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bottleneck {
    /// Name of the resource; `None` if it is not known.
    pub resource: Option<String>,
}

impl Bottleneck {
    /// Returns true if the processors are the bottleneck, or nothing else is known to be.
    pub fn is_cpu(&self) -> bool {
        self.resource.as_deref().is_none_or(|name| matches!(name, "cpu" | "processor" | "processors"))
    }
}

/// Advice about one alternative.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// Library that the service uses.
    pub library: String,
    /// Alternative, by its name in the trial.
    pub alternative: String,
    /// Times that the alternative is as fast.
    pub speed_up: Range,
    /// Requests per second, relative to now: 0.1 is 10 % more. `None` if the processors are not the bottleneck.
    pub gain: Option<Range>,
    pub sentence: String,
    pub warnings: Vec<String>,
}

/// Gains below this are not worth an advice.
const GAIN_MIN: f64 = 0.005;

/// Returns the gain in requests per second, relative to now.
pub fn gain(share: Share, speed_up: Range) -> Range {
    let of = |share: f64, speed_up: f64| 1.0 / (1.0 - share.clamp(0.0, 0.99) * (1.0 - 1.0 / speed_up.max(0.01))) - 1.0;
    // With a speed-up below 1, a larger share is a larger loss.
    let corners = [
        of(share.share - share.error, speed_up.low),
        of(share.share - share.error, speed_up.high),
        of(share.share + share.error, speed_up.low),
        of(share.share + share.error, speed_up.high),
    ];
    Range {
        low: corners.iter().copied().fold(f64::INFINITY, f64::min),
        value: of(share.share, speed_up.value),
        high: corners.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

/// Returns advice about the alternatives that are faster than the service's library, best first.
pub fn advise(trial: &Trial, share_of: impl Fn(&str) -> Share, bottleneck: &Bottleneck) -> Vec<Advice> {
    let mut all = Vec::new();
    for library in trial.libraries() {
        let share = share_of(library);
        for alternative in trial.alternatives.iter().filter(|one| one.library == library && !one.is_baseline) {
            let Some(speed_up) = trial.speed_up(alternative) else { continue };
            let gain = gain(share, speed_up);
            if gain.value < GAIN_MIN || speed_up.low <= 1.0 {
                continue;
            }
            let warnings = warnings(library, alternative);
            let gain = bottleneck.is_cpu().then_some(gain);
            let sentence = sentence(library, alternative, speed_up, gain, share, bottleneck);
            let (library, name) = (library.to_owned(), alternative.name.clone());
            all.push(Advice { library, alternative: name, speed_up, gain, sentence, warnings });
        }
    }
    all.sort_by(|a, b| b.speed_up.value.total_cmp(&a.speed_up.value));
    all
}

fn sentence(
    library: &str,
    alternative: &Alternative,
    speed_up: Range,
    gain: Option<Range>,
    share: Share,
    bottleneck: &Bottleneck,
) -> String {
    let estimate = if alternative.is_estimate { " (an estimate)" } else { "" };
    let times = format!("{:.1} times as fast ({:.1} to {:.1})", speed_up.value, speed_up.low, speed_up.high);
    let start = format!("{} instead of {library}{estimate}: {times} on these messages", alternative.name);
    let Some(gain) = gain else {
        let name = bottleneck.resource.as_deref().unwrap_or_default();
        return format!("{start}, but no gain in requests per second, because {name} is the bottleneck.");
    };
    let condition = if bottleneck.resource.is_none() { ", if the processors are the bottleneck" } else { "" };
    format!(
        "{start}, {:.0} % of the processor time: {:+.1} % requests per second ({:+.1} to {:+.1} %){condition}.",
        share.share * 100.0,
        gain.value * 100.0,
        gain.low * 100.0,
        gain.high * 100.0
    )
}

/// Libraries that write text for readers of other programs.
const JSON: &[&str] = &["jackson", "gson", "fastjson", "fastjson2"];

fn warnings(library: &str, alternative: &Alternative) -> Vec<String> {
    let format = match (JSON.contains(&library), alternative.is_json) {
        (true, false) => "Other clients that read JSON cannot read it: use it between services of your own.",
        (true, true) => "Compare its JSON for all types: only captured messages were compared.",
        (false, _) => "Both sides must change at once, and stored bytes of the old format must stay readable.",
    };
    let safety = match &*alternative.name {
        "java" => {
            Some("Java serialisation runs code of classes that a sender names: filter them (JEP 290), or leave it.")
        }
        "kryo" | "fory" => Some(
            "Without class registration, a sender chooses the classes that are made: register them, or trust all \
             senders.",
        ),
        "fastjson2" => Some("Leave its AutoType off: with it, a sender chooses classes."),
        _ => None,
    };
    let work = "A schema and generated classes are work that this estimate leaves out.";
    let all = [Some(format), safety, alternative.is_estimate.then_some(work)];
    all.into_iter().flatten().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: f64, value: f64, high: f64) -> Range {
        Range { low, value, high }
    }

    #[test]
    fn gains_follow_amdahl() {
        let exact = |share| Share { share, error: 0.0 };
        let cases = [(0.5, 2.0, 1.0 / 0.75 - 1.0), (0.2, 1e9, 0.25), (0.3, 1.0, 0.0), (0.4, 0.5, 1.0 / 1.4 - 1.0)];
        for (share, speed_up, expected) in cases {
            let gain = gain(exact(share), range(speed_up, speed_up, speed_up));
            assert!((gain.value - expected).abs() < 1e-6, "{share} {speed_up}: {gain:?}");
            assert!((gain.low - expected).abs() < 1e-6 && (gain.high - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn the_range_holds_the_value() {
        for speed_up in [range(0.5, 0.9, 1.1), range(1.5, 2.0, 3.0)] {
            let gain = gain(Share { share: 0.2, error: 0.05 }, speed_up);
            assert!(gain.low <= gain.value && gain.value <= gain.high, "{gain:?}");
        }
    }

    #[test]
    fn no_gain_unless_the_processors_bound() {
        for (name, expected) in [(None, true), (Some("cpu"), true), (Some("pool HikariPool-1"), false)] {
            assert_eq!(Bottleneck { resource: name.map(str::to_owned) }.is_cpu(), expected);
        }
    }
}

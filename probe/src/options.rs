//! Flags of all commands: target process, duration, and output.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use yunti_base as base;

use crate::target::{Start, Target};

/// Flags that select a process, by a name without an option.
#[derive(Debug, Args)]
pub struct TargetFlags {
    /// Process number, or a part of the process's name, its jar or its main class
    #[arg(value_name = "NAME", conflicts_with_all = ["pid", "start"])]
    pub name: Option<String>,
    /// Process number
    #[arg(short, long, value_name = "PID", conflicts_with = "start")]
    pub pid: Option<u32>,
    /// Start this command, and measure it from its beginning
    #[arg(last = true, value_name = "COMMAND")]
    pub start: Vec<OsString>,
}

impl TargetFlags {
    /// Returns the selected process.
    pub fn find(&self, start: Start) -> base::Result<Target> {
        Target::find(self.pid, self.name.as_deref(), &self.start, start)
    }
}

/// Flags that select a process, by options only.
#[derive(Debug, Args)]
pub struct NamedTargetFlags {
    /// Process number
    #[arg(short, long, value_name = "PID", conflicts_with_all = ["name", "start"])]
    pub pid: Option<u32>,
    /// Part of the process's name, its jar or its main class
    #[arg(short, long, value_name = "NAME", conflicts_with = "start")]
    pub name: Option<String>,
    /// Start this command, and measure it from its beginning
    #[arg(last = true, value_name = "COMMAND")]
    pub start: Vec<OsString>,
}

impl NamedTargetFlags {
    /// Returns true if no process is named.
    pub fn is_empty(&self) -> bool {
        self.pid.is_none() && self.name.is_none() && self.start.is_empty()
    }

    /// Returns the selected process.
    pub fn find(&self, start: Start) -> base::Result<Target> {
        Target::find(self.pid, self.name.as_deref(), &self.start, start)
    }
}

/// Duration and output flags.
#[derive(Debug, Args)]
pub struct OutputFlags {
    /// Measure for this long
    #[arg(short, long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub seconds: Duration,
    #[command(flatten)]
    pub answer: AnswerFlags,
}

/// Output flags.
#[derive(Debug, Args)]
pub struct AnswerFlags {
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
    /// Also write the answer as a self-contained HTML page
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
}

const SECONDS_MAX: f64 = 86_400.0;

/// Parses a number of seconds.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| format!("'{text}' is not a number of seconds; give one such as 10"))?;
    if !(0.1..=SECONDS_MAX).contains(&number) {
        return Err(format!("{text} seconds are out of range; give 0.1 to {SECONDS_MAX}"));
    }
    Ok(Duration::from_secs_f64(number))
}

/// Parses a duration with its unit, such as `5ms`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let unit = match &text[at..] {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return Err(format!("'{text}' is not a duration; give one with its unit: 5ms, 200us, 1.5s")),
    };
    let nanos = text[..at].parse::<f64>().map(|number| number * unit);
    match nanos {
        Ok(nanos) if (0.0..=SECONDS_MAX * 1e9).contains(&nanos) => Ok(Duration::from_nanos(nanos as u64)),
        _ => Err(format!("'{text}' is not a duration; give one such as 5ms, at most a day")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_seconds() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["", "x", "0", "-1", "nan", "inf", "1e9"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parses_durations_with_units() {
        for (text, nanos) in [("5ms", 5_000_000), ("0.2us", 200), ("7ns", 7), ("1.5s", 1_500_000_000), ("0s", 0)] {
            assert_eq!(duration(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        for wrong in ["", "5", "ms", "5 ms", "-1s", "nans", "5m", "1e99s", "\u{fc}s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}

//! What every command is told: which process, how long, and where the answer goes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use yunti_base as base;

use crate::target::{Start, Target};

#[derive(Debug, Args)]
pub struct TargetFlags {
    /// The process: its number, or a part of its name, its jar or its main class
    #[arg(value_name = "NAME", conflicts_with_all = ["pid", "start"])]
    pub name: Option<String>,
    /// The process by its number
    #[arg(short, long, value_name = "PID", conflicts_with = "start")]
    pub pid: Option<u32>,
    /// A command that is started, and looked at from its beginning
    #[arg(last = true, value_name = "COMMAND")]
    pub start: Vec<OsString>,
}

impl TargetFlags {
    pub fn find(&self, start: Start) -> base::Result<Target> {
        Target::find(self.pid, self.name.as_deref(), &self.start, start)
    }
}

/// The same where the words are for something else.
#[derive(Debug, Args)]
pub struct NamedTargetFlags {
    /// The process by its number
    #[arg(short, long, value_name = "PID", conflicts_with_all = ["name", "start"])]
    pub pid: Option<u32>,
    /// The process: a part of its name, its jar or its main class
    #[arg(short, long, value_name = "NAME", conflicts_with = "start")]
    pub name: Option<String>,
    /// A command that is started, and looked at from its beginning
    #[arg(last = true, value_name = "COMMAND")]
    pub start: Vec<OsString>,
}

impl NamedTargetFlags {
    pub fn find(&self, start: Start) -> base::Result<Target> {
        Target::find(self.pid, self.name.as_deref(), &self.start, start)
    }
}

#[derive(Debug, Args)]
pub struct OutputFlags {
    /// How long to look
    #[arg(short, long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub seconds: Duration,
    #[command(flatten)]
    pub answer: AnswerFlags,
}

/// Where the answer goes.
#[derive(Debug, Args)]
pub struct AnswerFlags {
    /// The answer as one JSON document
    #[arg(long)]
    pub json: bool,
    /// Also write the answer as a page, one file with all that it needs in it
    #[arg(short, long, value_name = "FILE.html")]
    pub output: Option<PathBuf>,
}

const SECONDS_MAX: f64 = 86_400.0;

fn seconds(text: &str) -> Result<Duration, String> {
    let said: f64 = text.parse().map_err(|_| format!("'{text}' is no number of seconds; give one, such as 10"))?;
    if !(0.1..=SECONDS_MAX).contains(&said) {
        return Err(format!("{text} seconds cannot be looked at; from 0.1 to {SECONDS_MAX}"));
    }
    Ok(Duration::from_secs_f64(said))
}

/// A duration with its unit: `5ms`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let unit = match &text[at..] {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return Err(format!("'{text}' is no duration; give one with its unit: 5ms, 200us, 1.5s")),
    };
    let nanos = text[..at].parse::<f64>().map(|number| number * unit);
    match nanos {
        Ok(nanos) if (0.0..=SECONDS_MAX * 1e9).contains(&nanos) => Ok(Duration::from_nanos(nanos as u64)),
        _ => Err(format!("'{text}' is no duration; give one such as 5ms, of a day at most")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["", "x", "0", "-1", "nan", "inf", "1e9"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_with_units() {
        for (text, nanos) in [("5ms", 5_000_000), ("0.2us", 200), ("7ns", 7), ("1.5s", 1_500_000_000), ("0s", 0)] {
            assert_eq!(duration(text), Ok(Duration::from_nanos(nanos)), "{text}");
        }
        for wrong in ["", "5", "ms", "5 ms", "-1s", "nans", "5m", "1e99s", "\u{fc}s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}

//! What every command is told: which process, how long, and where the answer goes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

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

#[derive(Debug, Args)]
pub struct OutputFlags {
    /// How long to look
    #[arg(short, long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub seconds: Duration,
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
}

//! `yunti watch add`: names a service to measure.

use std::path::PathBuf;

use clap::Args;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use super::store;
use crate::clock::now_ms;
use crate::collect::check_pattern;
use crate::hook;
use crate::schedule::parse_daily;
use crate::store::Settings;

/// Seconds of load beside the windows: warming up, and windows that are cut.
const LOAD_SECONDS_MORE: u32 = 10;
const LOAD_SECONDS_MAX: u32 = 3600;

/// Name a service to measure
#[derive(Debug, Args)]
pub struct AddFlags {
    /// Name of the watch
    name: String,
    /// Regular expression that matches the command line of the service's one process: 'java .*shop.jar'
    #[arg(long, value_name = "PATTERN")]
    pid_of: String,
    /// Load this address during each measurement; without it, the service's own traffic is measured
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Requests of the load, from an access log
    #[arg(long, value_name = "FILE", requires = "url")]
    urls: Option<PathBuf>,
    /// Requests a second of the load
    #[arg(long, value_name = "N", default_value = "50", value_parser = rate)]
    load_rate: f64,
    /// Length of the load [default: as long as the windows need]
    #[arg(long, value_name = "S", requires = "url")]
    load_seconds: Option<u32>,
    /// Search for the peak too, by load in steps: for a test instance only
    #[arg(long, requires = "url")]
    peak: bool,
    /// Local time of a daily measurement by `yunti watch daemon`: 03:00
    #[arg(long, value_name = "HH:MM")]
    daily: Option<String>,
    /// Remove measurements after this time, except for the last 30
    #[arg(long, value_name = "DAYS", default_value = "400d", value_parser = days)]
    keep: u32,
    /// Shell command whose first line is the release label
    #[arg(long, value_name = "COMMAND")]
    label_cmd: Option<String>,
    /// Post the verdict of each measurement to this address, as JSON
    #[arg(long, value_name = "URL")]
    hook: Option<String>,
    /// Windows of a measurement; more see smaller changes
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(3..=1000))]
    windows: u32,
    /// Length of a window
    #[arg(long, value_name = "S", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=600))]
    window_seconds: u32,
    /// Replace the settings of a watch; its measurements stay
    #[arg(long)]
    replace: bool,
}

fn rate(text: &str) -> std::result::Result<f64, String> {
    let is_fit = |n: &f64| (0.01..=1e6).contains(n);
    text.parse().ok().filter(is_fit).ok_or(format!("'{text}' is no rate; give requests a second from 0.01 to 1000000"))
}

fn days(text: &str) -> std::result::Result<u32, String> {
    let number = text.strip_suffix('d').unwrap_or(text).parse().ok();
    number.filter(|days| (1..=36_500).contains(days)).ok_or(format!("'{text}' is no number of days; give 400d"))
}

/// Runs the command.
pub fn add(flags: &AddFlags) -> Outcome {
    let settings = settings(flags)?;
    let store = store();
    match flags.replace {
        true => store.replace(&flags.name, &settings)?,
        false => store.add(&flags.name, &settings)?,
    }
    let when = match &settings.daily {
        Some(daily) => format!("each day at {daily}, while `yunti watch daemon` runs"),
        None => format!("by `yunti watch run {}`", flags.name),
    };
    let seconds = settings.windows * settings.window_seconds;
    stdout::print(&format!("{}: {seconds} s of measurement {when}\n", flags.name))
}

fn settings(flags: &AddFlags) -> Result<Settings> {
    let usage = |what: String| Error::new(Code::Usage, what);
    check_pattern(&flags.pid_of)?;
    if let Some(daily) = flags.daily.as_deref().filter(|daily| parse_daily(daily).is_none()) {
        return Err(usage(format!("--daily '{daily}' is no time of day")).hint("give 03:00"));
    }
    for (flag, url) in [("--url", &flags.url), ("--hook", &flags.hook)] {
        if let Some(Err(what)) = url.as_deref().map(hook::check) {
            return Err(usage(format!("{flag}: {what}")));
        }
    }
    let urls = match &flags.urls {
        Some(path) => {
            // The daemon runs in another folder.
            let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            std::fs::metadata(&whole).map_err(|e| {
                Error::io(Code::Input, "cannot read the access log", &e).at_path(whole.to_string_lossy())
            })?;
            Some(whole.to_string_lossy().into_owned())
        }
        None => None,
    };
    let needed = flags.window_seconds * (flags.windows + 2) + LOAD_SECONDS_MORE;
    let load_seconds = flags.load_seconds.unwrap_or(needed);
    if flags.url.is_some() && !(needed..=LOAD_SECONDS_MAX).contains(&load_seconds) {
        let what = format!("{} windows of {} s need load for {needed} s", flags.windows, flags.window_seconds);
        let hint = format!("give --load-seconds from {needed} to {LOAD_SECONDS_MAX}, or fewer --windows");
        return Err(usage(what).hint(hint));
    }
    Ok(Settings {
        format: String::new(),
        pid_of: flags.pid_of.clone(),
        url: flags.url.clone(),
        urls,
        daily: flags.daily.clone(),
        keep_days: flags.keep,
        label_cmd: flags.label_cmd.clone(),
        load_rate: flags.load_rate,
        load_seconds,
        peak: flags.peak,
        hook: flags.hook.clone(),
        windows: flags.windows,
        window_seconds: flags.window_seconds,
        created_ms: now_ms(),
    })
}

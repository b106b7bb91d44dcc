//! `yunti observe record start`: begins a recorder, in the background or in the foreground.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use clap::Args;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;
use yunti_record::Store;

use crate::history::{default_store, length};
use crate::jvm::Event;
use crate::recorder::{self, Chosen, Label, Recorder, Settings};

/// Record services from now on
///
/// Returns once the first slice has begun. The recorder goes on in the background until `yunti observe record stop`.
#[derive(Debug, Args)]
pub struct StartFlags {
    /// Process numbers, or parts of the names of processes, their jars or main classes; all that match are recorded
    #[arg(value_name = "PID|NAME", required_unless_present_any = ["name", "machine"])]
    targets: Vec<String>,
    /// Part of the names of processes, their jars or main classes; also of processes that start later
    #[arg(short, long, value_name = "PATTERN")]
    name: Vec<String>,
    /// Record the processes of this machine that use the most processor time
    #[arg(long)]
    machine: bool,
    /// Folder of the slices
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Remove slices after this time
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = length)]
    keep: Duration,
    /// Length of a slice, which a crash loses at most
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = slice)]
    slice: Duration,
    /// Release of the services, or of one as SERVICE=LABEL, instead of the version or a checksum of the jar
    #[arg(long, value_name = "LABEL", value_parser = label)]
    label: Vec<Label>,
    /// Name of all these processes in the store, instead of their jar or program
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    /// Events to sample; alloc and lock in JVMs only
    #[arg(short, long, value_enum, value_delimiter = ',', default_value = "cpu,wall,alloc,lock")]
    event: Vec<Event>,
    /// Take HZ samples in a second of processor time of each thread; fewer if they cost too much
    #[arg(long, value_name = "HZ", default_value = "19", value_parser = clap::value_parser!(u32).range(1..=999))]
    rate: u32,
    /// Use at most PERCENT of one processor
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    budget: f64,
    /// Write at most MB megabytes a day
    #[arg(long, value_name = "MB", default_value = "100", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    day_max: u64,
    /// Do not go to the background: for systemd and containers
    #[arg(long)]
    foreground: bool,
    /// Leave the session of the terminal
    #[arg(long, hide = true, requires = "foreground")]
    detached: bool,
}

/// Output of a recorder in the background, in its store.
const LOG: &str = "recorder.log";
/// Time until the first slice begins: a busy JVM loads the profiler.
const START_TIME_MAX: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

fn slice(text: &str) -> std::result::Result<Duration, String> {
    match length(text)? {
        time if (Duration::from_secs(1)..=Duration::from_secs(3600)).contains(&time) => Ok(time),
        _ => Err(format!("a slice of {text} is out of range; give 1s to 1h")),
    }
}

fn percent(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if (0.05..=100.0).contains(&percent) => Ok(percent),
        _ => Err(format!("'{text}' is no percentage from 0.05 to 100")),
    }
}

fn label(text: &str) -> std::result::Result<Label, String> {
    let (service, release) = match text.split_once('=') {
        Some((service, release)) => (Some(service.to_owned()), release),
        None => (None, text),
    };
    if release.is_empty() || service.as_deref() == Some("") || text.chars().any(char::is_control) {
        return Err(format!("'{text}' is no label; give v812, or shop=v812"));
    }
    Ok(Label { service, release: release.to_owned() })
}

impl StartFlags {
    fn settings(&self) -> Settings {
        let mut chosen = Chosen { names: self.name.clone(), is_machine: self.machine, ..Chosen::default() };
        for target in &self.targets {
            match target.parse() {
                Ok(pid) => chosen.pids.push(pid),
                Err(_) => chosen.names.push(target.clone()),
            }
        }
        Settings {
            store: self.store.clone().unwrap_or_else(default_store),
            chosen,
            service: self.service.clone(),
            labels: self.label.clone(),
            slice: self.slice,
            keep: self.keep,
            day_bytes_max: self.day_max * 1_000_000,
            events: self.event.clone(),
            cpu_hz: self.rate,
            share_max: self.budget / 100.0,
        }
    }
}

pub fn start(flags: &StartFlags) -> Outcome {
    let settings = flags.settings();
    if flags.detached {
        // Fails only if it is done already.
        let _ = rustix::process::setsid();
    }
    if flags.foreground {
        return Ok(recorder::record(&settings)?);
    }
    Store::create(&settings.store)?;
    if let Some(recorder) = Recorder::of(&settings.store)?.filter(|recorder| recorder.is_running) {
        return Err(recorder::is_running(&settings.store, recorder.state.pid).into());
    }
    let recorder = wait(&settings.store, begin(&settings.store)?)?;
    stdout::print(&text(&recorder))
}

/// Starts this command again, in the background.
fn begin(store: &Path) -> Result<Child> {
    let failed = |e: std::io::Error| Error::io(Code::Internal, "cannot start the recorder", &e);
    let path = store.join(LOG);
    let log = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&path).map_err(|e| {
        Error::io(Code::Output, "cannot write the recorder's output", &e).at_path(path.to_string_lossy())
    })?;
    let program = std::env::current_exe().map_err(failed)?;
    Command::new(program)
        .args(std::env::args_os().skip(1))
        .args(["--foreground", "--detached"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .map_err(failed)
}

/// Waits until the first slice has begun.
fn wait(store: &Path, mut child: Child) -> Result<Recorder> {
    let begun = Instant::now();
    while begun.elapsed() < START_TIME_MAX {
        if let Some(recorder) = Recorder::of(store)?
            && recorder.state.pid == child.id()
            && recorder.state.started_ms > 0
        {
            return Ok(recorder);
        }
        if let Ok(Some(_)) = child.try_wait() {
            return Err(reason(store));
        }
        std::thread::sleep(POLL);
    }
    let error = Error::new(Code::Input, format!("the recorder {} does not begin", child.id()));
    Err(error
        .at_path(store.join(LOG).to_string_lossy())
        .hint("`yunti observe record status` shows whether it does later"))
}

/// Returns the error that ended the recorder in the background, which it printed.
fn reason(store: &Path) -> Error {
    let path = store.join(LOG);
    let log = fs::read_to_string(&path).unwrap_or_default();
    let line = log.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it printed nothing");
    let line = line.strip_prefix("yunti: ").unwrap_or(line);
    let code = if line.contains("records into this store") { Code::Exists } else { Code::Input };
    Error::new(code, format!("the recorder has ended: {line}"))
}

fn text(recorder: &Recorder) -> String {
    let services = &recorder.state.services;
    let what = match &services[..] {
        [] => "nothing yet: no such process runs".to_owned(),
        [one] => format!("{} {}", one.name, one.pid),
        several => format!("{} processes", several.len()),
    };
    let mut text = format!("recording {what}, into {}\n", recorder.store.display());
    for (service, failure) in services.iter().filter_map(|service| Some((service, service.failure.as_ref()?))) {
        text += &format!("SKIP {} {}: {failure}\n", service.name, service.pid);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_labels() {
        let of = |service: Option<&str>, release: &str| Label {
            service: service.map(str::to_owned),
            release: release.to_owned(),
        };
        assert_eq!(label("v812"), Ok(of(None, "v812")));
        assert_eq!(label("shop=v8=x"), Ok(of(Some("shop"), "v8=x")));
        for wrong in ["", "=v8", "shop=", "a\nb"] {
            assert!(label(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn slices_have_a_length() {
        assert_eq!((slice("2s"), slice("1m")), (Ok(Duration::from_secs(2)), Ok(Duration::from_secs(60))));
        for wrong in ["0s", "2h", "x", "10"] {
            assert!(slice(wrong).is_err(), "{wrong}");
        }
    }
}

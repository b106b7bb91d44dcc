//! Collector of the installed programs of Yunti.
//!
//! ```text
//!   process -> label -> warm up -> load run (--url) --------------------.
//!                              `-> profile in windows, clocks, yardstick +-> model (under load) -> record
//! ```

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use yunti_base::{Cancel, Code, Error, Result};
use yunti_program::part::Part;

use super::Collector;
use super::calibration::Calibration;
use super::child::{Answer, Child, Work};
use super::clocks::Clocks;
use super::load_run;
use super::slices;
use super::subject::Subject;
use crate::clock::{now_ms, wait};
use crate::record::{Head, Record, State, rounded};
use crate::store::Settings;

/// Time of a label's command, and its longest label.
const LABEL_TIME: Duration = Duration::from_secs(10);
const LABEL_CHARS_MAX: usize = 100;
/// Time beyond the windows for the start of the profiler and the last slice.
const PROFILE_TIME_MORE: Duration = Duration::from_secs(90);
/// Time beyond the load for connections and answers.
const LOAD_TIME_MORE: Duration = Duration::from_secs(60);
const MODEL_TIME: Duration = Duration::from_secs(180);
const PEAK_TIME: Duration = Duration::from_secs(600);
/// Time that load warms the service up at least, and at most while compilers are busy.
const WARM: Duration = Duration::from_secs(2);
const WARM_MAX: Duration = Duration::from_secs(60);
/// Processors that compilers use at most, in this time, for a service that is warm.
const COMPILING_MAX: f64 = 0.03;
const COMPILING_SPAN_MS: u64 = 5000;
const POLL: Duration = Duration::from_millis(100);
/// Time between two runs of the calibration loop: one percent of a processor.
const CALIBRATE_EVERY: Duration = Duration::from_millis(500);
/// Part of the load's requests that may fail in a measurement that is compared.
const FAILED_MAX: f64 = 0.05;
/// Processors that others use at most while the model measures: its peak is what they leave.
const OTHERS_MAX: f64 = 0.1;
/// Samples a second of processor time.
const RATE_HZ: &str = "99";

/// Collector that runs `yunti observe` and `yunti capacity` beside this program.
pub struct Installed;

impl Collector for Installed {
    fn collect(&self, settings: &Settings, label: Option<&str>, cancel: &Cancel) -> Result<Record> {
        let mut record = Record { head: Head { time_ms: now_ms(), ..Head::default() }, ..Record::default() };
        let work = Work::begin()?;
        record.head.label = match (label, &settings.label_cmd) {
            (Some(label), _) => label.to_owned(),
            (None, Some(command)) => label_of(command, &work, cancel, &mut record.head.notes)?,
            (None, None) => String::new(),
        };
        let Some(subject) = Subject::find(&settings.pid_of)? else {
            record.head.state = State::Missing;
            record.head.notes.push(format!("no process matches '{}'", settings.pid_of));
            return Ok(record);
        };
        record.head.host = subject.host();
        let mut clocks = Clocks::of(subject.pid);
        warm_up(settings, &subject, &mut clocks, &work, cancel, &mut record.head.notes)?;
        let load = Load::begin(settings, "load", settings.load_seconds, &work).unwrap_or_else(|e| {
            record.head.notes.push(format!("no load run: {e}"));
            None
        });
        let begins = profile(settings, &subject, load.is_some(), &mut clocks, &work, cancel, &mut record)?;
        if let Some(load) = load {
            take_load(load, &begins, cancel, &mut record)?;
        }
        if record.head.state == State::Complete {
            model(settings, &subject, &work, cancel, &mut record)?;
        }
        if !subject.is_alive() && record.head.state == State::Complete {
            record.head.state = State::Partial;
            record.head.notes.push("the process ended during the measurement".into());
        }
        Ok(record)
    }
}

/// Adds the figures of a load run that has ended, or ends now. Costs of failed requests are no costs.
fn take_load(load: Load, begins: &[u64], cancel: &Cancel, record: &mut Record) -> Result<()> {
    let answer = answer(load.child, cancel)?;
    let failure = answer.as_ref().map_or_else(|e| Some(e.to_string()), Answer::failure);
    let output = answer.as_ref().map_or("", |answer| &*answer.output);
    let document: Option<Value> = serde_json::from_str(output).ok();
    let document = document.filter(|document| document["error"].is_null());
    if let Some(document) = document {
        record.head.load = load_run::figures(&document);
        load_run::spread(&document, load.started_ms, begins, &mut record.head.windows);
        record.load_run = Some(document);
    } else if answer.is_ok_and(|answer| answer.has_bad_input()) {
        // The server did not answer at all.
        record.head.load.failed = Some(1.0);
    }
    record.head.notes.extend(failure.map(|reason| format!("the load run failed: {reason}")));
    if let Some(failed) = record.head.load.failed.filter(|failed| *failed > FAILED_MAX) {
        record.head.state = State::Partial;
        let part = failed * 100.0;
        record.head.notes.push(format!("{part:.0} % of the load's requests failed, so costs are not compared"));
    }
    Ok(())
}

/// Load run that is under way.
struct Load {
    child: Child,
    started_ms: u64,
}

impl Load {
    /// Starts load at the usual rate; `None` without an address. `name` names its files.
    fn begin(settings: &Settings, name: &str, seconds: u32, work: &Work) -> Result<Option<Load>> {
        let Some(url) = &settings.url else { return Ok(None) };
        let mut command = Command::new(part("capacity")?);
        let rate = settings.load_rate.to_string();
        command.args(["load", url, "--json", "--rate", &rate, "--seconds", &seconds.to_string()]);
        if let Some(urls) = &settings.urls {
            command.args(["--urls", urls]);
        }
        let time = Duration::from_secs(u64::from(seconds)) + LOAD_TIME_MORE;
        Ok(Some(Load { started_ms: now_ms(), child: Child::start(&command, name, time, work)? }))
    }
}

/// Waits until the compilers of the process are quiet, under load if there is an address. Code that is not compiled yet
/// costs more: without this, a measurement after a restart measures the restart.
fn warm_up(
    settings: &Settings,
    subject: &Subject,
    clocks: &mut Clocks,
    work: &Work,
    cancel: &Cancel,
    notes: &mut Vec<String>,
) -> Result<()> {
    let begin = Instant::now();
    clocks.read(now_ms());
    if settings.url.is_none() && !clocks.has_compilers() {
        return Ok(());
    }
    // The load goes with this function. Its failure is the matter of the load run that counts.
    let mut load = Load::begin(settings, "warm", WARM_MAX.as_secs() as u32 * 2, work).ok().flatten();
    while subject.is_alive() {
        wait(POLL, cancel)?;
        clocks.read(now_ms());
        let is_quiet = !clocks.has_compilers()
            || clocks.compiling(COMPILING_SPAN_MS).is_some_and(|processors| processors <= COMPILING_MAX);
        let has_failed = load.as_mut().is_some_and(|load| !load.child.is_running());
        if has_failed || is_quiet && begin.elapsed() >= WARM {
            return Ok(());
        }
        if begin.elapsed() >= WARM_MAX {
            let share = clocks.compiling(COMPILING_SPAN_MS).unwrap_or_default() * 100.0;
            notes.push(format!("the compilers still use {share:.0} % of a processor: code is not compiled yet"));
            return Ok(());
        }
    }
    Ok(())
}

/// Profiles the process in windows. Returns their beginnings as Unix times in milliseconds.
fn profile(
    settings: &Settings,
    subject: &Subject,
    has_load: bool,
    clocks: &mut Clocks,
    work: &Work,
    cancel: &Cancel,
    record: &mut Record,
) -> Result<Vec<u64>> {
    let (count, seconds) = (settings.windows as usize, f64::from(settings.window_seconds));
    if has_load {
        wait(WARM, cancel)?;
    }
    let folder = work.path("slices");
    let pid = subject.pid.to_string();
    let slice = format!("{}s", settings.window_seconds);
    let mut command = Command::new(part("observe")?);
    command.args(["record", "start", &pid, "--foreground", "--event", "cpu,alloc", "--rate", RATE_HZ]);
    command
        .args(["--budget", "100", "--day-max", "10000", "--slice", &slice, "--service", "watch", "--store"])
        .arg(&folder);
    let time = Duration::from_secs_f64(seconds * (count as f64 + 2.0)) + PROFILE_TIME_MORE;
    let mut recorder = Child::start(&command, "profile", time, work)?;
    let calibration = Calibration::new();
    let mut calibrations: Vec<(u64, f64)> = Vec::new();
    let mut calibrated = Instant::now();
    while recorder.is_running() && subject.is_alive() && !slices::has_whole(&folder, seconds, count) {
        wait(POLL, cancel)?;
        clocks.read(now_ms());
        if calibrated.elapsed() >= CALIBRATE_EVERY {
            calibrated = Instant::now();
            calibrations.push((now_ms(), calibration.run()));
        }
    }
    let is_gone = !subject.is_alive();
    let answer = recorder.stop()?;
    let begins = slices::take(&folder, seconds, count, record).unwrap_or_default();
    if is_gone {
        record.head.state = State::Partial;
        record.head.notes.push("the process ended or restarted during the measurement".into());
    } else if begins.len() < count {
        record.head.state = if begins.is_empty() { State::Missing } else { State::Partial };
        let reason = answer.failure().map_or(String::new(), |reason| format!(": {reason}"));
        record.head.notes.push(format!("{} of {count} windows were recorded{reason}", begins.len()));
    }
    if record.functions.is_empty() && !begins.is_empty() {
        let reason = answer.failure().unwrap_or_else(|| "no samples".to_owned());
        record.head.notes.push(format!("no profile: {reason}"));
    }
    if !begins.is_empty() && record.head.windows.iter().all(|window| window.requests.is_none_or(|n| n == 0.0)) {
        record.head.notes.push("no requests were counted: no traffic, or no right to see connections (root)".into());
    }
    calibrate(&begins, &calibrations, record);
    clocks.add_to(&begins, &mut record.head.windows);
    Ok(begins)
}

/// Adds the mean time of the calibration loop to each window. A mean, as the service's cost is one: neighbours that
/// slow some requests down slow some loops down.
fn calibrate(begins: &[u64], calibrations: &[(u64, f64)], record: &mut Record) {
    for (begin, window) in begins.iter().zip(&mut record.head.windows) {
        let end = begin + (window.seconds * 1000.0) as u64;
        let inside: Vec<f64> =
            calibrations.iter().filter(|(at, _)| (*begin..end).contains(at)).map(|(_, ms)| *ms).collect();
        let mean = inside.iter().sum::<f64>() / inside.len() as f64;
        window.calibration_ms = (mean > 0.0).then(|| rounded(mean));
    }
}

/// Adds the model of `yunti capacity`, and the peak that a load in steps finds. A failure is a note.
fn model(settings: &Settings, subject: &Subject, work: &Work, cancel: &Cancel, record: &mut Record) -> Result<()> {
    let Ok(capacity) = part("capacity") else {
        record.head.notes.push("no model: `yunti capacity` is not installed".into());
        return Ok(());
    };
    let mut command = Command::new(&capacity);
    command.args(["-p", &subject.pid.to_string(), "--json"]);
    // The load goes with this function; without requests there is no model.
    let _load = Load::begin(settings, "beside", MODEL_TIME.as_secs() as u32, work).ok().flatten();
    let child = Child::start(&command, "model", MODEL_TIME, work)?;
    if let Some(document) = document(child, "model", cancel, &mut record.head.notes)? {
        let others = document.pointer("/processors/used_by_others").and_then(Value::as_f64).unwrap_or(0.0);
        if others <= OTHERS_MAX {
            record.head.load.peak_per_second = load_run::peak(&document);
        } else {
            let notes = &mut record.head.notes;
            notes.push(format!("other programs used {others:.1} processors: the model's peak is not compared"));
        }
        record.model = Some(document);
    }
    if let Some(url) = settings.url.as_deref().filter(|_| settings.peak) {
        let mut command = Command::new(&capacity);
        command.args(["load", url, "--json", "--steps", "--seconds", "5"]);
        if let Some(urls) = &settings.urls {
            command.args(["--urls", urls]);
        }
        let child = Child::start(&command, "peak", PEAK_TIME, work)?;
        if let Some(document) = document(child, "search for the peak", cancel, &mut record.head.notes)? {
            record.head.load.peak_per_second = load_run::peak(&document).or(record.head.load.peak_per_second);
        }
    }
    Ok(())
}

/// Waits for a program. Cancellation is an error, and a failure of the program an answer.
fn answer(child: Child, cancel: &Cancel) -> Result<Result<Answer>> {
    match child.wait(cancel) {
        Err(e) if e.code() == Code::Cancelled => Err(e),
        answer => Ok(answer),
    }
}

/// Waits for a program and returns its document. A failure is a note; cancellation is an error.
fn document(child: Child, what: &str, cancel: &Cancel, notes: &mut Vec<String>) -> Result<Option<Value>> {
    let answer = answer(child, cancel)?;
    let reason = match &answer {
        Err(e) => e.to_string(),
        Ok(answer) => match (answer.failure(), serde_json::from_str(&answer.output)) {
            (None, Ok(document)) => return Ok(Some(document)),
            (None, Err(_)) => "it printed no JSON".to_owned(),
            (Some(reason), _) => reason,
        },
    };
    notes.push(format!("no {what}: {reason}"));
    Ok(None)
}

/// Returns the first line that a command prints.
fn label_of(text: &str, work: &Work, cancel: &Cancel, notes: &mut Vec<String>) -> Result<String> {
    let mut command = Command::new("sh");
    command.args(["-c", text]);
    let answer = Child::start(&command, "label", LABEL_TIME, work)?.wait(cancel)?;
    let line = answer.output.lines().next().unwrap_or_default().trim();
    let label: String = line.chars().filter(|c| !c.is_control()).take(LABEL_CHARS_MAX).collect();
    if let Some(reason) = answer.failure() {
        notes.push(format!("--label-cmd failed: {reason}"));
    } else if label.is_empty() {
        notes.push("--label-cmd printed nothing".into());
    }
    Ok(label)
}

fn part(name: &str) -> Result<PathBuf> {
    Part::named(name).ok_or_else(|| Error::new(Code::Internal, format!("there is no part '{name}'")))?.installed()
}

//! `yunti observe record status`: what a recorder does, and what its store has.

use std::path::PathBuf;

use clap::Args;
use jiff::tz::TimeZone;
use serde_json::json;
use yunti_base::Code;
use yunti_probe::answer::{Table, bytes, on_terminal};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;
use yunti_record::Store;

use crate::history::{clock, default_store};
use crate::recorder::{Recorder, State, unix_ms};

/// Show what is recorded, what it costs, and what the store has
///
/// Ends with 0 while a recorder runs, and with 3 without one.
#[derive(Debug, Args)]
pub struct StatusFlags {
    /// Folder of the slices
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Slices after which a recorder without a sign of life is reported as stuck.
const STUCK_SLICES: f64 = 3.0;

pub fn status(flags: &StatusFlags) -> Outcome {
    let path = flags.store.clone().unwrap_or_else(default_store);
    let recorder = Recorder::of(&path)?;
    let store = Store::open(&path)?.status()?;
    let is_running = recorder.as_ref().is_some_and(|recorder| recorder.is_running);
    let state = recorder.map(|recorder| recorder.state).unwrap_or_default();
    let silent = unix_ms().saturating_sub(state.now_ms) as f64 / 1000.0;
    let is_stuck = is_running && state.now_ms > 0 && silent > state.slice_seconds * STUCK_SLICES;
    if flags.json {
        stdout::print_json(&json!({
            "store": path.to_string_lossy(),
            "running": is_running,
            "stuck": is_stuck,
            "recorder": (state.pid > 0).then(|| state.to_json()),
            "services": store.services,
            "slices": store.slices,
            "bytes": store.bytes,
            "first_ms": store.first_ms,
            "last_ms": store.last_ms,
        }))?;
    } else {
        stdout::print(&text(&path, is_running, is_stuck.then_some(silent), &state, &store))?;
    }
    if is_running { Ok(()) } else { Err(Failure::Reported(Code::Input)) }
}

fn text(
    path: &std::path::Path,
    is_running: bool,
    silent: Option<f64>,
    state: &State,
    store: &yunti_record::Status,
) -> String {
    let zone = TimeZone::system();
    let mut text = match (is_running, &state.blocked) {
        (false, _) => format!("nothing records into {}\n", path.display()),
        (true, Some(reason)) => format!("recording has paused: {reason}\n"),
        (true, None) => format!("recording into {}, process {}\n", path.display(), state.pid),
    };
    if let Some(seconds) = silent {
        text += &format!("WARNING the recorder has given no sign of life for {seconds:.0} s\n");
    }
    if is_running && state.started_ms > 0 {
        text += &format!(
            "since {}, in slices of {:.0} s, kept for {}\n",
            clock(state.started_ms, &zone),
            state.slice_seconds,
            days(state.keep_seconds)
        );
        text += &format!(
            "cost {:.2} % of one processor, {:.2} % in the last slice; rates divided by {}\n",
            state.cpu_percent, state.last_cpu_percent, state.divisor
        );
        text += &format!("today {} of {}", bytes(state.bytes_today), bytes(state.day_bytes_max));
        text += &match state.thinned {
            0 => "\n".to_owned(),
            n => format!("; {n} slices left out, so that the rest of the day has room\n"),
        };
        let rows = state.services.iter().map(|service| {
            vec![
                service.name.clone(),
                service.pid.to_string(),
                service.release.clone(),
                if service.last_ms > 0 { clock(service.last_ms, &zone) } else { "-".to_owned() },
                service.slices.to_string(),
                service.lost.to_string(),
                service.failure.clone().unwrap_or_default(),
            ]
        });
        let table = Table {
            title: "Services".to_owned(),
            columns: vec![
                ("service", false),
                ("process", true),
                ("release", false),
                ("last slice", false),
                ("slices", true),
                ("lost", true),
                ("", false),
            ],
            rows: rows.collect(),
            shown: 40,
        };
        text += &on_terminal(&table);
    }
    match (store.first_ms, store.last_ms) {
        (Some(first), Some(last)) => {
            text += &format!(
                "the store has {} slices of {} services, {}, from {} to {}\n",
                store.slices,
                store.services.len(),
                bytes(store.bytes),
                clock(first / 1000 * 1000, &zone),
                clock(last / 1000 * 1000, &zone)
            );
        }
        _ => text += "the store has no slices\n",
    }
    text
}

fn days(seconds: f64) -> String {
    match seconds {
        s if s >= 172_800.0 => format!("{:.0} days", s / 86_400.0),
        s if s >= 7200.0 => format!("{:.0} hours", s / 3600.0),
        s => format!("{s:.0} s"),
    }
}

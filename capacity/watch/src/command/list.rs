//! `yunti watch list`, `remove` and `repair`.

use clap::Args;
use serde_json::{Value, json};
use yunti_base::Result;
use yunti_program::failure::Outcome;
use yunti_program::terminal::{paint, stdout};
use yunti_program::text::numbers::{bytes, several};
use yunti_program::text::table::{Side, Table};

use super::store;
use crate::clock::minute;
use crate::store::Store;

/// List all watches
#[derive(Debug, Args)]
pub struct ListFlags {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Remove a watch with its measurements
#[derive(Debug, Args)]
pub struct RemoveFlags {
    /// Name of the watch
    name: String,
}

/// Set damaged records of a watch aside
#[derive(Debug, Args)]
pub struct RepairFlags {
    /// Name of the watch
    name: String,
}

/// Runs `list`.
pub fn list(flags: &ListFlags) -> Outcome {
    let store = store();
    let watches: Vec<Value> = store.names()?.iter().map(|name| watch(&store, name)).collect::<Result<_>>()?;
    if flags.json {
        return stdout::print_json(&json!({ "format": "yunti-watch-list/1", "watches": watches }));
    }
    if watches.is_empty() {
        return stdout::print("no watches; create one with `yunti watch add NAME --pid-of PATTERN`\n");
    }
    let columns = [
        ("watch", Side::Left),
        ("daily", Side::Left),
        ("measurements", Side::Right),
        ("last", Side::Left),
        ("release", Side::Left),
        ("size", Side::Right),
        ("process", Side::Left),
    ];
    let mut table = Table::new(&columns);
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    for watch in &watches {
        table.row(vec![
            text(&watch["name"]),
            text(&watch["daily"]),
            watch["measurements"].to_string(),
            watch["last_ms"].as_u64().map_or("-".into(), minute),
            text(&watch["last_label"]),
            bytes(watch["bytes"].as_u64().unwrap_or(0)),
            text(&watch["pid_of"]),
        ]);
    }
    stdout::print(&table.print(paint::for_stdout()))
}

/// Returns a watch as JSON. The address of the hook is a secret and left out.
fn watch(store: &Store, name: &str) -> Result<Value> {
    let settings = store.settings(name)?;
    let history = store.history(name)?;
    let sequences = history.sequences()?;
    // A damaged record is the matter of `report`.
    let last = sequences.last().and_then(|last| history.head(*last).ok());
    Ok(json!({
        "name": name,
        "pid_of": settings.pid_of,
        "url": settings.url,
        "daily": settings.daily,
        "keep_days": settings.keep_days,
        "has_hook": settings.hook.is_some(),
        "measurements": sequences.len(),
        "bytes": history.bytes()?,
        "last_sequence": sequences.last(),
        "last_ms": last.as_ref().map(|head| head.time_ms),
        "last_label": last.as_ref().map(|head| &head.label),
        "last_state": last.as_ref().map(|head| head.state),
    }))
}

/// Runs `remove`.
pub fn remove(flags: &RemoveFlags) -> Outcome {
    store().remove(&flags.name)?;
    stdout::print(&format!("removed {}\n", flags.name))
}

/// Runs `repair`.
pub fn repair(flags: &RepairFlags) -> Outcome {
    let history = store().history(&flags.name)?;
    let moved = history.repair()?;
    let left = several(history.sequences()?.len() as u64, "record");
    let text = match &moved[..] {
        [] => format!("{}: no damage in {left}\n", flags.name),
        moved => {
            let numbers: Vec<String> = moved.iter().map(u64::to_string).collect();
            format!("{}: set {} aside, {left} are left\n", flags.name, numbers.join(", "))
        }
    };
    stdout::print(&text)
}

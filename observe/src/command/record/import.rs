//! `yunti observe record import`: profiles of other tools as slices of a store.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use jiff::Zoned;
use yunti_base::{Code, Error};
use yunti_probe::options::duration;
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;
use yunti_record::{Measure, Store};

use crate::history::{self, Format, Units, default_store};
use crate::jvm::Event;

/// Add profiles of other tools to a store: pprof, OTLP profiles, JFR, collapsed stacks
#[derive(Debug, Args)]
pub struct ImportFlags {
    /// Files to read; the format follows from the content
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Folder of the slices
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Name of the service, instead of the one in the file or the file's name
    #[arg(long, value_name = "NAME")]
    service: Option<String>,
    /// Release of the service, instead of the one in the file
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,
    /// Begin of the profile, instead of the one in the file or the file's time
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    at: Option<String>,
    /// Requests that were served in the time of the profile
    #[arg(long, value_name = "N")]
    requests: Option<u64>,
    /// Format of the files
    #[arg(short, long, value_enum)]
    format: Option<Format>,
    /// Event of collapsed stacks
    #[arg(short, long, value_enum, default_value = "cpu")]
    event: Event,
    /// Time of one sample in JFR and collapsed stacks, such as 10ms
    #[arg(long, value_name = "TIME", value_parser = duration)]
    period: Option<Duration>,
}

pub fn import(flags: &ImportFlags) -> Outcome {
    let usage = |e: String| Error::new(Code::Usage, e);
    let at = flags.at.as_deref().map(|text| history::moment(text, &Zoned::now())).transpose().map_err(usage)?;
    let measure = Measure::from_name(flags.event.name()).unwrap_or(Measure::Cpu);
    let units = Units { measure, period: flags.period };
    // First, so that a wrong file leaves the store as it was.
    let mut slices = Vec::new();
    for path in &flags.files {
        slices.extend(history::read(path, flags.format, units)?);
    }
    let path = flags.store.clone().unwrap_or_else(default_store);
    let mut store = Store::create(&path)?.with_day_bytes_max(u64::MAX);
    let count = slices.len();
    for mut slice in slices {
        let facts = &mut slice.facts;
        if let Some(name) = &flags.service {
            facts.service.name.clone_from(name);
        }
        if let Some(label) = &flags.label {
            facts.service.release.clone_from(label);
        }
        facts.begin_ms = at.unwrap_or(facts.begin_ms);
        facts.requests = flags.requests.or(facts.requests);
        store.put(&slice)?;
    }
    stdout::print(&format!("{count} slices into {}\n", path.display()))
}

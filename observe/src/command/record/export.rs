//! `yunti observe record export`: recorded slices as one profile for other tools.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use jiff::Zoned;
use yunti_base::{Code, Error};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;
use yunti_record::{Measure, Query, Slice, collapsed, otlp, pprof};

use crate::history::{self, Format, Source};
use crate::jvm::Event;

/// Write recorded slices as one profile for another tool
#[derive(Debug, Args)]
pub struct ExportFlags {
    /// Service in the store
    #[arg(value_name = "SERVICE")]
    service: Option<String>,
    /// Time of the slices: "03:10", yesterday, 2026-11-27, "03:00..03:20"
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true, required_unless_present = "store")]
    at: Option<String>,
    /// Folder of the slices, ssh://host/path, or one file
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// Format of the profile
    #[arg(short, long, value_enum, default_value = "pprof")]
    format: Format,
    /// Event of collapsed stacks, which have one; other formats have all
    #[arg(short, long, value_enum, default_value = "cpu")]
    event: Event,
    /// File to write; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

pub fn export(flags: &ExportFlags) -> Outcome {
    if flags.format == Format::Jfr {
        let error = Error::new(Code::Usage, "JFR can be imported only");
        return Err(error.hint("take pprof, otlp or collapsed").into());
    }
    let now = Zoned::now();
    let span = history::span(flags.at.as_deref().unwrap_or("today"), &now).map_err(|e| Error::new(Code::Usage, e))?;
    let query = Query {
        from_ms: Some(span.from_ms.saturating_sub(history::SLICE_MS_MAX)),
        to_ms: Some(span.to_ms),
        ..Query::default()
    };
    let source = Source::open(flags.store.as_deref(), &query)?;
    let service = history::choose(&source.list(&Query::default())?, flags.service.as_deref())?;
    let entries = history::slices_at(&source, &service, &span, now.time_zone())?;
    let (mut merged, mut skips) = (None, Vec::new());
    history::take(&source, &entries, &mut skips, |slice| add(&mut merged, slice))?;
    for skip in skips {
        eprintln!("SKIP {skip}");
    }
    let merged = merged.unwrap_or_default();
    let measure = Measure::from_name(flags.event.name()).unwrap_or(Measure::Cpu);
    let bytes = match flags.format {
        Format::Pprof | Format::Jfr => pprof::write(&merged),
        Format::Otlp => otlp::write(&merged),
        Format::Collapsed => collapsed::write(&merged.stacks, measure).into_bytes(),
    };
    write(&flags.output, &bytes)
}

/// Adds a slice to others of its service: costs, requests and times add up.
fn add(merged: &mut Option<Slice>, slice: Slice) {
    let Some(all) = merged else {
        *merged = Some(slice);
        return;
    };
    all.stacks.join(&slice.stacks);
    let (facts, other) = (&mut all.facts, slice.facts);
    facts.begin_ms = facts.begin_ms.min(other.begin_ms);
    facts.duration_ms += other.duration_ms;
    facts.requests = facts.requests.zip(other.requests).map(|(a, b)| a + b);
    if facts.service.release != other.service.release {
        facts.service.release.clear();
    }
    if facts.service.pid != other.service.pid {
        facts.service.pid = 0;
    }
    for (measure, period) in other.periods {
        let known = facts.periods.entry(measure).or_insert(period);
        *known = (*known).max(period);
    }
    for (kind, n) in other.losses {
        *facts.losses.entry(kind).or_default() += n;
    }
    facts.gc = facts.gc.zip(other.gc).map(|(a, b)| yunti_record::Gc {
        pauses: a.pauses + b.pauses,
        pause_ns: a.pause_ns + b.pause_ns,
        pause_ns_max: a.pause_ns_max.max(b.pause_ns_max),
        full: a.full + b.full,
    });
    // Counters of single slices say nothing of their sum.
    facts.counters.clear();
}

fn write(path: &Path, bytes: &[u8]) -> Outcome {
    if path == Path::new("-") {
        let written = std::io::stdout().write_all(bytes).and_then(|()| std::io::stdout().flush());
        return written.map_err(|e| match e.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Error::io(Code::Output, "cannot write the profile", &e).into(),
        });
    }
    let failed = |e: std::io::Error| -> Failure {
        Error::io(Code::Output, "cannot write the profile", &e).at_path(path.to_string_lossy()).into()
    };
    whole(path, bytes).map_err(failed)?;
    stdout::print(&format!("{} bytes in {}\n", bytes.len(), path.display()))
}

/// Writes a file whole, or not at all.
fn whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(format!(".{}.tmp", std::process::id()));
    std::fs::write(&fresh, bytes).and_then(|()| std::fs::rename(&fresh, path)).inspect_err(|_| {
        let _ = std::fs::remove_file(&fresh);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_record::{Frame, FrameKind};

    #[test]
    fn slices_add_up() {
        let of = |begin_ms, requests, release: &str| {
            let mut slice = Slice::default();
            slice.stacks.add(&[Frame::new("main", FrameKind::Native)], Measure::Cpu, 5);
            (slice.facts.begin_ms, slice.facts.duration_ms, slice.facts.requests) = (begin_ms, 1000, requests);
            slice.facts.service.release = release.to_owned();
            slice
        };
        let mut merged = None;
        [of(2000, Some(3), "v1"), of(1000, Some(4), "v1")].into_iter().for_each(|slice| add(&mut merged, slice));
        let facts = &merged.as_ref().unwrap().facts;
        assert_eq!((facts.begin_ms, facts.duration_ms, facts.requests), (1000, 2000, Some(7)));
        assert_eq!(facts.service.release, "v1");
        add(&mut merged, of(3000, None, "v2"));
        let all = merged.unwrap();
        assert_eq!((all.facts.requests, all.stacks.total(Measure::Cpu)), (None, 15));
        assert!(all.facts.service.release.is_empty());
    }
}

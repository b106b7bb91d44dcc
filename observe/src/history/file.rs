//! Profiles in files of other tools: pprof, OTLP profiles, JFR, collapsed stacks. The format follows from the content.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use yunti_base::{Code, Error, Result};
use yunti_probe::stack;
use yunti_record::{Entry, Frame, FrameKind, Measure, Slice, Stacks, collapsed, otlp, pprof};

use crate::jvm::{Event, Recording};

/// Beginning of a file of the Java flight recorder.
const JFR: &[u8] = b"FLR\0";
/// Time of a sample of the JDK's own recorder, in its setting `default`.
const JFR_PERIOD: Duration = Duration::from_millis(20);

/// Format of profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Protocol buffers of `go tool pprof`, with gzip
    Pprof,
    /// Profiles of OpenTelemetry
    Otlp,
    /// Java flight recorder
    Jfr,
    /// A line for each stack: a;b;c 12
    Collapsed,
}

/// Values of a file that do not say what they are.
#[derive(Clone, Copy, Debug)]
pub struct Units {
    /// Measure of collapsed stacks.
    pub measure: Measure,
    /// Value of one sample in collapsed stacks and in JFR files; `None` takes the usual one.
    pub period: Option<Duration>,
}

impl Default for Units {
    fn default() -> Units {
        Units { measure: Measure::Cpu, period: None }
    }
}

/// Reads the profiles of a file.
pub fn read(path: &Path, format: Option<Format>, units: Units) -> Result<Vec<Slice>> {
    let bytes = fs::read(path)
        .map_err(|e| Error::io(Code::Input, "cannot read the profile", &e).at_path(path.to_string_lossy()))?;
    let format = format.unwrap_or_else(|| format_of(path, &bytes));
    let mut slices = match format {
        Format::Jfr => vec![of_jfr(path, units)?],
        Format::Collapsed => {
            let text = String::from_utf8_lossy(&bytes);
            let unit = units.period.map_or(1, |period| period.as_nanos() as u64);
            let stacks = collapsed::read(&text, units.measure, unit).map_err(|e| e.at_path(path.to_string_lossy()))?;
            vec![Slice { stacks, ..Slice::default() }]
        }
        Format::Otlp => otlp::read(&bytes).map_err(|e| e.at_path(path.to_string_lossy()))?,
        Format::Pprof => vec![pprof::read(&bytes).map_err(|e| e.at_path(path.to_string_lossy()))?],
    };
    let modified = fs::metadata(path).and_then(|file| file.modified()).ok();
    let modified_ms =
        modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map_or(0, |time| time.as_millis() as u64);
    for slice in &mut slices {
        let facts = &mut slice.facts;
        if facts.begin_ms == 0 {
            facts.begin_ms = modified_ms;
        }
        if facts.service.name.is_empty() {
            facts.service.name = stem(path);
        }
    }
    Ok(slices)
}

/// Returns the entry that a slice of a file has.
pub fn entry(slice: &Slice) -> Entry {
    Entry {
        begin_ms: slice.facts.begin_ms,
        service: slice.facts.service.name.clone(),
        seconds: slice.facts.duration_ms.div_ceil(1000),
        measures: slice.stacks.measures(),
        process: 0,
        bytes: 0,
    }
}

fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or("profile").to_owned()
}

fn format_of(path: &Path, bytes: &[u8]) -> Format {
    let name = path.to_string_lossy().to_lowercase();
    if bytes.starts_with(JFR) {
        Format::Jfr
    } else if name.ends_with(".otlp") {
        Format::Otlp
    } else if is_collapsed(bytes) {
        Format::Collapsed
    } else {
        Format::Pprof
    }
}

/// Returns true for text whose first line ends with a number.
fn is_collapsed(bytes: &[u8]) -> bool {
    let line = bytes.split(|b| *b == b'\n').find(|line| !line.is_empty() && !line.starts_with(b"#"));
    line.and_then(|line| std::str::from_utf8(line).ok())
        .and_then(|line| line.trim_end().rsplit_once(' '))
        .is_some_and(|(_, value)| value.parse::<f64>().is_ok())
}

fn of_jfr(path: &Path, units: Units) -> Result<Slice> {
    let recording = Recording::read(path)?;
    if let Some(reason) = &recording.broken
        && recording.samples.is_empty()
    {
        return Err(Error::new(Code::Corrupt, format!("no recording of the Java flight recorder: {reason}"))
            .at_path(path.to_string_lossy()));
    }
    let mut slice = Slice::default();
    let period = units.period.unwrap_or(JFR_PERIOD).as_nanos() as u64;
    for sample in &recording.samples {
        let frames: Vec<Frame> = sample.frames.iter().map(recorded).collect();
        let (measure, value) = match sample.event {
            Event::Cpu => (Measure::Cpu, sample.value * period),
            Event::Wall => (Measure::Wall, sample.value * period),
            Event::Alloc => (Measure::Alloc, sample.value),
            Event::Lock => (Measure::Lock, sample.value),
        };
        slice.stacks.add(&frames, measure, value);
    }
    let has = |measure| slice.stacks.total(measure) > 0;
    let sampled = [Measure::Cpu, Measure::Wall].into_iter().filter(|measure| has(*measure));
    slice.facts.periods = sampled.map(|measure| (measure, period)).collect();
    (slice.facts.begin_ms, slice.facts.duration_ms) = recording.span_ms;
    Ok(slice)
}

/// Returns a frame as the store keeps it.
pub fn recorded(frame: &stack::Frame) -> Frame {
    Frame::new(&frame.name, FrameKind::from_name(frame.kind.name()).unwrap_or_default())
}

/// Returns the tree of a measure, with all values multiplied.
pub fn tree(stacks: &Stacks, measure: Measure, scale: f64) -> stack::Tree {
    let frames: Vec<stack::Frame> = stacks.frames().iter().map(shown).collect();
    let mut tree = stack::Tree::default();
    for (numbers, values) in stacks.all() {
        let value = (values[measure as usize] as f64 * scale).round() as u64;
        if value > 0 {
            tree.add(numbers.iter().map(|number| &frames[*number as usize]), value);
        }
    }
    tree
}

fn shown(frame: &Frame) -> stack::Frame {
    let kind = stack::KINDS.into_iter().find(|kind| kind.name() == frame.kind.name()).unwrap_or(stack::Kind::Native);
    stack::Frame { name: (&*frame.name).into(), kind }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_by_content() {
        let check =
            |name: &str, bytes: &[u8], expected| assert_eq!(format_of(Path::new(name), bytes), expected, "{name}");
        check("a.jfr", b"FLR\0\0\x02", Format::Jfr);
        check("a.txt", b"main;work 12\nmain 3\n", Format::Collapsed);
        check("a.pb.gz", b"\x1f\x8b\x08", Format::Pprof);
        check("a.otlp", b"\x0a\x02", Format::Otlp);
        assert_eq!((stem(Path::new("/x/shop.pb.gz")), stem(Path::new("/"))), ("shop".to_owned(), "profile".to_owned()));
    }

    #[test]
    fn trees_of_stacks() {
        let mut stacks = Stacks::default();
        let frames = [Frame::new("main", FrameKind::Native), Frame::new("a.B.c", FrameKind::Compiled)];
        stacks.add(&frames, Measure::Cpu, 10);
        stacks.add(&frames[..1], Measure::Cpu, 1);
        let tree = tree(&stacks, Measure::Cpu, 0.5);
        assert_eq!((tree.total(), tree.hottest()[0].frame.kind), (6, stack::Kind::Compiled));
    }
}

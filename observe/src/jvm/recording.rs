//! The recording of async-profiler: samples from a JFR file, read with `jfrs`.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::rc::Rc;

use jfrs::reader::event::Accessor;
use jfrs::reader::value_descriptor::{Primitive, ValueDescriptor};
use jfrs::reader::{Chunk, JfrReader};
use yunti_base::{Code, Error, Result};

use yunti_probe::stack::{Frame, Kind};

/// Sampled event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
pub enum Event {
    /// Time on a processor
    Cpu,
    /// Time of all threads, running or waiting
    Wall,
    /// Bytes allocated on the heap
    Alloc,
    /// Time waiting for monitors and locks
    Lock,
}

impl Event {
    /// Returns the name in flags, in JSON and in stores.
    pub fn name(self) -> &'static str {
        match self {
            Event::Cpu => "cpu",
            Event::Wall => "wall",
            Event::Alloc => "alloc",
            Event::Lock => "lock",
        }
    }
}

/// A sample, or an event with a duration.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Frames, the outermost first.
    pub frames: Rc<[Frame]>,
    pub thread: Rc<str>,
    /// Thread ID in the JVM's PID namespace.
    pub tid: u32,
    /// Time of the sample or the event's begin, in ticks of the recording's clock.
    pub time: u64,
    /// State: RUNNABLE, SLEEPING ..; empty if the event has none.
    pub state: Rc<str>,
    /// Sampled event.
    pub event: Event,
    /// True for an allocation whose object was alive at the end.
    pub is_survivor: bool,
    /// Samples that this one represents, or bytes, or nanoseconds.
    pub value: u64,
}

/// A call of a traced method.
#[derive(Clone, Debug)]
pub struct Call {
    pub thread: Rc<str>,
    /// Thread ID in the JVM's PID namespace.
    pub tid: u32,
    pub begin_ns: u64,
    pub end_ns: u64,
    /// Frames, the outermost first.
    pub frames: Rc<[Frame]>,
}

/// Bytes that a thread allocates between two samples.
pub const ALLOCATED_BYTES: u64 = 512 << 10;
/// Samples kept; further ones are dropped.
const SAMPLES_MAX: usize = 4_000_000;
/// Calls kept; further ones are dropped.
const CALLS_MAX: usize = 2_000_000;

/// Samples and calls of a recording.
#[derive(Default, Debug)]
pub struct Recording {
    pub samples: Vec<Sample>,
    pub calls: Vec<Call>,
    /// Unix time of the beginning, and the length, in milliseconds.
    pub span_ms: (u64, u64),
    /// Samples and calls beyond the limits.
    pub dropped: u64,
    /// Part that could not be read, and the reason.
    pub broken: Option<String>,
}

impl Recording {
    /// Reads a recording. A JVM that was killed leaves complete chunks and a broken last one.
    pub fn read(path: &Path) -> Result<Recording> {
        let file = File::open(path).map_err(|e| {
            Error::io(Code::Input, "the profiler left no recording", &e).at_path(path.to_string_lossy())
        })?;
        let mut recording = Recording::default();
        let mut reader = JfrReader::new(BufReader::new(file));
        for chunk in reader.chunks() {
            let (mut events, chunk) = match chunk {
                Ok(chunk) => chunk,
                Err(e) => {
                    recording.broken = Some(format!("the end of the recording: {e}"));
                    break;
                }
            };
            recording.add_span(chunk.header.start_time_nanos, chunk.header.duration_nanos);
            let mut names = Names { chunk: &chunk, stacks: HashMap::new(), texts: HashMap::new() };
            for event in events.events(&chunk) {
                match event {
                    Ok(event) => recording.add(&mut names, event.class.name(), &event.value()),
                    Err(e) => {
                        recording.broken = Some(format!("the end of the recording: {e}"));
                        break;
                    }
                }
            }
        }
        Ok(recording)
    }

    fn add_span(&mut self, begin_ns: i64, ns: i64) {
        let ms = |ns: i64| u64::try_from(ns / 1_000_000).unwrap_or(0);
        let (begin, time) = self.span_ms;
        let (from, to) = (ms(begin_ns), ms(begin_ns.saturating_add(ns)));
        self.span_ms = match time {
            0 => (from, to.saturating_sub(from)),
            _ => (begin.min(from), to.max(begin + time) - begin.min(from)),
        };
    }

    fn add(&mut self, names: &mut Names<'_>, event: &str, value: &Accessor<'_>) {
        let is_full =
            if event == "jdk.MethodTrace" { self.calls.len() >= CALLS_MAX } else { self.samples.len() >= SAMPLES_MAX };
        match event {
            _ if is_full => self.dropped += 1,
            "jdk.MethodTrace" => self.calls.extend(names.call(value)),
            _ => self.samples.extend(names.sample(event, value)),
        }
    }
}

/// Names of a chunk's constants, cached because most samples share stacks.
struct Names<'a> {
    chunk: &'a Chunk,
    stacks: HashMap<i64, Rc<[Frame]>>,
    texts: HashMap<String, Rc<str>>,
}

impl Names<'_> {
    fn call(&mut self, value: &Accessor<'_>) -> Option<Call> {
        let (thread, tid) = self.thread(value, "eventThread");
        let begin_ns = number(value, "startTime")?;
        let end_ns = begin_ns + self.nanoseconds(number(value, "duration")?);
        Some(Call { thread, tid, begin_ns, end_ns, frames: self.stack(value)? })
    }

    fn thread(&mut self, value: &Accessor<'_>, field: &str) -> (Rc<str>, u32) {
        let thread = value.get_field(field);
        let name = thread.as_ref().and_then(|t| text(t, "javaName").or_else(|| text(t, "osName")));
        let tid = thread.as_ref().and_then(|t| number(t, "osThreadId")).unwrap_or(0);
        (self.text(name.unwrap_or("?")), tid as u32)
    }

    fn sample(&mut self, event: &str, value: &Accessor<'_>) -> Option<Sample> {
        let is_survivor = event == "profiler.LiveObject";
        let (event, thread, amount) = match event {
            "jdk.ExecutionSample" => (Event::Cpu, "sampledThread", 1),
            "profiler.WallClockSample" => (Event::Wall, "sampledThread", number(value, "samples").unwrap_or(1)),
            "jdk.ObjectAllocationInNewTLAB" => (Event::Alloc, "eventThread", number(value, "tlabSize")?),
            "jdk.ObjectAllocationSample" => (Event::Alloc, "eventThread", number(value, "weight")?),
            "jdk.ObjectAllocationOutsideTLAB" => (Event::Alloc, "eventThread", number(value, "allocationSize")?),
            // A sampled object stands for what its thread allocated since the last sample.
            "profiler.LiveObject" => {
                (Event::Alloc, "eventThread", number(value, "allocationSize")?.max(ALLOCATED_BYTES))
            }
            "jdk.JavaMonitorEnter" | "jdk.ThreadPark" => {
                (Event::Lock, "eventThread", self.nanoseconds(number(value, "duration")?))
            }
            _ => return None,
        };
        let (thread, tid) = self.thread(value, thread);
        let state = value.get_field("state").and_then(|s| text(&s, "name"));
        Some(Sample {
            frames: self.stack(value)?,
            thread,
            tid,
            event,
            is_survivor,
            time: number(value, "startTime").unwrap_or(0),
            state: self.text(state.unwrap_or_default()),
            value: amount,
        })
    }

    fn nanoseconds(&self, ticks: u64) -> u64 {
        let per_second = self.chunk.header.ticks_per_second.max(1) as u128;
        (u128::from(ticks) * 1_000_000_000 / per_second) as u64
    }

    fn text(&mut self, text: &str) -> Rc<str> {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let new: Rc<str> = text.into();
        self.texts.insert(text.to_owned(), new.clone());
        new
    }

    fn stack(&mut self, event: &Accessor<'_>) -> Option<Rc<[Frame]>> {
        let field = event.get_field_raw("stackTrace")?;
        let index = match field.value {
            ValueDescriptor::ConstantPool { constant_index, .. } => Some(*constant_index),
            _ => None,
        };
        if let Some(known) = index.and_then(|i| self.stacks.get(&i)) {
            return Some(known.clone());
        }
        let trace = field.resolve()?;
        let mut frames: Vec<Frame> = trace.get_field("frames")?.as_iter()?.map(|frame| self.frame(&frame)).collect();
        frames.reverse();
        let stack: Rc<[Frame]> = frames.into();
        if let Some(index) = index {
            self.stacks.insert(index, stack.clone());
        }
        Some(stack)
    }

    fn frame(&mut self, frame: &Accessor<'_>) -> Frame {
        let method = frame.get_field("method");
        let class =
            method.as_ref().and_then(|m| m.get_field("type")).and_then(|t| symbol(&t, "name")).unwrap_or_default();
        let name = method.as_ref().and_then(|m| symbol(m, "name")).unwrap_or("?");
        let kind = match frame.get_field("type").and_then(|t| text(&t, "description")).unwrap_or_default() {
            "Interpreted" => Kind::Interpreted,
            "JIT compiled" => Kind::Compiled,
            "Inlined" => Kind::Inlined,
            "C1 compiled" => Kind::CompiledC1,
            "C++" => Kind::Jvm,
            "Kernel" => Kind::Kernel,
            // The class of a native frame is its library.
            _ if class == "libjvm.so" => Kind::Jvm,
            _ => Kind::Native,
        };
        let is_java = !matches!(kind, Kind::Jvm | Kind::Native | Kind::Kernel);
        let whole =
            if is_java && !class.is_empty() { format!("{}.{name}", class.replace('/', ".")) } else { name.to_owned() };
        Frame { name: self.text(&whole), kind }
    }
}

/// Returns the text of a symbol, which is a constant within a constant.
pub fn symbol<'a>(value: &Accessor<'a>, field: &str) -> Option<&'a str> {
    text(&value.get_field(field)?, "string")
}

/// Returns a field that is a text.
pub fn text<'a>(value: &Accessor<'a>, field: &str) -> Option<&'a str> {
    match value.get_field(field)?.value {
        ValueDescriptor::Primitive(Primitive::String(text)) => Some(text),
        _ => None,
    }
}

fn number(value: &Accessor<'_>, field: &str) -> Option<u64> {
    match value.get_field(field)?.value {
        ValueDescriptor::Primitive(Primitive::Long(n)) => (*n).try_into().ok(),
        ValueDescriptor::Primitive(Primitive::Integer(n)) => (*n).try_into().ok(),
        _ => None,
    }
}

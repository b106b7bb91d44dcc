//! Old objects: allocations that the JVM's own flight recorder samples and that are alive at the end, each with the
//! references that keep it alive. The recorder walks the heap for these while the JVM stands still.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::time::Duration;

use jfrs::reader::JfrReader;
use jfrs::reader::event::Accessor;
use yunti_base::{Code, Error, Result};
use yunti_heap::model::name::readable;
use yunti_probe::target::Process;

use crate::jvm::attach::{command_within, diagnose, java_release};
use crate::jvm::folder::Folder;
use crate::jvm::recording::{symbol, text};
use crate::jvm::release::{Agent, LoadedAgent};

/// First JVM whose recorder takes settings of single events.
const RELEASE_MIN: u32 = 17;
/// Time that a walk of the largest heaps takes.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(600);
/// References that are followed.
const STEPS_MAX: usize = 200;

/// Sampled object that is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldObject {
    /// Class.
    pub class: String,
    /// References up to the root, each with the object that has it: `.table java.util.HashMap`.
    pub steps: Vec<String>,
    /// Root: `Stack Variable, Thread Name: main`.
    pub root: String,
}

/// Flight recorder that samples objects. Dropping it ends the recording and removes its file; so does the guard.
pub struct OldObjects(LoadedAgent);

impl OldObjects {
    /// Starts the recorder. Its search at the end gives up after `pause_max`.
    pub fn start(process: &Process, pause_max: Duration) -> Result<OldObjects> {
        if let Some(release) = java_release(process)?.filter(|release| *release < RELEASE_MIN) {
            return Err(Error::new(Code::Input, format!("the recorder of Java {release} takes no settings of events")));
        }
        let mut loaded = LoadedAgent::of(process, Agent::Recorder, None)?;
        let event = "+jdk.OldObjectSample#";
        let settings = format!("{event}enabled=true {event}cutoff={}ms", pause_max.as_millis());
        let started = diagnose(process, &format!("JFR.start name={} settings=none {settings}", loaded.cleanup.name))?;
        if !started.contains("Started") {
            let line = started.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            return Err(Error::new(Code::Input, format!("the JVM {} starts no recording: {line}", process.pid)));
        }
        loaded.is_running = true;
        Ok(OldObjects(loaded))
    }

    /// Lets the recorder search for what keeps its objects alive, ends it, and returns them.
    pub fn stop(mut self) -> Result<Vec<OldObject>> {
        let name = self.0.cleanup.agent.copy(&self.0.cleanup.name);
        let dump =
            format!("JFR.dump name={} filename={} path-to-gc-roots=true", self.0.cleanup.name, Folder::inside(&name));
        command_within(self.0.process(), &["jcmd", &dump], ANSWER_TIME_MAX)?;
        self.0.stop()?;
        read(&self.0.folder.path(&name))
    }
}

fn read(path: &Path) -> Result<Vec<OldObject>> {
    let file = File::open(path).map_err(|e| Error::io(Code::Input, "the JVM's recorder left no recording", &e))?;
    let broken = |e: jfrs::reader::Error| Error::new(Code::Input, format!("the JVM's recording cannot be read: {e}"));
    let mut objects = Vec::new();
    let mut reader = JfrReader::new(BufReader::new(file));
    for chunk in reader.chunks() {
        let (mut events, chunk) = chunk.map_err(broken)?;
        for event in events.events(&chunk) {
            let event = event.map_err(broken)?;
            if event.class.name() == "jdk.OldObjectSample" {
                objects.extend(object(&event.value()));
            }
        }
    }
    Ok(objects)
}

fn object(event: &Accessor<'_>) -> Option<OldObject> {
    let sampled = event.get_field("object")?;
    let class = class_of(&sampled)?;
    let mut steps: Vec<String> = Vec::new();
    let mut at = sampled;
    for _ in 0..STEPS_MAX {
        let Some(reference) = at.get_field("referrer") else { break };
        let Some(holder) = reference.get_field("object") else { break };
        let Some(class) = class_of(&holder) else { break };
        let field = reference.get_field("field").and_then(|field| text(&field, "name"));
        let is_class = class == "java.lang.Class";
        let described = text(&holder, "description").and_then(|text| text.strip_prefix("Class Name: "));
        let step = match (field, is_class.then_some(described).flatten()) {
            (Some(field), Some(class)) => format!("static {field} of class {class}"),
            (Some(field), None) => format!(".{field} {class}"),
            (None, _) => class,
        };
        // Nodes of a list follow each other.
        if steps.last() != Some(&step) {
            steps.push(step);
        }
        at = holder;
    }
    let root = event.get_field("root");
    let of_root = |field: &str| {
        let root = root.as_ref()?;
        let inner = root.get_field(field)?;
        text(root, field).or_else(|| text(&inner, field)).map(str::to_owned)
    };
    let root: Vec<String> = ["type", "system", "description"].iter().filter_map(|field| of_root(field)).collect();
    Some(OldObject { class, steps, root: root.join(", ") })
}

fn class_of(object: &Accessor<'_>) -> Option<String> {
    Some(readable(symbol(&object.get_field("type")?, "name")?))
}

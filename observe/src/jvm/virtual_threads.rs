//! Virtual threads of a JVM, with their stacks: `jcmd Thread.dump_to_file`, from Java 21 on. No profiler sees those
//! that are not on a carrier thread.

use std::fs;
use std::rc::Rc;

use serde_json::Value;
use yunti_base::{Code, Error, Result};

use super::attach::diagnose;
use super::folder::Folder;
use yunti_probe::stack::{Frame, Kind};
use yunti_probe::target::Process;

/// Outermost function of a virtual thread.
const RUN: &str = "java.lang.VirtualThread.run";
/// Bytes of a dump that are read.
const DUMP_MAX: u64 = 256 << 20;

/// Virtual thread at one moment.
#[derive(Clone, Debug)]
pub struct VirtualThread {
    /// Number in the JVM.
    pub id: u64,
    pub name: Rc<str>,
    /// Frames, the outermost first.
    pub frames: Rc<[Frame]>,
    /// State of a thread that is on no carrier.
    pub state: State,
}

/// State of a virtual thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum State {
    /// It runs, is ready to run, or waits on its carrier.
    OnCarrier,
    Parked,
    /// It waits to enter a monitor: from Java 24 on.
    Blocked,
    /// It waits in Object.wait: from Java 24 on.
    Waiting,
}

/// Returns the virtual threads of a JVM at this moment.
pub fn virtual_threads(process: &Process) -> Result<Vec<VirtualThread>> {
    let folder = Folder::of(process)?;
    let name = format!("yunti-threads-{}-{}.json", process.pid, std::process::id());
    let dumped = diagnose(process, &format!("Thread.dump_to_file -overwrite -format=json {}", Folder::inside(&name)));
    let path = folder.path(&name);
    let read = dumped.and_then(|_| {
        let size = fs::metadata(&path).map_or(0, |file| file.len());
        let failed = |why: &str| Error::new(Code::Input, format!("the dump of threads cannot be read: {why}"));
        if size > DUMP_MAX {
            return Err(failed(&format!("it has {size} bytes")));
        }
        fs::read(&path).map_err(|e| failed(&e.to_string()))
    });
    let _ = fs::remove_file(&path);
    let dump: Value = serde_json::from_slice(&read?)
        .map_err(|e| Error::new(Code::Input, format!("the dump of threads cannot be read: {e}")))?;
    Ok(parsed(&dump))
}

fn parsed(dump: &Value) -> Vec<VirtualThread> {
    let containers = dump["threadDump"]["threadContainers"].as_array().into_iter().flatten();
    containers.flat_map(|container| container["threads"].as_array().into_iter().flatten()).filter_map(thread).collect()
}

fn thread(value: &Value) -> Option<VirtualThread> {
    let lines = value["stack"].as_array()?;
    let mut frames: Vec<Frame> = lines.iter().filter_map(|line| frame(line.as_str()?)).collect();
    frames.reverse();
    if frames.first().is_none_or(|frame| &*frame.name != RUN) {
        return None;
    }
    // A string since Java 21, a number in drafts of it.
    let id = value["tid"].as_str().and_then(|id| id.parse().ok()).or_else(|| value["tid"].as_u64())?;
    let is_parked = frames.iter().any(|frame| frame.name.starts_with("java.lang.VirtualThread.park"));
    let state = match value["state"].as_str() {
        _ if is_parked => State::Parked,
        Some("BLOCKED") => State::Blocked,
        Some("WAITING" | "TIMED_WAITING") => State::Waiting,
        _ => State::OnCarrier,
    };
    Some(VirtualThread {
        id,
        state,
        name: value["name"].as_str().filter(|name| !name.is_empty()).unwrap_or("virtual").into(),
        frames: frames.into(),
    })
}

/// Parses `java.base/java.lang.VirtualThread.park(VirtualThread.java:742)`.
fn frame(line: &str) -> Option<Frame> {
    let (method, _) = line.split_once('(')?;
    let name = method.rsplit_once('/').map_or(method, |(_, name)| name);
    Some(Frame { name: name.into(), kind: Kind::Compiled })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_a_dump() {
        let text = r#"{"threadDump": {"threadContainers": [
            {"container": "<root>", "threads": [{"tid": "1", "name": "main", "stack": ["V.main(V.java:6)"]}]},
            {"container": "x", "threads": [{"tid": "63", "virtual": true, "name": "", "state": "WAITING",
             "stack": ["java.base/java.lang.VirtualThread.park(VirtualThread.java:742)", "V.call(V.java:3)",
                       "java.base/java.lang.VirtualThread.run(VirtualThread.java:460)"]}]}]}}"#;
        let found = parsed(&serde_json::from_str(text).unwrap());
        let [thread] = &found[..] else { panic!("{found:?}") };
        let names: Vec<&str> = thread.frames.iter().map(|frame| &*frame.name).collect();
        assert_eq!(names, [RUN, "V.call", "java.lang.VirtualThread.park"]);
        assert_eq!((thread.id, &*thread.name, thread.state), (63, "virtual", State::Parked));
        let text = text.replace("VirtualThread.park", "SeatMap.reserve").replace("WAITING", "BLOCKED");
        assert_eq!(parsed(&serde_json::from_str(&text).unwrap())[0].state, State::Blocked);
        assert!(parsed(&Value::Null).is_empty());
    }
}

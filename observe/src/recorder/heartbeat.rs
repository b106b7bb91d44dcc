//! State of a recorder in its store: a lock that ends with the process, and a file with what it does.
//!
//! The file has room from the beginning and is written in place, so a full disk does not stop it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};

const LOCK: &str = "recorder.lock";
const STATE: &str = "recorder.json";
/// Room of the file: some hundred services.
const STATE_BYTES: usize = 64 << 10;
const READS: usize = 20;

/// State of a service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceState {
    pub name: String,
    pub pid: u32,
    pub release: String,
    pub container: String,
    /// Unix time in milliseconds at which its last slice began; 0 without one.
    pub last_ms: u64,
    pub slices: u64,
    pub lost: u64,
    /// Reason for which it is not sampled now.
    pub failure: Option<String>,
}

/// State of a recorder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub pid: u32,
    /// Unix times in milliseconds: of the start, and of this state.
    pub started_ms: u64,
    pub now_ms: u64,
    pub slice_seconds: f64,
    pub keep_seconds: f64,
    pub slices: u64,
    pub lost: u64,
    /// Slices left out to keep within a day's bytes.
    pub thinned: u64,
    /// Processor time of the recorder and its helpers so far, without the time of the start.
    pub cpu_seconds: f64,
    /// Share of one processor, in percent: over all slices, and in the last one.
    pub cpu_percent: f64,
    pub last_cpu_percent: f64,
    /// Number by which the full rates are divided, to keep within the budget.
    pub divisor: u32,
    pub bytes_today: u64,
    pub day_bytes_max: u64,
    /// Reason for which nothing is recorded now.
    pub blocked: Option<String>,
    pub services: Vec<ServiceState>,
}

impl ServiceState {
    fn to_json(&self) -> Value {
        json!({
            "service": self.name, "pid": self.pid, "release": self.release, "container": self.container,
            "last_slice_ms": self.last_ms, "slices": self.slices, "lost": self.lost, "failure": self.failure,
        })
    }

    fn from_json(json: &Value) -> ServiceState {
        ServiceState {
            name: text(json, "service"),
            pid: number(json, "pid") as u32,
            release: text(json, "release"),
            container: text(json, "container"),
            last_ms: number(json, "last_slice_ms") as u64,
            slices: number(json, "slices") as u64,
            lost: number(json, "lost") as u64,
            failure: json["failure"].as_str().map(str::to_owned),
        }
    }
}

impl State {
    /// Returns the state as `record status --json` prints it.
    pub fn to_json(&self) -> Value {
        json!({
            "pid": self.pid, "started_ms": self.started_ms, "now_ms": self.now_ms,
            "slice_seconds": self.slice_seconds, "keep_seconds": self.keep_seconds,
            "slices": self.slices, "lost": self.lost, "thinned": self.thinned,
            "cpu_seconds": self.cpu_seconds, "cpu_percent": self.cpu_percent,
            "last_cpu_percent": self.last_cpu_percent, "divisor": self.divisor,
            "bytes_today": self.bytes_today, "day_bytes_max": self.day_bytes_max, "blocked": self.blocked,
            "services": self.services.iter().map(ServiceState::to_json).collect::<Vec<_>>(),
        })
    }

    fn from_json(json: &Value) -> State {
        State {
            pid: number(json, "pid") as u32,
            started_ms: number(json, "started_ms") as u64,
            now_ms: number(json, "now_ms") as u64,
            slice_seconds: number(json, "slice_seconds"),
            keep_seconds: number(json, "keep_seconds"),
            slices: number(json, "slices") as u64,
            lost: number(json, "lost") as u64,
            thinned: number(json, "thinned") as u64,
            cpu_seconds: number(json, "cpu_seconds"),
            cpu_percent: number(json, "cpu_percent"),
            last_cpu_percent: number(json, "last_cpu_percent"),
            divisor: number(json, "divisor") as u32,
            bytes_today: number(json, "bytes_today") as u64,
            day_bytes_max: number(json, "day_bytes_max") as u64,
            blocked: json["blocked"].as_str().map(str::to_owned),
            services: json["services"].as_array().into_iter().flatten().map(ServiceState::from_json).collect(),
        }
    }
}

fn number(json: &Value, key: &str) -> f64 {
    json[key].as_f64().unwrap_or(0.0)
}

fn text(json: &Value, key: &str) -> String {
    json[key].as_str().unwrap_or_default().to_owned()
}

/// Heartbeat of this recorder. It owns the store's lock.
pub struct Heartbeat {
    _lock: File,
    state: File,
}

impl Heartbeat {
    /// Takes the lock of a store. Fails if another recorder has it.
    pub fn take(store: &Path) -> Result<Heartbeat> {
        let failed = |path: &Path, e: &io::Error| {
            Error::io(Code::Output, "cannot write the recorder's state", e).at_path(path.to_string_lossy())
        };
        let path = store.join(LOCK);
        let lock = own_file(&path).map_err(|e| failed(&path, &e))?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            let pid = read_state(&store.join(STATE)).map_or(0, |state| state.pid);
            return Err(is_running(store, pid));
        }
        let path = store.join(STATE);
        let file = own_file(&path).map_err(|e| failed(&path, &e))?;
        let heartbeat = Heartbeat { _lock: lock, state: file };
        let state = State { pid: std::process::id(), ..State::default() };
        heartbeat.write(&state.to_json()).map_err(|e| failed(&path, &e))?;
        Ok(heartbeat)
    }

    /// Writes the state. An error of a full disk is no reason to stop.
    pub fn beat(&self, state: &State) {
        let _ = self.write(&state.to_json());
    }

    fn write(&self, json: &Value) -> io::Result<()> {
        let mut text = json.to_string().into_bytes();
        text.resize(text.len().max(STATE_BYTES), b' ');
        self.state.write_all_at(&text, 0)
    }
}

/// Returns the error for a store that has a recorder.
pub fn is_running(store: &Path, pid: u32) -> Error {
    let error = Error::new(Code::Exists, format!("process {pid} records into this store already"));
    error.at_path(store.to_string_lossy()).hint("stop it with `yunti observe record stop`, or choose another --store")
}

fn own_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)
}

/// Recorder of a store as others see it.
#[derive(Clone, Debug)]
pub struct Recorder {
    pub store: PathBuf,
    /// True while a process has the lock.
    pub is_running: bool,
    /// Last state. Before the first slice has begun, it has only the process.
    pub state: State,
}

impl Recorder {
    /// Returns the recorder of a store; `None` if there was never one.
    pub fn of(store: &Path) -> Result<Option<Recorder>> {
        let path = store.join(LOCK);
        let lock = match File::open(&path) {
            Ok(lock) => lock,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => {
                let error = Error::io(Code::Input, "cannot read the recorder's state", &e);
                return Err(error.at_path(path.to_string_lossy()).hint("run as its user, or as root"));
            }
        };
        let is_running = flock(&lock, FlockOperation::NonBlockingLockShared).is_err();
        let state = read_state(&store.join(STATE)).unwrap_or_default();
        Ok(Some(Recorder { store: store.to_owned(), is_running, state }))
    }
}

/// Reads the state. A state that is written at this moment is read again.
fn read_state(path: &Path) -> Option<State> {
    for _ in 0..READS {
        match serde_json::from_slice::<Value>(&fs::read(path).ok()?) {
            Ok(json) => return Some(State::from_json(&json)),
            Err(_) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_recorder_a_store() {
        let store = std::env::temp_dir().join(format!("yunti-heartbeat-{}", std::process::id()));
        fs::create_dir_all(&store).unwrap();
        assert!(Recorder::of(&store).unwrap().is_none());
        let heartbeat = Heartbeat::take(&store).unwrap();
        let recorder = Recorder::of(&store).unwrap().unwrap();
        assert_eq!((recorder.is_running, recorder.state.pid), (true, std::process::id()));
        let service = ServiceState { name: "shop".to_owned(), pid: 7, slices: 3, ..ServiceState::default() };
        let state = State { pid: 5, cpu_percent: 0.5, services: vec![service], ..State::default() };
        heartbeat.beat(&state);
        let error = Heartbeat::take(&store).map(drop).unwrap_err();
        assert_eq!((error.code(), error.to_string().contains("process 5")), (Code::Exists, true), "{error}");
        assert_eq!(Recorder::of(&store).unwrap().map(|recorder| recorder.state), Some(state));
        drop(heartbeat);
        assert!(Recorder::of(&store).unwrap().is_some_and(|recorder| !recorder.is_running));
        fs::remove_dir_all(&store).unwrap();
    }
}

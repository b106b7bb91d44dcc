//! Measurement over the inspector, in a thread of its own: a loop that is held up answers late, and must not hold up
//! the rest of the measurement.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::inspector::{CALL_TIME_MAX, Inspector};
use yunti_probe::target::Process;

/// Time between two samples of V8's profiler. Each one interrupts the thread, even one that waits: 1 ms costs a
/// processor some 2 %, and 5 ms are too coarse to be joined with native stacks.
const SAMPLE_EVERY: Duration = Duration::from_millis(2);
const HEAP_EVERY: Duration = Duration::from_millis(500);
/// Time for the profile, which is made of all samples at once.
const PROFILE_TIME_MAX: Duration = Duration::from_secs(5);
/// Time after which the results are given up.
const RESULTS_TIME_MAX: Duration = Duration::from_secs(9);
/// Times at which the inspector of a starting program is tried again.
const TRIES: u32 = 20;
const TRY_EVERY: Duration = Duration::from_millis(100);

/// State of the process's loop and heap, as JSON.
const STATE: &str = "(() => {
  const get = typeof require === 'function' ? require : process.getBuiltinModule;
  const heap = get('v8').getHeapStatistics(), performance = get('perf_hooks').performance;
  const loop = performance && performance.eventLoopUtilization ? performance.eventLoopUtilization() : {};
  return {version: process.version, idle: loop.idle, active: loop.active, used: heap.used_heap_size,
          limit: heap.heap_size_limit, contexts: heap.number_of_native_contexts};
})()";

/// Results of the measurement, as the process gave them.
pub struct Results {
    pub profile: Value,
    pub begin: Value,
    pub end: Value,
    /// Used bytes of the heap, sampled.
    pub used: Vec<f64>,
    pub was_opened: bool,
    /// Failure to leave the inspector as it was.
    pub left: Option<String>,
}

/// Running measurement.
pub struct Look {
    stop: Sender<()>,
    results: Receiver<Result<Results, String>>,
}

impl Look {
    /// Begins to measure in a thread.
    pub fn start(process: &Process, time: Duration) -> Look {
        let (stop, stopped) = channel();
        let (give, results) = channel();
        let process = process.clone();
        thread::spawn(move || {
            let _ = give.send(look(&process, time, &stopped));
        });
        Look { stop, results }
    }

    /// Ends the measurement. Returns its results.
    pub fn finish(self) -> Result<Results, String> {
        let Look { stop, results } = self;
        // From now on every look at the channel sees its end.
        drop(stop);
        results.recv_timeout(RESULTS_TIME_MAX).unwrap_or_else(|_| Err("its event loop does not answer".to_owned()))
    }
}

fn look(process: &Process, time: Duration, stopped: &Receiver<()>) -> Result<Results, String> {
    let mut tries = 0;
    let mut inspector = loop {
        match Inspector::open(process, time, &mut |wait| !is_over(stopped, wait)) {
            Ok(inspector) => break inspector,
            // A program that has just been started catches no signal yet.
            Err(reason) if tries < TRIES && !is_over(stopped, TRY_EVERY) && reason.is_early => tries += 1,
            Err(reason) => return Err(reason.text),
        }
    };
    let was_opened = inspector.was_opened();
    let measured = measure(&mut inspector, stopped);
    let closed = inspector.close();
    let (profile, begin, end, used) = measured?;
    Ok(Results { profile, begin, end, used, was_opened, left: closed.err() })
}

/// Waits for the end of the measurement. Returns false if the time is over first.
fn is_over(stopped: &Receiver<()>, wait: Duration) -> bool {
    !matches!(stopped.recv_timeout(wait), Err(RecvTimeoutError::Timeout))
}

type Measured = (Value, Value, Value, Vec<f64>);

fn measure(inspector: &mut Inspector, stopped: &Receiver<()>) -> Result<Measured, String> {
    let session = &mut inspector.session;
    let interval = json!({"interval": SAMPLE_EVERY.as_micros()});
    session.call("Profiler.enable", json!({}), CALL_TIME_MAX)?;
    session.call("Profiler.setSamplingInterval", interval, CALL_TIME_MAX)?;
    session.call("Profiler.start", json!({}), PROFILE_TIME_MAX)?;
    let state = |session: &mut super::session::Session| {
        session.evaluate(STATE, true, CALL_TIME_MAX).map(|mut answer| answer["value"].take()).unwrap_or_default()
    };
    let begin = state(session);
    let mut used = Vec::new();
    while !is_over(stopped, HEAP_EVERY) {
        used.extend(state(session)["used"].as_f64());
    }
    let end = state(session);
    let mut answer = session.call("Profiler.stop", json!({}), PROFILE_TIME_MAX)?;
    let _ = session.call("Profiler.disable", json!({}), CALL_TIME_MAX);
    used.extend([&begin, &end].into_iter().filter_map(|state| state["used"].as_f64()));
    Ok((answer["profile"].take(), begin, end, used))
}

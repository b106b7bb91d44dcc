//! Classes at which requests wait: only they are changed, because each change makes the JVM compile code again.
//!
//! A lock or pool that can bound the service is in use for a part of the time, so that now and then a request waits for
//! it. Then a sample shows the wait.

use std::collections::HashMap;
use std::time::Duration;

use yunti_base::Result;
use yunti_probe::stack::{Frame, Kind};
use yunti_probe::stopping::{PULSE, Stopping};
use yunti_probe::target::Process;

use crate::jvm::{Event, Profiler, Recording, Sampling};

/// Time between two samples of every thread.
const INTERVAL: Duration = Duration::from_millis(2);
/// Classes of each kind.
const CLASSES_MAX: usize = 50;
/// Java frames from the innermost on in which a class of locks or pools is expected.
const DEPTH: usize = 12;
const POOL_LOOP: &str = "java.util.concurrent.ThreadPoolExecutor.runWorker";
const POOL_QUEUE: &str = "java.util.concurrent.ThreadPoolExecutor.getTask";

const VIRTUAL: &str = "java.lang.VirtualThread.run";
/// Classes at which virtual threads may wait.
const OF_VIRTUAL: [&str; 4] = [
    "java.util.concurrent.Semaphore",
    "java.util.concurrent.locks.ReentrantLock",
    "java.util.concurrent.ArrayBlockingQueue",
    "java.util.concurrent.LinkedBlockingQueue",
];

/// Classes at which requests wait, the most frequent first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    /// Classes whose methods wait for monitors.
    pub monitors: Vec<String>,
    /// Classes on the stacks of other waits.
    pub waits: Vec<String>,
}

impl Candidates {
    /// Samples a JVM.
    ///
    /// @param method method that handles a request: `com.shop.Cart.total`
    pub fn sample(process: &Process, method: &str, time: Duration, stopping: &mut Stopping) -> Result<Candidates> {
        let profiler = Profiler::start(process, Sampling::Every(Event::Wall, INTERVAL), time)?;
        stopping.wait(process, time, PULSE, || true);
        Ok(Candidates::of(&profiler.stop()?, method))
    }

    fn of(recording: &Recording, method: &str) -> Candidates {
        let (mut monitors, mut waits) = (HashMap::new(), HashMap::new());
        for sample in &recording.samples {
            let has = |name: &str| sample.frames.iter().any(|frame| &*frame.name == name);
            if !sample.state.contains("SLEEPING") || !(has(method) || has(POOL_LOOP) && !has(POOL_QUEUE)) {
                continue;
            }
            let classes = classes(&sample.frames);
            if is_for_monitor(&sample.frames) {
                if let Some(class) = classes.first() {
                    *monitors.entry((*class).to_owned()).or_default() += sample.value;
                }
                continue;
            }
            for (at, class) in classes.iter().enumerate() {
                if !classes[..at].contains(class) {
                    *waits.entry((*class).to_owned()).or_default() += sample.value;
                }
            }
        }
        let mut found = Candidates { monitors: dearest(monitors), waits: dearest(waits) };
        let is_virtual = |frames: &[Frame]| frames.iter().any(|frame| &*frame.name == VIRTUAL);
        if recording.samples.iter().any(|sample| is_virtual(&sample.frames)) {
            // They wait off all threads, where no sample shows them.
            found.waits.extend(OF_VIRTUAL.iter().map(|class| (*class).to_owned()));
        }
        found
    }
}

/// Returns the classes of the innermost Java frames, the innermost first.
fn classes(frames: &[Frame]) -> Vec<&str> {
    let is_java = |frame: &&Frame| !matches!(frame.kind, Kind::Native | Kind::Kernel | Kind::Jvm);
    let class = |frame: &'_ Frame| -> Option<usize> { frame.name.rfind('.') };
    frames
        .iter()
        .rev()
        .filter(is_java)
        .take(DEPTH)
        .filter_map(|frame| class(frame).map(|dot| &frame.name[..dot]))
        .collect()
}

/// Returns true if a thread waits for a monitor.
fn is_for_monitor(frames: &[Frame]) -> bool {
    const ENTERING: [&str; 5] =
        ["ObjectMonitor::enter", "ObjectMonitor::EnterI", "monitorenter", "monitor_enter", "complete_monitor_locking"];
    let of_jvm = frames.iter().rev().take_while(|frame| matches!(frame.kind, Kind::Native | Kind::Kernel | Kind::Jvm));
    of_jvm.into_iter().any(|frame| ENTERING.iter().any(|part| frame.name.contains(part)))
}

fn dearest(counts: HashMap<String, u64>) -> Vec<String> {
    let mut all: Vec<(String, u64)> = counts.into_iter().collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.into_iter().take(CLASSES_MAX).map(|(class, _)| class).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jvm::Sample;

    fn sample(state: &str, java: &str, inner: &str) -> Sample {
        let frame = |name: &str, kind| Frame { name: name.into(), kind };
        let java = java.split(' ').map(|name| frame(name, Kind::Compiled));
        let inner = inner.split_whitespace().map(|name| frame(name, Kind::Jvm));
        Sample {
            frames: java.chain(inner).collect::<Vec<_>>().into(),
            thread: "t".into(),
            tid: 1,
            time: 0,
            state: state.into(),
            event: Event::Wall,
            is_survivor: false,
            value: 1,
        }
    }

    #[test]
    fn classes_at_which_requests_wait() {
        let samples = vec![
            sample("STATE_SLEEPING", "a.Server.run a.Stock.take", "ObjectMonitor::enter"),
            sample("STATE_SLEEPING", "a.Server.run a.Pool.take java.util.concurrent.Semaphore.acquire", ""),
            sample("STATE_RUNNABLE", "a.Server.run a.Busy.sum", ""),
            // An idle thread of a pool.
            sample(
                "STATE_SLEEPING",
                &format!("{POOL_LOOP} {POOL_QUEUE} java.util.concurrent.LinkedBlockingQueue.take"),
                "",
            ),
        ];
        let found = Candidates::of(&Recording { samples, ..Recording::default() }, "a.Server.run");
        assert_eq!(found.monitors, ["a.Stock"]);
        assert_eq!(found.waits, ["a.Pool", "a.Server", "java.util.concurrent.Semaphore"]);
    }
}

//! Classes whose monitors requests may wait for: only they are changed for it, because each change makes the JVM
//! compile code again.
//!
//! A monitor that can bound the service is held for a part of each request, so that samples show its holder within its
//! class, also while nobody waits. Pools and locks of libraries are known by their classes: `Places.java`.

use std::collections::HashMap;
use std::time::Duration;

use yunti_base::Result;
use yunti_heap::model::name::is_of_the_jdk;
use yunti_probe::stack::{Frame, Kind};
use yunti_probe::stopping::{PULSE, Stopping};
use yunti_probe::target::Process;

use crate::jvm::{Event, Profiler, Recording, Sampling};

/// Time between two samples of every thread.
const INTERVAL: Duration = Duration::from_millis(2);
/// Classes of each kind.
const CLASSES_MAX: usize = 50;
/// Share of the samples of requests from which on a class counts.
const SHARE_MIN: f64 = 0.002;
const SAMPLES_MIN: u64 = 3;
const POOL_LOOP: &str = "java.util.concurrent.ThreadPoolExecutor.runWorker";
const POOL_QUEUE: &str = "java.util.concurrent.ThreadPoolExecutor.getTask";

/// Classes whose monitors requests may wait for, the most frequent first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    pub monitors: Vec<String>,
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
        let (mut waited_for, mut entered, mut all) = (HashMap::new(), HashMap::new(), 0);
        for sample in &recording.samples {
            let has = |name: &str| sample.frames.iter().any(|frame| &*frame.name == name);
            let Some(begin) =
                sample.frames.iter().position(|frame| &*frame.name == method || &*frame.name == POOL_LOOP)
            else {
                continue;
            };
            if has(POOL_QUEUE) {
                continue;
            }
            all += sample.value;
            let classes = classes(&sample.frames[begin..]);
            if is_for_monitor(&sample.frames) {
                // Object.wait needs the monitor of its caller's object again.
                if let Some(class) = classes.iter().find(|class| **class != "java.lang.Object") {
                    *waited_for.entry((*class).to_owned()).or_default() += sample.value;
                }
            }
            for (at, class) in classes.iter().enumerate() {
                if !classes[..at].contains(class) && !is_of_the_jdk(class) {
                    *entered.entry((*class).to_owned()).or_default() += sample.value;
                }
            }
        }
        let least = SAMPLES_MIN.max((all as f64 * SHARE_MIN) as u64);
        entered.retain(|_, samples| *samples >= least);
        let mut monitors = dearest(waited_for);
        let others: Vec<String> = dearest(entered).into_iter().filter(|class| !monitors.contains(class)).collect();
        monitors.extend(others);
        Candidates { monitors }
    }
}

/// Returns the classes of Java frames, the innermost first.
fn classes(frames: &[Frame]) -> Vec<&str> {
    let is_java = |frame: &&Frame| !matches!(frame.kind, Kind::Native | Kind::Kernel | Kind::Jvm);
    let class = |frame: &'_ Frame| -> Option<usize> { frame.name.rfind('.') };
    let named = frames.iter().rev().filter(is_java);
    named.filter_map(|frame| class(frame).map(|dot| &frame.name[..dot])).collect()
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
    fn classes_with_monitors() {
        let times = |count: u64, sample: Sample| Sample { value: count, ..sample };
        let samples = vec![
            sample("STATE_SLEEPING", "a.Main.main a.Server.run a.Stock.take", "ObjectMonitor::enter"),
            sample("STATE_SLEEPING", "a.Server.run java.util.Hashtable.get", "ObjectMonitor::enter"),
            // Nobody waits for this one.
            times(5, sample("STATE_SLEEPING", "a.Server.run a.Till.pay java.lang.Thread.sleep", "")),
            times(5, sample("STATE_RUNNABLE", "a.Server.run a.Till.pay a.Busy.sum", "")),
            times(2, sample("STATE_RUNNABLE", "a.Server.run a.Rare.sum", "")),
            sample("STATE_RUNNABLE", "a.Timer.run a.Clock.tick", ""),
            // An idle thread of a pool.
            sample(
                "STATE_SLEEPING",
                &format!("{POOL_LOOP} {POOL_QUEUE} java.util.concurrent.LinkedBlockingQueue.take"),
                "",
            ),
        ];
        let found = Candidates::of(&Recording { samples, ..Recording::default() }, "a.Server.run");
        assert_eq!(found.monitors, ["a.Stock", "java.util.Hashtable", "a.Server", "a.Till", "a.Busy"]);
    }
}

//! Threads of a JVM in functions of the JVM's own work: callers of System.gc(), stalled allocations, finalizers.
//! And the share of interpreted code.

use std::collections::HashMap;
use std::rc::Rc;

use crate::jvm::{Event, Recording};
use crate::why::account::waiting;
use yunti_probe::stack::{Frame, Kind};
use yunti_probe::target::schedule::ThreadTime;

/// Threads in these functions at a time, on average.
#[derive(Clone, Debug, Default)]
pub struct JvmStacks {
    /// Threads in System.gc(), by the program's own function.
    pub gc_callers: HashMap<Rc<str>, f64>,
    /// Threads in System.gc() because direct memory is at its limit.
    pub out_of_direct: f64,
    /// Threads whose allocation waits for a concurrent collector.
    pub stalled: f64,
    /// Share of the time in which the finalizer's thread works.
    pub finalizing: f64,
    /// Its innermost function of the program.
    pub finalizer: Option<Rc<str>>,
    /// Share of the samples on a processor whose Java code is interpreted.
    pub interpreted: f64,
    /// Seconds of processor time of compilers.
    pub compiling_seconds: f64,
}

const GC_CALLS: [&str; 2] = ["java.lang.Runtime.gc", "java.lang.System.gc"];
const DIRECT: &str = "java.nio.Bits.reserveMemory";
/// Waits of allocations in ZGC and Shenandoah.
const STALLS: [&str; 4] =
    ["alloc_page_stall", "ZPageAllocator::alloc_page_or_stall", "pace_for_alloc", "handle_alloc_failure"];
const NO_WORK: [&str; 2] = ["ReferenceQueue.remove", "waitForReferencePendingList"];
/// Beginnings of the names of compilers' threads.
const COMPILERS: [&str; 3] = ["C1 Compiler", "C2 Compiler", "JVMCI"];

/// Returns true for the name of a compiler's thread.
pub fn is_compiler(thread: &str) -> bool {
    COMPILERS.iter().any(|begin| thread.starts_with(begin))
}

impl JvmStacks {
    pub fn of(recording: &Recording) -> JvmStacks {
        let mut sums = JvmStacks::default();
        let mut totals: HashMap<u32, f64> = HashMap::new();
        let (mut java, mut interpreted) = (0, 0);
        // Samples share stacks, so each stack is searched once.
        let mut known: HashMap<*const Frame, Signs> = HashMap::new();
        let mut finalizers: HashMap<Rc<str>, f64> = HashMap::new();
        for sample in &recording.samples {
            let n = sample.value as f64;
            let signs = *known.entry(sample.frames.as_ptr()).or_insert_with(|| Signs::of(&sample.frames));
            if sample.event != Event::Wall {
                if let Some(is_interpreted) = signs.is_interpreted {
                    java += sample.value;
                    interpreted += if is_interpreted { sample.value } else { 0 };
                }
                continue;
            }
            *totals.entry(sample.tid).or_default() += n;
            if signs.calls_gc {
                let own = waiting::own_frame(&sample.frames).map_or_else(|| "the JDK".into(), |own| own.name.clone());
                *sums.gc_callers.entry(own).or_default() += n;
                sums.out_of_direct += if signs.is_direct { n } else { 0.0 };
            }
            sums.stalled += if signs.is_stalled { n } else { 0.0 };
            if &*sample.thread == "Finalizer" && !signs.is_without_work && signs.is_interpreted.is_some() {
                sums.finalizing += n;
                if let Some(own) = waiting::own_frame(&sample.frames) {
                    *finalizers.entry(own.name.clone()).or_default() += n;
                }
            }
        }
        let rounds = totals.values().copied().fold(1.0, f64::max);
        sums.gc_callers.values_mut().for_each(|n| *n /= rounds);
        sums.out_of_direct /= rounds;
        sums.stalled /= rounds;
        sums.finalizing /= rounds;
        sums.finalizer = largest(&finalizers).map(|(name, _)| name);
        sums.interpreted = f64::from(interpreted as u32) / f64::from((java as u32).max(1));
        sums
    }

    /// Adds the processor time of compilers.
    pub fn take_times(
        &mut self,
        before: &HashMap<u32, (String, ThreadTime)>,
        after: &HashMap<u32, (String, ThreadTime)>,
    ) {
        for (tid, (name, now)) in after {
            if is_compiler(name) {
                let was = before.get(tid).map_or(0, |(_, was)| was.ran_ns);
                self.compiling_seconds += now.ran_ns.saturating_sub(was) as f64 / 1e9;
            }
        }
    }

    /// Returns the function that calls System.gc() most, and its threads at a time.
    pub fn gc_caller(&self) -> Option<(Rc<str>, f64)> {
        largest(&self.gc_callers)
    }
}

fn largest(sums: &HashMap<Rc<str>, f64>) -> Option<(Rc<str>, f64)> {
    let first = sums.iter().max_by(|a, b| a.1.total_cmp(b.1).then_with(|| b.0.cmp(a.0)));
    first.map(|(name, n)| (name.clone(), *n))
}

/// Signs on one stack.
#[derive(Clone, Copy)]
struct Signs {
    calls_gc: bool,
    is_direct: bool,
    is_stalled: bool,
    is_without_work: bool,
    /// True if the innermost Java frame is interpreted; `None` without Java frames.
    is_interpreted: Option<bool>,
}

impl Signs {
    fn of(frames: &[Frame]) -> Signs {
        let has = |names: &[&str]| frames.iter().any(|frame| names.iter().any(|name| frame.name.contains(name)));
        let innermost = frames.iter().rev().find(|frame| frame.kind.is_java());
        Signs {
            calls_gc: has(&GC_CALLS),
            is_direct: has(&[DIRECT]),
            is_stalled: has(&STALLS),
            is_without_work: has(&NO_WORK),
            is_interpreted: innermost.map(|frame| frame.kind == Kind::Interpreted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jvm::Sample;

    #[test]
    fn stacks_of_the_jvm() {
        let frame = |name: &str, kind| Frame { name: name.into(), kind };
        let sample = |thread: &str, tid, event, frames: Vec<Frame>| Sample {
            frames: frames.into(),
            thread: thread.into(),
            tid,
            time: 0,
            state: "".into(),
            event,
            is_survivor: false,
            value: 10,
        };
        let interpreted = |name: &str| frame(name, Kind::Interpreted);
        let samples = vec![
            sample("main", 1, Event::Wall, vec![interpreted("a.Shop.run"), interpreted("java.lang.Runtime.gc")]),
            sample("main", 1, Event::Wall, vec![interpreted("a.Shop.run")]),
            sample("Finalizer", 2, Event::Wall, vec![interpreted("a.Shop.finalize")]),
            sample("Finalizer", 2, Event::Wall, vec![interpreted("java.lang.ref.ReferenceQueue.remove")]),
            sample("main", 1, Event::Cpu, vec![frame("a.Shop.run", Kind::Interpreted)]),
        ];
        let found = JvmStacks::of(&Recording { samples, ..Recording::default() });
        assert_eq!(found.gc_caller(), Some(("a.Shop.run".into(), 0.5)));
        assert_eq!((found.finalizing, found.interpreted, found.stalled), (0.5, 1.0, 0.0));
        assert_eq!(found.finalizer.as_deref(), Some("a.Shop.finalize"));
    }
}

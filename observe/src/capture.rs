//! Stacks of hits. A kernel program requests each stack and numbers the requests of each thread; this file matches
//! stacks to these numbers.
//!
//! In a JVM the request is a SIGPROF, and async-profiler answers it with a sample. The profiler must be loaded
//! before the first signal and until after the last, because an unhandled SIGPROF ends a program. Samples match
//! signals by their CLOCK_MONOTONIC times. Matching by order would go wrong after the first missing sample.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::time::Duration;

use yunti_base::Result;

use crate::jvm::{Profiler, Sample, Sampling};
use yunti_probe::kernel::StackEvents;
use yunti_probe::stack::Frame;
use yunti_probe::target::Process;

/// Time for the last signals to reach their threads. A thread that is not running by then gets no sample.
const SIGNALS_ARRIVE: Duration = Duration::from_millis(50);
/// Nanoseconds within which two signals to one thread count as one. The kernel merges a signal with a pending one.
const SAME_MOMENT_NS: u64 = 50_000;

/// Source of stacks: async-profiler in a JVM, or perf events for any other process.
pub enum Capture {
    Jvm {
        profiler: Box<Profiler>,
        requests: StackRequests,
    },
    Any(Box<StackEvents>),
    /// No stacks: calls are only counted.
    Nothing,
}

/// Stacks that were requested by signals.
#[derive(Default)]
pub struct StackRequests {
    /// Thread ID inside its PID namespace -> request number -> time in ns.
    of: HashMap<u32, BTreeMap<u32, u64>>,
    /// Thread ID inside its PID namespace -> outside of it.
    tids: HashMap<u32, u32>,
}

/// A request for the stack of a thread.
#[derive(Clone, Copy, Debug)]
pub struct StackRequest {
    pub tid: u32,
    pub tid_inside: u32,
    /// Number among the requests of its thread, from 1; 0 if no stack was requested.
    pub number: u32,
    pub time_ns: u64,
}

type Stack = Rc<[Frame]>;
/// Stacks by thread ID and request number.
type StackOf = HashMap<(u32, u32), Stack>;

/// Captured stacks by thread ID and request number, the outermost frame first.
pub struct Stacks {
    of: StackOf,
    /// Reasons why stacks are missing.
    pub skips: Vec<String>,
}

impl Capture {
    /// Starts the capture.
    ///
    /// @param process `None` for all
    /// @param time the longest time that it will be needed
    pub fn of<'p>(process: impl Into<Option<&'p Process>>, is_jvm: bool, time: Duration) -> Result<Capture> {
        Ok(match process.into() {
            Some(process) if is_jvm => Capture::Jvm {
                profiler: Box::new(Profiler::start(process, Sampling::OnSignal, time)?),
                requests: StackRequests::default(),
            },
            process => Capture::Any(Box::new(StackEvents::of(process)?)),
        })
    }

    /// Returns the perf events that kernel programs trigger; `None` if they send signals instead.
    pub fn events(&self) -> Option<&StackEvents> {
        match self {
            Capture::Jvm { .. } | Capture::Nothing => None,
            Capture::Any(events) => Some(events),
        }
    }

    pub fn collect(&mut self) {
        if let Capture::Any(events) = self {
            events.collect();
        }
    }

    /// Records a request. The caller calls this for each hit.
    pub fn record(&mut self, request: StackRequest) {
        if let (Capture::Jvm { requests, .. }, 1..) = (self, request.number) {
            let StackRequest { tid, tid_inside, number, time_ns } = request;
            requests.tids.insert(tid_inside, tid);
            let time = requests.of.entry(tid_inside).or_default().entry(number).or_insert(time_ns);
            *time = time_ns.min(*time);
        }
    }

    /// Ends the capture and matches stacks to requests. The kernel programs must be detached.
    pub fn finish(self) -> Result<Stacks> {
        match self {
            Capture::Nothing => Ok(Stacks { of: HashMap::new(), skips: Vec::new() }),
            Capture::Any(mut events) => {
                events.collect();
                let lost = events.lost();
                let skips = (lost > 0).then(|| format!("{lost} stacks: the buffer was full"));
                Ok(Stacks { of: events.stacks(), skips: skips.into_iter().collect() })
            }
            Capture::Jvm { profiler, requests } => {
                std::thread::sleep(SIGNALS_ARRIVE);
                let recording = profiler.stop()?;
                let mut skips = Vec::from_iter(recording.broken);
                let (of, missing) = requests.match_samples(&recording.samples);
                if missing > 0 {
                    skips.push(format!("{missing} stacks: the JVM returned no sample"));
                }
                Ok(Stacks { of, skips })
            }
        }
    }
}

impl StackRequests {
    /// Returns the stack of each request, and the number of requests without one.
    fn match_samples(&self, samples: &[Sample]) -> (StackOf, usize) {
        let mut times: HashMap<u32, Vec<(u64, &Stack)>> = HashMap::new();
        for sample in samples {
            times.entry(sample.tid).or_default().push((sample.time, &sample.frames));
        }
        let (mut stacks, mut missing) = (HashMap::new(), 0);
        for (inside, requests) in &self.of {
            let samples = times.entry(*inside).or_default();
            samples.sort_by_key(|(time, _)| *time);
            let tid = self.tids.get(inside).copied().unwrap_or_default();
            // Backwards: a request whose signal was merged with the next one shares its sample.
            let mut next: Option<(u64, Option<&Stack>)> = None;
            for (number, time) in requests.iter().rev() {
                let end = next.map_or(u64::MAX, |(time, _)| time);
                let at = samples.partition_point(|(of, _)| of < time);
                let own = samples.get(at).filter(|(of, _)| *of < end).map(|(_, frames)| *frames);
                let same = next.filter(|(of, _)| of - time < SAME_MOMENT_NS).and_then(|(_, frames)| frames);
                let frames = own.or(same);
                match frames {
                    Some(frames) => drop(stacks.insert((tid, *number), frames.clone())),
                    None => missing += 1,
                }
                next = Some((*time, frames));
            }
        }
        (stacks, missing)
    }
}

impl Stacks {
    pub fn get(&self, tid: u32, number: u32) -> Option<&Rc<[Frame]>> {
        self.of.get(&(tid, number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jvm::Event;
    use yunti_probe::stack::Kind;

    #[test]
    fn samples_match_the_signal_before_them() {
        let sample = |time: u64| Sample {
            frames: vec![Frame { name: time.to_string().into(), kind: Kind::Native }].into(),
            thread: "t".into(),
            tid: 7,
            time,
            state: "".into(),
            value: 1,
            event: Event::Cpu,
            is_survivor: false,
        };
        let check = |requests: &[(u32, u64)], samples: &[u64], expected: &[(u32, u64)], missing: usize| {
            let mut known = StackRequests::default();
            known.tids.insert(7, 700);
            known.of.insert(7, requests.iter().copied().collect());
            let samples: Vec<Sample> = samples.iter().map(|time| sample(*time)).collect();
            let (stacks, none) = known.match_samples(&samples);
            let mut found: Vec<(u32, u64)> =
                stacks.iter().map(|((tid, n), f)| (*n + *tid - 700, f[0].name.parse().unwrap())).collect();
            found.sort_unstable();
            assert_eq!((found.as_slice(), none), (expected, missing), "{requests:?} {samples:?}");
        };
        let second = 1_000_000_000;
        check(
            &[(1, second), (2, 2 * second)],
            &[second + 9, 2 * second + 9],
            &[(1, second + 9), (2, 2 * second + 9)],
            0,
        );
        // A missing sample is not replaced by another one.
        check(&[(1, second), (2, 2 * second)], &[2 * second + 9], &[(2, 2 * second + 9)], 1);
        check(&[(1, second), (2, 2 * second)], &[second + 9], &[(1, second + 9)], 1);
        // Two merged signals.
        check(&[(1, second), (2, second + 100)], &[second + 200], &[(1, second + 200), (2, second + 200)], 0);
        // A sample from before the signal.
        check(&[(1, second)], &[5], &[], 1);
    }
}

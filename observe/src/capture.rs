//! The stack of each hit: programs in the kernel ask for it and give it a number among its thread's, and here it is found again.
//!
//! Of a JVM they ask by SIGPROF, which async-profiler answers with a sample. It must be there before the first signal, since SIGPROF ends a
//! program that has no handler for it, and until after the last. Which sample answers which signal is seen by their times, both of
//! CLOCK_MONOTONIC: counting them would be wrong for all that follow as soon as one was not taken.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::time::Duration;

use yunti_base::Result;

use crate::jvm::{Profiler, Sample, Sampling};
use yunti_probe::kernel::StackEvents;
use yunti_probe::stack::Frame;
use yunti_probe::target::Process;

/// A signal that was sent to a thread has reached it by then, if it ever will before it runs again.
const SIGNALS_ARRIVE: Duration = Duration::from_millis(50);
/// Two signals of which the second comes while the first is on its way are one, and have one sample.
const SAME_MOMENT_NS: u64 = 50_000;

pub enum Capture<'a> {
    Jvm { profiler: Profiler<'a>, asked: Asked },
    Any(Box<StackEvents>),
}

/// Stacks that threads were asked for by a signal.
#[derive(Default)]
pub struct Asked {
    /// By the thread's number within its container: number -> when.
    of: HashMap<u32, BTreeMap<u32, u64>>,
    /// The thread's number outside.
    tids: HashMap<u32, u32>,
}

/// A stack that was asked for.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub tid: u32,
    pub tid_inside: u32,
    /// Among its thread's, from 1; 0: it was left away.
    pub number: u32,
    pub time_ns: u64,
}

type Stack = Rc<[Frame]>;
/// By thread and number.
type StackOf = HashMap<(u32, u32), Stack>;

/// Stacks by thread and number, the outermost frame first.
pub struct Stacks {
    of: StackOf,
    /// Why some are missing.
    pub skips: Vec<String>,
}

impl<'a> Capture<'a> {
    /// @param time how long at most it will be needed
    pub fn of(process: &'a Process, is_jvm: bool, time: Duration) -> Result<Capture<'a>> {
        Ok(if is_jvm {
            Capture::Jvm { profiler: Profiler::start(process, Sampling::Asked, time)?, asked: Asked::default() }
        } else {
            Capture::Any(Box::new(StackEvents::of(process)?))
        })
    }

    /// What programs say their word to; None: they send signals.
    pub fn events(&self) -> Option<&StackEvents> {
        match self {
            Capture::Jvm { .. } => None,
            Capture::Any(events) => Some(events),
        }
    }

    pub fn collect(&mut self) {
        if let Capture::Any(events) = self {
            events.collect();
        }
    }

    /// To be called for each hit.
    pub fn asked(&mut self, ask: Ask) {
        if let (Capture::Jvm { asked, .. }, 1..) = (self, ask.number) {
            asked.tids.insert(ask.tid_inside, ask.tid);
            let time = asked.of.entry(ask.tid_inside).or_default().entry(ask.number).or_insert(ask.time_ns);
            *time = ask.time_ns.min(*time);
        }
    }

    /// To be called when the programs are detached.
    pub fn finish(self) -> Result<Stacks> {
        match self {
            Capture::Any(mut events) => {
                events.collect();
                let lost = events.lost();
                let skips = (lost > 0).then(|| format!("{lost} stacks, for which there was no room"));
                Ok(Stacks { of: events.stacks(), skips: skips.into_iter().collect() })
            }
            Capture::Jvm { profiler, asked } => {
                std::thread::sleep(SIGNALS_ARRIVE);
                let recording = profiler.stop()?;
                let mut skips = Vec::from_iter(recording.broken);
                let (of, missing) = asked.answered(&recording.samples);
                if missing > 0 {
                    skips.push(format!("{missing} stacks, which the JVM did not give"));
                }
                Ok(Stacks { of, skips })
            }
        }
    }
}

impl Asked {
    /// The stack of each, and how many have none.
    fn answered(&self, samples: &[Sample]) -> (StackOf, usize) {
        let mut times: HashMap<u32, Vec<(u64, &Stack)>> = HashMap::new();
        for sample in samples {
            times.entry(sample.tid).or_default().push((sample.time, &sample.frames));
        }
        let (mut stacks, mut missing) = (HashMap::new(), 0);
        for (inside, asks) in &self.of {
            let samples = times.entry(*inside).or_default();
            samples.sort_by_key(|(time, _)| *time);
            let tid = self.tids.get(inside).copied().unwrap_or_default();
            // From behind: one whose signal was merged with the next one's has the same sample.
            let mut next: Option<(u64, Option<&Stack>)> = None;
            for (number, time) in asks.iter().rev() {
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
    use yunti_probe::stack::Kind;

    #[test]
    fn samples_answer_the_signal_before_them() {
        let sample = |time: u64| Sample {
            frames: vec![Frame { name: time.to_string().into(), kind: Kind::Native }].into(),
            thread: "t".into(),
            tid: 7,
            time,
            state: "".into(),
            value: 1,
            is_wall: false,
        };
        let check = |asks: &[(u32, u64)], samples: &[u64], expected: &[(u32, u64)], missing: usize| {
            let mut asked = Asked::default();
            asked.tids.insert(7, 700);
            asked.of.insert(7, asks.iter().copied().collect());
            let samples: Vec<Sample> = samples.iter().map(|time| sample(*time)).collect();
            let (stacks, none) = asked.answered(&samples);
            let mut found: Vec<(u32, u64)> =
                stacks.iter().map(|((tid, n), f)| (*n + *tid - 700, f[0].name.parse().unwrap())).collect();
            found.sort_unstable();
            assert_eq!((found.as_slice(), none), (expected, missing), "{asks:?} {samples:?}");
        };
        let second = 1_000_000_000;
        check(
            &[(1, second), (2, 2 * second)],
            &[second + 9, 2 * second + 9],
            &[(1, second + 9), (2, 2 * second + 9)],
            0,
        );
        // One that was not taken is nobody else's.
        check(&[(1, second), (2, 2 * second)], &[2 * second + 9], &[(2, 2 * second + 9)], 1);
        check(&[(1, second), (2, 2 * second)], &[second + 9], &[(1, second + 9)], 1);
        // Two signals that are one.
        check(&[(1, second), (2, second + 100)], &[second + 200], &[(1, second + 200), (2, second + 200)], 0);
        // Of somebody else, before.
        check(&[(1, second)], &[5], &[], 1);
    }
}

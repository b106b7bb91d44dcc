//! Necessary steps of a request. Waits for locks, pools, queues and processors are left out: they come from other
//! requests, not from this one.
//!
//! ```text
//!   thread       run | off, woken .. on | run | want      acquired | run | off .. on | released | run
//!   steps        cpu   wait (remote)      cpu   (left out) acquire   cpu   wait        release    cpu
//! ```

use std::collections::{HashMap, HashSet};

use super::holds::Holds;
use super::places::Role;
use super::requests::Request;
use super::timeline::{Sleep, Span};
use super::work::Work;
use crate::demands::evidence::Evidence;
use crate::jvm::{PlaceEvent, overlaps};
use crate::time_kind::TimeKind;

/// Thing that a step uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Used {
    /// Lock or pool by its identity.
    Object(u32),
    /// Remote end by its number.
    Peer(u16),
    /// Pool of threads by its identity.
    Pool(u32),
    /// Threads that belong to no pool that is known, by the thread that ran the task.
    Threads(usize),
    /// Event loops, by the thread of one.
    Loops(usize),
    /// No thread: a timer, or what another thread does.
    NoThread,
    Network,
    Disk,
    Sleep,
    OtherThread,
    /// Any wait of a virtual thread.
    Parked,
}

/// Step of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Milliseconds on a processor.
    Cpu(f64),
    /// Milliseconds off the processor, of this request's own.
    Wait(Used, f64),
    Acquire(u32),
    /// Begin of holding an object that others may hold in the same way.
    Share(u32),
    Release(u32),
    /// Task by its number in the request, the threads that run it, and its steps.
    Spawn(u32, Used, Vec<Step>),
    /// Wait for tasks.
    Join(Vec<u32>),
}

/// Tasks within tasks that are followed.
const DEPTH_MAX: usize = 12;
/// Tasks of one request that are followed.
const TASKS_MAX: u32 = 256;
/// Time after the end of a task within which its waiter wakes.
const WAKE_NS: u64 = 2_000_000;
/// Time between the end of a wait for a monitor and the begin of the method that has it.
const ENTER_NS: u64 = 1_000_000;

/// Conflicts that threads with shared objects would have had, from which on their lack says that they share none.
const CONFLICTS_MIN: f64 = 4.0;
const CONFLICTS_SHARE: f64 = 0.2;

/// Builder of steps.
pub struct Builder<'a> {
    evidence: &'a Evidence,
    work: &'a Work,
    holds: Holds,
    /// Times at which threads wanted an object, and the threads.
    wants: HashMap<u32, Vec<(u64, usize)>>,
}

/// Task that a request waits for at some time.
pub(super) struct Task {
    number: u32,
    end_ns: u64,
    is_joined: bool,
}

/// Request that is being built, as far as it is known.
pub(super) struct Followed {
    /// Number of the last task.
    pub tasks: u32,
    /// Runs of tasks with their numbers.
    pub runs: Vec<(Span, u32)>,
    /// End of the request.
    end_ns: u64,
    /// Objects that another thread gives back, with the tasks that stand for it.
    handed_over: Vec<(u32, u32)>,
    /// These tasks whose object a step of the request gives back.
    given_back: Vec<u32>,
}

/// Want of an object that a thread waits for.
struct Want {
    event: PlaceEvent,
    /// Step before which the object was taken: a wait for the network within the call that takes it, as a test of a
    /// connection is, is no wait for the object.
    taken_at: Option<usize>,
}

impl<'a> Builder<'a> {
    pub fn new(evidence: &'a Evidence, work: &'a Work) -> Builder<'a> {
        let mut wants: HashMap<u32, Vec<(u64, usize)>> = HashMap::new();
        for (thread, timeline) in evidence.timelines.iter().enumerate() {
            for event in timeline.events.iter().filter(|event| evidence.places.role(event) == Some(Role::Want)) {
                wants.entry(event.object).or_default().push((event.at_ns as u64, thread));
            }
        }
        let holds = Holds::of(&evidence.timelines, &evidence.places);
        Builder { evidence, work, holds, wants }
    }

    /// Returns the threads that are event loops.
    pub fn loops(&self) -> &HashSet<usize> {
        &self.work.loops
    }

    /// Returns the times at which objects were held.
    pub fn holds(&self) -> &Holds {
        &self.holds
    }

    /// Returns the objects of one kind that each thread has for itself, as locks of pooled connections are.
    ///
    /// If threads shared them, a thread would now and then want one that another thread has, as it has the others. If
    /// that never happens, they are private; these with too few events for a judgement are like the rest.
    pub fn private(&self, objects: &[u32]) -> Vec<u32> {
        let mut edges: Vec<(u64, i64, u32)> = Vec::new();
        for object in objects {
            for (begin, end, _) in self.holds.get(*object) {
                edges.push((*begin, 1, *object));
                edges.push((*end, -1, *object));
            }
        }
        edges.sort_unstable();
        let mut beside: HashMap<u32, i64> = HashMap::new();
        let mut held = 0;
        for (_, change, object) in edges {
            if change > 0 {
                *beside.entry(object).or_default() += held;
            }
            held += change;
        }
        let expected = |object: &u32| beside.get(object).copied().unwrap_or_default() as f64 / objects.len() as f64;
        let is_judged = |object: &&u32| expected(object) >= CONFLICTS_MIN;
        let is_private = |object: &u32| (self.conflicts(*object) as f64) <= expected(object) * CONFLICTS_SHARE;
        let judged: Vec<&u32> = objects.iter().filter(is_judged).collect();
        let private = judged.iter().filter(|object| is_private(object)).count();
        if private == 0 || private * 2 < judged.len() {
            return Vec::new();
        }
        objects.iter().copied().filter(is_private).collect()
    }

    /// Returns how often a thread wanted an object that another thread had.
    fn conflicts(&self, object: u32) -> u64 {
        let (holds, Some(wants)) = (self.holds.get(object), self.wants.get(&object)) else { return 0 };
        let met = wants.iter().filter(|(at, thread)| {
            let before = holds.partition_point(|(begin, ..)| begin < at);
            holds[..before].last().is_some_and(|(_, end, by)| end > at && by != thread)
        });
        met.count() as u64
    }

    /// Returns true if one thread alone takes an object.
    pub fn is_of_one_thread(&self, object: u32) -> bool {
        self.holds.get(object).windows(2).all(|pair| pair[0].2 == pair[1].2)
    }

    /// Returns the steps of a request.
    pub fn steps(&self, request: &Request) -> Vec<Step> {
        let mut followed = Followed::new(request.end_ns);
        let (steps, _) = self.of_span(request.first(), &mut followed, 0);
        followed.finish(steps)
    }

    /// Returns the bytes that a request allocates in its parts and in the tasks that it hands over; `None` if they are
    /// not known.
    pub fn allocated(&self, request: &Request) -> Option<u64> {
        let mut followed = Followed::new(request.end_ns);
        for part in &request.parts {
            if !followed.runs.iter().any(|(run, _)| run.holds(part.thread, part.begin_ns)) {
                followed.runs.push((*part, 0));
                self.of_span(part, &mut followed, 0);
            }
        }
        let of =
            |(run, _): &(Span, u32)| self.evidence.timelines[run.thread].allocated_within(run.begin_ns, run.end_ns);
        followed.runs.iter().map(of).sum()
    }

    /// Returns the threads that run a task or a part.
    pub(super) fn threads(&self, run: &Span) -> Used {
        match run.pool {
            Some(pool) => Used::Pool(pool),
            None if self.work.loops.contains(&run.thread) => Used::Loops(run.thread),
            None => Used::Threads(run.thread),
        }
    }

    /// Returns the steps of a span, and the tasks that it and its tasks hand over.
    pub(super) fn of_span(&self, span: &Span, followed: &mut Followed, depth: usize) -> (Vec<Step>, Vec<Task>) {
        let timeline = &self.evidence.timelines[span.thread];
        let mut events = timeline.events_within(span.begin_ns, span.end_ns).iter().peekable();
        let mut sleeps = timeline.sleeps_within(span.begin_ns, span.end_ns).iter().peekable();
        let mut steps = Vec::new();
        let mut at = span.begin_ns;
        let mut wants: Vec<Want> = Vec::new();
        let mut spawned: Vec<Task> = Vec::new();
        let mut held: HashMap<u32, u32> = HashMap::new();
        let cpu = |steps: &mut Vec<Step>, from: u64, to: u64| {
            if to > from {
                steps.push(Step::Cpu((to - from) as f64 / 1e6));
            }
        };
        loop {
            let next_event = events.peek().map_or(u64::MAX, |event| event.at_ns as u64);
            let next_sleep = sleeps.peek().map_or(u64::MAX, |sleep| sleep.off_ns.max(at));
            if next_event == u64::MAX && next_sleep == u64::MAX {
                break;
            }
            if next_sleep <= next_event {
                let Some(sleep) = sleeps.next() else { break };
                cpu(&mut steps, at, next_sleep.min(span.end_ns));
                at = at.max(sleep.on_ns.min(span.end_ns));
                if sleep.is_queueing() {
                    continue;
                }
                if !wants.is_empty() && !matches!(sleep.kind, TimeKind::Network | TimeKind::FileIo) {
                    continue;
                }
                for want in &mut wants {
                    want.taken_at.get_or_insert(steps.len());
                }
                self.add_sleep(&mut steps, sleep, span, events.peek().copied(), &mut spawned);
                continue;
            }
            let Some(event) = events.next() else { break };
            cpu(&mut steps, at, next_event);
            at = at.max(next_event);
            let Some(role) = self.evidence.places.role(event) else { continue };
            match role {
                Role::Want => wants.push(Want { event: *event, taken_at: None }),
                Role::Failed => {
                    self.answered(&mut wants, event);
                }
                Role::Acquired | Role::Shared | Role::Entered | Role::Regained => {
                    let taken_at = self.answered(&mut wants, event);
                    let times = held.entry(event.object).or_default();
                    *times += 1;
                    if *times == 1 {
                        let is_shared = role == Role::Shared;
                        let step = if is_shared { Step::Share(event.object) } else { Step::Acquire(event.object) };
                        steps.insert(taken_at.unwrap_or(steps.len()), step);
                        let end = self.holds.end_elsewhere(event.object, span.thread, next_event);
                        if let Some(end_ns) = end {
                            steps.push(followed.hand_over(event.object, end_ns - next_event));
                            held.remove(&event.object);
                        }
                    }
                }
                Role::Released => {
                    if let Some(times) = held.get_mut(&event.object).filter(|times| **times > 0) {
                        *times -= 1;
                        if *times == 0 {
                            steps.push(Step::Release(event.object));
                        }
                    } else if followed.give_back(event.object) {
                        steps.push(Step::Release(event.object));
                    }
                }
                Role::Submitted | Role::Scheduled if depth < DEPTH_MAX && followed.tasks < TASKS_MAX => {
                    let is_later = role == Role::Scheduled;
                    let run = if is_later {
                        self.work.last_run(event.object, next_event, followed.end_ns)
                    } else {
                        self.work.run_after(event.object, next_event)
                    };
                    // A task may run within the call that hands it over.
                    let is_beside = |run: &Span| run.thread != span.thread || run.begin_ns >= span.end_ns;
                    let Some(run) = run.filter(is_beside) else { continue };
                    let number = followed.next();
                    followed.runs.push((run, number));
                    let (mut task, of_its_own) = self.of_span(&run, followed, depth + 1);
                    let mut threads = self.threads(&run);
                    if is_later {
                        let delay = Step::Wait(Used::Sleep, (run.begin_ns - next_event) as f64 / 1e6);
                        let inner = followed.next();
                        task = vec![delay, Step::Spawn(inner, threads, task), Step::Join(vec![inner])];
                        threads = Used::NoThread;
                    }
                    steps.push(Step::Spawn(number, threads, task));
                    spawned.push(Task { number, end_ns: run.end_ns, is_joined: false });
                    spawned.extend(of_its_own);
                }
                _ => {}
            }
        }
        cpu(&mut steps, at, span.end_ns);
        drop_unreleased(&mut steps, &held);
        (steps, spawned)
    }

    /// Removes the want that an event answers, and these within it. Returns the step before which it was taken.
    fn answered(&self, wants: &mut Vec<Want>, event: &PlaceEvent) -> Option<usize> {
        let of = wants.iter().rposition(|want| self.evidence.places.is_same_method(&want.event, event));
        of.and_then(|of| wants.drain(of..).next()).and_then(|want| want.taken_at)
    }

    /// Adds a wait that belongs to the request itself, or the join of its tasks.
    fn add_sleep(
        &self,
        steps: &mut Vec<Step>,
        sleep: &Sleep,
        span: &Span,
        coming: Option<&PlaceEvent>,
        spawned: &mut [Task],
    ) {
        let from = sleep.off_ns.max(span.begin_ns);
        let to = sleep.woken_ns.min(span.end_ns);
        let mut ns = to.saturating_sub(from);
        if !sleep.kind.goes_on_in_pauses() {
            ns -= overlaps(&self.evidence.pauses, from, to).map(|(_, paused)| paused).sum::<u64>().min(ns);
        }
        let used = match sleep.kind {
            TimeKind::Network => sleep.peer.map_or(Used::Network, Used::Peer),
            TimeKind::FileIo | TimeKind::PageFault => Used::Disk,
            TimeKind::Sleep => Used::Sleep,
            _ => {
                if self.is_monitor_wait(sleep, span.thread, coming) {
                    return;
                }
                let ended = |task: &&mut Task| task.end_ns + WAKE_NS >= from && task.end_ns <= sleep.on_ns + WAKE_NS;
                let mut joined = Vec::new();
                for task in spawned.iter_mut().filter(|task| !task.is_joined).filter(ended) {
                    task.is_joined = true;
                    joined.push(task.number);
                }
                if !joined.is_empty() {
                    steps.push(Step::Join(joined));
                    return;
                }
                Used::OtherThread
            }
        };
        if ns > 0 {
            steps.push(Step::Wait(used, ns as f64 / 1e6));
        }
    }

    /// Returns true for a wait for the monitor of a synchronized method: by the next event the thread has it, and
    /// another thread had it when the wait began.
    fn is_monitor_wait(&self, sleep: &Sleep, thread: usize, coming: Option<&PlaceEvent>) -> bool {
        let is_next = |event: &&PlaceEvent| {
            self.evidence.places.role(event) == Some(Role::Entered) && (event.at_ns as u64) < sleep.on_ns + ENTER_NS
        };
        let Some(event) = coming.filter(is_next) else { return false };
        let holds = self.holds.get(event.object);
        let before = holds.partition_point(|(begin, ..)| *begin <= sleep.off_ns + ENTER_NS);
        holds[..before].iter().rev().take(64).any(|(_, end, by)| *by != thread && *end >= sleep.off_ns)
    }
}

impl Followed {
    pub fn new(end_ns: u64) -> Followed {
        Followed { tasks: 0, runs: Vec::new(), end_ns, handed_over: Vec::new(), given_back: Vec::new() }
    }

    /// Returns the number of the next task.
    pub fn next(&mut self) -> u32 {
        self.tasks += 1;
        self.tasks
    }

    /// Returns the steps of the whole request, from these of its parts.
    pub fn finish(self, mut steps: Vec<Step>) -> Vec<Step> {
        drop_tasks(&mut steps, &self.given_back);
        tidy(&mut steps);
        steps
    }

    /// Returns a task that gives an object back after a time, unless a step of the request does.
    fn hand_over(&mut self, object: u32, ns: u64) -> Step {
        let number = self.next();
        self.handed_over.push((object, number));
        let steps = vec![Step::Wait(Used::OtherThread, ns as f64 / 1e6), Step::Release(object)];
        Step::Spawn(number, Used::NoThread, steps)
    }

    /// Returns true if the request has handed an object over: now it comes back.
    fn give_back(&mut self, object: u32) -> bool {
        let at = self.handed_over.iter().position(|(of, _)| *of == object);
        at.is_some_and(|at| {
            self.given_back.push(self.handed_over.remove(at).1);
            true
        })
    }
}

/// Removes what the work does not give back: items of work queues.
fn drop_unreleased(steps: &mut Vec<Step>, held: &HashMap<u32, u32>) {
    let kept: Vec<u32> = held.iter().filter(|(_, times)| **times > 0).map(|(object, _)| *object).collect();
    for object in kept {
        let is_begin = |step: &Step| *step == Step::Acquire(object) || *step == Step::Share(object);
        if let Some(at) = steps.iter().rposition(is_begin) {
            steps.remove(at);
        }
    }
}

/// Removes tasks by their numbers.
fn drop_tasks(steps: &mut Vec<Step>, numbers: &[u32]) {
    if numbers.is_empty() {
        return;
    }
    steps.retain_mut(|step| match step {
        Step::Spawn(number, _, of_task) => {
            drop_tasks(of_task, numbers);
            !numbers.contains(number)
        }
        _ => true,
    });
}

/// Divides the time of requests on virtual threads, whose waits the kernel does not show: a part of each stretch is
/// processor time, so that the mean is the measured one.
pub fn divide(requests: &mut [Vec<Step>], cpu_ms_measured: f64) {
    let all: f64 = requests.iter().map(|steps| cpu_ms(steps)).sum::<f64>() / requests.len().max(1) as f64;
    let part = (cpu_ms_measured / all.max(1e-9)).min(1.0);
    for steps in requests {
        let divided = steps.drain(..).flat_map(|step| match step {
            Step::Cpu(ms) => vec![
                Step::Cpu(ms * part / 2.0),
                Step::Wait(Used::Parked, ms * (1.0 - part)),
                Step::Cpu(ms * part / 2.0),
            ],
            step => vec![step],
        });
        *steps = divided.collect();
    }
}

/// Joins neighbours: processor time, and waits for the same thing.
pub fn tidy(steps: &mut Vec<Step>) {
    let mut tidied: Vec<Step> = Vec::with_capacity(steps.len());
    for mut step in steps.drain(..) {
        if let Step::Spawn(_, _, of_task) = &mut step {
            tidy(of_task);
        }
        match (tidied.last_mut(), &step) {
            (Some(Step::Cpu(sum)), Step::Cpu(ms)) => *sum += ms,
            (Some(Step::Wait(used, sum)), Step::Wait(other, ms)) if used == other => *sum += ms,
            _ => tidied.push(step),
        }
    }
    *steps = tidied;
}

/// Returns the milliseconds on a processor, with these of tasks.
pub fn cpu_ms(steps: &[Step]) -> f64 {
    let of = |step: &Step| match step {
        Step::Cpu(ms) => *ms,
        Step::Spawn(_, _, steps) => cpu_ms(steps),
        _ => 0.0,
    };
    steps.iter().map(of).sum()
}

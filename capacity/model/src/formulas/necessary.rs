//! Necessary time of a request: how long it takes alone, and how long it occupies each resource.

use std::collections::HashMap;

use serde::Serialize;

use crate::demands::{Demands, ProcessorTime, ResourceKind, Step, cpu_ms};

/// Place of a resource in a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    Processors,
    /// Collections, which stop the process.
    Collections,
    /// Resource by its place in the list.
    Resource(usize),
    Workers,
}

/// Time of a request on one resource. Times of several steps are added.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    pub place: Place,
    pub kind: &'static str,
    pub name: String,
    pub ms: f64,
    /// Units that can be used at once; absent without a limit.
    pub units: Option<f64>,
}

impl Item {
    /// Returns the milliseconds of a request on one of the units; 0 without a limit.
    pub fn ms_of_one(&self) -> f64 {
        self.units.map_or(0.0, |units| self.ms / units)
    }

    /// Returns whether the resource can be the bottleneck by itself. Collections are in the time of processors, and the
    /// number of workers is the answer.
    pub fn can_bound(&self) -> bool {
        !matches!(self.place, Place::Collections | Place::Workers) && self.ms_of_one() > 0.0
    }
}

/// Calls of a request to other machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Calls {
    /// Mean number.
    pub count: f64,
    /// Sum of their times.
    pub ms: f64,
    /// Time in which at least one is under way: less than `ms` if they are made at once.
    pub elapsed_ms: f64,
}

/// Necessary time of a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Necessary {
    /// Duration of a request that waits for nothing that others use.
    pub ms: f64,
    pub items: Vec<Item>,
    pub calls: Calls,
}

impl Necessary {
    /// Returns the mean over the templates.
    pub fn of(demands: &Demands) -> Necessary {
        Necessary::with(demands, &demands.weights())
    }

    /// Returns the mean over the templates with weights of their own, 1 on average.
    pub fn with(demands: &Demands, weights: &[f64]) -> Necessary {
        let (time, index) = (ProcessorTime::of(demands), demands.index());
        let mut walk = Walk {
            demands,
            index: &index,
            factor: time.factor,
            occupied_ms: vec![0.0; demands.resources.len()],
            share: 0.0,
            held: Vec::new(),
            tasks: HashMap::new(),
            calls: Vec::new(),
        };
        let (mut ms, mut cpu, mut calls) = (0.0, 0.0, Calls::default());
        let count = demands.templates.len().max(1) as f64;
        for (template, weight) in demands.templates.iter().zip(weights).filter(|(_, weight)| **weight > 0.0) {
            let share = weight / count;
            walk.share = share;
            let end = walk.steps(&template.steps, 0.0);
            walk.finish(end);
            ms += end * share;
            cpu += cpu_ms(&template.steps) * time.factor * share;
            calls.count += walk.calls.len() as f64 * share;
            calls.ms += walk.calls.iter().map(|(begin, end)| end - begin).sum::<f64>() * share;
            calls.elapsed_ms += union(&mut walk.calls) * share;
            walk.calls.clear();
        }
        let processors = demands.processors.available();
        let pause = demands.gc.as_ref().map_or(0.0, |gc| gc.pause_ms_per_request);
        let mut items = vec![Item {
            place: Place::Processors,
            kind: "processors",
            name: "processors".into(),
            // A collection that stops the process takes all processors.
            ms: cpu + time.side_ms + processors * pause,
            units: Some(processors),
        }];
        if pause > 0.0 {
            items.push(Item {
                place: Place::Collections,
                kind: "collections",
                name: "collections".into(),
                ms: pause,
                units: Some(1.0),
            });
        }
        for (at, resource) in demands.resources.iter().enumerate() {
            items.push(Item {
                place: Place::Resource(at),
                kind: resource.kind.name(),
                name: resource.name.clone(),
                ms: walk.occupied_ms[at],
                units: resource.parallelism.map(f64::from),
            });
        }
        let ms = ms + pause;
        items.push(Item {
            place: Place::Workers,
            kind: "workers",
            name: demands.workers.name.clone(),
            ms,
            units: demands.workers.limit.map(f64::from),
        });
        Necessary { ms, items, calls }
    }

    /// Returns the requests a second that the resources in the list carry; infinite if none has a limit.
    pub fn resources_per_second(&self) -> f64 {
        let resources = self.items.iter().filter(|item| matches!(item.place, Place::Resource(_)));
        resources.map(|item| 1000.0 / item.ms_of_one()).fold(f64::INFINITY, f64::min)
    }
}

/// Walk over one template without any queue.
struct Walk<'a> {
    demands: &'a Demands,
    index: &'a HashMap<u32, usize>,
    factor: f64,
    /// Mean milliseconds of use of each resource, so far.
    occupied_ms: Vec<f64>,
    /// Share of the template among all requests.
    share: f64,
    /// Held resources, and the begin of each hold; readers share theirs, so that none keeps others out for its time.
    held: Vec<(usize, Option<f64>)>,
    /// End of each task by its number.
    tasks: HashMap<u32, f64>,
    /// Begin and end of each call to another machine.
    calls: Vec<(f64, f64)>,
}

impl Walk<'_> {
    /// Returns the end of steps that begin at a time.
    fn steps(&mut self, steps: &[Step], begin: f64) -> f64 {
        let mut now = begin;
        for step in steps {
            match step {
                Step::Cpu(ms) => now += ms * self.factor,
                Step::Wait { resource, ms } => {
                    let at = self.index[resource];
                    self.occupied_ms[at] += ms * self.share;
                    if self.demands.resources[at].kind == ResourceKind::Remote {
                        self.calls.push((now, now + ms));
                    }
                    now += ms;
                }
                Step::Acquire(resource) => self.held.push((self.index[resource], Some(now))),
                Step::Share(resource) => self.held.push((self.index[resource], None)),
                Step::Release(resource) => {
                    let place = self.index[resource];
                    if let Some(at) = self.held.iter().rposition(|(held, _)| *held == place) {
                        let (_, begin) = self.held.remove(at);
                        self.hold(place, begin.map_or(0.0, |begin| now - begin));
                    }
                }
                Step::Spawn { task, on, steps } => {
                    let end = self.steps(steps, now);
                    self.tasks.insert(*task, end);
                    if let Some(on) = on {
                        self.occupied_ms[self.index[on]] += (end - now) * self.share;
                    }
                }
                Step::Join(tasks) => {
                    now = tasks.iter().filter_map(|task| self.tasks.get(task)).fold(now, |now, end| now.max(*end));
                }
            }
        }
        now
    }

    fn hold(&mut self, place: usize, ms: f64) {
        let is_inner = self.held.iter().any(|(held, _)| *held == place);
        // A lock that its holder acquires again is held once.
        if !(is_inner && self.demands.resources[place].kind == ResourceKind::Lock) {
            self.occupied_ms[place] += ms.max(0.0) * self.share;
        }
    }

    /// Ends the holds that a template has not released.
    fn finish(&mut self, end: f64) {
        while let Some((place, begin)) = self.held.pop() {
            self.hold(place, begin.map_or(0.0, |begin| end - begin));
        }
        self.tasks.clear();
    }
}

/// Returns the length of the union of intervals.
fn union(intervals: &mut [(f64, f64)]) -> f64 {
    intervals.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let (mut total, mut covered) = (0.0, f64::NEG_INFINITY);
    for (begin, end) in intervals {
        total += (*end - begin.max(covered)).max(0.0);
        covered = covered.max(*end);
    }
    total
}

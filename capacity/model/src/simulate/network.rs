//! Network of a service: its templates as flat lists of operations, and its stations.

use std::collections::HashMap;

use super::collections::Collections;
use super::processors::Stretch;
use crate::demands::{Demands, ProcessorTime, ResourceKind, Scaling, Step};

/// Operation of a task. Stations are numbers: those of the resources in their order, then the workers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Operation {
    Cpu(f64),
    Wait {
        station: u32,
        ms: f64,
    },
    Acquire(u32),
    /// Like an acquisition, beside others of this kind.
    Share(u32),
    Release(u32),
    /// Begin of the task with this number within the request, at this place.
    Spawn {
        task: u32,
        at: u32,
    },
    /// Wait for the tasks that this part of the list of joins names.
    Join {
        from: u32,
        to: u32,
    },
    End,
}

/// Service that can be simulated under any load.
#[derive(Clone, Debug)]
pub struct Network {
    pub(super) operations: Vec<Operation>,
    pub(super) joins: Vec<u32>,
    /// First operation and number of tasks of each template.
    pub(super) templates: Vec<(u32, u32)>,
    pub(super) stations: Vec<StationKind>,
    pub(super) processors: f64,
    pub(super) stretch: Option<Stretch>,
    /// Processor milliseconds of each request beside its template.
    pub(super) side_ms: f64,
    pub(super) collections: Option<Collections>,
    /// Mean processor milliseconds of a template: allocation is spread over them.
    pub(super) template_cpu_ms: f64,
    /// Mean time of a request without waiting, roughly: over which clients begin.
    pub(super) spread_ms: f64,
    pub(super) names: Vec<String>,
}

/// Properties of a station that do not change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StationKind {
    pub units: Option<u32>,
    /// A task that holds the station may acquire it again.
    pub reentrant: bool,
}

impl Network {
    /// Returns the network of demands that `parse` has checked.
    pub fn new(demands: &Demands) -> Network {
        let processor_time = ProcessorTime::of(demands);
        let workers = demands.resources.len() as u32;
        let mut stations: Vec<_> = demands
            .resources
            .iter()
            .map(|r| StationKind { units: r.parallelism, reentrant: r.kind == ResourceKind::Lock })
            .collect();
        stations.push(StationKind { units: demands.workers.limit, reentrant: false });
        let mut names: Vec<_> = demands.resources.iter().map(|resource| resource.name.clone()).collect();
        names.push(demands.workers.name.clone());
        let mut network = Network {
            operations: Vec::new(),
            joins: Vec::new(),
            templates: Vec::new(),
            stations,
            processors: demands.processors.available(),
            stretch: stretch(demands),
            side_ms: processor_time.side_ms,
            collections: Collections::of(demands),
            template_cpu_ms: processor_time.template_ms,
            spread_ms: 0.0,
            names,
        };
        let index = demands.index();
        let mut total_ms = 0.0;
        for template in &demands.templates {
            let mut build = Build {
                network: &mut network,
                index: &index,
                factor: processor_time.factor,
                tasks: HashMap::new(),
                ms: 0.0,
            };
            let at = build.task(&template.steps, Some(workers));
            let tasks = build.tasks.len() as u32;
            total_ms += build.ms;
            network.templates.push((at, tasks));
        }
        network.spread_ms = total_ms / network.templates.len().max(1) as f64;
        network.templates = by_weight(&network.templates, &demands.weights());
        network
    }

    /// Returns the same service with any number of workers.
    pub fn without_worker_limit(&self) -> Network {
        let mut network = self.clone();
        if let Some(workers) = network.stations.last_mut() {
            workers.units = None;
        }
        network
    }

    /// Returns the limit of workers.
    pub fn worker_limit(&self) -> Option<u32> {
        self.stations.last().and_then(|workers| workers.units)
    }

    /// Returns the same service whose requests are draws of these templates.
    pub fn with_templates(&self, places: &[usize]) -> Network {
        let mut network = self.clone();
        network.templates = places.iter().map(|place| self.templates[*place]).collect();
        network
    }

    /// Returns the processors of the service.
    pub fn processors(&self) -> f64 {
        self.processors
    }

    /// Returns the number of templates, repeated by their weights.
    pub fn templates(&self) -> usize {
        self.templates.len()
    }
}

/// Returns the change of work with load, if there is one.
fn stretch(demands: &Demands) -> Option<Stretch> {
    let Scaling { per_busy, requests, .. } = demands.cpu.scaling_estimate();
    let measured_at = ProcessorTime::busy_measured(demands);
    let stretch = Stretch { per_busy, measured_at, growth: requests.unwrap_or_default() };
    (per_busy != 0.0 || requests.is_some()).then_some(stretch)
}

/// Templates in a list that repeats them by their weights, at least.
const REPEATED_MIN: usize = 1000;
/// Difference of a weight from 1 that matters.
const WEIGHT_DIFFERENCE: f64 = 0.01;

/// Returns a list in which each template occurs in proportion to its weight.
fn by_weight(templates: &[(u32, u32)], weights: &[f64]) -> Vec<(u32, u32)> {
    if weights.iter().all(|weight| (weight - 1.0).abs() < WEIGHT_DIFFERENCE) {
        return templates.to_vec();
    }
    let count = templates.len().max(REPEATED_MIN);
    let step = weights.iter().sum::<f64>() / count as f64;
    let (mut repeated, mut reached) = (Vec::with_capacity(count + 1), step / 2.0);
    let mut sum = 0.0;
    for (template, weight) in templates.iter().zip(weights) {
        sum += weight;
        while reached <= sum {
            repeated.push(*template);
            reached += step;
        }
    }
    repeated
}

/// Build of one template's operations.
struct Build<'a> {
    network: &'a mut Network,
    index: &'a HashMap<u32, usize>,
    factor: f64,
    /// Number within the request by the task's number in the demands.
    tasks: HashMap<u32, u32>,
    ms: f64,
}

impl Build<'_> {
    /// Adds a task that runs on a unit of a station. Returns its first operation.
    fn task(&mut self, steps: &[Step], on: Option<u32>) -> u32 {
        let mut operations: Vec<Operation> = on.map(Operation::Acquire).into_iter().collect();
        for step in steps {
            let operation = match step {
                Step::Cpu(ms) => {
                    self.ms += ms;
                    Operation::Cpu(ms * self.factor)
                }
                Step::Wait { resource, ms } => {
                    self.ms += ms;
                    Operation::Wait { station: self.station(*resource), ms: *ms }
                }
                Step::Acquire(resource) => Operation::Acquire(self.station(*resource)),
                Step::Share(resource) => Operation::Share(self.station(*resource)),
                Step::Release(resource) => Operation::Release(self.station(*resource)),
                Step::Spawn { task, on, steps } => {
                    let number = self.number(*task);
                    let station = on.map(|on| self.station(on));
                    Operation::Spawn { task: number, at: self.task(steps, station) }
                }
                Step::Join(tasks) => {
                    let numbers: Vec<u32> = tasks.iter().map(|task| self.number(*task)).collect();
                    let from = self.network.joins.len() as u32;
                    self.network.joins.extend(numbers);
                    Operation::Join { from, to: self.network.joins.len() as u32 }
                }
            };
            match (operations.last_mut(), operation) {
                (Some(Operation::Cpu(sum)), Operation::Cpu(ms)) => *sum += ms,
                _ => operations.push(operation),
            }
        }
        operations.extend(on.map(Operation::Release));
        operations.push(Operation::End);
        let at = self.network.operations.len() as u32;
        self.network.operations.extend(operations);
        at
    }

    fn station(&self, resource: u32) -> u32 {
        self.index[&resource] as u32
    }

    fn number(&mut self, task: u32) -> u32 {
        let next = self.tasks.len() as u32;
        *self.tasks.entry(task).or_insert(next)
    }
}

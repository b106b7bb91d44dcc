//! Demands of a service's requests on its resources, as `yunti observe demands` measures them
//! (docs/formats/demands.md).
//!
//! Times are milliseconds and hold necessary time only: waiting for a processor, a lock, a pool or a queue is
//! removed by the measurement. The simulation adds it again, for any number of requests in process.

mod check;
mod collector;
mod held;
mod processor_time;
mod step;
mod text;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

pub use collector::Collector;
pub use held::{Held, HeldObject};
pub use processor_time::ProcessorTime;
pub use step::{Step, cpu_ms};
pub use text::parse;

/// Measured demands of one service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Demands {
    pub version: u32,
    /// Length of the measurement.
    #[serde(default)]
    pub seconds: f64,
    #[serde(default)]
    pub process: Process,
    #[serde(default)]
    pub requests: Requests,
    pub processors: Processors,
    #[serde(default)]
    pub cpu: Cpu,
    /// Absent: a process without a collector that stops it.
    #[serde(default)]
    pub gc: Option<Gc>,
    /// Absent: no heap dump was taken.
    #[serde(default)]
    pub held: Option<Held>,
    #[serde(default)]
    pub resources: Vec<Resource>,
    #[serde(default)]
    pub workers: Workers,
    /// Requests in process, seconds with that many, departures during these.
    #[serde(default)]
    pub in_process: Vec<(u32, f64, f64)>,
    pub templates: Vec<Template>,
}

/// Process that serves the requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Process {
    #[serde(default)]
    pub pid: u64,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub runtime: String,
}

/// Requests during the measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Requests {
    #[serde(default)]
    pub count: u64,
    #[serde(default)]
    pub per_second: f64,
    #[serde(default)]
    pub kinds: Vec<Kind>,
    /// True if the templates are the mean of all requests, because single ones were not seen.
    #[serde(default)]
    pub is_mean: bool,
}

/// Kind of requests, as `GET /item/*`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    pub name: String,
    #[serde(default)]
    pub count: u64,
    /// Mean bytes that a request allocates; absent if unknown.
    #[serde(default)]
    pub allocated_bytes: Option<f64>,
    /// Requests relative to other kinds after a change of the mix; absent: the count.
    #[serde(skip)]
    pub weight: Option<f64>,
}

impl Kind {
    /// Returns the requests of this kind relative to those of other kinds.
    pub fn weight(&self) -> f64 {
        self.weight.unwrap_or_else(|| (self.count as f64).max(1.0))
    }
}

/// Processors that the process may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Processors {
    /// Number by affinity and quota of the control group; may be a fraction.
    pub count: f64,
    /// Mean number that unrelated processes use.
    #[serde(default)]
    pub used_by_others: f64,
    /// Mean number that the hypervisor withholds.
    #[serde(default)]
    pub steal: f64,
}

impl Processors {
    /// Returns the processors that remain for the service: at least a tenth of a processor.
    pub fn available(&self) -> f64 {
        (self.count - self.used_by_others - self.steal).max(0.1f64.min(self.count))
    }
}

/// Processor milliseconds of a request, by place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// Processor time of the process per request, without compilers and collectors.
    #[serde(default)]
    pub measured_ms: Option<f64>,
    /// Mean of the steps `cpu` of all requests.
    #[serde(default)]
    pub templates_ms: Option<f64>,
    /// Work outside of templates: acceptors, selectors, timers.
    #[serde(default)]
    pub side_ms: Option<f64>,
    /// Work of other processes on the same processors that serve these requests.
    #[serde(default)]
    pub peers_ms: Option<f64>,
    /// Work of the compiler, which ends; no part of the demand.
    #[serde(default)]
    pub compiler_ms: Option<f64>,
    #[serde(default)]
    pub by_group: Vec<Group>,
    #[serde(default)]
    pub scaling: Option<Scaling>,
}

/// Group of threads and its processor time of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Group {
    pub name: String,
    pub ms: f64,
}

/// Change of processor time with load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// Relative change for each additional busy processor.
    pub per_busy: f64,
    /// Standard error of `per_busy`.
    #[serde(default)]
    pub se: f64,
    /// Busy processors at which `measured_ms` was measured. Absent: from the rate of requests.
    #[serde(default)]
    pub at_busy: Option<f64>,
    #[serde(default)]
    pub requests: Option<Growth>,
}

/// Change of processor time with the requests in process: work for each of them, or a list that each of them lengthens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Growth {
    /// Relative change for each additional request in process.
    pub per_request: f64,
    /// Standard error of `per_request`.
    #[serde(default)]
    pub se: f64,
    /// Mean requests in process during a request.
    pub at_requests: f64,
}

/// Collections during the measurement, and the spaces that they work on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gc {
    #[serde(default)]
    pub collector: String,
    #[serde(default)]
    pub pause_ms_per_request: f64,
    /// Processor time of the collector's threads, in pauses and beside the requests.
    #[serde(default)]
    pub cpu_ms_per_request: f64,
    /// Waits of requests for free memory, because the collector is late.
    #[serde(default)]
    pub stall_ms_per_request: Option<f64>,
    #[serde(default)]
    pub collections_per_request: f64,
    #[serde(default)]
    pub pause_ms_mean: Option<f64>,
    #[serde(default)]
    pub allocated_bytes_per_request: f64,
    #[serde(default)]
    pub eden_bytes: Option<f64>,
    /// Largest size of the heap.
    #[serde(default)]
    pub heap_bytes: Option<f64>,
    /// Young generation: Eden and both survivor spaces. Absent: by Eden.
    #[serde(default)]
    pub young_bytes: Option<f64>,
    /// Largest size of one survivor space.
    #[serde(default)]
    pub survivor_bytes: Option<f64>,
    /// Mean bytes that a young collection left in a survivor space. Absent: the whole space.
    #[serde(default)]
    pub survived_bytes: Option<f64>,
    #[serde(default)]
    pub old_free_bytes: Option<f64>,
    #[serde(default)]
    pub promoted_bytes_per_request: f64,
    #[serde(default)]
    pub live_bytes_after_old: Option<f64>,
    #[serde(default)]
    pub full_pause_ms_mean: Option<f64>,
    /// Bytes that a request in process keeps alive. Absent: derived from promoted bytes, if there are any.
    #[serde(default)]
    pub held_bytes_per_request: Option<f64>,
    /// Requests in process at a collection, and its pause.
    #[serde(default)]
    pub pauses_by_live: Vec<(f64, f64)>,
}

/// Resource that requests wait at or hold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resource {
    pub id: u32,
    pub kind: ResourceKind,
    #[serde(default)]
    pub name: String,
    /// Units of the resource. Absent: no limit was seen.
    #[serde(default)]
    pub parallelism: Option<u32>,
}

/// Kinds of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResourceKind {
    Lock,
    Pool,
    /// Executor: runs tasks of requests on its threads.
    Threads,
    Remote,
    Disk,
    Sleep,
    #[serde(other)]
    Other,
}

impl ResourceKind {
    /// Returns the word for messages and changes.
    pub fn name(self) -> &'static str {
        match self {
            ResourceKind::Lock => "lock",
            ResourceKind::Pool => "pool",
            ResourceKind::Threads => "threads",
            ResourceKind::Remote => "remote",
            ResourceKind::Disk => "disk",
            ResourceKind::Sleep => "sleep",
            ResourceKind::Other => "other",
        }
    }
}

/// Threads that serve requests.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Workers {
    #[serde(default)]
    pub name: String,
    /// Absent: unknown or without limit.
    #[serde(default)]
    pub limit: Option<u32>,
}

/// One measured request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Template {
    #[serde(default)]
    pub kind: u32,
    /// Measured duration, with its waiting.
    #[serde(default)]
    pub ms: f64,
    pub steps: Vec<Step>,
}

/// Standard deviation of the change among services, around none: what is known without a measurement.
const SCALING_SPREAD: f64 = 0.05;
/// Standard errors from which on a growth with the requests in process is one. Few services have it, and a false one
/// would change the peak by much.
const CLEAR: f64 = 5.0;
/// Growth for each request that matters.
const GROWTH_MIN: f64 = 0.01;

impl Cpu {
    /// Returns the change of processor time for each busy processor more, and its standard error.
    ///
    /// A measured change counts by its precision: one that is not better known than the spread among services
    /// would add more error than it removes.
    pub fn scaling_estimate(&self) -> Scaling {
        match self.scaling {
            Some(Scaling { per_busy, se, at_busy, .. }) => {
                let weight = SCALING_SPREAD.powi(2) / (SCALING_SPREAD.powi(2) + se.powi(2));
                Scaling { per_busy: per_busy * weight, se: se * weight.sqrt(), at_busy, requests: self.growth() }
            }
            None => Scaling { per_busy: 0.0, se: SCALING_SPREAD, at_busy: None, requests: None },
        }
    }

    /// Returns the growth of processor time with the requests in process, if it is clear.
    pub fn growth(&self) -> Option<Growth> {
        let growth = self.scaling?.requests?;
        (growth.per_request >= GROWTH_MIN.max(CLEAR * growth.se)).then_some(growth)
    }
}

impl Gc {
    /// Shortens pauses of young collections to what they take under load.
    ///
    /// While little runs, a pause also waits until sleeping threads of the collector are on a processor: 2.7 ms were
    /// measured at 30 % of the peak where 1.2 ms of work remained at the peak. Their processor time is the rest.
    fn shorten_pauses(&mut self, available: f64) {
        let collector = Collector::of(&self.collector);
        let working_ms = self.cpu_ms_per_request / collector.parallelism(available);
        if working_ms <= 0.0 || working_ms >= self.pause_ms_per_request {
            return;
        }
        let factor = working_ms / self.pause_ms_per_request;
        self.pause_ms_per_request = working_ms;
        self.pause_ms_mean = self.pause_ms_mean.map(|mean| mean * factor);
        self.pauses_by_live.iter_mut().for_each(|(_, pause)| *pause *= factor);
    }

    /// Returns the processor time of the collector beside the requests.
    pub fn concurrent_ms(&self, processors: f64) -> f64 {
        (self.cpu_ms_per_request - self.pause_ms_per_request * processors.max(1.0)).max(0.0)
    }
}

impl Demands {
    /// Returns the place of each resource by its id.
    pub fn index(&self) -> HashMap<u32, usize> {
        self.resources.iter().enumerate().map(|(at, resource)| (resource.id, at)).collect()
    }

    /// Returns the weight of each template, 1 on average: templates may be more or fewer of a kind than its requests.
    pub fn weights(&self) -> Vec<f64> {
        let kinds = &self.requests.kinds;
        let mut templates = vec![0.0; kinds.len()];
        for template in &self.templates {
            match templates.get_mut(template.kind as usize) {
                Some(count) => *count += 1.0,
                // Without its kind, the share of a template is unknown.
                None => return vec![1.0; self.templates.len()],
            }
        }
        let count = |at: usize| kinds[at].weight();
        let requests: f64 = (0..kinds.len()).filter(|at| templates[*at] > 0.0).map(count).sum();
        let all = self.templates.len() as f64;
        let weight = |at: usize| count(at) / requests.max(f64::MIN_POSITIVE) * all / templates[at];
        self.templates.iter().map(|template| weight(template.kind as usize)).collect()
    }

    /// Returns the mean over all requests of a number of each template.
    fn mean(&self, number: impl Fn(&Template) -> f64) -> f64 {
        let weighted = self.templates.iter().zip(self.weights()).map(|(template, weight)| weight * number(template));
        weighted.sum::<f64>() / self.templates.len().max(1) as f64
    }

    /// Returns the mean measured duration of a request; absent if the templates have none.
    pub fn measured_ms(&self) -> Option<f64> {
        Some(self.mean(|template| template.ms)).filter(|ms| *ms > 0.0)
    }

    /// Returns the mean processor milliseconds of the templates' steps.
    pub fn templates_cpu_ms(&self) -> f64 {
        self.mean(|template| cpu_ms(&template.steps))
    }
}

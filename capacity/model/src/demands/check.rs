//! Check of demands: sizes, numbers and references, so that the model can rely on them.

use std::collections::{HashMap, HashSet};

use yunti_base::{Code, Error, Result};

use super::{Demands, ResourceKind, Step};

/// Version of the format that this crate reads.
const VERSION: u32 = 1;
const TEMPLATES_MAX: usize = 100_000;
const RESOURCES_MAX: usize = 10_000;
const STEPS_MAX: usize = 5_000_000;
/// Tasks within tasks.
const DEPTH_MAX: usize = 16;
const NAME_BYTES_MAX: usize = 2_000;
/// Objects that requests hold.
const HELD_MAX: usize = 1_000;
/// Milliseconds of the longest step: three hours.
const MS_MAX: f64 = 1e7;
const BYTES_MAX: f64 = 1e15;
const PROCESSORS_MAX: f64 = 100_000.0;
const UNITS_MAX: u32 = 10_000_000;
/// Milliseconds of the least mean request: below it, nothing can be counted.
const REQUEST_MS_MIN: f64 = 1e-6;

/// Action of the user after an error in demands.
const HINT: &str = "run `yunti observe demands` again";

/// Returns the error of damaged or impossible demands.
pub(super) fn wrong(what: String) -> Error {
    Error::new(Code::Input, format!("demands: {what}")).hint(HINT)
}

/// Returns an error unless the demands are possible.
pub(super) fn check(demands: &Demands) -> Result<()> {
    if demands.version != VERSION {
        return Err(wrong(format!("version {} instead of {VERSION}", demands.version)));
    }
    sizes(demands)?;
    numbers(demands)?;
    let mut ids = HashSet::new();
    for resource in &demands.resources {
        if !ids.insert(resource.id) {
            return Err(wrong(format!("two resources have the id {}", resource.id)));
        }
        if resource.parallelism.is_some_and(|units| units == 0 || units > UNITS_MAX) {
            return Err(wrong(format!("resource {} ({}) has no usable parallelism", resource.id, resource.name)));
        }
    }
    let (index, mut total) = (demands.index(), Total::default());
    for (n, template) in demands.templates.iter().enumerate() {
        within(template.ms, MS_MAX, "ms").map_err(|error| error.within(&format!("template {n}")))?;
        Walk::new(demands, &index, &mut total)
            .template(&template.steps)
            .map_err(|what| wrong(format!("template {n} {what}")))?;
    }
    if total.ms / (demands.templates.len() as f64) < REQUEST_MS_MIN {
        return Err(wrong("the templates take no time".to_string()));
    }
    Ok(())
}

fn sizes(demands: &Demands) -> Result<()> {
    if demands.templates.is_empty() {
        return Err(Error::new(Code::Input, "demands: no request was measured")
            .hint("measure while there is traffic, or send some: --load URL"));
    }
    if demands.templates.len() > TEMPLATES_MAX {
        return Err(wrong(format!("more than {TEMPLATES_MAX} templates")));
    }
    if demands.resources.len() > RESOURCES_MAX {
        return Err(wrong(format!("more than {RESOURCES_MAX} resources")));
    }
    let names = demands.resources.iter().map(|r| &r.name).chain(demands.requests.kinds.iter().map(|kind| &kind.name));
    if names.chain([&demands.workers.name, &demands.process.name]).any(|name| name.len() > NAME_BYTES_MAX) {
        return Err(wrong(format!("a name of more than {NAME_BYTES_MAX} bytes")));
    }
    Ok(())
}

fn numbers(demands: &Demands) -> Result<()> {
    let processors = &demands.processors;
    within(processors.count, PROCESSORS_MAX, "processors.count")?;
    if processors.count < 0.01 {
        return Err(wrong("processors.count is 0".to_string()));
    }
    within(processors.used_by_others, PROCESSORS_MAX, "processors.used_by_others")?;
    within(processors.steal, PROCESSORS_MAX, "processors.steal")?;
    within(demands.seconds, 1e9, "seconds")?;
    within(demands.requests.per_second, 1e9, "requests.per_second")?;
    for bytes in demands.requests.kinds.iter().filter_map(|kind| kind.allocated_bytes) {
        within(bytes, BYTES_MAX, "requests.kinds.allocated_bytes")?;
    }
    if demands.workers.limit.is_some_and(|limit| limit == 0 || limit > UNITS_MAX) {
        return Err(wrong("workers.limit is out of range".to_string()));
    }
    let cpu = &demands.cpu;
    for (name, ms) in [
        ("cpu.measured_ms", cpu.measured_ms),
        ("cpu.templates_ms", cpu.templates_ms),
        ("cpu.side_ms", cpu.side_ms),
        ("cpu.peers_ms", cpu.peers_ms),
        ("cpu.compiler_ms", cpu.compiler_ms),
    ] {
        within(ms.unwrap_or(0.0), MS_MAX, name)?;
    }
    if let Some(scaling) = &cpu.scaling {
        within(scaling.per_busy.abs(), 10.0, "cpu.scaling.per_busy")?;
        within(scaling.se, 1e6, "cpu.scaling.se")?;
        within(scaling.at_busy.unwrap_or(0.0), PROCESSORS_MAX, "cpu.scaling.at_busy")?;
        let growth = scaling.requests.unwrap_or_default();
        within(growth.per_request.abs(), 10.0, "cpu.scaling.requests.per_request")?;
        within(growth.se, 1e6, "cpu.scaling.requests.se")?;
        within(growth.at_requests, 1e7, "cpu.scaling.requests.at_requests")?;
    }
    for (n, seconds, departures) in &demands.in_process {
        within(f64::from(*n), 1e7, "in_process")?;
        within(*seconds, 1e9, "in_process")?;
        within(*departures, 1e12, "in_process")?;
    }
    demands.gc.as_ref().map_or(Ok(()), collections)?;
    demands.held.as_ref().map_or(Ok(()), held)
}

fn held(held: &super::Held) -> Result<()> {
    if held.objects.len() > HELD_MAX || held.in_process > UNITS_MAX || held.waiting > held.in_process {
        return Err(wrong("held has impossible numbers".to_string()));
    }
    within(held.dump_bytes, BYTES_MAX, "held.dump_bytes")?;
    held.stopped_seconds.iter().try_for_each(|seconds| within(*seconds, 1e6, "held.stopped_seconds"))?;
    for object in &held.objects {
        within(object.bytes, BYTES_MAX, "held.objects.bytes")?;
        let names = [&object.class, &object.held_in, &object.call].into_iter().chain(&object.handed_to);
        if names.into_iter().any(|name| name.len() > NAME_BYTES_MAX) {
            return Err(wrong(format!("a name of more than {NAME_BYTES_MAX} bytes")));
        }
    }
    Ok(())
}

fn collections(gc: &super::Gc) -> Result<()> {
    for (name, ms) in [
        ("gc.pause_ms_per_request", gc.pause_ms_per_request),
        ("gc.cpu_ms_per_request", gc.cpu_ms_per_request),
        ("gc.collections_per_request", gc.collections_per_request),
        ("gc.stall_ms_per_request", gc.stall_ms_per_request.unwrap_or(0.0)),
        ("gc.pause_ms_mean", gc.pause_ms_mean.unwrap_or(0.0)),
        ("gc.full_pause_ms_mean", gc.full_pause_ms_mean.unwrap_or(0.0)),
    ] {
        within(ms, MS_MAX, name)?;
    }
    for (name, bytes) in [
        ("gc.allocated_bytes_per_request", Some(gc.allocated_bytes_per_request)),
        ("gc.promoted_bytes_per_request", Some(gc.promoted_bytes_per_request)),
        ("gc.eden_bytes", gc.eden_bytes),
        ("gc.heap_bytes", gc.heap_bytes),
        ("gc.young_bytes", gc.young_bytes),
        ("gc.survivor_bytes", gc.survivor_bytes),
        ("gc.survived_bytes", gc.survived_bytes),
        ("gc.old_free_bytes", gc.old_free_bytes),
        ("gc.live_bytes_after_old", gc.live_bytes_after_old),
        ("gc.held_bytes_per_request", gc.held_bytes_per_request),
    ] {
        within(bytes.unwrap_or(0.0), BYTES_MAX, name)?;
    }
    for (n, pause) in &gc.pauses_by_live {
        within(*n, 1e7, "gc.pauses_by_live")?;
        within(*pause, MS_MAX, "gc.pauses_by_live")?;
    }
    Ok(())
}

/// Returns an error unless a number is between 0 and a limit.
fn within(value: f64, max: f64, name: &str) -> Result<()> {
    if (0.0..=max).contains(&value) { Ok(()) } else { Err(wrong(format!("{name} is {value}, not within 0 and {max}"))) }
}

/// Sums over all templates.
#[derive(Default)]
struct Total {
    steps: usize,
    ms: f64,
}

/// Walk over the steps of one template. Its errors are the end of a sentence that begins with the template.
struct Walk<'a> {
    demands: &'a Demands,
    index: &'a HashMap<u32, usize>,
    total: &'a mut Total,
    tasks: HashSet<u32>,
    /// Acquired minus released units, by resource.
    held: HashMap<u32, i64>,
}

impl<'a> Walk<'a> {
    fn new(demands: &'a Demands, index: &'a HashMap<u32, usize>, total: &'a mut Total) -> Self {
        Walk { demands, index, total, tasks: HashSet::new(), held: HashMap::new() }
    }

    fn template(&mut self, steps: &[Step]) -> std::result::Result<(), String> {
        self.steps(steps, 0)?;
        match self.held.iter().filter(|(_, held)| **held < 0).map(|(resource, _)| *resource).min() {
            Some(resource) => Err(format!("releases resource {resource} more often than it acquires it")),
            None => Ok(()),
        }
    }

    fn steps(&mut self, steps: &[Step], depth: usize) -> std::result::Result<(), String> {
        if depth > DEPTH_MAX {
            return Err(format!("has tasks within tasks, more than {DEPTH_MAX} deep"));
        }
        self.total.steps += steps.len();
        if self.total.steps > STEPS_MAX {
            return Err(format!("is beyond the limit of {STEPS_MAX} steps"));
        }
        for step in steps {
            match step {
                Step::Cpu(ms) => self.ms(*ms)?,
                Step::Wait { resource, ms } => {
                    self.resource(*resource)?;
                    self.ms(*ms)?;
                }
                Step::Acquire(resource) | Step::Share(resource) => {
                    self.resource(*resource)?;
                    *self.held.entry(*resource).or_default() += 1;
                }
                Step::Release(resource) => {
                    self.resource(*resource)?;
                    *self.held.entry(*resource).or_default() -= 1;
                }
                Step::Spawn { task, on, steps } => {
                    if let Some(on) = on
                        && self.resource(*on)? != ResourceKind::Threads
                    {
                        return Err(format!("runs task {task} on resource {on}, which has no threads"));
                    }
                    if !self.tasks.insert(*task) {
                        return Err(format!("has two tasks with the number {task}"));
                    }
                    self.steps(steps, depth + 1)?;
                }
                Step::Join(tasks) => {
                    self.total.steps += tasks.len();
                    if let Some(task) = tasks.iter().find(|task| !self.tasks.contains(task)) {
                        return Err(format!("joins task {task}, which it has not begun"));
                    }
                }
            }
        }
        Ok(())
    }

    fn resource(&self, id: u32) -> std::result::Result<ResourceKind, String> {
        match self.index.get(&id) {
            Some(at) => Ok(self.demands.resources[*at].kind),
            None => Err(format!("names resource {id}, which is not in the list")),
        }
    }

    fn ms(&mut self, ms: f64) -> std::result::Result<(), String> {
        if !(0.0..=MS_MAX).contains(&ms) {
            return Err(format!("has a step of {ms} ms"));
        }
        self.total.ms += ms;
        Ok(())
    }
}

//! Document of demands.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use yunti_probe::target::Process;

use super::collections;
use super::evidence::{Evidence, Runtime};
use super::measure::baseline::Baseline;
use super::request::steps::{Builder, Step, Used, cpu_ms};
use super::request::work::{Span, Work};
use super::request::{means, scaling, steps};
use super::resources::{Resource, Resources};

/// Requests of the document, each with its steps.
const TEMPLATES_MAX: usize = 3000;
/// Groups of threads of the document.
const GROUPS_MAX: usize = 12;

/// Share of the requests on connections that threads must show for a request to be known step by step.
const SHOWN_MIN: f64 = 0.7;

/// Requests on connections from which on they are a count to compare with; and calls relative to them that are too
/// many.
const COUNT_MIN: f64 = 50.0;
const TOO_MANY: f64 = 1.4;

/// Returns the document of a process's demands.
pub fn document(evidence: &mut Evidence, process: &Process, baseline: Baseline) -> Value {
    means::add_objects(evidence);
    let mean = if evidence.runtime == Runtime::Jvm { None } else { means::mean_request(evidence) };
    let evidence = &*evidence;
    let mut work = Work::of(&evidence.timelines, &evidence.places);
    let on_connections = evidence.requests.as_ref().map_or(0.0, |requests| requests.inbound.requests);
    drop_hand_overs(&mut work, evidence, on_connections);
    let whole: Vec<Span> = work
        .requests
        .iter()
        .filter(|span| span.begin_ns >= evidence.begin_ns && span.end_ns <= evidence.end_ns)
        .copied()
        .collect();
    let builder = Builder::new(evidence, &work);
    let used = &evidence.processors;
    let seconds = used.seconds.max(0.001);
    let ended = work.requests.iter().filter(|span| span.end_ns > evidence.begin_ns && span.end_ns <= evidence.end_ns);
    let count = ended.count();
    let mean = mean.filter(|_| (count as f64) < on_connections * SHOWN_MIN);
    let counted = if mean.is_some() { on_connections } else { count as f64 };
    let requests = counted.max(1.0);
    let chosen = if mean.is_some() { Vec::new() } else { evenly(&whole, TEMPLATES_MAX) };
    let mut steps: Vec<Vec<Step>> = chosen.iter().map(|span| builder.steps(span)).chain(mean).collect();
    if let Some((lock, _)) = means::runtime_lock(evidence.runtime) {
        steps = steps.into_iter().map(|steps| means::under_lock(steps, lock)).collect();
    }
    if chosen.iter().filter(|span| evidence.timelines[span.thread].is_virtual).count() * 2 > chosen.len() {
        steps::divide(&mut steps, used.program * 1e3 / requests);
    }
    let durations_ms: Vec<f64> = match &evidence.requests {
        Some(requests) if chosen.is_empty() => vec![requests.inbound.mean_seconds * 1e3],
        _ => chosen.iter().map(|span| (span.end_ns - span.begin_ns) as f64 / 1e6).collect(),
    };
    let resources = Resources::of(&mut steps, &builder, evidence, used.processors);
    let templates_ms = steps.iter().map(|steps| cpu_ms(steps)).sum::<f64>() / steps.len().max(1) as f64;
    let with_measurement_ms = used.program * 1e3 / requests;
    let measured_ms = baseline.cpu_ms.map_or(with_measurement_ms, |alone| alone.min(with_measurement_ms));
    let templates_ms = templates_ms * measured_ms / with_measurement_ms.max(1e-9);
    let under_way = UnderWay::of(&work.requests, evidence.begin_ns, evidence.end_ns);
    let workers = workers(&whole, evidence, &resources);
    let named = |(id, resource): (usize, &Resource)| json!({"id": id, "kind": resource.kind, "name": resource.name, "parallelism": resource.parallelism});
    without_nulls(json!({
        "version": 1,
        "seconds": seconds,
        "process": {"pid": process.pid, "name": process.name, "runtime": evidence.runtime.name()},
        "requests": {"count": counted.round() as u64, "per_second": counted / seconds, "is_mean": chosen.is_empty(),
            "mean_ms": durations_ms.iter().sum::<f64>() / durations_ms.len().max(1) as f64,
            "by_connections": evidence.requests.as_ref().map(|requests| json!({
                "count": requests.inbound.requests, "mean_ms": requests.inbound.mean_seconds * 1e3,
                "under_way": requests.inbound.under_way, "connections": requests.inbound.connections}))},
        "processors": {"count": used.processors, "steal": used.steal / seconds,
            "used_by_others": ((used.busy - used.program - used.compiler - used.collector - used.ours
                - evidence.peers_seconds) / seconds).max(0.0)},
        "cpu": {
            "measured_ms": measured_ms,
            "with_measurement_ms": with_measurement_ms,
            "templates_ms": templates_ms,
            "side_ms": (measured_ms - templates_ms).max(0.0),
            "peers_ms": evidence.peers_seconds * 1e3 / requests,
            "scaling": scaling::scaling(&chosen, &work, evidence),
            "compiler_ms": used.compiler * 1e3 / requests,
            "by_group": used.by_group.iter().take(GROUPS_MAX)
                .map(|(name, seconds)| json!({"name": name, "ms": seconds * 1e3 / requests})).collect::<Vec<_>>(),
        },
        "gc": collections::facts(evidence, requests, |at| under_way.at(at)),
        "resources": resources.all.iter().enumerate().map(named).collect::<Vec<_>>(),
        "workers": workers,
        "units": evidence.groups.facts().iter().take(GROUPS_MAX).map(|group|
            json!({"name": group.name, "units": group.units, "is_fixed": group.is_fixed, "at_work": group.at_work})).collect::<Vec<_>>(),
        "in_process": under_way.by_number(),
        "templates": durations_ms.iter().zip(&steps).map(|(ms, steps)| json!({
            "kind": 0,
            "ms": rounded(*ms),
            "steps": steps.iter().map(|step| of_step(step, &resources)).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    }))
}

/// Removes calls that only hand a request over to another thread, where the same method is called again.
///
/// If there are more calls than requests on connections, the threads with the longest calls have the requests.
fn drop_hand_overs(work: &mut Work, evidence: &Evidence, on_connections: f64) {
    let within = |span: &&Span| span.end_ns > evidence.begin_ns && span.end_ns <= evidence.end_ns;
    if on_connections < COUNT_MIN || (work.requests.iter().filter(within).count() as f64) < on_connections * TOO_MANY {
        return;
    }
    let group = |span: &Span| super::measure::processors::group(&evidence.timelines[span.thread].name);
    let mut groups: BTreeMap<String, (f64, u64)> = BTreeMap::new();
    for span in work.requests.iter().filter(within) {
        let (count, ns) = groups.entry(group(span)).or_default();
        *count += 1.0;
        *ns += span.end_ns - span.begin_ns;
    }
    let mut groups: Vec<(String, f64, f64)> =
        groups.into_iter().map(|(name, (count, ns))| (name, count, ns as f64 / count)).collect();
    groups.sort_by(|a, b| b.2.total_cmp(&a.2));
    let mut kept: Vec<String> = Vec::new();
    let mut count = 0.0;
    for (name, calls, _) in groups {
        if count < on_connections * SHOWN_MIN {
            count += calls;
            kept.push(name);
        }
    }
    work.requests.retain(|span| kept.contains(&group(span)));
}

/// Leaves out what is not known.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            fields.into_iter().filter(|(_, v)| !v.is_null()).map(|(key, v)| (key, without_nulls(v))).collect()
        }
        Value::Array(all) => all.into_iter().map(without_nulls).collect(),
        value => value,
    }
}

/// Returns at most this many of a list, evenly spread.
fn evenly(all: &[Span], most: usize) -> Vec<Span> {
    let step = (all.len() as f64 / most as f64).max(1.0);
    (0..all.len().min(most)).map(|i| all[(i as f64 * step) as usize]).collect()
}

/// Returns microseconds as milliseconds.
fn rounded(ms: f64) -> f64 {
    (ms * 1e3).round() / 1e3
}

fn of_step(step: &Step, resources: &Resources) -> Value {
    match step {
        Step::Cpu(ms) => json!(["cpu", rounded(*ms)]),
        Step::Wait(used, ms) => json!(["wait", resources.number(*used), rounded(*ms)]),
        Step::Acquire(object) => json!(["acquire", resources.number(Used::Object(*object))]),
        Step::Release(object) => json!(["release", resources.number(Used::Object(*object))]),
        Step::Spawn(task, threads, steps) => json!([
            "spawn",
            task,
            resources.number(*threads),
            steps.iter().map(|step| of_step(step, resources)).collect::<Vec<_>>()
        ]),
        Step::Join(tasks) => json!(["join", tasks]),
    }
}

/// Returns the threads that serve requests, with their limit.
fn workers(requests: &[Span], evidence: &Evidence, resources: &Resources) -> Value {
    let mut pools: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    requests.iter().for_each(|span| *pools.entry(span.pool).or_default() += 1);
    let most = pools.into_iter().max_by_key(|(_, count)| *count).and_then(|(pool, _)| pool);
    let thread = requests.first().map(|span| super::measure::processors::group(&evidence.timelines[span.thread].name));
    let limit = most.and_then(|pool| evidence.places.object(pool)).and_then(|object| object.size);
    let _ = resources;
    json!({"name": thread, "limit": limit.filter(|limit| *limit < 1_000_000)})
}

/// Requests under way over the time.
struct UnderWay {
    /// Time, and requests under way from it on.
    changes: Vec<(u64, usize)>,
    /// Seconds and departures by requests under way.
    by_number: BTreeMap<usize, (f64, u64)>,
}

impl UnderWay {
    fn of(requests: &[Span], from: u64, to: u64) -> UnderWay {
        let mut edges: Vec<(u64, bool)> = Vec::with_capacity(requests.len() * 2);
        for span in requests {
            edges.push((span.begin_ns, true));
            edges.push((span.end_ns, false));
        }
        edges.sort_unstable();
        let mut under_way = UnderWay { changes: vec![(0, 0)], by_number: BTreeMap::new() };
        let (mut now, mut at) = (0_usize, from);
        for (time, is_begin) in edges {
            if time > from && time <= to {
                let entry = under_way.by_number.entry(now).or_default();
                entry.0 += time.saturating_sub(at) as f64 / 1e9;
                entry.1 += u64::from(!is_begin);
                at = time;
            }
            now = if is_begin { now + 1 } else { now.saturating_sub(1) };
            under_way.changes.push((time, now));
        }
        under_way
    }

    fn at(&self, time: u64) -> usize {
        let after = self.changes.partition_point(|(at, _)| *at <= time);
        after.checked_sub(1).map_or(0, |last| self.changes[last].1)
    }

    fn by_number(&self) -> Vec<Value> {
        self.by_number.iter().map(|(n, (seconds, departures))| json!([n, seconds, departures])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_under_way() {
        let span = |begin_ns, end_ns| Span { thread: 0, begin_ns, end_ns, pool: None };
        let under_way = UnderWay::of(&[span(0, 4_000_000_000), span(1_000_000_000, 3_000_000_000)], 0, 10_000_000_000);
        assert_eq!((under_way.at(500_000_000), under_way.at(2_000_000_000), under_way.at(5_000_000_000)), (1, 2, 0));
        assert_eq!(under_way.by_number[&1], (2.0, 1));
        assert_eq!(under_way.by_number[&2], (2.0, 1));
    }

    #[test]
    fn chooses_evenly() {
        let span = |begin_ns| Span { thread: 0, begin_ns, end_ns: begin_ns, pool: None };
        let all: Vec<Span> = (0..10).map(span).collect();
        let begins = |most| evenly(&all, most).iter().map(|span| span.begin_ns).collect::<Vec<_>>();
        assert_eq!((begins(4), begins(20).len()), (vec![0, 2, 5, 7], 10));
    }
}

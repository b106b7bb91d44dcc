//! Document of demands.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use yunti_probe::target::Process;

use super::collections;
use super::evidence::{Evidence, Runtime};
use super::measure::baseline::Baseline;
use super::measure::processors::group;
use super::request::kinds::Kinds;
use super::request::requests::Request;
use super::request::steps::{Builder, Step, Used, cpu_ms};
use super::request::under_way::UnderWay;
use super::request::work::{SHOWN_MIN, Work};
use super::request::{elsewhere, means, scaling, steps};
use super::resources::{Resource, Resources};

/// Requests of the document, each with its steps.
const TEMPLATES_MAX: usize = 3000;
/// Requests of a rare kind in it, at least.
const OF_KIND_MIN: usize = 50;
/// Groups of threads of the document.
const GROUPS_MAX: usize = 12;

/// Returns the document of a process's demands.
pub fn document(evidence: &mut Evidence, process: &Process, baseline: Baseline) -> Value {
    means::add_objects(evidence);
    let mean = if evidence.runtime == Runtime::Jvm { None } else { means::mean_request(evidence) };
    let evidence = &*evidence;
    let mut work = Work::of(&evidence.timelines, &evidence.places);
    let on_connections = evidence.requests.as_ref().map_or(0.0, |requests| requests.inbound.requests);
    let time = evidence.begin_ns..=evidence.end_ns;
    work.drop_hand_overs(&evidence.timelines, &time, on_connections);
    let whole: Vec<&Request> =
        work.ended_within(&time).filter(|request| request.begin_ns >= evidence.begin_ns).collect();
    let builder = Builder::new(evidence, &work);
    let used = &evidence.processors;
    let seconds = used.seconds.max(0.001);
    let count = work.ended_within(&time).count() as f64;
    let mean = mean.filter(|_| count < on_connections * SHOWN_MIN);
    let counted = if mean.is_some() { on_connections } else { count };
    let requests = counted.max(1.0);
    let kinds = Kinds::of(&evidence.names, work.ended_within(&time).map(|request| request.name));
    let chosen = if mean.is_some() { Vec::new() } else { chosen(&whole, &kinds) };
    let is_elsewhere = chosen.iter().any(|request| request.goes_on());
    let of_chosen = chosen.iter().map(|request| match is_elsewhere {
        true => elsewhere::steps(&builder, request),
        false => builder.steps(request),
    });
    let mut steps: Vec<Vec<Step>> = of_chosen.chain(mean).collect();
    if let Some((lock, _)) = means::runtime_lock(evidence.runtime) {
        steps = steps.into_iter().map(|steps| means::under_lock(steps, lock)).collect();
    }
    if chosen.iter().filter(|request| evidence.timelines[request.first().thread].is_virtual).count() * 2 > chosen.len()
    {
        steps::divide(&mut steps, used.program * 1e3 / requests);
    }
    let durations_ms: Vec<f64> = match &evidence.requests {
        Some(requests) if chosen.is_empty() => vec![requests.inbound.mean_seconds * 1e3],
        _ => chosen.iter().map(|request| (request.end_ns - request.begin_ns) as f64 / 1e6).collect(),
    };
    let resources = Resources::of(&mut steps, &builder, evidence, used.processors);
    let templates_ms = steps.iter().map(|steps| cpu_ms(steps)).sum::<f64>() / steps.len().max(1) as f64;
    let with_measurement_ms = used.program * 1e3 / requests;
    let measured_ms = baseline.cpu_ms.map_or(with_measurement_ms, |alone| alone.min(with_measurement_ms));
    let templates_ms = templates_ms * measured_ms / with_measurement_ms.max(1e-9);
    let under_way = UnderWay::of(&work.requests, evidence.begin_ns, evidence.end_ns);
    let workers = if is_elsewhere { Value::Null } else { workers(&whole, evidence) };
    // Without a request that is named, kinds say nothing.
    let has_kinds = chosen.iter().any(|request| request.name.is_some());
    let allocated = allocated(&builder, &whole, &kinds);
    let listed = kinds.list.iter().zip(allocated).filter(|_| has_kinds);
    let named = |(id, resource): (usize, &Resource)| json!({"id": id, "kind": resource.kind, "name": resource.name, "parallelism": resource.parallelism});
    without_nulls(json!({
        "version": 1,
        "seconds": seconds,
        "process": {"pid": process.pid, "name": process.name, "runtime": evidence.runtime.name()},
        "requests": {"count": counted.round() as u64, "per_second": counted / seconds, "is_mean": chosen.is_empty(),
            "kinds": listed.map(|((name, count), bytes)|
                json!({"name": name, "count": count, "allocated_bytes": bytes})).collect::<Vec<_>>(),
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
        "in_process": under_way.by_number().collect::<Vec<_>>(),
        "templates": durations_ms.iter().zip(&steps).enumerate().map(|(at, (ms, steps))| json!({
            "kind": chosen.get(at).filter(|_| has_kinds).map_or(0, |request| kinds.place(request.name)),
            "ms": rounded(*ms),
            "steps": steps.iter().map(|step| of_step(step, &resources)).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    }))
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

/// Returns the requests of the document, evenly spread over the time: of each kind its share, and some of a rare one.
fn chosen<'a>(all: &[&'a Request], kinds: &Kinds) -> Vec<&'a Request> {
    let mut of_kinds: BTreeMap<usize, Vec<&'a Request>> = BTreeMap::new();
    all.iter().for_each(|request| of_kinds.entry(kinds.place(request.name)).or_default().push(request));
    let share = TEMPLATES_MAX as f64 / all.len().max(TEMPLATES_MAX) as f64;
    let most = |count: usize| ((count as f64 * share) as usize).max(OF_KIND_MIN);
    let mut chosen: Vec<&Request> = of_kinds.values().flat_map(|some| evenly(some, most(some.len()))).collect();
    chosen.sort_by_key(|request| request.begin_ns);
    chosen
}

/// Returns at most this many of a list, evenly spread.
fn evenly<'a>(all: &[&'a Request], most: usize) -> Vec<&'a Request> {
    let step = (all.len() as f64 / most as f64).max(1.0);
    (0..all.len().min(most)).map(|i| all[(i as f64 * step) as usize]).collect()
}

/// Returns the mean bytes that a request of each kind allocates, as far as they are known.
fn allocated(builder: &Builder<'_>, requests: &[&Request], kinds: &Kinds) -> Vec<Option<f64>> {
    let mut sums = vec![(0.0, 0.0); kinds.list.len()];
    for request in requests {
        let (Some(bytes), Some((sum, count))) = (builder.allocated(request), sums.get_mut(kinds.place(request.name)))
        else {
            continue;
        };
        *sum += bytes as f64;
        *count += 1.0;
    }
    sums.into_iter().map(|(sum, count)| Some(sum / count).filter(|_| count > 0.0).map(f64::round)).collect()
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
        Step::Share(object) => json!(["acquire", resources.number(Used::Object(*object)), "shared"]),
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
fn workers(requests: &[&Request], evidence: &Evidence) -> Value {
    let mut pools: BTreeMap<Option<u32>, usize> = BTreeMap::new();
    requests.iter().for_each(|request| *pools.entry(request.first().pool).or_default() += 1);
    let most = pools.into_iter().max_by_key(|(_, count)| *count).and_then(|(pool, _)| pool);
    let thread = requests.first().map(|request| group(&evidence.timelines[request.first().thread].name));
    let limit = most.and_then(|pool| evidence.places.object(pool)).and_then(|object| object.size);
    json!({"name": thread, "limit": limit.filter(|limit| *limit < 1_000_000)})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demands::request::timeline::Span;

    #[test]
    fn chooses_evenly() {
        let span = |begin_ns| Span { thread: 0, begin_ns, end_ns: begin_ns, pool: None };
        let all: Vec<Request> = (0..10).map(|at| Request::on_one_thread(span(at), None)).collect();
        let all: Vec<&Request> = all.iter().collect();
        let begins = |most| evenly(&all, most).iter().map(|request| request.begin_ns).collect::<Vec<_>>();
        assert_eq!((begins(4), begins(20).len()), (vec![0, 2, 5, 7], 10));
    }
}

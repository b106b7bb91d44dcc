//! Report of control groups: one line, tables and JSON.

use serde_json::{Value, json};

use super::Sort;
use super::counters::Memory;
use super::instance::Instance;
use super::sample::{CgroupSample, is_wanted};
use yunti_probe::answer::{Answer, Table, bytes, percent, time};

const SHOWN: usize = 20;
/// Thresholds of the first line: processors used, share of periods throttled, threads in the run queue, refaulted
/// pages a second.
const USED_NOTED: f64 = 0.01;
const THROTTLED_NOTED: f64 = 0.05;
const WAITED_NOTED: f64 = 0.2;
const REFAULTS_NOTED: f64 = 100.0;

/// Adds the report to `answer`, and returns its JSON.
pub fn report(sample: &CgroupSample, only: &[String], sort: Sort, answer: &mut Answer) -> Value {
    let mut instances: Vec<&Instance> =
        sample.instances.iter().filter(|instance| is_wanted(&instance.path, &instance.name, only)).collect();
    instances.sort_by(|a, b| by(b, sort).total_cmp(&by(a, sort)).then_with(|| a.name.cmp(&b.name)));
    answer.lead = lead(&instances, answer.seconds);
    answer.notes.push("Each row includes the groups below it.".to_owned());
    processors(&instances, answer);
    memory(&instances, answer);
    io(&instances, answer);
    pressure(&instances, answer);
    json!({ "groups": instances.iter().map(|instance| json_of(instance)).collect::<Vec<_>>() })
}

/// Returns the figure that rows are sorted by.
pub fn by(instance: &Instance, sort: Sort) -> f64 {
    match sort {
        Sort::Cpu => instance.cpu_seconds,
        Sort::Wait => instance.threads.waited_ns as f64,
        Sort::Switches => instance.threads.switches() as f64,
        Sort::Throttled => instance.throttled_seconds,
        Sort::Memory => instance.memory.as_ref().map_or(0.0, |memory| memory.used as f64),
        Sort::Io => instance.io_bytes() as f64,
    }
}

fn lead(instances: &[&Instance], seconds: f64) -> String {
    let seconds = seconds.max(0.001);
    let inner: Vec<&&Instance> = instances.iter().filter(|instance| instance.path.parent().is_some()).collect();
    let most = inner.iter().max_by(|a, b| a.cpu_seconds.total_cmp(&b.cpu_seconds));
    let all = instances.iter().find(|instance| instance.path.parent().is_none());
    let mut parts = vec![match (most.filter(|most| most.cpu_seconds / seconds >= USED_NOTED), all) {
        (Some(most), _) => format!("{} uses most: {:.2} processors", most.name, most.cpu_seconds / seconds),
        (None, Some(all)) => {
            format!("all use {:.2} processors, single groups almost none", all.cpu_seconds / seconds)
        }
        (None, None) => "almost no processor time was used".to_owned(),
    }];
    let worst = |value: fn(&Instance) -> f64| {
        inner.iter().max_by(|a, b| value(a).total_cmp(&value(b))).map(|instance| (*instance, value(instance)))
    };
    if let Some((instance, share)) = worst(Instance::throttled_share).filter(|(_, share)| *share >= THROTTLED_NOTED) {
        parts.push(format!(
            "{} was throttled in {} of its periods, quota {:.2}",
            instance.name,
            percent((share * 1000.0) as u64, 1000),
            instance.quota.unwrap_or(0.0)
        ));
    }
    let waited = |instance: &Instance| instance.threads.waited_ns as f64 / 1e9;
    if let Some((instance, waited)) = worst(waited).filter(|(_, waited)| waited / seconds >= WAITED_NOTED) {
        parts.push(format!("{} waited in the run queue, {:.1} threads on average", instance.name, waited / seconds));
    }
    let refaults = |instance: &Instance| instance.refaults as f64;
    if let Some((instance, count)) = worst(refaults).filter(|(_, count)| count / seconds >= REFAULTS_NOTED) {
        parts.push(format!("{} reads evicted pages back, {:.0} pages/s", instance.name, count / seconds));
    }
    parts.join("; ") + "."
}

fn named(instance: &Instance) -> String {
    if instance.has_ended { format!("{} (ended)", instance.name) } else { instance.name.clone() }
}

fn processors(instances: &[&Instance], answer: &mut Answer) {
    let seconds = answer.seconds.max(0.001);
    let rows = instances.iter().map(|instance| {
        let threads = &instance.threads;
        vec![
            format!("{:.2}", instance.cpu_seconds / seconds),
            instance.quota.map_or("-".to_owned(), |quota| format!("{quota:.2}")),
            match instance.periods {
                0 => "-".to_owned(),
                periods => percent(instance.throttled_periods, periods),
            },
            if instance.throttled_seconds > 0.0 {
                time((instance.throttled_seconds * 1e9) as u64)
            } else {
                "-".to_owned()
            },
            format!("{:.2}", threads.waited_ns as f64 / 1e9 / seconds),
            format!("{:.0}", threads.voluntary_switches as f64 / seconds),
            format!("{:.0}", threads.involuntary_switches as f64 / seconds),
            named(instance),
        ]
    });
    let columns = ["processors", "quota", "throttled", "stopped for", "run queue", "switches/s", "forced/s"];
    answer.tables.push(table("Processors", &columns, rows.collect()));
}

/// Returns the live table of the last second: the most useful columns, narrow enough for a terminal.
pub fn live_table(instances: &[Instance], seconds: f64, rows: usize) -> Table {
    let seconds = seconds.max(0.001);
    let of = |instance: &Instance| {
        let threads = &instance.threads;
        let memory = |of: fn(&Memory) -> u64| instance.memory.as_ref().map_or("-".to_owned(), |m| bytes(of(m)));
        vec![
            format!("{:.2}", instance.cpu_seconds / seconds),
            if instance.periods == 0 { "-".to_owned() } else { percent(instance.throttled_periods, instance.periods) },
            format!("{:.2}", threads.waited_ns as f64 / 1e9 / seconds),
            format!("{:.0}", threads.switches() as f64 / seconds),
            memory(|m| m.used),
            memory(|m| m.file),
            format!("{:.0}", instance.refaults as f64 / seconds),
            bytes((instance.io_bytes() as f64 / seconds) as u64),
            named(instance),
        ]
    };
    let columns = ["cpus", "throttled", "run queue", "switch/s", "memory", "cache", "refault/s", "I/O/s"];
    Table { shown: rows, ..table("", &columns, instances.iter().map(of).collect()) }
}

fn memory(instances: &[&Instance], answer: &mut Answer) {
    let seconds = answer.seconds.max(0.001);
    let rows = instances.iter().filter_map(|instance| {
        let memory = instance.memory.as_ref()?;
        Some(vec![
            bytes(memory.used),
            memory.limit.map_or("-".to_owned(), bytes),
            bytes(memory.anonymous),
            if instance.is_job { "-".to_owned() } else { bytes(memory.file) },
            instance.shared_bytes.map_or("-".to_owned(), bytes),
            bytes(memory.shared_memory),
            format!("{:.0}", instance.refaults as f64 / seconds),
            named(instance),
        ])
    });
    let columns = ["memory", "limit", "anonymous", "page cache", "shared with others", "shared memory", "refaults/s"];
    answer.tables.push(table("Memory", &columns, rows.collect()));
}

fn io(instances: &[&Instance], answer: &mut Answer) {
    let seconds = answer.seconds.max(0.001);
    let rate = |amount: u64| format!("{}/s", bytes((amount as f64 / seconds) as u64));
    let rows = instances.iter().filter(|instance| instance.io_bytes() > 0).map(|instance| {
        let requests = &instance.requests;
        let count = requests.reads + requests.writes;
        let mean = |sum: u64| if sum == 0 { "-".to_owned() } else { time(sum / count.max(1)) };
        vec![
            rate(requests.read_bytes),
            rate(requests.written_bytes),
            format!("{:.0}", count as f64 / seconds),
            mean(requests.queued_ns),
            mean(requests.device_ns),
            named(instance),
        ]
    });
    let columns = ["read", "written", "requests/s", "in the queue", "in the device"];
    answer.tables.push(table("I/O of devices", &columns, rows.collect()));
}

fn pressure(instances: &[&Instance], answer: &mut Answer) {
    let seconds = answer.seconds.max(0.001);
    let share = |waited: f64| format!("{:.1} %", waited / seconds * 100.0);
    let rows: Vec<Vec<String>> = instances
        .iter()
        .filter_map(|instance| {
            let pressure = instance.pressure?;
            Some(vec![share(pressure.cpu), share(pressure.memory), share(pressure.io), named(instance)])
        })
        .collect();
    if !rows.is_empty() {
        answer.tables.push(table(
            "Pressure: share of the time in which a thread waited",
            &["cpu", "memory", "io"],
            rows,
        ));
    }
}

fn table(title: &str, columns: &[&'static str], rows: Vec<Vec<String>>) -> Table {
    Table {
        title: title.to_owned(),
        columns: columns.iter().map(|column| (*column, true)).chain([("group", false)]).collect(),
        rows,
        shown: SHOWN,
    }
}

fn json_of(instance: &Instance) -> Value {
    let threads = &instance.threads;
    let requests = &instance.requests;
    json!({
        "path": instance.path.display().to_string(), "name": instance.name, "is_job": instance.is_job,
        "has_ended": instance.has_ended,
        "seconds": instance.seconds, "cpu_seconds": instance.cpu_seconds, "quota_processors": instance.quota,
        "periods": instance.periods, "throttled_periods": instance.throttled_periods,
        "throttled_seconds": instance.throttled_seconds,
        "run_queue_wait_seconds": threads.waited_ns as f64 / 1e9,
        "voluntary_switches": threads.voluntary_switches, "involuntary_switches": threads.involuntary_switches,
        "memory": instance.memory.as_ref().map(|memory| json!({
            "used_bytes": memory.used, "limit_bytes": memory.limit, "anonymous_bytes": memory.anonymous,
            "file_bytes": memory.file,
            "shared_memory_bytes": memory.shared_memory, "mapped_bytes": memory.mapped,
            "shared_with_others_bytes": instance.shared_bytes,
            "refaults": instance.refaults,
        })),
        "io": {
            "read_bytes": requests.read_bytes, "written_bytes": requests.written_bytes, "reads": requests.reads,
            "writes": requests.writes,
            "queue_seconds": requests.queued_ns as f64 / 1e9, "device_seconds": requests.device_ns as f64 / 1e9,
        },
        "pressure_seconds": instance.pressure.map(|pressure| json!({ "cpu": pressure.cpu, "memory": pressure.memory,
        "io": pressure.io })),
    })
}

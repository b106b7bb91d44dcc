//! A job's report for people: its amounts, its time by stage, and its bottleneck.

use yunti_engine::job::report::JoinBy;
use yunti_engine::job::report::{FileUse, Partitions, Report, Stage, TaskRow};

use super::table::{Side, Table, wrap};
use super::{numbers, spills, timeline};
use yunti_base::store_protocol::Traffic;
use yunti_program::terminal::paint::Paint;

/// Returns the summary line of a job that wrote its output elsewhere.
pub fn summary_line(report: &Report) -> String {
    let job = &report.job;
    if let Some(first) = report.before.first() {
        let wall_ms = report.before.iter().map(|r| r.job.wall_ms).sum::<f64>() + job.wall_ms;
        let line = format!(
            "{} and {} after it: {} in {}, {} out",
            first.job.name,
            numbers::several(report.before.len() as u64, "job"),
            numbers::bytes(first.job.input_bytes),
            numbers::milliseconds(wall_ms),
            numbers::several(job.output_records, "record"),
        );
        return line.replace(['\n', '\r'], " ");
    }
    let line = format!(
        "{}: {} in {}{}, {} out",
        job.name,
        input_bytes(report),
        numbers::milliseconds(job.wall_ms),
        speed(report),
        numbers::several(job.output_records, "record"),
    );
    line.replace(['\n', '\r'], " ")
}

/// Returns the bytes that a job read, and those of its files if it left out columns.
fn input_bytes(report: &Report) -> String {
    let read = numbers::bytes(report.job.input_bytes);
    match report.input.as_ref().and_then(|input| input.file_bytes) {
        Some(all) => format!("read {read} of {}", numbers::bytes(all)),
        None => read,
    }
}

/// Returns the short report: header, stages, bottleneck and advice, for each job of a chain.
pub fn brief(report: &Report, width: usize, paint: Paint) -> String {
    let before: String = report.before.iter().map(|r| brief(r, width, paint) + "\n").collect();
    before + &brief_of_one(report, width, paint)
}

fn brief_of_one(report: &Report, width: usize, paint: Paint) -> String {
    let end = bottleneck(report, width, paint) + &advice(report, width, paint);
    header(report, width, paint) + "\n" + &stages(report, paint) + "\n" + &end
}

/// Returns the full report, for each job of a chain.
pub fn full(report: &Report, width: usize, paint: Paint) -> String {
    let before: String = report.before.iter().map(|r| full(r, width, paint) + "\n").collect();
    before + &full_of_one(report, width, paint)
}

fn full_of_one(report: &Report, width: usize, paint: Paint) -> String {
    let mut out = header(report, width, paint);
    let heading = |text: &str| format!("\n{}\n", paint.bold(text));
    out += &heading("Stages");
    out += &stages(report, paint);
    if !report.workers.is_empty() {
        out += &heading("Workers");
        out += &timeline::print(report, width, paint);
    }
    if !report.tasks.is_empty() {
        out += &heading("Tasks");
        out += &tasks(report, width, paint);
    }
    out += &heading("Memory");
    out += &memory(report, width);
    if !report.spill.rows.is_empty() {
        out += &heading("Spills");
        out += &spills::table(&report.spill.rows, paint);
    }
    if let Some(stores) = &report.stores {
        out += &format!("\n{}", stores_line(stores));
    }
    if !report.files.is_empty() {
        out += &heading("Files");
        out += &files(report, paint);
    }
    if let Some(partitions) = report.partitions.as_ref().filter(|p| p.count > 1) {
        out += &heading("Skew");
        out += &wrap("  ", &skew_sentence(partitions), width);
    }
    let counters = counters(report, paint);
    if !counters.is_empty() {
        out += &heading("Counters");
        out += &counters;
    }
    out.push('\n');
    out + &bottleneck(report, width, paint) + &advice(report, width, paint)
}

fn speed(report: &Report) -> String {
    let job = &report.job;
    if job.input_bytes == 0 || job.wall_ms <= 0.0 {
        return String::new();
    }
    format!(", {}", numbers::rate(job.input_bytes as f64 / 1000.0 / job.wall_ms))
}

fn header(report: &Report, width: usize, paint: Paint) -> String {
    let job = &report.job;
    let title =
        format!("{} in {}{}", numbers::bytes(job.input_bytes), numbers::milliseconds(job.wall_ms), speed(report));
    let failed = job.state.as_ref().filter(|state| *state != "succeeded");
    let failed = failed.map_or(String::new(), |state| format!("{state} after "));
    let mut out = format!("{}  {failed}{title}\n", paint.bold(&job.name));
    let to = job.output.as_ref().map_or(String::new(), |path| format!(", in {path}"));
    out += &wrap(
        "  ",
        &format!(
            "{} in, {} out ({}){to}",
            numbers::several(job.input_records, "record"),
            numbers::several(job.output_records, "record"),
            numbers::bytes(job.output_bytes)
        ),
        width,
    );
    out + &wrap("  ", &facts_line(report), width)
}

/// Returns mode, splits, workers and machine in one line.
pub fn facts_line(report: &Report) -> String {
    let (job, machine) = (&report.job, &report.machine);
    let cpu = if machine.cpu.is_empty() { String::new() } else { format!("; {}", machine.cpu) };
    let simd = if machine.simd.is_empty() { String::new() } else { format!(", {}", machine.simd) };
    let on_cluster = job.id.is_some();
    format!(
        "mode {}, {}, {}, {}; processor time {}{cpu}, {}{simd}",
        job.mode,
        numbers::several(job.splits, "split"),
        numbers::several(u64::from(job.reduces), "reduce"),
        if on_cluster {
            format!("{} at a time", numbers::several(u64::from(job.threads), "container"))
        } else {
            numbers::several(u64::from(job.threads), "thread")
        },
        numbers::milliseconds(job.cpu_ms),
        numbers::several(u64::from(machine.processors), "processor"),
    )
}

fn stages(report: &Report, paint: Paint) -> String {
    let busy_ms: f64 = report.stages.iter().map(|s| s.busy_ms).sum();
    let mut table = Table::new(&[
        ("stage", Side::Left),
        ("bytes", Side::Right),
        ("records", Side::Right),
        ("busy", Side::Right),
        ("share", Side::Right),
        ("per worker", Side::Right),
        ("of limit", Side::Right),
        ("uses", Side::Left),
    ]);
    for Stage { name, bytes, records, busy_ms: ms, mb_per_s, limit_mb_per_s, resource } in &report.stages {
        table.row(vec![
            name.clone(),
            numbers::bytes(*bytes),
            numbers::about(*records),
            numbers::milliseconds(*ms),
            if busy_ms > 0.0 { numbers::percent(ms / busy_ms) } else { String::new() },
            numbers::rate(*mb_per_s),
            limit_mb_per_s.filter(|l| *l > 0.0).map_or(String::new(), |limit| numbers::percent(mb_per_s / limit)),
            resource.replace('_', " "),
        ]);
    }
    if table.is_empty() { "  none\n".into() } else { table.print(paint) }
}

/// Returns a row for the successful and one for the lost attempts of each kind: kind, number, average and longest time,
/// average processor time, and the average stages of successful attempts.
pub fn task_rows(report: &Report) -> Vec<[String; 6]> {
    let mut out = Vec::new();
    for (kind, done) in [("map", true), ("reduce", true), ("map", false), ("reduce", false)] {
        let of_kind = |t: &&TaskRow| t.kind == kind && (t.state == "succeeded") == done;
        let rows: Vec<&TaskRow> = report.tasks.iter().filter(of_kind).collect();
        if rows.is_empty() {
            continue;
        }
        let average = |of: &dyn Fn(&TaskRow) -> f64| rows.iter().map(|t| of(t)).sum::<f64>() / rows.len() as f64;
        let longest = rows.iter().map(|t| t.elapsed_ms).fold(0.0, f64::max);
        let mut parts = Vec::new();
        for stage in &report.stages {
            let ms = average(&|t| t.stages_ms.get(&stage.name).copied().unwrap_or(0.0));
            if done && ms >= 0.5 {
                parts.push(format!("{} {}", stage.name, numbers::milliseconds(ms)));
            }
        }
        out.push([
            if done { kind.into() } else { format!("{kind}, lost") },
            numbers::count(rows.len() as u64),
            numbers::milliseconds(average(&|t| t.elapsed_ms)),
            numbers::milliseconds(longest),
            numbers::milliseconds(average(&|t| t.cpu_ms)),
            parts.join(", "),
        ]);
    }
    out
}

pub const STOCK_NOTE: &str = "the time of the JVM's start is unknown for tasks of stock Hadoop: map and shuffle include it, \
                              and their processor time excludes it";

/// Returns true if a task of stock Hadoop succeeded, which has no stopwatches.
pub fn has_stock_tasks(report: &Report) -> bool {
    report.tasks.iter().any(|t| t.state == "succeeded" && !t.stages_ms.contains_key("jvm-start"))
}

fn tasks(report: &Report, width: usize, paint: Paint) -> String {
    let mut table = Table::new(&[
        ("task", Side::Left),
        ("attempts", Side::Right),
        ("average", Side::Right),
        ("longest", Side::Right),
        ("processor", Side::Right),
        ("  stages, on average", Side::Left),
    ]);
    for [kind, attempts, average, longest, processor, stages] in task_rows(report) {
        table.row(vec![kind, attempts, average, longest, processor, format!("  {stages}")]);
    }
    table.print(paint) + &if has_stock_tasks(report) { wrap("  ", STOCK_NOTE, width) } else { String::new() }
}

/// Returns the line of requests to stores.
fn stores_line(stores: &Traffic) -> String {
    format!(
        "stores  {} requests, {} repeated, {} answers that asked for less; {} received, {} sent\n",
        numbers::count(stores.requests),
        numbers::count(stores.retries),
        numbers::count(stores.slow_downs),
        numbers::bytes(stores.received_bytes),
        numbers::bytes(stores.sent_bytes),
    )
}

/// Returns the table of the time for opening, reading and writing files, by place.
fn files(report: &Report, paint: Paint) -> String {
    let mut table = Table::new(&[
        ("files", Side::Left),
        ("opened", Side::Right),
        ("opening", Side::Right),
        ("read", Side::Right),
        ("reading", Side::Right),
        ("written", Side::Right),
        ("writing", Side::Right),
        ("in", Side::Left),
    ]);
    for f in &report.files {
        let moved = |bytes: u64, ms: f64| match bytes {
            0 => (String::new(), String::new()),
            n => (numbers::bytes(n), numbers::milliseconds(ms)),
        };
        let (read, reading) = moved(f.read_bytes, f.read_ms);
        let (written, writing) = moved(f.written_bytes, f.write_ms);
        let (opened, opening) = (numbers::about(f.opened), numbers::milliseconds(f.open_ms));
        let directory = f.directory.clone().unwrap_or_default() + &storage_note(f);
        table.row(vec![f.place.clone(), opened, opening, read, reading, written, writing, directory]);
    }
    table.print(paint)
}

/// Returns the file system of files that are not on a disk, in brackets.
fn storage_note(files: &FileUse) -> String {
    match (files.storage.as_deref(), &files.file_system) {
        (Some(storage @ ("memory" | "network")), Some(file_system)) => format!(" ({file_system}: {storage})"),
        _ => String::new(),
    }
}

fn memory(report: &Report, width: usize) -> String {
    let memory = wrap("  ", &memory_sentence(report), width);
    if report.job.id.is_some() { memory } else { memory + &wrap("  ", &spill_sentence(report), width) }
}

pub fn memory_sentence(report: &Report) -> String {
    let memory = &report.memory;
    let (peak, budget) = (numbers::memory(memory.peak_bytes), numbers::memory(memory.budget_bytes));
    let resident = numbers::memory(memory.peak_resident_bytes);
    if report.job.id.is_none() {
        let text = format!("{peak} of {budget} used; process peak {resident}, file pages included");
        let text = text + &join_table_clause(report) + &join_choice_clause(report);
        match memory.limits.iter().min_by_key(|limit| limit.limit_bytes) {
            Some(least) => {
                let (bytes, at) = (numbers::memory(least.limit_bytes), numbers::milliseconds(least.at_ms));
                text + &format!("; kept to {bytes} after {at}, because others needed memory")
            }
            None => text,
        }
    } else if memory.peak_resident_bytes == 0 {
        "unknown".into()
    } else {
        format!("peak of a task's processes {resident}, in a container of {budget}")
    }
}

/// Returns what became of the table of a hash join.
fn join_table_clause(report: &Report) -> String {
    match &report.join_table {
        Some(table) if table.sorted => {
            let budget = numbers::memory(table.budget_bytes);
            format!("; the join table needs a budget of {budget}, so both sides were sorted")
        }
        Some(table) => {
            let (rows, bytes) = (numbers::several(table.rows, "row"), numbers::memory(table.table_bytes));
            format!("; the join table has {rows} in {bytes}")
        }
        None => String::new(),
    }
}

/// Returns why a hash join was done in its way.
fn join_choice_clause(report: &Report) -> String {
    let Some(choice) = &report.join_choice else { return String::new() };
    let way = match choice.by {
        JoinBy::Memory => "built a table in memory",
        JoinBy::Lookup => "looked up rows at servers",
        JoinBy::Sort => "sorted both sides",
    };
    let Some(costs) = &choice.costs else {
        return if choice.named { format!("; the join {way}, as join.by says") } else { String::new() };
    };
    let memory = match costs.memory_ms {
        Some(ms) => format!("{} in memory", numbers::milliseconds(ms)),
        None => "no room in memory".into(),
    };
    let (lookup, sort) = (numbers::milliseconds(costs.lookup_ms), numbers::milliseconds(costs.sort_ms));
    let (keys, probe) = (numbers::several(choice.probed_keys, "key"), numbers::milliseconds(choice.probe_ms));
    format!("; the join {way}: estimated {memory}, {lookup} by lookups ({keys} took {probe}), {sort} by sorting")
}

pub fn spill_sentence(report: &Report) -> String {
    let spill = &report.spill;
    let mut text = if spill.runs == 0 {
        "nothing spilled".to_string()
    } else {
        format!(
            "{} spilled: {}, {} stored as {}, {}, peak {} in {}",
            numbers::several(spill.runs, "run"),
            numbers::several(spill.records, "record"),
            numbers::bytes(spill.raw_bytes),
            numbers::bytes(spill.stored_bytes),
            if spill.merge_passes == 1 {
                "1 merge pass".into()
            } else {
                format!("{} merge passes", spill.merge_passes)
            },
            numbers::bytes(spill.peak_bytes),
            spill.directories.join(", ")
        )
    };
    if !spill.failed_directories.is_empty() {
        text += &format!("; no longer used after errors: {}", spill.failed_directories.join(", "));
    }
    text
}

/// Returns the sizes of the fullest, the median and the emptiest partition, compared to the average.
pub fn skew_sentence(partitions: &Partitions) -> String {
    let Some(measure) = partitions.measures.first() else { return "no records were counted".into() };
    let of = &*partitions.of;
    let what = match &*measure.name {
        "input_records" | "input_bytes" if partitions.count == 1 => "received",
        "input_records" | "input_bytes" => "received",
        _ => "wrote",
    };
    let unit = if measure.name.ends_with("bytes") { "bytes" } else { "records" };
    let total = if unit == "bytes" { numbers::bytes(measure.total) } else { numbers::several(measure.total, "record") };
    if partitions.count == 1 {
        return format!("One {of} {what} all of the {total}.");
    }
    let mean = measure.total as f64 / partitions.count as f64;
    let times = |n: u64| numbers::three(n as f64 / mean.max(1e-9));
    let number =
        partitions.rows.iter().find(|r| r.values.first() == Some(&measure.most)).map(|r| format!(" ({})", r.number));
    format!(
        "{} {what} {total}: the fullest{} {} times the average, the median one {}, the emptiest {}.",
        numbers::several(partitions.count, of),
        number.unwrap_or_default(),
        times(measure.most),
        times(measure.median),
        times(measure.least)
    )
}

/// Returns the last part of a group's name, because Hadoop's groups are Java classes.
pub fn short_group(group: &str) -> &str {
    group.rsplit('.').next().unwrap_or(group)
}

fn counters(report: &Report, paint: Paint) -> String {
    let mut out = String::new();
    for (group, counters) in &report.counters {
        let short = short_group(group);
        let mut table = Table::new(&[("", Side::Left), ("", Side::Right)]);
        for (name, value) in counters.iter().filter(|(_, value)| **value != 0) {
            table.row(vec![format!("  {name}"), numbers::count(*value)]);
        }
        if !table.is_empty() {
            out += &format!("  {}\n{}", paint.dim(short), table.print(paint));
        }
    }
    out
}

fn bottleneck(report: &Report, width: usize, paint: Paint) -> String {
    if report.bottleneck.text.is_empty() {
        return String::new();
    }
    let text = wrap("  ", &(capital(&report.bottleneck.text) + "."), width);
    format!("{}\n{text}", paint.bold("Bottleneck"))
}

/// Returns the advice, or an empty string if there is none.
fn advice(report: &Report, width: usize, paint: Paint) -> String {
    if report.advice.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", paint.bold("What to change"));
    for advice in &report.advice {
        let flag = advice.flag.as_ref().map_or(String::new(), |flag| format!(": {flag}"));
        out += &wrap("  * ", &format!("{}; {}{flag}", capital(&advice.seen), advice.change), width);
    }
    out
}

pub fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_into_80_columns_and_prints_an_empty_report() {
        let mut report = Report::default();
        for width in [80, 100] {
            assert!(full(&report, width, Paint::OFF).lines().all(|l| l.chars().count() <= width));
        }
        report.job.name = "count".into();
        report.job.input_bytes = 1_000_000_000;
        report.job.wall_ms = 310.0;
        report.job.output_records = 1000;
        report.job.output = Some("a\nb".into());
        report.stages.push(Stage {
            name: "collect".into(),
            bytes: 123_456_789_012,
            records: 123_456_789,
            busy_ms: 123_456.7,
            mb_per_s: 1234.5,
            limit_mb_per_s: Some(12345.6),
            resource: "disk_write".into(),
        });
        assert_eq!(summary_line(&report), "count: 1 GB in 310 ms, 3.23 GB/s, 1,000 records out");
        let text = full(&report, 80, Paint::OFF);
        assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
        let row = "collect  123 GB    123 M  2 min 3 s  100 %   1.23 GB/s      10 %  disk write";
        assert!(text.contains(row), "{text}");
    }
}

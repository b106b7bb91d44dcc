//! Report of a page-cache measurement: one line, tables and JSON.

use serde_json::{Value, json};

use super::account::Row;
use super::measure::CacheSample;
use super::read_ahead::ReadAheadUse;
use yunti_probe::answer::{Answer, Table, bytes, percent};
use yunti_probe::kernel::system::{FileId, page_bytes};

const SHOWN: usize = 15;
const ROWS_MAX: usize = 1000;
/// Share of read-ahead pages. With more unused, a note is printed.
const UNUSED_NOTED: f64 = 0.2;

/// Adds the report to `answer`, and returns its JSON.
pub fn report(sample: &CacheSample, answer: &mut Answer) -> Value {
    let all = sample.account.by(|_| Some(())).first().map(|(_, row)| *row).unwrap_or_default();
    let devices = sample.account.by(|user| Some(sample.names.device(user.file)));
    let files = sample.account.by(|user| Some(user.file));
    let processes = sample.account.by(|user| Some(user.pid));
    let uses = sample.uses.as_ref().map(|of_files| {
        let mut sum = ReadAheadUse::default();
        for (file, uses) in of_files {
            // Files outside the filter are left out.
            if files.iter().any(|(known, _)| known == file) {
                sum.folios += uses.folios;
                sum.used += uses.used;
                sum.dropped_unused += uses.dropped_unused;
                sum.not_yet += uses.not_yet;
            }
        }
        sum
    });
    answer.lead = lead(&all, uses);
    notes(sample, &all, uses, answer);
    left_out(answer, files.len(), "files");
    left_out(answer, processes.len(), "processes");
    table(answer, "By device", "device", devices.iter().map(|(name, row)| (name.clone(), *row)));
    table(answer, "By file", "path", files.iter().take(ROWS_MAX).map(|(file, row)| (sample.names.file(*file), *row)));
    let named = |pid: &u32| format!("{} {pid}", sample.names.process(*pid));
    table(answer, "By process", "process", processes.iter().take(ROWS_MAX).map(|(pid, row)| (named(pid), *row)));
    let of_file = |file: &FileId| sample.uses.as_ref().and_then(|of_files| of_files.get(file));
    json!({
        "page_bytes": page_bytes(),
        "sampled_share": sample.share,
        "error_percent": sample.error_percent,
        "programs_ran": sample.ran,
        "program_ns": sample.event_ns,
        "all": row_json(&all),
        "read_ahead_use": uses.map(|uses| uses_json(&uses)),
        "devices": devices.iter().map(|(name, row)| named_json(json!({ "device": name }), row)).collect::<Vec<_>>(),
        "files_seen": files.len(),
        "processes_seen": processes.len(),
        "files": files.iter().take(ROWS_MAX).map(|(file, row)| {
            let use_ = of_file(file).map(uses_json);
            named_json(json!({ "path": sample.names.file(*file), "inode": file.inode,
            "device": sample.names.device(*file), "read_ahead_use": use_ }), row)
        }).collect::<Vec<_>>(),
        "processes": processes.iter().take(ROWS_MAX).map(|(pid, row)| {
            named_json(json!({ "process": sample.names.process(*pid), "pid": pid }), row)
        }).collect::<Vec<_>>(),
    })
}

fn size(pages: f64) -> u64 {
    (pages * page_bytes() as f64) as u64
}

fn share(part: f64, all: f64) -> String {
    if all > 0.0 { percent(part as u64, all as u64) } else { "-".to_owned() }
}

fn lead(all: &Row, uses: Option<ReadAheadUse>) -> String {
    if all.weight() == 0.0 {
        return "no requests.".to_owned();
    }
    let mut parts = Vec::new();
    for (what, touched, hit) in [
        ("read", all.read(), all.read_hit),
        ("mapped", all.mapped(), all.mapped_hit),
        ("written", all.written(), all.written_hit),
    ] {
        if touched > 0.0 {
            parts.push(format!("{} of {} {what}", share(hit, touched), bytes(size(touched))));
        }
    }
    let mut lead = match parts.is_empty() {
        true => "nothing was read or written".to_owned(),
        false => format!("{} served from the cache", parts.join(", ")),
    };
    if all.missed.read_ahead > 0 {
        lead += &format!("; {} read ahead", bytes(size(all.missed.read_ahead as f64)));
        if let Some(uses) = uses.filter(|uses| uses.all() > 0) {
            lead += &format!(", {} of it unused", percent(uses.never_used(), uses.all()));
        }
    }
    if all.missed.dropped > 0 {
        lead += &format!("; {} dropped", bytes(size(all.missed.dropped as f64)));
    }
    lead + "."
}

fn notes(sample: &CacheSample, all: &Row, uses: Option<ReadAheadUse>, answer: &mut Answer) {
    if sample.share < 0.999 {
        answer.notes.push(format!(
            "Hits were sampled {:.1} % of the time; 95 % confidence, and programs slowed by the samples: +-{:.1} %. Misses, read-ahead and drops were all \
             counted. \
             A kernel program ran {} times, {:.0} ns each.",
            sample.share * 100.0,
            sample.error_percent,
            sample.ran,
            sample.event_ns
        ));
    } else {
        answer.notes.push("Hits were sampled all the time: the figures are counts.".to_owned());
    }
    let Some(uses) = uses.filter(|uses| uses.all() > 0) else { return };
    let part = uses.never_used() as f64 / uses.all() as f64;
    let error = 1.96 * (part * (1.0 - part) / uses.folios as f64).sqrt();
    if part >= UNUSED_NOTED {
        answer.notes.push(format!(
            "Of {} read ahead, {:.0} % (+-{:.0}) were unused: {} % were dropped, the rest is still in the cache.",
            bytes(size(all.missed.read_ahead as f64)),
            part * 100.0,
            error * 100.0,
            uses.dropped_unused * 100 / uses.all()
        ));
    }
}

fn left_out(answer: &mut Answer, found: usize, what: &str) {
    if found > ROWS_MAX {
        answer
            .notes
            .push(format!("Of {found} {what}, the {ROWS_MAX} with the most pages are listed; the sums include all."));
    }
}

fn table(answer: &mut Answer, title: &str, name: &'static str, rows: impl Iterator<Item = (String, Row)>) {
    let columns = ["read", "hit", "mapped", "hit", "written", "hit", "read ahead", "dropped"];
    let cells = |(name, row): (String, Row)| {
        let mut cells = Vec::new();
        for (touched, hit) in
            [(row.read(), row.read_hit), (row.mapped(), row.mapped_hit), (row.written(), row.written_hit)]
        {
            cells.extend([bytes(size(touched)), share(hit, touched)]);
        }
        cells.extend([
            bytes(size(row.missed.read_ahead as f64)),
            bytes(size(row.missed.dropped as f64)),
            // Control characters in file names must not reach the terminal.
            name.replace(|c: char| c.is_control(), "?"),
        ]);
        cells
    };
    answer.tables.push(Table {
        title: title.to_owned(),
        columns: columns.into_iter().map(|column| (column, true)).chain([(name, false)]).collect(),
        rows: rows.map(cells).collect(),
        shown: SHOWN,
    });
}

fn row_json(row: &Row) -> Value {
    json!({
        "read_hit_pages": row.read_hit.round(), "read_miss_pages": row.missed.read,
        "mapped_hit_pages": row.mapped_hit.round(), "mapped_miss_pages": row.missed.mapped,
        "write_hit_pages": row.written_hit.round(), "write_miss_pages": row.missed.written,
        "read_ahead_pages": row.missed.read_ahead, "dropped_pages": row.missed.dropped,
    })
}

fn uses_json(uses: &ReadAheadUse) -> Value {
    json!({
        "folios_followed": uses.folios, "used_pages": uses.used,
        "dropped_unused_pages": uses.dropped_unused, "not_used_yet_pages": uses.not_yet,
    })
}

fn named_json(mut name: Value, row: &Row) -> Value {
    if let (Some(name), Value::Object(row)) = (name.as_object_mut(), row_json(row)) {
        name.extend(row);
    }
    name
}

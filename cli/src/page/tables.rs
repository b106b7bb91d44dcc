//! The tables of the page: the tasks of a cluster's job, and the counters.

use yunti_engine::job::report::Report;

use super::markup::{Tag, note, section, table, tag};
use crate::text::numbers;
use crate::text::report::{STOCK_NOTE, has_stock_tasks, short_group, task_rows};

pub fn tasks(report: &Report) -> Option<Tag> {
    if report.tasks.is_empty() {
        return None;
    }
    let columns = [
        ("task", false),
        ("attempts", true),
        ("average", true),
        ("longest", true),
        ("processor", true),
        ("stages, on average", false),
    ];
    let rows = task_rows(report).into_iter().map(Vec::from);
    let section = section("tasks", "Tasks").add(table("Attempts of tasks", &columns, rows));
    Some(if has_stock_tasks(report) {
        section.add(note(crate::text::report::capital(STOCK_NOTE) + "."))
    } else {
        section
    })
}

pub fn counters(report: &Report) -> Option<Tag> {
    let groups = report.counters.iter().filter_map(|(group, counters)| {
        let rows: Vec<Vec<String>> = counters
            .iter()
            .filter(|(_, value)| **value != 0)
            .map(|(name, value)| vec![name.clone(), numbers::count(*value)])
            .collect();
        (!rows.is_empty()).then(|| table(short_group(group), &[("counter", false), ("value", true)], rows))
    });
    let groups: Vec<Tag> = groups.collect();
    (!groups.is_empty()).then(|| section("counters", "Counters").add(tag("div").class("groups").all(groups)))
}

//! Young generation: sizes with their effect, the settings, and what requests hold.

use yunti_model::young::{Size, Young};
use yunti_program::page::markup::{Tag, note, section, table, tag};
use yunti_program::text::numbers::{memory, three};

use crate::report::Report;

/// Returns the section; absent without collections.
pub fn section_of(report: &Report<'_>) -> Option<Tag> {
    let young = report.advice.young.as_ref()?;
    let mut section = section("young-generation", "Young generation").add(note(summary(young))).add(sizes(young));
    if !young.settings.options.is_empty() {
        section = section.add(tag("p").say("Options: ").add(tag("code").say(young.settings.options.join(" "))));
    }
    section = section.all(young.settings.notes.iter().map(note));
    let section = match releases(report) {
        Some(table) => section.add(tag("h3").say("What to release before remote calls")).add(table),
        None => section,
    };
    let Some(promotion) = young.promotion else { return Some(section) };
    let rows = [
        ("held by a request", memory(promotion.held_bytes_per_request as u64)),
        ("requests in process", promotion.clients.to_string()),
        ("held by all of them", memory(promotion.live_bytes as u64)),
        ("survivor space", memory(promotion.survivor_bytes as u64)),
        ("requests in process that it has room for", promotion.clients_max.to_string()),
        ("requests a second", three(promotion.per_second)),
        ("with memory released before the waits", three(promotion.per_second_released)),
    ];
    let rows = rows.map(|(name, value)| vec![name.to_string(), value]);
    Some(section.add(tag("h3").say("Promotion")).add(table(
        "Memory that requests hold",
        &[("", false), ("", true)],
        rows,
    )))
}

/// Returns the objects that waiting requests hold, with what their release brings; absent without any.
fn releases(report: &Report<'_>) -> Option<Tag> {
    let releases = &report.advice.releases;
    let columns = [
        ("bytes a waiting request", true),
        ("class", false),
        ("held in", false),
        ("over the call of", false),
        ("pause ms a second", true),
        ("released", true),
        ("requests/s", true),
        ("released", true),
    ];
    let rows = releases.iter().map(|release| {
        let object = &release.object;
        let handed = object.handed_to.as_ref().map_or_else(String::new, |inner| format!(", {inner}"));
        vec![
            memory(object.bytes as u64),
            object.class.clone(),
            format!("{}{handed}", object.held_in),
            object.call.clone(),
            three(release.pause_ms_per_second),
            three(release.pause_ms_per_second_released),
            three(release.per_second),
            three(release.per_second_released),
        ]
    });
    (!releases.is_empty()).then(|| table("Objects that only the frames of waiting requests hold", &columns, rows))
}

fn summary(young: &Young) -> String {
    let allocated = memory(young.bytes_per_request as u64);
    match young.bytes_per_request_check.filter(|_| young.differs) {
        Some(check) => format!(
            "A request allocates {allocated}. From Eden and the time between collections it would be {}: memory that \
             requests in process hold fills Eden, or few collections were seen.",
            memory(check as u64)
        ),
        None => format!("A request allocates {allocated}."),
    }
}

fn sizes(young: &Young) -> Tag {
    let (size, cost) = match young.is_concurrent {
        true => (("heap free between cycles", true), ("collector ms a request", true)),
        false => (("young generation", true), ("pause ms a request", true)),
    };
    let columns = [size, ("Eden", true), cost, ("requests/s", true), ("", false)];
    let mut all: Vec<(Size, &str)> = young.table.iter().map(|size| (*size, "")).collect();
    for (size, word) in [(young.now, "now"), (young.enough, "enough")] {
        match all.iter_mut().find(|(listed, _)| (listed.young_bytes / size.young_bytes - 1.0).abs() < 0.001) {
            Some(listed) => listed.1 = word,
            None => all.push((size, word)),
        }
    }
    all.sort_by(|(a, _), (b, _)| a.young_bytes.total_cmp(&b.young_bytes));
    let rows = all.into_iter().map(|(size, word)| {
        vec![
            memory(size.young_bytes as u64),
            memory(size.eden_bytes as u64),
            three(if young.is_concurrent { size.collector_ms_per_request } else { size.pause_ms_per_request }),
            three(size.per_second),
            word.to_string(),
        ]
    });
    table("Sizes with what they bring, by the formulas", &columns, rows)
}

//! Findings about the settings that `yunti machine` can change and undo. The rules are in `yunti-settings`.

mod counters;
pub mod huge_pages;

use yunti_settings::{Advice, Setting, System};

use super::finding::{Finding, Level};

/// Returns a finding for each setting. `measures`: adds measurements of some milliseconds, and counters.
pub fn findings(system: &System, measures: bool) -> Vec<Finding> {
    yunti_settings::all(system).iter().map(|setting| finding(system, setting, measures)).collect()
}

fn finding(system: &System, setting: &Setting, measures: bool) -> Finding {
    let level = match setting.advice {
        Advice::Keep => Level::Ok,
        Advice::Consider => Level::Note,
        Advice::Change => Level::Warning,
    };
    let (name, place) = match setting.name.split_once(':') {
        Some((name, place)) => (name, Some(place.to_owned())),
        None => (&*setting.name, None),
    };
    let mut seen = setting.now.clone();
    if measures
        && name == "huge-pages"
        && let Some((with, without)) = huge_pages::measure()
    {
        seen += &format!("; measured: 4 KiB of fresh memory in {with:.0} ns with madvise, {without:.0} ns without");
    }
    if measures && let Some(counted) = counters::since_boot(system, name) {
        seen += &format!("; counted since boot: {counted}");
    }
    let mut finding = Finding::new(setting.area, name, seen, setting.why.clone()).level(level);
    finding.place = place;
    let Some(value) = &setting.recommended else { return finding };
    let by_hand = setting.change_to(system, value).map(|change| {
        let one = |w: &yunti_settings::Write| format!("echo {} | sudo tee /{}", w.value.replace('\t', " "), w.path);
        change.writes.iter().map(one).collect::<Vec<_>>().join("; ")
    });
    let by_hand = by_hand.map(|text| format!(" (or {text})")).unwrap_or_default();
    finding
        .change(format!("sudo yunti machine apply {}{by_hand}", setting.name))
        .cost(setting.cost)
        .undo(format!("sudo yunti machine undo {}", setting.name))
}

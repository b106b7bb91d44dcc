//! Settings of the machine that can be changed and undone by `yunti machine`: the rules are those of `yunti-settings`.

mod counted;
pub mod huge_pages;

use yunti_settings::{Advice, Setting, System};

use super::finding::{Finding, Level};

/// `measures`: with what can be measured in some milliseconds, beside the rule.
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
        && let Some((with, without)) = huge_pages::measured()
    {
        seen += &format!(
            "; measured: 4 KiB of fresh memory in {with:.0} ns for those that ask, {without:.0} ns for others"
        );
    }
    if measures && let Some(counted) = counted::of(system, name) {
        seen += &format!("; counted since the start: {counted}");
    }
    let mut finding = Finding::new(setting.area, name, seen, setting.why.clone()).level(level);
    finding.place = place;
    let Some(value) = &setting.recommended else { return finding };
    let by_hand = setting.wanted(system, value).map(|wanted| {
        let one = |w: &yunti_settings::Write| format!("echo {} | sudo tee /{}", w.value.replace('\t', " "), w.path);
        wanted.writes.iter().map(one).collect::<Vec<_>>().join("; ")
    });
    let by_hand = by_hand.map(|text| format!(" (or {text})")).unwrap_or_default();
    finding
        .change(format!("sudo yunti machine apply {}{by_hand}", setting.name))
        .cost(setting.cost)
        .undo(format!("sudo yunti machine undo {}", setting.name))
}

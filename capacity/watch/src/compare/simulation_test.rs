//! Tests of the comparison on simulated histories: what is found, what is named, and how often nothing is there.

use super::baseline::Against;
use super::comparison::{Comparison, compare};
use super::day::Day;
use super::service::{Figure, Verdict};
use super::simulation::{Plant, Setting, USUAL, World};

/// Returns the comparison of a planted day with equal days before.
fn planted(setting: Setting, days: usize, plant: Plant, seed: u64) -> (World, Comparison) {
    let mut world = World::new(setting, seed);
    let mut history = world.days(days);
    let today = Day::of(&world.record(plant, "v2"));
    history.push(today.clone());
    let comparison = compare(&history, &today, &Against::History);
    (world, comparison)
}

fn names_planted(world: &World, comparison: &Comparison) -> bool {
    let name = World::name(world.planted);
    comparison.causes.first().is_some_and(|cause| cause.change.name == name)
}

/// Returns the number of found regressions, and of those whose function is named first.
fn count(setting: Setting, days: usize, plant: Plant, rounds: u64) -> (usize, usize) {
    let (mut found, mut named) = (0, 0);
    for seed in 0..rounds {
        let (world, comparison) = planted(setting, days, plant, seed + 1000);
        found += usize::from(comparison.is_worse());
        named += usize::from(names_planted(&world, &comparison));
    }
    (found, named)
}

/// Returns the alarms of 30 equal days after `before` days.
fn alarms(setting: Setting, before: usize, seed: u64) -> Vec<String> {
    let mut world = World::new(setting, seed);
    let mut history = world.days(before);
    let mut alarms = Vec::new();
    for _ in 0..30 {
        history.extend(world.days(1));
        let today = history.last().cloned().unwrap_or_default();
        let comparison = compare(&history, &today, &Against::History);
        if comparison.is_worse() {
            let rules = comparison.rules.iter().filter(|rule| rule.verdict == Verdict::Worse);
            let rules = rules.map(|rule| format!("{:?} {:+.3}", rule.figure, rule.change.unwrap_or_default()));
            let causes = comparison.causes.iter().map(|cause| {
                let change = &cause.change;
                format!("{} {:?} {:.4} q {:.1e}", change.name, change.part, change.share, change.q)
            });
            alarms.push(rules.chain(causes).collect::<Vec<_>>().join("; "));
        }
    }
    alarms
}

#[test]
fn five_percent_in_a_function_are_found_the_next_day() {
    let (found, named) = count(USUAL, 14, Plant::Function(0.05), 20);
    assert!(found >= 19 && named >= 19, "found {found}, named {named} of 20");
}

#[test]
fn five_percent_in_a_subtree_are_found() {
    let (found, _) = count(USUAL, 14, Plant::Subtree(0.05), 10);
    assert!(found >= 8, "{found} of 10");
}

#[test]
fn equal_days_are_quiet() {
    let months: Vec<Vec<String>> = (0..8).map(|seed| alarms(USUAL, 7, seed)).collect();
    let loud = months.iter().filter(|month| month.len() > 1).count();
    assert!(loud <= 1 && months.iter().flatten().count() <= 6, "{months:#?}");
}

#[test]
fn a_slower_host_is_no_function() {
    let mut world = World::new(Setting { restarts: 0.0, ..USUAL }, 5);
    let mut history = world.days(14);
    let today = Day::of(&world.record(Plant::All(0.2), "v1"));
    history.push(today.clone());
    let comparison = compare(&history, &today, &Against::History);
    assert!(comparison.causes.is_empty(), "{:?}", comparison.causes);
    assert!(comparison.common.is_some_and(|common| common > 0.14), "{:?}", comparison.common);
    assert_eq!(comparison.rule(Figure::CpuPerRequest).map(|rule| rule.verdict), Some(Verdict::Worse));
}

#[test]
fn few_days_say_nothing() {
    let (_, comparison) = planted(USUAL, 2, Plant::Function(0.5), 1);
    assert!(!comparison.is_worse());
    assert!(comparison.rules.iter().all(|rule| rule.verdict == Verdict::Unknown), "{:?}", comparison.rules);
    assert!(comparison.notes.iter().any(|note| note.contains("2 earlier")), "{:?}", comparison.notes);
}

/// Prints the tables of docs/decisions/watch.md in some minutes:
/// `YUNTI_WATCH_POWER=1 cargo test --release -p yunti-watch -- --nocapture power`; `equal` prints the second alone.
#[test]
fn power() {
    let Some(part) = std::env::var_os("YUNTI_WATCH_POWER") else { return };
    let rounds = 60;
    let quiet = Setting { host: 0.005, spread: 0.01, starts: 0.002, ..USUAL };
    let settings = [
        (14, USUAL),
        (7, USUAL),
        (28, USUAL),
        (14, Setting { samples: 3_000.0, ..USUAL }),
        (14, Setting { seen: 0.0, ..USUAL }),
        (14, Setting { starts: 0.02, ..USUAL }),
        (7, quiet),
        (14, quiet),
        (14, Setting { restarts: 1.0, ..quiet }),
        (14, Setting { hot: 0.7, ..USUAL }),
        (7, Setting { hot: 0.7, ..quiet }),
        (14, Setting { hot: 0.7, ..quiet }),
        (14, Setting { hot: 0.95, ..quiet }),
        (14, Setting { hot: 0.95, restarts: 1.0, ..quiet }),
    ];
    let plants = [0.01, 0.02, 0.03, 0.05].map(Plant::Function).into_iter();
    let plants: Vec<Plant> = plants.chain([Plant::Subtree(0.05), Plant::All(0.05), Plant::All(0.1)]).collect();
    println!("found (named) of {rounds}, by {plants:?}");
    for (days, setting) in settings.into_iter().filter(|_| part != "equal") {
        let found = plants.iter().map(|plant| count(setting, days, *plant, rounds));
        let cells: Vec<String> = found.map(|(found, named)| format!("{found} ({named})")).collect();
        println!("| {days} days, {setting:?} | {} |", cells.join(" | "));
    }
    let settings = [
        quiet,
        USUAL,
        Setting { host: 0.02, ..USUAL },
        Setting { seen: 0.0, ..USUAL },
        Setting { restarts: 1.0, ..USUAL },
        Setting { restarts: 0.0, ..USUAL },
        Setting { restarts: 0.1, starts: 0.01, ..quiet },
        Setting { restarts: 0.1, starts: 0.03, ..quiet },
        Setting { restarts: 0.5, starts: 0.03, ..quiet },
        Setting { hot: 0.7, ..quiet },
    ];
    for setting in settings {
        let all: Vec<Vec<String>> = (0..60).map(|seed| alarms(setting, 7, seed + 500)).collect();
        let total: usize = all.iter().map(Vec::len).sum();
        let bad = all.iter().filter(|one| one.len() > 1).count();
        println!("equal: {setting:?}: {total} alarms in 60 x 30 days, {bad} months with more than one");
        all.iter().flatten().take(8).for_each(|alarm| println!("   {alarm}"));
    }
}

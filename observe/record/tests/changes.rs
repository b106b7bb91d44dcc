//! Changes in days of simulated services: planted ones are found, equal days are quiet, callers are no findings.

mod days;

use days::{DAY_MS, FIRST_DAY_MS, HOUR_MS, Noise, Service};
use yunti_record::{Change, Changes, Measure, Part, Period, Question, Slice, Unit, Windows};

/// Function of 5.3 % of all cost.
const PLANTED: usize = 2;

fn period(from_day: u64, to_day: u64) -> Period {
    Period { from_ms: FIRST_DAY_MS + from_day * DAY_MS, to_ms: FIRST_DAY_MS + to_day * DAY_MS }
}

/// Compares the last day with the days before it.
fn last_day(days: &[Vec<Slice>], first_day: u64) -> Changes {
    let last = first_day + days.len() as u64 - 1;
    let mut windows = Windows::new(&Question::new(Measure::Cpu, period(first_day, last), period(last, last + 1)));
    days.iter().flatten().for_each(|slice| windows.add(slice));
    windows.changes()
}

fn line(change: &Change) -> String {
    format!(
        "{} {:?} {:+.1} % ({:+.1} to {:+.1}) q {:.1e}, {} follow",
        change.function.name,
        change.part,
        100.0 * change.difference / change.before,
        100.0 * change.low / change.before,
        100.0 * change.high / change.before,
        change.q,
        change.follows.len()
    )
}

fn lines(changes: &Changes) -> Vec<String> {
    changes.changes.iter().map(line).collect()
}

/// Returns how often a planted change is found, and how many other findings there are.
fn planted(noise: Noise, days: usize, factor: f64, seeds: std::ops::Range<u64>) -> (usize, usize) {
    let (mut found, mut others) = (0, 0);
    for seed in seeds {
        let mut service = Service::new(seed, noise);
        let mut all: Vec<Vec<Slice>> = (0..days).map(|_| service.next_day()).collect();
        service.own[PLANTED] = factor;
        all.push(service.next_day());
        let changes = last_day(&all, 0);
        let is_planted = |change: &&Change| *change.function.name == *service.name(PLANTED) && change.part == Part::Own;
        let hits = changes.changes.iter().filter(is_planted).count();
        found += hits;
        others += changes.changes.len() - hits;
        println!("seed {seed}: {:?}", lines(&changes));
        if seed == 0 {
            println!("{:?}", changes.visible);
        }
    }
    (found, others)
}

#[test]
fn five_percent_of_one_method_are_found_the_next_day() {
    let (found, others) = planted(Noise::default(), 7, 1.05, 0..20);
    assert!(found >= 19, "found {found} of 20");
    assert!(others <= 1, "{others} other findings");
}

/// Returns the findings of 30 days, each against the seven before it.
fn equal_days(seed: u64, noise: Noise) -> usize {
    let mut service = Service::new(seed, noise);
    let all: Vec<Vec<Slice>> = (0..37).map(|_| service.next_day()).collect();
    let mut alarms = 0;
    for first in 0..30 {
        let changes = last_day(&all[first..first + 8], first as u64);
        alarms += changes.changes.len() + usize::from(changes.common.is_some());
        if !changes.changes.is_empty() || changes.common.is_some() {
            println!("day {}: {:?} {:?}", first + 7, lines(&changes), changes.common);
        }
    }
    alarms
}

#[test]
fn thirty_equal_days_have_one_false_alarm_at_most() {
    let alarms = equal_days(99, Noise::default());
    assert!(alarms <= 1, "{alarms} false alarms");
}

/// Returns seven days and one more, at which `change` is called before each hour.
fn with_change(seed: u64, noise: Noise, change: impl Fn(&mut Service, u64)) -> (Service, Changes) {
    let mut service = Service::new(seed, noise);
    let mut all: Vec<Vec<Slice>> = (0..7).map(|_| service.next_day()).collect();
    all.push(service.next_hours(24, change));
    let changes = last_day(&all, 0);
    println!("{:?} {:?} {:?}", lines(&changes), changes.common, changes.notes);
    (service, changes)
}

#[test]
fn a_slower_host_is_one_finding() {
    let noise = Noise { host: 0.05, host_day: 0.01, ..Noise::default() };
    let (_, changes) = with_change(3, noise, |service, _| service.host = 1.25);
    assert!(changes.changes.is_empty(), "{:?}", lines(&changes));
    let common = changes.common.expect("everything is dearer");
    assert_eq!(common.mostly, None);
    assert!((common.ratio - 1.25).abs() < 0.05 && common.low < 1.25 && 1.25 < common.high, "{common:?}");
}

/// Where one method is nearly all, its growth looks like a slower host; it is named.
#[test]
fn a_method_with_nearly_all_cost_is_named() {
    let noise = Noise { host_day: 0.01, ..Noise::default() };
    let mut service = Service::new(21, noise);
    service.own.iter_mut().enumerate().for_each(|(at, own)| *own = if at == PLANTED { 300.0 } else { 0.02 });
    let mut all: Vec<Vec<Slice>> = (0..7).map(|_| service.next_day()).collect();
    all.push(service.next_hours(24, |service, _| service.own[PLANTED] = 390.0));
    let changes = last_day(&all, 0);
    let named = changes.changes.first().map(|change| change.function.clone());
    let mostly = changes.common.as_ref().and_then(|common| common.mostly.as_ref());
    let function = named.or(mostly.map(|mostly| mostly.function.clone())).expect("the growth is found");
    assert_eq!(*function.name, *service.name(PLANTED), "{changes:?}");
}

#[test]
fn a_slower_host_hides_no_method() {
    let noise = Noise { host: 0.05, host_day: 0.01, ..Noise::default() };
    let (service, changes) = with_change(4, noise, |service, _| {
        service.host = 1.25;
        service.own[PLANTED] = 1.1;
    });
    assert_eq!(changes.changes.len(), 1, "{:?}", lines(&changes));
    assert_eq!(*changes.changes[0].function.name, *service.name(PLANTED));
    assert!(changes.common.is_some());
}

#[test]
fn the_moment_and_the_release_are_named() {
    let (service, changes) = with_change(5, Noise::default(), |service, hour| {
        if hour == 14 {
            service.release = "v2".into();
            service.own[PLANTED] = 1.3;
        }
    });
    assert_eq!(changes.changes.len(), 1, "{:?}", lines(&changes));
    let change = &changes.changes[0];
    assert_eq!(*change.function.name, *service.name(PLANTED));
    let began = change.began.as_ref().expect("the series has a step");
    let hour = began.at_ms.abs_diff(FIRST_DAY_MS + 7 * DAY_MS + 14 * HOUR_MS) / HOUR_MS;
    assert!(hour <= 1, "{began:?}");
    assert_eq!(began.new_release.as_deref(), Some("v2"));
    assert!(0.0 < change.low && change.low < change.difference && change.difference < change.high, "{}", line(change));
}

#[test]
fn callers_follow_their_callee() {
    let noise = Noise { seconds: 600.0, ..Noise::default() };
    let (service, changes) = with_change(6, noise, |service, _| service.own[PLANTED] = 1.5);
    assert_eq!(changes.changes.len(), 1, "{:?}", lines(&changes));
    assert_eq!(*changes.changes[0].function.name, *service.name(PLANTED));
    assert!(!changes.changes[0].follows.is_empty());
}

#[test]
fn a_function_that_is_called_more_often_is_one_finding() {
    let noise = Noise { seconds: 600.0, ..Noise::default() };
    let mut service = Service::new(7, noise);
    // A function whose callees are many, none of which has more than a part of it.
    let function = (100..300)
        .filter(|f| service.callees(*f) > 8)
        .max_by(|a, b| service.total_share(*a).total_cmp(&service.total_share(*b)))
        .unwrap();
    let mut all: Vec<Vec<Slice>> = (0..7).map(|_| service.next_day()).collect();
    service.calls[function] = 1.2;
    all.push(service.next_day());
    let changes = last_day(&all, 0);
    println!("{} {:.3}: {:?}", service.name(function), service.total_share(function), lines(&changes));
    let found = changes.changes.iter().find(|change| *change.function.name == *service.name(function));
    let found = found.expect("the function is named");
    assert_eq!(found.part, Part::Subtree);
    assert!((found.difference / found.before - 0.2).abs() < 0.05, "{}", line(found));
    assert!(changes.changes.len() == 1, "{:?}", lines(&changes));
}

#[test]
fn a_cheaper_and_a_new_method_are_found() {
    let noise = Noise { seconds: 600.0, ..Noise::default() };
    let mut service = Service::new(8, noise);
    service.own[5] = 0.0;
    let mut all: Vec<Vec<Slice>> = (0..7).map(|_| service.next_day()).collect();
    service.own[5] = 1.0;
    service.own[9] = 0.7;
    all.push(service.next_day());
    let changes = last_day(&all, 0);
    println!("{:?}", lines(&changes));
    let of = |function: usize| changes.changes.iter().find(|c| *c.function.name == *service.name(function));
    let (new, cheaper) = (of(5).expect("new"), of(9).expect("cheaper"));
    assert!(new.before == 0.0 && new.difference > 0.0 && cheaper.difference < 0.0);
    assert!((cheaper.difference / cheaper.before + 0.3).abs() < 0.05, "{}", line(cheaper));
}

#[test]
fn without_requests_methods_are_found_in_proportion_to_the_rest() {
    let noise = Noise { has_requests: false, ..Noise::default() };
    let (service, changes) = with_change(9, noise, |service, _| service.own[PLANTED] = 1.15);
    assert_eq!(changes.changes.len(), 1, "{:?}", lines(&changes));
    assert_eq!(*changes.changes[0].function.name, *service.name(PLANTED));
    assert_eq!(changes.unit, Unit::Second);
    assert!(changes.notes.iter().any(|note| note.contains("requests are not counted")), "{:?}", changes.notes);
}

/// A program of few functions, each of which is a large part.
#[test]
fn small_programs_are_compared_too() {
    let noise = Noise { mix: 0.05, ..Noise::default() };
    let (mut found, mut others) = (0, 0);
    for seed in 0..10 {
        let mut service = Service::of(seed, noise, 8);
        let mut all: Vec<Vec<Slice>> = (0..7).map(|_| service.next_day()).collect();
        service.own[PLANTED] = if seed < 5 { 1.15 } else { 1.0 };
        all.push(service.next_day());
        let changes = last_day(&all, 0);
        println!("{seed}: {:?} {:?} {:?}", lines(&changes), changes.common, changes.visible[4]);
        let is_planted = |change: &&Change| *change.function.name == *service.name(PLANTED);
        let hits = changes.changes.iter().filter(is_planted).count();
        found += hits;
        others += changes.changes.len() - hits;
    }
    assert!((4..=5).contains(&found) && others <= 1, "{found} of 5, {others} other findings");
}

#[test]
fn what_cannot_be_seen_is_said() {
    let (_, changes) = with_change(10, Noise::default(), |_, _| {});
    let of = |share: f64| changes.visible.iter().find(|v| v.share == share).unwrap().relative;
    assert!(of(0.5) < of(0.05) && of(0.05) < of(0.005));
    assert!((0.02..0.06).contains(&of(0.05)), "{:?}", changes.visible);
    let json = changes.to_json();
    assert_eq!((json["per"].as_str(), json["days_before"].as_u64()), (Some("request"), Some(7)));
}

#[test]
fn few_or_no_slices_are_no_finding() {
    let mut service = Service::new(11, Noise::default());
    let day = service.next_day();
    let question = Question::new(Measure::Cpu, period(0, 1), period(1, 2));
    let mut windows = Windows::new(&question);
    assert!(windows.changes().notes[0].contains("earlier period"));
    windows.add(&day[0]);
    let changes = windows.changes();
    assert!(changes.changes.is_empty() && changes.notes[0].contains("later period"), "{:?}", changes.notes);
    let later = service.next_day();
    windows.add(&later[0]);
    assert!(windows.changes().changes.is_empty());
    // Slices of another measure, and idle ones.
    let mut idle = later[1].clone();
    idle.stacks = Default::default();
    windows.add(&idle);
    idle.facts.periods.clear();
    windows.add(&idle);
    assert!(windows.changes().changes.is_empty());
}

/// With long slices five percent are found. YUNTI_RECORD_POWER prints how often others are, for the table in
/// docs/decisions/record.md.
#[test]
fn power() {
    let (found, _) = planted(Noise { seconds: 600.0, ..Noise::default() }, 7, 1.05, 0..4);
    assert!(found >= 3, "{found} of 4");
    if std::env::var_os("YUNTI_RECORD_POWER").is_none() {
        return;
    }
    for (days, seconds, function_day, factor) in [
        (7, 30.0, 0.002, 1.05),
        (7, 60.0, 0.002, 1.05),
        (7, 60.0, 0.005, 1.05),
        (7, 600.0, 0.002, 1.05),
        (7, 600.0, 0.005, 1.05),
        (7, 600.0, 0.002, 1.03),
        (3, 60.0, 0.002, 1.05),
        (3, 60.0, 0.002, 1.1),
        (1, 60.0, 0.002, 1.1),
        (1, 60.0, 0.002, 1.2),
        (1, 600.0, 0.002, 1.2),
    ] {
        let noise = Noise { seconds, function_day, ..Noise::default() };
        let (found, others) = planted(noise, days, factor, 0..20);
        println!(
            "POWER days {days} seconds {seconds} function {function_day} factor {factor}: {found} of 20, {others} others"
        );
    }
    for seed in 100..115 {
        for (seconds, function_day) in [(60.0, 0.002), (600.0, 0.005)] {
            let alarms = equal_days(seed, Noise { seconds, function_day, ..Noise::default() });
            println!("EQUAL seed {seed} seconds {seconds} function {function_day}: {alarms} alarms in 30 days");
        }
    }
}

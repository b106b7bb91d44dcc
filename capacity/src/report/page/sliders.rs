//! Sliders of the page: which there are, their values, and the effect of each on the times of a request.
//!
//! A lock or a pool is held while other things happen. So a slider on one resource changes the times of others too.
//! Its effect is the difference of the formulas with and without a change of the demands, which is in proportion.

use serde_json::{Value, json};
use yunti_model::demands::{Demands, ResourceKind};
use yunti_model::formulas::{Formulas, Item, Necessary, Place};
use yunti_model::what_if::{Change, apply};

use crate::report::Report;
use crate::report::names::short;

/// Resources with a slider, at most.
const RESOURCES_MAX: usize = 8;
/// Share of a request's time from which on a resource gets a slider.
const SHARE_MIN: f64 = 0.01;
/// Use at the peak from which on it does too.
const USE_MIN: f64 = 0.05;
/// Characters of a name in a label, and in a word of `yunti capacity what-if`.
const NAME_SHOWN: usize = 60;
/// Factors on a time.
const TIMES: [f64; 15] = [0.1, 0.2, 0.25, 0.33, 0.5, 0.67, 0.75, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0, 3.0];
/// Factors on a number of units.
const UNITS: [f64; 12] = [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0];
/// Factors on the size of the young generation.
const YOUNG: [f64; 8] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// Quantity that a slider changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// Number of processors.
    Processors,
    /// Time of a resource, by its place in the list of items.
    Time(usize),
    /// Units of a resource.
    Units(usize),
    /// Threads that serve requests.
    Workers,
    /// Bytes that a request allocates.
    Memory,
    /// Bytes of the young generation.
    Young,
}

/// Slider with its values; each position is one of them.
#[derive(Clone, Debug)]
pub struct Slider {
    pub id: String,
    pub label: String,
    pub quantity: Quantity,
    pub values: Vec<f64>,
    /// Position of the present value.
    pub now: usize,
    /// Word and name of the change for `yunti capacity what-if`.
    pub word: String,
    /// Change of the times of a request for each part of the time: of a request, and of each item.
    pub effect: (f64, Vec<f64>),
}

impl Slider {
    fn new(
        id: impl Into<String>,
        label: impl Into<String>,
        quantity: Quantity,
        (values, now): (Vec<f64>, usize),
    ) -> Slider {
        Slider {
            id: id.into(),
            label: label.into(),
            quantity,
            values,
            now,
            word: String::new(),
            effect: (0.0, Vec::new()),
        }
    }

    /// Returns the slider for the script.
    pub fn json(&self) -> Value {
        let (kind, item) = match self.quantity {
            Quantity::Processors => ("processors", None),
            Quantity::Time(item) => ("time", Some(item)),
            Quantity::Units(item) => ("units", Some(item)),
            Quantity::Workers => ("workers", None),
            Quantity::Memory => ("memory", None),
            Quantity::Young => ("young", None),
        };
        json!({ "id": self.id, "kind": kind, "item": item, "values": self.values, "now": self.now, "word": self.word,
                "request": self.effect.0, "items": self.effect.1 })
    }
}

/// Returns the sliders of an answer.
pub fn list(report: &Report<'_>) -> Vec<Slider> {
    let (demands, items) = (report.demands, &report.curve.formulas.necessary.items);
    let count = demands.processors.count;
    let mut all = vec![Slider {
        word: "cpu".into(),
        ..Slider::new("cpus", "processors", Quantity::Processors, around(count, &UNITS, true))
    }];
    let effects = Effects::of(demands);
    if let Some(place) = items.iter().position(|item| item.place == Place::Processors) {
        let mut slider = Slider::new("cpu-time", "time on processors", Quantity::Time(place), times());
        (slider.word, slider.effect) = ("cpu x".into(), effects.change(Change::Faster(2.0)));
        all.push(slider);
    }
    let wanted = |item: &Item, used: Option<f64>| {
        matches!(item.place, Place::Resource(_))
            && (item.ms >= SHARE_MIN * report.curve.formulas.necessary.ms || used.is_some_and(|used| used >= USE_MIN))
    };
    for (item, _) in report.resources().into_iter().filter(|(item, used)| wanted(item, *used)).take(RESOURCES_MAX) {
        let (Place::Resource(at), Some(place)) = (item.place, items.iter().position(|other| other.place == item.place))
        else {
            continue;
        };
        let (kind, name) = (demands.resources[at].kind, short(&item.name, NAME_SHOWN));
        let word = format!("{} {}", kind.name(), in_change(&item.name)).trim().to_string();
        if kind != ResourceKind::Threads {
            let label = format!("time of {} {name}", kind.name());
            let mut slider = Slider::new(format!("time-{at}"), label, Quantity::Time(place), times());
            (slider.word, slider.effect) = (word.clone(), effects.hold(at, kind));
            all.push(slider);
        }
        if let (Some(units), ResourceKind::Pool | ResourceKind::Threads) = (item.units, kind) {
            let label = format!("size of {} {name}", kind.name());
            let slider = Slider::new(format!("size-{at}"), label, Quantity::Units(place), around(units, &UNITS, true));
            all.push(Slider { word, ..slider });
        }
    }
    if let Some(limit) = demands.workers.limit {
        let slider = Slider::new(
            "threads",
            "threads that serve requests",
            Quantity::Workers,
            around(limit.into(), &UNITS, true),
        );
        all.push(Slider { word: "threads".into(), ..slider });
    }
    if let Some(young) = &report.advice.young {
        let memory = Slider::new("memory", "memory that a request allocates", Quantity::Memory, times());
        all.push(Slider { word: "memory".into(), ..memory });
        let sizes = around(young.now.young_bytes, &YOUNG, false);
        let slider = Slider::new("young", "size of the young generation", Quantity::Young, sizes);
        all.push(Slider { word: "young".into(), ..slider });
    }
    all
}

fn times() -> (Vec<f64>, usize) {
    (TIMES.to_vec(), TIMES.iter().position(|factor| *factor == 1.0).unwrap_or(0))
}

/// Returns values around the present one, and its position. Whole ones are units; the present one stays as it is.
fn around(now: f64, factors: &[f64], is_whole: bool) -> (Vec<f64>, usize) {
    let mut values: Vec<f64> =
        factors.iter().map(|factor| if is_whole { (now * factor).round() } else { now * factor }).collect();
    if is_whole {
        // Next to a small number, each number matters.
        values.extend((1..=4).map(|more| now.round() + f64::from(more)));
        values.retain(|value| *value >= 1.0);
    }
    values.push(now);
    values.sort_by(f64::total_cmp);
    values.dedup();
    let at = values.iter().position(|value| *value == now).unwrap_or(0);
    (values, at)
}

/// Returns a part of a name that a change can hold, or nothing.
fn in_change(name: &str) -> String {
    let is_plain = |c: char| !c.is_control() && c != '\'';
    // A change is cut at blanks, so a name must not begin or end with them; an arrow is another change.
    let part: String =
        name.split("->").next().unwrap_or("").chars().take_while(|c| is_plain(*c)).take(NAME_SHOWN).collect();
    part.trim().to_string()
}

/// Effects of changes on the necessary time of a request.
struct Effects {
    demands: Demands,
    before: Necessary,
}

impl Effects {
    fn of(demands: &Demands) -> Effects {
        let mut demands = demands.clone();
        // Names of their own, so that a change finds one resource alone.
        demands.resources.iter_mut().enumerate().for_each(|(at, resource)| resource.name = unique(at));
        let before = apply(&demands, &[], &[]).map(|demands| Formulas::of(&demands).necessary);
        let before = before.unwrap_or_else(|_| Formulas::of(&demands).necessary);
        Effects { demands, before }
    }

    fn hold(&self, at: usize, kind: ResourceKind) -> (f64, Vec<f64>) {
        self.change(Change::Hold { kind, name: Some(unique(at)), factor: 0.5 })
    }

    /// Returns the effect of a change that halves a time, for the whole of that time.
    fn change(&self, change: Change) -> (f64, Vec<f64>) {
        let Ok(changed) = apply(&self.demands, &[change], &[]) else {
            return (0.0, vec![0.0; self.before.items.len()]);
        };
        let after = Formulas::of(&changed).necessary;
        let items = self.before.items.iter().map(|item| {
            let ms = after.items.iter().find(|other| other.place == item.place).map_or(item.ms, |other| other.ms);
            (item.ms - ms) / 0.5
        });
        ((self.before.ms - after.ms) / 0.5, items.collect())
    }
}

fn unique(at: usize) -> String {
    format!("<{at}>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::tests::Example;

    #[test]
    fn a_slider_of_a_call_changes_the_pool_around_it() {
        let example = Example::shop();
        let report = example.report();
        let sliders = list(&report);
        let of = |id: &str| sliders.iter().find(|slider| slider.id == id).unwrap();
        let items = &example.curve.formulas.necessary.items;
        let (remote, pool) = (of("time-3"), of("size-1"));
        let (Quantity::Time(remote_at), Quantity::Units(pool_at)) = (remote.quantity, pool.quantity) else { panic!() };
        assert!((remote.effect.1[remote_at] - items[remote_at].ms).abs() < 1e-6);
        // All that the pool is held for are these calls.
        assert!((remote.effect.1[pool_at] - items[pool_at].ms).abs() < 1e-6);
        assert!(remote.effect.0 < items[remote_at].ms, "calls at once are not all of a request's time");
        assert_eq!((pool.values[pool.now], &*pool.word), (4.0, "pool com.shop.Pool.borrow (Semaphore)"));
        assert!(
            sliders.iter().all(|slider| slider.values.is_sorted_by(|a, b| a < b) && slider.now < slider.values.len())
        );
        assert!(sliders.iter().any(|slider| slider.quantity == Quantity::Young));
    }

    #[test]
    fn words_of_changes_are_understood() {
        for example in Example::all() {
            for slider in list(&example.report()) {
                let tail = match (slider.quantity, &*slider.word) {
                    (_, "cpu x") => "2",
                    (Quantity::Time(_) | Quantity::Memory, _) => " x0.5",
                    (Quantity::Young, _) => " 100m",
                    _ => " 8",
                };
                let text = format!("{}{tail}", slider.word);
                assert!(yunti_model::what_if::parse(&text).is_ok(), "{text}");
            }
        }
    }

    #[test]
    fn values_are_around_the_present_one() {
        assert_eq!(around(1.0, &UNITS, true), (vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 16.0], 0));
        assert_eq!(around(1.5, &[1.0, 2.0], true).0, [1.5, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(around(100.0, &YOUNG, false).1, 2);
    }
}

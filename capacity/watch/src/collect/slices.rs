//! Slices: windows and functions of a record, from what `yunti observe record` wrote.

use std::collections::HashMap;
use std::path::Path;

use yunti_base::Result;
use yunti_record::{Facts, Frame, FrameKind, Measure, Query, Slice, Store};

use crate::record::{Function, Record, Window, rounded};

/// Part of all processor time that a function with its callees has at least, to be kept.
const SHARE_MIN: f64 = 0.0005;
const FUNCTIONS_MAX: usize = 600;
/// Part of a function's time that its dominant caller has at least.
const DOMINANT: f64 = 0.6;
/// Part of a window's length that a slice has at least: the first and the last one are cut.
const LENGTH_MIN: f64 = 0.8;
const NANOS_A_MS: f64 = 1e6;
/// Part of the name of the function below which threads of HotSpot and Graal compile. A window has their time apart.
const COMPILER: &str = "compiler_thread_loop";

/// Returns true if a folder has `count` slices of full length.
pub fn has_whole(folder: &Path, seconds: f64, count: usize) -> bool {
    let Ok(store) = Store::open(folder) else { return false };
    let entries = store.list(&Query::default()).unwrap_or_default();
    // Lengths of names are rounded up, so files are read once enough names are there.
    entries.len() >= count
        && entries.iter().filter(|entry| store.facts(entry).is_ok_and(|facts| is_whole(&facts, seconds))).count()
            >= count
}

fn is_whole(facts: &Facts, seconds: f64) -> bool {
    facts.duration_ms as f64 >= seconds * 1000.0 * LENGTH_MIN
}

/// Adds windows and functions to a record: the last `count` whole slices. Returns the beginnings of the windows as Unix
/// times in milliseconds.
pub fn take(folder: &Path, seconds: f64, count: usize, record: &mut Record) -> Result<Vec<u64>> {
    let store = Store::open(folder)?;
    let mut slices = Vec::new();
    for entry in store.list(&Query::default())? {
        let slice = store.read(&entry)?;
        if is_whole(&slice.facts, seconds) {
            slices.push(slice);
        }
    }
    let slices = slices.split_off(slices.len().saturating_sub(count));
    record.head.windows = slices.iter().map(window).collect();
    record.sampled_ms = slices.iter().map(|slice| ms(sampled(slice))).collect();
    let periods: Vec<f64> =
        slices.iter().filter_map(|slice| slice.facts.periods.get(&Measure::Cpu)).map(|p| ms(*p)).collect();
    record.head.sample_ms = if periods.is_empty() { 0.0 } else { periods.iter().sum::<f64>() / periods.len() as f64 };
    let allocations = slices.iter().filter_map(|slice| slice.facts.periods.get(&Measure::Alloc));
    record.head.sample_bytes = allocations.copied().max().unwrap_or(0) as f64;
    record.functions = functions(&slices);
    Ok(slices.iter().map(|slice| slice.facts.begin_ms).collect())
}

fn ms(nanos: u64) -> f64 {
    rounded(nanos as f64 / NANOS_A_MS)
}

fn window(slice: &Slice) -> Window {
    let facts = &slice.facts;
    let cpu = facts.counters.get("process.cpu").map(|counter| rounded(counter.value / NANOS_A_MS));
    let bytes = slice.stacks.total(Measure::Alloc);
    Window {
        seconds: facts.duration_ms as f64 / 1000.0,
        requests: facts.requests.map(|requests| requests as f64),
        cpu_ms: cpu,
        allocated_bytes: (bytes > 0).then_some(bytes as f64),
        ..Window::default()
    }
}

/// Returns the sampled time of all stacks of the program.
fn sampled(slice: &Slice) -> u64 {
    program_stacks(slice).map(|(_, cost)| cost).sum()
}

/// Yields the frames and the sampled time of all stacks but those of compilers.
fn program_stacks(slice: &Slice) -> impl Iterator<Item = (Vec<&Frame>, u64)> {
    let stacks = slice.stacks.of(Measure::Cpu).map(|(frames, cost)| (frames.collect::<Vec<_>>(), cost));
    stacks.filter(|(frames, _)| !frames.iter().any(|frame| frame.name.contains(COMPILER)))
}

/// Sums of a function over the slices.
#[derive(Default)]
struct Sums {
    own: Vec<u64>,
    total: Vec<u64>,
    /// Time by caller.
    callers: HashMap<usize, u64>,
}

/// Returns the functions with a part of all time, the largest first. Functions of equal names are one.
fn functions(slices: &[Slice]) -> Vec<Function> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut sums: Vec<Sums> = Vec::new();
    for (at, slice) in slices.iter().enumerate() {
        for (frames, cost) in program_stacks(slice) {
            let mut stack: Vec<usize> = Vec::new();
            for frame in frames.into_iter().filter(|frame| frame.kind != FrameKind::Group) {
                let place = places.len();
                let place = *places.entry(frame.name.to_string()).or_insert(place);
                if place == sums.len() {
                    sums.push(Sums { own: vec![0; slices.len()], total: vec![0; slices.len()], ..Sums::default() });
                }
                // A recursive function counts once, below its outermost call.
                if !stack.contains(&place) {
                    sums[place].total[at] += cost;
                    if let Some(caller) = stack.last() {
                        *sums[place].callers.entry(*caller).or_default() += cost;
                    }
                }
                stack.push(place);
            }
            if let Some(leaf) = stack.last() {
                sums[*leaf].own[at] += cost;
            }
        }
    }
    let mut names = vec![String::new(); sums.len()];
    places.into_iter().for_each(|(name, place)| names[place] = name);
    let whole: u64 = sums.iter().flat_map(|sums| &sums.own).sum();
    let total = |place: usize| sums[place].total.iter().sum::<u64>();
    let mut kept: Vec<usize> = (0..sums.len()).filter(|at| total(*at) as f64 >= SHARE_MIN * whole as f64).collect();
    kept.sort_by(|a, b| total(*b).cmp(&total(*a)).then(names[*a].cmp(&names[*b])));
    kept.truncate(FUNCTIONS_MAX);
    let new_places: HashMap<usize, usize> = kept.iter().enumerate().map(|(new, old)| (*old, new)).collect();
    let dominant = |place: usize| {
        let (caller, cost) = sums[place].callers.iter().max_by_key(|(caller, cost)| (**cost, **caller))?;
        let is_dominant = *cost as f64 >= DOMINANT * total(place) as f64;
        new_places.get(caller).copied().filter(|_| is_dominant)
    };
    kept.iter()
        .map(|place| Function {
            name: names[*place].clone(),
            caller: dominant(*place),
            own_ms: sums[*place].own.iter().map(|cost| ms(*cost)).collect(),
            total_ms: sums[*place].total.iter().map(|cost| ms(*cost)).collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_base::process::unique_token;
    use yunti_record::{Counter, Stacks};

    fn slice(at: u64, seconds: u64, stacks: &[(&str, u64)]) -> Slice {
        let mut slice = Slice {
            facts: Facts {
                begin_ms: 1_795_835_400_000 + at * 1000,
                duration_ms: seconds * 1000,
                requests: Some(100),
                ..Facts::default()
            },
            stacks: Stacks::default(),
        };
        slice.facts.service.name = "shop".into();
        slice.facts.periods.insert(Measure::Cpu, 10_000_000);
        slice.facts.counters.insert("process.cpu".into(), Counter { value: 5e8, unit: "nanoseconds".into() });
        for (text, ms) in stacks {
            let frames: Vec<Frame> = text.split(' ').map(|name| Frame::new(name, FrameKind::Compiled)).collect();
            slice.stacks.add(&frames, Measure::Cpu, ms * 1_000_000);
        }
        slice
    }

    #[test]
    fn slices_become_windows_and_functions() {
        let folder = std::env::temp_dir().join(format!("yunti-watch-{}", unique_token()));
        let mut store = Store::create(&folder).unwrap();
        for one in [
            slice(0, 2, &[("run a", 50)]),
            slice(2, 6, &[("run a b", 100), ("run a", 50), ("run c a", 10)]),
            slice(8, 6, &[("run a b", 200), ("run a b a", 40), ("run", 60), ("x::compiler_thread_loop c2", 900)]),
        ] {
            store.put(&one).unwrap();
        }
        let mut record = Record::default();
        assert!(has_whole(&folder, 6.0, 2) && !has_whole(&folder, 6.0, 3));
        let begins = take(&folder, 6.0, 10, &mut record).unwrap();
        assert_eq!((begins.len(), record.head.windows.len(), record.head.sample_ms), (2, 2, 10.0));
        assert_eq!((record.head.windows[0].cpu_ms, record.head.windows[1].requests), (Some(500.0), Some(100.0)));
        assert_eq!(record.sampled_ms, [160.0, 300.0]);
        let found: Vec<String> = record
            .functions
            .iter()
            .map(|f| {
                let caller = f.caller.map_or("-", |at| &record.functions[at].name);
                format!("{} {caller} {:?} {:?}", f.name, f.own_ms, f.total_ms)
            })
            .collect();
        let wanted = [
            "run - [0.0, 60.0] [160.0, 300.0]",
            "a run [60.0, 40.0] [160.0, 240.0]",
            "b a [100.0, 200.0] [100.0, 240.0]",
            "c run [0.0, 0.0] [10.0, 0.0]",
        ];
        assert_eq!(found, wanted);
        std::fs::remove_dir_all(folder).unwrap();
    }
}

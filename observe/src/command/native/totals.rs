//! Totals of hits: sums by watch, the first hits one by one, and references to stacks.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::groups::Row;
use super::watch::Watch;
use crate::calls::Durations;
use crate::capture::Stacks;
use yunti_probe::condition::KEYS_MAX;
use yunti_probe::histogram::Histogram;
use yunti_probe::kernel::{Group, Hit};
use yunti_probe::stack::Frame;

/// Calls that `--json` lists one by one.
const CALLS_MAX: usize = 10_000;
/// Distinct argument texts counted separately. Further ones are counted as [`OTHER_TEXTS`].
const TEXTS_MAX: usize = 20_000;
const OTHER_TEXTS: &str = "others";

/// Sums of one watch.
#[derive(Default)]
pub struct Sum {
    /// Exact count, even if records were lost.
    pub hits: u64,
    /// Durations of calls that have ended.
    pub durations: Durations,
    pub histogram: Histogram,
    /// Calls that were still running, or ended by an exception or an unseen jump.
    pub without_return: u64,
    pub left_by_jump: u64,
    /// Count by errno.
    pub errors: BTreeMap<i32, u64>,
}

/// A hit that may have a stack.
pub struct StackRef {
    pub probe: usize,
    pub tid: u32,
    pub stack: u32,
    /// 0 if the hit has no duration.
    pub duration_ns: u64,
    pub is_long: bool,
    /// Values of its group, and of what is summed up.
    pub keys: Vec<u64>,
}

/// Common values of a group's hits: watch, values and stack.
type Shared<'a> = (usize, &'a [u64], Option<&'a [Frame]>);

/// Totals of all hits so far.
pub struct Totals {
    pub sums: Vec<Sum>,
    pub calls: Vec<Hit>,
    pub stack_refs: Vec<StackRef>,
    /// Calls with texts or socket addresses as arguments -> hits, nanoseconds.
    pub by_texts: HashMap<String, (u64, u64)>,
    /// Groups of hits without a stack: watch and values -> hits, sum.
    without_stack: HashMap<(usize, Vec<u64>), (u64, u64)>,
}

impl Totals {
    pub fn of(watches: &[Watch]) -> Totals {
        Totals {
            sums: watches.iter().map(|_| Sum::default()).collect(),
            calls: Vec::new(),
            stack_refs: Vec::new(),
            by_texts: HashMap::new(),
            without_stack: HashMap::new(),
        }
    }

    /// Returns the groups of hits by their values and their stacks.
    pub fn groups(&self, watches: &[Watch], stacks: &Stacks) -> Vec<Row> {
        // Stacks with the same names are one.
        let mut sums: HashMap<Shared<'_>, (u64, u64)> = HashMap::new();
        for ((probe, keys), (hits, sum)) in &self.without_stack {
            sums.insert((*probe, keys, None), (*hits, *sum));
        }
        for hit in &self.stack_refs {
            let frames = stacks.get(hit.tid, hit.stack).map(|frames| &**frames);
            let group = sums.entry((hit.probe, &hit.keys[..KEYS_MAX], frames)).or_default();
            *group = (group.0 + 1, group.1.wrapping_add(hit.keys[KEYS_MAX]));
        }
        let row = |((probe, keys, stack), (hits, sum)): (Shared<'_>, (u64, u64))| {
            let number = watches[probe].probe.conditions.grouping.as_ref().map_or(0, |grouping| grouping.keys.len());
            let group = Group { probe, keys: keys[..number].to_vec(), hits, sum };
            Row { group, stack: stack.map(Rc::from) }
        };
        sums.into_iter().map(row).collect()
    }

    /// Adds a hit.
    ///
    /// @param is_long true if `--json` and the stacks may include it
    pub fn add(&mut self, watch: &Watch, hit: Hit, is_long: bool) {
        let sum = &mut self.sums[hit.probe];
        match hit.duration_ns {
            Some(ns) => {
                sum.durations.add(ns);
                sum.histogram.add(ns);
                sum.left_by_jump += u64::from(hit.is_left_by_jump);
            }
            None => sum.without_return += u64::from(watch.has_end()),
        }
        if let Some(errno) = watch.error_number(&hit) {
            *sum.errors.entry(errno).or_default() += 1;
        }
        if hit.stack != 0 {
            self.stack_refs.push(StackRef {
                probe: hit.probe,
                tid: hit.tid,
                stack: hit.stack,
                duration_ns: hit.duration_ns.unwrap_or(0),
                is_long,
                keys: hit.keys.to_vec(),
            });
        } else if watch.probe.conditions.grouping.is_some() {
            let sum = self.without_stack.entry((hit.probe, hit.keys[..KEYS_MAX].to_vec())).or_default();
            *sum = (sum.0 + 1, sum.1.wrapping_add(hit.keys[KEYS_MAX]));
        }
        if !hit.texts.is_empty() {
            let mut call = watch.call(&hit);
            if self.by_texts.len() >= TEXTS_MAX && !self.by_texts.contains_key(&call) {
                call = OTHER_TEXTS.to_owned();
            }
            let sum = self.by_texts.entry(call).or_default();
            *sum = (sum.0 + 1, sum.1 + hit.duration_ns.unwrap_or(0));
        }
        if is_long && self.calls.len() < CALLS_MAX {
            self.calls.push(hit);
        }
    }
}

//! What is kept of hits while they come: sums of all, the first one by one, and of those that have a stack which it is.

use std::collections::{BTreeMap, HashMap};

use super::what::Watch;
use crate::calls::Durations;
use yunti_probe::histogram::Histogram;
use yunti_probe::kernel::Hit;

/// Calls that --json has one by one.
const CALLS_MAX: usize = 10_000;
/// Calls with different texts that are told apart.
const TEXTS_MAX: usize = 20_000;
const OTHER_TEXTS: &str = "others";

/// Of one watch.
#[derive(Default)]
pub struct Sum {
    /// Exact, whatever was lost.
    pub hits: u64,
    /// Of calls that are over.
    pub durations: Durations,
    pub histogram: Histogram,
    /// Not over at the end, or left by an exception or a jump that is not seen.
    pub without_return: u64,
    pub left_by_jump: u64,
    /// By their number.
    pub errors: BTreeMap<i32, u64>,
}

/// A hit of which there may be a stack.
pub struct Way {
    pub probe: usize,
    pub tid: u32,
    pub stack: u32,
    /// 0: it has none.
    pub duration_ns: u64,
    pub is_long: bool,
}

pub struct Gathering {
    pub sums: Vec<Sum>,
    pub calls: Vec<Hit>,
    pub ways: Vec<Way>,
    /// Arguments that are texts or addresses of sockets: how often, how long.
    pub by_texts: HashMap<String, (u64, u64)>,
}

impl Gathering {
    pub fn of(watches: &[Watch]) -> Gathering {
        Gathering {
            sums: watches.iter().map(|_| Sum::default()).collect(),
            calls: Vec::new(),
            ways: Vec::new(),
            by_texts: HashMap::new(),
        }
    }

    /// @param is_long whether it is told by itself
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
            self.ways.push(Way {
                probe: hit.probe,
                tid: hit.tid,
                stack: hit.stack,
                duration_ns: hit.duration_ns.unwrap_or(0),
                is_long,
            });
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

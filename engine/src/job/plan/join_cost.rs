//! Costs of the three ways of a hash join, estimated from what the job knows before its first record.
//!
//! ```text
//!   memory   the side file becomes a table: each of its rows is built, each line of the input looks it up
//!   lookup   each line of the input asks the servers, at the speed that a probe has measured
//!   sort     lines of both sides are sorted; beyond the memory they are written and read again
//! ```
//!
//! The rates are those of this engine on a quiet processor of a server (`docs/decisions/joins-in-memory.md`). A slower
//! or busier processor takes longer for all of them: a small sort before the job shows how much. Servers and network
//! are measured each time, by this processor too.

use serde::{Deserialize, Serialize};
use yunti_base::{Code, Error, Result};

/// A way of a hash join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JoinBy {
    #[default]
    Memory,
    Lookup,
    Sort,
}

impl JoinBy {
    /// Returns the way of a name; None for `auto`. Errors: `Usage`.
    pub fn named(name: &str) -> Result<Option<JoinBy>> {
        match name {
            "auto" => Ok(None),
            "memory" => Ok(Some(JoinBy::Memory)),
            "lookup" => Ok(Some(JoinBy::Lookup)),
            "sort" => Ok(Some(JoinBy::Sort)),
            other => Err(Error::new(Code::Usage, format!("the setting join.by is '{other}'"))
                .hint("use auto, memory, lookup or sort")),
        }
    }
}

/// Lines of one side.
#[derive(Clone, Copy, Debug, Default)]
pub struct SideSize {
    pub bytes: u64,
    /// Mean of a line, with its end.
    pub line_bytes: f64,
}

impl SideSize {
    fn lines(&self) -> f64 {
        self.bytes as f64 / self.line_bytes.max(1.0)
    }
}

/// Facts that a job knows before its first record.
#[derive(Clone, Copy, Debug, Default)]
pub struct JoinFacts {
    pub left: SideSize,
    pub right: SideSize,
    pub budget_bytes: u64,
    pub workers: usize,
    /// Time of the probe for one key: all workers asked at the same time.
    pub key_ns: f64,
    /// Time of this processor for the work of one second in the rates.
    pub slowness: f64,
}

/// Times of one worker, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct JoinRates {
    /// A line that is read, cut and written as a record, and a byte of it.
    pub line: f64,
    pub byte: f64,
    /// A lookup in the table of a side file.
    pub probe: f64,
    /// A row of that table, and a byte of it.
    pub row: f64,
    pub row_byte: f64,
    /// A record that is sorted, and a byte of it.
    pub sort: f64,
    pub sort_byte: f64,
    /// A byte that is spilled and read again.
    pub spill_byte: f64,
}

/// Rates that were measured on 2 cores of an AMD EPYC.
pub const RATES: JoinRates = JoinRates {
    line: 20.0,
    byte: 0.5,
    probe: 20.0,
    row: 160.0,
    row_byte: 1.5,
    sort: 120.0,
    sort_byte: 1.0,
    spill_byte: 0.5,
};

/// Time of that processor to sort a line of a sample in memory, for each doubling of their number.
const SMALL_SORT_NS: f64 = 2.6;

/// Returns how much longer a processor took to sort these lines than the one of the rates.
pub fn slowness(lines: usize, elapsed_ns: u64) -> f64 {
    let expected = lines as f64 * (lines as f64).log2() * SMALL_SORT_NS;
    if lines < 64 { 1.0 } else { (elapsed_ns as f64 / expected).clamp(0.2, 20.0) }
}

/// Bytes of a table for a byte of its side file, about; the share of the budget that a table may have.
const TABLE_BYTES: f64 = 1.5;
const TABLE_SHARE: f64 = 0.75;

/// Estimated times of the three ways, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JoinCosts {
    /// `None`: the table does not fit in the memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_ms: Option<f64>,
    pub lookup_ms: f64,
    pub sort_ms: f64,
}

impl JoinCosts {
    pub fn of(facts: &JoinFacts, rates: &JoinRates) -> JoinCosts {
        let JoinFacts { left, right, budget_bytes, workers, key_ns, slowness } = facts;
        let workers = (*workers).max(1) as f64;
        let (lines, rows) = (left.lines(), right.lines());
        let pass = (lines * rates.line + left.bytes as f64 * rates.byte) / workers;
        let build = (rows * rates.row + right.bytes as f64 * rates.row_byte) / workers;
        let both = (left.bytes + right.bytes) as f64;
        let spilled = if both > *budget_bytes as f64 { both * rates.spill_byte } else { 0.0 };
        let sort = pass + ((lines + rows) * rates.sort + both * rates.sort_byte + spilled) / workers;
        let fits = right.bytes as f64 * TABLE_BYTES <= *budget_bytes as f64 * TABLE_SHARE;
        let ms = |ns: f64| ns * slowness / 1e6;
        JoinCosts {
            memory_ms: fits.then(|| ms(build + pass + lines * rates.probe / workers)),
            // All workers were at work in the probe, on this processor: its time is the one that it takes.
            lookup_ms: ms(pass) + lines * key_ns / 1e6,
            sort_ms: ms(sort),
        }
    }

    /// Returns the cheapest way.
    pub fn cheapest(&self) -> JoinBy {
        let rest = self.without_memory();
        let least = self.lookup_ms.min(self.sort_ms);
        if self.memory_ms.is_some_and(|memory| memory <= least) { JoinBy::Memory } else { rest }
    }

    /// Returns the cheapest way that needs no memory for a table.
    pub fn without_memory(&self) -> JoinBy {
        if self.lookup_ms < self.sort_ms { JoinBy::Lookup } else { JoinBy::Sort }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: JoinRates = JoinRates {
        line: 50.0,
        byte: 1.0,
        probe: 30.0,
        row: 150.0,
        row_byte: 1.5,
        sort: 200.0,
        sort_byte: 2.0,
        spill_byte: 1.0,
    };

    fn side(bytes: u64, line_bytes: f64) -> SideSize {
        SideSize { bytes, line_bytes }
    }

    #[track_caller]
    fn check(left: u64, right: u64, budget: u64, key_ns: f64, expect: JoinBy) {
        for workers in [1, 2, 16] {
            // The servers keep up with the workers.
            let key_ns = key_ns / workers as f64;
            let (left, right) = (side(left, 50.0), side(right, 50.0));
            let facts = JoinFacts { left, right, budget_bytes: budget, workers, key_ns, slowness: 1.0 };
            let costs = JoinCosts::of(&facts, &RATES);
            assert_eq!(costs.cheapest(), expect, "{workers} workers, {costs:?}");
        }
    }

    #[test]
    fn the_cheapest_way() {
        let (mb, gb) = (1 << 20, 1 << 30);
        // A few lines, and a large table: whether it fits or not.
        check(mb, gb, 64 * mb, 500.0, JoinBy::Lookup);
        check(mb, gb, 8 * gb, 500.0, JoinBy::Lookup);
        // Many lines, and a small table.
        check(gb, mb, 64 * mb, 500.0, JoinBy::Memory);
        // Many lines, and a table that does not fit.
        check(gb, 100 * mb, 64 * mb, 500.0, JoinBy::Sort);
        // Servers that are as fast as memory, and slow ones.
        check(gb, 100 * mb, 64 * mb, 20.0, JoinBy::Lookup);
        check(100 * mb, gb, 64 * mb, 100_000.0, JoinBy::Sort);
        // Nothing to join with: no row is built.
        check(gb, 0, 64 * mb, 500.0, JoinBy::Memory);
    }

    #[test]
    fn a_table_that_does_not_fit_has_no_cost() {
        let facts = |budget_bytes| JoinFacts {
            left: side(1 << 20, 10.0),
            right: side(100 << 20, 10.0),
            budget_bytes,
            workers: 2,
            key_ns: 1.0,
            slowness: 1.0,
        };
        assert!(JoinCosts::of(&facts(100 << 20), &RATES).memory_ms.is_none());
        let costs = JoinCosts::of(&facts(1 << 30), &RATES);
        assert!(costs.memory_ms.is_some() && costs.without_memory() == JoinBy::Lookup);
        // Spilling costs.
        assert!(JoinCosts::of(&facts(64 << 20), &RATES).sort_ms > costs.sort_ms);
    }

    #[test]
    fn a_slow_processor_prefers_other_machines() {
        let expected = (20_000.0 * 20_000_f64.log2() * SMALL_SORT_NS) as u64;
        assert!((slowness(20_000, expected) - 1.0).abs() < 0.01 && slowness(20_000, 3 * expected) > 2.9);
        assert_eq!(slowness(2, 1 << 40), 1.0);
        let facts = |slowness| JoinFacts {
            left: side(1 << 30, 50.0),
            right: side(100 << 20, 50.0),
            budget_bytes: 64 << 20,
            workers: 2,
            key_ns: 250.0,
            slowness,
        };
        assert_eq!(JoinCosts::of(&facts(1.0), &RATES).cheapest(), JoinBy::Sort);
        assert_eq!(JoinCosts::of(&facts(3.0), &RATES).cheapest(), JoinBy::Lookup);
    }

    #[test]
    fn names() {
        for (name, by) in [("auto", None), ("lookup", Some(JoinBy::Lookup)), ("sort", Some(JoinBy::Sort))] {
            assert_eq!(JoinBy::named(name).unwrap(), by);
        }
        assert!(JoinBy::named("fast").unwrap_err().to_string().contains("auto, memory, lookup or sort"));
    }
}

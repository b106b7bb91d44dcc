//! Histogram of durations: counts by powers of two of microseconds.

use serde_json::{Value, json};

/// Counts of durations.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Index 0: below 1 us; index n: from 2^(n-1) us to below 2^n us.
    counts: Vec<u64>,
}

impl Histogram {
    /// Adds a duration.
    pub fn add(&mut self, ns: u64) {
        let us = ns / 1000;
        let place = (u64::BITS - us.leading_zeros()) as usize;
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
    }

    /// Adds the counts of another histogram.
    pub fn join(&mut self, other: &Histogram) {
        self.counts.resize(self.counts.len().max(other.counts.len()), 0);
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Returns the number of durations.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns (from, to) in microseconds and the count of each bar, from the first to the last one with a count.
    pub fn bars(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let first = self.counts.iter().position(|n| *n > 0).unwrap_or(0);
        self.counts
            .iter()
            .enumerate()
            .skip(first)
            .map(|(place, n)| (if place == 0 { 0 } else { 1 << (place - 1) }, 1 << place, *n))
    }

    /// Returns the bars as JSON.
    pub fn to_json(&self) -> Value {
        self.bars().map(|(from, to, n)| json!({"from_us": from, "below_us": to, "count": n})).collect()
    }

    /// Returns table rows: from, to, count, bar.
    pub fn rows(&self) -> Vec<Vec<String>> {
        const WIDEST: u64 = 40;
        let most = self.counts.iter().max().copied().unwrap_or(0).max(1);
        self.bars()
            .map(|(from, to, n)| {
                let bar = "#".repeat((n * WIDEST).div_ceil(most) as usize);
                vec![format!("{from}"), format!("{to}"), n.to_string(), bar]
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_by_powers_of_two() {
        let mut histogram = Histogram::default();
        for us in [0, 1, 2, 3, 4, 1000] {
            histogram.add(us * 1000 + 999);
        }
        let bars: Vec<_> = histogram.bars().filter(|(_, _, n)| *n > 0).collect();
        assert_eq!(bars, [(0, 1, 1), (1, 2, 1), (2, 4, 2), (4, 8, 1), (512, 1024, 1)]);
        assert_eq!(histogram.total(), 6);
        assert!(Histogram::default().rows().is_empty());
        histogram.add(u64::MAX);
    }
}

//! Cost of a first write into preallocated blocks.
//!
//! ```text
//!   fallocate    extent, unwritten   ------------------------  reads as zeros; the blocks are reserved
//!   write, sync  extent, written     ====--------------------  the extent is split and marked, in the journal
//!   write again                      ====--------------------  data only
//! ```
//! A program that syncs each write, as logs and databases do, waits for this journal write each time. A spill is
//! written without sync, so it pays in the background.

use yunti_program::text::numbers;

use super::super::finding::{Finding, Level};
use super::trial::{WriteTimes, median};

const AREA: &str = "scratch";
/// Pairs; fewer do not tell a cost from noise.
const PAIRS_MIN: usize = 5;
/// Ratio of the medians, and share of the pairs, above which the difference is no noise.
const DEARER: f64 = 1.25;
const MOST: f64 = 0.75;

/// Returns the finding about the measured times.
pub fn finding(times: &WriteTimes) -> Option<Finding> {
    let medians = |pairs: &[(f64, f64)]| {
        let of = |part: fn(&(f64, f64)) -> f64| median(pairs.iter().map(part).collect());
        Some((of(|p| p.0)?, of(|p| p.1)?))
    };
    let synced = medians(&times.synced)?;
    let text = |(first, again): (f64, f64)| {
        format!("{} at first, {} again", numbers::milliseconds(first), numbers::milliseconds(again))
    };
    let mut seen = format!("measured: 4 KiB into preallocated blocks, synced: {}", text(synced));
    if let Some(direct) = medians(&times.direct) {
        seen += &format!("; direct without sync: {}", text(direct));
    }
    let is_dearer = |pairs: &[(f64, f64)]| {
        let dearer = pairs.iter().filter(|(first, again)| first > again).count();
        pairs.len() >= PAIRS_MIN
            && dearer as f64 > pairs.len() as f64 * MOST
            && medians(pairs).is_some_and(|(first, again)| first > again * DEARER)
    };
    let (level, why) = match (is_dearer(&times.synced), is_dearer(&times.direct)) {
        (true, _) => (
            Level::Note,
            "the first sync of each preallocated block also waits for the journal, which marks it as written: logs and \
             databases that preallocate and sync pay it; spills are not synced and do not wait",
        ),
        (false, true) => (
            Level::Note,
            "a direct write into preallocated blocks waits until they are marked as written; spills go through the \
             page cache and do not wait",
        ),
        (false, false) => (
            Level::Ok,
            "the first write into preallocated blocks marks them as written, in the journal; here it costs no more \
             than other writes",
        ),
    };
    let change = "for a log or database here: write its files with zeros once (dd if=/dev/zero of=FILE bs=1M count=MIB \
                  conv=fsync) and reuse them, where it can, in place of fallocate";
    let finding = Finding::new(AREA, "unwritten-extents", seen, why).level(level).change(change);
    Some(finding.cost("the files are written twice, once before their use").undo("the program's own preallocation"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_difference_is_a_note() {
        let pairs = |first: f64, again: f64, n: usize| vec![(first, again); n];
        let level = |synced, direct| finding(&WriteTimes { synced, direct }).unwrap().level;
        assert_eq!(level(pairs(2.0, 1.0, 9), pairs(0.1, 0.1, 9)), Level::Note);
        assert_eq!(level(pairs(1.0, 1.0, 9), pairs(0.3, 0.1, 9)), Level::Note);
        assert_eq!(level(pairs(1.2, 1.0, 9), pairs(0.1, 0.1, 9)), Level::Ok);
        // Too few pairs, and pairs that disagree.
        assert_eq!(level(pairs(2.0, 1.0, 4), Vec::new()), Level::Ok);
        let mixed = [pairs(3.0, 1.0, 6), pairs(0.5, 1.0, 3)].concat();
        assert_eq!(level(mixed, Vec::new()), Level::Ok);
        assert_eq!(finding(&WriteTimes::default()).map(|f| f.level), None);
        let found = finding(&WriteTimes { synced: pairs(2.0, 1.0, 9), direct: pairs(0.25, 0.12, 9) }).unwrap();
        assert_eq!(
            found.seen,
            "measured: 4 KiB into preallocated blocks, synced: 2 ms at first, 1 ms again; direct without sync: 0.25 ms \
             at first, 0.12 ms again"
        );
        assert!(found.change.is_some() && found.cost.is_some() && found.undo.is_some());
    }
}

//! Arbitrary bytes as a garbage collection log: they have sums that agree, and findings with finite costs. The tests of
//! `observe/gc/` replay this corpus, so this module is not in `mod.rs`, which belongs to the engine.

use yunti_gc::young::YoungModel;
use yunti_gc::{Comparison, Log, Summary, findings, parse, verdict};

/// Checks a log.
pub fn gc_log(bytes: &[u8]) {
    let log = parse(&mut &*bytes).unwrap();
    let summary = Summary::of(&log);
    let found = findings(&log, &summary);
    assert!(!verdict(&summary, &found).is_empty());
    assert!(found.iter().all(|finding| finding.cost.is_finite() && finding.cost >= 0.0), "{found:?}");
    assert!((0.0..=1.0).contains(&summary.pause_share()), "{}", summary.pause_share());
    assert!(summary.utilization.iter().flatten().all(|left| (0.0..=1.0).contains(left)));
    sums_agree(&log);
    if let Some(model) = YoungModel::of(&log) {
        let larger = model.predict(2.0);
        assert!((0.0..=1.0).contains(&larger.share), "{larger:?}");
    }
    let comparison = Comparison::of((&log, &summary), (&log, &summary));
    assert!(comparison.rows.iter().all(|row| row.before.is_some() == row.after.is_some()));
}

/// Pauses are the same by kind, by cause and one by one.
fn sums_agree(log: &Log) {
    let all = log.pauses();
    assert_eq!(all.count, log.causes.0.iter().map(|(_, sum)| sum.count).sum::<u64>());
    assert_eq!(all.count, log.events.len() as u64 + log.events_dropped);
    assert!(log.lines >= log.foreign);
    assert!(log.events.iter().all(|event| event.pause_ms >= 0.0 && event.start_s >= 0.0));
    assert!(log.longest.windows(2).all(|pair| pair[0].event.pause_ms >= pair[1].event.pause_ms));
}

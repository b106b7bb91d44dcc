//! Heap over time: what a log says of allocation, promotion and the live set.

use crate::model::event::{Event, Kind, Space};

/// Samples that are kept; from then on only every second one is, and so on.
const SAMPLES_MAX: usize = 1 << 18;

/// Heap around one collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeapSample {
    /// End of the collection.
    pub time_s: f64,
    pub before: u64,
    pub after: u64,
    /// Bytes of objects in use, as far as the log tells them from garbage.
    pub live: u64,
    /// Size of the heap, used or not.
    pub total: u64,
    /// The collection also freed old objects, so `after` is close to the live set.
    pub is_whole: bool,
}

/// Heap over time.
#[derive(Clone, Debug, Default)]
pub struct HeapCurve {
    pub samples: Vec<HeapSample>,
    /// Bytes that the program allocated between the first and the last collection.
    pub allocated: u64,
    /// Bytes that young collections moved to the old generation.
    pub promoted: u64,
    /// Bytes that young collections left in survivor spaces, and the number of collections that named them.
    pub survived: u64,
    pub survivor_counts: u64,
    /// Bytes in use after the last change.
    last_after: Option<u64>,
    /// Only every `stride`th sample is kept.
    stride: u64,
    seen: u64,
}

impl HeapCurve {
    /// Forgets the state of the last JVM.
    pub(crate) fn restart(&mut self) {
        self.last_after = None;
    }

    /// Adds a pause with its heap, if it is a collection.
    pub(crate) fn add_pause(&mut self, event: &Event) {
        if event.kind.is_young() {
            self.promoted = self.promoted.saturating_add(promoted(event));
            let survivor = event.space(Space::Survivor);
            let after = if survivor.is_known() { survivor.after } else { event.space(Space::Young).after };
            if survivor.is_known() || event.space(Space::Young).is_known() {
                self.survived = self.survived.saturating_add(after);
                self.survivor_counts += 1;
            }
        }
        let heap = &event.heap;
        if !heap.is_known() {
            return;
        }
        self.allocate(heap.before);
        self.last_after = Some(heap.after);
        // Remark and cleanup of G1 free whole regions only; the rest of their heap is young.
        if event.kind.is_young() || event.kind.frees_old() || event.kind == Kind::Other {
            self.sample(HeapSample {
                time_s: event.end_s(),
                before: heap.before,
                after: heap.after,
                live: heap.after,
                total: heap.total,
                is_whole: event.kind.frees_old(),
            });
        }
    }

    /// Adds a phase beside the program, which allocates during it.
    pub(crate) fn add_concurrent(&mut self, before: u64, after: u64) {
        self.allocate(before);
        self.allocated = self.allocated.saturating_add(after.saturating_sub(before));
        self.last_after = Some(after);
    }

    /// Adds a whole cycle of a concurrent collector. `allocated`: bytes that the program allocated during it.
    pub(crate) fn add_cycle(&mut self, sample: HeapSample, allocated: u64) {
        self.allocate(sample.before);
        self.allocated = self.allocated.saturating_add(allocated);
        self.last_after = Some(sample.after);
        self.sample(sample);
    }

    /// Adds a sample of a phase whose sizes [`HeapCurve::add_concurrent`] has counted.
    pub(crate) fn sample(&mut self, sample: HeapSample) {
        self.stride = self.stride.max(1);
        if self.seen.is_multiple_of(self.stride) {
            self.samples.push(sample);
        }
        self.seen += 1;
        if self.samples.len() >= SAMPLES_MAX {
            let mut n = 0;
            self.samples.retain(|_| {
                n += 1;
                n % 2 == 1
            });
            self.stride *= 2;
        }
    }

    fn allocate(&mut self, before: u64) {
        let since = self.last_after.map_or(0, |after| before.saturating_sub(after));
        self.allocated = self.allocated.saturating_add(since);
    }
}

/// Returns the bytes that a young collection moved to the old generation.
fn promoted(event: &Event) -> u64 {
    let (young, heap, old) = (event.space(Space::Young), &event.heap, event.space(Space::Old));
    if young.is_known() && heap.is_known() {
        // What left the young generation and not the heap.
        return young.freed().saturating_sub(heap.freed());
    }
    old.after.saturating_sub(old.before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::event::Change;
    use crate::model::log::blank;

    fn young(heap: (u64, u64), young: (u64, u64)) -> Event {
        let mut event = blank();
        event.kind = Kind::Young;
        event.heap = Change { before: heap.0, after: heap.1, total: 1000 };
        event.spaces[Space::Young as usize] = Change { before: young.0, after: young.1, total: 500 };
        event
    }

    #[test]
    fn allocation_and_promotion_come_from_sizes() {
        let mut curve = HeapCurve::default();
        curve.add_pause(&young((400, 150), (400, 100)));
        curve.add_pause(&young((450, 200), (400, 80)));
        assert_eq!((curve.allocated, curve.promoted, curve.survived), (300, 50 + 70, 180));
        curve.restart();
        curve.add_pause(&young((400, 150), (400, 100)));
        assert_eq!(curve.allocated, 300);
    }

    #[test]
    fn samples_are_thinned_out() {
        let mut curve = HeapCurve::default();
        for n in 0..3 * SAMPLES_MAX {
            curve.sample(HeapSample { time_s: n as f64, before: 0, after: 0, live: 0, total: 0, is_whole: false });
        }
        assert!(curve.samples.len() < SAMPLES_MAX && curve.samples.len() > SAMPLES_MAX / 4);
        assert!(curve.samples.windows(2).all(|pair| pair[0].time_s < pair[1].time_s));
    }
}

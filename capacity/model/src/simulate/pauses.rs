//! Collections that stop the simulated process.

use std::cmp::Reverse;

use super::engine::{Engine, RESUME};
use super::station::Station;

impl Engine<'_> {
    pub(super) fn allocate(&mut self, bytes: f64) {
        let Some(gc) = &self.network.collections else { return };
        self.eden_filled += bytes;
        if self.eden_filled < gc.eden_bytes {
            return;
        }
        let times = (self.eden_filled / gc.eden_bytes).floor();
        self.eden_filled -= times * gc.eden_bytes;
        let queued = self.stations.last().map_or(0, Station::queued);
        let in_process = f64::from(self.in_process) - queued as f64;
        let mut pause_ms = gc.young_pause_ms(in_process) * times;
        self.tally.collections += times as u32;
        self.old_filled += gc.promoted(in_process) * times;
        if gc.old_free_bytes.is_some_and(|free| self.old_filled >= free) {
            pause_ms += gc.full_pause_ms(in_process);
            self.tally.full_collections += 1;
            // Requests in process survive it.
            self.old_filled = (in_process * gc.held_bytes).min(self.old_filled);
        }
        if pause_ms > 0.0 {
            // The timer of the first pause waits for the end of all.
            if self.processors.is_stopped() {
                self.resume_ms += pause_ms;
            } else {
                self.resume_ms = self.now + pause_ms;
                self.processors.set_stopped(true);
                self.timers.push(Reverse((self.resume_ms.to_bits(), RESUME)));
            }
        }
    }
}

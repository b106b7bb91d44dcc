//! Size of the young generation: what other sizes would have cost the program of a log.
//!
//! A collection of the young generation costs what survives it, not what it frees. So collections become rarer with a
//! larger eden and hardly longer. With an age table in the log, the survivors of a larger eden are known: these of
//! two collections are the objects of ages 1 and 2. Otherwise survivors are assumed to stay as they are, as objects of
//! requests under way do.
//!
//! ```text
//!   collections a second of the running program = allocation a second / eden
//!   share of pauses = n p / (1 + n p)           n collections a second, p seconds each
//! ```

use crate::model::event::{Event, Space};
use crate::model::log::Log;

/// Fewest collections from which a size is predicted.
const COLLECTIONS_MIN: usize = 5;
/// Share of collections at the start of the log that are left out: the heap and the compiled code are growing.
const WARM_UP: usize = 5;

/// Young collections of a log, and what they depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YoungModel {
    /// Mean bytes of the eden when it is collected.
    pub eden_bytes: f64,
    /// Bytes that the program allocates in a second in which it is not stopped.
    pub allocation: f64,
    /// Mean pause of a young collection.
    pub pause_ms: f64,
    /// Mean seconds between young collections.
    pub interval_s: f64,
    /// Pauses grow with this power of the eden: 0 if survivors stay as they are, 1 if all objects survive.
    pub exponent: f64,
    /// The exponent comes from age tables.
    pub has_ages: bool,
}

/// Cost of another size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    pub factor: f64,
    pub eden_bytes: f64,
    pub collections_per_s: f64,
    pub pause_ms: f64,
    /// Share of the time that young collections take.
    pub share: f64,
}

impl YoungModel {
    /// Returns the model of a log; `None` if it has too few young collections with sizes and times.
    pub fn of(log: &Log) -> Option<YoungModel> {
        let all: Vec<&Event> =
            log.events.iter().filter(|event| event.kind.is_young() && collected(event) > 0).collect();
        let events = &all[all.len() / WARM_UP..];
        if events.len() < COLLECTIONS_MIN || !log.has_time() {
            return None;
        }
        let (first, last) = (events.first()?, events.last()?);
        let seconds = last.start_s - first.start_s;
        let count = events.len() as f64;
        let eden_bytes = events.iter().map(|event| collected(event) as f64).sum::<f64>() / count;
        // Other pauses stop the program too.
        let paused: f64 = log
            .events
            .iter()
            .filter(|event| (first.start_s..last.start_s).contains(&event.start_s))
            .map(|event| event.pause_ms / 1000.0)
            .sum();
        let running = seconds - paused;
        if running <= 0.0 {
            return None;
        }
        let exponent = exponent(&log.ages);
        Some(YoungModel {
            eden_bytes,
            allocation: eden_bytes * (count - 1.0) / running,
            pause_ms: events.iter().map(|event| event.pause_ms).sum::<f64>() / count,
            interval_s: seconds / (count - 1.0),
            exponent: exponent.unwrap_or(0.0),
            has_ages: exponent.is_some(),
        })
    }

    /// Returns what an eden of `factor` times the size would have cost.
    pub fn predict(&self, factor: f64) -> Prediction {
        let eden_bytes = self.eden_bytes * factor;
        let pause_ms = self.pause_ms * factor.powf(self.exponent);
        let running_per_s = self.allocation / eden_bytes;
        let paused = running_per_s * pause_ms / 1000.0;
        Prediction {
            factor,
            eden_bytes,
            collections_per_s: running_per_s / (1.0 + paused),
            pause_ms,
            share: paused / (1.0 + paused),
        }
    }

    /// Returns the factor with which young collections take this share of the time; `None` if no size does.
    pub fn factor_for(&self, share: f64) -> Option<f64> {
        let (mut low, mut high) = (1.0, 4096.0);
        if self.predict(high).share > share {
            return None;
        }
        for _ in 0..40 {
            let middle = f64::sqrt(low * high);
            if self.predict(middle).share > share { low = middle } else { high = middle }
        }
        Some(high)
    }
}

/// Returns the bytes of the eden when it was collected.
fn collected(event: &Event) -> u64 {
    let (eden, young) = (event.space(Space::Eden), event.space(Space::Young));
    match () {
        () if eden.before > 0 => eden.before,
        () if young.is_known() => young.freed(),
        () => event.heap.freed(),
    }
}

/// Returns the power of the eden with which survivors grow.
fn exponent(ages: &[u64]) -> Option<f64> {
    let (first, second) = (*ages.get(1)? as f64, *ages.get(2)? as f64);
    (first > 0.0).then(|| ((first + second) / first).log2().clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: YoungModel = YoungModel {
        eden_bytes: 60e6,
        allocation: 600e6,
        pause_ms: 10.0,
        interval_s: 0.11,
        exponent: 0.0,
        has_ages: false,
    };

    #[test]
    fn pauses_fall_with_the_size() {
        // Ten collections of 10 ms in a running second: 0.1 / 1.1.
        assert!((MODEL.predict(1.0).share - 0.1 / 1.1).abs() < 1e-9);
        assert!((MODEL.predict(4.0).share - 0.025 / 1.025).abs() < 1e-9);
        let factor = MODEL.factor_for(0.01).unwrap();
        assert!((factor - 0.1 / (0.01 / 0.99)).abs() < 0.01, "{factor}");
        // If everything survives, no size helps.
        assert_eq!(YoungModel { exponent: 1.0, ..MODEL }.factor_for(0.01), None);
    }

    #[test]
    fn ages_give_the_growth_of_survivors() {
        assert_eq!(exponent(&[0, 100, 0, 0]), Some(0.0));
        assert_eq!(exponent(&[0, 100, 100, 0]), Some(1.0));
        assert_eq!(exponent(&[0, 0, 0]), None);
    }
}

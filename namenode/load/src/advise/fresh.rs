//! Fresh metrics: the figures of a source between two updates of its own.
//!
//! Hadoop updates the metrics of a source every ten seconds (`*.period`), each source at its own time, and `/jmx` shows
//! the last update until the next. A request sees figures of up to ten seconds ago, also where calls began since. Only
//! the difference between two updates, divided by the time between them, is a rate.
//!
//! ```text
//!   requests     | | | | | | | | | | | | | | | | | |
//!   updates    x         x         x         x
//!   figures    -aaaaaaaaabbbbbbbbbbccccccccccddd      begin: the first b; end: the first d
//! ```

use serde_json::Value;

/// Seconds after which unchanged figures count as fresh: a source is updated every ten seconds.
const UPDATED_WITHIN_SECONDS: f64 = 11.0;

/// Figures of a source at two of its updates.
pub struct FreshFigures {
    known: Value,
    /// Time of the last change of `known`, in seconds since the first request.
    changed: f64,
    begin: Option<(Value, f64)>,
    end: Option<(Value, f64)>,
}

/// Two updates of a source, and the seconds between them.
pub struct Span {
    pub begin: Value,
    pub end: Value,
    pub seconds: f64,
}

impl FreshFigures {
    /// Starts with the figures of the first request, of unknown age.
    pub fn new(first: Value) -> FreshFigures {
        FreshFigures { known: first, changed: 0.0, begin: None, end: None }
    }

    /// Adds the figures of a request.
    ///
    /// @param at seconds since the first request
    pub fn add(&mut self, figures: Value, at: f64) {
        if figures != self.known {
            let place = if self.begin.is_none() { &mut self.begin } else { &mut self.end };
            *place = Some((figures.clone(), at));
            self.known = figures;
            self.changed = at;
        }
    }

    /// Returns true once two updates are known, or the figures have not changed for longer than a period.
    pub fn is_done(&self, now: f64) -> bool {
        self.end.is_some() || now - self.changed >= UPDATED_WITHIN_SECONDS
    }

    /// Returns the first and the last update. Figures that stopped changing are the same now as then.
    pub fn span(self, now: f64) -> Span {
        let (begin, begun) = self.begin.unwrap_or_else(|| (self.known.clone(), 0.0));
        match self.end {
            Some((end, ended)) if now - ended < UPDATED_WITHIN_SECONDS => Span { begin, end, seconds: ended - begun },
            _ => Span { begin, end: self.known, seconds: now - begun },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the rate that requests five times a second see, of a source that is updated every ten seconds.
    ///
    /// @param calls calls up to a second
    fn rate(first_update: f64, seconds: f64, calls: impl Fn(f64) -> f64) -> (f64, f64) {
        let figures = |at: f64| {
            let update = first_update + 10.0 * ((at - first_update) / 10.0).floor();
            json!({ "NumOps": calls(update) })
        };
        let mut fresh = FreshFigures::new(figures(0.0));
        let mut at = 0.0;
        while at < seconds || !fresh.is_done(at) {
            at += 0.2;
            fresh.add(figures(at), at);
        }
        let span = fresh.span(at);
        let count = |value: &Value| value["NumOps"].as_f64().unwrap();
        ((count(&span.end) - count(&span.begin)) / span.seconds, span.seconds)
    }

    #[test]
    fn a_load_that_begins_with_the_first_request() {
        // The last update was nine seconds before; so the update after twelve seconds has one second of load.
        for first_update in [-9.0, -8.5, -5.0, -0.1] {
            let (rate, seconds) = rate(first_update, 12.0, |at| 7000.0 * at.max(0.0));
            assert!((6800.0..7200.0).contains(&rate), "{first_update}: {rate} in {seconds} s");
            assert!((9.7..20.3).contains(&seconds), "{seconds}");
        }
    }

    #[test]
    fn a_longer_time_has_more_updates() {
        let (rate, seconds) = rate(-3.0, 60.0, |at| 100.0 * at.max(0.0));
        assert!((95.0..105.0).contains(&rate) && seconds > 45.0, "{rate} in {seconds} s");
    }

    #[test]
    fn an_idle_source() {
        let (idle, seconds) = rate(-3.0, 12.0, |_| 7.0);
        assert_eq!(idle, 0.0);
        assert!((12.0..12.5).contains(&seconds), "{seconds}");
        // The load ended before the first request; the updates show it once.
        let (ended, _) = rate(-9.0, 12.0, |at| 100.0 * at.min(-2.0));
        assert_eq!(ended, 0.0);
    }
}

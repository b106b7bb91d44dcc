//! Marks of a curve: numbers of requests in process that a reader looks for.

use yunti_model::curve::{Curve, CurvePoint};
use yunti_model::what_if::Response;
use yunti_program::text::numbers;

use super::Report;

/// Returns the requests a second at a point without the noise of the simulation: the middle of its band.
pub fn rate(point: &CurvePoint) -> f64 {
    (point.low + point.high) / 2.0
}

/// Returns a value of a curve at a number of requests in process: 0 at none, and on the line between two points.
pub fn between(curve: &Curve, clients: f64, value: fn(&CurvePoint) -> f64) -> f64 {
    let (mut before, mut value_before) = (0.0, 0.0);
    for point in &curve.points {
        let (at, value) = (f64::from(point.simulated.clients), value(point));
        if at >= clients {
            return value_before + (value - value_before) * (clients - before) / (at - before);
        }
        (before, value_before) = (at, value);
    }
    value_before
}

/// Number of requests in process with its meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Meaning in a few words, as in a table.
    pub name: &'static str,
    /// Meaning with its numbers.
    pub words: String,
    pub clients: f64,
}

impl Report<'_> {
    /// Returns the response times at the present rate; absent without traffic, or if more arrives than the service
    /// carries.
    pub fn response(&self) -> Option<Response> {
        self.advice.prospect.response.filter(|response| !response.saturated)
    }

    /// Returns the mean number of requests in process during the measurement; absent without traffic.
    pub fn present(&self) -> Option<f64> {
        let response = self.response()?;
        Some(response.per_second * response.mean_ms / 1000.0)
    }

    /// Returns the requests a second at a number of requests in process, on the line between two points.
    pub fn rate_at(&self, clients: f64) -> f64 {
        between(self.curve, clients, rate)
    }

    /// Returns the marks, the present load first.
    pub fn marks(&self) -> Vec<Mark> {
        let curve = self.curve;
        let mut marks = Vec::new();
        let mut add = |name, clients: f64, words: String| marks.push(Mark { name, words, clients });
        let rate = |clients: f64| numbers::three(self.rate_at(clients));
        if let Some(present) = self.present() {
            let now = numbers::three(self.demands.requests.per_second);
            add("present load", present, format!("present load: {} in process, {now}/s", numbers::three(present)));
        }
        if !curve.is_unbounded {
            let knee = f64::from(curve.knee);
            add("knee", knee, format!("knee, the best ratio of rate to response time: {knee}, {}/s", rate(knee)));
            let threads = curve.threads.value;
            add("95 % of the peak", threads, format!("95 % of the peak: {threads} threads, {}/s", rate(threads)));
        }
        if let Some(limit) = self.demands.workers.limit.map(f64::from) {
            add("all threads busy", limit, format!("all threads busy: {limit}, {}/s", rate(limit)));
        }
        if let Some(falls) = curve.falls_at.map(f64::from) {
            add("falls from here on", falls, format!("falls below 95 % of the peak: {falls}, {}/s", rate(falls)));
        }
        if let Some(hang) = &curve.hangs_at {
            let clients = f64::from(hang.clients);
            add("can hang from here on", clients, format!("can hang from here on: {clients}"));
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::tests::Example;

    #[test]
    fn marks_are_where_the_curve_says() {
        let example = Example::shop();
        let report = example.report();
        let marks = report.marks();
        let at = |name: &str| marks.iter().find(|mark| mark.name == name).map(|mark| mark.clients);
        assert_eq!(at("knee"), Some(f64::from(example.curve.knee)));
        assert_eq!((at("95 % of the peak"), at("all threads busy")), (Some(example.curve.threads.value), Some(48.0)));
        let present = at("present load").unwrap();
        // By Little's law, and by the curve: the same load.
        assert!((report.rate_at(present) / example.demands.requests.per_second - 1.0).abs() < 0.1, "{present}");
        let last = example.curve.points.last().unwrap();
        assert_eq!(report.rate_at(1e9), rate(last));
        assert_eq!(report.rate_at(0.0), 0.0);
    }
}

//! Amount of data: whether it supports an answer, and how long to wait if not.

use serde::Serialize;

use crate::demands::Demands;

/// Requests that an answer needs.
pub const REQUESTS_MIN: f64 = 200.0;
/// Templates that an answer needs: fewer hold too little of what varies.
const TEMPLATES_MIN: usize = 50;
/// Relative standard error of the peak from which on more data is needed.
const ERROR_MAX: f64 = 0.15;

/// Amount of data against what an answer needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Data {
    pub is_enough: bool,
    /// Further seconds of measurement at the present rate; absent without traffic, 0 if there is enough.
    pub wait_seconds: Option<f64>,
    /// Reason why it is not enough.
    pub reason: Option<String>,
}

/// Returns whether the measurement supports an answer.
pub fn data(demands: &Demands, relative_error: f64) -> Data {
    let (templates, rate) = (demands.templates.len(), demands.requests.per_second);
    let requests = (demands.requests.count as f64).max(templates as f64);
    // The error falls with the root of the number of requests.
    let by_error = requests * (relative_error / ERROR_MAX).powi(2);
    let (needed, reason) = if requests < REQUESTS_MIN {
        (REQUESTS_MIN, format!("only {requests} requests were measured"))
    } else if templates < TEMPLATES_MIN && !demands.requests.is_mean {
        let share = TEMPLATES_MIN as f64 / templates.max(1) as f64;
        (requests * share, format!("only {templates} requests were measured step by step"))
    } else if relative_error > ERROR_MAX {
        (by_error, format!("requests differ so much that the peak is known to {:.0} % only", 196.0 * relative_error))
    } else {
        return Data { is_enough: true, wait_seconds: Some(0.0), reason: None };
    };
    let wait_seconds = (rate > 0.0).then(|| ((needed.max(by_error) - requests) / rate).max(1.0).ceil());
    Data { is_enough: false, wait_seconds, reason: Some(reason) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demands::Template;

    #[test]
    fn says_how_long_to_wait() {
        for (count, templates, rate, error, expect) in [
            (1000, 500, 10.0, 0.05, Some(0.0)),
            (100, 100, 10.0, 0.05, Some(10.0)),
            (1000, 25, 10.0, 0.05, Some(100.0)),
            (1000, 500, 100.0, 0.30, Some(30.0)),
            (100, 100, 0.0, 0.05, None),
        ] {
            let mut demands = Demands { templates: vec![Template::default(); templates], ..Demands::default() };
            (demands.requests.count, demands.requests.per_second) = (count, rate);
            let found = data(&demands, error);
            assert_eq!((found.wait_seconds, found.is_enough), (expect, expect == Some(0.0)), "{count} {templates}");
            assert_eq!(found.reason.is_none(), found.is_enough);
        }
        let mut mean = Demands { templates: vec![Template::default()], ..Demands::default() };
        (mean.requests.count, mean.requests.per_second, mean.requests.is_mean) = (1000, 100.0, true);
        assert!(data(&mean, 0.05).is_enough);
    }
}

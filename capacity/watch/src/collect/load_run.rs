//! Load run: figures of the documents of `yunti capacity load --json` and `yunti capacity --json`.
//!
//! Unknown members are ignored, and missing ones are no figures: the documents have versions of their own.

use serde_json::Value;

use crate::record::{LoadFigures, Window, rounded};

/// Part of all counted requests that our own are at least, so that their exact number counts.
const OWN_MIN: f64 = 0.6;

/// Returns the figures of a load run.
pub fn figures(document: &Value) -> LoadFigures {
    let run = run_of(document);
    let number = |value: &Value| value.as_f64().filter(|n| n.is_finite() && *n > 0.0);
    LoadFigures {
        requests_per_second: number(&run["done_per_second"]),
        failed: failed(run),
        peak_per_second: peak(document),
        p50_ms: number(&run["latency"]["p50_ms"]),
        p99_ms: number(&run["latency"]["p99_ms"]),
    }
}

/// Returns the part of the requests that failed.
fn failed(run: &Value) -> Option<f64> {
    let (done, errors) = (run["done"].as_f64()?, run["errors"].as_f64()?);
    Some(errors / (done + errors)).filter(|part| part.is_finite())
}

/// Returns the peak of a run in steps, or of a model.
pub fn peak(document: &Value) -> Option<f64> {
    let places = ["/steps/peak_per_second", "/curve/peak/value"];
    places.into_iter().find_map(|place| document.pointer(place)?.as_f64()).filter(|n| n.is_finite() && *n > 0.0)
}

/// Adds the seconds of a load run to windows that begin at these Unix times in milliseconds: percentiles, and the
/// number of requests if nobody else sends many.
pub fn spread(document: &Value, started_ms: u64, begins_ms: &[u64], windows: &mut [Window]) {
    let series: Vec<[f64; 4]> = run_of(document)["series"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|second| {
            let number = |name: &str| second[name].as_f64();
            Some([number("at_s")?, number("done")?, number("p50_ms")?, number("p99_ms")?])
        })
        .collect();
    for (window, begin_ms) in windows.iter_mut().zip(begins_ms) {
        let from = (*begin_ms as f64 - started_ms as f64) / 1000.0;
        let to = from + window.seconds;
        let mut done = 0.0;
        let (mut p50, mut p99) = (Vec::new(), Vec::new());
        for [at, requests, middle, high] in &series {
            let part = (to.min(at + 1.0) - from.max(*at)).clamp(0.0, 1.0);
            done += part * requests;
            if part > 0.5 && *requests > 0.0 {
                p50.push(*middle);
                p99.push(*high);
            }
        }
        let median = yunti_record::statistics::median::median;
        window.p50_ms = (!p50.is_empty()).then(|| median(&p50)).or(window.p50_ms);
        window.p99_ms = (!p99.is_empty()).then(|| median(&p99)).or(window.p99_ms);
        if done > 0.0 && window.requests.is_none_or(|counted| done >= OWN_MIN * counted) {
            window.requests = Some(rounded(done));
        }
    }
}

fn run_of(document: &Value) -> &Value {
    match &document["run"] {
        Value::Null => document,
        run => run,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn documents_become_figures() {
        let document = json!({
            "format": "yunti-load/1", "mode": "run",
            "run": {
                "done_per_second": 49.5, "latency": {"p50_ms": 5.0, "p99_ms": 21.5},
                "series": (0..20).map(|at| json!({"at_s": at, "done": 50, "p50_ms": 5.0, "p99_ms": 20 + at})).collect::<Vec<_>>(),
            },
        });
        let found = figures(&document);
        assert_eq!((found.requests_per_second, found.p99_ms, found.peak_per_second), (Some(49.5), Some(21.5), None));
        let window = |requests| Window { seconds: 6.0, requests, ..Window::default() };
        let mut windows = [window(None), window(Some(299.0)), window(Some(900.0)), window(None)];
        spread(&document, 1_000_000, &[1_002_500, 1_006_000, 1_008_500, 1_090_000], &mut windows);
        let requests: Vec<Option<f64>> = windows.iter().map(|window| window.requests).collect();
        assert_eq!(requests, [Some(300.0), Some(300.0), Some(900.0), None]);
        assert!(windows[0].p99_ms.is_some_and(|p99| (22.0..29.0).contains(&p99)) && windows[3].p99_ms.is_none());
        assert_eq!(peak(&json!({"curve": {"peak": {"low": 1, "value": 371.5, "high": 400}}})), Some(371.5));
        assert_eq!(peak(&json!({"mode": "steps", "steps": {"peak_per_second": 402.0}})), Some(402.0));
        let failing = json!({"run": {"done": 30, "errors": 10, "done_per_second": 5.0}});
        assert_eq!(
            (figures(&failing).failed, figures(&json!({"run": {"done": 0, "errors": 0}})).failed),
            (Some(0.25), None)
        );
        for odd in [json!(null), json!([1]), json!({"run": 3, "peak": "x"})] {
            assert_eq!(figures(&odd), LoadFigures::default());
        }
    }
}

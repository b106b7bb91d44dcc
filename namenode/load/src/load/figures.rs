//! Metrics of the NameNode during a load: mean times in the queue, for the lock, of processing and of the response.
//!
//! The NameNode updates them about every ten seconds, on request: a count since its start, and the mean since the
//! last update. So they are requested often, and each new count is added with its mean.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::jmx::Beans;

const BEAN: &str = "Hadoop:service=NameNode,name=RpcActivityForPort";
const TIMEOUT: Duration = Duration::from_secs(5);
const PERIOD: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(20);
/// Attribute in the bean, and its name here; milliseconds.
const RATES: [(&str, &str); 4] = [
    ("RpcQueueTime", "queue"),
    ("RpcLockWaitTime", "lock_wait"),
    ("RpcProcessingTime", "processing"),
    ("RpcResponseTime", "response"),
];

/// Sum over the calls that were sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Rate {
    /// Count at the last sample, since the NameNode's start.
    known: f64,
    calls: f64,
    sum_ms: f64,
}

impl Rate {
    fn add(&mut self, count: f64, mean_ms: f64) {
        let fresh = count - self.known;
        self.known = count;
        // The count is smaller after a restart.
        if fresh > 0.0 {
            self.calls += fresh;
            self.sum_ms += fresh * mean_ms;
        }
    }
}

/// Metrics of one RPC server over the measured time.
#[derive(Debug, Default)]
pub struct Figures {
    rates: BTreeMap<&'static str, Rate>,
    queue_length_max: f64,
}

impl Figures {
    /// Adds a sample.
    ///
    /// @param port the RPC port; a NameNode has several if DataNodes have their own
    fn add(&mut self, beans: &Beans, port: u16, is_first: bool) {
        let name = format!("{BEAN}{port}");
        for (rate, own) in RATES {
            let count = beans.number(&name, &format!("{rate}NumOps"));
            let mean = beans.number(&name, &format!("{rate}AvgTime"));
            let (Some(count), Some(mean)) = (count, mean) else { continue };
            let known = self.rates.entry(own).or_default();
            if is_first {
                known.known = count;
            } else {
                known.add(count, mean);
            }
        }
        self.queue_length_max = self.queue_length_max.max(beans.number(&name, "CallQueueLength").unwrap_or(0.0));
    }

    /// Returns the mean milliseconds of each metric with calls.
    pub fn means(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let rates = self.rates.iter().filter(|(_, rate)| rate.calls > 0.0);
        rates.map(|(name, rate)| (*name, rate.sum_ms / rate.calls))
    }

    pub fn to_json(&self) -> Value {
        let mut all: Map<String, Value> =
            self.means().map(|(name, ms)| (format!("{name}_ms_mean"), json!(ms))).collect();
        all.insert("queue_length_max".to_owned(), json!(self.queue_length_max));
        Value::Object(all)
    }
}

/// Samples the metrics until `is_over`.
///
/// @param is_counting set when the measurement starts
/// # Errors
/// The metrics are not available; the text gives the reason.
pub fn watch(
    address: &str,
    port: u16,
    is_counting: &AtomicBool,
    is_over: &AtomicBool,
) -> std::result::Result<Figures, String> {
    let query = format!("{BEAN}{port}");
    let fetch = || Beans::fetch(address, &query, TIMEOUT).map_err(|e| e.to_string());
    let mut figures = Figures::default();
    let mut is_first = true;
    let mut next = Instant::now();
    let beans = fetch()?;
    if beans.named(&query).next().is_none() {
        return Err(format!("http://{address}/jmx has no metrics of port {port}"));
    }
    while !is_over.load(Relaxed) {
        if is_counting.load(Relaxed) && Instant::now() >= next {
            figures.add(&fetch()?, port, is_first);
            is_first = false;
            next = Instant::now() + PERIOD;
        }
        thread::sleep(POLL);
    }
    if !is_first {
        figures.add(&fetch()?, port, false);
    }
    if figures.means().next().is_none() {
        return Err("the NameNode updates its metrics every ten seconds: load it for longer (-s)".to_owned());
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_new_calls() {
        let bean = |count: u64, mean: f64| {
            let text = format!(
                r#"{{"beans":[{{"name":"{BEAN}8020","RpcQueueTimeNumOps":{count},"RpcQueueTimeAvgTime":{mean},
                    "CallQueueLength":{count}}}]}}"#
            );
            Beans::read(&text).unwrap()
        };
        let mut figures = Figures::default();
        figures.add(&bean(100, 50.0), 8020, true);
        // A second request before the next update.
        figures.add(&bean(100, 50.0), 8020, false);
        figures.add(&bean(300, 2.0), 8020, false);
        figures.add(&bean(400, 5.0), 8020, false);
        assert_eq!(figures.means().collect::<Vec<_>>(), [("queue", 3.0)]);
        assert_eq!(figures.queue_length_max, 400.0);
    }
}

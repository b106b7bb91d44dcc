//! The NameNode's own figures of its calls while it is loaded: how long they were in its queue, and how long it was at them.
//!
//! It makes them anew each ten seconds or so, when they are asked for: a count since it began, and the mean of those since the last time. They are asked for
//! often, and what is new is added up.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::jmx::Beans;

const BEAN: &str = "Hadoop:service=NameNode,name=RpcActivityForPort";
const TIMEOUT: Duration = Duration::from_secs(5);
const ASK_AGAIN: Duration = Duration::from_millis(500);
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// Name in the bean, and what it is called here. In milliseconds.
const RATES: [(&str, &str); 4] = [
    ("RpcQueueTime", "queue"),
    ("RpcLockWaitTime", "lock_wait"),
    ("RpcProcessingTime", "processing"),
    ("RpcResponseTime", "response"),
];

/// A mean of those that were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Rate {
    /// At the last look, since the NameNode began.
    known: f64,
    calls: f64,
    sum_ms: f64,
}

impl Rate {
    fn add(&mut self, count: f64, mean_ms: f64) {
        let fresh = count - self.known;
        self.known = count;
        // It began again.
        if fresh > 0.0 {
            self.calls += fresh;
            self.sum_ms += fresh * mean_ms;
        }
    }
}

#[derive(Debug, Default)]
pub struct Figures {
    rates: BTreeMap<&'static str, Rate>,
    queue_length_max: f64,
}

impl Figures {
    /// @param port of its RPC: it has several where DataNodes have a port of their own
    fn look(&mut self, beans: &Beans, port: u16, is_first: bool) {
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

    /// Milliseconds, of each that was seen.
    pub fn means(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let seen = self.rates.iter().filter(|(_, rate)| rate.calls > 0.0);
        seen.map(|(name, rate)| (*name, rate.sum_ms / rate.calls))
    }

    pub fn to_json(&self) -> Value {
        let mut all: Map<String, Value> =
            self.means().map(|(name, ms)| (format!("{name}_ms_mean"), json!(ms))).collect();
        all.insert("queue_length_max".to_owned(), json!(self.queue_length_max));
        Value::Object(all)
    }
}

/// Looks until it is over.
///
/// @param is_counting what comes before is not counted
/// # Errors
/// There is nothing to look at, and why.
pub fn watch(
    address: &str,
    port: u16,
    is_counting: &AtomicBool,
    is_over: &AtomicBool,
) -> std::result::Result<Figures, String> {
    let query = format!("{BEAN}{port}");
    let ask = || Beans::ask(address, &query, TIMEOUT).map_err(|e| e.to_string());
    let mut figures = Figures::default();
    let mut is_first = true;
    let mut next = Instant::now();
    let beans = ask()?;
    if beans.named(&query).next().is_none() {
        return Err(format!("http://{address}/jmx knows nothing of port {port}"));
    }
    while !is_over.load(Relaxed) {
        if is_counting.load(Relaxed) && Instant::now() >= next {
            figures.look(&ask()?, port, is_first);
            is_first = false;
            next = Instant::now() + ASK_AGAIN;
        }
        thread::sleep(LOOK_AGAIN);
    }
    if !is_first {
        figures.look(&ask()?, port, false);
    }
    if figures.means().next().is_none() {
        return Err("the NameNode makes its figures each ten seconds: load it for longer (-s)".to_owned());
    }
    Ok(figures)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_is_added_up() {
        let bean = |count: u64, mean: f64| {
            let text = format!(
                r#"{{"beans":[{{"name":"{BEAN}8020","RpcQueueTimeNumOps":{count},"RpcQueueTimeAvgTime":{mean},"CallQueueLength":{count}}}]}}"#
            );
            Beans::read(&text).unwrap()
        };
        let mut figures = Figures::default();
        figures.look(&bean(100, 50.0), 8020, true);
        // Asked again before they were made anew.
        figures.look(&bean(100, 50.0), 8020, false);
        figures.look(&bean(300, 2.0), 8020, false);
        figures.look(&bean(400, 5.0), 8020, false);
        assert_eq!(figures.means().collect::<Vec<_>>(), [("queue", 3.0)]);
        assert_eq!(figures.queue_length_max, 400.0);
    }
}

//! Report of a load, as text and as JSON.

use serde_json::{Map, Value, json};

use super::load_flags::LoadFlags;
use crate::call::latency::Latency;
use crate::call::operation::{Call, OPERATIONS};
use crate::load::driver::Outcome;
use crate::load::figures::Figures;

/// A load's flags and its outcome.
pub struct LoadReport<'a> {
    pub flags: &'a LoadFlags,
    pub loaded: &'a Outcome,
}

impl LoadReport<'_> {
    fn calls(&self) -> f64 {
        self.loaded.latencies.calls().max(1) as f64
    }

    fn per_second(&self) -> f64 {
        self.loaded.latencies.calls() as f64 / self.loaded.seconds.max(1e-9)
    }

    /// Returns the client's processor time in microseconds a call.
    fn client_cpu_us(&self) -> f64 {
        self.loaded.cpu_seconds * 1e6 / self.calls()
    }

    /// Returns the NameNode's processor time in microseconds a call, and its context switches a call.
    fn namenode_usage(&self) -> Option<(f64, f64)> {
        self.loaded.used.map(|used| (used.cpu_seconds * 1e6 / self.calls(), used.switches / self.calls()))
    }

    fn mix(&self) -> Vec<(&'static str, f64)> {
        let name = |operation| OPERATIONS.iter().find(|(known, _)| *known == operation).map_or("", |(_, name)| *name);
        self.flags.mix.shares().into_iter().map(|(operation, share)| (name(operation), share)).collect()
    }

    /// Returns the JSON document.
    pub fn to_json(&self) -> Value {
        let loaded = self.loaded;
        let mix: Map<String, Value> =
            self.mix().into_iter().map(|(name, share)| (name.to_owned(), json!(share))).collect();
        json!({
            "namenode": self.flags.namenode,
            "connections": self.flags.connections,
            "rate": self.flags.rate,
            "io": loaded.io,
            "files": self.flags.files,
            "mix": mix,
            "seconds": loaded.seconds,
            "calls": loaded.latencies.calls(),
            "failed": loaded.latencies.failures(),
            "unanswered": loaded.unanswered,
            "reconnects": loaded.reconnects,
            "calls_per_second": self.per_second(),
            "by_call": loaded.latencies.to_json(loaded.seconds),
            "errors": loaded.errors.iter().map(|(_, error)| error).collect::<Vec<_>>(),
            "client_cpu_us_per_call": self.client_cpu_us(),
            "namenode_cpu_us_per_call": self.namenode_usage().map(|(us, _)| us),
            "datanodes": self.flags.datanodes,
            "namenode_rpc": loaded.figures.as_ref().ok().map(Figures::to_json),
            "namenode_switches_per_call": self.namenode_usage().map(|(_, switches)| switches),
        })
    }

    /// Returns the text: a head line, a table of calls, and lines about client and NameNode.
    pub fn to_text(&self) -> String {
        let loaded = self.loaded;
        let mix: Vec<String> =
            self.mix().iter().map(|(name, share)| format!("{:.0} % {name}", share * 100.0)).collect();
        let rate = |rate| format!("open loop, {rate} operations a second");
        let pace = self.flags.rate.map_or("closed loop".to_owned(), rate);
        let mut text = format!(
            "{:.0} calls a second: {} by {} connections, {pace}; {:.1} s\n\n",
            self.per_second(),
            mix.join(", "),
            self.flags.connections,
            loaded.seconds
        );
        text += &row("call", ["a second", "p50", "p90", "p99", "p99.9", "max", "failed"].map(str::to_owned));
        for (call, latency) in loaded.latencies.all() {
            text += &self.line(call, latency);
        }
        text += &format!("\nclient    {:.1} us of processor time a call, by {}\n", self.client_cpu_us(), loaded.io);
        text += &match self.namenode_usage() {
            Some((us, switches)) => {
                format!("NameNode  {us:.1} us of processor time a call, {switches:.2} context switches\n")
            }
            None => {
                "SKIP processor time of the NameNode: it is on another machine, or belongs to another user\n".to_owned()
            }
        };
        text += &match &loaded.figures {
            Ok(figures) => {
                let means: Vec<String> =
                    figures.means().map(|(name, ms)| format!("{} {ms:.2} ms", name.replace('_', " "))).collect();
                format!("metrics   means of the NameNode: {}\n", means.join(", "))
            }
            Err(why) => format!("SKIP metrics of the NameNode (--jmx): {why}\n"),
        };
        if loaded.unanswered > 0 {
            text += &format!("{} operations had no response\n", loaded.unanswered);
        }
        if loaded.reconnects > 0 {
            text += &format!("{} connections broke and were reopened\n", loaded.reconnects);
        }
        loaded.errors.iter().for_each(|(_, error)| text += &format!("{error}\n"));
        text
    }

    fn line(&self, call: Call, latency: &Latency) -> String {
        let h = &latency.histogram;
        let at = |q: f64| time(h.value_at_quantile(q));
        let per_second = format!("{:.0}", h.len() as f64 / self.loaded.seconds.max(1e-9));
        let failed = latency.failed.to_string();
        row(call.name(), [per_second, at(0.5), at(0.9), at(0.99), at(0.999), time(h.max()), failed])
    }
}

fn row(name: &str, cells: [String; 7]) -> String {
    let cells: String = cells.iter().map(|cell| format!(" {cell:>9}")).collect();
    format!("{name:>18}{cells}\n")
}

/// Formats microseconds; from 10,000 on in milliseconds.
pub fn time(us: u64) -> String {
    if us >= 10_000 { format!("{:.1} ms", us as f64 / 1000.0) } else { format!("{us} us") }
}

//! One load on one NameNode, and figures of many rounds: each round is compared with the base's same round.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};

use super::namenode::NameNode;
use crate::rpc::wire::Io;

/// A load to run: `seconds` and `warm_up` in seconds, `mix` as `nn load` takes it.
pub struct Load {
    pub connections: u32,
    pub mix: String,
    pub seconds: f64,
    pub warm_up: f64,
    pub io: Io,
}

/// Figures of one run; processor time in microseconds a call, switches a call.
#[derive(Clone, Debug)]
pub struct RunSample {
    pub calls_per_second: f64,
    /// Processor time of the NameNode.
    pub cpu_us: f64,
    pub switches: f64,
    pub read_p99_ms: Option<f64>,
    pub write_p99_ms: Option<f64>,
    pub client_cpu_us: f64,
}

/// Calls that change nothing.
const READS: [&str; 5] = ["getServerDefaults", "getFileInfo", "getListing", "getBlockLocations", "getContentSummary"];

/// Runs the load once.
///
/// @param stop set by a signal; a terminal interrupts the load's process too
pub fn run(namenode: &NameNode, load: &Load, stop: &AtomicBool) -> Result<RunSample> {
    let sample = run_one(namenode, load);
    if stop.load(Relaxed) { Err(cancelled()) } else { sample }
}

/// Runs the load without a sample; a load of 0 s, which would not end, is left out.
pub fn warm_up(namenode: &NameNode, load: &Load, stop: &AtomicBool) -> Result<()> {
    if load.seconds > 0.0 { run(namenode, load, stop).map(drop) } else { Ok(()) }
}

/// Returns the JSON document of `yunti nn load` with these arguments.
pub fn ours(words: &[&str], stop: &AtomicBool) -> Result<Value> {
    let document = load_of(words);
    if stop.load(Relaxed) { Err(cancelled()) } else { document }
}

fn failed(what: &str) -> Error {
    Error::new(Code::Input, format!("a load failed: {what}"))
}

/// Runs a load in a child process, so that its processor time is separate.
fn load_of(words: &[&str]) -> Result<Value> {
    let ours = std::env::current_exe().map_err(|e| failed(&e.to_string()))?;
    let run = Command::new(ours).args(["load", "--json"]).args(words).stdin(Stdio::null()).output();
    let run = run.map_err(|e| failed(&e.to_string()))?;
    if !run.status.success() {
        return Err(failed(String::from_utf8_lossy(&run.stderr).trim()));
    }
    serde_json::from_slice(&run.stdout).map_err(|e| failed(&e.to_string()))
}

pub fn cancelled() -> Error {
    Error::new(Code::Cancelled, "cancelled".to_owned())
}

fn run_one(namenode: &NameNode, load: &Load) -> Result<RunSample> {
    let (address, connections) = (namenode.home.address.to_string(), load.connections.to_string());
    let (seconds, warm_up) = (load.seconds.to_string(), load.warm_up.to_string());
    let words = ["-m", &load.mix, "-c", &connections, "-s", &seconds, "--warm-up", &warm_up, "--io", &load.io.name()];
    let document = load_of(&[&[address.as_str()][..], &words].concat())?;
    if document["failed"].as_u64() != Some(0) {
        return Err(failed(&format!("{} calls failed: {}", document["failed"], document["errors"])));
    }
    let number = |name: &str| document[name].as_f64().unwrap_or(f64::NAN);
    let p99 = |is_read: bool| {
        let rows = document["by_call"].as_array()?;
        let of = rows.iter().filter(|row| READS.contains(&row["call"].as_str().unwrap_or_default()) == is_read);
        of.filter_map(|row| row["p99_us"].as_f64()).max_by(f64::total_cmp).map(|us| us / 1000.0)
    };
    Ok(RunSample {
        calls_per_second: number("calls_per_second"),
        cpu_us: number("namenode_cpu_us_per_call"),
        switches: number("namenode_switches_per_call"),
        read_p99_ms: p99(true),
        write_p99_ms: p99(false),
        client_cpu_us: number("client_cpu_us_per_call"),
    })
}

/// A figure over all rounds, and its ratios to the base's figure in the same round.
pub struct Figure {
    pub median: f64,
    pub ratio: f64,
    pub ratio_min: f64,
    pub ratio_max: f64,
}

impl Figure {
    /// Returns None unless each round has the figure.
    pub fn of<T>(rounds: &[T], base: &[T], figure: impl Fn(&T) -> Option<f64>) -> Option<Figure> {
        let all: Vec<f64> = rounds.iter().map(&figure).collect::<Option<_>>()?;
        let of_base: Vec<f64> = base.iter().map(&figure).collect::<Option<_>>()?;
        let ratios: Vec<f64> = all.iter().zip(&of_base).map(|(one, other)| one / other).collect();
        let (ratio_min, ratio_max) =
            ratios.iter().fold((f64::INFINITY, 0.0f64), |(min, max), r| (min.min(*r), max.max(*r)));
        Some(Figure { median: median(all)?, ratio: median(ratios)?, ratio_min, ratio_max })
    }

    pub fn to_json(&self) -> Value {
        json!({ "median": self.median, "ratio": self.ratio, "ratio_min": self.ratio_min, "ratio_max": self.ratio_max })
    }
}

/// Returns the median; for an even count, the mean of the two values in the middle.
pub fn median(mut all: Vec<f64>) -> Option<f64> {
    all.sort_by(f64::total_cmp);
    let (low, high) = (all.get(all.len().checked_sub(1)? / 2)?, all.get(all.len() / 2)?);
    Some((low + high) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_of_odd_and_even_counts() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn ratios_compare_the_same_round() {
        let sample = |calls_per_second| RunSample {
            calls_per_second,
            cpu_us: 1.0,
            switches: 1.0,
            read_p99_ms: Some(1.0),
            write_p99_ms: None,
            client_cpu_us: 1.0,
        };
        // The machine was twice as fast in the second round.
        let (base, ours) = ([sample(100.0), sample(200.0)], [sample(150.0), sample(300.0)]);
        let figure = Figure::of(&ours, &base, |sample| Some(sample.calls_per_second)).unwrap();
        assert_eq!((figure.median, figure.ratio, figure.ratio_min, figure.ratio_max), (225.0, 1.5, 1.5, 1.5));
        assert!(Figure::of(&ours, &base, |sample| sample.write_p99_ms).is_none());
    }
}

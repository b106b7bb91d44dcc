//! `yunti nn bench --cures`: the proposals of 2012 for the NameNode, measured in today's form.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};

use super::rows;
use crate::bench::cure::{self, Cure};
use crate::bench::home::Setting;
use crate::bench::in_process::{InProcess, InProcessSample};
use crate::bench::namenode::NameNode;
use crate::bench::round::{self, Figure, Load, RunSample};
use crate::rpc::wire::Io;

/// Percent of reads in process, as in the mix over RPC.
const READS_PERCENT: f64 = 90.0;
const MIX: &str = "getFileInfo=90,mkdirs=10";

/// Rounds to run: `seconds` and `warm_up` in seconds.
pub struct Rounds {
    pub rounds: u32,
    pub seconds: f64,
    pub warm_up: f64,
    pub connections: u32,
    pub io: Io,
}

/// Ratios of the variant with a proposal to the one without, over RPC or in process.
struct Worth {
    calls: Figure,
    cpu: Figure,
}

impl Worth {
    fn to_json(&self) -> Value {
        json!({ "calls_per_second": self.calls.to_json(), "cpu_us_per_call": self.cpu.to_json() })
    }
}

/// Measures all proposals.
///
/// @return a JSON row for each proposal
pub fn run(setting: &Setting, rounds: &Rounds, is_quiet: bool, stop: &AtomicBool) -> Result<Value> {
    if !is_quiet {
        rows::print(&format!(
            "{MIX}, {} connections or threads, {} rounds of {} s: calls a second and CPU a call, ratios of with to \
                without\n",
            rounds.connections, rounds.rounds, rounds.seconds
        ))?;
        rows::print(&row(
            "proposal of 2012",
            ["RPC: calls", "CPU", "in process: calls", "CPU"].map(str::to_owned),
            "today",
        ))?;
    }
    let mut rows = Vec::new();
    for cure in cure::all(java_version()?) {
        let rpc = over_rpc(setting, rounds, &cure, stop)?;
        let inside = in_process(setting, rounds, &cure, stop)?;
        if !is_quiet {
            let cell = |f: &Figure| format!("{:.2} ({:.2}-{:.2})", f.ratio, f.ratio_min, f.ratio_max);
            rows::print(&row(cure.name, [&rpc.calls, &rpc.cpu, &inside.calls, &inside.cpu].map(cell), cure.today))?;
        }
        rows.push(
            json!({ "cure": cure.name, "today": cure.today, "rpc": rpc.to_json(), "in_process": inside.to_json() }),
        );
    }
    Ok(Value::Array(rows))
}

fn row(name: &str, cells: [String; 4], today: &str) -> String {
    format!("{name:26} {:>18} {:>18} {:>18} {:>18}  {today}\n", cells[0], cells[1], cells[2], cells[3])
}

fn check_stop(stop: &AtomicBool) -> Result<()> {
    if stop.load(Relaxed) { Err(round::cancelled()) } else { Ok(()) }
}

fn over_rpc(setting: &Setting, rounds: &Rounds, cure: &Cure, stop: &AtomicBool) -> Result<Worth> {
    let both = [NameNode::start(setting, &cure.without)?, NameNode::start(setting, &cure.with)?];
    let load = |seconds, warm_up| Load {
        connections: rounds.connections,
        mix: MIX.to_owned(),
        seconds,
        warm_up,
        io: rounds.io,
    };
    for namenode in &both {
        round::warm_up(namenode, &load(rounds.warm_up, 1.0), stop)?;
    }
    let mut samples: [Vec<RunSample>; 2] = [Vec::new(), Vec::new()];
    for number in 0..rounds.rounds as usize {
        for turn in [number % 2, (number + 1) % 2] {
            samples[turn].push(round::run(&both[turn], &load(rounds.seconds, 1.0), stop)?);
        }
    }
    let figure = |figure: fn(&RunSample) -> f64| ratio(&samples[1], &samples[0], figure);
    Ok(Worth { calls: figure(|sample| sample.calls_per_second)?, cpu: figure(|sample| sample.cpu_us)? })
}

fn in_process(setting: &Setting, rounds: &Rounds, cure: &Cure, stop: &AtomicBool) -> Result<Worth> {
    let mut both = [
        InProcess::start(setting, &cure.without, rounds.connections)?,
        InProcess::start(setting, &cure.with, rounds.connections)?,
    ];
    for one in &mut both {
        if rounds.warm_up > 0.0 {
            one.run(rounds.warm_up, READS_PERCENT, cure.way)?;
        }
        check_stop(stop)?;
    }
    let mut samples: [Vec<InProcessSample>; 2] = [Vec::new(), Vec::new()];
    for number in 0..rounds.rounds as usize {
        for turn in [number % 2, (number + 1) % 2] {
            samples[turn].push(both[turn].run(rounds.seconds, READS_PERCENT, cure.way)?);
            check_stop(stop)?;
        }
    }
    let figure = |figure: fn(&InProcessSample) -> f64| ratio(&samples[1], &samples[0], figure);
    Ok(Worth { calls: figure(|sample| sample.calls_per_second)?, cpu: figure(|sample| sample.cpu_us)? })
}

fn ratio<T>(with: &[T], without: &[T], figure: fn(&T) -> f64) -> Result<Figure> {
    let none = || Error::new(Code::Internal, "no round was measured".to_owned());
    Figure::of(with, without, |sample| Some(figure(sample))).ok_or_else(none)
}

/// Returns the feature release of `java`, such as 17 or 25.
fn java_version() -> Result<u32> {
    let hint = "install JDK 17 or later";
    let failed = |e| Error::io(Code::Input, "cannot start java", &e).hint(hint);
    let run = Command::new("java").arg("-version").output().map_err(failed)?;
    let output = String::from_utf8_lossy(&run.stderr).into_owned();
    let version = output.split('"').nth(1).and_then(|version| version.split(['.', '-', '+']).next()?.parse().ok());
    version.ok_or_else(|| {
        Error::new(Code::Input, format!("cannot read the version of java from: {}", output.trim())).hint(hint)
    })
}

//! `yunti nn bench --cures`: what was proposed for the NameNode in 2012, and what each is worth today.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};

use super::bench::say;
use crate::bench::cure::{self, Cure};
use crate::bench::home::Setting;
use crate::bench::in_process::{InProcess, Worked};
use crate::bench::namenode::NameNode;
use crate::bench::round::{self, Figure, Load, Seen};
use crate::rpc::wire::Io;

/// The share of reads in process is that of the mix over RPC.
const READS_PERCENT: f64 = 90.0;
const MIX: &str = "getFileInfo=90,mkdirs=10";

pub struct Rounds {
    pub rounds: u32,
    pub seconds: f64,
    pub warm_up: f64,
    pub connections: u32,
    pub io: Io,
}

/// One way to meet a NameNode: ratios of the cured to the ill.
struct Worth {
    calls: Figure,
    cpu: Figure,
}

/// @return a row for each cure
pub fn run(setting: &Setting, rounds: &Rounds, is_quiet: bool, stop: &AtomicBool) -> Result<Value> {
    if !is_quiet {
        say(&format!(
            "{MIX}, {} connections or threads, {} rounds of {} s: calls a second and CPU a call, with the cure as a ratio to without\n",
            rounds.connections, rounds.rounds, rounds.seconds
        ))?;
        say(&row("cure of 2012", ["RPC: calls", "CPU", "in process: calls", "CPU"].map(str::to_owned), "today"))?;
    }
    let mut rows = Vec::new();
    for cure in cure::all(java_version()?) {
        let rpc = over_rpc(setting, rounds, &cure, stop)?;
        let inside = in_process(setting, rounds, &cure, stop)?;
        if !is_quiet {
            let cell = |f: &Figure| format!("{:.2} ({:.2}-{:.2})", f.ratio, f.ratio_min, f.ratio_max);
            say(&row(cure.name, [&rpc.calls, &rpc.cpu, &inside.calls, &inside.cpu].map(cell), cure.today))?;
        }
        let of = |worth: &Worth| json!({ "calls_per_second": worth.calls.to_json(), "cpu_us_per_call": worth.cpu.to_json() });
        rows.push(json!({ "cure": cure.name, "today": cure.today, "rpc": of(&rpc), "in_process": of(&inside) }));
    }
    Ok(Value::Array(rows))
}

fn row(name: &str, cells: [String; 4], today: &str) -> String {
    format!("{name:26} {:>18} {:>18} {:>18} {:>18}  {today}\n", cells[0], cells[1], cells[2], cells[3])
}

fn go_on(stop: &AtomicBool) -> Result<()> {
    if stop.load(Relaxed) { Err(round::cancelled()) } else { Ok(()) }
}

fn over_rpc(setting: &Setting, rounds: &Rounds, cure: &Cure, stop: &AtomicBool) -> Result<Worth> {
    let both = [NameNode::start(setting, &cure.ill)?, NameNode::start(setting, &cure.cured)?];
    let load = |seconds, warm_up| Load {
        connections: rounds.connections,
        mix: MIX.to_owned(),
        seconds,
        warm_up,
        io: rounds.io,
    };
    for namenode in &both {
        round::run(namenode, &load(rounds.warm_up, 1.0), stop)?;
    }
    let mut seen: [Vec<Seen>; 2] = [Vec::new(), Vec::new()];
    for number in 0..rounds.rounds as usize {
        for turn in [number % 2, (number + 1) % 2] {
            seen[turn].push(round::run(&both[turn], &load(rounds.seconds, 1.0), stop)?);
        }
    }
    let figure = |figure: fn(&Seen) -> f64| ratio(&seen[1], &seen[0], figure);
    Ok(Worth { calls: figure(|seen| seen.calls_per_second)?, cpu: figure(|seen| seen.cpu_us)? })
}

fn in_process(setting: &Setting, rounds: &Rounds, cure: &Cure, stop: &AtomicBool) -> Result<Worth> {
    let mut both = [
        InProcess::start(setting, &cure.ill, rounds.connections)?,
        InProcess::start(setting, &cure.cured, rounds.connections)?,
    ];
    for one in &mut both {
        one.run(rounds.warm_up, READS_PERCENT, cure.way)?;
        go_on(stop)?;
    }
    let mut seen: [Vec<Worked>; 2] = [Vec::new(), Vec::new()];
    for number in 0..rounds.rounds as usize {
        for turn in [number % 2, (number + 1) % 2] {
            seen[turn].push(both[turn].run(rounds.seconds, READS_PERCENT, cure.way)?);
            go_on(stop)?;
        }
    }
    let figure = |figure: fn(&Worked) -> f64| ratio(&seen[1], &seen[0], figure);
    Ok(Worth { calls: figure(|seen| seen.calls_per_second)?, cpu: figure(|seen| seen.cpu_us)? })
}

fn ratio<T>(cured: &[T], ill: &[T], figure: fn(&T) -> f64) -> Result<Figure> {
    let none = || Error::new(Code::Internal, "no round was seen".to_owned());
    Figure::of(cured, ill, |seen| Some(figure(seen))).ok_or_else(none)
}

/// The feature release, as of 17 or 25.
fn java_version() -> Result<u32> {
    let hint = "install a JDK of 17 or later";
    let failed = |e| Error::io(Code::Input, "java cannot be started", &e).hint(hint);
    let run = Command::new("java").arg("-version").output().map_err(failed)?;
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    let version = said.split('"').nth(1).and_then(|version| version.split(['.', '-', '+']).next()?.parse().ok());
    version.ok_or_else(|| Error::new(Code::Input, format!("which java is this? it says: {}", said.trim())).hint(hint))
}

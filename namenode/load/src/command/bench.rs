//! `yunti nn bench`: NameNodes that are started in several ways, under the same load.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use clap::Args;
use serde_json::{Value, json};
use yunti_base::whole_file;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;
use yunti_program::terminal::{signals, stdout};

use super::clusters;
use super::cures::{self, Rounds};
use super::scenario::Scenario;
use crate::bench::home::Setting;
use crate::bench::jars;
use crate::bench::namenode::NameNode;
use crate::bench::round::{self, Figure, Load, Seen};
use crate::bench::variant::{self, Variant};
use crate::load::mix::Mix;
use crate::rpc::wire::Io;

/// Starts NameNodes of this machine in several ways, puts the same load on one after the other, and says how they compare
#[derive(Debug, Args)]
#[command(after_help = format!("Variants:\n{}  NAME:KEY=VALUE,..  your own, also of others: mine:balanced,dfs.namenode.handler.count=50,-Xint", variant::about()))]
pub struct BenchFlags {
    /// How they are started; ratios are of the first
    #[arg(short, long, value_name = "NAMES", default_value = "stock unfair throughput balanced")]
    pub variants: String,
    /// Connections, one number after the other
    #[arg(short, long, value_name = "N,..", default_value = "100", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub connections: Vec<u32>,
    /// What they are loaded with, as of yunti nn load; may be given several times
    #[arg(short, long, value_name = "MIX", default_value = "getFileInfo=90,mkdirs=10")]
    pub mix: Vec<String>,
    /// Rounds; in each, every variant has its turn
    #[arg(short, long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Of each turn
    #[arg(short, long, value_name = "SECONDS", default_value = "5")]
    pub seconds: f64,
    /// Before the first round, of each variant: a JVM compiles what is used much
    #[arg(long, value_name = "SECONDS", default_value = "20")]
    pub warm_up: f64,
    /// How the load is sent, as of yunti nn load: by epoll calls come one by one, by io_uring some twenty at once
    #[arg(long, value_enum, value_name = "WAY", default_value_t, conflicts_with = "scenario")]
    pub io: Io,
    /// An installation of Hadoop, or a folder with its jars; else HADOOP_HOME, else Maven fetches them
    #[arg(long, value_name = "DIR")]
    pub hadoop: Option<PathBuf>,
    /// Our plug-in
    #[arg(long, value_name = "JAR")]
    pub plugin: Option<PathBuf>,
    /// The most memory of each, as of java -Xmx
    #[arg(long, value_name = "SIZE", default_value = "1g")]
    pub heap: String,
    /// dfs.namenode.handler.count
    #[arg(long, value_name = "N", default_value = "150")]
    pub handlers: u32,
    /// ipc.server.read.threadpool.size
    #[arg(long, value_name = "N", default_value = "5")]
    pub readers: u32,
    /// What was proposed for the NameNode in 2012, in today's form: many call queues, SIMD UTF-8, logging out of the path, update lock, edit
    /// log outside the lock, all together; each with what it is worth, over RPC and in process
    #[arg(long, conflicts_with_all = ["variants", "mix"])]
    pub cures: bool,
    /// A load by its name, in steps, on one variant after the other, as of yunti nn load; --seconds is of each step, 25 at least
    #[arg(long, value_name = "NAME", conflicts_with_all = ["cures", "mix", "connections", "rounds"])]
    pub scenario: Option<Scenario>,
    /// Of the scenario's last step
    #[arg(long, value_name = "N", default_value = "3200", requires = "scenario", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub datanodes: u32,
    /// Keeps all figures in a file, of JSON
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// The answer as one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Beside the command, as `make dist` lays them out.
const PLUGIN: &str = "java/yunti-namenode.jar";

/// What was seen of each variant under one load, a row of rounds each.
struct Series {
    load: Load,
    rounds: Vec<Vec<Seen>>,
}

pub fn bench(flags: &BenchFlags) -> Outcome {
    let variants = flags.variants.split_whitespace().map(Variant::parse).collect::<Result<Vec<_>>>()?;
    for mix in &flags.mix {
        Mix::parse(mix).map_err(|e| Error::new(Code::Usage, e))?;
    }
    if let Some(path) = &flags.save {
        whole_file::check(path, "the figures")?;
    }
    let setting = Setting {
        class_path: jars::class_path(flags.hadoop.as_deref())?,
        plugin: plugin(flags, &variants)?,
        heap: flags.heap.clone(),
        handlers: flags.handlers,
        readers: flags.readers,
    };
    let stop = stopped_by_signals();
    let done = compare(flags, &variants, &setting, &stop);
    // A terminal interrupts the NameNodes too, which then do not start, or do not answer: that is no fault of theirs.
    if done.is_err() && stop.load(Relaxed) { Err(round::cancelled().into()) } else { done }
}

fn compare(flags: &BenchFlags, variants: &[Variant], setting: &Setting, stop: &AtomicBool) -> Outcome {
    if flags.cures {
        let rounds = Rounds {
            rounds: flags.rounds,
            seconds: flags.seconds,
            warm_up: flags.warm_up,
            connections: flags.connections[0],
            io: flags.io,
        };
        let rows = cures::run(setting, &rounds, flags.json, stop)?;
        return finish(
            flags,
            &json!({ "hadoop": jars::HADOOP, "rounds": flags.rounds, "seconds": flags.seconds, "cures": rows }),
        );
    }
    if flags.scenario.is_some() {
        return finish(flags, &clusters::run(flags, variants, setting, stop)?);
    }
    let namenodes = variants.iter().map(|variant| NameNode::start(setting, variant)).collect::<Result<Vec<_>>>()?;
    let mut all = Vec::new();
    for (number, (mix, connections)) in
        flags.mix.iter().flat_map(|mix| flags.connections.iter().map(move |c| (mix, *c))).enumerate()
    {
        let load = Load { connections, mix: mix.clone(), seconds: flags.seconds, warm_up: 1.0, io: flags.io };
        let series = look(flags, &namenodes, load, number == 0, stop)?;
        if !flags.json {
            stdout::print(&text(variants, &series))?;
        }
        all.push(series);
    }
    finish(flags, &document(flags, variants, &all))
}

fn finish(flags: &BenchFlags, document: &Value) -> Outcome {
    if let Some(path) = &flags.save {
        whole_file::write(path, &format!("{document:#}\n"), "the figures")?;
    }
    if flags.json {
        stdout::print_json(document)?;
    }
    Ok(())
}

pub fn say(text: &str) -> Result<()> {
    stdout::print(text).map_err(|_| Error::new(Code::Output, "standard output is closed".to_owned()))
}

fn plugin(flags: &BenchFlags, variants: &[Variant]) -> Result<Option<PathBuf>> {
    if !flags.cures && !variants.iter().any(|variant| variant.needs_plugin) {
        return Ok(None);
    }
    let beside = || Some(std::env::current_exe().ok()?.parent()?.parent()?.join(PLUGIN));
    let jar = flags.plugin.clone().or_else(beside).unwrap_or_else(|| PLUGIN.into());
    if !jar.is_file() {
        return Err(Error::new(Code::Input, "there is no plug-in for the NameNode".to_owned())
            .at_path(jar.to_string_lossy())
            .hint("make namenode builds it; --plugin says where it is"));
    }
    Ok(Some(jar))
}

fn stopped_by_signals() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in signals::that_end() {
        let _ = signal_hook::flag::register(signal, stop.clone());
    }
    stop
}

fn look(flags: &BenchFlags, namenodes: &[NameNode], load: Load, is_first: bool, stop: &AtomicBool) -> Result<Series> {
    // What is compiled by then is compiled for all loads; a new mix needs a little.
    let warm =
        Load { seconds: if is_first { flags.warm_up } else { flags.warm_up / 4.0 }, mix: load.mix.clone(), ..load };
    for namenode in namenodes {
        round::run(namenode, &warm, stop)?;
    }
    let mut rounds: Vec<Vec<Seen>> = namenodes.iter().map(|_| Vec::new()).collect();
    for number in 0..flags.rounds as usize {
        // Who comes first has another machine than who comes last: all take turns in that too.
        for place in 0..namenodes.len() {
            let which = (place + number) % namenodes.len();
            rounds[which].push(round::run(&namenodes[which], &load, stop)?);
        }
    }
    Ok(Series { load, rounds })
}

type Named = (&'static str, fn(&Seen) -> Option<f64>, usize);

/// Name, where it is, digits behind the point.
const FIGURES: [Named; 6] = [
    ("calls_per_second", |seen| Some(seen.calls_per_second), 0),
    ("namenode_cpu_us_per_call", |seen| Some(seen.cpu_us), 1),
    ("namenode_switches_per_call", |seen| Some(seen.switches), 2),
    ("read_p99_ms", |seen| seen.read_p99_ms, 1),
    ("write_p99_ms", |seen| seen.write_p99_ms, 1),
    ("client_cpu_us_per_call", |seen| Some(seen.client_cpu_us), 1),
];
const HEADS: [&str; 6] = ["calls a second", "CPU us a call", "switches", "read p99 ms", "write p99 ms", "client us"];

fn text(variants: &[Variant], series: &Series) -> String {
    let Load { mix, connections, seconds, .. } = &series.load;
    let rounds = series.rounds[0].len();
    let mut text = format!(
        "{mix}, {connections} connections, {rounds} rounds of {seconds} s: medians, and in brackets the ratio to {}\n",
        variants[0].name
    );
    text += &format!("{:14}", "");
    text += &HEADS.iter().map(|head| format!(" {head:>18}")).collect::<String>();
    text.push('\n');
    for (variant, seen) in variants.iter().zip(&series.rounds) {
        text += &format!("{:14}", variant.name);
        for (_, figure, digits) in FIGURES {
            let cell = Figure::of(seen, &series.rounds[0], figure)
                .map_or("-".to_owned(), |f| format!("{:.digits$} ({:.2})", f.median, f.ratio));
            text += &format!(" {cell:>18}");
        }
        text.push('\n');
    }
    text + "\n"
}

fn document(flags: &BenchFlags, variants: &[Variant], all: &[Series]) -> Value {
    let of = |series: &Series| {
        let rows = variants.iter().zip(&series.rounds).map(|(variant, seen)| {
            let figures: serde_json::Map<String, Value> = FIGURES
                .iter()
                .filter_map(|(name, figure, _)| {
                    let mut value = Figure::of(seen, &series.rounds[0], figure)?.to_json();
                    value["rounds"] = json!(seen.iter().filter_map(figure).collect::<Vec<_>>());
                    Some(((*name).to_owned(), value))
                })
                .collect();
            json!({ "variant": variant.name, "figures": figures })
        });
        json!({ "mix": series.load.mix, "connections": series.load.connections, "variants": rows.collect::<Vec<_>>() })
    };
    json!({
        "hadoop": jars::HADOOP,
        "base": variants[0].name,
        "rounds": flags.rounds,
        "seconds": flags.seconds,
        "io": flags.io.word(),
        "handlers": flags.handlers,
        "readers": flags.readers,
        "loads": all.iter().map(of).collect::<Vec<_>>(),
    })
}

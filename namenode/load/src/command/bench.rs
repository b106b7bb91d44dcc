//! `yunti nn bench`: variants of a NameNode under the same load.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde_json::{Value, json};
use yunti_base::whole_file;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;
use yunti_program::terminal::{signals, stdout};

use super::bench_flags::BenchFlags;
use super::clusters;
use super::cures::{self, Rounds};
use crate::bench::home::Setting;
use crate::bench::jars;
use crate::bench::namenode::NameNode;
use crate::bench::round::{self, Figure, Load, RunSample};
use crate::bench::variant::Variant;
use crate::load::mix::Mix;

/// Path of the plug-in jar in a distribution, beside `bin/`.
const PLUGIN: &str = "java/yunti-namenode.jar";

/// Samples under one load: a row for each variant, with one sample a round.
struct Series {
    load: Load,
    rounds: Vec<Vec<RunSample>>,
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
    // A terminal interrupts the NameNodes too. Their errors after that are not reported.
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
        let series = measure(flags, &namenodes, load, number == 0, stop)?;
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

fn plugin(flags: &BenchFlags, variants: &[Variant]) -> Result<Option<PathBuf>> {
    if !flags.cures && !variants.iter().any(|variant| variant.needs_plugin) {
        return Ok(None);
    }
    let beside = || Some(std::env::current_exe().ok()?.parent()?.parent()?.join(PLUGIN));
    let jar = flags.plugin.clone().or_else(beside).unwrap_or_else(|| PLUGIN.into());
    if !jar.is_file() {
        return Err(Error::new(Code::Input, "the plug-in jar is missing".to_owned())
            .at_path(jar.to_string_lossy())
            .hint("build it by `make namenode`, or give its path by --plugin"));
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

fn measure(
    flags: &BenchFlags,
    namenodes: &[NameNode],
    load: Load,
    is_first: bool,
    stop: &AtomicBool,
) -> Result<Series> {
    // The JVM has compiled most code after the first warm-up; a new mix needs less.
    let warm =
        Load { seconds: if is_first { flags.warm_up } else { flags.warm_up / 4.0 }, mix: load.mix.clone(), ..load };
    for namenode in namenodes {
        round::warm_up(namenode, &warm, stop)?;
    }
    let mut rounds: Vec<Vec<RunSample>> = namenodes.iter().map(|_| Vec::new()).collect();
    for number in 0..flags.rounds as usize {
        // The order within a round rotates, since the machine may change during a round.
        for place in 0..namenodes.len() {
            let which = (place + number) % namenodes.len();
            rounds[which].push(round::run(&namenodes[which], &load, stop)?);
        }
    }
    Ok(Series { load, rounds })
}

type Named = (&'static str, fn(&RunSample) -> Option<f64>, usize);

/// Name of the figure, its value, decimal places.
const FIGURES: [Named; 6] = [
    ("calls_per_second", |sample| Some(sample.calls_per_second), 0),
    ("namenode_cpu_us_per_call", |sample| Some(sample.cpu_us), 1),
    ("namenode_switches_per_call", |sample| Some(sample.switches), 2),
    ("read_p99_ms", |sample| sample.read_p99_ms, 1),
    ("write_p99_ms", |sample| sample.write_p99_ms, 1),
    ("client_cpu_us_per_call", |sample| Some(sample.client_cpu_us), 1),
];
const HEADS: [&str; 6] = ["calls a second", "CPU us a call", "switches", "read p99 ms", "write p99 ms", "client us"];

fn text(variants: &[Variant], series: &Series) -> String {
    let Load { mix, connections, seconds, .. } = &series.load;
    let rounds = series.rounds[0].len();
    let mut text = format!(
        "{mix}, {connections} connections, {rounds} rounds of {seconds} s: medians, in brackets the ratio to {}\n",
        variants[0].name
    );
    text += &format!("{:14}", "");
    text += &HEADS.iter().map(|head| format!(" {head:>18}")).collect::<String>();
    text.push('\n');
    for (variant, samples) in variants.iter().zip(&series.rounds) {
        text += &format!("{:14}", variant.name);
        for (_, figure, digits) in FIGURES {
            let cell = Figure::of(samples, &series.rounds[0], figure)
                .map_or("-".to_owned(), |f| format!("{:.digits$} ({:.2})", f.median, f.ratio));
            text += &format!(" {cell:>18}");
        }
        text.push('\n');
    }
    text + "\n"
}

fn document(flags: &BenchFlags, variants: &[Variant], all: &[Series]) -> Value {
    let of = |series: &Series| {
        let rows = variants.iter().zip(&series.rounds).map(|(variant, samples)| {
            let figures: serde_json::Map<String, Value> = FIGURES
                .iter()
                .filter_map(|(name, figure, _)| {
                    let mut value = Figure::of(samples, &series.rounds[0], figure)?.to_json();
                    value["rounds"] = json!(samples.iter().filter_map(figure).collect::<Vec<_>>());
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
        "io": flags.io.name(),
        "handlers": flags.handlers,
        "readers": flags.readers,
        "loads": all.iter().map(of).collect::<Vec<_>>(),
    })
}

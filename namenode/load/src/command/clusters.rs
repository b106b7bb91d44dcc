//! `yunti nn bench --scenario`: one cluster, step by step, on each variant.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use yunti_base::Result;

use super::bench_flags::BenchFlags;
use super::rows;
use crate::bench::home::Setting;
use crate::bench::jars;
use crate::bench::namenode::NameNode;
use crate::bench::round::{self, Load};
use crate::bench::variant::Variant;
use crate::rpc::wire::Io;

const WARM_UP_MIX: &str = "getFileInfo=90,mkdirs=10";
const WARM_UP_CONNECTIONS: u32 = 100;

type Named = (&'static str, fn(&Value) -> Option<f64>, usize);

fn figure(step: &Value, name: &str) -> Option<f64> {
    step["namenode_rpc"][name].as_f64()
}

/// Head of the column, its value, decimal places.
const FIGURES: [Named; 6] = [
    ("target /s", |step| step["target_per_second"].as_f64(), 0),
    ("actual /s", |step| step["calls_per_second"].as_f64(), 0),
    ("queue ms", |step| figure(step, "queue_ms_mean"), 2),
    ("lock ms", |step| figure(step, "lock_wait_ms_mean"), 2),
    ("processing ms", |step| figure(step, "processing_ms_mean"), 2),
    ("CPU us", |step| step["namenode_cpu_us_per_call"].as_f64(), 1),
];

/// Runs the cluster on one variant after the other, so that each NameNode has the machine to itself.
///
/// A row is printed after each variant's steps, since each variant takes minutes.
pub fn run(flags: &BenchFlags, variants: &[Variant], setting: &Setting, stop: &AtomicBool) -> Result<Value> {
    print(flags, &format!("{:14}{:>10}{:>10}", "", "machines", "keeps up"))?;
    print(flags, &(FIGURES.map(|(head, ..)| format!("{head:>15}")).concat() + "\n"))?;
    let mut all = Vec::new();
    for variant in variants {
        let namenode = NameNode::start(setting, variant)?;
        if flags.warm_up > 0.0 {
            let seconds = flags.warm_up;
            let warm = Load {
                connections: WARM_UP_CONNECTIONS,
                mix: WARM_UP_MIX.to_owned(),
                seconds,
                warm_up: 0.0,
                io: Io::Auto,
            };
            round::run(&namenode, &warm, stop)?;
        }
        let (rpc, web, machines) =
            (namenode.home.address.to_string(), namenode.home.web.to_string(), flags.datanodes.to_string());
        let seconds = flags.seconds.to_string();
        let words = [&*rpc, "--scenario", "yunti", "--datanodes", &machines, "--jmx", &web, "-s", &seconds];
        let document = round::ours(&words, stop)?;
        for step in document["steps"].as_array().into_iter().flatten() {
            print(flags, &row(&variant.name, step))?;
        }
        all.push(json!({ "variant": variant.name, "steps": document["steps"] }));
    }
    Ok(json!({
        "hadoop": jars::HADOOP,
        "scenario": "yunti",
        "handlers": flags.handlers,
        "readers": flags.readers,
        "variants": all,
    }))
}

fn row(variant: &str, step: &Value) -> String {
    let keeps_up = if step["keeps_up"] == true { "yes" } else { "no" };
    let cells = FIGURES.map(|(_, figure, digits)| {
        let cell = figure(step).map_or("-".to_owned(), |figure| format!("{figure:.digits$}"));
        format!("{cell:>15}")
    });
    format!("{variant:14}{:>10}{keeps_up:>10}{}\n", step["machines"].as_u64().unwrap_or(0), cells.concat())
}

fn print(flags: &BenchFlags, text: &str) -> Result<()> {
    if flags.json { Ok(()) } else { rows::print(text) }
}

//! `yunti capacity what-if`: what changes would bring, one by one and together.

use std::path::PathBuf;

use clap::Args;
use yunti_base::{Code, Error, Result};
use yunti_model::curve::Share;
use yunti_model::what_if::{Answer, Change, Conversion, parse};
use yunti_program::failure::Outcome;
use yunti_program::terminal::{paint, stdout};
use yunti_program::text::numbers;
use yunti_program::text::table::{Side, Table};

use super::messages;
use super::process::ProcessFlags;
use super::prove::{Answers, ProveFlags};
use crate::messages::trial::conversions::{self, alternatives};
use crate::prove::text;

/// Compute what changes would bring: each one, and all together
///
/// A change names a resource and what happens to it: 'cpu +2', 'lock x0.5', 'pool NAME 8', 'remote NAME x0.5',
/// 'threads 100', 'parallel: a,b,c' (calls in turn become calls at once), 'young 600m', 'memory x0.5', 'held x0.1',
/// 'gc off', 'share GET /search x2' (of all requests), 'without GET /report', 'json -> protobuf'.
#[derive(Debug, Args)]
pub struct WhatIfFlags {
    #[command(flatten)]
    process: ProcessFlags,
    /// Changes, each a word or in quotes
    #[arg(required = true, value_name = "CHANGE")]
    changes: Vec<String>,
    /// Take the costs of formats from a saved answer, for changes such as 'json -> protobuf'
    ///
    /// It is what `yunti capacity messages -p PID --capture --json` prints. By default, they are measured with -p, on
    /// captured and redacted messages; with a speed-up of your own ('json -> protobuf x3'), without a capture.
    #[arg(long, value_name = "FILE")]
    messages: Option<PathBuf>,
    #[command(flatten)]
    prove: ProveFlags,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(flags: &WhatIfFlags) -> Outcome {
    // A change that nobody understands, or that cannot be tried, must not cost a measurement.
    let changes = flags.changes.iter().map(|text| parse(text)).collect::<Result<Vec<Change>>>()?;
    let trials = flags.prove.trials(&flags.process, &changes)?;
    let conversions = conversions(flags, &changes)?;
    let (answers, proof) = match trials {
        Some(trials) => {
            let (answers, proof) = trials.run(&conversions)?;
            (answers, Some(proof))
        }
        None => (Answers::of(&flags.process.measured()?, &changes, &conversions)?, None),
    };
    if flags.json {
        let mut document = serde_json::json!({"version": 1, "now": answers.now, "answers": answers.each});
        if let Some(proof) = &proof {
            document["proof"] = serde_json::json!(proof);
        }
        return stdout::print_json(&document);
    }
    let proof = proof.map_or_else(String::new, |proof| format!("\n{}", text::render(&proof, paint::for_stdout())));
    stdout::print(&(table(&answers) + &proof))
}

/// Returns the costs of formats that changes need: saved ones, or measured.
fn conversions(flags: &WhatIfFlags, changes: &[Change]) -> Result<Vec<Conversion>> {
    let mut tries = Vec::new();
    let mut first = None;
    for change in changes {
        if let Change::Convert { to, factor, .. } = change {
            first = first.or(Some(change));
            if factor.is_none() && flags.messages.is_none() {
                tries.extend(alternatives(to).map_err(|error| error.within(&format!("change '{change}'")))?);
            }
        }
    }
    match (first, &flags.messages, flags.process.pid()) {
        (_, Some(path), _) => conversions::read(path),
        (None, None, _) => Ok(Vec::new()),
        (Some(_), None, Some(pid)) => {
            conversions::of(&serde_json::to_value(messages::measured(pid, tries)?).unwrap_or_default())
        }
        (Some(change), None, None) => {
            Err(Error::new(Code::Usage, format!("change '{change}' needs the costs of formats"))
                .hint("name the process by -p PID, or a saved answer of yunti capacity messages: --messages FILE"))
        }
    }
}

/// Returns the answers as a table.
fn table(answers: &Answers) -> String {
    let mut table = Table::new(&[
        ("requests/s", Side::Right),
        ("gain", Side::Right),
        ("threads", Side::Right),
        ("bounded by", Side::Left),
        ("change", Side::Left),
    ]);
    let bound = |share: Option<&Share>| share.map_or_else(String::new, |share| share.name.clone());
    let now = &answers.now;
    table.row(vec![
        numbers::three(now.peak.value),
        String::new(),
        format!("{:.0}", now.threads.value),
        bound(now.bottleneck.as_ref()),
        "none".to_owned(),
    ]);
    for Answer { changes, after, gain, .. } in &answers.each {
        table.row(vec![
            numbers::three(after.peak.value),
            format!("{:+.0} % ({:+.0} to {:+.0})", gain.value * 100.0, gain.low * 100.0, gain.high * 100.0),
            format!("{:.0}", after.threads.value),
            bound(after.bottleneck.as_ref()),
            changes.join(", "),
        ]);
    }
    table.print(paint::for_stdout())
}

//! `yunti capacity what-if`: what changes would bring, one by one and together.

use clap::Args;
use yunti_base::Result;
use yunti_model::curve::Share;
use yunti_model::what_if::{Answer, Change, parse};
use yunti_program::failure::Outcome;
use yunti_program::terminal::{paint, stdout};
use yunti_program::text::numbers;
use yunti_program::text::table::{Side, Table};

use super::process::ProcessFlags;
use super::prove::{Answers, ProveFlags};
use crate::prove::text;

/// Compute what changes would bring: each one, and all together
///
/// A change names a resource and what happens to it: 'cpu +2', 'lock x0.5', 'pool NAME 8', 'remote NAME x0.5',
/// 'threads 100', 'parallel: a,b,c' (calls in turn become calls at once), 'young 600m', 'memory x0.5', 'gc off'.
#[derive(Debug, Args)]
pub struct WhatIfFlags {
    #[command(flatten)]
    process: ProcessFlags,
    /// Changes, each a word or in quotes
    #[arg(required = true, value_name = "CHANGE")]
    changes: Vec<String>,
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
    let (answers, proof) = match flags.prove.trials(&flags.process, &changes)? {
        Some(trials) => {
            let (answers, proof) = trials.run()?;
            (answers, Some(proof))
        }
        None => (Answers::of(&flags.process.measured()?, &changes)?, None),
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

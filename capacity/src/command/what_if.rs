//! `yunti capacity what-if`: what changes would bring, one by one and together.

use clap::Args;
use yunti_model::curve::{Options, curve};
use yunti_model::what_if::{Answer, Change, parse, prospect, what_if};
use yunti_program::failure::Outcome;
use yunti_program::terminal::{paint, stdout};
use yunti_program::text::numbers;
use yunti_program::text::table::{Side, Table};

use super::process::ProcessFlags;

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
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(flags: &WhatIfFlags) -> Outcome {
    // A change that nobody understands must not cost a measurement.
    let changes = flags.changes.iter().map(|text| parse(text)).collect::<yunti_base::Result<Vec<Change>>>()?;
    let measured = flags.process.measured()?;
    let (demands, options) = (&measured.demands, Options::default());
    let curve = curve(demands, &options)?;
    let now = prospect(demands, &curve, &options)?;
    let mut answers = Vec::new();
    let all = (changes.len() > 1).then_some(&changes[..]);
    for some in changes.chunks(1).chain(all) {
        answers.push(what_if(demands, some, &[], &now, curve.relative_error, &options)?);
    }
    if flags.json {
        return stdout::print_json(&serde_json::json!({"version": 1, "now": now, "answers": answers}));
    }
    let mut table = Table::new(&[
        ("requests/s", Side::Right),
        ("gain", Side::Right),
        ("threads", Side::Right),
        ("bounded by", Side::Left),
        ("change", Side::Left),
    ]);
    let bound = |share: Option<&yunti_model::curve::Share>| share.map_or_else(String::new, |share| share.name.clone());
    table.row(vec![
        numbers::three(now.peak.value),
        String::new(),
        format!("{:.0}", now.threads.value),
        bound(now.bottleneck.as_ref()),
        "none".to_owned(),
    ]);
    for Answer { changes, after, gain, .. } in &answers {
        table.row(vec![
            numbers::three(after.peak.value),
            format!("{:+.0} % ({:+.0} to {:+.0})", gain.value * 100.0, gain.low * 100.0, gain.high * 100.0),
            format!("{:.0}", after.threads.value),
            bound(after.bottleneck.as_ref()),
            changes.join(", "),
        ]);
    }
    stdout::print(&table.print(paint::for_stdout()))
}

//! Runs `yunti table get` and `yunti table range`.

use std::path::PathBuf;

use clap::Parser;
use yunti_base::{Code, Result};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;
use yunti_table::read::{Limits, Table};

use super::{rows, servers};

#[derive(Parser)]
pub struct Flags {
    /// Table; its name with --server
    table: PathBuf,
    /// Keys; the values of a key of several columns have commas between them
    #[arg(required = true, allow_negative_numbers = true)]
    keys: Vec<String>,
    /// Print a JSON object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    servers: servers::ServerFlags,
}

pub fn run(flags: &Flags) -> Outcome {
    if flags.servers.is_there() {
        return of_servers(flags);
    }
    let table = Table::open(&flags.table)?;
    let mut out = String::new();
    let mut missing = Vec::new();
    for text in &flags.keys {
        let mut found = table.get_all(&rows::key(table.schema(), text)?)?.peekable();
        if found.peek().is_none() {
            missing.push(text.as_str());
        }
        for row in found {
            out.push_str(&rows::line(&table, &row?, flags.json)?);
        }
    }
    report(flags, &out, &missing)
}

fn of_servers(flags: &Flags) -> Outcome {
    let table = flags.servers.connect(&flags.table.to_string_lossy(), None)?;
    let keys = flags.keys.iter().map(|text| rows::key(table.key(), text)).collect::<Result<Vec<_>>>()?;
    let answers = table.get(&keys, true)?;
    let mut out = String::new();
    let mut missing = Vec::new();
    for (at, text) in flags.keys.iter().enumerate() {
        let mut found = answers.rows(at).peekable();
        if found.peek().is_none() {
            missing.push(text.as_str());
        }
        for row in found {
            let line =
                if flags.json { row.object()?.to_string() } else { rows::named(table.columns(), |at| row.text(at))? };
            out.push_str(&format!("{line}\n"));
        }
    }
    report(flags, &out, &missing)
}

fn report(flags: &Flags, out: &str, missing: &[&str]) -> Outcome {
    stdout::print(out)?;
    if missing.is_empty() {
        return Ok(());
    }
    eprintln!("yunti: {}: no row for {}", flags.table.display(), missing.join(", "));
    Err(Failure::Reported(Code::Input))
}

#[derive(Parser)]
pub struct RangeFlags {
    /// Table that was built with --sorted
    table: PathBuf,
    /// First key, or the values of its first columns
    #[arg(long, allow_negative_numbers = true)]
    from: Option<String>,
    /// Last key, or the values of its first columns: all keys with them
    #[arg(long, allow_negative_numbers = true)]
    to: Option<String>,
    /// Keys that begin with this text
    #[arg(long, conflicts_with_all = ["from", "to"])]
    prefix: Option<String>,
    /// Most rows to print
    #[arg(long, default_value_t = u64::MAX, hide_default_value = true)]
    limit: u64,
    /// Print a JSON object a line
    #[arg(long)]
    json: bool,
}

pub fn range(flags: &RangeFlags) -> Outcome {
    let table = Table::open(&flags.table)?;
    let schema = table.schema();
    let values = |text: &Option<String>| -> Result<Option<Vec<Vec<u8>>>> {
        text.as_ref().map(|text| rows::key_values(schema, &rows::words(schema, text))).transpose()
    };
    let (from, to) = (values(if flags.prefix.is_some() { &flags.prefix } else { &flags.from })?, values(&flags.to)?);
    let limits = Limits { from: from.as_deref(), to: to.as_deref(), is_prefix: flags.prefix.is_some() };
    let mut out = String::new();
    let mut left = flags.limit;
    for row in table.range(limits)? {
        if left == 0 {
            break;
        }
        left -= 1;
        out.push_str(&rows::line(&table, &row?, flags.json)?);
        if out.len() > 1 << 16 {
            stdout::print(&out)?;
            out.clear();
        }
    }
    stdout::print(&out)
}

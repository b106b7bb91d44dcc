//! Runs `yunti table info` and `yunti table verify`.

use std::path::{Path, PathBuf};

use clap::Parser;
use serde_json::{Value, json};
use yunti_base::{Error, Result};
use yunti_program::failure::{Failure, Outcome, as_json, report};
use yunti_program::terminal::stdout;
use yunti_table::format::schema::Column;
use yunti_table::read::Table;
use yunti_table_remote::address::Address;
use yunti_table_remote::client::{OpenedTable, ServerReport};

use super::servers;

/// Begin of the names of a server's counters.
const COUNTER: &str = "yunti_table_";

#[derive(Parser)]
pub struct Flags {
    /// Table; its name with --server
    table: PathBuf,
    /// Print JSON
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
    let (schema, header) = (table.schema(), table.header());
    let of = &header.sections;
    let index = of.pilots.bytes + of.used.bytes + of.groups.bytes + of.order.bytes + of.fences.bytes;
    let each = |bytes: u64| bytes as f64 / header.keys.max(1) as f64;
    if flags.json {
        let columns = schema.columns.iter().enumerate();
        let columns = columns.map(|(at, column)| column_json(column, schema.keys.contains(&at)));
        let document = json!({
            "version": "yunti-table/1", "keys": header.keys, "rows": header.rows,
            "sorted": header.is_sorted, "columns": columns.collect::<Vec<_>>(),
            "bytes": {"file": of.sums.end(), "rows": of.rows.bytes, "index": index, "dictionaries": of.dictionaries.bytes},
        });
        return stdout::print(&format!("{document:#}\n"));
    }
    let mut out = format!(
        "{} keys, {} rows{}, {} bytes: {:.1} a key in rows, {:.2} in the index\n",
        header.keys,
        header.rows,
        if header.is_sorted { ", sorted" } else { "" },
        of.sums.end(),
        each(of.rows.bytes),
        each(index)
    );
    for (at, column) in schema.columns.iter().enumerate() {
        out.push_str(&column_line(column, schema.keys.contains(&at)));
    }
    stdout::print(&out)
}

fn column_json(column: &Column, is_key: bool) -> Value {
    json!({"name": column.name, "type": column.type_name(), "nullable": column.is_nullable, "key": is_key})
}

fn column_line(column: &Column, is_key: bool) -> String {
    let key = if is_key { ", key" } else { "" };
    let missing = if column.is_nullable { ", may be missing" } else { "" };
    format!("  {}  {}{key}{missing}\n", column.name, column.type_name())
}

/// Prints what each server has, and its counters. Servers that are away are errors behind it.
fn of_servers(flags: &Flags) -> Outcome {
    let name = flags.table.to_string_lossy();
    let reports = flags.servers.report(&name)?;
    let first = reports.iter().find_map(|(_, report)| report.as_ref().ok());
    let text = if flags.json {
        let columns = first
            .map(|first| &first.table)
            .into_iter()
            .flat_map(|table| table.columns.iter().map(|column| column_json(column, is_key(table, column))));
        let document = json!({
            "version": "yunti-table/1", "name": name, "columns": columns.collect::<Vec<_>>(),
            "servers": reports.iter().map(server_json).collect::<Vec<_>>(),
        });
        format!("{document:#}\n")
    } else {
        let answers = reports.iter().filter(|(_, report)| report.is_ok()).count();
        let mut out = format!("{name}: {answers} of {} servers answer\n", reports.len());
        if let Some(ServerReport { table, .. }) = first {
            table.columns.iter().for_each(|column| out.push_str(&column_line(column, is_key(table, column))));
        }
        reports
            .iter()
            .filter_map(|(address, report)| Some((address, report.as_ref().ok()?)))
            .for_each(|(address, report)| out.push_str(&server_text(address, report)));
        out
    };
    stdout::print(&text)?;
    let errors: Vec<&Error> = reports.iter().filter_map(|(_, report)| report.as_ref().err()).collect();
    if !flags.json {
        errors.iter().for_each(|error| report(error, false));
    }
    errors.first().map_or(Ok(()), |error| Err(Failure::Reported(error.code())))
}

fn is_key(table: &OpenedTable, column: &Column) -> bool {
    table.key.iter().any(|key| key.name == column.name)
}

fn server_json((address, report): &(Address, Result<ServerReport>)) -> Value {
    let address = address.to_string();
    match report {
        Ok(ServerReport { table, counters }) => json!({
            "address": address, "table_version": format!("{:016x}", table.version), "keys": table.keys,
            "rows": table.rows, "shard": table.shard.0, "shards": table.shard.1, "whole_file": table.is_whole,
            "counters": counters,
        }),
        Err(e) => json!({"address": address, "error": as_json(e)}),
    }
}

/// Returns the lines of a server, without the classes of times, which the JSON has.
fn server_text(address: &Address, report: &ServerReport) -> String {
    let ServerReport { table, counters } = report;
    let file = match table.is_whole {
        true if table.shard.1 == 1 => "the whole table".to_owned(),
        true => format!("shard {}/{} in the whole file", table.shard.0, table.shard.1),
        false => format!("shard {}/{}", table.shard.0, table.shard.1),
    };
    let mut out =
        format!("{address}: {file}, {} keys, {} rows, version {:016x}\n", table.keys, table.rows, table.version);
    for (name, value) in counters.iter().filter(|(name, _)| !name.contains('{')) {
        out.push_str(&format!("  {} {value}\n", name.strip_prefix(COUNTER).unwrap_or(name)));
    }
    out
}

pub fn verify(path: &Path, json: bool) -> Outcome {
    let table = Table::open(path)?;
    table.verify()?;
    let text = if json {
        format!("{}\n", json!({"version": "yunti-table/1", "keys": table.len(), "damaged": false}))
    } else {
        format!("{}: {} keys, all found; every checksum is right\n", path.display(), table.len())
    };
    stdout::print(&text)
}

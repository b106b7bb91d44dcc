//! Runs `yunti table info` and `yunti table verify`.

use std::path::{Path, PathBuf};

use clap::Parser;
use serde_json::json;
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;
use yunti_table::read::Table;

#[derive(Parser)]
pub struct Flags {
    /// Table
    table: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub fn run(flags: &Flags) -> Outcome {
    let table = Table::open(&flags.table)?;
    let (schema, header) = (table.schema(), table.header());
    let of = &header.sections;
    let index = of.pilots.bytes + of.used.bytes + of.groups.bytes + of.order.bytes + of.fences.bytes;
    let each = |bytes: u64| bytes as f64 / header.keys.max(1) as f64;
    if flags.json {
        let columns = schema.columns.iter().enumerate().map(|(at, column)| {
            json!({"name": column.name, "type": column.type_name(), "nullable": column.is_nullable,
                   "key": schema.keys.contains(&at)})
        });
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
        let key = if schema.keys.contains(&at) { ", key" } else { "" };
        let missing = if column.is_nullable { ", may be missing" } else { "" };
        out.push_str(&format!("  {}  {}{key}{missing}\n", column.name, column.type_name()));
    }
    stdout::print(&out)
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

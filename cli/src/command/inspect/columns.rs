//! A file of columns, such as Parquet: its rows, its columns, and on request its schema and statistics.

use serde_json::{Value, json};
use yunti_base::Result;
use yunti_engine::env::Env;
use yunti_engine::format::file_formats::FileFormat;

use super::{InspectFlags, Inspection};
use crate::command::columns::library;
use crate::console;
use crate::console::paint::Paint;
use crate::text::numbers;
use crate::text::table::{Side, Table, cut};

/// Columns in the tables; the rest are counted.
const ROWS: usize = 200;

pub fn columns(flags: &InspectFlags, format: &FileFormat, env: &Env) -> Result<Inspection> {
    let file = library::description(&flags.path, format, env)?;
    let bytes = env.files.meta(&flags.path).map_or(0, |meta| meta.len);
    let mut text = format!(
        "{}: {} {} file, {}: {} in {}, {}\n",
        flags.path.display(),
        if string(&file["format"]).starts_with(['A', 'O']) { "an" } else { "a" },
        string(&file["format"]),
        numbers::bytes(bytes),
        numbers::several(number(&file["rows"]), "row"),
        numbers::several(number(&file["units"]), file["unit"].as_str().unwrap_or("row group")),
        numbers::several(list(&file["columns"]).len() as u64, "column"),
    );
    let writer = string(&file["created_by"]);
    if !writer.is_empty() {
        text += &format!("  written by {}\n", super::printable(writer.as_bytes()));
    }
    if flags.schema {
        text += &format!("\n{}", string(&file["schema"]));
    }
    if flags.statistics || !flags.schema {
        text += &format!("\n{}", table(list(&file["columns"]), flags.statistics));
    }
    let document = json!({ "path": flags.path.to_string_lossy(), "kind": "columns", "bytes": bytes, "file": file });
    Ok(Inspection { text, document })
}

fn table(columns: &[Value], statistics: bool) -> String {
    let mut heads = vec![("column", Side::Left), ("type", Side::Left), ("stored", Side::Right), ("plain", Side::Right)];
    if statistics {
        let more = [("codec", Side::Left), ("encodings", Side::Left), ("nulls", Side::Right)];
        heads.extend(more.into_iter().chain([("min", Side::Left), ("max", Side::Left), ("index", Side::Left)]));
    }
    let mut table = Table::new(&heads);
    let room = (console::width() / 6).max(16);
    for column in columns.iter().take(ROWS) {
        let text = |name: &str| cut(&super::printable(string(&column[name]).as_bytes()), room);
        let mut row = vec![
            text("path"),
            text("type"),
            numbers::bytes(number(&column["stored_bytes"])),
            column["plain_bytes"].as_u64().map_or("-".into(), numbers::bytes),
        ];
        if statistics {
            let nulls = column["nulls"].as_u64().map_or("-".into(), numbers::count);
            let has = |name: &str| column[name].as_bool().unwrap_or(false);
            let index = match (has("page_index"), has("bloom_filter")) {
                (true, true) => "pages, bloom",
                (true, false) => "pages",
                (false, true) => "bloom",
                (false, false) => "-",
            };
            row.extend([text("codec"), text("encodings"), nulls, text("min"), text("max"), index.into()]);
        }
        table.row(row);
    }
    let mut text = table.print(Paint::OFF);
    if columns.len() > ROWS {
        text += &format!("  and {} more\n", columns.len() - ROWS);
    }
    text
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], |list| &list[..])
}

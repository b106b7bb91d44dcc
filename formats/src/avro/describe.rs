//! Description of a file as JSON: records, blocks, columns with their types, and the schema.

use arrow_schema::FieldRef;
use serde_json::{Value, json};
use yunti_api::Result;

use super::header::Header;
use crate::file::describe;
use crate::file::input::Input;

/// Returns the JSON document of a file, whose blocks are counted.
pub fn document(file: &Input, header: &Header) -> Result<String> {
    let (mut rows, mut blocks, mut stored) = (0u64, 0u64, 0u64);
    let mut offset = header.end;
    while let Some(block) = header.block(file, offset)? {
        rows = rows.saturating_add(block.records);
        stored += block.bytes;
        blocks += 1;
        offset = block.next();
    }
    let schema: Value = serde_json::from_slice(&header.text)?;
    let column = |field: &FieldRef| json!({ "path": field.name(), "type": field.data_type().to_string(), "codec": header.codec_name });
    Ok(json!({
        "format": "Avro",
        "rows": rows,
        "units": blocks,
        "unit": "block",
        "stored_bytes": stored,
        "schema": serde_json::to_string_pretty(&schema)? + "\n",
        "columns": header.columns.fields().iter().map(column).collect::<Vec<_>>(),
        "fields": describe::fields(&header.columns),
    })
    .to_string())
}

//! Description of a file as JSON: records, blocks, columns with their types, and the schema.

use arrow_schema::Schema as ArrowSchema;
use serde_json::{Value, json};
use yunti_api::{Result, SourceFile};

use super::header::Header;
use crate::file::describe;

/// Returns the JSON document of a file, whose blocks are counted.
pub fn document(file: &SourceFile, header: &Header, columns: &ArrowSchema) -> Result<String> {
    let (mut rows, mut blocks, mut stored) = (0u64, 0u64, 0u64);
    let mut offset = header.end;
    while let Some(block) = header.block(file, offset)? {
        rows = rows.saturating_add(block.records);
        stored += block.bytes;
        blocks += 1;
        offset = block.next();
    }
    let schema: Value = serde_json::from_slice(&header.text)?;
    let types: Vec<String> = columns.fields().iter().map(|field| field.data_type().to_string()).collect();
    let one = |(field, kind): (&arrow_schema::FieldRef, &String)| json!({ "path": field.name(), "type": kind, "codec": header.codec_name });
    Ok(json!({
        "format": "Avro",
        "rows": rows,
        "units": blocks,
        "unit": "block",
        "stored_bytes": stored,
        "schema": serde_json::to_string_pretty(&schema)? + "\n",
        "columns": columns.fields().iter().zip(&types).map(one).collect::<Vec<_>>(),
        "fields": describe::fields(columns),
    })
    .to_string())
}

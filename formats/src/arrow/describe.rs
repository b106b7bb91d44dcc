//! Description of a file as JSON: rows, record batches, columns with their stored bytes and nulls.

use arrow_ipc::MessageHeader;
use arrow_schema::{Field, Schema};
use serde_json::json;
use yunti_api::{Result, SourceFile};

use super::body::counts;
use super::messages::{Kind, Layout, Message, at, next};
use super::plain::plain_type;
use crate::file::describe;

/// Totals of all record batches.
#[derive(Default)]
struct Totals {
    batches: u64,
    rows: u64,
    /// Stored bytes and nulls of each column.
    columns: Vec<(u64, u64)>,
    codec: String,
}

impl Totals {
    fn add(&mut self, layout: &Layout, message: &Message) -> Result<()> {
        let parsed = message.parsed()?;
        let Some(batch) = parsed.header_as_record_batch() else { return Ok(()) };
        let counts = counts(&batch, &layout.schema, layout.version)?;
        self.batches += 1;
        self.rows += counts.rows;
        self.codec = batch.compression().map_or("none".into(), |c| format!("{:?}", c.codec()).to_lowercase());
        self.columns.resize(counts.columns.len(), (0, 0));
        for (sum, column) in self.columns.iter_mut().zip(counts.columns) {
            *sum = (sum.0.saturating_add(column.0), sum.1.saturating_add(column.1));
        }
        Ok(())
    }
}

/// Returns the JSON document of a file.
pub fn document(file: &SourceFile, layout: &Layout) -> Result<String> {
    let mut totals = Totals::default();
    let name = match &layout.kind {
        Kind::File { batches, .. } => {
            for place in batches {
                totals.add(layout, &at(file, *place)?)?;
            }
            "Arrow"
        }
        Kind::Stream { start } => {
            let mut offset = *start;
            while let Some(message) = next(file, offset)? {
                if message.parsed()?.header_type() == MessageHeader::RecordBatch {
                    totals.add(layout, &message)?;
                }
                offset = message.place.end();
            }
            "Arrow stream"
        }
    };
    totals.columns.resize(layout.schema.fields().len(), (0, 0));
    let fields = layout.schema.fields().iter();
    let plain: Vec<Field> = fields.clone().map(|f| Field::new(f.name(), plain_type(f.data_type()), true)).collect();
    let schema: String = fields
        .clone()
        .map(|f| format!("{}: {}{}\n", f.name(), f.data_type(), if f.is_nullable() { "" } else { " not null" }))
        .collect();
    let columns = fields.zip(&totals.columns).map(|(field, (bytes, nulls))| {
        let kind = field.data_type().to_string();
        json!({ "path": field.name(), "type": kind, "stored_bytes": bytes, "nulls": nulls, "codec": totals.codec })
    });
    Ok(json!({
        "format": name,
        "version": format!("{:?}", layout.version),
        "rows": totals.rows,
        "units": totals.batches,
        "unit": "record batch",
        "schema": schema,
        "columns": columns.collect::<Vec<_>>(),
        "fields": describe::fields(&Schema::new(plain)),
    })
    .to_string())
}

//! A table as a client opened it.

use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_table::format::row::{Layout, write_number};
use yunti_table::format::schema::{Column, Kind};
use yunti_table::read::Row;

use super::served::Version;
use yunti_table_remote::protocol::opened::Opened;

/// Columns that a client wants of a version of a table.
pub struct Handle {
    pub version: Arc<Version>,
    columns: Vec<Column>,
    /// Places of the columns in the table, and their layout; `None` if rows are sent as they are in the file.
    chosen: Option<(Vec<usize>, Layout)>,
}

impl Handle {
    /// Opens a version with some columns, or with all.
    pub fn of(version: Arc<Version>, names: Option<&[String]>) -> Result<Handle> {
        let schema = version.table.schema();
        let place = |name: &String| {
            let what = || Error::new(Code::Usage, format!("the table has no column {name}"));
            schema.column(name).ok_or_else(what)
        };
        let places: Vec<usize> = match names {
            Some(names) => names.iter().map(place).collect::<Result<_>>()?,
            None => (0..schema.columns.len()).collect(),
        };
        if let Some(twice) = (1..places.len()).find(|at| places[..*at].contains(&places[*at])) {
            let what = format!("the column {} is named twice", schema.columns[places[twice]].name);
            return Err(Error::new(Code::Usage, what));
        }
        let columns: Vec<Column> = places.iter().map(|place| without_dictionary(&schema.columns[*place])).collect();
        let is_as_in_file = columns == schema.columns;
        let chosen = (!is_as_in_file).then(|| (places, Layout::of(&columns)));
        Ok(Handle { columns, chosen, version })
    }

    pub fn opened(&self, handle: u32) -> Opened {
        let Version { table, fingerprint, shard } = &*self.version;
        let (schema, header) = (table.schema(), table.header());
        Opened {
            handle,
            version: *fingerprint,
            keys: header.keys,
            rows: header.rows,
            shard: *shard,
            has_lists: header.has_lists,
            is_whole: header.shard.1 == 0,
            key: schema.keys.iter().map(|column| schema.columns[*column].clone()).collect(),
            columns: self.columns.clone(),
        }
    }

    /// Appends a row behind its length.
    #[inline]
    pub fn append(&self, row: &Row<'_>, scratch: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<()> {
        let bytes = match &self.chosen {
            None => row.bytes(),
            Some((places, layout)) => {
                let values = places.iter().map(|place| row.value(*place)).collect::<Result<Vec<_>>>()?;
                scratch.clear();
                layout.write(&values, scratch);
                scratch.as_slice()
            }
        };
        write_number(bytes.len(), out);
        out.extend_from_slice(bytes);
        Ok(())
    }
}

fn without_dictionary(column: &Column) -> Column {
    let kind = if column.kind == Kind::Dict { Kind::Utf8 } else { column.kind };
    Column { kind, ..column.clone() }
}

//! Shared tables (`.ytab`, docs/formats/ytab.md) as tables of queries: mapped, and read by their index.
//!
//! ```text
//!   part.rs      a share of a table's places, for one of several tasks
//!   far.rs       tables that tasks of a cluster map: header and schema, for the plan
//!   source.rs    rows of all slots, of ranges in the order of keys, or of some keys: the morsels of a scan
//!   lookup.rs    keys of a batch -> rows
//!   values.rs    values of a query -> bytes of keys
//!   columns.rs   rows -> vectors
//! ```
//!
//! Nothing is decoded but the columns that a query reads. The mapped pages are the page cache's and outside of the
//! query's memory; vectors have some thousand rows.

mod columns;
mod far;
mod lookup;
mod part;
mod source;
mod values;

use std::path::Path;
use std::sync::{Arc, OnceLock};

use arrow_schema::DataType;
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::vector::Bytes;
use yunti_engine::env::stores::scheme_of;
use yunti_sql_plan::TableSource;
use yunti_sql_plan::table::ColumnStatistics;
use yunti_sql_plan::{Field, Statistics, Table};
use yunti_table::format::header::{self, Header};
use yunti_table::format::{Kind, Schema};
use yunti_table::index::keys;
use yunti_table::read;

use self::source::{Places, Source};

pub use self::far::far;
pub use self::part::Part;

/// Extension of their names.
pub const EXTENSION: &str = "ytab";

/// A file that is mapped, for all workers.
struct SharedTable {
    table: read::Table,
    /// Texts of each `dict` column, once a query needs them; None of a dictionary that is too large to be held.
    dictionaries: Vec<OnceLock<Option<Arc<Bytes>>>>,
}

/// Returns true for the first bytes of a file of this kind, also of one whose line ends a transfer has changed.
pub fn is_begin(head: &[u8]) -> bool {
    head.starts_with(&header::MAGIC[..5])
}

/// Opens a file as a table.
///
/// Errors: `Input` for a file that is missing, or that is in a store; `Corrupt` for damage.
pub fn table(name: &str, path: &Path) -> Result<Table> {
    part(name, path, Part::WHOLE)
}

/// Opens a share of a file as a table. Only a whole one has an index.
///
/// Errors: as `table`.
pub fn part(name: &str, path: &Path, part: Part) -> Result<Table> {
    if scheme_of(path).is_some() {
        let error = Error::new(Code::Input, "a shared table is mapped, so it must be a file of this machine");
        return Err(error.at_path(path.to_string_lossy()).hint("copy it to a local disk first, or add --on yarn"));
    }
    let table = read::Table::open(path)?;
    let dictionaries = table.schema().columns.iter().map(|_| OnceLock::new()).collect();
    let (header, schema) = (*table.header(), table.schema().clone());
    let shared = Arc::new(SharedTable { table, dictionaries });
    Ok(described(name, &header, &schema, Arc::new(Source { of: shared, places: Places::All, part })))
}

/// Returns the table of a source, with all that header and schema say of it.
fn described(name: &str, header: &Header, schema: &Schema, source: Arc<dyn TableSource>) -> Table {
    let field = |of: &yunti_table::format::Column| Field {
        name: of.name.clone(),
        data_type: type_of(of.kind),
        nullable: of.is_nullable,
    };
    let fields: Vec<Field> = schema.columns.iter().map(field).collect();
    let is_key = |column: usize| schema.keys == [column];
    let column = |(number, field): (usize, &Field)| ColumnStatistics {
        nulls: (!field.nullable).then_some(0),
        distinct: is_key(number).then_some(header.keys),
        ..ColumnStatistics::default()
    };
    let columns = fields.iter().enumerate().map(column).collect();
    let statistics = Statistics { rows: Some(header.rows), columns };
    Table { name: name.into(), fields, statistics, source }
}

/// Returns the type of a column in queries. Nested values are their text as JSON, as in files of other formats.
fn type_of(kind: Kind) -> DataType {
    match kind {
        Kind::Bool => DataType::Boolean,
        Kind::I8 => DataType::Int8,
        Kind::I16 => DataType::Int16,
        Kind::I32 => DataType::Int32,
        Kind::I64 => DataType::Int64,
        Kind::U8 => DataType::UInt8,
        Kind::U16 => DataType::UInt16,
        Kind::U32 => DataType::UInt32,
        Kind::U64 => DataType::UInt64,
        Kind::F32 => DataType::Float32,
        Kind::F64 => DataType::Float64,
        Kind::Bytes => DataType::Binary,
        Kind::Utf8 | Kind::Dict | Kind::Record | Kind::List => DataType::Utf8,
    }
}

impl SharedTable {
    /// Returns false if the bytes of a key belong to another shard.
    fn may_have(&self, key: &[u8]) -> bool {
        let (number, count) = self.table.header().shard;
        count < 2 || keys::shard(key, count) == number - 1
    }

    fn at_path(&self, error: Error) -> Error {
        error.at_path(self.table.path().to_string_lossy())
    }
}

impl std::fmt::Debug for SharedTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.table.path().display())
    }
}

//! Tables: rows that come from files, or from another system, a morsel at a time.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_engine::columns::vector::{Value, Vector};

use crate::batch::Batch;
use crate::expression::Comparison;

/// Column of a table, or of an operator's output.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    pub data_type: DataType,
    /// False if no value is null.
    pub nullable: bool,
}

/// Knowledge of a table's rows before they are read. Join order and sizes of tables follow from it.
#[derive(Clone, Debug, Default)]
pub struct Statistics {
    /// Number of rows, if it is known exactly or nearly.
    pub rows: Option<u64>,
    /// Knowledge of each column, in the order of the table's fields; empty if nothing is known.
    pub columns: Vec<ColumnStatistics>,
}

/// Knowledge of a column's values.
#[derive(Clone, Debug, Default)]
pub struct ColumnStatistics {
    pub min: Option<Value>,
    pub max: Option<Value>,
    pub nulls: Option<u64>,
    /// Number of different values, estimated.
    pub distinct: Option<u64>,
}

/// Part of a table that one worker reads at a time: a row group, a stripe, a stretch of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Morsel {
    /// Number of the file, and of the unit in it.
    pub file: u32,
    pub unit: u64,
    /// Rows, if they are known.
    pub rows: u64,
    /// Stored bytes of the columns that are read.
    pub bytes: u64,
}

/// A condition on one column that each row of a scan must meet: `column comparison value`, of the same shape. A source
/// may use it to pass over rows; it need not, and rows that meet it not may still come.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// Number of the column in the table.
    pub column: usize,
    pub comparison: Comparison,
    pub value: Value,
}

/// Values of which each row of a scan must have one in a column, as Parquet's class takes them: see the engine's
/// `columns/expression/bounds.rs`. A source may use it to pass over rows, as bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueSet {
    /// Number of the column in the table.
    pub column: usize,
    pub text: Arc<str>,
}

/// Where the rows of a table come from.
pub trait TableSource: Send + Sync + fmt::Debug {
    /// Returns the morsels that may have rows within the bounds, in the order of the table.
    ///
    /// Errors: `Input` and `Corrupt` with the file.
    fn morsels(&self, columns: &[usize], bounds: &[Bounds]) -> Result<Vec<Morsel>>;

    /// Opens a morsel. A worker opens one at a time. `columns` are numbers of the table's fields, in any order.
    fn open(&self, morsel: &Morsel, columns: &[usize], bounds: &[Bounds]) -> Result<Box<dyn MorselReader>>;

    /// Opens a morsel of which only rows with values of the sets are needed.
    fn open_within(
        &self,
        morsel: &Morsel,
        columns: &[usize],
        (bounds, _sets): (&[Bounds], &[ValueSet]),
    ) -> Result<Box<dyn MorselReader>> {
        self.open(morsel, columns, bounds)
    }

    /// Returns the least and the largest value of a column in a morsel, or numbers beyond them, if no value is null
    /// and no other morsel of the table has a number between them: values of two morsels meet at the ends alone. None
    /// if this is not known.
    fn own_range(&self, _morsel: &Morsel, _column: usize) -> Option<(i64, i64)> {
        None
    }

    /// Returns the look-ups of rows by their keys; None if the source has no index.
    fn index(&self) -> Option<Arc<dyn TableIndex>> {
        None
    }

    /// Returns where another process finds the rows; None if it cannot.
    fn place(&self) -> Option<TablePlace> {
        None
    }

    /// Returns the parts of a table of several, which another process reads one by one; None if it is one, or if a part
    /// has values that only this process converts.
    fn parts(&self) -> Option<Vec<TablePart>> {
        None
    }

    /// Returns which of the table's files are read, for people; empty: all of them.
    fn extent(&self) -> String {
        String::new()
    }

    /// Returns bounds as the condition of a scan by a class of the format, a line each.
    fn condition(&self, _bounds: &[Bounds]) -> String {
        String::new()
    }
}

/// Look-ups of a table's rows by their keys, for any number of workers.
pub trait TableIndex: Send + Sync + fmt::Debug {
    /// Returns the columns of the key, in its order: numbers of the table's fields. None of them has a null.
    fn key(&self) -> &[usize];

    /// Looks up the keys of a batch, which have a vector for each column of the key: of the column's shape, or decimals
    /// of scale 0 for whole numbers. A key with a null has no row. Calls `found` with `columns` of the rows, numbers of
    /// the table's fields; pieces come in the order of the batch.
    ///
    /// Errors: `Corrupt` with the file; those of `found`.
    fn look_up(
        &self,
        keys: &[Arc<Vector>],
        columns: &[usize],
        found: &mut dyn FnMut(Found) -> Result<()>,
    ) -> Result<()>;

    /// Returns the source of the rows that have some keys, which have a value for each column of the key.
    fn rows_of(&self, keys: &[Vec<Value>]) -> Arc<dyn TableSource>;
}

/// Rows that have keys of a batch.
#[derive(Debug)]
pub struct Found {
    /// Number of each row's key in the batch; they never fall.
    pub keys: Vec<u32>,
    pub rows: Batch,
}

/// Files of a table that are read alike.
#[derive(Clone, Debug)]
pub struct TablePart {
    pub table: Arc<Table>,
    /// Each column of the whole table.
    pub columns: Vec<PartColumn>,
}

/// A column of a part.
#[derive(Clone, Debug, PartialEq)]
pub enum PartColumn {
    /// Column of the part's own table.
    Own(usize),
    /// One value for all rows.
    Value(Value),
}

/// Where another process finds the rows of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TablePlace {
    /// Files of one format, by its name.
    Files { format: String, paths: Vec<PathBuf> },
    /// Rows that come from other tasks, by the number of the input.
    Input(u32),
}

/// Rows of a morsel.
pub trait MorselReader: Send {
    /// Returns the next rows; None at the end.
    fn next(&mut self) -> Result<Option<Batch>>;
}

/// A table of a query.
#[derive(Clone, Debug)]
pub struct Table {
    /// Name as the query has it.
    pub name: String,
    pub fields: Vec<Field>,
    pub statistics: Statistics,
    pub source: Arc<dyn TableSource>,
}

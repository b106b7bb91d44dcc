//! Sources: user code that reads the columns of files at any position, for formats such as Parquet.

use super::Class;
use super::file::{Scan, SourceFile};
use crate::error::{Result, fail};
use crate::layout::Unit;
use crate::out::{Out, Sink};
use crate::types::Type;

/// A source of records. `yt_source` in yunti.h defines the contract of both sides.
///
/// Call order: `plan` or `describe`, in an object of their own; in other objects for each unit `open`, then `next`
/// until it returns false. All units of an object are of one file.
pub trait Source: Class {
    /// Type of the keys that it emits.
    type Key: Type;
    /// Type of the values that it emits.
    type Value: Type;

    /// True if it gives blocks of columns to a scan that wants them.
    const GIVES_BLOCKS: bool = false;

    /// Returns the units of a file that may have records of the scan, in the order of the file.
    fn plan(&mut self, file: &SourceFile, scan: &Scan) -> Result<Vec<Unit>>;
    /// Begins a unit.
    fn open(&mut self, file: &SourceFile, scan: &Scan, unit: u64) -> Result<()>;
    /// Emits some records, about a quarter of a megabyte; returns false at the end of the unit.
    fn next(&mut self, out: &mut Out<'_, Self::Key, Self::Value>) -> Result<bool>;
    /// Writes a description of the file, as JSON, for `yunti inspect`.
    fn describe(&mut self, _file: &SourceFile, _out: &mut Sink<'_>) -> Result<()> {
        fail("this source does not describe files")
    }
}

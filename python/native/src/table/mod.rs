//! Shared tables for Python. One of the listed files with `unsafe`: its functions are exported by name.
//!
//! ```text
//!   mod.rs      the functions: a handle and buffers in, an answer out
//!   answer.rs   columns or an error, as ctypes reads them
//!   columns.rs  rows -> columns in the layout of Arrow
//!   keys.rs     keys in buffers of Python
//!   remote.rs   the functions for tables of servers
//! ```
//!
//! Handles and answers are boxes that Python owns and gives back once: `yunti_table_close`, `yunti_table_forget`. The
//! package keeps a handle until the last call with it has returned. No panic leaves a function: it becomes an error.

mod answer;
mod columns;
mod keys;
mod remote;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use yunti_base::Result;
use yunti_table::read::{Limits, Options, Row, Table};

use crate::view;
use answer::Answer;
use keys::RawKeys;

const POPULATE: u32 = 1;
const LOCK: u32 = 2;
const HUGE_PAGES: u32 = 4;
const TRUSTED: u32 = 8;

/// Bytes of one row, in the mapped file.
#[repr(C)]
pub struct RawRow {
    bytes: *const u8,
    length: usize,
}

/// Runs the work of a function; the one place where a panic ends.
fn gate(work: impl FnOnce() -> Result<Answer>) -> Box<Answer> {
    let done = catch_unwind(AssertUnwindSafe(work));
    let done = done.unwrap_or_else(|panic| Err(yunti_base::error::of_panic(&*panic)));
    Box::new(done.unwrap_or_else(|e| Answer::of_error(&e)))
}

/// The same for a function that reads a table; errors name its file.
fn read(table: &Table, work: impl FnOnce() -> Result<Answer>) -> Box<Answer> {
    gate(|| work().map_err(|e| e.at_path(table.path().to_string_lossy())))
}

/// Opens a table and stores its handle. The answer has what `answer::description` says of it.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_table_open(
    path: *const u8,
    bytes: usize,
    options: u32,
    handle: &mut Option<Box<Table>>,
) -> Box<Answer> {
    gate(|| {
        let options = Options {
            populate: options & POPULATE != 0,
            lock: options & LOCK != 0,
            huge_pages: options & HUGE_PAGES != 0,
            is_trusted: options & TRUSTED != 0,
            ..Options::default()
        };
        let table = Table::open_with(Path::new(OsStr::from_bytes(view(path, bytes))), options)?;
        let answer = answer::description(&table);
        *handle = Some(Box::new(table));
        Ok(answer)
    })
}

/// Opens the file that has taken the table's place, as `yunti_table_open`. No handle is stored if it is the same file.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_table_reopen(table: &Table, handle: &mut Option<Box<Table>>) -> Box<Answer> {
    read(table, || {
        let Some(next) = table.reopen()? else { return Ok(Answer::default()) };
        let answer = answer::description(&next);
        *handle = Some(Box::new(next));
        Ok(answer)
    })
}

/// Closes a table.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_table_close(_: Option<Box<Table>>) {}

/// Frees an answer.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_table_forget(_: Option<Box<Answer>>) {}

/// Looks up one key. Returns 1 with the place of its first row, 0 if it has none, and -1 for an error, which
/// `yunti_table_get_all` then returns in full.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_table_get(table: &Table, key: *const u8, bytes: usize, row: &mut RawRow) -> i32 {
    let found = catch_unwind(AssertUnwindSafe(|| table.get(view(key, bytes))));
    match found {
        Ok(Ok(Some(found))) => {
            *row = RawRow { bytes: found.bytes().as_ptr(), length: found.bytes().len() };
            1
        }
        Ok(Ok(None)) => 0,
        _ => -1,
    }
}

/// Looks up all rows of one key: a column of their bytes.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_table_get_all(table: &Table, key: *const u8, bytes: usize) -> Box<Answer> {
    read(table, || packed(table.get_all(view(key, bytes))?))
}

/// Looks up many keys: a column of 1 or 0 for each, and the wanted columns of their first rows.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_table_get_batch(
    table: &Table,
    keys: &RawKeys,
    wanted: *const u32,
    count: usize,
) -> Box<Answer> {
    read(table, || columns::of_keys(table, &keys.keys()?, view(wanted, count)))
}

/// Reads the wanted columns of all rows, in the order of the file.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_table_scan(table: &Table, wanted: *const u32, count: usize) -> Box<Answer> {
    read(table, || columns::of_rows(table, view(wanted, count)))
}

/// Reads the rows of the slots from `begin` to `end`: a column of their bytes.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_table_rows(table: &Table, begin: u64, end: u64) -> Box<Answer> {
    read(table, || packed(table.rows_of_slots(begin..end.min(table.header().all_slots()))))
}

/// Finds keys in their order: two numbers, the first place and the one behind the last. Values are as in a row.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_table_positions(
    table: &Table,
    from: Option<&RawKeys>,
    to: Option<&RawKeys>,
    is_prefix: bool,
) -> Box<Answer> {
    read(table, || {
        let from = from.map(|values| values.limit()).transpose()?;
        let to = to.map(|values| values.limit()).transpose()?;
        let found = table.positions(Limits { from: from.as_deref(), to: to.as_deref(), is_prefix })?;
        Ok(Answer::of_bytes([found.start.to_le_bytes(), found.end.to_le_bytes()].iter().map(|bytes| &bytes[..])))
    })
}

/// Reads the rows of the keys from the place `begin` to `end` in their order: a column of their bytes.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_table_rows_in_order(table: &Table, begin: u64, end: u64) -> Box<Answer> {
    read(table, || {
        let end = end.min(if table.header().is_sorted { table.len() } else { 0 });
        let rows = (begin..end).map(|place| table.rows_at(place)).collect::<Result<Vec<_>>>()?;
        packed(rows.into_iter().flatten())
    })
}

/// Reads the texts of a column's dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_table_dictionary(table: &Table, column: u32) -> Box<Answer> {
    read(table, || columns::of_texts(&table.dictionary(column as usize)?))
}

/// Checks every byte and every key.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_table_verify(table: &Table) -> Box<Answer> {
    read(table, || table.verify().map(|()| Answer::default()))
}

fn packed<'a>(rows: impl Iterator<Item = Result<Row<'a>>>) -> Result<Answer> {
    let rows = rows.collect::<Result<Vec<_>>>()?;
    Ok(Answer::of_bytes(rows.iter().map(Row::bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(gate(|| panic!("planted")).exit_code, 1);
        assert_eq!(gate(|| Ok(Answer::default())).exit_code, 0);
    }
}

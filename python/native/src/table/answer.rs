//! Answers: columns or an error, as ctypes reads them.
//!
//! ```text
//!   Answer   exit code (0: no error) | count | columns ->  RawColumn: addresses of values, ends, marks; counts
//! ```
//!
//! An error is one column with its lines: message, name of the code.

use serde_json::{Value, json};
use yunti_base::{Error, Result};
use yunti_table::format::Column;
use yunti_table::read::Table;
use yunti_table_remote::address::Address;
use yunti_table_remote::client::{RemoteTable, ServerReport};

/// Buffers of one column. A list has ends and no values, a record neither; those of their elements and fields follow.
#[derive(Default)]
pub struct Buffers {
    /// Values of fixed width, or bytes of all texts. A missing value has zeros, or no bytes.
    pub values: Vec<u8>,
    /// Begin of the first text or list, and the end of each; empty for others.
    pub ends: Vec<i64>,
    /// 1 for each value that is there, else 0.
    pub marks: Vec<u8>,
    pub missing: usize,
}

/// Addresses of a column's buffers.
#[repr(C)]
pub struct RawColumn {
    values: *const u8,
    values_bytes: usize,
    ends: *const i64,
    marks: *const u8,
    count: usize,
    missing: usize,
}

/// Result of a function. Python reads the first three fields, and the buffers live as long as the answer.
#[repr(C)]
pub struct Answer {
    pub exit_code: u32,
    count: usize,
    columns: *const RawColumn,
    raw: Vec<RawColumn>,
    buffers: Vec<Buffers>,
}

impl Default for Answer {
    fn default() -> Answer {
        Answer::of(Vec::new())
    }
}

impl Answer {
    pub fn of(buffers: Vec<Buffers>) -> Answer {
        let raw = |column: &Buffers| RawColumn {
            values: column.values.as_ptr(),
            values_bytes: column.values.len(),
            ends: column.ends.as_ptr(),
            marks: column.marks.as_ptr(),
            count: column.marks.len(),
            missing: column.missing,
        };
        let raw: Vec<RawColumn> = buffers.iter().map(raw).collect();
        Answer { exit_code: 0, count: raw.len(), columns: raw.as_ptr(), raw, buffers }
    }

    /// Returns one column of bytes.
    pub fn of_bytes<'a>(values: impl Iterator<Item = &'a [u8]>) -> Answer {
        let mut column = Buffers { ends: vec![0], ..Buffers::default() };
        for value in values {
            column.values.extend_from_slice(value);
            column.ends.push(column.values.len() as i64);
            column.marks.push(1);
        }
        Answer::of(vec![column])
    }

    pub fn of_error(error: &Error) -> Answer {
        let (line, code) = (error.to_string(), error.code());
        let lines = [line.as_bytes(), code.name().as_bytes()];
        Answer { exit_code: code as u32, ..Answer::of_bytes(lines.into_iter()) }
    }
}

/// Returns counts and columns of a table as JSON.
pub fn description(table: &Table) -> Answer {
    let (header, schema) = (table.header(), table.schema());
    let columns: Vec<Value> = schema.columns.iter().map(column).collect();
    let described = json!({
        "keys": header.keys, "rows": header.rows, "slots": header.all_slots(), "is_sorted": header.is_sorted,
        "has_lists": header.has_lists, "columns": columns, "key": schema.keys,
    });
    Answer::of_bytes(std::iter::once(described.to_string().as_bytes()))
}

/// Returns columns and key of a table of servers as JSON.
pub fn description_of_servers(table: &RemoteTable) -> Answer {
    let of = |columns: &[Column]| -> Vec<Value> { columns.iter().map(column).collect() };
    let described = json!({
        "columns": of(table.columns()), "key": of(&table.key().columns), "has_lists": table.has_lists(),
        "shards": table.shards(),
    });
    Answer::of_bytes(std::iter::once(described.to_string().as_bytes()))
}

/// Returns the counters of each server as JSON; the error of one that is away.
pub fn report_of_servers(table: &RemoteTable) -> Answer {
    let one = |(address, report): (Address, Result<ServerReport>)| match report {
        Ok(report) => json!({"address": address.to_string(), "counters": report.counters}),
        Err(e) => json!({"address": address.to_string(), "error": e.to_string()}),
    };
    let reports: Vec<Value> = table.report().into_iter().map(one).collect();
    Answer::of_bytes(std::iter::once(Value::from(reports).to_string().as_bytes()))
}

fn column(of: &Column) -> Value {
    let inner: Vec<Value> = of.inner.iter().map(column).collect();
    json!({
        "name": of.name, "kind": of.kind.name(), "type": of.type_name(), "is_nullable": of.is_nullable, "inner": inner,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_base::Code;

    #[test]
    fn an_error_has_its_line_and_its_code() {
        let answer = Answer::of_error(&Error::new(Code::Corrupt, "bad").at_path("a"));
        assert_eq!((answer.exit_code, answer.count), (4, 1));
        assert_eq!(answer.buffers[0].values, b"bad: acorrupt");
        assert_eq!(answer.buffers[0].ends, [0, 6, 13]);
        assert_eq!(answer.columns, answer.raw.as_ptr());
    }
}

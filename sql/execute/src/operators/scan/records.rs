//! Records of a class that gives no blocks: columns as text, with tabs between them, escaped; `\N` is null.

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::text::Builder;
use yunti_engine::format::columns::put_unescaped;
use yunti_sql_plan::Batch;

/// Text of a null.
const NULL: &[u8] = b"\\N";

/// Rows that grow by a record at a time.
pub struct Records {
    builders: Vec<Builder>,
    rows: usize,
    /// A value without its escapes.
    cell: Vec<u8>,
}

impl Records {
    pub fn new(kinds: &[Kind]) -> Records {
        Records { builders: kinds.iter().map(|&kind| Builder::new(kind)).collect(), rows: 0, cell: Vec::new() }
    }

    /// Adds a record. Errors: `UserCode` for one that has not the columns, or a text that is no value of its type.
    pub fn push(&mut self, record: &[u8]) -> Result<()> {
        let damaged = |what: &str| Error::new(Code::UserCode, format!("the source passed on a record {what}"));
        let mut cells = record.split(|&byte| byte == b'\t');
        for builder in &mut self.builders {
            let text = cells.next().ok_or_else(|| damaged("without all columns"))?;
            if text == NULL {
                builder.push_null();
                continue;
            }
            self.cell.clear();
            put_unescaped(text, &mut self.cell);
            if !builder.push(&self.cell) {
                return Err(damaged("with a text that is no value of its type"));
            }
        }
        if !self.builders.is_empty() && cells.next().is_some() {
            return Err(damaged("with more columns than the scan"));
        }
        self.rows += 1;
        Ok(())
    }

    /// Returns the rows so far; None if there are none.
    pub fn take(&mut self) -> Option<Batch> {
        let rows = std::mem::take(&mut self.rows);
        (rows > 0).then(|| Batch::of(self.builders.iter_mut().map(Builder::take).collect(), rows))
    }
}

#[cfg(test)]
mod tests {
    use yunti_engine::columns::vector::Value;

    use super::*;

    #[test]
    fn records_become_rows() {
        let mut records = Records::new(&[Kind::Int, Kind::Text]);
        for record in [&b"1\ta\\tb"[..], b"\\N\t\\\\N", b"-3\t\\N", b"4\t"] {
            records.push(record).unwrap();
        }
        let batch = records.take().unwrap();
        let row = |row: usize| (batch.columns[0].value(row), batch.columns[1].value(row));
        let text = |text: &str| Value::Bytes(text.into());
        assert_eq!(batch.rows, 4);
        assert_eq!(row(0), (Value::Int(1), text("a\tb")));
        assert_eq!(row(1), (Value::Null, text("\\N")));
        assert_eq!(row(2), (Value::Int(-3), Value::Null));
        assert_eq!(row(3), (Value::Int(4), text("")));
        assert!(records.take().is_none());
    }

    #[test]
    fn damaged_records_are_errors() {
        for record in [&b"x\ta"[..], b"1", b"1\ta\tb"] {
            assert!(Records::new(&[Kind::Int, Kind::Text]).push(record).is_err(), "{record:?}");
        }
        let mut none = Records::new(&[]);
        none.push(b"").unwrap();
        assert_eq!(none.take().unwrap().rows, 1);
    }
}

//! An aligned table for people: numbers to the right, nulls as NULL, long results cut in the middle.

use std::collections::VecDeque;
use std::fmt::Write;

use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use yunti_base::Result;

use super::text::{Texts, options};

/// Rows shown at each end of a long result.
const SHOWN_ROWS: usize = 500;
/// Characters of a value that are shown.
const SHOWN_CHARS: usize = 200;

/// The first and the last rows of a result.
pub struct Table {
    names: Vec<String>,
    is_right: Vec<bool>,
    first: Vec<Vec<String>>,
    last: VecDeque<Vec<String>>,
    count: u64,
}

impl Table {
    pub fn new(schema: &SchemaRef) -> Table {
        let is_number = |of: &DataType| of.is_numeric();
        Table {
            names: schema.fields().iter().map(|field| plain(field.name())).collect(),
            is_right: schema.fields().iter().map(|field| is_number(field.data_type())).collect(),
            first: Vec::new(),
            last: VecDeque::new(),
            count: 0,
        }
    }

    /// Takes some rows.
    pub fn rows(&mut self, batch: &RecordBatch) -> Result<()> {
        let options = options();
        let columns = batch.columns().iter().map(|column| Texts::of(column, &options)).collect::<Result<Vec<_>>>()?;
        let rows = batch.num_rows();
        self.count += rows as u64;
        for row in 0..rows {
            // A row that neither end shows is never written.
            if self.first.len() >= SHOWN_ROWS && rows - row > SHOWN_ROWS {
                continue;
            }
            let mut values = Vec::with_capacity(columns.len());
            for column in &columns {
                let mut text = String::new();
                match column.is_null(row) {
                    true => text.push_str("NULL"),
                    false => column.put(row, &mut text)?,
                }
                values.push(plain(&text));
            }
            if self.first.len() < SHOWN_ROWS {
                self.first.push(values);
            } else {
                self.last.push_back(values);
                if self.last.len() > SHOWN_ROWS {
                    self.last.pop_front();
                }
            }
        }
        Ok(())
    }

    /// Returns the table.
    pub fn text(&self) -> String {
        let mut widths: Vec<usize> = self.names.iter().map(|name| width(name)).collect();
        for row in self.first.iter().chain(&self.last) {
            row.iter().zip(&mut widths).for_each(|(value, most)| *most = (*most).max(width(value)));
        }
        let mut out = String::new();
        self.put(&self.names, &widths, &mut out);
        let lines: Vec<String> = widths.iter().map(|&width| "-".repeat(width)).collect();
        let _ = writeln!(out, "{}", lines.join("  "));
        self.first.iter().for_each(|row| self.put(row, &widths, &mut out));
        let shown = (self.first.len() + self.last.len()) as u64;
        if shown < self.count {
            let _ = writeln!(out, ".. {} rows ..", self.count - shown);
        }
        self.last.iter().for_each(|row| self.put(row, &widths, &mut out));
        let _ = writeln!(out, "({} row{})", self.count, if self.count == 1 { "" } else { "s" });
        out
    }

    fn put(&self, row: &[String], widths: &[usize], out: &mut String) {
        let last = row.len().saturating_sub(1);
        for (n, value) in row.iter().enumerate() {
            let space = widths[n] - width(value);
            if n > 0 {
                out.push_str("  ");
            }
            if self.is_right[n] {
                out.extend(std::iter::repeat_n(' ', space));
            }
            out.push_str(value);
            if !self.is_right[n] && n < last {
                out.extend(std::iter::repeat_n(' ', space));
            }
        }
        out.push('\n');
    }
}

fn width(text: &str) -> usize {
    text.chars().map(|c| if is_wide(c) { 2 } else { 1 }).sum()
}

/// Returns true for characters of East Asia and symbols, which take two columns.
fn is_wide(c: char) -> bool {
    matches!(c as u32, 0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f
        | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1f64f | 0x1f900..=0x1f9ff | 0x20000..=0x3fffd)
}

/// Returns text in one line, without control characters, which a terminal would obey.
fn plain(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARS).flat_map(escaped).collect();
    if text.chars().nth(SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

fn escaped(c: char) -> Vec<char> {
    match c {
        '\n' => vec!['\\', 'n'],
        '\t' => vec!['\\', 't'],
        '\r' => vec!['\\', 'r'],
        c if c.is_control() => format!("\\x{:02x}", c as u32).chars().collect(),
        c => vec![c],
    }
}

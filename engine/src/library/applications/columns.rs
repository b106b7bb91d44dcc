//! Columns of a line: text between separators, numbered from 1.

use memchr::memchr_iter;

use crate::bytes::escape::unescape;
use crate::library::settings;
use crate::operator::{Batch, Form, Mapper, Out, TaskContext};
use yunti_base::{Code, Error, Result};

/// One column of a line.
#[derive(Clone, Copy)]
pub struct Column {
    /// Index from 0.
    index: usize,
    separator: u8,
}

impl Column {
    /// Reads the settings `column` and `separator`. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<Self> {
        Column::named(context, "column")
    }

    /// Reads `setting` instead of `column`. Errors: `Usage`.
    pub fn named(context: &TaskContext, setting: &str) -> Result<Self> {
        let index = settings::ordinal(context, setting, 1)? - 1;
        Ok(Column { index, separator: separator(context)? })
    }

    /// Returns the place of the column in `line`; None if the line has fewer columns.
    #[inline]
    pub fn range(&self, line: &[u8]) -> Option<std::ops::Range<usize>> {
        let mut ends = memchr_iter(self.separator, line);
        let start = match self.index {
            0 => 0,
            n => ends.nth(n - 1)? + 1,
        };
        Some(start..ends.next().unwrap_or(line.len()))
    }
}

/// Returns the setting `separator`, one byte; escapes such as `\t` and `\xNN` are known. Errors: `Usage`.
pub fn separator(context: &TaskContext) -> Result<u8> {
    let text = context.setting("separator").unwrap_or("\t");
    match unescape(text)?[..] {
        [byte] => Ok(byte),
        _ => Err(Error::new(Code::Usage, format!("the setting separator is '{text}'"))
            .hint("use one byte, as in -D separator=,")),
    }
}

/// Mapper that emits a column of each line with the number 1. Lines with fewer columns are counted and skipped.
pub struct CountColumn {
    column: Column,
    short: ShortLines,
}

impl CountColumn {
    /// Reads the settings. Errors: `Usage`.
    pub fn new(context: &std::sync::Arc<TaskContext>) -> Result<Self> {
        Ok(CountColumn { column: Column::new(context)?, short: ShortLines::new(context) })
    }
}

impl Mapper for CountColumn {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let data = batch.data();
        let values = batch.values();
        for (&offset, &length) in values.offsets.iter().zip(values.lengths) {
            let line = &data[offset as usize..][..length as usize];
            let Some(range) = self.column.range(line) else {
                self.short.add();
                continue;
            };
            match out.form() {
                Form::Copy => out.emit(&line[range], &1u64.to_le_bytes())?,
                _ => out.emit_ref(offset + range.start as u32, range.len() as u32, 1)?,
            }
        }
        Ok(())
    }
}

/// Counter of lines that lack what a class needs. Dropping it adds the count to the job's counter `LINES_PASSED_OVER`.
pub struct ShortLines {
    context: std::sync::Arc<TaskContext>,
    n: u64,
}

impl ShortLines {
    /// Starts at 0.
    pub fn new(context: &std::sync::Arc<TaskContext>) -> Self {
        ShortLines { context: context.clone(), n: 0 }
    }
    /// Counts one line.
    pub fn add(&mut self) {
        self.n += 1;
    }
}

impl Drop for ShortLines {
    fn drop(&mut self) {
        if self.n > 0 {
            self.context.count("Yunti", "LINES_PASSED_OVER", self.n);
        }
    }
}

/// Returns the number in `text`, which may be surrounded by white space; None if it is not a number.
pub fn number(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_columns_of_a_line() {
        let text = |index, line: &str| {
            Column { index, separator: b',' }.range(line.as_bytes()).map(|range| line[range].to_string())
        };
        for (index, line, expect) in [
            (0, "", Some("")),
            (0, "a", Some("a")),
            (0, "a,b", Some("a")),
            (0, ",b", Some("")),
            (1, "a,b", Some("b")),
            (1, "a,b,c", Some("b")),
            (1, "a,", Some("")),
            (2, "a,,c", Some("c")),
            (1, "a", None),
            (3, "a,b,c", None),
        ] {
            assert_eq!(text(index, line).as_deref(), expect, "column {index} of {line}");
        }
    }
}

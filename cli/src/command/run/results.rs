//! Rows that a job over columns prints: a table with the names of the columns.

use std::io::IsTerminal;

use serde_json::{Value, json};
use yunti_engine::columns::settings::{RESULT_KEYS, RESULTS};
use yunti_engine::job::spec::JobSpec;
use yunti_engine::job::{MARK_NULLS, TopRecord};

use crate::console;
use crate::console::paint::Paint;
use crate::text::numbers;
use crate::text::table::{Side, Table, cut};

/// First rows of a result.
pub struct Results<'a> {
    names: Vec<&'a str>,
    rows: Vec<Vec<String>>,
}

impl<'a> Results<'a> {
    /// Returns the rows of a job over columns; None for another job.
    pub fn of(spec: &'a JobSpec, records: &[TopRecord]) -> Option<Results<'a>> {
        let names: Vec<&str> = spec.settings.get(RESULTS)?.split('\n').collect();
        let keys: usize = spec.settings.get(RESULT_KEYS)?.parse().ok()?;
        let is_escaped = spec.settings.get(MARK_NULLS).is_some_and(|value| value.trim() == "true");
        let values = names.len().checked_sub(keys)?;
        let rows: Vec<_> = records.iter().map(|record| record.columns(keys, values, is_escaped)).collect();
        rows.iter().all(|row| row.len() == names.len()).then_some(Results { names, rows })
    }

    /// Returns the rows as objects.
    pub fn document(&self) -> Value {
        let object = |row: &Vec<String>| -> Value {
            Value::Object(self.names.iter().zip(row).map(|(name, cell)| (name.to_string(), json!(cell))).collect())
        };
        self.rows.iter().map(object).collect()
    }

    /// Returns the table, numbers aligned right. `all`: rows of the whole result. Only a terminal cuts long texts.
    pub fn table(&self, all: u64) -> String {
        let is_number = |c: usize| self.rows.iter().all(|row| row[c].is_empty() || row[c].parse::<f64>().is_ok());
        let side = |c: usize| if is_number(c) { Side::Right } else { Side::Left };
        let heads: Vec<String> =
            self.names.iter().map(|name| super::super::inspect::printable(name.as_bytes())).collect();
        let columns: Vec<(&str, Side)> = heads.iter().enumerate().map(|(c, name)| (&name[..], side(c))).collect();
        let mut table = Table::new(&columns).with_all_columns();
        let room = match std::io::stdout().is_terminal() {
            true => (2 * console::width() / self.names.len().max(1)).max(24),
            false => usize::MAX,
        };
        for row in &self.rows {
            table.row(row.iter().map(|cell| cut(cell, room)).collect());
        }
        let shown = self.rows.len() as u64;
        let mut text = table.print(Paint::OFF);
        if shown == 0 {
            text += "  no rows\n";
        } else if shown < all {
            let (shown, all) = (numbers::count(shown), numbers::count(all));
            text += &format!("  the first {shown} of {all} rows; --top N prints more, --output DIR writes all\n");
        }
        text
    }
}

//! Runs `yunti table diff`.

use std::path::PathBuf;

use clap::Parser;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;
use yunti_table::read::{Row, Table};

use super::rows;

#[derive(Parser)]
pub struct Flags {
    /// Table before
    old: PathBuf,
    /// Table after
    new: PathBuf,
    /// Most keys to print
    #[arg(long, default_value_t = 100)]
    limit: usize,
}

/// Keys that were found, and lines for the first of them.
#[derive(Default)]
struct Found {
    counts: [u64; 3],
    lines: String,
    printed: usize,
}

impl Found {
    fn add(&mut self, kind: usize, table: &Table, row: &Row<'_>, limit: usize) -> Result<()> {
        self.counts[kind] += 1;
        if self.printed < limit {
            self.lines.push_str(&format!("{} {}\n", ["-", "+", "~"][kind], rows::key_text(table, row)?));
            self.printed += 1;
        }
        Ok(())
    }
}

/// Returns the values of all rows of a key.
fn values<'a>(table: &'a Table, key: &[u8]) -> Result<Vec<Vec<Option<&'a [u8]>>>> {
    let count = table.schema().columns.len();
    table.get_all(key)?.map(|row| row.and_then(|row| (0..count).map(|column| row.value(column)).collect())).collect()
}

pub fn run(flags: &Flags) -> Outcome {
    let (old, new) = (Table::open(&flags.old)?, Table::open(&flags.new)?);
    if old.schema() != new.schema() {
        let what = "the tables have different columns";
        return Err(Error::new(Code::Usage, what).hint("compare them by yunti table info").into());
    }
    let mut found = Found::default();
    let mut key = Vec::new();
    // Rows of one key are neighbours: the first of them stands for all.
    let mut each = |table: &Table, other: &Table, is_new: bool| -> Result<()> {
        let mut before = Vec::new();
        for row in table.rows() {
            let row = row?;
            key.clear();
            row.key(&mut key);
            if key == before && !before.is_empty() {
                continue;
            }
            before.clone_from(&key);
            match other.get(&key)? {
                None => found.add(usize::from(is_new), table, &row, flags.limit)?,
                Some(_) if is_new => {}
                Some(_) if values(table, &key)? != values(other, &key)? => found.add(2, table, &row, flags.limit)?,
                Some(_) => {}
            }
        }
        Ok(())
    };
    each(&old, &new, false)?;
    each(&new, &old, true)?;
    let [removed, added, changed] = found.counts;
    found.lines.push_str(&format!("{removed} removed, {added} added, {changed} changed\n"));
    stdout::print(&found.lines)?;
    if removed + added + changed == 0 { Ok(()) } else { Err(Failure::Reported(Code::Invalid)) }
}

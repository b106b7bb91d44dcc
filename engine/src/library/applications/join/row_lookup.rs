//! The mapper of a hash join of tables: rows of the left table look up their partners, in batches.

use std::sync::Arc;

use super::hashed::{BATCH, shared_table};
use super::rows::SideInput;
use super::{JoinKind, JoinTable};
use crate::columns::text;
use crate::format::columns::{put_escaped, put_unescaped};
use crate::operator::{Batch, Mapper, Out, TaskContext};
use yunti_base::Result;

/// A row that looks for partners.
#[derive(Default)]
struct Lookup {
    /// The key as the table has it; empty if a column is null.
    key: Vec<u8>,
    hash: u64,
    /// Texts of the key columns, then of the other columns.
    record: Vec<u8>,
    key_len: usize,
}

/// Mapper that pairs the rows of the left table with rows of the table in memory.
pub struct LookupRows {
    side: SideInput,
    waiting: Waiting,
}

/// Rows whose lookups are not done.
struct Waiting {
    table: Arc<JoinTable>,
    kind: JoinKind,
    lookups: Vec<Lookup>,
    count: usize,
    plain: Vec<u8>,
}

impl LookupRows {
    /// Reads the settings. The job has built the table. Errors: `Usage`.
    pub fn new(context: &Arc<TaskContext>) -> Result<Self> {
        let waiting = Waiting {
            table: shared_table(context)?,
            kind: JoinKind::new(context)?,
            lookups: (0..BATCH).map(|_| Lookup::default()).collect(),
            count: 0,
            plain: Vec::new(),
        };
        Ok(LookupRows { side: SideInput::new(context, true)?, waiting })
    }
}

impl Mapper for LookupRows {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let LookupRows { side, waiting } = self;
        side.each(batch, |side, columns, keys, row, (key, is_whole)| {
            if !is_whole && !waiting.kind.left {
                return Ok(());
            }
            let lookup = &mut waiting.lookups[waiting.count];
            lookup.key.clear();
            lookup.record.clear();
            if is_whole {
                put_escaped(key, &mut lookup.key);
                lookup.hash = waiting.table.hash(&lookup.key);
                waiting.table.prefetch_bucket(lookup.hash);
            }
            let cells = side.form.kinds.iter().zip(keys).map(|(&kind, column)| (kind, column.cell(row)));
            text::put_columns(cells, side.form.marks_nulls, &mut lookup.record);
            lookup.key_len = lookup.record.len();
            side.put_rest(columns, row, side.form.is_escaped, &mut lookup.record);
            waiting.count += 1;
            if waiting.count == BATCH { waiting.answer(&side.form, out) } else { Ok(()) }
        })?;
        self.waiting.answer(&self.side.columns.form, out)
    }
}

impl Waiting {
    /// Looks up all rows, and emits what they give.
    fn answer(&mut self, form: &super::RowForm, out: &mut Out) -> Result<()> {
        let Waiting { table, kind, lookups, count, plain } = self;
        let mut places = [None; BATCH];
        for (lookup, place) in lookups[..*count].iter().zip(&mut places) {
            *place = if lookup.key.is_empty() { None } else { table.find(lookup.hash) };
        }
        for (lookup, place) in lookups[..*count].iter_mut().zip(places) {
            let Lookup { key, record, key_len, .. } = lookup;
            let left_end = record.len();
            let mut found = 0;
            if let Some(place) = place {
                found = table.each(place, key, |right| -> Result<()> {
                    if !kind.pairs {
                        return Ok(());
                    }
                    record.truncate(left_end);
                    if form.is_escaped {
                        form.put_right(right, record);
                    } else {
                        plain.clear();
                        put_unescaped(right, plain);
                        form.put_right(plain, record);
                    }
                    Ok(out.emit_adjacent(record, *key_len)?)
                })?;
            }
            let is_alone = if found == 0 { kind.left } else { kind.matched };
            if is_alone {
                record.truncate(left_end);
                form.put_right_nulls(record);
                out.emit_adjacent(record, *key_len)?;
            }
        }
        *count = 0;
        Ok(())
    }
}

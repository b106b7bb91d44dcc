//! A hash join with a mapped table.

use std::path::Path;
use std::sync::Arc;

use yunti_base::Result;
use yunti_table::read::{Row, Table};

use super::{Key, SharedColumns};
use crate::library::applications::columns::ShortLines;
use crate::library::applications::join::hashed::LeftRecord;
use crate::library::applications::join::{Cut, JoinKind, Side};
use crate::operator::{Batch, Mapper, Out, TaskContext};

/// Name of the table among the values that the tasks of a job share.
const SHARED: &str = "join.table.mapped";
/// Lookups of a batch: those of the table's reader.
const BATCH: usize = 64;

/// An open table, and the columns that records have of it.
struct MappedSide {
    table: Table,
    columns: SharedColumns,
}

impl MappedSide {
    fn open(path: &Path, context: &TaskContext, kind: JoinKind) -> Result<MappedSide> {
        let table = Table::open(path)?;
        let schema = table.schema();
        let columns = SharedColumns::of(context, &schema.columns, &schema.keys, kind.pairs)
            .map_err(|e| e.at_path(path.to_string_lossy()))?;
        Ok(MappedSide { columns, table })
    }
}

/// Mapper that pairs the lines of the input, the left side, with rows of a mapped table.
pub struct MappedJoin {
    small: Arc<MappedSide>,
    kind: JoinKind,
    left: Side,
    record: LeftRecord,
    right: Vec<u8>,
    short: ShortLines,
}

impl MappedJoin {
    /// Opens the table. Errors: `Usage` for bad settings, `Input` and `Corrupt` for the table.
    pub fn new(context: &Arc<TaskContext>, path: &Path) -> Result<MappedJoin> {
        let kind = JoinKind::new(context)?;
        let small = context.job.shared(SHARED, || MappedSide::open(path, context, kind))?;
        Ok(MappedJoin {
            small,
            kind,
            left: Side::new(context, "join.left.column")?,
            record: LeftRecord::default(),
            right: Vec::new(),
            short: ShortLines::new(context),
        })
    }

    /// Emits the records of a line. `row`: the first row of its key.
    fn emit(&mut self, line: &Cut<'_>, key: &Key<'_>, row: Option<Row<'_>>, out: &mut Out) -> Result<()> {
        let Some(row) = row else {
            return if self.kind.left { self.record.begin(line).alone(out) } else { Ok(()) };
        };
        self.record.begin(line);
        if self.kind.pairs {
            let table = &self.small.table;
            let rows = if table.header().has_lists { Some(table.get_all(key.as_ref())?) } else { None };
            let one = rows.is_none().then_some(Ok(row));
            for row in rows.into_iter().flatten().chain(one) {
                self.right.clear();
                let row = row?;
                self.small.columns.append(|column| row.value(column), self.left.separator, &mut self.right)?;
                self.record.pair(&self.right, self.left.separator, out)?;
            }
        }
        if self.kind.matched { self.record.alone(out) } else { Ok(()) }
    }
}

impl Mapper for MappedJoin {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let small = self.small.clone();
        let mut lines: Vec<Cut<'_>> = Vec::with_capacity(BATCH);
        let mut keys: Vec<Key<'_>> = Vec::with_capacity(BATCH);
        for start in (0..batch.len()).step_by(BATCH) {
            lines.clear();
            keys.clear();
            for line in start..batch.len().min(start + BATCH) {
                match self.left.cut(batch.record(line).1) {
                    Some(line) => {
                        keys.push(small.columns.key(line.key));
                        lines.push(line);
                    }
                    None => self.short.add(),
                }
            }
            let mut emitted = Ok(());
            small.table.get_batch(&keys, |at, row| {
                if emitted.is_ok() {
                    emitted = self.emit(&lines[at], &keys[at], row, out);
                }
            })?;
            emitted?;
        }
        Ok(())
    }
}

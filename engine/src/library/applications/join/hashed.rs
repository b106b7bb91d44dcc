//! The mapper of a hash join: lines of the left side look up their partners in the table, in batches. Memory has the
//! time of a batch to answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::columns::ShortLines;
use super::{Cut, JoinKind, JoinTable, SMALL, Side, append_pair};
use crate::library::{settings, tables};
use crate::operator::{Batch, Mapper, Out, TaskContext};
use yunti_base::{Code, Error, Result};

/// Name of the table among the values that the tasks of a job share.
pub const TABLE: &str = "join.table";
/// Lookups of a batch.
pub const BATCH: usize = 32;

/// Returns the side file of a hash join among those of its job; None if a table is the small side. Errors: `Usage` for
/// bad settings.
pub fn small_side<'p>(context: &TaskContext, side_files: &'p [PathBuf]) -> Result<Option<&'p Path>> {
    if JoinKind::new(context)?.right {
        return Err(Error::new(Code::Usage, "a hash join cannot find lines of the small side without a partner")
            .hint("use the application join"));
    }
    Side::new(context, "join.left.column")?;
    let name = settings::required(context, SMALL, "countries.tsv --side-file countries.tsv")?;
    match (small_path(name, side_files), tables::place(&context.job.settings, name)?) {
        (None, None) => Err(settings::no_side_file(SMALL, name)),
        (Some(_), Some(_)) => {
            let error = Error::new(Code::Usage, format!("{SMALL} is {name}, a side file and a table"));
            Err(error.hint("leave out one of the two"))
        }
        (side_file, _) => Ok(side_file),
    }
}

/// Returns the path of the small side, which the setting `join.small` names, among the side files.
pub fn small_path<'p>(name: &str, side_files: &'p [PathBuf]) -> Option<&'p Path> {
    side_files.iter().map(PathBuf::as_path).find(|path| path.file_name().is_some_and(|own| own == name))
}

/// Returns the table that the job has built.
pub fn shared_table(context: &TaskContext) -> Result<Arc<JoinTable>> {
    context.job.shared(TABLE, || Err(Error::new(Code::Internal, "a hash join without its table")))
}

/// A line that looks for partners.
struct Lookup<'a> {
    line: Cut<'a>,
    hash: u64,
    place: Option<u64>,
}

/// Mapper that pairs the lines of the input, the left side, with rows of the table.
pub struct HashJoin {
    table: Arc<JoinTable>,
    kind: JoinKind,
    left: Side,
    record: LeftRecord,
    short: ShortLines,
}

/// A record: key, columns of the left line, columns of the right line.
#[derive(Default)]
pub(super) struct LeftRecord {
    bytes: Vec<u8>,
    key_len: usize,
    left_end: usize,
}

impl LeftRecord {
    /// Begins the records of a line.
    #[inline]
    pub(super) fn begin(&mut self, line: &Cut<'_>) -> &mut Self {
        self.bytes.clear();
        self.bytes.extend_from_slice(line.key);
        line.append_rest(&mut self.bytes);
        (self.key_len, self.left_end) = (line.key.len(), self.bytes.len());
        self
    }

    /// Emits the line with the other columns of a right one.
    #[inline]
    pub(super) fn pair(&mut self, right: &[u8], separator: u8, out: &mut Out) -> Result<()> {
        self.bytes.truncate(self.left_end);
        append_pair(&mut self.bytes, self.left_end - self.key_len, right, separator);
        Ok(out.emit_adjacent(&self.bytes, self.key_len)?)
    }

    /// Emits the line without a partner.
    #[inline]
    pub(super) fn alone(&mut self, out: &mut Out) -> Result<()> {
        self.bytes.truncate(self.left_end);
        Ok(out.emit_adjacent(&self.bytes, self.key_len)?)
    }
}

impl HashJoin {
    /// Reads the settings. The job has built the table. Errors: `Usage`.
    pub fn new(context: &Arc<TaskContext>) -> Result<Self> {
        Ok(HashJoin {
            table: shared_table(context)?,
            kind: JoinKind::new(context)?,
            left: Side::new(context, "join.left.column")?,
            record: LeftRecord::default(),
            short: ShortLines::new(context),
        })
    }
}

impl Mapper for HashJoin {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let mut lookups: Vec<Lookup<'_>> = Vec::with_capacity(BATCH);
        for start in (0..batch.len()).step_by(BATCH) {
            lookups.clear();
            for line in start..batch.len().min(start + BATCH) {
                let Some(line) = self.left.cut(batch.record(line).1) else {
                    self.short.add();
                    continue;
                };
                let hash = self.table.hash(line.key);
                self.table.prefetch_bucket(hash);
                lookups.push(Lookup { line, hash, place: None });
            }
            for lookup in &mut lookups {
                lookup.place = self.table.find(lookup.hash);
            }
            for Lookup { line, place, .. } in &lookups {
                if place.is_none() && !self.kind.left {
                    continue;
                }
                self.record.begin(line);
                let mut found = 0;
                if let Some(place) = *place {
                    found = self.table.each(place, line.key, |right| match self.kind.pairs {
                        true => self.record.pair(right, self.left.separator, out),
                        false => Ok(()),
                    })?;
                }
                let is_alone = if found == 0 { self.kind.left } else { self.kind.matched };
                if is_alone {
                    self.record.alone(out)?;
                }
            }
        }
        Ok(())
    }
}

//! The mapper of a hash join: lines of the left side look up their partners in the table, in batches. Memory has the
//! time of a batch to answer.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::columns::ShortLines;
use super::{JoinTable, Outer, Side, append_pair};
use crate::library::settings;
use crate::operator::{Batch, Mapper, Out, TaskContext};
use yunti_base::{Code, Error, Result};

/// Setting: the name of the side file.
const SMALL: &str = "join.small";
/// Name of the table among the values that the tasks of a job share.
pub const TABLE: &str = "join.table";
/// Lookups of a batch.
const BATCH: usize = 32;

/// Returns the side file of a hash join among those of its job. Errors: `Usage` for bad settings.
pub fn small_side<'p>(context: &TaskContext, side_files: &'p [PathBuf]) -> Result<&'p Path> {
    if Outer::new(context)?.right {
        return Err(Error::new(Code::Usage, "a hash join cannot find lines of the small side without a partner")
            .hint("use the application join"));
    }
    Side::new(context, "join.left.column")?;
    let name = settings::required(context, SMALL, "countries.tsv --side-file countries.tsv")?;
    let found = side_files.iter().find(|path| path.file_name().is_some_and(|own| own == name));
    found.map(PathBuf::as_path).ok_or_else(|| settings::no_side_file(SMALL, name))
}

/// A line that looks for partners.
struct Lookup {
    /// Index in the batch.
    line: usize,
    hash: u64,
    place: Option<u64>,
}

/// Mapper that pairs the lines of the input, the left side, with rows of the table.
pub struct HashJoin {
    table: Arc<JoinTable>,
    outer: Outer,
    left: Side,
    lookups: Vec<Lookup>,
    /// The record: key, columns of the left line, columns of the right line.
    record: Vec<u8>,
    short: ShortLines,
}

impl HashJoin {
    /// Reads the settings. The job has built the table. Errors: `Usage`.
    pub fn new(context: &Arc<TaskContext>) -> Result<Self> {
        let missing = || Error::new(Code::Internal, "a hash join without its table");
        Ok(HashJoin {
            table: context.job.shared(TABLE, || Err(missing()))?,
            outer: Outer::new(context)?,
            left: Side::new(context, "join.left.column")?,
            lookups: Vec::with_capacity(BATCH),
            record: Vec::new(),
            short: ShortLines::new(context),
        })
    }
}

impl Mapper for HashJoin {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        for start in (0..batch.len()).step_by(BATCH) {
            self.lookups.clear();
            for line in start..batch.len().min(start + BATCH) {
                let Some(cut) = self.left.cut(batch.record(line).1) else {
                    self.short.add();
                    continue;
                };
                let hash = self.table.hash(cut.key);
                self.table.prefetch_bucket(hash);
                self.lookups.push(Lookup { line, hash, place: None });
            }
            for lookup in &mut self.lookups {
                lookup.place = self.table.find(lookup.hash);
            }
            for lookup in &self.lookups {
                if lookup.place.is_none() && !self.outer.left {
                    continue;
                }
                let Some(cut) = self.left.cut(batch.record(lookup.line).1) else { continue };
                let key_len = cut.key.len();
                self.record.clear();
                self.record.extend_from_slice(cut.key);
                cut.append_rest(&mut self.record);
                let left_end = self.record.len();
                let mut found = 0;
                if let Some(place) = lookup.place {
                    found = self.table.each(place, cut.key, |right| {
                        self.record.truncate(left_end);
                        append_pair(&mut self.record, left_end - key_len, right, self.left.separator);
                        out.emit_adjacent(&self.record, key_len)
                    })?;
                }
                if found == 0 && self.outer.left {
                    out.emit_adjacent(&self.record, key_len)?;
                }
            }
        }
        Ok(())
    }
}

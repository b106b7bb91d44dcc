//! Questions to the servers of a table before a job: whether they have the lines of a side file, and how fast they are.

use std::sync::Arc;

use yunti_base::Result;
use yunti_table_remote::address::Address;
use yunti_table_remote::client::Lookups;

use super::Key;
use super::remote::RemoteSide;
use crate::library::applications::join::{JoinKind, Side};
use crate::library::tables::of_table;
use crate::operator::TaskContext;

/// Keys of a batch, and batches under way: about those of a job.
const KEYS: usize = 2048;
const UNDER_WAY: usize = 3;

/// A connected table, and the columns of both sides.
pub struct Probe {
    small: RemoteSide,
    kind: JoinKind,
    left: Side,
    right: Side,
}

impl Probe {
    /// Connects. Errors: `Usage` for bad settings, `Input` for servers that do not answer.
    pub fn connect(context: &TaskContext, name: &str, addresses: &[Address]) -> Result<Probe> {
        let kind = JoinKind::new(context)?;
        Ok(Probe {
            small: RemoteSide::connect(context, name, addresses, kind)?,
            kind,
            left: Side::new(context, "join.left.column")?,
            right: Side::new(context, "join.right.column")?,
        })
    }

    /// Returns the number of the first of these lines of the side file that is no row of the table; None if it has all.
    pub fn missing(&self, lines: &[Vec<u8>]) -> Result<Option<usize>> {
        let cut: Vec<_> = lines.iter().enumerate().filter_map(|(at, line)| Some((at, self.right.cut(line)?))).collect();
        let keys: Vec<Key<'_>> = cut.iter().map(|(_, line)| self.small.columns.key(line.key)).collect();
        let answers = self.small.table.get(&keys, true).map_err(|e| of_table(e, &self.small.name))?;
        let (mut own, mut other) = (Vec::new(), Vec::new());
        for (number, (at, line)) in cut.iter().enumerate() {
            own.clear();
            line.append_rest(&mut own);
            let mut is_found = false;
            for row in answers.rows(number) {
                other.clear();
                self.small.columns.append(|column| row.value(column), self.right.separator, &mut other)?;
                is_found |= other == own || !self.kind.pairs;
            }
            if !is_found {
                return Ok(Some(*at));
            }
        }
        Ok(None)
    }

    /// Looks up the keys of lines of the input as a job does, with several batches under way. Returns how many.
    pub fn look_up(&self, lines: &[Vec<u8>]) -> Result<u64> {
        let of = |e| of_table(e, &self.small.name);
        let mut lookups = Lookups::new(Arc::clone(&self.small.table), self.kind.pairs && self.small.table.has_lists());
        let mut count = 0;
        for batch in lines.chunks(KEYS) {
            let key = |line| self.left.cut(line).map(|line| self.small.columns.key(line.key));
            let is_some = |key: &Key<'_>| !matches!(key, Key::None);
            let keys: Vec<Key<'_>> = batch.iter().map(|line| &line[..]).filter_map(key).filter(is_some).collect();
            count += keys.len() as u64;
            lookups.add(&keys).map_err(of)?;
            if lookups.count() > UNDER_WAY {
                lookups.take().map_err(of)?;
            }
        }
        while lookups.count() > 0 {
            lookups.take().map_err(of)?;
        }
        Ok(count)
    }
}

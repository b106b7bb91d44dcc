//! Look-ups: keys of a batch, or of a condition, and the rows that have them.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::vector::{Value, Vector};
use yunti_sql_plan::{Found, TableIndex, TableSource};
use yunti_table::read::Row;

use super::SharedTable;
use super::columns::Rows;
use super::part::Part;
use super::source::{Places, Source};
use super::values::{self, KeyBytes};

/// Keys that are looked up before their rows become a batch.
const KEYS: usize = 1024;

impl TableIndex for Source {
    fn key(&self) -> &[usize] {
        &self.of.table.schema().keys
    }

    fn look_up(
        &self,
        keys: &[Arc<Vector>],
        columns: &[usize],
        found: &mut dyn FnMut(Found) -> Result<()>,
    ) -> Result<()> {
        let of = &*self.of;
        let decoded: Vec<_> = keys.iter().map(|key| key.decoded()).collect();
        let vectors: Vec<&Vector> = decoded.iter().map(|key| &**key).collect();
        let keys = values::keys(of.table.schema(), &vectors);
        let mut piece = Piece { of, columns, rows: Rows::default(), keys: Vec::new(), found };
        match &keys.bytes {
            KeyBytes::Eight(all) => piece.look_up(all, &keys.numbers)?,
            KeyBytes::Any(bytes, ends) => {
                let begins = std::iter::once(&0).chain(ends);
                let all: Vec<&[u8]> = begins.zip(ends).map(|(begin, end)| &bytes[*begin..*end]).collect();
                piece.look_up(&all, &keys.numbers)?;
            }
        }
        piece.hand_over()
    }

    fn rows_of(&self, keys: &[Vec<Value>]) -> Arc<dyn TableSource> {
        let schema = self.of.table.schema();
        let own = keys.iter().filter_map(|key| values::key(schema, key)).filter(|key| self.of.may_have(key));
        let mut all: Vec<Vec<u8>> = own.collect();
        all.sort_unstable();
        all.dedup();
        Arc::new(Source { of: self.of.clone(), places: Places::Keys(Arc::new(all)), part: Part::WHOLE })
    }
}

/// Rows that were found and are not handed over yet.
struct Piece<'p, 't> {
    of: &'t SharedTable,
    columns: &'p [usize],
    rows: Rows<'t>,
    keys: Vec<u32>,
    found: &'p mut dyn FnMut(Found) -> Result<()>,
}

impl<'t> Piece<'_, 't> {
    fn look_up<K: AsRef<[u8]>>(&mut self, keys: &[K], numbers: &[u32]) -> Result<()> {
        let of = self.of;
        let has_lists = of.table.header().has_lists;
        if of.table.header().shard.1 > 1 {
            // Other shards have the other keys: their look-ups would be misses of the cache.
            let all = keys.iter().zip(numbers).filter(|(key, _)| of.may_have(key.as_ref()));
            let (keys, numbers): (Vec<&[u8]>, Vec<u32>) = all.map(|(key, number)| (key.as_ref(), *number)).unzip();
            return self.look_up_own(&keys, &numbers, has_lists);
        }
        self.look_up_own(keys, numbers, has_lists)
    }

    fn look_up_own<K: AsRef<[u8]>>(&mut self, keys: &[K], numbers: &[u32], has_lists: bool) -> Result<()> {
        let of = self.of;
        for (keys, numbers) in keys.chunks(KEYS).zip(numbers.chunks(KEYS)) {
            let mut done = Ok(());
            let looked_up = of.table.get_all_batch(keys, |at, rows| {
                for row in rows {
                    if done.is_ok() {
                        done = row.and_then(|row| self.push(numbers[at], row, has_lists));
                    }
                }
            });
            looked_up.and(done).map_err(|e| of.at_path(e))?;
            if self.rows.is_full() {
                self.hand_over()?;
            }
        }
        Ok(())
    }

    fn push(&mut self, number: u32, row: Row<'t>, has_lists: bool) -> Result<()> {
        self.keys.push(number);
        self.rows.push(row);
        // A key of a table with lists may have any number of rows.
        if has_lists && self.rows.is_full() { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<()> {
        if self.keys.is_empty() {
            return Ok(());
        }
        let rows = self.of.batch(&self.rows.rows, self.columns).map_err(|e| self.of.at_path(e))?;
        self.rows.clear();
        (self.found)(Found { keys: std::mem::take(&mut self.keys), rows })
    }
}

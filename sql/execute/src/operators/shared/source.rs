//! Rows of a shared table for a scan, a stretch of places a morsel.
//!
//! ```text
//!   slots        all rows, in the order of the file
//!   positions    rows of a range of keys, in their order, of a table built with --sorted
//!   keys         rows of some keys
//! ```

use std::ops::Range;
use std::sync::Arc;

use yunti_base::Result;
use yunti_sql_plan::{Batch, Bounds, Morsel, MorselReader, TableIndex, TableSource};
use yunti_table::read::{self, Limits};

use super::SharedTable;
use super::columns::Rows;
use super::part::Part;
use super::values;

/// Places of a morsel.
const MORSEL_PLACES: u64 = 1 << 16;
/// A range is read in the order of its keys if it has this share of them at most: their rows are all over the file.
const RANGE_SHARE: u64 = 16;

/// Where the rows of a table are.
#[derive(Clone, Debug)]
pub enum Places {
    /// Every row.
    All,
    /// Rows whose keys have these bytes; each key once.
    Keys(Arc<Vec<Vec<u8>>>),
}

/// Rows of a table.
#[derive(Clone, Debug)]
pub struct Source {
    pub of: Arc<SharedTable>,
    pub places: Places,
    /// Share of the places that a scan reads.
    pub part: Part,
}

/// Places of a scan.
#[derive(Clone)]
enum Walk {
    Slots(Range<u64>),
    Positions(Range<u64>),
    Keys(Arc<Vec<Vec<u8>>>, Range<u64>),
}

impl Walk {
    fn range(&mut self) -> &mut Range<u64> {
        let (Walk::Slots(range) | Walk::Positions(range) | Walk::Keys(_, range)) = self;
        range
    }

    fn rows<'t>(&self, place: u64, of: &'t read::Table) -> Result<read::Rows<'t>> {
        match self {
            Walk::Slots(_) => of.rows_of_slot(place),
            Walk::Positions(_) => of.rows_at(place),
            Walk::Keys(keys, _) => of.get_all(&keys[place as usize]),
        }
    }
}

impl Source {
    /// Returns the places that have all rows within bounds, as far as they belong to the part.
    fn walk(&self, bounds: &[Bounds]) -> Result<Walk> {
        let mut walk = self.whole_walk(bounds)?;
        let range = walk.range();
        *range = self.part.of(range);
        Ok(walk)
    }

    fn whole_walk(&self, bounds: &[Bounds]) -> Result<Walk> {
        let table = &self.of.table;
        if let Places::Keys(keys) = &self.places {
            return Ok(Walk::Keys(keys.clone(), 0..keys.len() as u64));
        }
        if table.header().is_sorted
            && let Some(range) = values::range(table.schema(), bounds)
        {
            let limits = Limits { from: range.from.as_deref(), to: range.to.as_deref(), is_prefix: false };
            let positions = table.positions(limits).map_err(|e| self.of.at_path(e))?;
            if (positions.end - positions.start) <= table.len() / RANGE_SHARE {
                return Ok(Walk::Positions(positions));
            }
        }
        Ok(Walk::Slots(0..table.header().all_slots()))
    }
}

impl TableSource for Source {
    fn morsels(&self, _: &[usize], bounds: &[Bounds]) -> Result<Vec<Morsel>> {
        let header = self.of.table.header();
        let mut walk = self.walk(bounds)?;
        let per_place = match walk {
            Walk::Slots(_) => header.rows as f64 / header.all_slots().max(1) as f64,
            _ => header.rows as f64 / header.keys.max(1) as f64,
        };
        let bytes = header.sections.rows.bytes / header.all_slots().max(1);
        let Range { start, end } = *walk.range();
        let morsel = |unit: u64| {
            let places = MORSEL_PLACES.min(end - start - unit * MORSEL_PLACES);
            Morsel { file: 0, unit, rows: (places as f64 * per_place).ceil() as u64, bytes: places * bytes }
        };
        Ok((0..(end - start).div_ceil(MORSEL_PLACES)).map(morsel).collect())
    }

    fn open(&self, morsel: &Morsel, columns: &[usize], bounds: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        let mut walk = self.walk(bounds)?;
        let range = walk.range();
        let start = range.start + morsel.unit * MORSEL_PLACES;
        *range = start..range.end.min(start + MORSEL_PLACES);
        Ok(Box::new(Reader { of: self.of.clone(), walk, columns: columns.to_vec(), left_bytes: None }))
    }

    fn index(&self) -> Option<Arc<dyn TableIndex>> {
        match self.places {
            Places::All if self.part.is_whole() => Some(Arc::new(self.clone())),
            _ => None,
        }
    }
}

/// Reads a stretch of places.
struct Reader {
    of: Arc<SharedTable>,
    /// Places that are left.
    walk: Walk,
    columns: Vec<usize>,
    /// Bytes of the first place's rows that are left, if some of them were read.
    left_bytes: Option<usize>,
}

impl Reader {
    fn batch(&mut self) -> Result<Option<Batch>> {
        let of = self.of.clone();
        let mut rows = Rows::default();
        while !self.walk.range().is_empty() && !rows.is_full() {
            let place = self.walk.range().start;
            let mut own = self.walk.rows(place, &of.table)?;
            if let Some(bytes) = self.left_bytes.take() {
                own = own.resume(bytes);
            }
            for row in own.by_ref() {
                rows.push(row?);
                if rows.is_full() {
                    break;
                }
            }
            match own.left_bytes() {
                0 => self.walk.range().start += 1,
                left => self.left_bytes = Some(left),
            }
        }
        if rows.rows.is_empty() {
            return Ok(None);
        }
        of.batch(&rows.rows, &self.columns).map(Some)
    }
}

impl MorselReader for Reader {
    fn next(&mut self) -> Result<Option<Batch>> {
        self.batch().map_err(|e| self.of.at_path(e))
    }
}

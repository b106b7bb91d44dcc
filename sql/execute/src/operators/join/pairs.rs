//! Pairs of the rows of a batch and the rows that they found, in pieces of bounded size, and what the join makes of
//! them.
//!
//! ```text
//!   row of the batch   0  0  1  2  2  2 | 2  3 ..      a piece ends within the partners of a row if it must
//!   kept row           4  9  -  0  3  5 | 8  1         -: no (further) partner; it counts if no pair before did
//!                         |
//!                   condition: pairs that do not meet it leave the piece
//! ```

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::vector::{Data, Value, Vector};
use yunti_sql_plan::Batch;

use super::shape::{Choice, PairColumn, Shape};
use super::table::Table;
use crate::expression::{Condition, Selection};
use crate::pipeline::Next;
use crate::store::NO_ROW;
use crate::store::column::{Column, Values};

/// Pairs of a piece, at most.
pub const PIECE_ROWS: usize = 8192;
/// Bytes of texts that are copied for a batch, unless one row has more.
pub const TEXT_BYTES_MAX: usize = if cfg!(test) { 1 << 12 } else { 64 << 20 };

/// Joins batches with a table, for one worker.
pub struct Pairs {
    shape: Arc<Shape>,
    condition: Option<Condition>,
    probes: Vec<u32>,
    builds: Vec<u32>,
}

/// Next pair of a batch.
struct Cursor {
    row: usize,
    partner: u32,
}

impl Pairs {
    pub fn new(shape: &Arc<Shape>) -> Result<Pairs> {
        let condition = match &shape.condition {
            Some(condition) => Some(Condition::new(std::slice::from_ref(&condition.expression))?),
            None => None,
        };
        Ok(Pairs { shape: shape.clone(), condition, probes: Vec::new(), builds: Vec::new() })
    }

    /// Joins a batch with a table, where `heads` has the first partner of each row. `matched` has the rows of the batch
    /// that found a partner in another table; it is empty for none. `is_last` is true if no other table follows: rows
    /// without a partner then are so for good.
    pub fn join(
        &mut self,
        (batch, heads): (&Batch, &[u32]),
        table: &Table,
        (matched, is_last): (&mut Vec<bool>, bool),
        next: Next<'_>,
    ) -> Result<()> {
        let shape = self.shape.clone();
        if self.condition.is_none() {
            if shape.marks_build() {
                heads.iter().filter(|&&head| head != NO_ROW).for_each(|&head| table.mark(head));
            }
            if shape.pairs {
                if !table.has_chains() && matched.is_empty() && is_last {
                    return self.join_unique(batch, heads, table, next);
                }
            } else if shape.probe.is_none() {
                return Ok(());
            }
        }
        matched.resize(batch.rows, false);
        if self.condition.is_none() && !shape.pairs {
            matched.iter_mut().zip(heads).for_each(|(matched, &head)| *matched |= head != NO_ROW);
        } else {
            self.join_pieces((batch, heads), table, (matched, is_last), next)?;
        }
        if is_last
            && !shape.pairs
            && let Some(choice) = shape.probe
        {
            choose(&batch.project(&shape.probe_out), matched, choice, next)?;
        }
        Ok(())
    }

    /// Joins a batch whose rows have one partner at most.
    fn join_unique(&mut self, batch: &Batch, heads: &[u32], table: &Table, next: Next<'_>) -> Result<()> {
        if self.shape.probe.is_some() {
            self.probes.clear();
            self.probes.extend(0..batch.rows as u32);
            return self.emit(batch, table, &self.probes, heads, next);
        }
        let (probes, builds) = (&mut self.probes, &mut self.builds);
        probes.resize(heads.len(), 0);
        builds.resize(heads.len(), 0);
        let mut len = 0;
        for (i, &head) in heads.iter().enumerate() {
            (probes[len], builds[len]) = (i as u32, head);
            len += usize::from(head != NO_ROW);
        }
        probes.truncate(len);
        builds.truncate(len);
        self.emit(batch, table, &self.probes, &self.builds, next)
    }

    fn join_pieces(
        &mut self,
        (batch, heads): (&Batch, &[u32]),
        table: &Table,
        (matched, is_last): (&mut [bool], bool),
        next: Next<'_>,
    ) -> Result<()> {
        let mut cursor = Cursor { row: 0, partner: heads.first().copied().unwrap_or(NO_ROW) };
        let keeps_probe = self.shape.pairs && self.shape.probe.is_some() && is_last;
        let (mut probes, mut builds) = (std::mem::take(&mut self.probes), std::mem::take(&mut self.builds));
        while cursor.row < batch.rows {
            self.shape.cancel.check()?;
            probes.clear();
            builds.clear();
            self.fill(&mut cursor, heads, table, (matched, keeps_probe), (&mut probes, &mut builds));
            self.meet(batch, table, (&mut probes, &mut builds))?;
            let mut len = 0;
            for n in 0..probes.len() {
                let (probe, build) = (probes[n], builds[n]);
                let counts = build != NO_ROW || !matched[probe as usize];
                matched[probe as usize] |= build != NO_ROW;
                (probes[len], builds[len]) = (probe, build);
                len += usize::from(counts);
            }
            probes.truncate(len);
            builds.truncate(len);
            if self.condition.is_some() && self.shape.marks_build() {
                builds.iter().filter(|&&row| row != NO_ROW).for_each(|&row| table.mark(row));
            }
            if self.shape.pairs {
                self.emit(batch, table, &probes, &builds, next)?;
            }
        }
        (self.probes, self.builds) = (probes, builds);
        Ok(())
    }

    /// Fills a piece with candidates from the cursor on.
    fn fill(
        &self,
        cursor: &mut Cursor,
        heads: &[u32],
        table: &Table,
        (matched, keeps_probe): (&[bool], bool),
        (probes, builds): (&mut Vec<u32>, &mut Vec<u32>),
    ) {
        let ends_early = self.shape.one_match_is_enough();
        let skips_marked = !self.shape.pairs && self.shape.marks_build();
        while cursor.row < heads.len() && probes.len() < PIECE_ROWS {
            if ends_early && matched[cursor.row] {
                cursor.partner = NO_ROW;
            }
            if table.matches_all() && cursor.partner != NO_ROW {
                let room = PIECE_ROWS - probes.len();
                let end = table.rows.len().min(cursor.partner as usize + room) as u32;
                builds.extend(cursor.partner..end);
                probes.resize(builds.len(), cursor.row as u32);
                cursor.partner = if end as usize == table.rows.len() { NO_ROW } else { end };
            }
            while cursor.partner != NO_ROW && probes.len() < PIECE_ROWS {
                if !(skips_marked && table.is_marked(cursor.partner)) {
                    probes.push(cursor.row as u32);
                    builds.push(cursor.partner);
                }
                cursor.partner = table.next(cursor.partner);
            }
            if cursor.partner != NO_ROW {
                return;
            }
            if keeps_probe && !matched[cursor.row] {
                if probes.len() == PIECE_ROWS {
                    return;
                }
                probes.push(cursor.row as u32);
                builds.push(NO_ROW);
            }
            cursor.row += 1;
            cursor.partner = heads.get(cursor.row).copied().unwrap_or(NO_ROW);
        }
    }

    /// Removes the pairs of a piece that do not meet the condition.
    fn meet(&mut self, batch: &Batch, table: &Table, (probes, builds): (&mut Vec<u32>, &mut Vec<u32>)) -> Result<()> {
        let (Some(condition), Some(of)) = (&mut self.condition, &self.shape.condition) else { return Ok(()) };
        let has_gaps = builds.contains(&NO_ROW);
        let (some_probes, some_builds): (Vec<u32>, Vec<u32>);
        let (own_probes, own_builds) = if has_gaps {
            let real = || probes.iter().zip(&*builds).filter(|&(_, &build)| build != NO_ROW);
            some_probes = real().map(|(&probe, _)| probe).collect();
            some_builds = real().map(|(_, &build)| build).collect();
            (&some_probes, &some_builds)
        } else {
            (&*probes, &*builds)
        };
        if own_probes.is_empty() {
            return Ok(());
        }
        let column = |of: &PairColumn| match *of {
            PairColumn::Build(place) => Arc::new(table.rows.column(place).gather(own_builds)),
            PairColumn::Probe(column) => pick(&batch.columns[column], own_probes, batch.rows),
        };
        let pairs = Batch { columns: of.columns.iter().map(column).collect(), rows: own_probes.len() };
        let Selection::Rows(met) = condition.select(&pairs)? else { return Ok(()) };
        let mut met = met.into_iter().peekable();
        let (mut real, mut len) = (0, 0);
        for n in 0..probes.len() {
            let (probe, build) = (probes[n], builds[n]);
            let mut stays = build == NO_ROW;
            if !stays {
                stays = met.next_if_eq(&real).is_some();
                real += 1;
            }
            (probes[len], builds[len]) = (probe, build);
            len += usize::from(stays);
        }
        probes.truncate(len);
        builds.truncate(len);
        Ok(())
    }

    /// Passes on pairs.
    fn emit(&self, batch: &Batch, table: &Table, probes: &[u32], builds: &[u32], next: Next<'_>) -> Result<()> {
        if probes.is_empty() {
            return Ok(());
        }
        let shape = &*self.shape;
        let texts: usize = text_bytes(batch, table, (probes, builds), shape);
        if probes.len() > PIECE_ROWS || (texts > TEXT_BYTES_MAX && probes.len() > 1) {
            let (a, b) = probes.split_at(probes.len() / 2);
            let (x, y) = builds.split_at(probes.len() / 2);
            self.emit(batch, table, a, x, next)?;
            return self.emit(batch, table, b, y, next);
        }
        let has_gaps = shape.probe.is_some() && builds.contains(&NO_ROW);
        let all = probes.len() == batch.rows && probes.iter().enumerate().all(|(n, &row)| n as u32 == row);
        let probe: Vec<Arc<Vector>> = match all {
            true => batch.project(&shape.probe_out).columns,
            false => shape.probe_out.iter().map(|&n| Arc::new(batch.columns[n].select(probes))).collect(),
        };
        let build = shape.build_out.iter().map(|of| {
            let column = table.rows.column(of.place);
            match of.same {
                // A gather from the table misses the cache; the partner's key is here.
                Some(same) if !has_gaps => match shape.probe_out.binary_search(&same) {
                    Ok(place) => probe[place].clone(),
                    Err(_) if all => batch.columns[same].clone(),
                    Err(_) => Arc::new(batch.columns[same].select(probes)),
                },
                _ if has_gaps => Arc::new(column.gather_optional(builds, of.kind)),
                _ => Arc::new(column.gather(builds)),
            }
        });
        let build: Vec<Arc<Vector>> = build.collect();
        let columns = if shape.build_first { [build, probe].concat() } else { [probe, build].concat() };
        next(Batch { columns, rows: probes.len() })
    }
}

/// Returns some rows of a column; the column itself if they are all.
pub fn pick(column: &Arc<Vector>, rows: &[u32], len: usize) -> Arc<Vector> {
    if rows.len() == len && rows.iter().enumerate().all(|(n, &row)| n as u32 == row) {
        return column.clone();
    }
    Arc::new(column.select(rows))
}

/// Returns the bytes of texts that pairs copy, at least if they are many.
fn text_bytes(batch: &Batch, table: &Table, (probes, builds): (&[u32], &[u32]), shape: &Shape) -> usize {
    let mut bytes = probe_text_bytes(batch, shape, probes);
    for column in shape.build_out.iter().map(|of| table.rows.column(of.place)) {
        if let Column { values: Values::Texts(texts), .. } = column {
            let real = builds.iter().filter(|&&row| row != NO_ROW);
            bytes += real.map(|&row| texts.copied_bytes(row)).sum::<usize>();
        }
    }
    bytes
}

/// Returns the bytes of texts of a batch that pairs copy, at least if they are many.
pub fn probe_text_bytes(batch: &Batch, shape: &Shape, probes: &[u32]) -> usize {
    let mut bytes = 0usize;
    for column in shape.probe_out.iter().map(|&n| &batch.columns[n]) {
        // Texts of some rows are fewer bytes than all of them, as long as no row comes twice.
        if let Data::Bytes(texts) = &column.data
            && texts.used_bytes() > TEXT_BYTES_MAX / probes.len()
        {
            bytes += probes.iter().map(|&row| texts.get(row as usize).len()).sum::<usize>();
        }
    }
    bytes
}

/// Passes on rows of a batch by whether they have a match.
pub fn choose(batch: &Batch, matched: &[bool], choice: Choice, next: Next<'_>) -> Result<()> {
    if choice == Choice::Mark {
        let mut batch = batch.clone();
        batch.columns.push(Arc::new(Vector::of(Data::Bools(matched.to_vec()))));
        return next(batch);
    }
    let wanted = choice == Choice::Matched;
    let mut rows = vec![0u32; matched.len()];
    let mut len = 0;
    for (row, &matched) in matched.iter().enumerate() {
        rows[len] = row as u32;
        len += usize::from(matched == wanted);
    }
    match len {
        0 => Ok(()),
        len if len == batch.rows => next(batch.clone()),
        len => next(batch.select(&rows[..len])),
    }
}

/// Returns columns of nulls.
pub fn nulls(kinds: &[yunti_engine::columns::kind::Kind], rows: usize) -> Vec<Arc<Vector>> {
    kinds.iter().map(|&kind| Arc::new(Vector::constant(&Value::Null, kind, rows))).collect()
}

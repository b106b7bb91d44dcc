//! Step of a join whose other side is a table with an index: each batch looks up its keys there.
//!
//! ```text
//!   batch --keys--> index --rows found, in pieces--> conditions of the table --> condition of the join --> pairs
//!                                                                                        |
//!                                      rows without a pair stand where they were --------+
//! ```
//!
//! Nothing is built, and a row that no batch names is never read. Rows come in the order of the batches; partners of a
//! row in the order of the table.

use std::sync::Arc;

use yunti_base::Result;
use yunti_engine::columns::vector::{Data, Vector};
use yunti_sql_plan::lookup::Lookup;
use yunti_sql_plan::{Batch, Expression, Found, TableIndex};

use super::keys::Keys;
use super::pairs::{TEXT_BYTES_MAX, choose, nulls, pick, probe_text_bytes};
use super::shape::{Choice, PairColumn, Shape};
use crate::expression::{Condition, Selection};
use crate::pipeline::{LocalStep, Next, Step};

/// Looks up the rows of batches by an index.
pub struct LookUp {
    partners: Arc<Partners>,
    /// Conditions of the table, over the columns that are read.
    conditions: Vec<Expression>,
}

/// Partners that rows find in a table, and what the join makes of them.
struct Partners {
    shape: Arc<Shape>,
    index: Arc<dyn TableIndex>,
    /// Fields of the table that are read.
    read: Vec<usize>,
    /// Place among the columns that are read of each kept column of the shape; None if no one needs it.
    places: Vec<Option<usize>>,
}

impl LookUp {
    pub fn new(shape: Arc<Shape>, of: &Lookup<'_>) -> LookUp {
        let mut read: Vec<usize> = Vec::new();
        let place = |field: usize, read: &mut Vec<usize>| {
            read.iter().position(|own| *own == field).unwrap_or_else(|| {
                read.push(field);
                read.len() - 1
            })
        };
        let mut places = vec![None; shape.kept.len()];
        let outputs = shape.build_out.iter().filter(|of| shape.probe.is_some() || of.same.is_none()).map(|of| of.place);
        let needed = |of: &PairColumn| if let PairColumn::Build(place) = of { Some(*place) } else { None };
        let condition = shape.condition.iter().flat_map(|of| of.columns.iter().filter_map(needed));
        for kept in outputs.chain(condition) {
            places[kept] = Some(place(of.columns[shape.kept[kept]], &mut read));
        }
        let mut conditions = of.conditions.clone();
        for condition in &mut conditions {
            condition.visit_columns(&mut |field| _ = place(field, &mut read));
            condition.renumber(&|field| read.iter().position(|own| *own == field).unwrap_or(0));
        }
        LookUp { partners: Arc::new(Partners { shape, index: of.index.clone(), read, places }), conditions }
    }
}

impl Step for LookUp {
    fn local(&self) -> Result<Box<dyn LocalStep>> {
        let shape = &self.partners.shape;
        let pair_condition = shape.condition.as_ref().map(|of| Condition::new(std::slice::from_ref(&of.expression)));
        Ok(Box::new(Local {
            keys: Keys::new(&shape.probe_keys)?,
            conditions: Condition::new(&self.conditions)?,
            pair_condition: pair_condition.transpose()?,
            partners: self.partners.clone(),
        }))
    }
}

/// Look-ups of one worker.
struct Local {
    partners: Arc<Partners>,
    keys: Keys,
    conditions: Condition,
    pair_condition: Option<Condition>,
}

impl LocalStep for Local {
    fn push(&mut self, batch: Batch, next: Next<'_>) -> Result<()> {
        let keys = self.keys.of(&batch)?;
        let of = &*self.partners;
        let shape = &*of.shape;
        let mut matched = vec![false; batch.rows];
        let (conditions, pair_condition) = (&mut self.conditions, &mut self.pair_condition);
        // Rows of the batch before this one are done with.
        let mut done = 0;
        of.index.look_up(&keys, &of.read, &mut |found: Found| {
            shape.cancel.check()?;
            let found = kept(found, |rows| conditions.select(rows))?;
            let found = kept_pairs(found, pair_condition.as_mut(), of, &batch)?;
            found.keys.iter().for_each(|row| matched[*row as usize] = true);
            match found.keys.last() {
                Some(last) if shape.pairs => {
                    let end = *last as usize;
                    of.emit(&batch, &found, (&matched, done..end), next)?;
                    done = end;
                    Ok(())
                }
                _ => Ok(()),
            }
        })?;
        match shape.probe {
            Some(choice) if !shape.pairs => choose(&batch.project(&shape.probe_out), &matched, choice, next),
            Some(_) => {
                let none = Found { keys: Vec::new(), rows: Batch::default() };
                of.emit(&batch, &none, (&matched, done..batch.rows), next)
            }
            None => Ok(()),
        }
    }
}

/// Returns the found rows that a selection leaves.
fn kept(found: Found, select: impl FnOnce(&Batch) -> Result<Selection>) -> Result<Found> {
    Ok(match select(&found.rows)? {
        Selection::All => found,
        Selection::Rows(rows) => {
            Found { keys: rows.iter().map(|row| found.keys[*row as usize]).collect(), rows: found.rows.select(&rows) }
        }
    })
}

/// Returns the found rows that meet the condition of the join.
fn kept_pairs(found: Found, condition: Option<&mut Condition>, of: &Partners, batch: &Batch) -> Result<Found> {
    let (Some(condition), Some(shape)) = (condition, &of.shape.condition) else { return Ok(found) };
    if found.keys.is_empty() {
        return Ok(found);
    }
    let column = |column: &PairColumn| match *column {
        PairColumn::Build(kept) => of.column(kept, &found),
        PairColumn::Probe(column) => pick(&batch.columns[column], &found.keys, batch.rows),
    };
    let pairs = Batch { columns: shape.columns.iter().map(column).collect(), rows: found.keys.len() };
    kept(found, |_| condition.select(&pairs))
}

impl Partners {
    /// Returns a kept column of the rows that were found.
    fn column(&self, kept: usize, found: &Found) -> Arc<Vector> {
        found.rows.columns[self.places[kept].unwrap_or(0)].clone()
    }

    /// Passes on pairs. `rows`: rows of the batch that have no further pair; those without a match are passed on too,
    /// if the join keeps them.
    fn emit(
        &self,
        batch: &Batch,
        found: &Found,
        (matched, rows): (&[bool], std::ops::Range<usize>),
        next: Next<'_>,
    ) -> Result<()> {
        let shape = &*self.shape;
        let keeps_probe = shape.probe == Some(Choice::Unmatched);
        if !keeps_probe || matched[rows.clone()].iter().all(|matched| *matched) {
            return self.pass_on(batch, &found.keys, (found, None), next);
        }
        // Row of the batch, and row that was found, of each pair.
        let (mut probes, mut builds) = (Vec::new(), Vec::new());
        let mut row = rows.start;
        let mut gaps = |end: usize, probes: &mut Vec<u32>, builds: &mut Vec<Option<u32>>| {
            for row in (row..end).filter(|row| !matched[*row]) {
                probes.push(row as u32);
                builds.push(None);
            }
            row = row.max(end);
        };
        for (number, key) in (0..).zip(&found.keys) {
            gaps(*key as usize, &mut probes, &mut builds);
            probes.push(*key);
            builds.push(Some(number));
        }
        gaps(rows.end, &mut probes, &mut builds);
        self.pass_on(batch, &probes, (found, Some(&builds)), next)
    }

    /// Passes on rows of a batch with what was found for them: `builds` has the found row of each, or none.
    fn pass_on(
        &self,
        batch: &Batch,
        probes: &[u32],
        (found, builds): (&Found, Option<&[Option<u32>]>),
        next: Next<'_>,
    ) -> Result<()> {
        if probes.is_empty() {
            return Ok(());
        }
        let shape = &*self.shape;
        if probes.len() > 1 && probe_text_bytes(batch, shape, probes) > TEXT_BYTES_MAX {
            let all: Vec<Option<u32>>;
            let builds = match builds {
                Some(builds) => builds,
                None => {
                    all = (0..probes.len() as u32).map(Some).collect();
                    &all
                }
            };
            let middle = probes.len() / 2;
            self.pass_on(batch, &probes[..middle], (found, Some(&builds[..middle])), next)?;
            return self.pass_on(batch, &probes[middle..], (found, Some(&builds[middle..])), next);
        }
        let probe: Vec<Arc<Vector>> =
            shape.probe_out.iter().map(|column| pick(&batch.columns[*column], probes, batch.rows)).collect();
        let has_gaps = shape.probe.is_some();
        let build = shape.build_out.iter().map(|of| match (of.same, builds) {
            // A key of the batch equals the key of the row that was found.
            (Some(same), _) if !has_gaps => match shape.probe_out.binary_search(&same) {
                Ok(place) => probe[place].clone(),
                Err(_) => pick(&batch.columns[same], probes, batch.rows),
            },
            (_, None) => self.column(of.place, found),
            (_, Some(_)) if found.keys.is_empty() => nulls(&[of.kind], probes.len()).remove(0),
            (_, Some(builds)) => Arc::new(with_gaps(&self.column(of.place, found), builds)),
        });
        let build: Vec<Arc<Vector>> = build.collect();
        let columns = if shape.build_first { [build, probe].concat() } else { [probe, build].concat() };
        next(Batch { columns, rows: probes.len() })
    }
}

/// Returns rows of a column, and nulls where there is no row. The column has a row at least.
fn with_gaps(column: &Vector, rows: &[Option<u32>]) -> Vector {
    let data = match &column.data {
        // The text of another row in each gap could be any number of bytes.
        Data::Bytes(texts) => {
            Data::Bytes(rows.iter().map(|row| row.map_or(&[][..], |row| texts.get(row as usize))).collect())
        }
        other => other.select(&rows.iter().map(|row| row.unwrap_or(0)).collect::<Vec<_>>()),
    };
    let is_null = |row: &Option<u32>| row.is_none_or(|row| column.is_null(row as usize));
    Vector { data, nulls: Some(rows.iter().map(is_null).collect()) }
}

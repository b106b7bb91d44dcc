//! Stages of rows that are done: numbers of inputs in the order in which the executor takes them, and tables by their
//! places in a task's directory.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use yunti_base::Result;
use yunti_sql_plan::wire::{Fragment, Reduction, Route, Stage};
use yunti_sql_plan::{Expression, Node, Operation, TablePlace};

use super::rows::{Part, Reduced, Spread, moved, renumber};
use super::tables::files_of;
use super::{Cutter, Drive, Job};

impl Cutter<'_> {
    /// Adds the stage of rows that reduce tasks have. Returns its number.
    pub fn stage(&mut self, reduced: Reduced) -> Result<usize> {
        let Reduced { mut plan, mut sends, spread } = reduced;
        if sends.is_empty() {
            // Nothing comes from fragments: one task makes the rows.
            self.map_stage(vec![Part { plan, input: super::rows::no_input(), drive: Drive::Once }])?;
            return Ok(self.jobs.len() - 1);
        }
        let order = order(&plan);
        let new = |old: u32| order.iter().position(|&one| one == old).unwrap_or(old as usize) as u32;
        renumber(&mut plan, &new);
        let mut numbered: Vec<_> = sends.drain(..).enumerate().map(|(old, send)| (new(old as u32), send)).collect();
        numbered.sort_by_key(|(number, _)| *number);
        let types = |parts: &[Part]| parts.first().map(|part| part.plan.types()).unwrap_or_default();
        let inputs = numbered.iter().map(|(_, (parts, _))| types(parts)).collect();
        let mut parts = Vec::new();
        for (input, (own, keys)) in numbered {
            let keys = if spread == Spread::One { Vec::new() } else { keys };
            parts.extend(own.into_iter().map(|part| (part, Some(Route { input, keys: keys.clone() }))));
        }
        let reduces = if spread == Spread::One { 1 } else { self.reduces };
        self.add(parts, Some(Reduction { plan, inputs }), reduces)
    }

    /// Adds a stage of map tasks alone.
    pub fn map_stage(&mut self, parts: Vec<Part>) -> Result<()> {
        self.add(parts.into_iter().map(|part| (part, None)).collect(), None, 0).map(drop)
    }

    fn add(&mut self, parts: Vec<(Part, Option<Route>)>, reduction: Option<Reduction>, reduces: u32) -> Result<usize> {
        let mut tables = Tables::default();
        let (mut fragments, mut drives) = (Vec::new(), Vec::new());
        for (number, (part, route)) in parts.into_iter().enumerate() {
            let Part { mut plan, input, drive } = part;
            if let Drive::Stage(before) = drive {
                self.jobs[before].stage.tag = number as u32;
            }
            tables.place(&mut plan)?;
            fragments.push(Fragment { input, plan, route });
            drives.push(drive);
        }
        let reduction = match reduction {
            Some(mut of) => {
                tables.place(&mut of.plan)?;
                Some(of)
            }
            None => None,
        };
        let shipped = tables.0.into_iter().collect();
        self.jobs.push(Job { stage: Stage { tag: 0, fragments, reduction }, drives, reduces, shipped });
        Ok(self.jobs.len() - 1)
    }
}

/// Names of files in a task's directory, by their paths.
#[derive(Default)]
struct Tables(BTreeMap<PathBuf, String>);

impl Tables {
    /// Replaces the places of a plan's tables by names in the task's directory.
    fn place(&mut self, plan: &mut Node) -> Result<()> {
        if let Node::Scan(scan) = plan
            && !matches!(scan.table.source.place(), Some(TablePlace::Input(_)))
        {
            let (format, paths) = files_of(&scan.table)?;
            let paths = paths.into_iter().map(|path| {
                let next = format!("yunti-table-{}", self.0.len());
                PathBuf::from(&*self.0.entry(path).or_insert(next))
            });
            let place = TablePlace::Files { format, paths: paths.collect() };
            scan.table = moved(&scan.table, place);
        }
        plan.expressions_mut().into_iter().try_for_each(|of| self.place_in(of))?;
        plan.inputs_mut().into_iter().try_for_each(|input| self.place(input))
    }

    fn place_in(&mut self, of: &mut Expression) -> Result<()> {
        if let Operation::Scalar(plan) = &mut of.operation {
            let any: &dyn Any = &**plan;
            if let Some(own) = any.downcast_ref::<Node>() {
                let mut own = own.clone();
                self.place(&mut own)?;
                *plan = Arc::new(own);
            }
        }
        of.children_mut().into_iter().try_for_each(|child| self.place_in(child))
    }
}

/// Returns the inputs of a plan in the order in which the executor takes their rows: an operator that needs all rows
/// of an input takes them when its pipeline is made, and others when it runs.
fn order(plan: &Node) -> Vec<u32> {
    fn walk(plan: &Node, now: &mut Vec<u32>) -> Vec<u32> {
        match plan {
            Node::Scan(scan) => match scan.table.source.place() {
                Some(TablePlace::Input(number)) => vec![number],
                _ => Vec::new(),
            },
            // The bytes of a plan have no recursive query.
            Node::Values { .. } | Node::Recursive(_) | Node::Work { .. } => Vec::new(),
            Node::Filter { input, .. } | Node::Project { input, .. } => walk(input, now),
            Node::Aggregate { input, .. } | Node::Sort { input, .. } | Node::Limit { input, .. } => {
                let then = walk(input, now);
                now.extend(then);
                Vec::new()
            }
            Node::Window(window) => {
                let then = walk(&window.input, now);
                now.extend(then);
                Vec::new()
            }
            Node::Join(join) => {
                let (build, probe) =
                    if join.build_left { (&join.left, &join.right) } else { (&join.right, &join.left) };
                let then = walk(build, now);
                now.extend(then);
                walk(probe, now)
            }
            Node::Union { inputs } => inputs.iter().flat_map(|input| walk(input, now)).collect(),
        }
    }
    let mut now = Vec::new();
    let then = walk(plan, &mut now);
    now.extend(then);
    now
}

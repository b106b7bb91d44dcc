//! Scans of tables: which table is small, and what a fragment reads of one.

use std::any::Any;
use std::path::PathBuf;

use yunti_base::{Code, Error, Result};
use yunti_engine::format::file_formats;
use yunti_sql_execute::operators::scan::bounds;
use yunti_sql_execute::operators::shared;
use yunti_sql_plan::wire::Input;
use yunti_sql_plan::{Expression, Node, Operation, Scan, Table, TablePlace, lookup};

use super::rows::{self, Part, Rows, placed};
use super::{Cutter, Drive};

/// Returns the format and the files of a table. Errors: `Usage` for a table that tasks cannot read.
pub fn files_of(table: &Table) -> Result<(String, Vec<PathBuf>)> {
    match table.source.place() {
        Some(TablePlace::Files { format, paths }) => Ok((format, paths)),
        _ => Err(Error::new(Code::Usage, format!("tasks of a cluster cannot read the table {}", table.name))
            .hint("they read files of Parquet, ORC, Avro, Arrow, CSV, JSON lines, and shared tables")),
    }
}

/// Returns the fragment of a scan.
pub fn part_of(scan: &Scan) -> Result<Part> {
    let (format, paths) = files_of(&scan.table)?;
    let mut read = scan.columns.clone();
    scan.conditions.iter().for_each(|condition| {
        condition.visit_columns(&mut |column| {
            if !read.contains(&column) {
                read.push(column);
            }
        });
    });
    let all = scan.table.fields.clone();
    let condition = scan.table.source.condition(&bounds::of(&scan.conditions));
    let fields: Vec<_> = read.iter().map(|&column| scan.table.fields[column].clone()).collect();
    let table = placed(scan.table.name.clone(), fields.clone(), scan.table.statistics.rows, TablePlace::Input(0));
    let mut conditions = scan.conditions.clone();
    let place = |column: usize| read.iter().position(|&read| read == column).unwrap_or(0);
    conditions.iter_mut().for_each(|condition| condition.renumber(&place));
    let scan = Scan { table, columns: (0..scan.columns.len()).collect(), conditions, limit: scan.limit };
    let file_fields = if file_formats::named(&format).is_some() { Vec::new() } else { all };
    let input = Input { fields, format, condition, file_fields };
    Ok(Part { plan: Node::Scan(scan), input, drive: Drive::Files(paths) })
}

/// Calls `f` with each scan of a plan, also of plans within expressions.
pub fn each_scan(plan: &Node, f: &mut dyn FnMut(&Scan) -> Result<()>) -> Result<()> {
    fn within(of: &Expression, f: &mut dyn FnMut(&Scan) -> Result<()>) -> Result<()> {
        if let Operation::Scalar(plan) = &of.operation {
            let plan: &dyn Any = &**plan;
            if let Some(plan) = plan.downcast_ref::<Node>() {
                each_scan(plan, f)?;
            }
        }
        of.children().into_iter().try_for_each(|child| within(child, f))
    }
    if let Node::Scan(scan) = plan {
        f(scan)?;
    }
    plan.expressions().into_iter().try_for_each(|of| within(of, f))?;
    plan.inputs().into_iter().try_for_each(|input| each_scan(input, f))
}

/// Parts of a shared table at most.
const PARTS_MAX: u64 = 64;

impl Cutter<'_> {
    /// Returns the rows of a table. Hadoop splits files; a shared table is in each node's cache, and tasks share its
    /// places. Its rows that have some keys are in any task.
    pub fn scan(&self, scan: &Scan) -> Result<Rows> {
        let (format, paths) = files_of(&scan.table)?;
        if shared::Part::of_format(&format).is_none() {
            return Ok(Rows::Split(vec![part_of(scan)?]));
        }
        if lookup::keys_of(scan).is_some() {
            return Ok(Rows::Everywhere(Node::Scan(scan.clone())));
        }
        let bytes = paths.iter().map(|path| (self.size)(path)).sum::<Result<u64>>()?;
        let count = bytes.div_ceil(self.part_bytes.max(1)).clamp(1, PARTS_MAX) as u32;
        let part = |number| {
            let place = TablePlace::Files { format: shared::Part { number, count }.format(), paths: paths.clone() };
            let table = &scan.table;
            let rows = table.statistics.rows.map(|rows| rows / u64::from(count));
            let table = placed(table.name.clone(), table.fields.clone(), rows, place);
            let plan = Node::Scan(Scan { table, ..scan.clone() });
            Part { plan, input: rows::no_input(), drive: Drive::Once }
        };
        Ok(Rows::Split((0..count).map(part).collect()))
    }

    /// Returns the stored bytes of the tables whose rows may move: a table that is looked up stays where it is.
    pub fn moving_bytes(&self, plan: &Node) -> Result<u64> {
        let looked_up = match plan {
            Node::Join(join) => lookup::of(join).map(|of| usize::from(!of.is_left)),
            _ => None,
        };
        let inputs = plan.inputs();
        if inputs.is_empty() {
            return self.bytes(plan);
        }
        let moving = inputs.into_iter().enumerate().filter(|(number, _)| Some(*number) != looked_up);
        moving.map(|(_, input)| self.moving_bytes(input)).sum()
    }

    /// Returns the stored bytes of the files of a plan's tables.
    pub fn bytes(&self, plan: &Node) -> Result<u64> {
        let mut bytes = 0u64;
        each_scan(plan, &mut |scan| {
            let (_, paths) = files_of(&scan.table)?;
            for path in paths {
                bytes = bytes.saturating_add((self.size)(&path)?);
            }
            Ok(())
        })?;
        Ok(bytes)
    }
}

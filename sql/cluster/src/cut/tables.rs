//! Scans of tables: which table is small, and what a fragment reads of one.

use std::any::Any;
use std::path::PathBuf;

use yunti_base::{Code, Error, Result};
use yunti_engine::format::file_formats;
use yunti_sql_execute::operators::scan::bounds;
use yunti_sql_plan::wire::Input;
use yunti_sql_plan::{Expression, Node, Operation, Scan, Table, TablePlace};

use super::rows::{Part, placed};
use super::{Cutter, Drive};

/// Returns the format and the files of a table. Errors: `Usage` for a table that tasks cannot read.
pub fn files_of(table: &Table) -> Result<(String, Vec<PathBuf>)> {
    match table.source.place() {
        Some(TablePlace::Files { format, paths }) => Ok((format, paths)),
        _ => Err(Error::new(Code::Usage, format!("tasks of a cluster cannot read the table {}", table.name))
            .hint("they read files of Parquet, ORC, Avro, Arrow, CSV and JSON lines")),
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

impl Cutter<'_> {
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

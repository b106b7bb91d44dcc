//! A plan as pipelines. An operator that must have all rows of an input before it gives one runs the pipeline of that
//! input; what it gives is the source of the next pipeline.

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::vector::Vector;
use yunti_sql_plan::{Batch, Node, kind_of};

use crate::context::Context;
use crate::output::Ordered;
use crate::pipeline::Pipeline;
use crate::rows::Batches;
use crate::steps::{Filter, Project};
use crate::{aggregate, join, scan, sort};

/// Runs a plan. Calls `out` with its rows, in order, from any thread.
pub fn run(plan: &Node, context: &Context, out: &mut (dyn FnMut(Batch) -> Result<()> + Send)) -> Result<()> {
    let (plan, window) = match plan {
        Node::Limit { input, skip, count } => (&**input, (*skip, *count)),
        plan => (plan, (0, None)),
    };
    pipeline(plan, context)?.run(&Ordered::new(out, window, context.threads), context)
}

/// Returns the pipeline that gives the rows of a plan; those below its breakers have run then.
pub fn pipeline(plan: &Node, context: &Context) -> Result<Pipeline> {
    Ok(match plan {
        Node::Scan(scan) => Pipeline::of(scan::source(scan, context)?),
        Node::Values { types, rows } => {
            let mut columns = Vec::new();
            for (n, data_type) in types.iter().enumerate() {
                let kind = kind_of(data_type).ok_or_else(|| not_native(&format!("values of {data_type}")))?;
                columns.push(values(rows.iter().map(|row| &row[n]), kind));
            }
            Pipeline::of(Batches::of([Batch::of(columns, rows.len())]))
        }
        Node::Filter { input, condition } => {
            let mut pipeline = pipeline(input, context)?;
            pipeline.push(std::sync::Arc::new(Filter(condition.clone())));
            pipeline
        }
        Node::Project { input, expressions } => {
            let mut pipeline = pipeline(input, context)?;
            pipeline.push(std::sync::Arc::new(Project(expressions.clone())));
            pipeline
        }
        Node::Aggregate { input, keys, sets, aggregates } => {
            aggregate::run(&pipeline(input, context)?, (keys, sets), aggregates, context)?
        }
        Node::Join(join) => {
            let (build, probe) = if join.build_left { (&join.left, &join.right) } else { (&join.right, &join.left) };
            join::run(&pipeline(build, context)?, join, || pipeline(probe, context), context)?
        }
        Node::Sort { input, keys, limit } => sort::run(&pipeline(input, context)?, keys, *limit, context)?,
        Node::Limit { .. } => {
            let mut rows = Vec::new();
            run(plan, context, &mut |batch| {
                rows.push(batch);
                Ok(())
            })?;
            Pipeline::of(Batches::of(rows))
        }
        Node::Union { inputs } => {
            let mut branches = Vec::new();
            for input in inputs {
                branches.extend(pipeline(input, context)?.branches);
            }
            Pipeline { branches }
        }
        Node::Window(_) => return Err(not_native("a window")),
    })
}

fn values<'v>(
    values: impl Iterator<Item = &'v yunti_engine::columns::vector::Value>,
    kind: yunti_engine::columns::kind::Kind,
) -> Vector {
    let mut builder = yunti_engine::columns::text::Builder::new(kind);
    values.for_each(|value| builder.push_value(value.clone()));
    builder.take()
}

/// Returns the error for something that this executor lacks.
pub fn not_native(what: &str) -> Error {
    Error::new(Code::Usage, format!("Yunti's own executor has no {what}"))
}

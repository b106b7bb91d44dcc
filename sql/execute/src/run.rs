//! A plan as pipelines. An operator that must have all rows of an input before it gives one runs the pipeline of that
//! input; what it gives is the source of the next pipeline.

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::text::Builder;
use yunti_engine::columns::vector::{Value, Vector};
use yunti_sql_plan::{Batch, Node, Operation, kind_of};

use crate::context::Context;
use crate::key_filter::{KeyFilter, reach};
use crate::missing::not_native;
use crate::pipeline::Pipeline;
use crate::pipeline::output::Ordered;
use crate::pipeline::rows::Batches;
use crate::pipeline::steps::{Filter, Project};
use crate::{aggregate, join, scalars, scan, sort};

/// Runs a plan. Calls `out` with its rows, in order, from any thread.
pub fn run(plan: &Node, context: &Context, out: &mut (dyn FnMut(Batch) -> Result<()> + Send)) -> Result<()> {
    let resolved;
    let plan = if scalars::is_needed(plan) {
        resolved = scalars::resolve(plan, &mut |plan| value(plan, context))?;
        &resolved
    } else {
        plan
    };
    let (plan, window) = match plan {
        Node::Limit { input, skip, count } => (&**input, (*skip, *count)),
        plan => (plan, (0, None)),
    };
    pipeline(plan, context)?.run(&Ordered::new(out, window, context.threads), context)
}

/// Returns the only value of the only row of a plan; null without a row. Errors: `Invalid` for two rows.
fn value(plan: &Node, context: &Context) -> Result<Value> {
    let (mut rows, mut value) = (0, Value::Null);
    run(plan, context, &mut |batch| {
        rows += batch.rows;
        if let (Some(column), true) = (batch.columns.first(), batch.rows > 0) {
            value = column.value(0);
        }
        match rows {
            0 | 1 => Ok(()),
            _ => Err(Error::new(Code::Invalid, "a subquery that is used as a value gives more than one row")
                .hint("add 'limit 1' to it, or an aggregate such as max")),
        }
    })?;
    Ok(value)
}

/// Returns the pipeline that gives the rows of a plan; those below its breakers have run then.
pub fn pipeline(plan: &Node, context: &Context) -> Result<Pipeline> {
    filtered(plan, context, &[])
}

/// Returns the pipeline that gives the rows of a plan, perhaps without rows outside the filters.
fn filtered(plan: &Node, context: &Context, filters: &[KeyFilter]) -> Result<Pipeline> {
    let below = |input: &Node, n: usize| filtered(input, context, &reach::below(plan, filters, n));
    Ok(match plan {
        Node::Scan(scan) => Pipeline::of(scan::source(scan, context, filters)?),
        Node::Values { types, rows } => {
            let mut columns = Vec::new();
            for (n, data_type) in types.iter().enumerate() {
                let kind = kind_of(data_type).ok_or_else(|| not_native(&format!("values of {data_type}")))?;
                columns.push(values(rows.iter().map(|row| &row[n]), kind));
            }
            Pipeline::of(Batches::of([Batch::of(columns, rows.len())]))
        }
        Node::Filter { input, condition } => {
            let mut pipeline = below(input, 0)?;
            pipeline.push(std::sync::Arc::new(Filter(condition.clone())));
            pipeline
        }
        Node::Project { input, expressions } => {
            let mut pipeline = below(input, 0)?;
            pipeline.push(std::sync::Arc::new(Project(expressions.clone())));
            pipeline
        }
        Node::Aggregate { input, keys, sets, aggregates } => {
            aggregate::run(&below(input, 0)?, (keys, sets), aggregates, context)?
        }
        Node::Join(join) => {
            let (build, probe) = if join.build_left { (&join.left, &join.right) } else { (&join.right, &join.left) };
            let (build_side, probe_side) = if join.build_left { (0, 1) } else { (1, 0) };
            let run_probe = |keys: &join::KeySets<'_>| {
                let mut filters = reach::below(plan, filters, probe_side);
                for (n, (left, right)) in join.keys.iter().enumerate() {
                    let key = if join.build_left { right } else { left };
                    if let Operation::Column(column) = key.operation
                        && reach::has_scan(probe, column)
                        && let Some(set) = keys(n)
                    {
                        filters.push(KeyFilter { column, set });
                    }
                }
                filtered(probe, context, &filters)
            };
            join::run(&below(build, build_side)?, join, run_probe, context)?
        }
        Node::Sort { input, keys, limit } => sort::run(&below(input, 0)?, keys, *limit, context)?,
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
            for (n, input) in inputs.iter().enumerate() {
                branches.extend(below(input, n)?.branches);
            }
            Pipeline { branches }
        }
        Node::Window(_) => return Err(not_native("a window")),
    })
}

fn values<'v>(values: impl Iterator<Item = &'v Value>, kind: Kind) -> Vector {
    let mut builder = Builder::new(kind);
    values.for_each(|value| builder.push_value(value.clone()));
    builder.take()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::DataType;
    use yunti_base::Cancel;
    use yunti_engine::env::Env;
    use yunti_engine::memory::Budget;
    use yunti_sql_plan::Expression;

    fn context() -> Context {
        Context { env: Env::real(), budget: Budget::new(64 << 20), threads: 2, cancel: Cancel::default() }
    }

    #[test]
    fn a_plan_becomes_its_value() {
        for (rows, expect) in [
            (vec![vec![Value::Int(7)]], Some(Value::Int(7))),
            (Vec::new(), Some(Value::Null)),
            (vec![vec![Value::Int(1)], vec![Value::Int(2)]], None),
        ] {
            let plan = Node::Values { types: vec![DataType::Int64], rows };
            let of = Expression::new(DataType::Int64, Operation::Scalar(std::sync::Arc::new(plan)));
            let one = Node::Values { types: Vec::new(), rows: vec![Vec::new()] };
            let plan = Node::Project { input: Box::new(one), expressions: vec![of] };
            assert!(scalars::is_needed(&plan));
            let mut out = Vec::new();
            let done = run(&plan, &context(), &mut |batch| {
                out.extend((0..batch.rows).map(|row| batch.columns[0].value(row)));
                Ok(())
            });
            assert_eq!((done.is_ok(), out), (expect.is_some(), expect.into_iter().collect()));
        }
    }
}

//! A plan as pipelines. An operator that must have all rows of an input before it gives one runs the pipeline of that
//! input; what it gives is the source of the next pipeline.

pub mod explain;
#[cfg(test)]
mod filter_tests;
mod once;
#[cfg(test)]
mod shared_tests;

use arrow_schema::DataType;
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::text::Builder;
use yunti_engine::columns::vector::{Value, Vector};
use yunti_sql_plan::{Aggregate, Batch, Expression, Join, JoinKind, Node, Operation, ValuePlan, kind_of, lookup};

use crate::compile::segment;
use crate::context::Context;
use crate::key_filter::{KeyFilter, reach};
use crate::missing::not_native;
use crate::operators::aggregate::clustered::Cluster;
use crate::operators::{aggregate, join, recursive, scalars, scan, sort, window};
use crate::pipeline::Pipeline;
use crate::pipeline::output::Ordered;
use crate::pipeline::rows::Batches;
use crate::pipeline::steps::{self, Stage};

/// Runs a plan. Calls `out` with its rows, in order, from any thread.
pub fn run(plan: &Node, context: &Context, out: &mut (dyn FnMut(Batch) -> Result<()> + Send)) -> Result<()> {
    match once::made_once(plan, context)? {
        Some(plan) => run_parts(&plan, context, out),
        None => run_parts(plan, context, out),
    }
}

/// Runs a plan, each part of it where it stands.
fn run_parts(plan: &Node, context: &Context, out: &mut (dyn FnMut(Batch) -> Result<()> + Send)) -> Result<()> {
    let context = &Context { any_order: false, ..context.clone() };
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
    run_parts(plan, context, &mut |batch| {
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
    filtered((plan, None), context, &[])
}

/// Returns the pipeline that gives the rows of a plan, perhaps without rows outside the filters: the columns `wanted`
/// of a join, or all.
fn filtered((plan, wanted): (&Node, Option<&[usize]>), context: &Context, filters: &[KeyFilter]) -> Result<Pipeline> {
    let Some(above) = &context.under else { return of_operator((plan, wanted), context, filters) };
    let under = above.add(plan.title());
    let below = Context { under: Some(under.clone()), ..context.clone() };
    let mut pipeline = of_operator((plan, wanted), &below, filters)?;
    steps::count(&mut pipeline, &under);
    Ok(pipeline)
}

fn of_operator(
    (plan, wanted): (&Node, Option<&[usize]>),
    context: &Context,
    filters: &[KeyFilter],
) -> Result<Pipeline> {
    let below = |input: &Node, n: usize| filtered((input, None), context, &reach::below(plan, filters, n));
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
            segment::push(&mut pipeline, &Stage::Filter(condition.clone()), &input.types(), context);
            pipeline
        }
        Node::Project { input, expressions } => {
            let mut expressions = expressions.clone();
            let filters = reach::below(plan, filters, 0);
            let (mut pipeline, types) = narrowed(input, expressions.iter_mut().collect(), context, &filters)?;
            segment::push(&mut pipeline, &Stage::Project(expressions), &types, context);
            pipeline
        }
        Node::Aggregate { input, keys: of_keys, sets, aggregates: of_input } => {
            let (mut keys, mut aggregates) = (of_keys.clone(), of_input.clone());
            let calls = aggregates.iter_mut().flat_map(Aggregate::expressions_mut);
            let used = keys.iter_mut().chain(calls).collect();
            // A function that is not ours may give another value if rows come in another order.
            let any_order = of_input.iter().all(|of| of.foreign.is_none());
            let below = Context { any_order, ..context.clone() };
            let (rows, types) = narrowed(input, used, &below, &reach::below(plan, filters, 0))?;
            let cluster = Cluster::of(of_keys, input, &rows, context)?;
            aggregate::run((&rows, &types), cluster, (&keys, sets), &aggregates, context)?
        }
        Node::Join(join) => joined((join, wanted), context, filters)?,
        Node::Sort { input, keys, limit } => {
            let of_input = Context { any_order: true, ..context.clone() };
            let rows = filtered((input, None), &of_input, &reach::below(plan, filters, 0))?;
            sort::run(&rows, keys, *limit, context)?
        }
        Node::Limit { .. } => {
            let mut rows = Vec::new();
            run_parts(plan, context, &mut |batch| {
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
        Node::Recursive(recursive) => recursive::run(recursive, context, &run_parts)?,
        Node::Work { name, .. } => {
            return Err(Error::new(
                Code::Internal,
                format!("rows of the recursive query {name} are needed outside of it"),
            ));
        }
        Node::Window(window) => {
            let ordered = Context { any_order: false, ..context.clone() };
            let rows = |input: &Node| filtered((input, None), &ordered, &reach::below(plan, filters, 0));
            window::run(window, rows, &ordered)?
        }
    })
}

/// Returns the pipeline of an input, and the types of its columns. `used` has all expressions over it: a
/// join gives only the columns that they need, and they are numbered anew.
fn narrowed(
    input: &Node,
    mut used: Vec<&mut Expression>,
    context: &Context,
    filters: &[KeyFilter],
) -> Result<(Pipeline, Vec<DataType>)> {
    let types = input.types();
    if !matches!(input, Node::Join(join) if join.kind != JoinKind::LeftMark) {
        return Ok((filtered((input, None), context, filters)?, types));
    }
    let mut wanted = Vec::new();
    used.iter().for_each(|of| of.visit_columns(&mut |column| wanted.push(column)));
    wanted.sort_unstable();
    wanted.dedup();
    let place = |column: usize| wanted.binary_search(&column).unwrap_or(column);
    used.iter_mut().for_each(|of| of.renumber(&place));
    let types = wanted.iter().filter_map(|&column| types.get(column).cloned()).collect();
    Ok((filtered((input, Some(&wanted)), context, filters)?, types))
}

/// Returns the pipeline of a join, with the columns `wanted` or all.
fn joined((join, wanted): (&Join, Option<&[usize]>), context: &Context, filters: &[KeyFilter]) -> Result<Pipeline> {
    let sides = [&*join.left, &*join.right];
    if let Some(of) = lookup::of(join) {
        let probe = usize::from(of.is_left);
        let mut rows = filtered((sides[probe], None), context, &reach::below_join(join, filters, probe))?;
        join::look_up(&mut rows, (&of, wanted), context)?;
        return Ok(rows);
    }
    let (build, probe) = if join.build_left { (0, 1) } else { (1, 0) };
    let run_probe = |keys: &join::KeySets<'_>| {
        let mut filters = reach::below_join(join, filters, probe);
        for (n, (left, right)) in join.keys.iter().enumerate() {
            let key = if join.build_left { right } else { left };
            if let Operation::Column(column) = key.operation
                && reach::has_scan(sides[probe], column)
                && let Some(set) = keys(n)
            {
                filters.push(KeyFilter { column, set });
            }
        }
        filtered((sides[probe], None), context, &filters)
    };
    let rows = filtered((sides[build], None), context, &reach::below_join(join, filters, build))?;
    join::run(&rows, (join, wanted), run_probe, context)
}

fn values<'v>(values: impl Iterator<Item = &'v Value>, kind: Kind) -> Vector {
    let mut builder = Builder::new(kind);
    values.for_each(|value| builder.push_value(value.clone()));
    builder.take()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::DataType::{Boolean, Int64};
    use yunti_base::Cancel;
    use yunti_engine::env::Env;
    use yunti_engine::memory::Budget;
    use yunti_sql_plan::{Arithmetic, Comparison, Recursive};

    fn context() -> Context {
        Context::new(Env::real(), Budget::new(64 << 20), 2, Cancel::default())
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

    fn int(value: i64) -> Expression {
        Expression::new(Int64, Operation::Literal(Value::Int(value)))
    }

    /// Returns a recursive plan: `values (1), (5)`, then `(n + 1) % modulus` where that is less than `below`.
    fn plan(below: i64, modulus: i64, distinct: bool, limit: Option<usize>) -> Node {
        let seed = Node::Values { types: vec![Int64], rows: vec![vec![Value::Int(1)], vec![Value::Int(5)]] };
        let arithmetic = |how, a, b| Expression::new(Int64, Operation::Arithmetic(how, Box::new([a, b])));
        let next = arithmetic(Arithmetic::Add, Expression::column(0, Int64), int(1));
        let next = arithmetic(Arithmetic::Remainder, next, int(modulus));
        let work = Box::new(Node::Work { name: "t".into(), types: vec![Int64] });
        let project = Node::Project { input: work, expressions: vec![next] };
        let compare = Operation::Compare(Comparison::Less, Box::new([Expression::column(0, Int64), int(below)]));
        let step = Node::Filter { input: Box::new(project), condition: Expression::new(Boolean, compare) };
        let name = "t".into();
        Node::Recursive(Recursive { name, seed: Box::new(seed), step: Box::new(step), distinct, limit })
    }

    fn values(plan: &Node, threads: usize, bytes: u64) -> Result<Vec<i64>> {
        let mut all = Vec::new();
        let context = Context { budget: Budget::new(bytes), threads, ..context() };
        run(plan, &context, &mut |batch| {
            all.extend((0..batch.rows).map(|row| match batch.columns[0].value(row) {
                Value::Int(value) => value,
                other => panic!("{other:?}"),
            }));
            Ok(())
        })?;
        assert_eq!(context.budget.used_bytes(), 0, "memory is given back");
        Ok(all)
    }

    #[test]
    fn rows_come_round_by_round() {
        for threads in 1..3 {
            let values = |plan: &Node| values(plan, threads, 1 << 20).unwrap();
            assert_eq!(values(&plan(8, 100, false, None)), [1, 5, 2, 6, 3, 7, 4, 5, 6, 7]);
            assert_eq!(values(&plan(8, 100, true, None)), [1, 5, 2, 6, 3, 7, 4]);
            assert_eq!(values(&plan(0, 100, false, None)), [1, 5]);
            assert_eq!(values(&plan(7, 4, true, None)), [1, 5, 2, 3, 0]);
        }
    }

    #[test]
    fn a_query_without_an_end_stops_at_a_limit_or_the_budget() {
        let endless = plan(7, 4, false, Some(9));
        assert!(values(&endless, 2, 1 << 20).unwrap().len() >= 9);
        let limited = Node::Limit { input: Box::new(endless), skip: 1, count: Some(5) };
        assert_eq!(values(&limited, 2, 1 << 20).unwrap(), [5, 2, 2, 3, 3]);
        let error = values(&plan(7, 4, false, None), 1, 64 << 10).unwrap_err();
        assert_eq!(error.code(), Code::Memory);
        assert!(error.to_string().contains("recursive query"), "{error}");
        let error = values(&plan(1 << 40, 1 << 40, true, None), 1, 64 << 10).unwrap_err();
        assert_eq!(error.code(), Code::Memory);
    }
}

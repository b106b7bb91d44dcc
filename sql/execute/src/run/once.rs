//! Rows that a plan needs in several places, such as the rows of a view that it names twice: made once, and kept in
//! memory.
//!
//! ```text
//!   join                                        join
//!     filter #1 = value of (max of               filter #1 = value of (max of scan R)
//!                aggregate by #0 ..)      --->      scan R
//!       aggregate by #0 ..
//! ```
//!
//! Only aggregates, whose rows are fewer than those they come from, and only if all rows of one fit in a part of the
//! memory: otherwise each place makes them itself. Equal plans are those with equal bytes (`yunti_sql_plan::wire`); a
//! plan with a function of the user's, or over a table that has no place, has none, so that a function that gives
//! another value with each call is called for each place.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_sql_plan::wire::{Writer, put_node};
use yunti_sql_plan::{Expression, Node, Operation, Scan, Table};

use crate::context::Context;
use crate::operators::scalars::change_plans;
use crate::store::held::Held;

/// Parts of the free memory, of which all such rows may have one.
const SHARE: u64 = 4;

/// How often each plan stands in another, by its bytes.
type Counts = HashMap<Vec<u8>, usize>;
/// Rows of plans; None if they did not fit.
type Made = HashMap<Vec<u8>, Option<Arc<Table>>>;

/// Returns the plan with tables in the places of parts that it has more than once, and runs these parts; None if it has
/// none.
pub fn made_once(plan: &Node, context: &Context) -> Result<Option<Node>> {
    let mut counts = Counts::new();
    if !count(plan, &mut counts) {
        return Ok(None);
    }
    let mut plan = plan.clone();
    replace(&mut plan, &counts, &mut Made::new(), context)?;
    Ok(Some(plan))
}

/// Returns the bytes of a part that may be made once.
fn key_of(plan: &Node) -> Option<Vec<u8>> {
    if !matches!(plan, Node::Aggregate { .. }) {
        return None;
    }
    let mut bytes = Writer::default();
    put_node(plan, &mut bytes).ok()?;
    Some(bytes.0)
}

/// Counts the parts of a plan. Returns true if there is one that it has twice.
fn count(plan: &Node, counts: &mut Counts) -> bool {
    let mut has_twice = false;
    if let Some(key) = key_of(plan) {
        let times = counts.entry(key).or_insert(0);
        *times += 1;
        has_twice = *times > 1;
    }
    for of in plan.expressions() {
        has_twice |= count_within(of, counts);
    }
    // The rows of a step of a recursive plan differ from round to round: `inputs` has no step.
    plan.inputs().into_iter().fold(has_twice, |so_far, input| count(input, counts) | so_far)
}

fn count_within(of: &Expression, counts: &mut Counts) -> bool {
    let own = match &of.operation {
        Operation::Scalar(plan) => {
            let plan: &dyn Any = &**plan;
            plan.downcast_ref::<Node>().is_some_and(|plan| count(plan, counts))
        }
        _ => false,
    };
    of.children().into_iter().fold(own, |so_far, child| count_within(child, counts) | so_far)
}

fn replace(plan: &mut Node, counts: &Counts, made: &mut Made, context: &Context) -> Result<()> {
    if let Some(key) = key_of(plan).filter(|key| counts.get(key).is_some_and(|times| *times > 1)) {
        if !made.contains_key(&key) {
            let mut own = plan.clone();
            inputs_of(&mut own, counts, made, context)?;
            made.insert(key.clone(), rows_of(&own, context)?);
        }
        if let Some(Some(table)) = made.get(&key) {
            let columns = (0..table.fields.len()).collect();
            *plan = Node::Scan(Scan { table: table.clone(), columns, conditions: Vec::new(), limit: None });
            return Ok(());
        }
    }
    inputs_of(plan, counts, made, context)
}

fn inputs_of(plan: &mut Node, counts: &Counts, made: &mut Made, context: &Context) -> Result<()> {
    for of in plan.expressions_mut() {
        change_plans(of, &mut |plan| replace(plan, counts, made, context))?;
    }
    plan.inputs_mut().into_iter().try_for_each(|input| replace(input, counts, made, context))
}

/// Returns the rows of a plan as a table; None if they do not fit.
fn rows_of(plan: &Node, context: &Context) -> Result<Option<Arc<Table>>> {
    let budget = context.budget.part(context.budget.free_bytes() / SHARE);
    let mut rows = Held::new(&budget);
    let mut is_full = false;
    let done = super::run_parts(plan, context, &mut |batch| {
        rows.push(batch).map_err(|_| {
            is_full = true;
            Error::new(Code::Memory, "the rows of a part of the query do not fit in memory")
        })
    });
    match done {
        Err(_) if is_full => Ok(None),
        Err(error) => Err(error),
        Ok(()) => Ok(Some(rows.into_table("rows made once", &plan.types()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::DataType::Int64;
    use yunti_base::Cancel;
    use yunti_engine::columns::vector::Value;
    use yunti_engine::env::Env;
    use yunti_engine::memory::Budget;
    use yunti_sql_plan::{Aggregate, Batch};

    /// Numbers of one aggregate, in all of a union of it with itself, below its count as a value.
    fn plan(groups: i64) -> Node {
        let rows = (0..3 * groups).map(|n| vec![Value::Int(n % groups)]).collect();
        let input = Box::new(Node::Values { types: vec![Int64], rows });
        let keys = vec![Expression::column(0, Int64)];
        let aggregate = Node::Aggregate { input, keys, sets: Vec::new(), aggregates: vec![Aggregate::count(None)] };
        let count = Node::Aggregate {
            input: Box::new(aggregate.clone()),
            keys: Vec::new(),
            sets: Vec::new(),
            aggregates: vec![Aggregate::count(None)],
        };
        let value = Expression::new(Int64, Operation::Scalar(Arc::new(count)));
        let union = Node::Union { inputs: vec![aggregate.clone(), aggregate] };
        let columns = (0..2).map(|n| Expression::column(n, Int64));
        Node::Project { input: Box::new(union), expressions: columns.chain([value]).collect() }
    }

    fn rows(plan: &Node, bytes: u64) -> Vec<Vec<Value>> {
        let context = Context::new(Env::real(), Budget::new(bytes), 2, Cancel::default());
        let mut all = Vec::new();
        crate::run(plan, &context, &mut |batch: Batch| {
            all.extend((0..batch.rows).map(|row| batch.columns.iter().map(|of| of.value(row)).collect::<Vec<_>>()));
            Ok(())
        })
        .unwrap();
        assert_eq!(context.budget.used_bytes(), 0, "memory is given back");
        all.sort_by_key(|row| format!("{row:?}"));
        all
    }

    #[test]
    fn equal_parts_are_made_once() {
        let context = Context::new(Env::real(), Budget::new(64 << 20), 2, Cancel::default());
        let once = made_once(&plan(50), &context).unwrap().unwrap();
        let shown = format!("{once:?}");
        assert_eq!(shown.matches("rows made once").count(), 3, "{shown}");
        let Node::Project { input, .. } = plan(50) else { panic!("no project") };
        let Node::Union { inputs } = *input else { panic!("no union") };
        assert!(made_once(&inputs[0], &context).unwrap().is_none());
    }

    #[test]
    fn rows_are_the_same_with_any_memory() {
        let groups = 20_000;
        let all = rows(&plan(groups), 64 << 20);
        assert_eq!(all.len() as i64, 2 * groups);
        assert!(all.iter().all(|row| row[1..] == [Value::Int(3), Value::Int(groups)]));
        assert_eq!(all, rows(&plan(groups), 1 << 20), "they do not fit in a quarter of 1 MiB");
    }
}

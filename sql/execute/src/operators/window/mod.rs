//! Windows: values computed from the rows around each row.
//!
//! ```text
//!   rows --> sort by partition, then order --> rows of whole partitions --> frames --> values of each call
//!            sort/, with its runs in files     step.rs, segment.rs          frames.rs  call.rs
//!
//!   plan.rs      keys, arguments and calls made ready      values/      values of each function
//!   changes.rs   where partitions and peers begin          stream.rs    partitions larger than memory
//!   ranges.rs    ends of frames by value                   carry.rs     what rows leave to later ones
//!   kept.rs      rows of a window without partitions
//! ```
//!
//! Each function takes a time that grows with the rows alone, whatever the size of its frames.
//!
//! With partitions, a morsel of the sorted rows has whole partitions, and workers compute them at once. Without, all
//! workers sort the rows and one computes them. A window without keys takes rows in the order of its input, where that
//! does not depend on memory.
//!
//! A partition larger than memory is computed in segments, if all calls allow it (`stream.rs`); else it is an error.

mod call;
mod carry;
mod changes;
mod frames;
mod kept;
mod plan;
mod ranges;
mod segment;
mod step;
mod stream;
#[cfg(test)]
mod tests;
mod values;

use std::sync::Arc;

use yunti_base::Result;
use yunti_sql_plan::{Expression, Node, Operation, SortKey, Window};

use self::kept::Keep;
use self::plan::Plan;
use self::step::{Compute, Local};
use crate::compile::segment as stages;
use crate::context::Context;
use crate::operators::aggregate::calls::are_same;
use crate::operators::sort;
use crate::pipeline::output::Ordered;
use crate::pipeline::steps::Stage;
use crate::pipeline::{LocalStep, Pipeline};
use crate::spill::Spill;
use crate::store::kinds_of;

/// Returns the rows of a window as a pipeline; `input` returns the pipeline of its input.
///
/// Errors: those of the input; `Usage` for what this executor lacks; `UserCode` for a result that its type does not
/// hold; `Memory` for a partition that does not fit; `Output` and `Corrupt` from spilling.
pub fn run(window: &Window, input: impl FnOnce(&Node) -> Result<Pipeline>, context: &Context) -> Result<Pipeline> {
    let plan = Arc::new(Plan::new(window)?);
    let mut pipeline = input(&window.input)?;
    if !is_sorted(&plan, &window.input)? {
        if !plan.computed.is_empty() {
            let types = window.input.types();
            let columns = types.iter().enumerate().map(|(n, of)| Expression::column(n, of.clone()));
            let all = Stage::Project(columns.chain(plan.computed.iter().cloned()).collect());
            stages::push(&mut pipeline, &all, &types, context);
        }
        if !plan.keys.is_empty() || !plan.is_unordered() && !has_order(&window.input) {
            pipeline = sort::run(&pipeline, &plan.keys, None, context)?;
        }
    }
    if !plan.partition.is_empty() {
        pipeline.push(Arc::new(Compute { plan, context: context.clone() }));
        return Ok(pipeline);
    }
    let kinds = kinds_of(&Node::Window(window.clone()).types())?;
    let budget = context.budget.part(context.budget.free_bytes() / 2);
    let mut kept = Keep::new(budget, Spill::new(&context.env), kinds);
    let mut step = Local::new(plan, context.clone())?;
    let mut keep = |batch| kept.push(batch);
    pipeline.run(&Ordered::new(&mut |batch| step.push(batch, &mut keep), (0, None), context.threads), context)?;
    drop(pipeline);
    step.flush(0, &mut keep)?;
    drop(step);
    Ok(Pipeline::of(kept.into_source()))
}

/// Returns true if the rows of the input are another window's, whose order serves this one too: partitions are rows
/// that follow each other within a morsel, in this order.
fn is_sorted(plan: &Plan, input: &Node) -> Result<bool> {
    Ok(match input {
        Node::Window(below) => order_of(below)?.is_some_and(|keys| serves(plan, &keys)),
        _ => false,
    })
}

/// Returns the order of the rows that a window gives, as far as it is of columns; None if a morsel does not have whole
/// partitions. It is the order of a window below, if that serves it.
fn order_of(window: &Window) -> Result<Option<Vec<SortKey>>> {
    let plan = Plan::new(window)?;
    if plan.partition.is_empty() {
        return Ok(None);
    }
    if let Node::Window(below) = &*window.input
        && let Some(keys) = order_of(below)?
        && serves(&plan, &keys)
    {
        return Ok(Some(keys));
    }
    let is_column = |key: &SortKey| matches!(key.value.operation, Operation::Column(n) if n < plan.width);
    Ok(Some(plan.keys.iter().take_while(|key| is_column(key)).cloned().collect()))
}

/// Returns true if rows in the order of keys are in the order of a window.
fn serves(plan: &Plan, keys: &[SortKey]) -> bool {
    let parts = plan.partition.len();
    if parts == 0 || !plan.computed.is_empty() || plan.keys.len() > keys.len() {
        return false;
    }
    let (first, rest) = keys[..plan.keys.len()].split_at(parts);
    let is_same = |(a, b): (&SortKey, &SortKey)| {
        are_same(&a.value, &b.value) && (a.descending, a.nulls_first) == (b.descending, b.nulls_first)
    };
    plan.partition.iter().all(|&place| first.iter().any(|key| is_place(&key.value, place)))
        && plan.keys[parts..].iter().zip(rest).all(is_same)
}

fn is_place(of: &Expression, place: usize) -> bool {
    matches!(of.operation, Operation::Column(n) if n == place)
}

/// Returns true if the order of a plan's rows depends neither on threads nor on memory.
fn has_order(plan: &Node) -> bool {
    !matches!(plan, Node::Join(_) | Node::Recursive(_)) && plan.inputs().into_iter().all(has_order)
}

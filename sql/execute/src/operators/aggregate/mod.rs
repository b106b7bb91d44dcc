//! Groups and their states.
//!
//! ```text
//!   rows --> worker 1: table in the cache --+--> partitions of the hash: a table each --> rows, by hash
//!        --> worker 2: ..                 --+        memory is short: to files, and back
//!
//!   keys.rs        values of keys as words          calls.rs        aggregates as states, results of states
//!   groups.rs      words --> number of the group    states/         states of each function
//!   table.rs       groups with their states         spill.rs        groups in files
//!   worker.rs      rows of one worker, the sink     partitions.rs   tables that all workers share
//!   shared.rs      few groups of all workers        output.rs       rows of the groups
//!   fused.rs       rows to sums of groups by code  clustered.rs   groups that one morsel has
//! ```
//!
//! Groups leave in the order of their hashes and, within one hash, of their keys. So neither their order nor a value
//! depends on threads, morsels or memory.
//!
//! Limitations: the different values of one group, for `count(distinct ..)`, must fit in memory. A query's rows of one
//! batch, and of up to 64 Ki rows on their way to partitions, are not counted by the budget.

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_sql_plan::{Aggregate, Expression};

use self::calls::Calls;
use self::clustered::Cluster;
use self::keys::{KeyEncoder, Layout};
use self::output::{AllPartitions, OneTable};
use self::partitions::{Partitions, Plan};
use self::shared::Shared;
use crate::context::Context;
use crate::pipeline::Pipeline;

pub(crate) mod calls;
pub mod clustered;
pub mod fused;
mod groups;
pub(crate) mod keys;
mod output;
mod partitions;
mod shared;
mod spill;
pub(crate) mod states;
mod table;
#[cfg(test)]
mod tests;
mod worker;

/// Runs the rows of a pipeline into groups. Returns the rows of `Node::Aggregate` as a pipeline.
///
/// Errors: those of the input; `Usage` for types that this executor lacks; `UserCode` for a result that its type does
/// not hold, also when rows are read; `Memory`, `Output` and `Corrupt` from spilling.
pub fn run(
    (input, input_types): (&Pipeline, &[DataType]),
    cluster: Option<Cluster>,
    (keys, sets): (&[Expression], &[Vec<usize>]),
    aggregates: &[Aggregate],
    context: &Context,
) -> Result<Pipeline> {
    let mut types: Vec<DataType> = keys.iter().map(|key| key.data_type.clone()).collect();
    if !sets.is_empty() {
        types.push(DataType::UInt32);
    }
    let layout = Arc::new(Layout::new(&types)?);
    let plan = Arc::new(Plan { layout: layout.clone(), calls: Calls::new(aggregates)?, key_columns: types.len() });
    let cluster = cluster.filter(|_| sets.is_empty()).and_then(|of| Some((layout.number_at(of.key)?, of)));
    let taken = match sets {
        [] if cluster.is_none() => fused::take(input, input_types, keys, &plan.calls, context),
        _ => None,
    };
    let (fused_input, fused) = taken.unzip();
    let input = fused_input.as_ref().unwrap_or(input);
    let shared = Shared::new(Partitions::new(&plan, context)?, keys, sets, fused)?;
    if let Some((at, cluster)) = cluster {
        return Ok(clustered::run(input, shared, (cluster, at)));
    }
    input.run(&shared, context)?;
    // The only group of no keys is there without a row.
    if keys.is_empty() && sets.is_empty() {
        shared.add_key(KeyEncoder::new(&layout).encode(&[], 1)?)?;
    }
    for (number, _) in sets.iter().enumerate().filter(|(_, set)| set.is_empty()) {
        let set = Arc::new(yunti_engine::columns::vector::Vector::of(yunti_engine::columns::vector::Data::Ints(vec![
            number as i64,
        ])));
        let columns: Vec<_> = keys.iter().map(|_| None).chain([Some(set)]).collect();
        shared.add_key(KeyEncoder::new(&layout).encode(&columns, 1)?)?;
    }
    let (partitions, small) = shared.finish()?;
    Ok(Pipeline::of(match small {
        Some(table) => Arc::new(OneTable::new(plan, table)),
        None => Arc::new(AllPartitions::new(partitions)),
    }))
}

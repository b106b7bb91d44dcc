//! The map phase: splits through mappers into each worker's collector or fold table.

use std::sync::Arc;

use super::running::Running;
use crate::base::Result;
use crate::collect::partition::Partition;
use crate::job::plan::Plan;
use crate::map::identity::Identity;
use crate::operator::{Flags, Mapper, TaskContext};
use crate::read::ReadSetup;

/// Hadoop's group of the counters of tasks.
pub const TASK_COUNTERS: &str = "org.apache.hadoop.mapreduce.TaskCounter";

pub fn read_setup(running: &Running<'_>) -> ReadSetup {
    ReadSetup {
        files: running.env.files.clone(),
        budget: running.budget.clone(),
        inputs: running.plan.files.clone(),
        format: running.plan.format.clone(),
        spans: running.plan.mapper.as_ref().is_some_and(|m| m.info().flags.wants_span),
        read_bytes: running.sizing.read_bytes,
    }
}

pub fn make_mapper(plan: &Plan, context: &Arc<TaskContext>) -> Result<(Box<dyn Mapper>, Flags)> {
    match &plan.mapper {
        Some(class) => Ok((class.mapper(context)?, class.info().flags)),
        None => Ok((Box::new(Identity), Flags::default())),
    }
}

/// The partitioner of one task.
pub fn make_partition(
    running: &Running<'_>,
    context: &Arc<TaskContext>,
    bounds: &Arc<Vec<Vec<u8>>>,
) -> Result<Partition> {
    use crate::job::spec::Partitioning;
    let plan = running.plan;
    if plan.partitions == 1 {
        return Ok(Partition::One);
    }
    Ok(match (&running.spec.partitioning, &plan.partitioner) {
        (_, Some(class)) => Partition::Class {
            parts: plan.partitions,
            class: class.partitioner(context)?,
            name: class.info().name.clone(),
            chosen: Vec::new(),
        },
        (Partitioning::TotalOrder, _) => Partition::ranges(bounds.clone(), plan.order, plan.partitions),
        _ => Partition::Hash { parts: plan.partitions, key_type: plan.map_types.0 },
    })
}

//! Keys of a sort that the planner drops because keys before them determine them. It takes a key of one side of a join
//! for one that determines the other side too, so that `order by .. limit` gave other rows. Here its rule for keys that
//! stand twice is applied to groups alone: an equal key of a sort costs a comparison of rows that are equal in it.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

/// The rule of the planner.
pub const OF_PLANNER: &str = "eliminate_duplicated_expr";

/// The same rule, which leaves sorts as they are.
#[derive(Debug)]
pub struct OfGroups(pub Arc<dyn OptimizerRule + Send + Sync>);

impl OptimizerRule for OfGroups {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Sort(_) => Ok(Transformed::no(plan)),
            plan => self.0.rewrite(plan, config),
        }
    }
}

//! Plans of the general executor, without what its optimizer gets wrong:
//!
//! * It moves conditions into joins and scans by the names of columns: `a.n + b.id is null` over `a join b` became a
//!   condition of `a` with the `id` of `a`. It skips row groups by statistics, which know no NaN.
//! * A column that has one value in each input of a union counts as sorted. The first rows in order were those of the
//!   other columns, and some plans failed its own check.

use std::fmt;
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};

/// Returns the rules of the physical optimizer.
pub fn rules() -> Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> {
    let kept = PhysicalOptimizer::new().rules.into_iter().filter(|rule| !rule.name().starts_with("FilterPushdown"));
    let own: Arc<dyn PhysicalOptimizerRule + Send + Sync> = Arc::new(PlainUnions);
    std::iter::once(own).chain(kept).collect()
}

/// The rule: nothing is known of the rows of a union.
#[derive(Debug)]
struct PlainUnions;

impl PhysicalOptimizerRule for PlainUnions {
    fn name(&self) -> &str {
        "PlainUnions"
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| match plan.downcast_ref::<UnionExec>() {
            Some(_) => Ok(Transformed::yes(Arc::new(Plain::new(plan)) as Arc<dyn ExecutionPlan>)),
            None => Ok(Transformed::no(plan)),
        })
        .map(|changed| changed.data)
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The rows of its input, of which nothing is known but their partitions.
#[derive(Debug)]
struct Plain {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl Plain {
    fn new(input: Arc<dyn ExecutionPlan>) -> Plain {
        let mut properties = PlanProperties::clone(input.properties());
        properties.set_eq_properties(EquivalenceProperties::new(input.schema()));
        Plain { input, properties: Arc::new(properties) }
    }
}

impl DisplayAs for Plain {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Plain")
    }
}

impl ExecutionPlan for Plain {
    fn name(&self) -> &str {
        "Plain"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(Plain::new(children.swap_remove(0))))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }

    fn supports_limit_pushdown(&self) -> bool {
        true
    }
}

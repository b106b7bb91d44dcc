//! Rules over the logical plan of a statement, before the planner's own: what it plans wrongly or refuses.
//!
//! ```text
//!   values.rs           subqueries as values, and which of them the planner keeps
//!   dependent.rs        a subquery for all values of the columns around it, as a plan of its own
//!   set_operations.rs   intersect all, except all
//!   null_keys.rs        joins of keys that may be null and of keys that may not
//!   sort_keys.rs        keys of a sort behind a join
//! ```

mod dependent;
mod null_keys;
mod set_operations;
mod sort_keys;
mod values;

use std::cell::Cell;
use std::sync::Arc;

use datafusion::common::Column;
use datafusion::common::tree_node::TreeNode;
use datafusion::logical_expr::LogicalPlan;
use datafusion::optimizer::{Analyzer, AnalyzerRule, Optimizer, OptimizerRule};

use crate::functions::floats::FloatsFirst;
use crate::functions::times::Times;

/// Returns the rules that make a plan right: ours first, since the planner's settle types.
pub fn analyzer() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    let own: [Arc<dyn AnalyzerRule + Send + Sync>; 4] =
        [Arc::new(Times), Arc::new(FloatsFirst), Arc::new(set_operations::Counted), Arc::new(values::Subqueries)];
    own.into_iter().chain(Analyzer::new().rules).collect()
}

/// Returns the rules that make a plan fast.
pub fn optimizer() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mut rules = Vec::new();
    for rule in Optimizer::new().rules {
        if rule.name() == null_keys::BEFORE {
            rules.push(Arc::new(null_keys::NullKeys) as Arc<dyn OptimizerRule + Send + Sync>);
        }
        rules.push(match rule.name() {
            sort_keys::OF_PLANNER => Arc::new(sort_keys::OfGroups(rule)),
            _ => rule,
        });
    }
    rules
}

/// Begins the names that rules give.
const OWN: &str = "\u{1f}";

/// Returns true for a plan that runs a part with a limit twice, for a rule. The general executor may pick other rows
/// each time; ours picks the same.
pub fn picks_rows_twice(plan: &LogicalPlan) -> bool {
    let is_own = |of: &LogicalPlan| match of {
        LogicalPlan::SubqueryAlias(alias) if alias.alias.table().starts_with(OWN) => alias.input.exists(|of| {
            Ok(match of {
                LogicalPlan::Limit(_) => true,
                LogicalPlan::Sort(sort) => sort.fetch.is_some(),
                LogicalPlan::TableScan(scan) => scan.fetch.is_some(),
                _ => false,
            })
        }),
        _ => Ok(false),
    };
    plan.exists(is_own).unwrap_or(true)
}

/// Names that no query has.
#[derive(Default)]
struct Names(Cell<usize>);

impl Names {
    fn next(&self) -> String {
        let number = self.0.get();
        self.0.set(number + 1);
        format!("{OWN}{number}")
    }

    /// Returns a column of a new relation.
    fn column(&self, relation: &str) -> Column {
        Column::new(Some(relation.to_string()), self.next())
    }
}

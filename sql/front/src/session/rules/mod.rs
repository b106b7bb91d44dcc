//! Rules over the logical plan of a statement, before the planner's own: what it plans wrongly or refuses.
//!
//! ```text
//!   values.rs           subqueries as values, and which of them the planner keeps
//!   dependent.rs        a subquery for all values of the columns around it, as a plan of its own
//!   set_operations.rs   intersect all, except all
//!   null_keys.rs        joins of keys that may be null and of keys that may not
//! ```

mod dependent;
mod null_keys;
mod set_operations;
mod values;

use std::cell::Cell;
use std::sync::Arc;

use datafusion::common::Column;
use datafusion::optimizer::{Analyzer, AnalyzerRule, Optimizer, OptimizerRule};

/// Returns the rules that make a plan right: ours first, since the planner's settle types.
pub fn analyzer() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    let own: [Arc<dyn AnalyzerRule + Send + Sync>; 2] =
        [Arc::new(set_operations::Counted), Arc::new(values::Subqueries)];
    own.into_iter().chain(Analyzer::new().rules).collect()
}

/// Returns the rules that make a plan fast.
pub fn optimizer() -> Vec<Arc<dyn OptimizerRule + Send + Sync>> {
    let mut rules = Vec::new();
    for rule in Optimizer::new().rules {
        if rule.name() == null_keys::BEFORE {
            rules.push(Arc::new(null_keys::NullKeys) as Arc<dyn OptimizerRule + Send + Sync>);
        }
        rules.push(rule);
    }
    rules
}

/// Names that no query has.
#[derive(Default)]
struct Names(Cell<usize>);

impl Names {
    fn next(&self) -> String {
        let number = self.0.get();
        self.0.set(number + 1);
        format!("\u{1f}{number}")
    }

    /// Returns a column of a new relation.
    fn column(&self, relation: &str) -> Column {
        Column::new(Some(relation.to_string()), self.next())
    }
}

//! Rules over the logical plan of a statement, before the planner's own: what it plans wrongly or refuses.
//!
//! ```text
//!   values.rs           subqueries as values, and which of them the planner keeps
//!   dependent.rs        a subquery for all values of the columns around it, as a plan of its own
//!   set_operations.rs   intersect all, except all
//! ```

mod dependent;
mod set_operations;
mod values;

use std::cell::Cell;
use std::sync::Arc;

use datafusion::common::Column;
use datafusion::optimizer::AnalyzerRule;

/// Returns the rules, in their order.
pub fn all() -> Vec<Arc<dyn AnalyzerRule + Send + Sync>> {
    vec![Arc::new(set_operations::Counted), Arc::new(values::Subqueries)]
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

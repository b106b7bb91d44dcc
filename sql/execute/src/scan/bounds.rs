//! Bounds of columns in the conditions of a scan: what a source can use to pass over rows.

use yunti_sql_plan::{Bounds, Comparison, Expression, Operation};

/// Returns the conditions of the form `column comparison literal`, either way round, also those within an `and`.
pub fn of(conditions: &[Expression]) -> Vec<Bounds> {
    let mut all = Vec::new();
    conditions.iter().for_each(|condition| collect(condition, &mut all));
    all
}

fn collect(condition: &Expression, to: &mut Vec<Bounds>) {
    match &condition.operation {
        Operation::And(all) => all.iter().for_each(|of| collect(of, to)),
        Operation::Compare(comparison, sides) => {
            let [left, right] = &**sides;
            let bound = match (&left.operation, &right.operation) {
                (Operation::Column(column), Operation::Literal(value)) => Some((*column, *comparison, value)),
                (Operation::Literal(value), Operation::Column(column)) => Some((*column, comparison.turned(), value)),
                _ => None,
            };
            let bound = bound.map(|(column, comparison, value)| Bounds { column, comparison, value: value.clone() });
            to.extend(
                bound.filter(|bound| !matches!(bound.comparison, Comparison::NotDistinct | Comparison::Distinct)),
            );
        }
        _ => {}
    }
}

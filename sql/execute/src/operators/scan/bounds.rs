//! Bounds of columns in the conditions of a scan: what a source can use to pass over rows.

use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::Value;
use yunti_sql_plan::{Bounds, Comparison, Expression, Operation, Scan, kind_of};

use crate::key_filter::KeyFilter;

/// Returns the conditions of the form `column comparison literal`, either way round, also those within an `and`.
pub fn of(conditions: &[Expression]) -> Vec<Bounds> {
    let mut all = Vec::new();
    conditions.iter().for_each(|condition| collect(condition, &mut all));
    all
}

/// Share of a column's range, at most, for which the range of a set is worth a bound.
const RANGE_SHARE: f64 = 0.8;

/// Returns the range of a filter's set as bounds, if it is much smaller than the range of the column.
pub fn of_set(scan: &Scan, filter: &KeyFilter) -> Vec<Bounds> {
    let Some(&column) = scan.columns.get(filter.column) else { return Vec::new() };
    let (least, most) = filter.set.range();
    let whole = |value: &Option<Value>| match value {
        Some(Value::Int(v)) => Some(*v as f64),
        Some(Value::Decimal(v)) => Some(*v as f64),
        _ => None,
    };
    if let Some(known) = scan.table.statistics.columns.get(column)
        && let (Some(min), Some(max)) = (whole(&known.min), whole(&known.max))
        && (most as f64 - least as f64) > RANGE_SHARE * (max - min)
    {
        return Vec::new();
    }
    let value = |v: i64| match kind_of(&scan.table.fields[column].data_type) {
        Some(Kind::Decimal { .. }) => Value::Decimal(v.into()),
        _ => Value::Int(v),
    };
    vec![
        Bounds { column, comparison: Comparison::GreaterOrEqual, value: value(least) },
        Bounds { column, comparison: Comparison::LessOrEqual, value: value(most) },
    ]
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

//! Statistics of parts of a table together.

use std::cmp::Ordering;

use yunti_engine::columns::vector::Value;
use yunti_sql_plan::Statistics;
use yunti_sql_plan::table::ColumnStatistics;

/// Returns the statistics of two parts of a table with the same columns.
pub fn together(a: Statistics, b: Statistics) -> Statistics {
    let rows = a.rows.zip(b.rows).map(|(a, b)| a + b);
    let columns = a.columns.into_iter().zip(b.columns).map(|(a, b)| of_both(a, b));
    Statistics { rows, columns: columns.collect() }
}

/// Returns the statistics of a column in two parts of a table.
pub fn of_both(a: ColumnStatistics, b: ColumnStatistics) -> ColumnStatistics {
    let end = |a: Option<Value>, b: Option<Value>, wins: Ordering| {
        a.zip(b).map(|(a, b)| if compared(&b, &a) == Some(wins) { b } else { a })
    };
    ColumnStatistics {
        min: end(a.min, b.min, Ordering::Less),
        max: end(a.max, b.max, Ordering::Greater),
        nulls: a.nulls.zip(b.nulls).map(|(a, b)| a + b),
        // Files of one table have the same few values, as far as they have few.
        distinct: a.distinct.zip(b.distinct).map(|(a, b)| a.max(b)),
    }
}

/// Returns the order of two values of one shape; None for others, and for nulls.
pub fn compared(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Decimal(a), Value::Decimal(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_nulls_of_both() {
        let one = |rows, min, max| Statistics {
            rows: Some(rows),
            columns: vec![ColumnStatistics {
                min: Some(Value::Int(min)),
                max: Some(Value::Int(max)),
                nulls: Some(1),
                distinct: None,
            }],
        };
        let both = together(one(2, 5, 9), one(3, -1, 7));
        assert_eq!((both.rows, &both.columns[0].min), (Some(5), &Some(Value::Int(-1))));
        assert_eq!((&both.columns[0].max, both.columns[0].nulls), (&Some(Value::Int(9)), Some(2)));
    }
}

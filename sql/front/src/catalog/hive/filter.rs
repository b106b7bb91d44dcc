//! Conditions of a query in the language of a metastore, which then names fewer partitions.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};

/// Characters of a filter, at most: a metastore makes a query of it.
const CHARS_MAX: usize = 16_000;

/// Returns the conditions that each wanted partition meets. `keys`: names and types of the keys.
pub fn of(filters: &[Expr], keys: &[(String, DataType)]) -> Option<String> {
    let parts: Vec<String> = filters.iter().filter_map(|filter| condition(filter, keys, 0)).collect();
    let all = parts.join(" and ");
    (!parts.is_empty() && all.len() <= CHARS_MAX).then_some(all)
}

/// Returns a condition that holds wherever `of` does; None if there is none.
fn condition(of: &Expr, keys: &[(String, DataType)], level: usize) -> Option<String> {
    if level > 200 {
        return None;
    }
    let below = |of: &Expr| condition(of, keys, level + 1);
    match of {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => match (below(left), below(right)) {
            (Some(a), Some(b)) => Some(format!("({a} and {b})")),
            (a, b) => a.or(b),
        },
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            Some(format!("({} or {})", below(left)?, below(right)?))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (&**left, &**right) {
            (Expr::Column(column), Expr::Literal(value, _)) => compared(&column.name, *op, value, keys),
            (Expr::Literal(value, _), Expr::Column(column)) => compared(&column.name, op.swap()?, value, keys),
            _ => None,
        },
        Expr::Between(Between { expr, negated: false, low, high }) => {
            let side = |op, bound: &Expr| {
                below(&Expr::BinaryExpr(BinaryExpr { left: expr.clone(), op, right: Box::new(bound.clone()) }))
            };
            Some(format!("({} and {})", side(Operator::GtEq, low)?, side(Operator::LtEq, high)?))
        }
        Expr::InList(list) if !list.negated && !list.list.is_empty() => {
            let Expr::Column(column) = &*list.expr else { return None };
            let equal = |of: &Expr| match of {
                Expr::Literal(value, _) => compared(&column.name, Operator::Eq, value, keys),
                _ => None,
            };
            let all = list.list.iter().map(equal).collect::<Option<Vec<_>>>()?;
            Some(format!("({})", all.join(" or ")))
        }
        _ => None,
    }
}

fn compared(name: &str, op: Operator, value: &ScalarValue, keys: &[(String, DataType)]) -> Option<String> {
    let (_, data_type) = keys.iter().find(|(key, _)| key == name)?;
    let op = match op {
        Operator::Eq => "=",
        Operator::NotEq => "!=",
        Operator::Lt => "<",
        Operator::LtEq => "<=",
        Operator::Gt => ">",
        Operator::GtEq => ">=",
        _ => return None,
    };
    let value = match (data_type, value) {
        (DataType::Utf8, ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text))) => {
            let is_plain = !text.contains(['"', '\\', '\'']) && !text.chars().any(char::is_control);
            is_plain.then(|| format!("\"{text}\""))?
        }
        (DataType::Date32, ScalarValue::Date32(Some(_))) => format!("\"{value}\""),
        (of, value) if of.is_integer() && value.data_type().is_integer() && !value.is_null() => value.to_string(),
        _ => return None,
    };
    Some(format!("{name} {op} {value}"))
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::{col, lit};

    use super::*;

    #[test]
    fn filters_are_never_narrower() {
        let keys = [("day".to_string(), DataType::Utf8), ("hour".to_string(), DataType::Int32)];
        let day = || col("day").eq(lit("2026-11-01"));
        for (filter, expect) in [
            (day(), Some("day = \"2026-11-01\"")),
            (lit(5i32).lt(col("hour")), Some("hour > 5")),
            (day().and(col("x").eq(lit(1))), Some("day = \"2026-11-01\"")),
            (day().or(col("x").eq(lit(1))), None),
            (day().or(col("hour").gt_eq(lit(3i64))), Some("(day = \"2026-11-01\" or hour >= 3)")),
            (col("hour").in_list(vec![lit(1), lit(2)], false), Some("(hour = 1 or hour = 2)")),
            (col("hour").in_list(vec![lit(1)], true), None),
            (col("hour").between(lit(1), lit(2)), Some("(hour >= 1 and hour <= 2)")),
            (col("day").eq(lit("a\" or \"\" = \"")), None),
            (col("day").is_null(), None),
            (col("hour").eq(lit("1")), None),
        ] {
            assert_eq!(of(std::slice::from_ref(&filter), &keys).as_deref(), expect, "{filter}");
        }
    }
}

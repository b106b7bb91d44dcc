//! Times as PostgreSQL and DuckDB have them, where DataFusion differs:
//!
//! * Dates beside times, and `date_trunc` of a date: DataFusion makes nanoseconds of the date, which end in 2262.
//! * Parts of the time between two moments: DataFusion gives all of it in that part (25 hours, not 1), and whole
//!   seconds for `epoch`.

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, cast, lit};
use datafusion::optimizer::AnalyzerRule;

use super::settle;

const MICROSECONDS: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

/// The rule. It stands before the coercion of types.
#[derive(Debug)]
pub struct Times;

impl AnalyzerRule for Times {
    fn name(&self) -> &str {
        "times"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        settle::expressions(plan, |of, schema| Ok(settled(of, schema)), |plan, _| plan.recompute_schema())
    }
}

fn settled(of: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let mut call = match of {
        Expr::ScalarFunction(call) => call,
        Expr::BinaryExpr(mut pair) if pair.op.negate().is_some() => {
            let is_changed = meet(&mut [&mut pair.left, &mut pair.right], schema);
            return Transformed::new_transformed(Expr::BinaryExpr(pair), is_changed);
        }
        Expr::Between(mut of) => {
            let is_changed = meet(&mut [&mut of.expr, &mut of.low, &mut of.high], schema);
            return Transformed::new_transformed(Expr::Between(of), is_changed);
        }
        other => return Transformed::no(other),
    };
    match (call.func.name(), &mut call.args[..]) {
        ("date_trunc", [_, time]) if is_date(time, schema) => {
            to_time(time);
            Transformed::yes(Expr::ScalarFunction(call))
        }
        ("date_part", [_, _]) => match part(&call, schema) {
            Some(part) => Transformed::yes(part),
            None => Transformed::no(Expr::ScalarFunction(call)),
        },
        _ => Transformed::no(Expr::ScalarFunction(call)),
    }
}

/// Turns dates into times of microseconds if all else are times of them. Returns true if it did.
fn meet(all: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let is_time = |of: &Expr| of.get_type(schema).is_ok_and(|of| of == MICROSECONDS);
    let is_mixed = all.iter().any(|of| is_time(of)) && all.iter().all(|of| is_time(of) || is_date(of, schema));
    let mut is_changed = false;
    if is_mixed {
        for date in all.iter_mut().filter(|of| is_date(of, schema)) {
            to_time(date);
            is_changed = true;
        }
    }
    is_changed
}

fn is_date(of: &Expr, schema: &DFSchema) -> bool {
    matches!(of.get_type(schema), Ok(DataType::Date32 | DataType::Date64))
}

fn to_time(date: &mut Expr) {
    *date = cast(std::mem::replace(date, Expr::Literal(ScalarValue::Null, None)), MICROSECONDS);
}

/// Returns a part of a duration: the whole days, and the parts of the day that is left.
fn part(call: &ScalarFunction, schema: &DFSchema) -> Option<Expr> {
    let [Expr::Literal(name, _), time] = &call.args[..] else { return None };
    let Ok(DataType::Duration(unit)) = time.get_type(schema) else { return None };
    let second: i64 = match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    };
    let ticks = cast(time.clone(), DataType::Int64);
    let whole = |of: Expr| cast(of, DataType::Int32);
    Some(match name.try_as_str()??.to_ascii_lowercase().as_str() {
        "epoch" => cast(ticks, DataType::Float64) / lit(second as f64),
        "day" => whole(ticks / lit(86_400 * second)),
        "hour" => whole(ticks / lit(3_600 * second) % lit(24_i64)),
        "minute" => whole(ticks / lit(60 * second) % lit(60_i64)),
        "second" => whole(ticks / lit(second) % lit(60_i64)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::functions::datetime::{date_part, date_trunc};

    #[test]
    fn dates_and_durations_change_and_times_do_not() {
        let schema = DFSchema::empty();
        let of = |value: ScalarValue| Expr::Literal(value, None);
        let (day, span) = (ScalarValue::Date32(Some(0)), ScalarValue::DurationMicrosecond(Some(90_061_500_000)));
        let moment = ScalarValue::TimestampMicrosecond(Some(0), None);
        let trunc = |value: &ScalarValue| date_trunc().call(vec![lit("month"), of(value.clone())]);
        let part = |name: &str, value: &ScalarValue| date_part().call(vec![lit(name), of(value.clone())]);
        let text = settled(trunc(&day), &schema).data.to_string();
        assert!(text.contains("CAST(") && text.contains("Timestamp(µs)"), "{text}");
        assert!(!settled(trunc(&moment), &schema).transformed);
        let less = |a: &ScalarValue, b: &ScalarValue| of(a.clone()).lt(of(b.clone()));
        assert!(settled(less(&day, &moment), &schema).transformed);
        assert!(!settled(less(&day, &day), &schema).transformed);
        assert!(!settled(less(&moment, &moment), &schema).transformed);
        assert!(!settled(part("hour", &moment), &schema).transformed);
        assert!(!settled(part("month", &span), &schema).transformed);
        for name in ["epoch", "day", "HOUR", "minute", "second"] {
            assert!(settled(part(name, &span), &schema).transformed, "{name}");
        }
    }
}

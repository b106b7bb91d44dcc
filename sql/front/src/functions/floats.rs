//! Decimals beside floats, as PostgreSQL and DuckDB have them: the decimal becomes a float.
//!
//! A literal such as `0.5` is a decimal. DataFusion compares it with a float as decimals of 15 digits behind the point:
//! `x < 0.5` failed for infinities and for floats from 10^15, and lost the digits of small ones.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Union, cast};
use datafusion::optimizer::AnalyzerRule;

use super::settle;

/// Functions whose arguments have one type.
const OF_ONE_TYPE: [&str; 8] = ["coalesce", "greatest", "ifnull", "least", "make_array", "nullif", "nvl", "nvl2"];

/// The rule. It stands before the coercion of types, which finds one type on both sides then.
#[derive(Debug)]
pub struct FloatsFirst;

impl AnalyzerRule for FloatsFirst {
    fn name(&self) -> &str {
        "floats_first"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        settle::expressions(plan, settled, |plan, schema| match plan {
            LogicalPlan::Join(mut join) => {
                for (left, right) in &mut join.on {
                    meet(&mut [left, right], schema);
                }
                LogicalPlan::Join(join).recompute_schema()
            }
            LogicalPlan::Union(union) => Ok(LogicalPlan::Union(united(union)?)),
            other => other.recompute_schema(),
        })
    }
}

/// Returns an expression whose parts that must have one type are no mixture of floats and decimals.
fn settled(mut of: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let is_changed = match &mut of {
        Expr::BinaryExpr(pair) => meet(&mut [&mut pair.left, &mut pair.right], schema),
        Expr::Between(between) => meet(&mut [&mut between.expr, &mut between.low, &mut between.high], schema),
        Expr::InList(list) => {
            let mut all: Vec<&mut Expr> = list.list.iter_mut().collect();
            all.push(&mut list.expr);
            meet(&mut all, schema)
        }
        Expr::Case(case) => {
            let (mut compared, mut results) = (Vec::new(), Vec::new());
            let is_of_values = case.expr.is_some();
            compared.extend(case.expr.as_deref_mut());
            for (when, then) in &mut case.when_then_expr {
                compared.push(when);
                results.push(&mut **then);
            }
            results.extend(case.else_expr.as_deref_mut());
            let is_changed = is_of_values && meet(&mut compared, schema);
            meet(&mut results, schema) || is_changed
        }
        Expr::ScalarFunction(call) if OF_ONE_TYPE.contains(&call.func.name()) => {
            // The first argument of nvl2 is a condition.
            let skipped = usize::from(call.func.name() == "nvl2");
            meet(&mut call.args.iter_mut().skip(skipped).collect::<Vec<_>>(), schema)
        }
        Expr::InSubquery(one) => {
            let column = one.subquery.subquery.schema().field(0).data_type().clone();
            let of = one.expr.get_type(schema);
            match of {
                Ok(of) if of.is_floating() && column.is_decimal() => {
                    let rows = with_floats(one.subquery.subquery.clone(), &[Some(of)])?;
                    one.subquery = one.subquery.with_plan(rows);
                    true
                }
                Ok(of) if of.is_decimal() && column.is_floating() => {
                    to_float(&mut one.expr, &column);
                    true
                }
                _ => false,
            }
        }
        _ => false,
    };
    Ok(if is_changed { Transformed::yes(of) } else { Transformed::no(of) })
}

/// Turns the decimals into floats if there is a float among the expressions. Returns true if it did.
fn meet(all: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let types: Vec<Option<DataType>> = all.iter().map(|one| one.get_type(schema).ok()).collect();
    let Some(float) = widest_float(types.iter().flatten()) else { return false };
    let mut is_changed = false;
    for (one, of) in all.iter_mut().zip(&types) {
        if of.as_ref().is_some_and(DataType::is_decimal) {
            to_float(one, &float);
            is_changed = true;
        }
    }
    is_changed
}

fn widest_float<'t>(types: impl Iterator<Item = &'t DataType>) -> Option<DataType> {
    types.filter(|of| of.is_floating()).max_by_key(|of| of.primitive_width()).cloned()
}

/// Casts a decimal. A literal becomes the float that is nearest to its digits.
fn to_float(of: &mut Expr, float: &DataType) {
    let digits = match of {
        Expr::Literal(ScalarValue::Decimal128(Some(digits), _, scale), _) => Some(format!("{digits}e{}", -*scale)),
        Expr::Literal(ScalarValue::Decimal256(Some(digits), _, scale), _) => Some(format!("{digits}e{}", -*scale)),
        _ => None,
    };
    let literal = digits.and_then(|text| text.parse::<f64>().ok());
    let value = std::mem::replace(of, Expr::Literal(ScalarValue::Null, None));
    *of = match (literal, float) {
        (Some(number), DataType::Float64) => Expr::Literal(ScalarValue::Float64(Some(number)), None),
        (Some(number), DataType::Float32) => Expr::Literal(ScalarValue::Float32(Some(number as f32)), None),
        _ => cast(value, float.clone()),
    };
}

/// Turns the decimals of a union's inputs into floats, in the columns where another input has floats.
fn united(union: Union) -> Result<Union> {
    let columns = union.inputs.first().map_or(0, |input| input.schema().fields().len());
    let types_of = |at: usize| union.inputs.iter().filter_map(move |of| of.schema().fields().get(at));
    let wanted: Vec<_> = (0..columns).map(|at| widest_float(types_of(at).map(|of| of.data_type()))).collect();
    let inputs = union.inputs.into_iter().map(|input| with_floats(input, &wanted)).collect::<Result<Vec<_>>>()?;
    Ok(Union { inputs, schema: union.schema })
}

/// Returns the rows of a plan with floats in place of the decimals of those columns that want a float.
fn with_floats(plan: Arc<LogicalPlan>, wanted: &[Option<DataType>]) -> Result<Arc<LogicalPlan>> {
    let columns: Vec<_> = plan.schema().iter().map(|(relation, field)| (relation.cloned(), field.clone())).collect();
    let float_of = |at: usize| match wanted.get(at) {
        Some(Some(float)) if columns[at].1.data_type().is_decimal() => Some(float.clone()),
        _ => None,
    };
    if (0..columns.len()).all(|at| float_of(at).is_none()) {
        return Ok(plan);
    }
    let items = columns.iter().enumerate().map(|(at, (relation, field))| {
        let column = Expr::Column(Column::new(relation.clone(), field.name()));
        match float_of(at) {
            Some(float) => cast(column, float).alias_qualified(relation.clone(), field.name()),
            None => column,
        }
    });
    let items: Vec<Expr> = items.collect();
    LogicalPlanBuilder::new_from_arc(plan).project(items)?.build().map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_the_nearest_floats() {
        for (digits, precision, scale, expect) in [
            (1_i128, 1, 1, 0.1),
            (-5, 1, 1, -0.5),
            (1_234_567_890_123_456_789, 19, 19, 0.123_456_789_012_345_678_9),
            (12, 2, -3, 12_000.0),
            (9_007_199_254_740_993, 16, 0, 9_007_199_254_740_993.0),
        ] {
            let mut literal = Expr::Literal(ScalarValue::Decimal128(Some(digits), precision, scale), None);
            to_float(&mut literal, &DataType::Float64);
            assert_eq!(literal, Expr::Literal(ScalarValue::Float64(Some(expect)), None), "{digits} {scale}");
        }
    }

    #[test]
    fn only_decimals_beside_floats_change() {
        let schema = DFSchema::empty();
        let decimal = || Expr::Literal(ScalarValue::Decimal128(Some(5), 2, 1), None);
        let float = || Expr::Literal(ScalarValue::Float32(Some(2.0)), None);
        let mut plain = [decimal(), decimal(), Expr::Literal(ScalarValue::Int64(Some(1)), None)];
        assert!(!meet(&mut plain.iter_mut().collect::<Vec<_>>(), &schema));
        let mut mixed = [decimal(), float(), Expr::Literal(ScalarValue::Null, None)];
        assert!(meet(&mut mixed.iter_mut().collect::<Vec<_>>(), &schema));
        assert_eq!(mixed[0], Expr::Literal(ScalarValue::Float32(Some(0.5)), None));
    }
}

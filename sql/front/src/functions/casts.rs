//! Casts to whole numbers, as PostgreSQL and DuckDB have them: a float is rounded half to even, a decimal half away
//! from zero. DataFusion cuts the digits off.

use std::sync::{Arc, LazyLock};

use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::compute::unary;
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue, exec_err};
use datafusion::functions::math::round;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ExprSchemable, LogicalPlan, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Volatility,
};
use datafusion::optimizer::AnalyzerRule;

use super::settle;

/// Name of the function that rounds a float half to even.
pub const ROUND_EVEN: &str = "round_even";

static ROUNDED: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| Arc::new(ScalarUDF::from(RoundEven::new())));

/// The rule: a cast of a number with digits behind the point to a whole number rounds it first.
#[derive(Debug)]
pub struct Rounded;

impl AnalyzerRule for Rounded {
    fn name(&self) -> &str {
        "rounded_casts"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        settle::expressions(plan, |of, schema| Ok(rounded(of, schema)), |plan, _| plan.recompute_schema())
    }
}

fn rounded(of: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let (value, to) = match &of {
        Expr::Cast(cast) => (&cast.expr, cast.field.data_type()),
        Expr::TryCast(cast) => (&cast.expr, cast.field.data_type()),
        _ => return Transformed::no(of),
    };
    if !to.is_integer() {
        return Transformed::no(of);
    }
    let value = value.clone();
    let first = match value.get_type(schema) {
        Ok(DataType::Float32 | DataType::Float64) => ROUNDED.call(vec![*value]),
        Ok(DataType::Decimal128(_, 1..) | DataType::Decimal256(_, 1..)) => round().call(vec![*value]),
        _ => return Transformed::no(of),
    };
    Transformed::yes(match of {
        Expr::Cast(mut cast) => {
            cast.expr = Box::new(first);
            Expr::Cast(cast)
        }
        Expr::TryCast(mut cast) => {
            cast.expr = Box::new(first);
            Expr::TryCast(cast)
        }
        other => other,
    })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct RoundEven {
    signature: Signature,
}

impl RoundEven {
    fn new() -> RoundEven {
        let types = vec![DataType::Float64, DataType::Float32];
        RoundEven { signature: Signature::uniform(1, types, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for RoundEven {
    fn name(&self) -> &str {
        ROUND_EVEN
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(arguments.first().cloned().unwrap_or(DataType::Float64))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [value] = &arguments.args[..] else { return exec_err!("{ROUND_EVEN} takes one value") };
        let array = value.to_array(arguments.number_rows)?;
        let rounded: ArrayRef = match array.data_type() {
            DataType::Float32 => {
                Arc::new(unary::<_, _, Float32Type>(array.as_primitive::<Float32Type>(), f32::round_ties_even))
            }
            DataType::Float64 => {
                Arc::new(unary::<_, _, Float64Type>(array.as_primitive::<Float64Type>(), f64::round_ties_even))
            }
            other => return exec_err!("{ROUND_EVEN} of {other}"),
        };
        match value {
            ColumnarValue::Scalar(_) => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&rounded, 0)?)),
            ColumnarValue::Array(_) => Ok(ColumnarValue::Array(rounded)),
        }
    }
}

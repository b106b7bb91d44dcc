//! Functions and aggregates that Yunti's executor knows, by the names that DataFusion gives them.

use std::sync::Arc;

use datafusion::common::DFSchema;
use datafusion::logical_expr::expr::{AggregateFunction as Call, ScalarFunction};
use datafusion::logical_expr::{Expr, ExprSchemable};
use datafusion::scalar::ScalarValue;
use yunti_engine::columns::vector::Value;
use yunti_sql_plan::{Aggregate, AggregateFunction, Expression, ForeignCall, Function, Operation, kind_of};

use super::Translation;
use super::expressions::{has_local_time, type_of};
use crate::libraries::aggregate::{ClassAggregate, States};
use crate::libraries::scalar::ClassFunction;

type Result<T> = std::result::Result<T, String>;

impl Translation<'_> {
    /// Returns a call of a function.
    pub fn call(self, of: &ScalarFunction, whole: &Expr, schema: &DFSchema) -> Result<Expression> {
        let data_type = whole.get_type(schema).map_err(|e| e.to_string())?;
        let lacks = || format!("the function {}", of.name());
        if kind_of(&data_type).is_none() {
            return Err(lacks());
        }
        let function: &dyn std::any::Any = &**of.func.inner();
        if let Some(function) = function.downcast_ref::<ClassFunction>() {
            let arguments = self.expressions(&of.args, schema)?;
            return Ok(Expression::new(data_type, Operation::Foreign(function.class.clone(), arguments)));
        }
        let text = |n: usize| match of.args.get(n) {
            Some(Expr::Literal(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)), _)) => {
                Some(text.as_str())
            }
            _ => None,
        };
        let (function, arguments) = match (of.name(), of.args.len()) {
            ("date_part", 2) => {
                let part = match text(0).unwrap_or_default().to_ascii_lowercase().as_str() {
                    "year" => Function::Year,
                    "month" => Function::Month,
                    "day" => Function::Day,
                    "hour" => Function::Hour,
                    "minute" => Function::Minute,
                    "quarter" => Function::Quarter,
                    "dow" => Function::DayOfWeek,
                    "doy" => Function::DayOfYear,
                    _ => return Err(format!("date_part('{}')", text(0).unwrap_or_default())),
                };
                (part, &of.args[1..])
            }
            ("date_trunc", 2) if text(0).is_some() => (Function::DateTrunc, &of.args[..]),
            ("substr" | "substring", 2 | 3) => (Function::Substring, &of.args[..]),
            ("character_length" | "char_length" | "length", 1) => (Function::Length, &of.args[..]),
            ("lower", 1) => (Function::Lower, &of.args[..]),
            ("upper", 1) => (Function::Upper, &of.args[..]),
            ("btrim" | "trim", 1) => (Function::Trim, &of.args[..]),
            ("ltrim", 1) => (Function::TrimStart, &of.args[..]),
            ("rtrim", 1) => (Function::TrimEnd, &of.args[..]),
            ("concat", _) => (Function::Concat, &of.args[..]),
            ("starts_with", 2) => (Function::StartsWith, &of.args[..]),
            ("ends_with", 2) => (Function::EndsWith, &of.args[..]),
            ("contains", 2) => (Function::Contains, &of.args[..]),
            ("abs", 1) => (Function::Abs, &of.args[..]),
            ("floor", 1) => (Function::Floor, &of.args[..]),
            ("ceil", 1) => (Function::Ceil, &of.args[..]),
            ("round", 1 | 2) => (Function::Round, &of.args[..]),
            (crate::functions::casts::ROUND_EVEN, 1) => (Function::RoundEven, &of.args[..]),
            ("sqrt", 1) => (Function::Sqrt, &of.args[..]),
            ("coalesce", _) => (Function::Coalesce, &of.args[..]),
            ("nullif", 2) => (Function::NullIf, &of.args[..]),
            _ => return Err(lacks()),
        };
        for argument in arguments {
            if has_local_time(&type_of(argument, schema)?) {
                return Err(format!("{} of a time in a zone", of.name()));
            }
        }
        Ok(Expression::new(data_type, Operation::Call(function, self.expressions(arguments, schema)?)))
    }

    /// Returns an aggregate.
    pub fn aggregate(self, of: &Expr, schema: &DFSchema) -> Result<Aggregate> {
        let data_type = of.get_type(schema).map_err(|e| e.to_string())?;
        let mut plain = of;
        while let Expr::Alias(alias) = plain {
            plain = &alias.expr;
        }
        let Expr::AggregateFunction(Call { func, params }) = plain else { return Err(format!("the aggregate {of}")) };
        let lacks = || format!("the aggregate {}", func.name());
        let class: &dyn std::any::Any = &**func.inner();
        if let Some(class) = class.downcast_ref::<ClassAggregate>() {
            let [first, more @ ..] = &params.args[..] else { return Err(lacks()) };
            let condition = params.filter.as_ref().map(|filter| self.expression(filter, schema)).transpose()?;
            if params.distinct || params.null_treatment.is_some() {
                return Err(format!("{} of distinct values", func.name()));
            }
            let function = Arc::new(States::new(class.class.clone()));
            let foreign = Some(ForeignCall { function, more: self.expressions(more, schema)? });
            let argument = Some(self.expression(first, schema)?);
            let function = AggregateFunction::Foreign;
            return Ok(Aggregate { function, argument, distinct: false, condition, data_type, foreign });
        }
        // The order does not change the result of any aggregate below.
        let function = aggregate_of(func.name()).ok_or_else(lacks)?;
        if kind_of(&data_type).is_none() || params.null_treatment.is_some() {
            return Err(lacks());
        }
        let argument = self.aggregated(function, &params.args, params.distinct, schema)?;
        let condition = params.filter.as_ref().map(|filter| self.expression(filter, schema)).transpose()?;
        Ok(Aggregate { function, argument, distinct: params.distinct, condition, data_type, foreign: None })
    }

    /// Returns what an aggregate takes of each row; None for `count(*)`.
    pub fn aggregated(
        self,
        function: AggregateFunction,
        args: &[Expr],
        distinct: bool,
        schema: &DFSchema,
    ) -> Result<Option<Expression>> {
        let argument = match args {
            [] => None,
            [argument] => Some(self.expression(argument, schema)?),
            _ => return Err(format!("{function:?} of several arguments")),
        };
        // `count(1)`, as the optimizer writes `count(*)`.
        let is_constant = |of: &Expression| matches!(&of.operation, Operation::Literal(value) if *value != Value::Null);
        Ok(argument.filter(|of| distinct || function != AggregateFunction::Count || !is_constant(of)))
    }
}

/// Returns an aggregate whose result depends on no order of rows.
pub fn aggregate_of(name: &str) -> Option<AggregateFunction> {
    Some(match name {
        "count" => AggregateFunction::Count,
        "sum" => AggregateFunction::Sum,
        "min" => AggregateFunction::Min,
        "max" => AggregateFunction::Max,
        "avg" => AggregateFunction::Average,
        "var" | "var_samp" => AggregateFunction::Variance,
        "var_pop" => AggregateFunction::VariancePopulation,
        "stddev" | "stddev_samp" => AggregateFunction::StandardDeviation,
        "stddev_pop" => AggregateFunction::StandardDeviationPopulation,
        "approx_distinct" => AggregateFunction::ApproximateDistinct,
        "bool_and" => AggregateFunction::BoolAnd,
        "bool_or" => AggregateFunction::BoolOr,
        _ => return None,
    })
}

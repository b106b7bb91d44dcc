//! Windows: calls with their partitions, orders and frames.

use arrow_schema::DataType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{NullTreatment, WindowFunction as Call};
use datafusion::logical_expr::{
    Expr, Window as Logical, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowFunctionDefinition,
};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::Value;
use yunti_sql_plan::{Frame, FrameEnd, FrameUnit, Node, Offset, SortKey, Window, WindowCall, WindowFunction, kind_of};

use super::Translation;
use super::calendar::{interval, is_utc};
use super::expressions::{cast_to, typed};
use super::functions::aggregate_of;

type Result<T> = std::result::Result<T, String>;

impl Translation<'_> {
    /// Returns the calls of a window: an operator for each partition and order, so that calls with the same share one.
    pub fn window(self, of: &Logical) -> Result<Node> {
        let schema = of.input.schema();
        let mut node = self.node(&of.input)?;
        let first = schema.fields().len();
        let mut keys = None;
        for (n, call) in of.window_expr.iter().enumerate() {
            let mut plain = call;
            while let Expr::Alias(alias) = plain {
                plain = &alias.expr;
            }
            let Expr::WindowFunction(call) = plain else { return Err(format!("the window function {plain}")) };
            let data_type = of.schema.field(first + n).data_type();
            let translated = self.window_call(call, data_type, schema)?;
            let own = (&call.params.partition_by, &call.params.order_by);
            match &mut node {
                Node::Window(window) if keys == Some(own) => window.calls.push(translated),
                _ => {
                    let order = own.1.iter().map(|key| {
                        Ok(SortKey {
                            value: self.expression(&key.expr, schema)?,
                            descending: !key.asc,
                            nulls_first: key.nulls_first,
                        })
                    });
                    node = Node::Window(Window {
                        partition: self.expressions(own.0, schema)?,
                        order: order.collect::<Result<_>>()?,
                        calls: vec![translated],
                        input: Box::new(node),
                    });
                    keys = Some(own);
                }
            }
        }
        Ok(node)
    }

    fn window_call(self, call: &Call, data_type: &DataType, schema: &DFSchema) -> Result<WindowCall> {
        let Call { fun, params } = call;
        let lacks = || format!("the window function {}", fun.name());
        let args = &params.args;
        let ignores_nulls = params.null_treatment == Some(NullTreatment::IgnoreNulls);
        let value = || args.first().ok_or_else(lacks).and_then(|of| self.expression(of, schema));
        let number = |n: usize| args.get(n).map(|of| number(of).ok_or_else(lacks)).transpose();
        let mut arguments = Vec::new();
        let function = match (fun, fun.name()) {
            (_, "row_number") => WindowFunction::RowNumber,
            (_, "rank") => WindowFunction::Rank,
            (_, "dense_rank") => WindowFunction::DenseRank,
            (_, "percent_rank") => WindowFunction::PercentRank,
            (_, "cume_dist") => WindowFunction::CumeDist,
            (_, "ntile") => match number(0)?.flatten().and_then(|parts| u64::try_from(parts).ok()) {
                Some(parts) if parts > 0 => WindowFunction::Ntile(parts),
                _ => return Err("ntile with other than a number above 0".into()),
            },
            (_, name @ ("lag" | "lead")) => {
                let rows = number(1)?.flatten().unwrap_or(1).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
                arguments.push(typed(value()?, data_type));
                if let Some(default) = args.get(2) {
                    let default = typed(self.expression(default, schema)?, data_type);
                    arguments.push(cast_to(default, data_type.clone(), false)?);
                }
                WindowFunction::Lag(if name == "lag" { rows } else { rows.saturating_neg() })
            }
            (_, name @ ("first_value" | "last_value" | "nth_value")) => {
                arguments.push(value()?);
                match name {
                    "first_value" => WindowFunction::FirstValue,
                    "last_value" => WindowFunction::LastValue,
                    _ => match number(1)?.flatten().and_then(|n| i64::try_from(n).ok()) {
                        Some(n) => WindowFunction::NthValue(n),
                        None => return Err("nth_value with other than a number".into()),
                    },
                }
            }
            (WindowFunctionDefinition::AggregateUDF(_), name) => {
                let function = aggregate_of(name).ok_or_else(lacks)?;
                if ignores_nulls {
                    return Err(format!("{name} with 'ignore nulls'"));
                }
                arguments.extend(self.aggregated(function, args, params.distinct, schema)?);
                WindowFunction::Aggregate(function)
            }
            _ => return Err(lacks()),
        };
        let is_aggregate = matches!(function, WindowFunction::Aggregate(_));
        if kind_of(data_type).is_none() || !is_aggregate && (params.filter.is_some() || params.distinct) {
            return Err(lacks());
        }
        let condition = params.filter.as_ref().map(|of| self.expression(of, schema)).transpose()?;
        let takes_frame = is_aggregate
            || matches!(function, WindowFunction::FirstValue | WindowFunction::LastValue | WindowFunction::NthValue(_));
        let frame = match takes_frame {
            true => {
                let key = params.order_by.first().map(|key| self.expression(&key.expr, schema)).transpose();
                frame(&params.window_frame, key?.map(|key| key.data_type))?
            }
            // Functions that take no frame share one.
            false => {
                Frame { unit: FrameUnit::Rows, start: FrameEnd::UnboundedPreceding, end: FrameEnd::UnboundedFollowing }
            }
        };
        let (distinct, data_type) = (params.distinct, data_type.clone());
        Ok(WindowCall { function, arguments, condition, distinct, ignores_nulls, frame, data_type })
    }
}

/// Returns a constant whole number; None within for null.
fn number(of: &Expr) -> Option<Option<i128>> {
    let mut plain = of;
    while let Expr::Cast(cast) = plain {
        plain = &cast.expr;
    }
    let Expr::Literal(value, _) = plain else { return None };
    match value {
        _ if value.is_null() => Some(None),
        ScalarValue::UInt64(Some(v)) => Some(Some((*v).into())),
        _ => match Translation::literal(value).ok()?.1 {
            Value::Int(v) if value.data_type().is_integer() => Some(Some(v.into())),
            _ => None,
        },
    }
}

fn frame(of: &WindowFrame, key: Option<DataType>) -> Result<Frame> {
    let unit = match of.units {
        WindowFrameUnits::Rows => FrameUnit::Rows,
        WindowFrameUnits::Range => FrameUnit::Range,
        WindowFrameUnits::Groups => FrameUnit::Groups,
    };
    let offset = |value: &ScalarValue| match unit {
        FrameUnit::Range => range_offset(value, key.as_ref()),
        _ => match value {
            ScalarValue::UInt64(Some(rows)) => Ok(Offset::Value(Value::Int((*rows).min(i64::MAX as u64) as i64))),
            other => Err(format!("a window's frame with the offset {other}")),
        },
    };
    let end = |bound: &WindowFrameBound| -> Result<FrameEnd> {
        Ok(match bound {
            WindowFrameBound::Preceding(value) if value.is_null() => FrameEnd::UnboundedPreceding,
            WindowFrameBound::Following(value) if value.is_null() => FrameEnd::UnboundedFollowing,
            WindowFrameBound::CurrentRow => FrameEnd::CurrentRow,
            WindowFrameBound::Preceding(value) => FrameEnd::Preceding(offset(value)?),
            WindowFrameBound::Following(value) => FrameEnd::Following(offset(value)?),
        })
    };
    Ok(Frame { unit, start: end(&of.start_bound)?, end: end(&of.end_bound)? })
}

fn range_offset(value: &ScalarValue, key: Option<&DataType>) -> Result<Offset> {
    let lacks = || format!("a window's range with an offset of {}", value.data_type());
    let key = key.ok_or_else(lacks)?;
    let kind = kind_of(key).ok_or_else(lacks)?;
    if let Some(interval) = interval(value) {
        return match kind {
            Kind::Date | Kind::Timestamp { .. } if is_utc(key) => Ok(Offset::Interval(interval)),
            _ => Err(format!("{} over {key}", lacks())),
        };
    }
    let (data_type, value) = Translation::literal(value).map_err(|_| lacks())?;
    match kind.is_number() && kind_of(&data_type) == Some(kind) {
        true => Ok(Offset::Value(value)),
        false => Err(format!("{} over {key}", lacks())),
    }
}

//! Expressions and aggregates.

use std::any::Any;
use std::sync::Arc;

use yunti_base::Result;

use super::bytes::{Reader, Writer};
use super::{Open, damaged, stays, types};
use crate::aggregate::{Aggregate, AggregateFunction};
use crate::expression::{Arithmetic, Comparison, Expression, Function, Operation};
use crate::node::{Node, SortKey};

/// Variants by their numbers. New ones are appended, so that numbers keep their meaning.
const COMPARISONS: &[Comparison] = &[
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
    Comparison::NotDistinct,
    Comparison::Distinct,
];

const ARITHMETIC: &[Arithmetic] =
    &[Arithmetic::Add, Arithmetic::Subtract, Arithmetic::Multiply, Arithmetic::Divide, Arithmetic::Remainder];

pub const FUNCTIONS: &[Function] = &[
    Function::Year,
    Function::Month,
    Function::Day,
    Function::Hour,
    Function::Minute,
    Function::Second,
    Function::Quarter,
    Function::DayOfWeek,
    Function::DayOfYear,
    Function::DateTrunc,
    Function::Substring,
    Function::Length,
    Function::Lower,
    Function::Upper,
    Function::Trim,
    Function::TrimStart,
    Function::TrimEnd,
    Function::Concat,
    Function::Join,
    Function::StartsWith,
    Function::EndsWith,
    Function::Contains,
    Function::Abs,
    Function::Floor,
    Function::Ceil,
    Function::Round,
    Function::RoundEven,
    Function::Sqrt,
    Function::Coalesce,
    Function::NullIf,
    Function::Mean,
    Function::AddInterval,
];

pub const AGGREGATES: &[AggregateFunction] = &[
    AggregateFunction::Count,
    AggregateFunction::Sum,
    AggregateFunction::Min,
    AggregateFunction::Max,
    AggregateFunction::Average,
    AggregateFunction::Variance,
    AggregateFunction::VariancePopulation,
    AggregateFunction::StandardDeviation,
    AggregateFunction::StandardDeviationPopulation,
    AggregateFunction::ApproximateDistinct,
    AggregateFunction::BoolAnd,
    AggregateFunction::BoolOr,
    AggregateFunction::AnyValue,
];

/// Numbers of operations.
mod number {
    pub const COLUMN: u8 = 0;
    pub const LITERAL: u8 = 1;
    pub const COMPARE: u8 = 2;
    pub const ARITHMETIC: u8 = 3;
    pub const NEGATE: u8 = 4;
    pub const AND: u8 = 5;
    pub const OR: u8 = 6;
    pub const NOT: u8 = 7;
    pub const IS_NULL: u8 = 8;
    pub const CASE: u8 = 9;
    pub const CAST: u8 = 10;
    pub const IN: u8 = 11;
    pub const LIKE: u8 = 12;
    pub const CALL: u8 = 13;
    pub const SCALAR: u8 = 14;
}

/// Appends the number of a variant. Errors: `Usage` for a variant that has none.
pub fn put_variant<T: PartialEq + std::fmt::Debug>(all: &[T], of: &T, to: &mut Writer) -> Result<()> {
    let number = all.iter().position(|one| one == of).ok_or_else(|| stays(&format!("{of:?}")))?;
    to.byte(number as u8);
    Ok(())
}

/// Takes a variant.
pub fn take_variant<T: Copy>(all: &[T], from: &mut Reader<'_>) -> Result<T> {
    all.get(usize::from(from.byte()?)).copied().ok_or_else(|| damaged("there is no such variant"))
}

/// Appends an expression.
pub fn put(of: &Expression, to: &mut Writer) -> Result<()> {
    types::put(&of.data_type, to)?;
    match &of.operation {
        Operation::Column(column) => {
            to.byte(number::COLUMN);
            to.len(*column);
        }
        Operation::Literal(value) => {
            to.byte(number::LITERAL);
            types::put_value(value, to);
        }
        Operation::Compare(how, _) => {
            to.byte(number::COMPARE);
            put_variant(COMPARISONS, how, to)?;
        }
        Operation::Arithmetic(how, _) => {
            to.byte(number::ARITHMETIC);
            put_variant(ARITHMETIC, how, to)?;
        }
        Operation::Negate(_) => to.byte(number::NEGATE),
        Operation::And(all) => {
            to.byte(number::AND);
            to.len(all.len());
        }
        Operation::Or(all) => {
            to.byte(number::OR);
            to.len(all.len());
        }
        Operation::Not(_) => to.byte(number::NOT),
        Operation::IsNull(_) => to.byte(number::IS_NULL),
        Operation::Case { branches, otherwise } => {
            to.byte(number::CASE);
            to.len(branches.len());
            to.flag(otherwise.is_some());
        }
        Operation::Cast { lenient, .. } => {
            to.byte(number::CAST);
            to.flag(*lenient);
        }
        Operation::In { list, negated, .. } => {
            to.byte(number::IN);
            to.flag(*negated);
            to.list(list, |to, value| {
                types::put_value(value, to);
                Ok(())
            })?;
        }
        Operation::Like { pattern, escape, ignore_case, negated, .. } => {
            to.byte(number::LIKE);
            to.text(pattern);
            to.number(escape.map_or(0, |c| u64::from(u32::from(c)) + 1));
            to.flag(*ignore_case);
            to.flag(*negated);
        }
        Operation::Call(function, all) => {
            to.byte(number::CALL);
            put_variant(FUNCTIONS, function, to)?;
            to.len(all.len());
        }
        Operation::Scalar(plan) => {
            to.byte(number::SCALAR);
            let plan: &dyn Any = &**plan;
            let plan = plan.downcast_ref::<Node>().ok_or_else(|| stays("the value of something that is no plan"))?;
            super::put_node(plan, to)?;
        }
        Operation::Foreign(function, _) => return Err(stays(&format!("the function {}", function.name()))),
    }
    of.children().into_iter().try_for_each(|child| put(child, to))
}

/// Takes an expression over an input of `columns` columns.
pub fn take(from: &mut Reader<'_>, columns: usize, open: &mut Open<'_>) -> Result<Expression> {
    from.within(|from| {
        let data_type = types::take(from)?;
        let operation = take_operation(from, columns, open)?;
        Ok(Expression { data_type, operation })
    })
}

fn take_operation(from: &mut Reader<'_>, columns: usize, open: &mut Open<'_>) -> Result<Operation> {
    let number = from.byte()?;
    match number {
        number::COLUMN => {
            let column = from.small()? as usize;
            return if column < columns {
                Ok(Operation::Column(column))
            } else {
                Err(damaged("there is no such column"))
            };
        }
        number::LITERAL => return Ok(Operation::Literal(types::take_value(from)?)),
        number::SCALAR => return Ok(Operation::Scalar(Arc::new(from.within(|from| super::take_node(from, open))?))),
        _ => {}
    }
    let mut all = |from: &mut Reader<'_>, len: usize| -> Result<Vec<Expression>> {
        let mut all = Vec::with_capacity(len.min(1024));
        for _ in 0..len {
            all.push(take(from, columns, open)?);
        }
        Ok(all)
    };
    Ok(match number {
        number::COMPARE => {
            let how = take_variant(COMPARISONS, from)?;
            Operation::Compare(how, pair(all(from, 2)?)?)
        }
        number::ARITHMETIC => {
            let how = take_variant(ARITHMETIC, from)?;
            Operation::Arithmetic(how, pair(all(from, 2)?)?)
        }
        number::NEGATE => Operation::Negate(one(all(from, 1)?)?),
        number::NOT => Operation::Not(one(all(from, 1)?)?),
        number::IS_NULL => Operation::IsNull(one(all(from, 1)?)?),
        number::AND => {
            let len = from.len()?;
            Operation::And(all(from, len)?)
        }
        number::OR => {
            let len = from.len()?;
            Operation::Or(all(from, len)?)
        }
        number::CASE => {
            let (len, has_otherwise) = (from.len()?, from.flag()?);
            let mut values = all(from, 2 * len + usize::from(has_otherwise))?;
            let otherwise = if has_otherwise { values.pop().map(Box::new) } else { None };
            let mut values = values.into_iter();
            let mut branches = Vec::new();
            while let (Some(when), Some(then)) = (values.next(), values.next()) {
                branches.push((when, then));
            }
            Operation::Case { branches, otherwise }
        }
        number::CAST => {
            let lenient = from.flag()?;
            Operation::Cast { value: one(all(from, 1)?)?, lenient }
        }
        number::IN => {
            let negated = from.flag()?;
            let list = from.list(types::take_value)?;
            Operation::In { value: one(all(from, 1)?)?, list, negated }
        }
        number::LIKE => {
            let pattern = from.text()?;
            let escape = match from.small()? {
                0 => None,
                c => Some(char::from_u32(c - 1).ok_or_else(|| damaged("there is no such character"))?),
            };
            let (ignore_case, negated) = (from.flag()?, from.flag()?);
            Operation::Like { value: one(all(from, 1)?)?, pattern, escape, ignore_case, negated }
        }
        number::CALL => {
            let function = take_variant(FUNCTIONS, from)?;
            let len = from.len()?;
            Operation::Call(function, all(from, len)?)
        }
        _ => return Err(damaged("there is no such operation")),
    })
}

fn one(mut all: Vec<Expression>) -> Result<Box<Expression>> {
    all.pop().map(Box::new).ok_or_else(|| damaged("an expression is missing"))
}

fn pair(all: Vec<Expression>) -> Result<Box<[Expression; 2]>> {
    <[Expression; 2]>::try_from(all).map(Box::new).map_err(|_| damaged("an expression is missing"))
}

/// Appends an aggregate.
pub fn put_aggregate(of: &Aggregate, to: &mut Writer) -> Result<()> {
    if let Some(foreign) = &of.foreign {
        return Err(stays(&format!("the aggregate {}", foreign.function.name())));
    }
    put_variant(AGGREGATES, &of.function, to)?;
    to.flag(of.distinct);
    types::put(&of.data_type, to)?;
    to.option(of.argument.as_ref(), |to, of| put(of, to))?;
    to.option(of.condition.as_ref(), |to, of| put(of, to))
}

/// Takes an aggregate over an input of `columns` columns.
pub fn take_aggregate(from: &mut Reader<'_>, columns: usize, open: &mut Open<'_>) -> Result<Aggregate> {
    Ok(Aggregate {
        function: take_variant(AGGREGATES, from)?,
        distinct: from.flag()?,
        data_type: types::take(from)?,
        argument: from.option(|from| take(from, columns, open))?,
        condition: from.option(|from| take(from, columns, open))?,
        foreign: None,
    })
}

/// Appends a key of an order.
pub fn put_key(of: &SortKey, to: &mut Writer) -> Result<()> {
    to.flag(of.descending);
    to.flag(of.nulls_first);
    put(&of.value, to)
}

/// Takes a key of an order.
pub fn take_key(from: &mut Reader<'_>, columns: usize, open: &mut Open<'_>) -> Result<SortKey> {
    let (descending, nulls_first) = (from.flag()?, from.flag()?);
    Ok(SortKey { value: take(from, columns, open)?, descending, nulls_first })
}

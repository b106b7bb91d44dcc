//! Expressions as operations of a program: nulls become conditions of their own, and errors become failures.
//!
//! ```text
//!   builder.rs      operations, each of them once, with their intervals
//!   mod.rs          columns, logic, comparisons, choices
//!   arithmetic.rs   whole numbers, decimals and floats
//!   cast.rs         conversions among them
//! ```
//!
//! An expression is lowered where a row is *active*: where kernels would compute it. A failure counts there alone. What
//! has no operations (texts, division beyond 64 bits, numbers that may leave 128 bits) is `None`: kernels keep it.

mod arithmetic;
mod builder;
mod cast;

use arrow_schema::DataType;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::Value;
use yunti_sql_plan::{Comparison, Expression, Function, Operation, kind_of};

pub use builder::{Builder, Built};
pub use cast::has_cast;

use super::interval::Interval;
use crate::code::Constant;
use crate::code::program::{Id, Number, Op, Test, Type};

/// Numbers of a list that are compared one after the other, at most.
pub const LIST_MAX: usize = 16;
/// Levels of an expression, at most; kernels take deeper ones.
const DEPTH_MAX: usize = 100;

/// Value of an expression for a row.
#[derive(Clone, Copy, Debug)]
pub struct Lowered {
    pub id: Id,
    /// True for a null; None: never.
    pub null: Option<Id>,
}

/// An expression with its shape.
struct Typed<'a> {
    value: Lowered,
    data_type: &'a DataType,
    kind: Kind,
}

impl Lowered {
    fn of(id: Id) -> Lowered {
        Lowered { id, null: None }
    }
}

/// Lowers an expression over the columns of a builder. `active` is true for the rows that need it; None: all.
pub fn lower(builder: &mut Builder, expression: &Expression, active: Option<Id>) -> Option<Lowered> {
    Lowering { builder, depth: 0 }.of(expression, active)
}

struct Lowering<'b> {
    builder: &'b mut Builder,
    depth: usize,
}

fn scale_of(kind: Kind) -> u8 {
    if let Kind::Decimal { scale } = kind { scale } else { 0 }
}

fn is_float(kind: Kind) -> bool {
    matches!(kind, Kind::Float | Kind::Float32)
}

impl Lowering<'_> {
    fn of(&mut self, expression: &Expression, active: Option<Id>) -> Option<Lowered> {
        self.depth += 1;
        let value = if self.depth > DEPTH_MAX { None } else { self.operation(expression, active) };
        self.depth -= 1;
        value
    }

    fn typed<'e>(&mut self, expression: &'e Expression, active: Option<Id>) -> Option<Typed<'e>> {
        let kind = kind_of(&expression.data_type)?;
        let value = self.of(expression, active)?;
        Some(Typed { value, data_type: &expression.data_type, kind })
    }

    fn operation(&mut self, expression: &Expression, active: Option<Id>) -> Option<Lowered> {
        let kind = kind_of(&expression.data_type).filter(|kind| *kind != Kind::Text)?;
        // A value of half precision is rounded as no instruction does it.
        if expression.data_type == DataType::Float16 {
            return None;
        }
        match &expression.operation {
            Operation::Column(number) => self.builder.column(*number, kind),
            Operation::Literal(value) => self.literal(value, kind),
            Operation::Compare(how, sides) => {
                let (a, b) = (self.typed(&sides[0], active)?, self.typed(&sides[1], active)?);
                self.compare(*how, &a, &b)
            }
            Operation::Arithmetic(how, sides) => {
                let (a, b) = (self.typed(&sides[0], active)?, self.typed(&sides[1], active)?);
                self.arithmetic(*how, &a, &b, (&expression.data_type, kind), active)
            }
            Operation::Negate(of) => {
                let of = self.typed(of, active)?;
                self.negate(&of, (&expression.data_type, kind), active)
            }
            Operation::And(parts) => self.logic(false, parts, active),
            Operation::Or(parts) => self.logic(true, parts, active),
            Operation::Not(of) => {
                let of = self.of(of, active)?;
                Some(Lowered { id: self.builder.not(of.id), null: of.null })
            }
            Operation::IsNull(of) => {
                let of = self.of(of, active)?;
                let id = of.null.unwrap_or_else(|| self.builder.bool(false));
                Some(Lowered::of(id))
            }
            Operation::Case { branches, otherwise } => self.case(branches, otherwise.as_deref(), kind, active),
            Operation::Cast { value, lenient } => {
                let from = self.typed(value, active)?;
                self.cast(&from, (&expression.data_type, kind), *lenient, active)
            }
            Operation::In { value, list, negated } => {
                let value = self.typed(value, active)?;
                self.is_in(&value, list, *negated)
            }
            Operation::Call(Function::Coalesce, arguments) => self.coalesce(arguments, kind, active),
            Operation::Like { .. } | Operation::Call(..) | Operation::Scalar(_) | Operation::Foreign(..) => None,
        }
    }

    fn literal(&mut self, value: &Value, kind: Kind) -> Option<Lowered> {
        let id = match value {
            Value::Null => {
                let zero = self.zero(kind);
                return Some(Lowered { id: zero, null: Some(self.builder.bool(true)) });
            }
            Value::Bool(value) => self.builder.constant(Constant::Bool(*value)),
            Value::Int(value) => self.builder.constant(Constant::Int(*value)),
            Value::Float(value) => self.builder.constant(Constant::Float(*value)),
            Value::Decimal(value) => match i64::try_from(*value) {
                Ok(value) => self.builder.constant(Constant::Int(value)),
                Err(_) => self.builder.constant(Constant::Wide(*value)),
            },
            Value::Bytes(_) => return None,
        };
        Some(Lowered::of(id))
    }

    fn zero(&mut self, kind: Kind) -> Id {
        match kind {
            Kind::Boolean => self.builder.bool(false),
            kind if is_float(kind) => self.builder.add(Op::Float(0), Type::F64),
            _ => self.builder.whole(0),
        }
    }

    /// Returns true for what either side says; None if neither says anything.
    fn either(&mut self, a: Option<Id>, b: Option<Id>) -> Option<Id> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.builder.or(a, b)),
            (one, other) => one.or(other),
        }
    }

    fn compare(&mut self, how: Comparison, a: &Typed<'_>, b: &Typed<'_>) -> Option<Lowered> {
        let (x, y) = match (is_float(a.kind), is_float(b.kind)) {
            (true, true) => (self.builder.order(a.value.id), self.builder.order(b.value.id)),
            (false, false) if (a.kind == Kind::Boolean) == (b.kind == Kind::Boolean) => {
                self.at_one_scale(a.value.id, b.value.id, [scale_of(a.kind), scale_of(b.kind)])?
            }
            _ => return None,
        };
        let test = match how {
            Comparison::Equal | Comparison::NotDistinct => Test::Equal,
            Comparison::NotEqual | Comparison::Distinct => Test::NotEqual,
            Comparison::Less => Test::Less,
            Comparison::LessOrEqual => Test::LessOrEqual,
            Comparison::Greater => Test::Greater,
            Comparison::GreaterOrEqual => Test::GreaterOrEqual,
        };
        let id = self.builder.compare(test, x, y);
        let (p, q) = (a.value.null, b.value.null);
        if !matches!(how, Comparison::NotDistinct | Comparison::Distinct) {
            return Some(Lowered { id, null: self.either(p, q) });
        }
        let Some(any) = self.either(p, q) else { return Some(Lowered::of(id)) };
        let both = match (p, q) {
            (Some(p), Some(q)) => self.builder.and(p, q),
            _ => self.builder.bool(false),
        };
        let of_nulls = if how == Comparison::NotDistinct { both } else { self.builder.not(both) };
        Some(Lowered::of(self.builder.choose(any, of_nulls, id)))
    }

    /// Brings units of decimals to the larger scale; None if they may not fit there.
    fn at_one_scale(&mut self, a: Id, b: Id, scales: [u8; 2]) -> Option<(Id, Id)> {
        let common = scales[0].max(scales[1]);
        let a = self.scaled(a, common - scales[0])?;
        let b = self.scaled(b, common - scales[1])?;
        Some((a, b))
    }

    fn logic(&mut self, or: bool, parts: &[Expression], active: Option<Id>) -> Option<Lowered> {
        let mut so_far: Option<Lowered> = None;
        for part in parts {
            let needed = match so_far {
                None => active,
                Some(value) => {
                    // A part that has decided leaves no row open: false for `and`, true for `or`.
                    let open = if or { self.is_not(value, true) } else { self.is_not(value, false) };
                    Some(self.builder.and_if(active, open))
                }
            };
            let part = self.of(part, needed)?;
            so_far = Some(match so_far {
                None => part,
                Some(before) => self.both(or, before, part),
            });
        }
        so_far
    }

    /// Returns true for a row whose value is another than `value`: the opposite, or null.
    fn is_not(&mut self, of: Lowered, value: bool) -> Id {
        let other = if value { self.builder.not(of.id) } else { of.id };
        match of.null {
            None => other,
            Some(null) => self.builder.or(other, null),
        }
    }

    fn both(&mut self, or: bool, a: Lowered, b: Lowered) -> Lowered {
        let builder = &mut *self.builder;
        if a.null.is_none() && b.null.is_none() {
            return Lowered::of(if or { builder.or(a.id, b.id) } else { builder.and(a.id, b.id) });
        }
        // Decided: true for `or`, false for `and`, in either part.
        let mut decided = |of: Lowered| {
            let value = if or { of.id } else { builder.not(of.id) };
            match of.null {
                None => value,
                Some(null) => {
                    let known = builder.not(null);
                    builder.and(value, known)
                }
            }
        };
        let (x, y) = (decided(a), decided(b));
        let is_decided = self.builder.or(x, y);
        let open = self.builder.not(is_decided);
        let any = self.either(a.null, b.null);
        let null = any.map(|any| self.builder.and(open, any));
        Lowered { id: if or { is_decided } else { open }, null }
    }

    /// Returns true where a condition holds: it is neither false nor null.
    fn holds(&mut self, of: Lowered) -> Id {
        match of.null {
            None => of.id,
            Some(null) => {
                let known = self.builder.not(null);
                self.builder.and(of.id, known)
            }
        }
    }

    fn case(
        &mut self,
        branches: &[(Expression, Expression)],
        otherwise: Option<&Expression>,
        kind: Kind,
        active: Option<Id>,
    ) -> Option<Lowered> {
        let mut left = active;
        let mut chosen = Vec::new();
        for (condition, value) in branches {
            let condition = self.of(condition, left)?;
            let holds = self.holds(condition);
            let taken = self.builder.and_if(left, holds);
            chosen.push((holds, self.of(value, Some(taken))?));
            let fails = self.builder.not(holds);
            left = Some(self.builder.and_if(left, fails));
        }
        let mut value = match otherwise {
            Some(otherwise) => self.of(otherwise, left)?,
            None => Lowered { id: self.zero(kind), null: Some(self.builder.bool(true)) },
        };
        for (condition, of) in chosen.into_iter().rev() {
            value = self.choose(condition, of, value);
        }
        Some(value)
    }

    fn choose(&mut self, condition: Id, a: Lowered, b: Lowered) -> Lowered {
        let id = self.builder.choose(condition, a.id, b.id);
        let null = (a.null.is_some() || b.null.is_some()).then(|| {
            let [p, q] = [a.null, b.null].map(|null| null.unwrap_or_else(|| self.builder.bool(false)));
            self.builder.choose(condition, p, q)
        });
        Lowered { id, null }
    }

    fn coalesce(&mut self, arguments: &[Expression], kind: Kind, active: Option<Id>) -> Option<Lowered> {
        let (first, others) = arguments.split_first()?;
        let mut value = self.typed(first, active)?;
        for argument in others {
            let Some(null) = value.value.null else { break };
            let needed = self.builder.and_if(active, null);
            let other = self.typed(argument, Some(needed))?;
            if scale_of(other.kind) != scale_of(kind) {
                return None;
            }
            value.value = self.choose(null, other.value, Lowered::of(value.value.id));
        }
        (scale_of(value.kind) == scale_of(kind)).then_some(value.value)
    }

    fn is_in(&mut self, value: &Typed<'_>, list: &[Value], negated: bool) -> Option<Lowered> {
        if list.is_empty() {
            return Some(Lowered::of(self.builder.bool(negated)));
        }
        if list.len() > LIST_MAX {
            return None;
        }
        let is_ordered = is_float(value.kind);
        let id = if is_ordered { self.builder.order(value.value.id) } else { value.value.id };
        let mut found = self.builder.bool(false);
        for one in list.iter().filter(|one| **one != Value::Null) {
            let one = self.literal(one, value.kind)?.id;
            let one = if is_ordered { self.builder.order(one) } else { one };
            let equal = self.builder.compare(Test::Equal, id, one);
            found = self.builder.or(found, equal);
        }
        let missing = list.contains(&Value::Null).then(|| self.builder.not(found));
        let null = self.either(value.value.null, missing);
        Some(Lowered { id: if negated { self.builder.not(found) } else { found }, null })
    }

    /// Fails for active rows that are no null and for which `is_over` is true; in a lenient conversion they are null.
    fn fail(&mut self, is_over: Id, null: Option<Id>, active: Option<Id>) {
        let known = match null {
            None => is_over,
            Some(null) => {
                let known = self.builder.not(null);
                self.builder.and(is_over, known)
            }
        };
        let fails = self.builder.and_if(active, known);
        self.builder.fail(fails);
    }

    /// Returns true for a number out of limits; None if no number is.
    fn is_beyond(&mut self, id: Id, (low, high): (i128, i128)) -> Option<Id> {
        let interval = self.builder.interval(id);
        let below = (interval.low < low).then(|| {
            let limit = self.builder.whole(low);
            self.builder.compare(Test::Less, id, limit)
        });
        let above = (interval.high > high).then(|| {
            let limit = self.builder.whole(high);
            self.builder.compare(Test::Greater, id, limit)
        });
        self.either(below, above)
    }

    /// Returns a number that is within limits, in 64 bits if they are; others fail.
    fn limited(&mut self, id: Id, limits: (i128, i128), null: Option<Id>, active: Option<Id>) -> Id {
        if let Some(over) = self.is_beyond(id, limits) {
            self.fail(over, null, active);
        }
        let interval = self.builder.interval(id).within(limits.0, limits.1);
        self.builder.narrow(id, interval)
    }

    /// Multiplies by a power of ten; None if 128 bits may not hold it.
    fn scaled(&mut self, id: Id, digits: u8) -> Option<Id> {
        if digits == 0 {
            return Some(id);
        }
        let factor = 10i128.checked_pow(digits.into())?;
        let factor = self.builder.whole(factor);
        self.builder.number(Number::Multiply, id, factor)
    }
}

/// Returns the interval of a constant: of a number of bits, so that constants of about one size share code.
pub fn interval_of(number: i128) -> Interval {
    Interval::of_bits(class_of(Interval::of(number).bits()))
}

/// Returns a number of bits that stands for some below it.
pub fn class_of(bits: u32) -> u32 {
    match bits {
        0..=8 => 8,
        57..=63 => 63,
        121..=127 => 127,
        bits => bits.next_multiple_of(8),
    }
}

//! Conversions among numbers, booleans and dates, with the results and the failures of the kernels.

use arrow_schema::DataType;
use yunti_engine::columns::kind::Kind;
use yunti_sql_plan::kind_of;

use super::super::interval::Interval;
use super::{Lowered, Lowering, Typed, is_float, scale_of};
use crate::code::program::{Id, Number, Op, Test, Type};
use crate::expression::limits_of;

/// Bits of the whole numbers that a float has all of.
const FLOAT_BITS: u32 = 53;

/// Returns true for a conversion that programs have.
pub fn has_cast(from: &DataType, to: &DataType) -> bool {
    if from == to {
        return true;
    }
    if matches!(from, DataType::Null | DataType::Float16) {
        return false;
    }
    let (Some(a), Some(b)) = (kind_of(from), kind_of(to)) else { return false };
    match (a, b) {
        (Kind::Boolean, b) => b != Kind::Text && !matches!(b, Kind::Decimal { .. }),
        (Kind::Int, Kind::Boolean | Kind::Int | Kind::Date | Kind::Decimal { .. }) => true,
        (Kind::Date, Kind::Int | Kind::Date) => true,
        (Kind::Decimal { .. }, Kind::Decimal { .. } | Kind::Int) => true,
        (a, Kind::Int) if is_float(a) => true,
        (a, b) => (is_float(a) || matches!(a, Kind::Int | Kind::Decimal { .. })) && is_float(b),
    }
}

impl Lowering<'_> {
    pub fn cast(
        &mut self,
        from: &Typed<'_>,
        (data_type, kind): (&DataType, Kind),
        lenient: bool,
        active: Option<Id>,
    ) -> Option<Lowered> {
        if from.data_type == data_type {
            return Some(from.value);
        }
        // Arrow's `Null` has nulls alone.
        if *from.data_type == DataType::Null || *from.data_type == DataType::Float16 {
            return None;
        }
        let Lowered { id, null } = from.value;
        let limits = limits_of(data_type);
        match (from.kind, kind) {
            (Kind::Boolean, Kind::Boolean) => Some(from.value),
            (Kind::Boolean, Kind::Int) => Some(Lowered { id: self.of_bool(id), null }),
            (Kind::Boolean, to) if is_float(to) => {
                let whole = self.of_bool(id);
                Some(Lowered { id: self.builder.add(Op::ToFloat(whole), Type::F64), null })
            }
            (Kind::Int | Kind::Date, Kind::Int | Kind::Date) => self.checked(id, limits, null, lenient, active),
            (Kind::Int, Kind::Boolean) => {
                let zero = self.builder.whole(0);
                Some(Lowered { id: self.builder.compare(Test::NotEqual, id, zero), null })
            }
            (Kind::Int, Kind::Decimal { scale }) => {
                let id = self.scaled(id, scale)?;
                self.checked(id, limits, null, lenient, active)
            }
            (Kind::Int, to) if is_float(to) => {
                let id = self.to_float(id, to)?;
                Some(Lowered { id: self.rounded(id, data_type), null })
            }
            (Kind::Decimal { scale }, Kind::Decimal { scale: to }) if to >= scale => {
                let id = self.scaled(id, to - scale)?;
                self.checked(id, limits, null, lenient, active)
            }
            (Kind::Decimal { scale }, Kind::Decimal { scale: to }) => {
                let id = self.divided(id, scale - to, true)?;
                self.checked(id, limits, null, lenient, active)
            }
            (Kind::Decimal { .. }, Kind::Int) => {
                let id = self.divided(id, scale_of(from.kind), false)?;
                self.checked(id, limits, null, lenient, active)
            }
            (Kind::Decimal { scale }, to) if is_float(to) => {
                let id = self.to_float(id, Kind::Float)?;
                let one = self.builder.add(Op::Float(10f64.powi(scale.into()).to_bits()), Type::F64);
                let id = self.builder.add(Op::FloatNumber(Number::Divide, id, one), Type::F64);
                Some(Lowered { id: self.rounded(id, data_type), null })
            }
            (a, b) if is_float(a) && is_float(b) => Some(Lowered { id: self.rounded(id, data_type), null }),
            (a, Kind::Int) if is_float(a) => self.float_to_whole(id, limits, null, lenient, active),
            _ => None,
        }
    }

    fn of_bool(&mut self, id: Id) -> Id {
        let zero = self.builder.whole(0);
        let one = self.builder.whole(1);
        self.builder.choose(id, one, zero)
    }

    /// Returns a number within limits: others fail, or are null in a lenient conversion.
    fn checked(
        &mut self,
        id: Id,
        limits: (i128, i128),
        null: Option<Id>,
        lenient: bool,
        active: Option<Id>,
    ) -> Option<Lowered> {
        if !lenient {
            return Some(Lowered { id: self.limited(id, limits, null, active), null });
        }
        let Some(over) = self.is_beyond(id, limits) else { return Some(Lowered { id, null }) };
        let zero = self.builder.whole(0);
        let id = self.builder.choose(over, zero, id);
        let interval = self.builder.interval(id).within(limits.0, limits.1);
        let id = self.builder.narrow(id, interval);
        Some(Lowered { id, null: self.either(null, Some(over)) })
    }

    /// Returns a whole number as a float; None if it may need 128 bits, or would be rounded twice.
    fn to_float(&mut self, id: Id, to: Kind) -> Option<Id> {
        let bits = self.builder.interval(id).bits();
        if self.builder.type_of(id) != Type::I64 || (to == Kind::Float32 && bits > FLOAT_BITS) {
            return None;
        }
        Some(self.builder.add(Op::ToFloat(id), Type::F64))
    }

    /// Divides by a power of ten, toward zero or half away from it; None beyond 64 bits.
    fn divided(&mut self, id: Id, digits: u8, rounds: bool) -> Option<Id> {
        let divisor = 10i128.checked_pow(digits.into()).filter(|divisor| *divisor < 1 << 62)?;
        let by = self.builder.whole(divisor);
        let whole = self.builder.number(Number::Divide, id, by)?;
        if !rounds || divisor == 1 {
            return Some(whole);
        }
        let rest = self.builder.number(Number::Remainder, id, by)?;
        let half = self.builder.whole(divisor / 2);
        let minus = self.builder.whole(-divisor / 2);
        let up = self.builder.compare(Test::GreaterOrEqual, rest, half);
        let down = self.builder.compare(Test::LessOrEqual, rest, minus);
        let (one, back, none) = (self.builder.whole(1), self.builder.whole(-1), self.builder.whole(0));
        let step = self.builder.choose(down, back, none);
        let step = self.builder.choose(up, one, step);
        self.builder.number(Number::Add, whole, step)
    }

    fn float_to_whole(
        &mut self,
        id: Id,
        limits: (i128, i128),
        null: Option<Id>,
        lenient: bool,
        active: Option<Id>,
    ) -> Option<Lowered> {
        // Beyond 2^62 in either direction, and for NaN, kernels decide.
        let id = self.builder.add(Op::FloatTruncate(id), Type::F64);
        let order = self.builder.order(id);
        let limit = |builder: &mut super::Builder, value: f64| {
            let limit = builder.add(Op::Float(value.to_bits()), Type::F64);
            builder.order(limit)
        };
        let (low, high) = (limit(self.builder, -(2f64.powi(62))), limit(self.builder, 2f64.powi(62)));
        let below = self.builder.compare(Test::Less, order, low);
        let above = self.builder.compare(Test::GreaterOrEqual, order, high);
        let over = self.builder.or(below, above);
        self.fail(over, null, active);
        let whole = self.builder.add(Op::ToWhole(id), Type::I64);
        let whole = self.builder.narrow(whole, Interval::of_bits(62));
        self.checked(whole, limits, null, lenient, active)
    }
}

//! Arithmetic of whole numbers, decimals and floats, with the results and the failures of the kernels.

use arrow_schema::DataType;
use yunti_engine::columns::kind::Kind;
use yunti_sql_plan::Arithmetic;

use super::{Lowered, Lowering, Typed, is_float, scale_of};
use crate::code::program::{Id, Number, Op, Test, Type};
use crate::expression::limits_of;

fn number_of(how: Arithmetic) -> Number {
    match how {
        Arithmetic::Add => Number::Add,
        Arithmetic::Subtract => Number::Subtract,
        Arithmetic::Multiply => Number::Multiply,
        Arithmetic::Divide => Number::Divide,
        Arithmetic::Remainder => Number::Remainder,
    }
}

impl Lowering<'_> {
    pub fn arithmetic(
        &mut self,
        how: Arithmetic,
        a: &Typed<'_>,
        b: &Typed<'_>,
        (data_type, kind): (&DataType, Kind),
        active: Option<Id>,
    ) -> Option<Lowered> {
        let null = self.either(a.value.null, b.value.null);
        if is_float(a.kind) || is_float(b.kind) || is_float(kind) {
            if !is_float(a.kind) || !is_float(b.kind) || !is_float(kind) || how == Arithmetic::Remainder {
                return None;
            }
            let id = self.builder.add(Op::FloatNumber(number_of(how), a.value.id, b.value.id), Type::F64);
            return Some(Lowered { id: self.rounded(id, data_type), null });
        }
        if [a.kind, b.kind, kind].contains(&Kind::Boolean) {
            return None;
        }
        let is_decimal = |kind| matches!(kind, Kind::Decimal { .. });
        let (mut x, mut y) = (a.value.id, b.value.id);
        if is_decimal(a.kind) != is_decimal(b.kind) || is_decimal(a.kind) != is_decimal(kind) {
            return None;
        }
        if is_decimal(kind) {
            let [s1, s2, scale] = [a.kind, b.kind, kind].map(|kind| u32::from(scale_of(kind)));
            let common = s1.max(s2);
            let (up, down, natural) = match how {
                Arithmetic::Multiply => (0, 0, s1 + s2),
                Arithmetic::Divide if scale + s2 >= s1 => (scale + s2 - s1, 0, scale),
                Arithmetic::Divide => (0, s1 - scale - s2, scale),
                _ => (common - s1, common - s2, common),
            };
            if natural != scale {
                return None;
            }
            x = self.scaled(x, u8::try_from(up).ok()?)?;
            y = self.scaled(y, u8::try_from(down).ok()?)?;
        }
        if matches!(how, Arithmetic::Divide | Arithmetic::Remainder) {
            let zero = self.builder.whole(0);
            let is_zero = self.builder.compare(Test::Equal, y, zero);
            self.fail(is_zero, null, active);
        }
        let id = self.builder.number(number_of(how), x, y)?;
        let id = self.limited(id, limits_of(data_type), null, active);
        Some(Lowered { id, null })
    }

    pub fn negate(
        &mut self,
        of: &Typed<'_>,
        (data_type, kind): (&DataType, Kind),
        active: Option<Id>,
    ) -> Option<Lowered> {
        let Lowered { id, null } = of.value;
        if is_float(of.kind) {
            return Some(Lowered { id: self.builder.add(Op::FloatNegate(id), Type::F64), null });
        }
        if kind == Kind::Boolean || of.kind != kind {
            return None;
        }
        let zero = self.builder.whole(0);
        let id = self.builder.number(Number::Subtract, zero, id)?;
        Some(Lowered { id: self.limited(id, limits_of(data_type), null, active), null })
    }

    /// Rounds a float to the precision of its type.
    pub fn rounded(&mut self, id: Id, data_type: &DataType) -> Id {
        match data_type {
            DataType::Float32 => self.builder.add(Op::ToSingle(id), Type::F64),
            _ => id,
        }
    }
}

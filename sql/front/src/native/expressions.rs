//! Expressions and literals.

use arrow_schema::DataType;
use datafusion::common::DFSchema;
use datafusion::logical_expr::{Between, BinaryExpr, Case, Expr, ExprSchemable, Like, Operator, Subquery};
use datafusion::scalar::ScalarValue;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::Value;
use yunti_sql_plan::{Aggregate, Arithmetic, Comparison, Expression, Function, Node, Operation, kind_of};

use super::Translation;
use super::calendar::{interval, is_utc};

type Result<T> = std::result::Result<T, String>;

impl Translation<'_> {
    /// Returns expressions over the columns of a schema.
    pub fn expressions(self, all: &[Expr], schema: &DFSchema) -> Result<Vec<Expression>> {
        all.iter().map(|of| self.expression(of, schema)).collect()
    }

    /// Returns an expression over the columns of a schema. What the executor lacks, DataFusion computes.
    pub fn expression(self, of: &Expr, schema: &DFSchema) -> Result<Expression> {
        match self.own(of, schema) {
            Err(lacks) if self.may_be_foreign(of, schema) => self.foreign(of, schema, lacks),
            done => done,
        }
    }

    /// Returns an expression that the executor computes. It fails for its own reasons before it translates its parts,
    /// so that no part is translated twice.
    fn own(self, of: &Expr, schema: &DFSchema) -> Result<Expression> {
        let data_type = || type_of(of, schema);
        let boxed = |of: &Expr| Ok::<_, String>(Box::new(self.expression(of, schema)?));
        let boolean = |operation| Ok(Expression::new(DataType::Boolean, operation));
        match of {
            Expr::Alias(alias) => self.expression(&alias.expr, schema),
            Expr::Column(column) => {
                let number = schema.index_of_column(column).map_err(|e| e.to_string())?;
                Ok(Expression::column(number, data_type()?))
            }
            Expr::Literal(value, _) => {
                let (data_type, value) = Translation::literal(value)?;
                Ok(Expression::new(data_type, Operation::Literal(value)))
            }
            Expr::BinaryExpr(of) => self.binary(of, data_type()?, schema),
            Expr::Not(of) => boolean(Operation::Not(boxed(of)?)),
            Expr::IsNull(of) | Expr::IsUnknown(of) => boolean(Operation::IsNull(boxed(of)?)),
            Expr::IsNotNull(of) | Expr::IsNotUnknown(of) => not(boolean(Operation::IsNull(boxed(of)?))?),
            Expr::IsTrue(of) => is(self.expression(of, schema)?, true),
            Expr::IsFalse(of) => is(self.expression(of, schema)?, false),
            Expr::IsNotTrue(of) => not(is(self.expression(of, schema)?, true)?),
            Expr::IsNotFalse(of) => not(is(self.expression(of, schema)?, false)?),
            Expr::Negative(value) => Ok(Expression::new(data_type()?, Operation::Negate(boxed(value)?))),
            Expr::Between(between) => self.between(between, schema),
            Expr::Case(case) => self.case(case, data_type()?, schema),
            Expr::Cast(cast) => self.cast(&cast.expr, data_type()?, false, schema),
            Expr::TryCast(cast) => self.cast(&cast.expr, data_type()?, true, schema),
            Expr::Like(like) => self.like(like, schema),
            Expr::InList(list) => {
                for of in [&*list.expr].into_iter().chain(&list.list) {
                    type_of(of, schema)?;
                }
                let value = self.expression(&list.expr, schema)?;
                let constant = |of: &Expr| match of {
                    Expr::Literal(value, _) => Some(Translation::literal(value).ok()?.1),
                    _ => None,
                };
                if let Some(values) = list.list.iter().map(constant).collect::<Option<Vec<Value>>>() {
                    let value = Box::new(value);
                    return boolean(Operation::In { value, list: values, negated: list.negated });
                }
                let equal = |of: &Expr| {
                    let sides = Box::new([value.clone(), self.expression(of, schema)?]);
                    boolean(Operation::Compare(Comparison::Equal, sides))
                };
                let any = boolean(Operation::Or(list.list.iter().map(equal).collect::<Result<_>>()?))?;
                if list.negated { not(any) } else { Ok(any) }
            }
            Expr::ScalarFunction(function) => self.call(function, of, schema),
            Expr::ScalarSubquery(of) if of.outer_ref_columns.is_empty() => {
                let plan = yunti_sql_plan::order::order(self.node(&of.subquery)?);
                Ok(Expression::new(data_type()?, Operation::Scalar(std::sync::Arc::new(plan))))
            }
            Expr::Exists(of) if of.subquery.outer_ref_columns.is_empty() => self.exists(&of.subquery, of.negated),
            Expr::ScalarSubquery(_) => Err("a subquery as a value that needs columns of the query around it".into()),
            other => Err(format!("the expression {}", other.variant_name())),
        }
    }

    /// Returns whether a subquery without columns of the query around it has a row: a count of its first row.
    fn exists(self, of: &Subquery, negated: bool) -> Result<Expression> {
        let input = Box::new(yunti_sql_plan::order::order(self.node(&of.subquery)?));
        let first = Box::new(Node::Limit { input, skip: 0, count: Some(1) });
        let counted = Node::Aggregate {
            input: first,
            keys: Vec::new(),
            sets: Vec::new(),
            aggregates: vec![Aggregate::count(None)],
        };
        let wanted = Operation::Literal(Value::Int(i64::from(!negated)));
        let sides = Box::new([Expression::column(0, DataType::Int64), Expression::new(DataType::Int64, wanted)]);
        let is_so = Expression::new(DataType::Boolean, Operation::Compare(Comparison::Equal, sides));
        let plan = Node::Project { input: Box::new(counted), expressions: vec![is_so] };
        Ok(Expression::new(DataType::Boolean, Operation::Scalar(std::sync::Arc::new(plan))))
    }

    pub fn binary(self, of: &BinaryExpr, data_type: DataType, schema: &DFSchema) -> Result<Expression> {
        let sides =
            || Ok::<_, String>(Box::new([self.expression(&of.left, schema)?, self.expression(&of.right, schema)?]));
        let types = || Ok::<_, String>((type_of(&of.left, schema)?, type_of(&of.right, schema)?));
        let compare = |how| {
            let (left, right) = types()?;
            if kind_of(&left) != kind_of(&right) {
                return Err(format!("a comparison of {left} with {right}"));
            }
            Ok(Expression::new(DataType::Boolean, Operation::Compare(how, sides()?)))
        };
        let arithmetic = |how| {
            let (left, right) = types()?;
            let is_number = |of: &DataType| kind_of(of).is_some_and(|kind| kind.is_number());
            if ![&left, &right, &data_type].into_iter().all(is_number) {
                return Err(format!("{left} {} {right}", of.op));
            }
            Ok(Expression::new(data_type.clone(), Operation::Arithmetic(how, sides()?)))
        };
        if let (Operator::Plus | Operator::Minus, Some(moved)) = (of.op, self.moved(of, &data_type, schema)?) {
            return Ok(moved);
        }
        match of.op {
            Operator::Eq => compare(Comparison::Equal),
            Operator::NotEq => compare(Comparison::NotEqual),
            Operator::Lt => compare(Comparison::Less),
            Operator::LtEq => compare(Comparison::LessOrEqual),
            Operator::Gt => compare(Comparison::Greater),
            Operator::GtEq => compare(Comparison::GreaterOrEqual),
            Operator::IsDistinctFrom => compare(Comparison::Distinct),
            Operator::IsNotDistinctFrom => compare(Comparison::NotDistinct),
            Operator::Plus => arithmetic(Arithmetic::Add),
            Operator::Minus => arithmetic(Arithmetic::Subtract),
            Operator::Multiply => arithmetic(Arithmetic::Multiply),
            Operator::Divide => arithmetic(Arithmetic::Divide),
            Operator::Modulo => arithmetic(Arithmetic::Remainder),
            Operator::And | Operator::Or => {
                let mut all = Vec::new();
                self.flatten(of, of.op, schema, &mut all)?;
                let operation = if of.op == Operator::And { Operation::And(all) } else { Operation::Or(all) };
                Ok(Expression::new(DataType::Boolean, operation))
            }
            Operator::StringConcat => {
                Ok(Expression::new(data_type, Operation::Call(Function::Join, sides()?.to_vec())))
            }
            _ => Err(format!("the operator {}", of.op)),
        }
    }

    /// Returns a date or timestamp with a constant interval added or subtracted, if it is one.
    fn moved(self, of: &BinaryExpr, data_type: &DataType, schema: &DFSchema) -> Result<Option<Expression>> {
        let constant = |side: &Expr| match side {
            Expr::Literal(value, _) => interval(value),
            _ => None,
        };
        let (value, by) = match (constant(&of.left), constant(&of.right)) {
            (None, Some(by)) => (&of.left, by),
            (Some(by), None) if of.op == Operator::Plus => (&of.right, by),
            _ => return Ok(None),
        };
        let is_moment = |of: &DataType| matches!(kind_of(of), Some(Kind::Date | Kind::Timestamp { .. }));
        let value = self.expression(value, schema)?;
        if !is_moment(&value.data_type) || !is_moment(data_type) || !is_utc(data_type) {
            return Err(format!("an interval added to {}", value.data_type));
        }
        let value = cast_to(value, data_type.clone(), false)?;
        // The opposite of the least number is not one.
        let by = match of.op {
            Operator::Minus => {
                [by.months.checked_neg().map(i64::from), by.days.checked_neg().map(i64::from), by.nanos.checked_neg()]
            }
            _ => [Some(by.months.into()), Some(by.days.into()), Some(by.nanos)],
        };
        let mut arguments = vec![value];
        for part in by {
            let part = part.ok_or("an interval that has no opposite")?;
            arguments.push(Expression::new(DataType::Int64, Operation::Literal(Value::Int(part))));
        }
        Ok(Some(Expression::new(data_type.clone(), Operation::Call(Function::AddInterval, arguments))))
    }

    /// Adds the parts of a chain of one operator. A chain may be thousands long, and leans to the left.
    pub fn flatten(self, of: &BinaryExpr, op: Operator, schema: &DFSchema, to: &mut Vec<Expression>) -> Result<()> {
        let mut right = Vec::new();
        let mut at = of;
        let first = loop {
            right.push(&*at.right);
            match &*at.left {
                Expr::BinaryExpr(left) if left.op == op => at = left,
                left => break left,
            }
        };
        to.push(self.expression(first, schema)?);
        for part in right.into_iter().rev() {
            match part {
                Expr::BinaryExpr(part) if part.op == op => self.flatten(part, op, schema, to)?,
                part => to.push(self.expression(part, schema)?),
            }
        }
        Ok(())
    }

    pub fn between(self, of: &Between, schema: &DFSchema) -> Result<Expression> {
        let side = |op, bound: &Expr| {
            let of = BinaryExpr::new(of.expr.clone(), op, Box::new(bound.clone()));
            self.binary(&of, DataType::Boolean, schema)
        };
        let both = vec![side(Operator::GtEq, &of.low)?, side(Operator::LtEq, &of.high)?];
        let within = Expression::new(DataType::Boolean, Operation::And(both));
        if of.negated { not(within) } else { Ok(within) }
    }

    pub fn case(self, of: &Case, data_type: DataType, schema: &DFSchema) -> Result<Expression> {
        let values = of.when_then_expr.iter().map(|(_, then)| then).chain(&of.else_expr);
        for value in values {
            let other = type_of(value, schema)?;
            if other != DataType::Null && !is_same(&other, &data_type) {
                return Err(format!("'case' with values of {data_type} and {other}"));
            }
        }
        let mut branches = Vec::new();
        for (when, then) in &of.when_then_expr {
            let when = match &of.expr {
                Some(value) => {
                    let equal = BinaryExpr::new(value.clone(), Operator::Eq, when.clone());
                    self.binary(&equal, DataType::Boolean, schema)?
                }
                None => self.expression(when, schema)?,
            };
            branches.push((when, typed(self.expression(then, schema)?, &data_type)));
        }
        let otherwise = of.else_expr.as_ref().map(|of| self.expression(of, schema)).transpose()?;
        let otherwise = otherwise.map(|of| Box::new(typed(of, &data_type)));
        Ok(Expression::new(data_type, Operation::Case { branches, otherwise }))
    }

    /// Returns a conversion.
    fn cast(self, of: &Expr, data_type: DataType, lenient: bool, schema: &DFSchema) -> Result<Expression> {
        let from = type_of(of, schema)?;
        if from != data_type && (has_local_time(&from) || has_local_time(&data_type)) {
            return Err(format!("a cast of {from} to {data_type}"));
        }
        cast_to(self.expression(of, schema)?, data_type, lenient)
    }

    pub fn like(self, of: &Like, schema: &DFSchema) -> Result<Expression> {
        let Expr::Literal(ScalarValue::Utf8(Some(pattern)) | ScalarValue::Utf8View(Some(pattern)), _) = &*of.pattern
        else {
            return Err("'like' with a pattern that is no constant".into());
        };
        let operation = Operation::Like {
            value: Box::new(self.expression(&of.expr, schema)?),
            pattern: pattern.clone(),
            escape: of.escape_char,
            ignore_case: of.case_insensitive,
            negated: of.negated,
        };
        Ok(Expression::new(DataType::Boolean, operation))
    }
}

/// Returns the type of an expression. Fails if the executor has no values of it.
pub fn type_of(of: &Expr, schema: &DFSchema) -> Result<DataType> {
    let found = of.get_type(schema).map_err(|e| e.to_string())?;
    if kind_of(&found).is_some() { Ok(found) } else { Err(format!("values of type {found}")) }
}

/// Returns true for timestamps of a zone other than UTC, whose days and hours the executor does not know.
pub fn has_local_time(of: &DataType) -> bool {
    let is_utc = |zone: &str| ["utc", "gmt", "z", "+00", "+00:00", "+0000", "etc/utc"].contains(&zone);
    matches!(of, DataType::Timestamp(_, Some(zone)) if !is_utc(&zone.to_ascii_lowercase()))
}

fn not(of: Expression) -> Result<Expression> {
    Ok(Expression::new(DataType::Boolean, Operation::Not(Box::new(of))))
}

/// Returns `of is true` or `of is false`: never null.
fn is(of: Expression, value: bool) -> Result<Expression> {
    let value = Expression::new(DataType::Boolean, Operation::Literal(Value::Bool(value)));
    let sides = Box::new([of, value]);
    Ok(Expression::new(DataType::Boolean, Operation::Compare(Comparison::NotDistinct, sides)))
}

/// Returns a value in another type.
pub fn cast_to(value: Expression, data_type: DataType, lenient: bool) -> Result<Expression> {
    if value.data_type == data_type {
        return Ok(value);
    }
    // A text is a text, whatever the layout that Arrow gives it.
    let is_text = |of: &DataType| matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    if is_text(&value.data_type) && is_text(&data_type) {
        return Ok(Expression { data_type, ..value });
    }
    Ok(Expression::new(data_type, Operation::Cast { value: Box::new(value), lenient }))
}

/// Returns true for types with the same values. A text is a text, whatever the layout that Arrow gives it.
pub fn is_same(a: &DataType, b: &DataType) -> bool {
    let is_text = |of: &DataType| matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let is_binary = |of: &DataType| matches!(of, DataType::Binary | DataType::LargeBinary | DataType::BinaryView);
    a == b || is_text(a) && is_text(b) || is_binary(a) && is_binary(b)
}

/// Returns an expression with a type; a null has any.
pub fn typed(of: Expression, data_type: &DataType) -> Expression {
    match of.data_type == DataType::Null {
        true => Expression { data_type: data_type.clone(), ..of },
        false => of,
    }
}

impl Translation<'_> {
    /// Returns the type and the value of a constant.
    pub fn literal(of: &ScalarValue) -> Result<(DataType, Value)> {
        let data_type = of.data_type();
        if kind_of(&data_type).is_none() {
            return Err(format!("values of type {data_type}"));
        }
        let int = |value: Option<i64>| value.map_or(Value::Null, Value::Int);
        let bytes = |value: Option<&[u8]>| value.map_or(Value::Null, |bytes| Value::Bytes(bytes.to_vec()));
        let value = match of {
            ScalarValue::Null => Value::Null,
            ScalarValue::Boolean(v) => v.map_or(Value::Null, Value::Bool),
            ScalarValue::Float16(v) => v.map_or(Value::Null, |v| Value::Float(v.to_f64())),
            ScalarValue::Float32(v) => v.map_or(Value::Null, |v| Value::Float(v.into())),
            ScalarValue::Float64(v) => v.map_or(Value::Null, Value::Float),
            ScalarValue::Decimal32(v, ..) => v.map_or(Value::Null, |v| Value::Decimal(v.into())),
            ScalarValue::Decimal64(v, ..) => v.map_or(Value::Null, |v| Value::Decimal(v.into())),
            ScalarValue::Decimal128(v, ..) => v.map_or(Value::Null, Value::Decimal),
            ScalarValue::Int8(v) => int(v.map(i64::from)),
            ScalarValue::Int16(v) => int(v.map(i64::from)),
            ScalarValue::Int32(v) | ScalarValue::Date32(v) => int(v.map(i64::from)),
            ScalarValue::Time32Second(v) | ScalarValue::Time32Millisecond(v) => int(v.map(i64::from)),
            ScalarValue::Int64(v) | ScalarValue::Time64Microsecond(v) | ScalarValue::Time64Nanosecond(v) => int(*v),
            ScalarValue::UInt8(v) => int(v.map(i64::from)),
            ScalarValue::UInt16(v) => int(v.map(i64::from)),
            ScalarValue::UInt32(v) => int(v.map(i64::from)),
            ScalarValue::UInt64(v) => v.map_or(Value::Null, |v| Value::Decimal(v.into())),
            ScalarValue::Utf8(v) | ScalarValue::Utf8View(v) | ScalarValue::LargeUtf8(v) => {
                bytes(v.as_ref().map(|text| text.as_bytes()))
            }
            ScalarValue::Binary(v) | ScalarValue::BinaryView(v) | ScalarValue::LargeBinary(v) => bytes(v.as_deref()),
            ScalarValue::TimestampSecond(v, _)
            | ScalarValue::TimestampMillisecond(v, _)
            | ScalarValue::TimestampMicrosecond(v, _)
            | ScalarValue::TimestampNanosecond(v, _) => int(*v),
            other => return Err(format!("values of type {}", other.data_type())),
        };
        Ok((data_type, value))
    }
}

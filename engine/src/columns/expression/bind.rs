//! Types of an expression: each column gets its place, each value one type, and both sides of an operator the same.

use super::functions::Function;
use super::parse::{Op, Tree};
use super::pattern::Pattern;
use crate::columns::kind::{DECIMAL_DIGITS, Kind, Unit};
use crate::columns::text;
use crate::columns::vector::Value;
use yunti_base::{Code, Error, Result};

/// A column that expressions can name.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    pub kind: Kind,
}

/// An expression with types.
#[derive(Clone, Debug)]
pub struct Typed {
    pub kind: Kind,
    pub(super) node: Node,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    /// Column by its place.
    Column(usize),
    Constant(Value),
    Not(Box<Typed>),
    And(Box<Typed>, Box<Typed>),
    Or(Box<Typed>, Box<Typed>),
    /// Comparison of two values of one type.
    Compare(Op, Box<Typed>, Box<Typed>),
    /// Arithmetic on integers, on floats, or on decimals.
    Arithmetic(Op, Box<Typed>, Box<Typed>),
    IsNull(Box<Typed>),
    /// True for a value among others of its type.
    In(Box<Typed>, Vec<Value>),
    Like(Box<Typed>, Pattern),
    /// The same value in another type.
    Convert(Box<Typed>),
    Call(Function, Vec<Typed>),
    Case(Vec<(Typed, Typed)>, Box<Typed>),
}

/// Returns the typed form of a tree over columns. Errors: `Usage` for an unknown column, or types that do not fit.
pub fn bind(tree: &Tree, fields: &[Field]) -> Result<Typed> {
    let one = |tree: &Tree| bind(tree, fields);
    Ok(match tree {
        Tree::Column(name) => {
            let place = fields.iter().position(|field| field.name == *name).ok_or_else(|| {
                let names = fields.iter().map(|field| &field.name[..]).collect::<Vec<_>>().join(", ");
                Error::new(Code::Usage, format!("there is no column {name}")).hint(format!("there are {names}"))
            })?;
            Typed { kind: fields[place].kind, node: Node::Column(place) }
        }
        Tree::Number(text) => number(text)?,
        Tree::Text(text) => Typed::constant(Kind::Text, Value::Bytes(text.as_bytes().to_vec())),
        Tree::Typed(kind, text) => literal(*kind, text)?,
        Tree::Bool(value) => Typed::constant(Kind::Boolean, Value::Bool(*value)),
        Tree::Null => Typed::constant(Kind::Text, Value::Null),
        Tree::Not(inner) => Typed { kind: Kind::Boolean, node: Node::Not(condition(one(inner)?)?.into()) },
        Tree::Negative(inner) => {
            let inner = one(inner)?;
            if !inner.kind.is_number() {
                return Err(mismatch("- needs a number", inner.kind));
            }
            let zero = match inner.kind {
                Kind::Float | Kind::Float32 => Typed::constant(inner.kind, Value::Float(-0.0)),
                Kind::Decimal { .. } => Typed::constant(inner.kind, Value::Decimal(0)),
                _ => Typed::constant(Kind::Int, Value::Int(0)),
            };
            Typed { kind: inner.kind, node: Node::Arithmetic(Op::Subtract, zero.into(), inner.into()) }
        }
        Tree::Binary(op @ (Op::And | Op::Or), left, right) => {
            let (left, right) = (condition(one(left)?)?.into(), condition(one(right)?)?.into());
            let node = if *op == Op::And { Node::And(left, right) } else { Node::Or(left, right) };
            Typed { kind: Kind::Boolean, node }
        }
        Tree::Binary(Op::Concat, left, right) => {
            let parts = vec![convert(one(left)?, Kind::Text)?, convert(one(right)?, Kind::Text)?];
            Typed { kind: Kind::Text, node: Node::Call(Function::Concat, parts) }
        }
        Tree::Binary(op @ (Op::Add | Op::Subtract | Op::Multiply | Op::Divide | Op::Remainder), left, right) => {
            arithmetic(*op, one(left)?, one(right)?)?
        }
        Tree::Binary(op, left, right) => {
            let (left, right) = alike(one(left)?, one(right)?)?;
            Typed { kind: Kind::Boolean, node: Node::Compare(*op, left.into(), right.into()) }
        }
        Tree::IsNull(inner) => Typed { kind: Kind::Boolean, node: Node::IsNull(one(inner)?.into()) },
        Tree::In(inner, others) => membership(one(inner)?, others, fields)?,
        Tree::Like(inner, pattern) => {
            let Tree::Text(pattern) = &**pattern else {
                return Err(Error::new(Code::Usage, "the pattern of like must be a text in single quotes"));
            };
            let inner = one(inner)?;
            if inner.kind != Kind::Text {
                return Err(mismatch("like needs a text", inner.kind));
            }
            Typed { kind: Kind::Boolean, node: Node::Like(inner.into(), Pattern::of(pattern)) }
        }
        Tree::Cast(inner, kind) => convert(one(inner)?, *kind)?,
        Tree::Call(name, arguments) => call(name, arguments.iter().map(one).collect::<Result<_>>()?)?,
        Tree::CallAll(name) | Tree::CallDistinct(name, _) => return Err(no_function(name)),
        Tree::Case(branches, rest) => {
            let conditions = branches.iter().map(|(when, _)| condition(one(when)?)).collect::<Result<Vec<_>>>()?;
            let values = branches.iter().map(|(_, then)| then).chain([&**rest]).map(one).collect::<Result<Vec<_>>>()?;
            let mut values = all_alike(values)?;
            let rest = values.pop().expect("the value if none holds");
            Typed { kind: rest.kind, node: Node::Case(conditions.into_iter().zip(values).collect(), rest.into()) }
        }
    })
}

/// Returns a call of a function. Errors: `Usage` for an unknown name, or arguments that do not fit.
fn call(name: &str, arguments: Vec<Typed>) -> Result<Typed> {
    use Function::*;
    let function = Function::named(name).ok_or_else(|| no_function(name))?;
    let n = arguments.len();
    let right = match function {
        Coalesce | Concat => n >= 1,
        Nullif => n == 2,
        Round => n == 1 || n == 2,
        Substr => n == 2 || n == 3,
        _ => n == 1,
    };
    if !right {
        return Err(Error::new(Code::Usage, format!("{name} cannot have {n} arguments")));
    }
    let of = |arguments: Vec<Typed>, kind| Ok(Typed { kind, node: Node::Call(function, arguments) });
    let each = |arguments: Vec<Typed>, kind: Kind| -> Result<Vec<Typed>> {
        arguments.into_iter().map(|argument| convert(argument, kind)).collect()
    };
    match function {
        Coalesce | Nullif => {
            let arguments = all_alike(arguments)?;
            let kind = arguments[0].kind;
            of(arguments, kind)
        }
        Concat | Lower | Upper | Trim => of(each(arguments, Kind::Text)?, Kind::Text),
        Length => of(each(arguments, Kind::Text)?, Kind::Int),
        Substr => {
            let mut arguments = arguments.into_iter();
            let text = convert(arguments.next().expect("the text"), Kind::Text)?;
            let numbers = each(arguments.collect(), Kind::Int)?;
            of([vec![text], numbers].concat(), Kind::Text)
        }
        Abs | Round | Floor | Ceil => {
            let kind = arguments[0].kind;
            if !kind.is_number() {
                return Err(Error::new(Code::Usage, format!("{name} needs a number, not {kind}")));
            }
            let mut arguments = arguments.into_iter();
            let number = arguments.next().expect("the number");
            of([vec![number], each(arguments.collect(), Kind::Int)?].concat(), kind)
        }
        Year | Month | Day | Hour | Minute => {
            let kind = arguments[0].kind;
            let fits = matches!(
                (kind, function),
                (Kind::Date | Kind::Timestamp { .. }, Year | Month | Day)
                    | (Kind::Time(_) | Kind::Timestamp { .. }, Hour | Minute)
            );
            if !fits {
                return Err(Error::new(Code::Usage, format!("{name} needs a date or a time, not {kind}")));
            }
            of(arguments, Kind::Int)
        }
    }
}

/// Returns the error for a function that is not known where values are computed.
fn no_function(name: &str) -> Error {
    let hint = match name {
        "count" | "sum" | "min" | "max" | "avg" | "mean" => "aggregates are for yunti run aggregate --agg".to_string(),
        _ => format!("there are {}", Function::names()),
    };
    Error::new(Code::Usage, format!("there is no function {name}")).hint(hint)
}

fn mismatch(what: &str, found: Kind) -> Error {
    Error::new(Code::Usage, format!("{what}, not {found}"))
        .hint("convert it: cast(x as TYPE), with a type of SQL or Arrow")
}

fn condition(typed: Typed) -> Result<Typed> {
    match (typed.kind, &typed.node) {
        (Kind::Boolean, _) => Ok(typed),
        (_, Node::Constant(Value::Null)) => Ok(Typed::constant(Kind::Boolean, Value::Null)),
        (kind, _) => Err(mismatch("and, or, not and conditions need true or false", kind)),
    }
}

/// Returns the literal of a number: an integer, a decimal, or with an exponent a float.
fn number(text: &str) -> Result<Typed> {
    let wrong = || Error::new(Code::Usage, format!("the number {text} is too large"));
    if text.contains(['e', 'E']) {
        return Ok(Typed::constant(Kind::Float, Value::Float(text.parse().map_err(|_| wrong())?)));
    }
    if let Ok(value) = text.parse() {
        return Ok(Typed::constant(Kind::Int, Value::Int(value)));
    }
    let scale = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let kind = Kind::Decimal { scale: u8::try_from(scale).ok().filter(|&s| s <= DECIMAL_DIGITS).ok_or_else(wrong)? };
    let value = text::parse(kind, text.as_bytes()).ok_or_else(wrong)?;
    Ok(Typed::constant(kind, value))
}

fn literal(kind: Kind, text: &str) -> Result<Typed> {
    match text::parse(kind, text.as_bytes()) {
        Some(value) => Ok(Typed::constant(kind, value)),
        None => Err(Error::new(Code::Usage, format!("'{text}' is no value of the type {kind}"))),
    }
}

impl Typed {
    pub(super) fn constant(kind: Kind, value: Value) -> Typed {
        Typed { kind, node: Node::Constant(value) }
    }

    /// Returns the expression as floats. Errors: `Usage` if it has no numbers.
    pub fn to_float(self) -> Result<Typed> {
        convert(self, Kind::Float)
    }

    /// Returns the expression in another type. Errors: `Usage` if its values cannot be converted.
    pub fn to_kind(self, kind: Kind) -> Result<Typed> {
        convert(self, kind)
    }

    /// Returns the expression if it is a condition. Errors: `Usage`.
    pub fn into_condition(self) -> Result<Typed> {
        condition(self)
    }

    /// Returns the place of the column that the expression is, if it is one alone.
    pub fn column(&self) -> Option<usize> {
        match self.node {
            Node::Column(place) => Some(place),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        matches!(self.node, Node::Constant(Value::Null))
    }
}

/// Returns the type in which two values are compared; None if they cannot be.
pub fn common(a: Kind, b: Kind) -> Option<Kind> {
    use Kind::*;
    Some(match (a, b) {
        (a, b) if a == b => a,
        (Float | Float32, other) | (other, Float | Float32) if other.is_number() => Float,
        (Decimal { scale: a }, Decimal { scale: b }) => Decimal { scale: a.max(b) },
        (Decimal { scale }, Int) | (Int, Decimal { scale }) => Decimal { scale },
        (Date, Timestamp { unit, utc }) | (Timestamp { unit, utc }, Date) => Timestamp { unit, utc },
        (Timestamp { unit: a, utc: x }, Timestamp { unit: b, utc: y }) => Timestamp { unit: a.max(b), utc: x || y },
        (Time(a), Time(b)) => Time(Unit::max(a, b)),
        _ => return None,
    })
}

/// Returns two values in one type. A text literal is read as a value of the other type.
fn alike(a: Typed, b: Typed) -> Result<(Typed, Typed)> {
    let mut both = all_alike(vec![a, b])?;
    let b = both.pop().expect("two values");
    Ok((both.pop().expect("two values"), b))
}

/// Returns values in one type.
fn all_alike(values: Vec<Typed>) -> Result<Vec<Typed>> {
    let is_open = |typed: &Typed| matches!((&typed.node, typed.kind), (Node::Constant(_), Kind::Text));
    let mut kinds = values.iter().filter(|typed| !is_open(typed)).map(|typed| typed.kind);
    let kind = match kinds.next() {
        None => Kind::Text,
        Some(first) => kinds.try_fold(first, |kind, other| {
            common(kind, other).ok_or_else(|| mismatch(&format!("{kind} cannot be compared with another type"), other))
        })?,
    };
    values.into_iter().map(|typed| convert(typed, kind)).collect()
}

/// Returns a value in another type. Constants are converted at once.
fn convert(typed: Typed, kind: Kind) -> Result<Typed> {
    if typed.kind == kind {
        return Ok(typed);
    }
    if typed.is_null() {
        return Ok(Typed::constant(kind, Value::Null));
    }
    if let (Node::Constant(Value::Bytes(text)), Kind::Text) = (&typed.node, typed.kind) {
        return literal(kind, &String::from_utf8_lossy(text));
    }
    let is_constant = matches!(typed.node, Node::Constant(_));
    let is_time = |kind: Kind| matches!(kind, Kind::Date | Kind::Time(_) | Kind::Timestamp { .. });
    let possible = match (typed.kind, kind) {
        (_, Kind::Text) | (Kind::Text, _) => true,
        (a, b) if a.is_number() && b.is_number() => true,
        (Kind::Boolean, b) => b.is_number(),
        (Kind::Date, Kind::Time(_)) | (Kind::Time(_), Kind::Date | Kind::Timestamp { .. }) => false,
        (a, b) => is_time(a) && is_time(b),
    };
    if !possible {
        return Err(mismatch(&format!("{kind} cannot be made from another type"), typed.kind));
    }
    let converted = Typed { kind, node: Node::Convert(typed.into()) };
    if !is_constant {
        return Ok(converted);
    }
    let value = converted.evaluate(&[], 1)?.value(0);
    Ok(Typed::constant(kind, value))
}

fn arithmetic(op: Op, left: Typed, right: Typed) -> Result<Typed> {
    use Kind::*;
    let node = |left: Typed, right: Typed| Node::Arithmetic(op, left.into(), right.into());
    let is_sum = matches!(op, Op::Add | Op::Subtract);
    let (left, right) = match (left.is_null(), right.is_null()) {
        (true, true) => (convert(left, Int)?, convert(right, Int)?),
        (true, false) => (convert(left, right.kind)?, right),
        (false, true) => {
            let kind = left.kind;
            (left, convert(right, kind)?)
        }
        _ => (left, right),
    };
    let (kind, node) = match (left.kind, right.kind) {
        // Days.
        (Date, Int) if is_sum => (Date, node(left, right)),
        (Int, Date) if op == Op::Add => (Date, node(left, right)),
        (Date, Date) if op == Op::Subtract => (Int, node(left, right)),
        (a, b) if !a.is_number() || !b.is_number() => {
            return Err(mismatch("arithmetic needs numbers", if a.is_number() { b } else { a }));
        }
        (a, b) if op == Op::Divide || [a, b].iter().any(|kind| matches!(kind, Float | Float32)) => {
            (Float, node(convert(left, Float)?, convert(right, Float)?))
        }
        (Int, Int) => (Int, node(left, right)),
        (a, b) => {
            let scale = |kind: Kind| if let Decimal { scale } = kind { scale } else { 0 };
            let (a, b) = (scale(a), scale(b));
            if op == Op::Multiply && a + b > DECIMAL_DIGITS {
                (Float, node(convert(left, Float)?, convert(right, Float)?))
            } else if op == Op::Multiply {
                let sides = (convert(left, Decimal { scale: a })?, convert(right, Decimal { scale: b })?);
                (Decimal { scale: a + b }, node(sides.0, sides.1))
            } else {
                let kind = Decimal { scale: a.max(b) };
                (kind, node(convert(left, kind)?, convert(right, kind)?))
            }
        }
    };
    Ok(Typed { kind, node })
}

fn membership(inner: Typed, others: &[Tree], fields: &[Field]) -> Result<Typed> {
    let others = others.iter().map(|other| bind(other, fields)).collect::<Result<Vec<_>>>()?;
    if !others.iter().all(|other| matches!(other.node, Node::Constant(_))) {
        // Any of the comparisons.
        let each = others.into_iter().map(|other| {
            let (left, right) = alike(inner.clone(), other)?;
            Ok(Typed { kind: Kind::Boolean, node: Node::Compare(Op::Equal, left.into(), right.into()) })
        });
        let each: Vec<Typed> = each.collect::<Result<_>>()?;
        let either = |a: Typed, b: Typed| Typed { kind: Kind::Boolean, node: Node::Or(a.into(), b.into()) };
        return Ok(each.into_iter().reduce(either).expect("a value in the list"));
    }
    let mut all = all_alike(std::iter::once(inner).chain(others).collect())?;
    let inner = all.remove(0);
    let values = all.into_iter().filter_map(|typed| match typed.node {
        Node::Constant(value) => Some(value),
        _ => None,
    });
    let node = Node::In(inner.into(), values.collect());
    Ok(Typed { kind: Kind::Boolean, node })
}

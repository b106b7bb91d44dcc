//! Expressions over one object: its fields, what they refer to, and attributes such as `@retainedHeapSize`.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;

use yunti_base::Result;

use crate::answer::threads::text_of;
use crate::file::records::{OBJECT, value_bytes};
use crate::heap::{Dominator, Heap};
use crate::pass::locate::{Body, elements, value_at};

/// Value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Null reference, or a field that the object does not have.
    Null,
    /// Truth value.
    Bool(bool),
    /// Number of a field or attribute.
    Int(i64),
    /// Number with a fraction.
    Float(f64),
    /// Text.
    Text(String),
    /// Id of an object.
    Object(u64),
}

/// Operator with two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `or`
    Or,
    /// `and`
    And,
    /// `=`; null equals null
    Equal,
    /// `!=`, `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `like`
    Like,
    /// `not like`
    NotLike,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`, of whole numbers without the rest
    Divide,
}

/// Attribute of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attribute {
    /// Id, which is the address.
    Address,
    /// Shallow bytes.
    Shallow,
    /// Retained bytes.
    Retained,
    /// Elements of an array.
    Length,
    /// Name of the class.
    Class,
}

/// Expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// Literal.
    Constant(Value),
    /// The object itself.
    This,
    /// Field of an object, or static field of a class.
    Field(Box<Expression>, String),
    /// Element of an array.
    Element(Box<Expression>, Box<Expression>),
    /// Attribute of an object.
    Attribute(Box<Expression>, Attribute),
    /// Text of a string, else name and id of the object.
    ToText(Box<Expression>),
    /// `not`
    Not(Box<Expression>),
    /// `-` before a number
    Negative(Box<Expression>),
    /// Operator between two sides.
    Two(Operator, Box<Expression>, Box<Expression>),
}

/// Reason why an expression has no value yet.
#[derive(Debug)]
pub enum Missing {
    /// Object that must be read first.
    Object(u64),
    /// Failure.
    Failed(yunti_base::Error),
}

impl From<yunti_base::Error> for Missing {
    fn from(error: yunti_base::Error) -> Missing {
        Missing::Failed(error)
    }
}

/// Value, or what is missing for it.
pub type Known<T> = std::result::Result<T, Missing>;

/// Place of a field: its offset in the data, and its type.
type FieldPlace = Option<(usize, u8)>;

/// Evaluator of expressions over a heap.
pub struct Evaluator<'a> {
    heap: &'a Heap,
    /// Objects that were read; `None` for one without a record.
    bodies: HashMap<u64, Option<Body>>,
    /// Fields by class and name; `None` for a class without the field.
    fields: RefCell<HashMap<(u32, String), FieldPlace>>,
}

impl<'a> Evaluator<'a> {
    /// Returns an evaluator that has read nothing.
    pub fn new(heap: &'a Heap) -> Evaluator<'a> {
        Evaluator { heap, bodies: HashMap::new(), fields: RefCell::default() }
    }

    /// Reads some objects.
    pub fn read(&mut self, ids: &[u64]) -> Result<()> {
        let mut bodies = self.heap.bodies(ids)?;
        self.bodies.extend(ids.iter().map(|&id| (id, bodies.remove(&id))));
        Ok(())
    }

    /// Forgets all objects but one.
    pub fn read_alone(&mut self, id: u64, body: Body) {
        self.bodies.clear();
        self.bodies.insert(id, Some(body));
    }

    /// Returns the value for an object, or what is missing for it.
    pub fn value(&self, expression: &Expression, this: u64) -> Known<Value> {
        Ok(match expression {
            Expression::Constant(value) => value.clone(),
            Expression::This => Value::Object(this),
            Expression::Field(of, name) => match self.value(of, this)? {
                Value::Object(id) => self.field(id, name)?,
                _ => Value::Null,
            },
            Expression::Element(of, index) => match (self.value(of, this)?, self.value(index, this)?) {
                (Value::Object(id), Value::Int(index)) => self.element(id, index)?,
                _ => Value::Null,
            },
            Expression::Attribute(of, attribute) => match self.value(of, this)? {
                Value::Object(id) => self.attribute(id, *attribute)?,
                _ => Value::Null,
            },
            Expression::ToText(of) => match self.value(of, this)? {
                Value::Object(id) => Value::Text(self.text(id)?),
                Value::Null => Value::Null,
                other => Value::Text(other.to_string()),
            },
            Expression::Not(of) => match self.value(of, this)? {
                Value::Bool(is) => Value::Bool(!is),
                _ => Value::Null,
            },
            Expression::Negative(of) => match self.value(of, this)? {
                Value::Int(n) => Value::Int(n.wrapping_neg()),
                Value::Float(n) => Value::Float(-n),
                _ => Value::Null,
            },
            Expression::Two(Operator::And, a, b) => self.both(a, b, this, false)?,
            Expression::Two(Operator::Or, a, b) => self.both(a, b, this, true)?,
            Expression::Two(operator, a, b) => two(*operator, &self.value(a, this)?, &self.value(b, this)?),
        })
    }

    /// Returns `a and b`, or `a or b` if the decisive value is true. A side that decides alone needs not the other.
    fn both(&self, a: &Expression, b: &Expression, this: u64, decisive: bool) -> Known<Value> {
        let first = self.value(a, this);
        if matches!(first, Ok(Value::Bool(is)) if is == decisive) {
            return first;
        }
        let second = self.value(b, this);
        if matches!(second, Ok(Value::Bool(is)) if is == decisive) {
            return second;
        }
        Ok(match (first?, second?) {
            (Value::Bool(_), Value::Bool(_)) => Value::Bool(!decisive),
            _ => Value::Null,
        })
    }

    fn body(&self, id: u64) -> Known<Option<&Body>> {
        match self.bodies.get(&id) {
            Some(body) => Ok(body.as_ref()),
            None if id == 0 || self.heap.classes.index(id).is_some() || self.heap.ids.number(id).is_none() => Ok(None),
            None => Err(Missing::Object(id)),
        }
    }

    fn field(&self, id: u64, name: &str) -> Known<Value> {
        if let Some(class) = self.heap.classes.index(id) {
            for field in &self.heap.classes.list[class as usize].record.statics {
                if self.heap.text(field.name)? == name {
                    return Ok(of_field(field.kind, field.value, self.heap.map.id_bytes));
                }
            }
        }
        let Some(Body::Instance { class, data }) = self.body(id)? else { return Ok(Value::Null) };
        let Some(class) = self.heap.classes.index(*class) else { return Ok(Value::Null) };
        let Some((at, kind)) = self.place(class, name)? else { return Ok(Value::Null) };
        let id_bytes = self.heap.map.id_bytes;
        let bytes = data.get(at..at + value_bytes(kind, id_bytes).unwrap_or(0)).unwrap_or_default();
        Ok(of_field(kind, bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte)), id_bytes))
    }

    fn place(&self, class: u32, name: &str) -> Result<FieldPlace> {
        let key = (class, name.to_owned());
        if let Some(&known) = self.fields.borrow().get(&key) {
            return Ok(known);
        }
        let (mut at, mut found) = (0, None);
        for field in self.heap.classes.hierarchy(class).flat_map(|class| &class.record.fields) {
            if found.is_none() && self.heap.text(field.name)? == name {
                found = Some((at, field.kind));
            }
            at += value_bytes(field.kind, self.heap.map.id_bytes).unwrap_or(0);
        }
        self.fields.borrow_mut().insert(key, found);
        Ok(found)
    }

    fn element(&self, id: u64, index: i64) -> Known<Value> {
        let Ok(index) = u32::try_from(index) else { return Ok(Value::Null) };
        let id_bytes = self.heap.map.id_bytes;
        Ok(match self.body(id)? {
            Some(Body::Array { length, values_at, .. }) if index < *length => {
                let at = values_at + u64::from(index) * id_bytes as u64;
                let mut found = 0;
                elements(&self.heap.source, id_bytes, at, 1, |_, id| {
                    found = id;
                    false
                })?;
                of_field(OBJECT, found, id_bytes)
            }
            Some(Body::Primitive { kind, length, values_at }) if index < *length => {
                of_field(*kind, value_at(&self.heap.source, *kind, *values_at, index)?, id_bytes)
            }
            _ => Value::Null,
        })
    }

    fn attribute(&self, id: u64, attribute: Attribute) -> Known<Value> {
        let heap = self.heap;
        let int = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        Ok(match attribute {
            Attribute::Address => int(id),
            Attribute::Retained => {
                let place = heap.ids.number(id).map(|number| heap.forest.places[number as usize]);
                match place.filter(|&place| heap.dominator(place) != Dominator::Garbage) {
                    Some(place) => int(heap.retained(place)),
                    None => Value::Null,
                }
            }
            Attribute::Length => match self.body(id)? {
                Some(Body::Array { length, .. } | Body::Primitive { length, .. }) => Value::Int(i64::from(*length)),
                _ => Value::Null,
            },
            Attribute::Class => {
                let class = heap.class_of(id, self.body(id)?);
                Value::Text(heap.classes.list[class as usize].name.clone())
            }
            Attribute::Shallow => int(match self.body(id)? {
                Some(Body::Instance { class, .. }) => {
                    heap.classes.index(*class).map_or(0, |class| heap.classes.list[class as usize].shallow_bytes)
                }
                Some(Body::Array { class, length, .. }) => {
                    heap.classes.index(*class).map_or(0, |class| heap.classes.array_bytes(class, *length))
                }
                Some(Body::Primitive { kind, length, .. }) => heap.classes.primitive_array_bytes(*kind, *length),
                None => heap.classes.index(id).map_or(0, |class| heap.classes.list[class as usize].own_bytes),
            }),
        })
    }

    fn text(&self, id: u64) -> Known<String> {
        let body = self.body(id)?;
        let class = self.heap.class_of(id, body);
        if self.heap.classes.list[class as usize].name == "java.lang.String"
            && let Value::Object(array) = self.field(id, "value")?
        {
            let coder = if let Value::Int(coder) = self.field(id, "coder")? { coder as u64 } else { 0 };
            if let Some(array) = self.body(array)?
                && let Some(text) = text_of(self.heap, coder, array)?
            {
                return Ok(text);
            }
        }
        Ok(self.heap.name_of(id, body))
    }
}

/// Returns the value of a field whose bytes are a number.
fn of_field(kind: u8, value: u64, id_bytes: usize) -> Value {
    match kind {
        OBJECT if value == 0 || (id_bytes == 4 && value as u32 == 0) => Value::Null,
        OBJECT => Value::Object(value),
        4 => Value::Bool(value != 0),
        5 => Value::Int(i64::from(value as u16)),
        6 => Value::Float(f64::from(f32::from_bits(value as u32))),
        7 => Value::Float(f64::from_bits(value)),
        8 => Value::Int(i64::from(value as u8 as i8)),
        9 => Value::Int(i64::from(value as u16 as i16)),
        10 => Value::Int(i64::from(value as u32 as i32)),
        _ => Value::Int(value as i64),
    }
}

/// Returns the value of an operator.
pub fn two(operator: Operator, a: &Value, b: &Value) -> Value {
    let ordered = |is: fn(Ordering) -> bool| compare(a, b).map_or(Value::Null, |order| Value::Bool(is(order)));
    match operator {
        Operator::Equal => Value::Bool(is_equal(a, b)),
        Operator::NotEqual => Value::Bool(!is_equal(a, b)),
        Operator::Less => ordered(Ordering::is_lt),
        Operator::LessOrEqual => ordered(Ordering::is_le),
        Operator::Greater => ordered(Ordering::is_gt),
        Operator::GreaterOrEqual => ordered(Ordering::is_ge),
        Operator::Like | Operator::NotLike => match (a, b) {
            (Value::Text(text), Value::Text(pattern)) => {
                Value::Bool(is_like(text, pattern) == (operator == Operator::Like))
            }
            _ => Value::Null,
        },
        _ => arithmetic(operator, a, b),
    }
}

fn arithmetic(operator: Operator, a: &Value, b: &Value) -> Value {
    if let (Value::Int(a), Value::Int(b)) = (a, b) {
        return match operator {
            Operator::Add => Value::Int(a.wrapping_add(*b)),
            Operator::Subtract => Value::Int(a.wrapping_sub(*b)),
            Operator::Multiply => Value::Int(a.wrapping_mul(*b)),
            _ if *b == 0 => Value::Null,
            _ => Value::Int(a.wrapping_div(*b)),
        };
    }
    let (Some(a), Some(b)) = (number(a), number(b)) else { return Value::Null };
    Value::Float(match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        _ => a / b,
    })
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(n) => Some(*n as f64),
        Value::Float(n) => Some(*n),
        _ => None,
    }
}

fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        _ => compare(a, b) == Some(Ordering::Equal),
    }
}

/// Returns the order of two values of one type; numbers are one type, and an object is its id.
pub fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Object(a), Value::Object(b)) => Some(a.cmp(b)),
        (Value::Object(a), Value::Int(b)) => Some((*a as i64).cmp(b)),
        (Value::Int(a), Value::Object(b)) => Some(a.cmp(&(*b as i64))),
        _ => number(a)?.partial_cmp(&number(b)?),
    }
}

/// Returns true if a text matches a pattern of SQL: `%` for any text, `_` for one character.
pub fn is_like(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
    let (mut at, mut in_pattern, mut retry) = (0, 0, None);
    while at < text.len() {
        match pattern.get(in_pattern) {
            Some('%') => {
                retry = Some((in_pattern, at));
                in_pattern += 1;
            }
            Some(&c) if c == '_' || c == text[at] => {
                at += 1;
                in_pattern += 1;
            }
            _ => {
                // The last `%` takes a character more.
                let Some((percent, from)) = retry else { return false };
                retry = Some((percent, from + 1));
                (in_pattern, at) = (percent + 1, from + 1);
            }
        }
    }
    pattern[in_pattern..].iter().all(|&c| c == '%')
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(is) => write!(f, "{is}"),
            Value::Int(n) => write!(f, "{n}"),
            Value::Float(n) => write!(f, "{n}"),
            Value::Text(text) => f.write_str(text),
            Value::Object(id) => write!(f, "@{id:#x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_sql() {
        for (text, pattern, is) in [
            ("order-17", "order-%", true),
            ("order-17", "%17", true),
            ("order-17", "order-1_", true),
            ("order-17", "order", false),
            ("", "%", true),
            ("", "_", false),
            ("aXbXc", "a%X%c", true),
            ("aaaaaaaaaaaaaaaaaaaaaaaaab", "%a%a%a%a%c", false),
        ] {
            assert_eq!(is_like(text, pattern), is, "{text} {pattern}");
        }
    }

    #[test]
    fn fields_have_the_values_of_java() {
        for (kind, raw, value) in [
            (4, 1, Value::Bool(true)),
            (5, 0xffff, Value::Int(65535)),
            (6, 0x3fc0_0000, Value::Float(1.5)),
            (8, 0xff, Value::Int(-1)),
            (9, 0x8000, Value::Int(-32768)),
            (10, 0xffff_fffe, Value::Int(-2)),
            (11, u64::MAX, Value::Int(-1)),
            (OBJECT, 0, Value::Null),
            (OBJECT, 24, Value::Object(24)),
        ] {
            assert_eq!(of_field(kind, raw, 8), value);
        }
    }
}

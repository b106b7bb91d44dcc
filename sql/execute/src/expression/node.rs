//! Expressions made ready: literals folded, patterns and lists prepared, and what is known of each part noted.

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Bytes, Value};
use yunti_sql_plan::{Arithmetic, Comparison, Expression, Foreign, Function, Operation, kind_of};

use super::codes::Codes;
use super::operand::shapes_differ;
use super::predicate::like::Matcher;
use super::predicate::membership::Set;

/// Levels of an expression: each takes stack when it is computed, less than 1 KiB in a debug build.
pub const DEPTH_MAX: usize = 1_000;

/// A part of an expression.
pub struct Node {
    pub data_type: DataType,
    pub kind: Kind,
    pub operation: Prepared,
    /// The one column that the values depend on.
    pub column: Column,
    /// True if some value of its columns makes it an error.
    pub can_fail: bool,
    /// True if it reads whole texts: then fewer rows are worth a copy of their columns.
    pub is_costly: bool,
    /// Values for the dictionary of the column.
    pub codes: Option<Box<Codes>>,
}

/// Columns that an expression depends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Column {
    None,
    One(usize),
    Several,
}

/// The operation of a part; as `Operation`.
pub enum Prepared {
    Column(usize),
    Literal(Arc<Value>),
    Compare(Comparison, Box<[Node; 2]>),
    Arithmetic(Arithmetic, Box<[Node; 2]>),
    Negate(Box<Node>),
    /// `and`, or with `or` its opposite. Parts that are the same operation are taken apart.
    Logic {
        or: bool,
        parts: Vec<Node>,
    },
    Not(Box<Node>),
    IsNull(Box<Node>),
    Case(Case),
    Cast {
        value: Box<Node>,
        lenient: bool,
    },
    In {
        value: Box<Node>,
        set: Box<Set>,
        negated: bool,
    },
    Like {
        value: Box<Node>,
        matcher: Box<Matcher>,
        negated: bool,
    },
    Call(Function, Vec<Node>),
    Foreign(Arc<dyn Foreign>, Vec<Node>),
}

/// A choice.
pub struct Case {
    pub branches: Vec<(Node, Node)>,
    pub otherwise: Option<Box<Node>>,
    /// All values, if they are literal texts: then a row gets the number of its branch as a code.
    pub texts: Option<Arc<Bytes>>,
}

impl Column {
    fn and(self, other: Column) -> Column {
        match (self, other) {
            (Column::None, one) | (one, Column::None) => one,
            (Column::One(a), Column::One(b)) if a == b => self,
            _ => Column::Several,
        }
    }
}

/// Returns a part, or a literal of its value.
pub type Fold = fn(Node) -> Node;

/// Makes an expression ready: parts first, without a recursion. Each part passes through `fold`, which may put a
/// literal in its place. Errors: `Usage` if it is too deep, `Internal` for types that have no values here.
pub fn prepare(expression: &Expression, fold: Fold) -> Result<Node> {
    enum Step<'a> {
        Open(&'a Expression, usize),
        /// With the number of its parts.
        Close(&'a Expression, usize),
    }
    let mut steps = vec![Step::Open(expression, 1)];
    let mut done: Vec<Node> = Vec::new();
    while let Some(step) = steps.pop() {
        match step {
            Step::Open(_, level) if level > DEPTH_MAX => {
                let error = Error::new(Code::Usage, format!("an expression has more than {DEPTH_MAX} levels"));
                return Err(error.hint("compute parts of it in a subquery"));
            }
            Step::Open(one, level) => {
                let parts = parts(one);
                steps.push(Step::Close(one, parts.len()));
                steps.extend(parts.into_iter().rev().map(|part| Step::Open(part, level + 1)));
            }
            Step::Close(one, parts) => {
                let parts = done.split_off(done.len() - parts);
                done.push(fold(node(one, parts)?));
            }
        }
    }
    done.pop().ok_or_else(shapes_differ)
}

/// Returns the parts of an expression: of `and` in `and`, or `or` in `or`, those of both.
fn parts(expression: &Expression) -> Vec<&Expression> {
    if !matches!(expression.operation, Operation::And(_) | Operation::Or(_)) {
        return expression.children();
    }
    let or = matches!(expression.operation, Operation::Or(_));
    let mut parts = Vec::new();
    let mut stack = vec![expression];
    while let Some(one) = stack.pop() {
        match (&one.operation, or) {
            (Operation::And(inner), false) | (Operation::Or(inner), true) => stack.extend(inner.iter().rev()),
            _ => parts.push(one),
        }
    }
    parts
}

fn node(expression: &Expression, parts: Vec<Node>) -> Result<Node> {
    let data_type = expression.data_type.clone();
    let kind = kind_of(&data_type)
        .ok_or_else(|| Error::new(Code::Internal, format!("the executor has no values of the type {data_type}")))?;
    let mut column = parts.iter().fold(Column::None, |column, part| column.and(part.column));
    let below = parts.iter().any(|part| part.can_fail);
    let costly_below = parts.iter().any(|part| part.is_costly);
    let operation = operation(expression, parts)?;
    match operation {
        Prepared::Column(number) => column = Column::One(number),
        // The values of such a function are not computed ahead.
        Prepared::Foreign(..) if column == Column::None => column = Column::Several,
        _ => {}
    }
    let can_fail = below || fails(&operation, kind);
    let is_costly = costly_below || costs(&operation, kind);
    Ok(Node { data_type, kind, operation, column, can_fail, is_costly, codes: None })
}

impl Node {
    /// Returns true if a part that some of the rows need is best computed for all rows: nothing is copied then. It must
    /// not fail for the others. A number costs 1 ns to compare and 1 ns to copy, a pattern 7 ns and a text 5 ns.
    pub fn is_for_all(&self, needed: usize, rows: usize) -> bool {
        let few = if self.is_costly { needed * 4 < rows * 3 } else { needed * 4 < rows };
        needed == rows || (!self.can_fail && !few)
    }
}

/// Returns true if the operation reads whole texts, or makes them.
fn costs(operation: &Prepared, kind: Kind) -> bool {
    match operation {
        Prepared::Like { .. } | Prepared::Foreign(..) => true,
        Prepared::In { value, .. } | Prepared::Cast { value, .. } => value.kind == Kind::Text || kind == Kind::Text,
        Prepared::Call(_, arguments) => arguments.iter().any(|argument| argument.kind == Kind::Text),
        _ => false,
    }
}

/// Returns true if the operation itself can fail for values that its operands can have.
fn fails(operation: &Prepared, kind: Kind) -> bool {
    match operation {
        Prepared::Arithmetic(..) | Prepared::Negate(_) => !matches!(kind, Kind::Float | Kind::Float32),
        Prepared::Cast { lenient, .. } => !lenient,
        Prepared::Foreign(..) => true,
        Prepared::Call(function, _) => matches!(
            function,
            Function::Abs
                | Function::Floor
                | Function::Ceil
                | Function::Round
                | Function::DateTrunc
                | Function::AddInterval
                | Function::Substring
        ),
        _ => false,
    }
}

fn operation(expression: &Expression, parts: Vec<Node>) -> Result<Prepared> {
    let one = |parts: Vec<Node>| -> Result<Box<Node>> {
        let [one] = <[Node; 1]>::try_from(parts).map_err(|_| shapes_differ())?;
        Ok(Box::new(one))
    };
    let pair = |parts: Vec<Node>| -> Result<Box<[Node; 2]>> {
        Ok(Box::new(<[Node; 2]>::try_from(parts).map_err(|_| shapes_differ())?))
    };
    Ok(match &expression.operation {
        Operation::Column(number) => Prepared::Column(*number),
        Operation::Literal(value) => Prepared::Literal(Arc::new(value.clone())),
        Operation::Compare(how, _) => Prepared::Compare(*how, pair(parts)?),
        Operation::Arithmetic(how, _) => Prepared::Arithmetic(*how, pair(parts)?),
        Operation::Negate(_) => Prepared::Negate(one(parts)?),
        Operation::And(_) => Prepared::Logic { or: false, parts },
        Operation::Or(_) => Prepared::Logic { or: true, parts },
        Operation::Not(_) => Prepared::Not(one(parts)?),
        Operation::IsNull(_) => Prepared::IsNull(one(parts)?),
        Operation::Case { otherwise, .. } => Prepared::Case(case(parts, otherwise.is_some())),
        Operation::Cast { lenient, .. } => Prepared::Cast { value: one(parts)?, lenient: *lenient },
        Operation::In { list, negated, .. } => {
            Prepared::In { value: one(parts)?, set: Box::new(Set::of(list)), negated: *negated }
        }
        Operation::Like { pattern, escape, ignore_case, negated, .. } => {
            let matcher = Box::new(Matcher::of(pattern, *escape, *ignore_case));
            Prepared::Like { value: one(parts)?, matcher, negated: *negated }
        }
        Operation::Call(function, _) => Prepared::Call(*function, parts),
        Operation::Foreign(function, _) => Prepared::Foreign(function.clone(), parts),
        Operation::Scalar(_) => return Err(Error::new(Code::Internal, "the value of a plan is needed before it ran")),
    })
}

/// Returns a choice of conditions and values in turn, and the value if none holds.
fn case(mut parts: Vec<Node>, otherwise: bool) -> Case {
    let otherwise = if otherwise { parts.pop().map(Box::new) } else { None };
    let mut branches = Vec::with_capacity(parts.len() / 2);
    let mut parts = parts.into_iter();
    while let (Some(condition), Some(value)) = (parts.next(), parts.next()) {
        branches.push((condition, value));
    }
    let values = branches.iter().map(|(_, value)| value).chain(otherwise.as_deref());
    let literals: Option<Vec<&[u8]>> = values
        .map(|value| match &value.operation {
            Prepared::Literal(literal) => match &**literal {
                Value::Bytes(text) => Some(&text[..]),
                Value::Null if value.kind == Kind::Text => Some(&b""[..]),
                _ => None,
            },
            _ => None,
        })
        .collect();
    let texts = literals.filter(|all| !all.is_empty()).map(|all| Arc::new(all.into_iter().collect::<Bytes>()));
    Case { branches, otherwise, texts }
}

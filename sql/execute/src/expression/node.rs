//! Expressions made ready: literals folded, patterns and lists prepared, and what is known of each part noted.

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Bytes, Value};
use yunti_sql_plan::{Arithmetic, Comparison, Expression, Foreign, Function, Operation, kind_of};

use super::codes::Codes;
use super::like::Matcher;
use super::membership::Set;

/// Levels of an expression: each takes stack when it is computed, at most 1 KiB in a debug build.
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

/// What a part does; as `Operation`.
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
        set: Set,
        negated: bool,
    },
    Like {
        value: Box<Node>,
        matcher: Matcher,
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

/// Makes an expression ready. Errors: `Usage` if it is too deep, `Internal` for types that have no values here.
/// Each part passes through `fold`, which may put a literal in its place.
pub fn prepare(expression: &Expression, fold: Fold) -> Result<Node> {
    at_depth(expression, DEPTH_MAX, fold)
}

/// Returns a part, or a literal of its value.
pub type Fold = fn(Node) -> Node;

fn at_depth(expression: &Expression, left: usize, fold: Fold) -> Result<Node> {
    let Some(left) = left.checked_sub(1) else {
        let error = Error::new(Code::Usage, format!("an expression has more than {DEPTH_MAX} levels"));
        return Err(error.hint("compute parts of it in a subquery"));
    };
    let data_type = expression.data_type.clone();
    let kind = kind_of(&data_type)
        .ok_or_else(|| Error::new(Code::Internal, format!("the executor has no values of the type {data_type}")))?;
    let operation = operation(expression, left, fold)?;
    let mut column = match operation {
        Prepared::Column(number) => Column::One(number),
        _ => Column::None,
    };
    let mut can_fail = fails(&operation, kind);
    operation.visit(&mut |child| {
        column = column.and(child.column);
        can_fail |= child.can_fail;
    });
    // The value of such a function is not its own alone: it is not computed ahead.
    if column == Column::None && matches!(operation, Prepared::Foreign(..)) {
        column = Column::Several;
    }
    Ok(fold(Node { data_type, kind, operation, column, can_fail, codes: None }))
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
                | Function::Substring
        ),
        _ => false,
    }
}

#[inline(never)]
fn operation(expression: &Expression, left: usize, fold: Fold) -> Result<Prepared> {
    let pair = |sides: &[Expression; 2]| -> Result<Box<[Node; 2]>> {
        Ok(Box::new([at_depth(&sides[0], left, fold)?, at_depth(&sides[1], left, fold)?]))
    };
    let one = |of: &Expression| at_depth(of, left, fold).map(Box::new);
    let all = |of: &[Expression]| of.iter().map(|one| at_depth(one, left, fold)).collect::<Result<Vec<_>>>();
    Ok(match &expression.operation {
        Operation::Column(number) => Prepared::Column(*number),
        Operation::Literal(value) => Prepared::Literal(Arc::new(value.clone())),
        Operation::Compare(how, sides) => Prepared::Compare(*how, pair(sides)?),
        Operation::Arithmetic(how, sides) => Prepared::Arithmetic(*how, pair(sides)?),
        Operation::Negate(of) => Prepared::Negate(one(of)?),
        Operation::And(_) => logic(expression, false, left, fold)?,
        Operation::Or(_) => logic(expression, true, left, fold)?,
        Operation::Not(of) => Prepared::Not(one(of)?),
        Operation::IsNull(of) => Prepared::IsNull(one(of)?),
        Operation::Case { branches, otherwise } => case(branches, otherwise.as_deref(), left, fold)?,
        Operation::Cast { value, lenient } => Prepared::Cast { value: one(value)?, lenient: *lenient },
        Operation::In { value, list, negated } => {
            let value = one(value)?;
            Prepared::In { set: Set::of(list), value, negated: *negated }
        }
        Operation::Like { value, pattern, escape, ignore_case, negated } => Prepared::Like {
            value: one(value)?,
            matcher: Matcher::of(pattern, *escape, *ignore_case),
            negated: *negated,
        },
        Operation::Call(function, arguments) => Prepared::Call(*function, all(arguments)?),
        Operation::Foreign(function, arguments) => Prepared::Foreign(function.clone(), all(arguments)?),
    })
}

/// Returns `and` or `or` of all parts, also of those that stand in parts of the same operation.
fn logic(expression: &Expression, or: bool, left: usize, fold: Fold) -> Result<Prepared> {
    let mut parts = Vec::new();
    let mut stack = vec![expression];
    while let Some(one) = stack.pop() {
        match (&one.operation, or) {
            (Operation::And(inner), false) | (Operation::Or(inner), true) => stack.extend(inner.iter().rev()),
            _ => parts.push(at_depth(one, left, fold)?),
        }
    }
    Ok(Prepared::Logic { or, parts })
}

fn case(
    branches: &[(Expression, Expression)],
    otherwise: Option<&Expression>,
    left: usize,
    fold: Fold,
) -> Result<Prepared> {
    let branches = branches
        .iter()
        .map(|(condition, value)| Ok((at_depth(condition, left, fold)?, at_depth(value, left, fold)?)))
        .collect::<Result<Vec<_>>>()?;
    let otherwise = otherwise.map(|of| at_depth(of, left, fold)).transpose()?.map(Box::new);
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
    Ok(Prepared::Case(Case { branches, otherwise, texts }))
}

impl Prepared {
    fn visit(&self, f: &mut dyn FnMut(&Node)) {
        match self {
            Prepared::Column(_) | Prepared::Literal(_) => {}
            Prepared::Compare(_, sides) | Prepared::Arithmetic(_, sides) => sides.iter().for_each(f),
            Prepared::Negate(of) | Prepared::Not(of) | Prepared::IsNull(of) => f(of),
            Prepared::Logic { parts, .. } => parts.iter().for_each(f),
            Prepared::Call(_, all) | Prepared::Foreign(_, all) => all.iter().for_each(f),
            Prepared::Case(case) => {
                case.branches.iter().flat_map(|(condition, value)| [condition, value]).for_each(&mut *f);
                case.otherwise.as_deref().into_iter().for_each(f);
            }
            Prepared::Cast { value, .. } | Prepared::In { value, .. } | Prepared::Like { value, .. } => f(value),
        }
    }
}

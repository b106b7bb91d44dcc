//! Scans and joins that need only some keys of a table with an index.
//!
//! ```text
//!   scan users where user_id in (1, 2)           -->  keys (1), (2)
//!   scan shops where shop = 'n' and day in (1, 2) -->  keys ('n', 1), ('n', 2)
//!   join orders with users on o.user = u.user_id -->  the keys of each batch of orders
//! ```
//!
//! Both follow from a plan as it stands, so that a plan that has travelled, or whose subqueries have become values,
//! has them too. The conditions stay where they are: rows that a look-up finds must meet them.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_schema::DataType;
use yunti_engine::columns::vector::Value;

use crate::expression::{Comparison, Expression, Operation};
use crate::kind::kind_of;
use crate::node::{Join, JoinKind, Node, Scan};
use crate::table::TableIndex;

/// Keys of a scan at most: beyond them, all rows are read.
const KEYS_MAX: usize = 1 << 20;

/// Values of the columns of a key, as far as they are known.
type Known = Vec<Option<Value>>;

/// Keys that the rows of a scan must have, each once: a value for each column of the key.
pub type Keys = Vec<Vec<Value>>;

/// Returns the keys that the rows of a scan must have; None if the conditions name none, or if the table has no index.
pub fn keys_of(scan: &Scan) -> Option<(Arc<dyn TableIndex>, Keys)> {
    if scan.conditions.is_empty() {
        return None;
    }
    let index = scan.table.source.index()?;
    let all = all_of(&scan.conditions, index.key())?;
    let whole = all.into_iter().map(|known| known.into_iter().collect::<Option<Vec<Value>>>());
    let keys = whole.collect::<Option<Keys>>()?;
    let mut seen = HashSet::new();
    let keys = keys.into_iter().filter(|key| seen.insert(format!("{key:?}"))).collect();
    Some((index, keys))
}

/// Returns the alternatives of which a row must have one; None if it may have any key.
fn alternatives(condition: &Expression, key: &[usize]) -> Option<Vec<Known>> {
    let one = |place: usize, value: Value| {
        let mut known = vec![None; key.len()];
        known[place] = Some(value);
        known
    };
    let place = |of: &Expression| match of.operation {
        Operation::Column(column) => key.iter().position(|own| *own == column),
        _ => None,
    };
    match &condition.operation {
        Operation::Column(_) => Some(vec![one(place(condition)?, Value::Bool(true))]),
        Operation::Not(of) if matches!(of.operation, Operation::Column(_)) => {
            Some(vec![one(place(of)?, Value::Bool(false))])
        }
        Operation::Compare(Comparison::Equal | Comparison::NotDistinct, sides) => {
            let (column, value) = match (&sides[0].operation, &sides[1].operation) {
                (Operation::Column(_), Operation::Literal(value)) => (&sides[0], value),
                (Operation::Literal(value), Operation::Column(_)) => (&sides[1], value),
                _ => return None,
            };
            let place = place(column)?;
            // No key equals null.
            Some(if *value == Value::Null { Vec::new() } else { vec![one(place, value.clone())] })
        }
        Operation::In { value, list, negated: false } if list.len() <= KEYS_MAX => {
            let place = place(value)?;
            Some(list.iter().filter(|of| **of != Value::Null).map(|of| one(place, of.clone())).collect())
        }
        Operation::Or(all) => {
            let parts = all.iter().map(|of| alternatives(of, key)).collect::<Option<Vec<_>>>()?;
            let all: Vec<Known> = parts.into_iter().flatten().collect();
            (all.len() <= KEYS_MAX).then_some(all)
        }
        Operation::And(all) => all_of(all, key),
        _ => None,
    }
}

/// Returns the alternatives of which a row must have one, if it meets all conditions.
fn all_of(conditions: &[Expression], key: &[usize]) -> Option<Vec<Known>> {
    let mut so_far: Option<Vec<Known>> = None;
    for own in conditions.iter().filter_map(|of| alternatives(of, key)) {
        so_far = Some(match so_far {
            None => own,
            // Conditions beyond the limit are left to the rows.
            Some(before) if before.len().saturating_mul(own.len()) > KEYS_MAX => before,
            Some(before) => before.iter().flat_map(|a| own.iter().filter_map(|b| both(a, b))).collect(),
        });
    }
    so_far
}

/// Returns what two alternatives say together; None if they contradict each other.
fn both(a: &Known, b: &Known) -> Option<Known> {
    let one = |(a, b): (&Option<Value>, &Option<Value>)| match (a, b) {
        (Some(a), Some(b)) if a != b => None,
        (a, b) => Some(a.as_ref().or(b.as_ref()).cloned()),
    };
    a.iter().zip(b).map(one).collect()
}

/// A join whose rows of one side look up their partners in a table.
pub struct Lookup<'j> {
    pub index: Arc<dyn TableIndex>,
    /// True if the left side is the table.
    pub is_left: bool,
    pub scan: &'j Scan,
    /// Number of the table's field that each column of the side is.
    pub columns: Vec<usize>,
    /// Conditions over the table's fields.
    pub conditions: Vec<Expression>,
    /// The join with the keys of the index alone, in their order; other keys are conditions. Its table is on the side
    /// of the look-up.
    pub join: Join,
}

/// Returns the look-up of a join; None if neither side is a table with an index whose key the join names whole.
pub fn of(join: &Join) -> Option<Lookup<'_>> {
    // The side with fewer rows looks up the other.
    let first = !join.build_left;
    [first, !first]
        .into_iter()
        .filter(|is_left| may_be_looked_up(join.kind, *is_left))
        .find_map(|is_left| side(join, is_left))
}

/// Returns true if no row of a side stands in the result by itself.
fn may_be_looked_up(kind: JoinKind, is_left: bool) -> bool {
    match kind {
        JoinKind::Inner => true,
        JoinKind::Left | JoinKind::LeftSemi | JoinKind::LeftAnti | JoinKind::LeftMark => !is_left,
        JoinKind::Right | JoinKind::RightSemi | JoinKind::RightAnti => is_left,
        JoinKind::Full => false,
    }
}

fn side(join: &Join, is_left: bool) -> Option<Lookup<'_>> {
    let (scan, columns, conditions) = table_of(if is_left { &join.left } else { &join.right })?;
    let index = scan.table.source.index()?;
    let own = |(left, right): &(Expression, Expression)| field_of(if is_left { left } else { right }, &columns, scan);
    let fields: Vec<Option<usize>> = join.keys.iter().map(own).collect();
    let number = |field: &usize| fields.iter().position(|own| *own == Some(*field));
    let numbers = index.key().iter().map(number).collect::<Option<Vec<usize>>>()?;
    let keys = numbers.iter().map(|number| join.keys[*number].clone()).collect();
    let mut all: Vec<Expression> = join.condition.iter().cloned().collect();
    let width = join.left.types().len();
    for (_, (left, right)) in join.keys.iter().enumerate().filter(|(number, _)| !numbers.contains(number)) {
        let mut right = right.clone();
        right.renumber(&|column| column + width);
        let how = if join.nulls_equal { Comparison::NotDistinct } else { Comparison::Equal };
        let equal = Operation::Compare(how, Box::new([left.clone(), right]));
        all.push(Expression::new(DataType::Boolean, equal));
    }
    let condition = match all.len() {
        0 | 1 => all.pop(),
        _ => Some(Expression::new(DataType::Boolean, Operation::And(all))),
    };
    // The inputs stay where they are: a caller that runs the other side has them in the join itself.
    let join = Join { keys, condition, build_left: is_left, ..join.clone() };
    Some(Lookup { index, is_left, scan, columns, conditions, join })
}

/// Returns the columns of an operator that are the key of a table with an index, whose rows it has; None for another.
pub fn key_columns(node: &Node) -> Option<Vec<usize>> {
    let (scan, columns, _) = table_of(node)?;
    let column = |field: &usize| columns.iter().position(|own| own == field);
    scan.table.source.index()?.key().iter().map(column).collect()
}

/// Returns the scan below filters and projections to columns, with the field of each column, and all conditions.
fn table_of(node: &Node) -> Option<(&Scan, Vec<usize>, Vec<Expression>)> {
    match node {
        Node::Scan(scan) if scan.limit.is_none() => Some((scan, scan.columns.clone(), scan.conditions.clone())),
        Node::Project { input, expressions } => {
            let (scan, columns, conditions) = table_of(input)?;
            // Values in another shape are not those of the field.
            let column = |of: &Expression| {
                let field = field_of(of, &columns, scan)?;
                (kind_of(&of.data_type) == kind_of(&scan.table.fields[field].data_type)).then_some(field)
            };
            Some((scan, expressions.iter().map(column).collect::<Option<_>>()?, conditions))
        }
        Node::Filter { input, condition } => {
            let (scan, columns, mut conditions) = table_of(input)?;
            let mut condition = condition.clone();
            condition.renumber(&|column| columns[column]);
            conditions.push(condition);
            Some((scan, columns, conditions))
        }
        _ => None,
    }
}

/// Returns the field with the values of an expression; a conversion to a wider type changes none.
fn field_of(of: &Expression, columns: &[usize], scan: &Scan) -> Option<usize> {
    match &of.operation {
        Operation::Column(column) => columns.get(*column).copied(),
        Operation::Cast { value, .. } => {
            let field = field_of(value, columns, scan)?;
            holds_all(&of.data_type, &scan.table.fields[field].data_type).then_some(field)
        }
        _ => None,
    }
}

/// Returns true if a type has all values of another.
fn holds_all(wide: &DataType, narrow: &DataType) -> bool {
    use DataType::{Binary, BinaryView, Decimal128, LargeBinary, LargeUtf8, Utf8, Utf8View};
    // Bits of a magnitude, and true for a sign.
    let whole = |of: &DataType| match of {
        DataType::Int8 => Some((7, true)),
        DataType::Int16 => Some((15, true)),
        DataType::Int32 => Some((31, true)),
        DataType::Int64 => Some((63, true)),
        DataType::UInt8 => Some((8, false)),
        DataType::UInt16 => Some((16, false)),
        DataType::UInt32 => Some((32, false)),
        DataType::UInt64 => Some((64, false)),
        // Digits of a decimal are more than three bits each.
        Decimal128(digits, 0) => Some((u32::from(*digits) * 33 / 10, true)),
        _ => None,
    };
    match (wide, narrow) {
        (Utf8 | LargeUtf8 | Utf8View, Utf8) | (Binary | LargeBinary | BinaryView, Binary) => true,
        (wide, narrow) => match (whole(wide), whole(narrow)) {
            (Some((wide_bits, wide_sign)), Some((bits, sign))) => wide_bits >= bits && (wide_sign || !sign),
            _ => wide == narrow,
        },
    }
}

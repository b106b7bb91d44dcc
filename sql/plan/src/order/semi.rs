//! Semi joins whose rows are looked up: of a table with an index, the rows that have a partner among fewer rows.
//!
//! ```text
//!   users where user_id in (select buyer from orders)
//!     -->  each buyer once, joined with users by look-ups
//! ```
//!
//! A scan would read all rows of the table to keep some. An anti join keeps the others, and stays as it is.

use crate::expression::Expression;
use crate::lookup;
use crate::node::{Join, JoinKind, Node};

use super::estimate;

/// Cost of a look-up, in rows of a scan.
const LOOK_UP_ROWS: f64 = 4.0;

/// Returns a semi join as a join by look-ups, if that reads fewer rows; else as it is.
pub fn looked_up(join: Join) -> Node {
    let is_left = match join.kind {
        JoinKind::LeftSemi => true,
        JoinKind::RightSemi => false,
        _ => return Node::Join(join),
    };
    let (table, other) = if is_left { (&join.left, &join.right) } else { (&join.right, &join.left) };
    let is_whole_key = lookup::key_columns(table).is_some_and(|key| key.len() == join.keys.len());
    let rows = |of: &Node| estimate::of(of).rows;
    if !is_whole_key || join.condition.is_some() || rows(other) * LOOK_UP_ROWS >= rows(table) {
        return Node::Join(join);
    }
    // A row of the table has one partner: each key once. Null is no key of it.
    let (own, others): (Vec<_>, Vec<_>) =
        join.keys.iter().cloned().map(|(left, right)| if is_left { (left, right) } else { (right, left) }).unzip();
    let column = |(n, of): (usize, &Expression)| Expression::column(n, of.data_type.clone());
    let keys = own.into_iter().zip(others.iter().enumerate().map(column)).collect();
    let input = other.clone();
    let distinct = Node::Aggregate { input, keys: others, sets: Vec::new(), aggregates: Vec::new() };
    let inner = Join {
        left: table.clone(),
        right: Box::new(distinct),
        kind: JoinKind::Inner,
        keys,
        nulls_equal: false,
        condition: None,
        build_left: false,
    };
    if !lookup::of(&inner).is_some_and(|of| of.is_left) {
        return Node::Join(join);
    }
    let types = inner.left.types();
    let expressions = types.into_iter().enumerate().map(|(n, of)| Expression::column(n, of)).collect();
    Node::Project { input: Box::new(Node::Join(inner)), expressions }
}

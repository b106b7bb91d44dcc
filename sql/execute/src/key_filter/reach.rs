//! Columns of an operator's inputs that a filter on its output may be moved to.
//!
//! ```text
//!   project, filter, union        a column that passes unchanged
//!   sort                          any column, unless only the first rows are wanted
//!   aggregate                     a key: groups outside the set leave as a whole
//!   window                        a key of the partition
//!   join                          a column of a side whose rows are not kept without a partner, or of the side that
//!                                 is kept; and the key of the other side that equals it
//! ```

use arrow_schema::DataType;
use yunti_sql_plan::{Expression, Join, JoinKind, Node, Operation};

use super::KeyFilter;

/// Returns the filters on an input that follow from filters on the output.
pub fn below(node: &Node, filters: &[KeyFilter], input: usize) -> Vec<KeyFilter> {
    moved(filters, input, |column| places(node, column))
}

/// Returns the filters on a side of a join, 0 for the left one, that follow from filters on its output.
pub fn below_join(join: &Join, filters: &[KeyFilter], side: usize) -> Vec<KeyFilter> {
    moved(filters, side, |column| of_join(join, column))
}

fn moved(filters: &[KeyFilter], input: usize, places: impl Fn(usize) -> Vec<(usize, usize)>) -> Vec<KeyFilter> {
    let mut all = Vec::new();
    for filter in filters {
        let places = places(filter.column).into_iter().filter(|(of, _)| *of == input);
        all.extend(places.map(|(_, column)| KeyFilter { column, set: filter.set.clone() }));
    }
    all
}

/// Returns true if a filter on a column of the output reaches a scan.
pub fn has_scan(node: &Node, column: usize) -> bool {
    if let Node::Scan(scan) = node {
        return scan.limit.is_none();
    }
    let inputs = node.inputs();
    places(node, column).into_iter().any(|(input, column)| has_scan(inputs[input], column))
}

/// Returns the inputs and their columns that a filter on a column of the output may be moved to.
fn places(node: &Node, column: usize) -> Vec<(usize, usize)> {
    let of = |expression: Option<&Expression>| match expression.map(|of| &of.operation) {
        Some(Operation::Column(column)) => vec![(0, *column)],
        _ => Vec::new(),
    };
    match node {
        Node::Filter { .. } | Node::Sort { limit: None, .. } => vec![(0, column)],
        Node::Project { expressions, .. } => of(expressions.get(column)),
        Node::Aggregate { keys, sets, .. } if sets.is_empty() => of(keys.get(column)),
        Node::Union { inputs } => (0..inputs.len()).map(|input| (input, column)).collect(),
        Node::Window(window) => {
            let is_key = |key: &Expression| matches!(key.operation, Operation::Column(of) if of == column);
            if window.partition.iter().any(is_key) { vec![(0, column)] } else { Vec::new() }
        }
        Node::Join(join) => of_join(join, column),
        _ => Vec::new(),
    }
}

fn of_join(join: &Join, column: usize) -> Vec<(usize, usize)> {
    let left = join.left.types().len();
    let (side, own) = match join.kind {
        JoinKind::Inner if column >= left => (1, column - left),
        JoinKind::Inner => (0, column),
        JoinKind::Left | JoinKind::LeftSemi | JoinKind::LeftAnti | JoinKind::LeftMark if column < left => (0, column),
        JoinKind::Right if column >= left => (1, column - left),
        JoinKind::RightSemi | JoinKind::RightAnti => (1, column),
        _ => return Vec::new(),
    };
    let mut all = vec![(side, own)];
    if join.nulls_equal {
        return all;
    }
    for (left, right) in &join.keys {
        let (this, other) = if side == 0 { (left, right) } else { (right, left) };
        // Floats that are equal can differ: -0.0 and 0.0.
        let is_float = matches!(this.data_type, DataType::Float16 | DataType::Float32 | DataType::Float64);
        if let (Operation::Column(this), Operation::Column(other)) = (&this.operation, &other.operation)
            && *this == own
            && !is_float
        {
            all.push((1 - side, *other));
        }
    }
    all
}

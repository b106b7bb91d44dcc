//! Operators. Each takes the rows of its inputs and gives rows, whose columns are numbered from 0.

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_engine::columns::vector::Value;

use crate::aggregate::Aggregate;
use crate::expression::Expression;
use crate::table::Table;
use crate::window::WindowCall;

/// An operator with its inputs.
#[derive(Clone, Debug)]
pub enum Node {
    Scan(Scan),
    /// Rows that stand in the query. Without a column and with one row: the input of `select 1`.
    Values {
        types: Vec<DataType>,
        rows: Vec<Vec<Value>>,
    },
    /// Rows that meet a condition.
    Filter {
        input: Box<Node>,
        condition: Expression,
    },
    /// A value of each expression for each row.
    Project {
        input: Box<Node>,
        expressions: Vec<Expression>,
    },
    /// A row for each group: its keys, then its aggregates. Without keys: one row, even if there is no input.
    /// `sets` has the keys of each grouping set, by their numbers; keys outside the set are null, and the number of the
    /// set follows the keys as a column (UInt32) . Empty: one set of all keys, and no such column.
    Aggregate {
        input: Box<Node>,
        keys: Vec<Expression>,
        sets: Vec<Vec<usize>>,
        aggregates: Vec<Aggregate>,
    },
    Join(Join),
    /// Rows in the order of the keys; of them the first `limit`. Rows that are equal in all keys are in the order of
    /// all their columns, so that the order never depends on threads.
    Sort {
        input: Box<Node>,
        keys: Vec<SortKey>,
        limit: Option<usize>,
    },
    /// `count` rows behind the first `skip`.
    Limit {
        input: Box<Node>,
        skip: usize,
        count: Option<usize>,
    },
    /// Rows of all inputs, in their order. All have the same types.
    Union {
        inputs: Vec<Node>,
    },
    Window(Window),
    Recursive(Recursive),
    /// Rows of the recursive plan of this name that its step takes.
    Work {
        name: String,
        types: Vec<DataType>,
    },
}

/// Rows of a table.
#[derive(Clone, Debug)]
pub struct Scan {
    pub table: Arc<Table>,
    /// Columns that it gives: numbers of the table's fields.
    pub columns: Vec<usize>,
    /// Conditions over the table's fields, by their numbers in the table, which all rows must meet. Their columns need
    /// not be among `columns`.
    pub conditions: Vec<Expression>,
    /// Rows that are enough, if an operator above takes no more.
    pub limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    Inner,
    Left,
    Right,
    Full,
    /// Rows of the left side that have a match, or none.
    LeftSemi,
    LeftAnti,
    RightSemi,
    RightAnti,
    /// All rows of the left side, and a boolean: true if there is a match.
    LeftMark,
}

/// Pairs of rows of two inputs: columns of the left side, then those of the right side.
#[derive(Clone, Debug)]
pub struct Join {
    pub left: Box<Node>,
    pub right: Box<Node>,
    pub kind: JoinKind,
    /// Equal keys: an expression over the left side and one over the right side, of one type. Empty: all pairs.
    pub keys: Vec<(Expression, Expression)>,
    /// True if null keys are equal to each other.
    pub nulls_equal: bool,
    /// Condition on a pair, over the columns of both sides, also for kinds that give only one side.
    pub condition: Option<Expression>,
    /// True if the table is built of the left side's rows and the right side's rows look into it.
    pub build_left: bool,
}

/// Rows of `seed`; then rows that `step` makes of them, then rows that it makes of these, until it makes none. Within
/// the step, `Node::Work` of the same name stands for the rows that came last.
#[derive(Clone, Debug)]
pub struct Recursive {
    pub name: String,
    pub seed: Box<Node>,
    /// Not an input in the sense of `Node::inputs`: it runs many times.
    pub step: Box<Node>,
    /// True if a row that was there before is not there again, neither as a result nor for the step.
    pub distinct: bool,
    /// Rows that are enough.
    pub limit: Option<usize>,
}

#[derive(Clone, Debug)]
pub struct SortKey {
    pub value: Expression,
    pub descending: bool,
    pub nulls_first: bool,
}

/// Values computed from the rows around each row: all columns of the input, then those of the calls.
#[derive(Clone, Debug)]
pub struct Window {
    pub input: Box<Node>,
    /// Rows with equal values are a partition; a call takes rows of its row's partition alone.
    pub partition: Vec<Expression>,
    /// Order of the rows of a partition. Rows that are equal in all keys are peers. Peers are in the order of all their
    /// columns, so that no value depends on threads.
    pub order: Vec<SortKey>,
    pub calls: Vec<WindowCall>,
}

impl Node {
    /// Returns the types of its columns.
    pub fn types(&self) -> Vec<DataType> {
        let of = |expressions: &[Expression]| expressions.iter().map(|of| of.data_type.clone()).collect::<Vec<_>>();
        match self {
            Node::Scan(scan) => scan.columns.iter().map(|&n| scan.table.fields[n].data_type.clone()).collect(),
            Node::Values { types, .. } | Node::Work { types, .. } => types.clone(),
            Node::Recursive(recursive) => recursive.seed.types(),
            Node::Filter { input, .. } | Node::Sort { input, .. } | Node::Limit { input, .. } => input.types(),
            Node::Project { expressions, .. } => of(expressions),
            Node::Aggregate { keys, sets, aggregates, .. } => {
                let set = (!sets.is_empty()).then_some(DataType::UInt32);
                of(keys).into_iter().chain(set).chain(aggregates.iter().map(|of| of.data_type.clone())).collect()
            }
            Node::Join(join) => join.types(),
            Node::Union { inputs } => inputs.first().map(Node::types).unwrap_or_default(),
            Node::Window(window) => {
                let calls = window.calls.iter().map(|call| call.data_type.clone());
                window.input.types().into_iter().chain(calls).collect()
            }
        }
    }

    /// Returns its inputs.
    pub fn inputs(&self) -> Vec<&Node> {
        match self {
            Node::Scan(_) | Node::Values { .. } | Node::Work { .. } => Vec::new(),
            Node::Filter { input, .. }
            | Node::Project { input, .. }
            | Node::Aggregate { input, .. }
            | Node::Sort { input, .. }
            | Node::Limit { input, .. } => vec![input],
            Node::Join(join) => vec![&join.left, &join.right],
            Node::Union { inputs } => inputs.iter().collect(),
            Node::Window(window) => vec![&window.input],
            Node::Recursive(recursive) => vec![&recursive.seed],
        }
    }

    /// Returns its inputs.
    pub fn inputs_mut(&mut self) -> Vec<&mut Node> {
        match self {
            Node::Scan(_) | Node::Values { .. } | Node::Work { .. } => Vec::new(),
            Node::Filter { input, .. }
            | Node::Project { input, .. }
            | Node::Aggregate { input, .. }
            | Node::Sort { input, .. }
            | Node::Limit { input, .. } => vec![input],
            Node::Join(join) => vec![&mut join.left, &mut join.right],
            Node::Union { inputs } => inputs.iter_mut().collect(),
            Node::Window(window) => vec![&mut window.input],
            Node::Recursive(recursive) => vec![&mut recursive.seed],
        }
    }

    /// Returns the expressions that it computes for its rows.
    pub fn expressions(&self) -> Vec<&Expression> {
        match self {
            Node::Scan(scan) => scan.conditions.iter().collect(),
            Node::Filter { condition, .. } => vec![condition],
            Node::Project { expressions, .. } => expressions.iter().collect(),
            Node::Aggregate { keys, aggregates, .. } => {
                let calls = aggregates.iter().flat_map(Aggregate::expressions);
                keys.iter().chain(calls).collect()
            }
            Node::Join(join) => {
                join.keys.iter().flat_map(|(left, right)| [left, right]).chain(&join.condition).collect()
            }
            Node::Sort { keys, .. } => keys.iter().map(|key| &key.value).collect(),
            Node::Window(window) => {
                let order = window.order.iter().map(|key| &key.value);
                let arguments = window.calls.iter().flat_map(|call| call.arguments.iter().chain(&call.condition));
                window.partition.iter().chain(order).chain(arguments).collect()
            }
            Node::Values { .. } | Node::Limit { .. } | Node::Union { .. } => Vec::new(),
            Node::Recursive(_) | Node::Work { .. } => Vec::new(),
        }
    }

    /// Returns the expressions that it computes for its rows.
    pub fn expressions_mut(&mut self) -> Vec<&mut Expression> {
        match self {
            Node::Scan(scan) => scan.conditions.iter_mut().collect(),
            Node::Filter { condition, .. } => vec![condition],
            Node::Project { expressions, .. } => expressions.iter_mut().collect(),
            Node::Aggregate { keys, aggregates, .. } => {
                let calls = aggregates.iter_mut().flat_map(Aggregate::expressions_mut);
                keys.iter_mut().chain(calls).collect()
            }
            Node::Join(join) => {
                join.keys.iter_mut().flat_map(|(left, right)| [left, right]).chain(&mut join.condition).collect()
            }
            Node::Sort { keys, .. } => keys.iter_mut().map(|key| &mut key.value).collect(),
            Node::Window(window) => {
                let order = window.order.iter_mut().map(|key| &mut key.value);
                let calls = window.calls.iter_mut();
                let arguments = calls.flat_map(|call| call.arguments.iter_mut().chain(&mut call.condition));
                window.partition.iter_mut().chain(order).chain(arguments).collect()
            }
            Node::Values { .. } | Node::Limit { .. } | Node::Union { .. } => Vec::new(),
            Node::Recursive(_) | Node::Work { .. } => Vec::new(),
        }
    }
}

impl Join {
    /// Returns the types of its columns.
    pub fn types(&self) -> Vec<DataType> {
        match self.kind {
            JoinKind::LeftSemi | JoinKind::LeftAnti => self.left.types(),
            JoinKind::RightSemi | JoinKind::RightAnti => self.right.types(),
            JoinKind::LeftMark => self.left.types().into_iter().chain([DataType::Boolean]).collect(),
            _ => self.left.types().into_iter().chain(self.right.types()).collect(),
        }
    }
}

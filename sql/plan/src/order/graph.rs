//! A tree of inner joins as inputs and conditions between them. Columns are numbered through all inputs, in the order
//! of the inputs in the query.

use crate::expression::{Comparison, Expression, Operation};
use crate::node::{Join, JoinKind, Node};
use arrow_schema::DataType;

/// Inputs of joins, and what their rows must meet together.
pub struct Graph {
    pub inputs: Vec<Input>,
    /// Equal values of two inputs, with the set of inputs of each side.
    pub keys: Vec<Key>,
    /// Other conditions, with the set of their inputs.
    pub conditions: Vec<(Expression, u64)>,
    /// Columns that the tree gives.
    pub output: Vec<usize>,
    /// True if null keys are equal; all joins of a tree agree.
    pub nulls_equal: bool,
    /// Right sides of the joins above the operator that is added: they are inputs to come.
    waiting: usize,
}

/// One input of the tree.
pub struct Input {
    pub node: Node,
    /// Number of its first column.
    pub first: usize,
    pub columns: usize,
}

/// Two expressions that must be equal.
pub struct Key {
    pub left: Expression,
    pub right: Expression,
    pub left_inputs: u64,
    pub right_inputs: u64,
}

impl Key {
    /// Returns true if one set of inputs has the left expression, and the other the right one.
    pub fn fits(&self, left: u64, right: u64) -> bool {
        self.left_inputs & !left == 0 && self.right_inputs & !right == 0
    }
}

/// Inputs of a tree at most: they are bits of a word.
const INPUTS_MAX: usize = 64;

impl Graph {
    /// Takes a tree of joins apart. `order`: puts the inputs themselves in order.
    pub fn of(plan: Node, order: &mut impl FnMut(Node) -> Node) -> Graph {
        let nulls_equal = matches!(&plan, Node::Join(join) if join.nulls_equal);
        let (inputs, keys, conditions, output) = Default::default();
        let mut graph = Graph { inputs, keys, conditions, output, nulls_equal, waiting: 0 };
        graph.output = graph.add(plan, order);
        graph
    }

    /// Adds an operator. Returns the number of each of its columns.
    fn add(&mut self, node: Node, order: &mut impl FnMut(Node) -> Node) -> Vec<usize> {
        match node {
            Node::Join(join)
                if join.kind == JoinKind::Inner
                    && join.nulls_equal == self.nulls_equal
                    && self.inputs.len() + self.waiting + 2 <= INPUTS_MAX =>
            {
                self.waiting += 1;
                let left = self.add(*join.left, order);
                self.waiting -= 1;
                let right = self.add(*join.right, order);
                for (mut a, mut b) in join.keys {
                    a.renumber(&|n| left[n]);
                    b.renumber(&|n| right[n]);
                    self.add_key(a, b);
                }
                let both: Vec<usize> = left.into_iter().chain(right).collect();
                if let Some(mut condition) = join.condition {
                    condition.renumber(&|n| both[n]);
                    self.add_condition(condition);
                }
                both
            }
            Node::Filter { input, condition } if is_part(&input) => {
                let columns = self.add(*input, order);
                let mut condition = condition;
                condition.renumber(&|n| columns[n]);
                self.add_condition(condition);
                columns
            }
            Node::Project { input, expressions } if is_part(&input) && expressions.iter().all(is_column) => {
                let columns = self.add(*input, order);
                let number = |of: &Expression| match of.operation {
                    Operation::Column(n) => columns[n],
                    _ => unreachable!("all are columns"),
                };
                expressions.iter().map(number).collect()
            }
            node => {
                let first = self.inputs.last().map_or(0, |last| last.first + last.columns);
                let node = order(node);
                let columns = node.types().len();
                self.inputs.push(Input { node, first, columns });
                (first..first + columns).collect()
            }
        }
    }

    /// Returns the inputs whose columns an expression needs, as bits.
    pub fn inputs_of(&self, expression: &Expression) -> u64 {
        let mut bits = 0;
        expression.visit_columns(&mut |column| {
            bits |= 1 << self.inputs.partition_point(|input| input.first + input.columns <= column);
        });
        bits
    }

    /// Returns the condition that two values are equal, as keys of these joins are.
    pub fn equal(&self, left: Expression, right: Expression) -> Expression {
        let how = if self.nulls_equal { Comparison::NotDistinct } else { Comparison::Equal };
        Expression::new(DataType::Boolean, Operation::Compare(how, Box::new([left, right])))
    }

    fn add_key(&mut self, left: Expression, right: Expression) {
        let (left_inputs, right_inputs) = (self.inputs_of(&left), self.inputs_of(&right));
        if left_inputs & right_inputs != 0 || left_inputs == 0 || right_inputs == 0 {
            return self.conditions.push((self.equal(left, right), left_inputs | right_inputs));
        }
        self.keys.push(Key { left, right, left_inputs, right_inputs });
    }

    fn add_condition(&mut self, condition: Expression) {
        match condition.operation {
            Operation::And(all) => all.into_iter().for_each(|part| self.add_condition(part)),
            Operation::Compare(Comparison::Equal, sides) if !self.nulls_equal => {
                let [left, right] = *sides;
                self.add_key(left, right);
            }
            _ => {
                let inputs = self.inputs_of(&condition);
                self.conditions.push((condition, inputs));
            }
        }
    }
}

fn is_column(of: &Expression) -> bool {
    matches!(of.operation, Operation::Column(_))
}

/// Returns true for an operator that a tree can have below its top: a join, or a filter or projection over one.
fn is_part(node: &Node) -> bool {
    match node {
        Node::Join(Join { kind, .. }) => *kind == JoinKind::Inner,
        Node::Filter { input, .. } => is_part(input),
        Node::Project { input, expressions } => expressions.iter().all(is_column) && is_part(input),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_engine::columns::vector::Value;

    fn one_row() -> Node {
        Node::Values { types: vec![DataType::Int64], rows: vec![vec![Value::Int(1)]] }
    }

    fn join(left: Node, right: Node) -> Node {
        let key = || Expression::column(0, DataType::Int64);
        Node::Join(Join {
            left: Box::new(left),
            right: Box::new(right),
            kind: JoinKind::Inner,
            keys: vec![(key(), key())],
            nulls_equal: false,
            condition: None,
            build_left: true,
        })
    }

    fn joins(of: &Node) -> usize {
        match of {
            Node::Join(join) => 1 + joins(&join.left) + joins(&join.right),
            Node::Project { input, .. } | Node::Filter { input, .. } => joins(input),
            _ => 0,
        }
    }

    #[test]
    fn more_inputs_than_bits_are_trees_of_their_own() {
        let deep = |inputs: usize| (1..inputs).fold(one_row(), |left, _| join(left, one_row()));
        let right_deep = |inputs: usize| (1..inputs).fold(one_row(), |right, _| join(one_row(), right));
        let bushy = |levels: usize| {
            (0..levels).fold(vec![one_row(); 1 << levels], |all, _| {
                all.chunks(2).map(|pair| join(pair[0].clone(), pair[1].clone())).collect()
            })
        };
        for (plan, count) in [
            (deep(64), 63),
            (deep(65), 64),
            (deep(200), 199),
            (right_deep(150), 149),
            (bushy(6).remove(0), 63),
            (bushy(7).remove(0), 127),
        ] {
            let graph = Graph::of(plan.clone(), &mut |node| node);
            assert!(graph.inputs.len() <= INPUTS_MAX, "{} inputs", graph.inputs.len());
            assert_eq!(joins(&super::super::order(plan)), count);
        }
    }
}

//! The search for the tree of joins that costs least: dynamic programming over sets of inputs, which finds bushy trees
//! too; beyond `EXACT_INPUTS` inputs, the pair that gives the fewest rows is joined first, again and again.
//!
//! The cost of a join is the rows that are put in its table, which miss the cache if they are many, the rows that look
//! into it, and the rows that it gives. A table with an index costs a look-up for each row of the other side.

use std::collections::HashMap;

use super::estimate::{self, ColumnEstimate, Estimate, divisor};
use super::graph::{Graph, Input};
use crate::expression::{Expression, Operation};
use crate::lookup;
use crate::node::{Join, JoinKind, Node};
use arrow_schema::DataType;

/// Inputs up to which all trees are tried: 3 to this power pairs of sets.
const EXACT_INPUTS: usize = 11;
/// Cost of a row that is put in a table, that looks into one, and that is given, in units of one another.
const BUILD_COST: f64 = 3.0;
const PROBE_COST: f64 = 1.0;
const OUTPUT_COST: f64 = 1.0;
/// Cost of a row that looks up a table by its index, with the row that it finds.
const LOOKUP_COST: f64 = 3.0;
/// Rows of a table that stays in the cache; look-ups in a larger one cost this much more.
const CACHED_ROWS: f64 = 200_000.0;
const MISS_COST: f64 = 2.0;
/// A join without keys is the last resort.
const CROSS_COST: f64 = 1e3;

/// A tree over a set of inputs.
#[derive(Clone)]
struct Tree {
    rows: f64,
    cost: f64,
    /// Sets of the side that the table is built of, and of the other; none for an input.
    sides: Option<(u64, u64)>,
}

struct Search<'g> {
    graph: &'g Graph,
    estimates: Vec<Estimate>,
    /// Columns of each input that are the key of its index.
    indexed: Vec<Option<Vec<usize>>>,
    best: HashMap<u64, Tree>,
}

/// Returns the tree as a plan with the columns that the graph gives.
pub fn tree(graph: Graph) -> Node {
    let estimates: Vec<Estimate> = graph.inputs.iter().map(|input| estimate::of(&input.node)).collect();
    let leaf = |(n, of): (usize, &Estimate)| (1u64 << n, Tree { rows: of.rows, cost: 0.0, sides: None });
    let best = estimates.iter().enumerate().map(leaf).collect();
    let n = graph.inputs.len();
    let all = if n == 64 { u64::MAX } else { (1 << n) - 1 };
    let key = |input: &Input| {
        Some(lookup::key_columns(&input.node)?.into_iter().map(|column| input.first + column).collect())
    };
    let indexed = graph.inputs.iter().map(key).collect();
    let mut search = Search { graph: &graph, estimates, indexed, best };
    if n <= EXACT_INPUTS {
        search.exact(all)
    } else {
        search.greedy(n)
    }
    let sides: HashMap<u64, (u64, u64)> =
        search.best.iter().filter_map(|(set, tree)| Some((*set, tree.sides?))).collect();
    Build { graph, sides }.whole(all)
}

impl Search<'_> {
    fn exact(&mut self, all: u64) {
        for set in 1..=all {
            if set.count_ones() < 2 {
                continue;
            }
            let mut best: Option<Tree> = None;
            let mut part = (set - 1) & set;
            while part > 0 {
                let other = set & !part;
                if part < other {
                    let tree = self.join(part, other);
                    if best.as_ref().is_none_or(|best| tree.cost < best.cost) {
                        best = Some(tree);
                    }
                }
                part = (part - 1) & set;
            }
            self.best.extend(best.map(|tree| (set, tree)));
        }
    }

    fn greedy(&mut self, n: usize) {
        let mut sets: Vec<u64> = (0..n).map(|n| 1 << n).collect();
        while sets.len() > 1 {
            let mut best: Option<(Tree, usize, usize)> = None;
            for b in 1..sets.len() {
                for a in 0..b {
                    let tree = self.join(sets[a], sets[b]);
                    let own = |of: &Tree| of.cost - self.best[&sets[a]].cost - self.best[&sets[b]].cost;
                    if best.as_ref().is_none_or(|(so_far, x, y)| {
                        own(&tree) < so_far.cost - self.best[&sets[*x]].cost - self.best[&sets[*y]].cost
                    }) {
                        best = Some((tree, a, b));
                    }
                }
            }
            let Some((tree, a, b)) = best else { return };
            let set = sets[a] | sets[b];
            self.best.insert(set, tree);
            sets.swap_remove(b);
            sets[a] = set;
        }
    }

    /// Returns the estimate of a key's side: a column of an input, or an expression over some.
    fn side(&self, of: &Expression, inputs: u64) -> ColumnEstimate {
        let rows = self.best.get(&inputs).map_or(1e9, |tree| tree.rows);
        match of.operation {
            Operation::Column(column) => {
                let input = inputs.trailing_zeros() as usize;
                self.estimates[input].columns[column - self.graph.inputs[input].first]
            }
            _ => ColumnEstimate { distinct: rows, range: None },
        }
    }

    /// Returns true if a set is one input, and rows of another set can look up its rows by an index.
    fn has_index(&self, set: u64, other: u64) -> bool {
        if !set.is_power_of_two() {
            return false;
        }
        let Some(columns) = &self.indexed[set.trailing_zeros() as usize] else { return false };
        let is_equal = |column: &usize| {
            self.graph.keys.iter().any(|key| {
                let side = if key.fits(set, other) {
                    &key.left
                } else if key.fits(other, set) {
                    &key.right
                } else {
                    return false;
                };
                let mut names = Vec::new();
                side.visit_columns(&mut |own| names.push(own));
                matches!(side.operation, Operation::Column(_) | Operation::Cast { .. }) && names == [*column]
            })
        };
        columns.iter().all(is_equal)
    }

    /// Returns the join of two sets.
    fn join(&self, a: u64, b: u64) -> Tree {
        let (left, right) = (&self.best[&a], &self.best[&b]);
        let mut keys = Vec::new();
        for key in &self.graph.keys {
            if key.fits(a, b) || key.fits(b, a) {
                let pair = (self.side(&key.left, key.left_inputs), self.side(&key.right, key.right_inputs));
                keys.push(pair);
            }
        }
        // Rows of the tables themselves bound the values of a key of several columns.
        let base = |set: u64| (0..self.estimates.len()).filter(move |n| set >> n & 1 == 1);
        let most = |set: u64| {
            let distinct = |n: usize| self.estimates[n].columns.iter().fold(1.0, |most: f64, of| most.max(of.distinct));
            base(set).map(distinct).fold(1.0, f64::max)
        };
        let mut rows = left.rows * right.rows / divisor(&keys, most(a), most(b));
        for (_, inputs) in &self.graph.conditions {
            if inputs & !(a | b) == 0 && inputs & !a != 0 && inputs & !b != 0 {
                rows /= 3.0;
            }
        }
        let rows = rows.max(1.0);
        let (build, probe, sides) =
            if left.rows <= right.rows { (left.rows, right.rows, (a, b)) } else { (right.rows, left.rows, (b, a)) };
        let miss = if build > CACHED_ROWS { MISS_COST } else { 1.0 };
        let looked_up = [(a, b, right.rows), (b, a, left.rows)]
            .into_iter()
            .filter(|(table, other, _)| self.has_index(*table, *other));
        let own = match looked_up.map(|(.., rows)| rows).reduce(f64::min) {
            Some(looking) => looking * LOOKUP_COST + rows * OUTPUT_COST,
            None => build * BUILD_COST * miss + probe * PROBE_COST * miss + rows * OUTPUT_COST,
        };
        let own = if keys.is_empty() { own + CROSS_COST * left.rows * right.rows } else { own };
        Tree { rows, cost: left.cost + right.cost + own, sides: Some(sides) }
    }
}

/// Makes operators of the tree that was found.
struct Build {
    graph: Graph,
    sides: HashMap<u64, (u64, u64)>,
}

impl Build {
    fn whole(mut self, all: u64) -> Node {
        let output = std::mem::take(&mut self.graph.output);
        let (node, columns) = self.node(all, &output);
        project(node, &columns, &output)
    }

    /// Returns the operator of a set, and the number of each of its columns. `wanted`: columns needed above.
    fn node(&mut self, set: u64, wanted: &[usize]) -> (Node, Vec<usize>) {
        let Some((build, probe)) = self.sides.get(&set).copied() else { return self.input(set, wanted) };
        let mut needed = wanted.to_vec();
        let (mut keys, mut conditions) = (Vec::new(), Vec::new());
        for key in &self.graph.keys {
            let pair = if key.fits(build, probe) {
                (&key.left, &key.right)
            } else if key.fits(probe, build) {
                (&key.right, &key.left)
            } else {
                continue;
            };
            keys.push((pair.0.clone(), pair.1.clone()));
        }
        for (condition, inputs) in &self.graph.conditions {
            // A key whose side needs inputs of both sets is a condition here.
            if inputs & !set == 0 && inputs & !build != 0 && inputs & !probe != 0 {
                conditions.push(condition.clone());
            }
        }
        for key in &self.graph.keys {
            let inputs = key.left_inputs | key.right_inputs;
            let within = |side: u64| inputs & !side == 0;
            if within(set) && !within(build) && !within(probe) && !key.fits(build, probe) && !key.fits(probe, build) {
                conditions.push(self.graph.equal(key.left.clone(), key.right.clone()));
            }
        }
        let mut need = |of: &Expression| of.visit_columns(&mut |column| needed.push(column));
        keys.iter().for_each(|(a, b)| [a, b].into_iter().for_each(&mut need));
        conditions.iter().for_each(need);
        needed.sort_unstable();
        needed.dedup();
        let of = |side: u64, graph: &Graph| -> Vec<usize> {
            let input = |column: usize| graph.inputs.partition_point(|input| input.first + input.columns <= column);
            needed.iter().copied().filter(|&column| side >> input(column) & 1 == 1).collect()
        };
        let (left_needed, right_needed) = (of(build, &self.graph), of(probe, &self.graph));
        let (left, left_columns) = self.node(build, &left_needed);
        let (right, right_columns) = self.node(probe, &right_needed);
        let place = |columns: &[usize], column: usize| {
            columns.iter().position(|&own| own == column).expect("a side gives the columns that are needed")
        };
        for (a, b) in &mut keys {
            a.renumber(&|column| place(&left_columns, column));
            b.renumber(&|column| place(&right_columns, column));
        }
        let columns: Vec<usize> = left_columns.into_iter().chain(right_columns).collect();
        conditions.iter_mut().for_each(|of| of.renumber(&|column| place(&columns, column)));
        let condition = match conditions.len() {
            0 => None,
            1 => conditions.pop(),
            _ => Some(Expression::new(DataType::Boolean, Operation::And(conditions))),
        };
        let node = Node::Join(Join {
            left: Box::new(left),
            right: Box::new(right),
            kind: JoinKind::Inner,
            keys,
            nulls_equal: self.graph.nulls_equal,
            condition,
            build_left: true,
        });
        // Columns that only this join needed go no further.
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let left_over: Vec<usize> = columns.iter().copied().filter(|column| wanted.contains(column)).collect();
        (project(node, &columns, &left_over), left_over)
    }

    /// Returns an input with the conditions that need no other.
    fn input(&mut self, set: u64, wanted: &[usize]) -> (Node, Vec<usize>) {
        let n = set.trailing_zeros() as usize;
        let input = &mut self.graph.inputs[n];
        let (first, count) = (input.first, input.columns);
        let mut node = std::mem::replace(&mut input.node, Node::Union { inputs: Vec::new() });
        for (condition, inputs) in &self.graph.conditions {
            if inputs & !set == 0 {
                let mut condition = condition.clone();
                condition.renumber(&|column| column - first);
                node = Node::Filter { input: Box::new(node), condition };
            }
        }
        let columns: Vec<usize> = (first..first + count).collect();
        let left_over: Vec<usize> = columns.iter().copied().filter(|column| wanted.contains(column)).collect();
        (project(node, &columns, &left_over), left_over)
    }
}

/// Returns some columns of an operator. `columns`: the numbers that its own have.
fn project(node: Node, columns: &[usize], wanted: &[usize]) -> Node {
    if columns == wanted {
        return node;
    }
    let types = node.types();
    let place = |column: &usize| columns.iter().position(|own| own == column).expect("it gives what is wanted");
    let expressions = wanted.iter().map(place).map(|n| Expression::column(n, types[n].clone())).collect();
    Node::Project { input: Box::new(node), expressions }
}

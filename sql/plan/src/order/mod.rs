//! Order of joins: of all trees of inner joins over the same inputs, the one that is estimated to cost least.
//!
//! ```text
//!   estimate.rs   rows of an operator, and different values of its columns, from statistics of tables
//!   graph.rs      a tree of inner joins as inputs and conditions between them
//!   semi.rs       semi joins that become look-ups
//!   search.rs     dynamic programming over sets of inputs; greedy beyond some number of them
//! ```
//!
//! The estimates decide nothing but speed: any order gives the same rows.

pub mod estimate;
mod graph;
mod search;
mod semi;

use crate::node::{Join, JoinKind, Node, Recursive};

/// Returns a plan with its inner joins in another order, and the smaller side of each join as its table.
pub fn order(plan: Node) -> Node {
    match plan {
        Node::Join(Join { kind: JoinKind::Inner, .. }) => {
            let graph = graph::Graph::of(plan, &mut order);
            search::tree(graph)
        }
        Node::Project { input, expressions } => Node::Project { input: Box::new(order(*input)), expressions },
        Node::Filter { input, condition } => Node::Filter { input: Box::new(order(*input)), condition },
        Node::Aggregate { input, keys, sets, aggregates } => {
            Node::Aggregate { input: Box::new(order(*input)), keys, sets, aggregates }
        }
        Node::Join(join) => {
            let mut join = Join { left: Box::new(order(*join.left)), right: Box::new(order(*join.right)), ..join };
            join.build_left = estimate::of(&join.left).rows < estimate::of(&join.right).rows;
            semi::looked_up(join)
        }
        Node::Sort { input, keys, limit } => Node::Sort { input: Box::new(order(*input)), keys, limit },
        Node::Limit { input, skip, count } => Node::Limit { input: Box::new(order(*input)), skip, count },
        Node::Union { inputs } => Node::Union { inputs: inputs.into_iter().map(order).collect() },
        Node::Window(mut window) => {
            window.input = Box::new(order(*window.input));
            Node::Window(window)
        }
        Node::Recursive(of) => {
            let (seed, step) = (Box::new(order(*of.seed)), Box::new(order(*of.step)));
            Node::Recursive(Recursive { seed, step, ..of })
        }
        leaf @ (Node::Scan(_) | Node::Values { .. } | Node::Work { .. }) => leaf,
    }
}

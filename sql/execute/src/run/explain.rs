//! Parts of a plan that can become machine code, for people.

use yunti_sql_plan::{Node, Scan};

use crate::compile::plan::Plan;
use crate::operators::aggregate::fused;
use crate::pipeline::steps::Stage;

/// Returns a line for each part of a plan that can become machine code.
pub fn machine_code(node: &Node) -> Vec<String> {
    let mut lines = Vec::new();
    collect(node, &mut lines);
    lines
}

fn collect(node: &Node, to: &mut Vec<String>) {
    let below = match node {
        Node::Aggregate { input, keys, sets, aggregates } => {
            let (stages, below) = stages(input);
            let types = below.types();
            if sets.is_empty() && fused::is_possible(&stages, &types, keys, aggregates) {
                let conditions = if let Node::Scan(Scan { conditions, .. }) = below { conditions.len() } else { 0 };
                to.push(format!(
                    "aggregate of {} keys and {} calls, with {} before it{}",
                    keys.len(),
                    aggregates.len(),
                    counted(stages.len(), "stage"),
                    if conditions > 0 { ", and the conditions of its scan" } else { "" },
                ));
                below
            } else {
                input
            }
        }
        Node::Filter { .. } | Node::Project { .. } => {
            let (stages, below) = stages(node);
            if Plan::new(&stages, &below.types()).is_some_and(|plan| plan.has_work()) {
                to.push(counted(stages.len(), "stage of conditions and projections"));
            }
            below
        }
        node => {
            node.inputs().into_iter().for_each(|input| collect(input, to));
            return;
        }
    };
    collect(below, to);
}

fn counted(count: usize, what: &str) -> String {
    let (first, rest) = what.split_once(' ').unwrap_or((what, ""));
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {first}{plural} {rest}").trim_end().to_string()
}

/// Returns the conditions and projections at the top of a plan, the lowest first, and what is below them.
fn stages(node: &Node) -> (Vec<Stage>, &Node) {
    let (mut stages, mut node) = (Vec::new(), node);
    loop {
        node = match node {
            Node::Filter { input, condition } => {
                stages.push(Stage::Filter(condition.clone()));
                input
            }
            Node::Project { input, expressions } => {
                stages.push(Stage::Project(expressions.clone()));
                input
            }
            below => {
                stages.reverse();
                return (stages, below);
            }
        };
    }
}

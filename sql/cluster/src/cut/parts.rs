//! Tables of several parts as unions of their parts: a fragment reads files of one format with the same columns.
//!
//! ```text
//!   scan t (a, day) where day > 1 and a < 9   -->   union
//!                                                     project a, 2 <-- scan part 0 (a) where a < 9 and 2 > 1
//!                                                     project a, 3 <-- scan part 1 (a) where a < 9 and 3 > 1
//! ```

use std::any::Any;
use std::sync::Arc;

use yunti_engine::columns::vector::Value;
use yunti_sql_plan::{Expression, Node, Operation, PartColumn, Scan, TablePart};

/// Returns the plan without tables of parts, also in plans within expressions.
pub fn unfolded(mut plan: Node) -> Node {
    for input in plan.inputs_mut() {
        let own = std::mem::replace(input, Node::Union { inputs: Vec::new() });
        *input = unfolded(own);
    }
    if let Node::Recursive(recursive) = &mut plan {
        let own = std::mem::replace(&mut *recursive.step, Node::Union { inputs: Vec::new() });
        *recursive.step = unfolded(own);
    }
    plan.expressions_mut().into_iter().for_each(within);
    let Node::Scan(scan) = plan else { return plan };
    let Some(parts) = scan.table.source.parts() else { return Node::Scan(scan) };
    let mut inputs: Vec<Node> = parts.into_iter().map(|part| of_part(&scan, part)).collect();
    match inputs.len() {
        0 => Node::Values { types: Node::Scan(scan).types(), rows: Vec::new() },
        1 => inputs.remove(0),
        _ => Node::Union { inputs },
    }
}

fn within(of: &mut Expression) {
    if let Operation::Scalar(plan) = &mut of.operation {
        let any: &dyn Any = &**plan;
        if let Some(own) = any.downcast_ref::<Node>() {
            *plan = Arc::new(unfolded(own.clone()));
        }
    }
    of.children_mut().into_iter().for_each(within);
}

/// Returns the rows of a part.
fn of_part(scan: &Scan, part: TablePart) -> Node {
    let mut columns = Vec::new();
    let output = scan.columns.iter().map(|&column| {
        let data_type = scan.table.fields[column].data_type.clone();
        match &part.columns[column] {
            PartColumn::Own(own) => {
                columns.push(*own);
                Expression::column(columns.len() - 1, data_type)
            }
            PartColumn::Value(value) => Expression::new(data_type, Operation::Literal(value.clone())),
        }
    });
    let expressions: Vec<Expression> = output.collect();
    let mut conditions = scan.conditions.clone();
    conditions.iter_mut().for_each(|condition| replace(condition, &part.columns));
    // Its columns stand in the order of the part's; one that is not there is a value.
    let input = Node::Scan(Scan { table: part.table, columns, conditions, limit: scan.limit });
    match expressions.is_empty() {
        true => input,
        false => Node::Project { input: Box::new(input), expressions },
    }
}

/// Puts the columns and the values of a part in the place of the table's columns.
fn replace(of: &mut Expression, columns: &[PartColumn]) {
    if let Operation::Column(column) = &mut of.operation {
        match &columns[*column] {
            PartColumn::Own(own) => *column = *own,
            PartColumn::Value(value) => of.operation = Operation::Literal(Value::clone(value)),
        }
        return;
    }
    of.children_mut().into_iter().for_each(|child| replace(child, columns));
}

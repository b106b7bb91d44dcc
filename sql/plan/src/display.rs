//! Plans as text: one operator a line, each indented below the one that takes its rows.

use std::fmt;

use yunti_engine::columns::text;
use yunti_engine::columns::vector::Value;

use crate::expression::{Arithmetic, Comparison, Expression, Operation, ValuePlan};
use crate::kind::kind_of;
use crate::lookup;
use crate::node::{Node, Scan, SortKey};

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Comparison::Equal => "=",
            Comparison::NotEqual => "<>",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
            Comparison::NotDistinct => "is not distinct from",
            Comparison::Distinct => "is distinct from",
        })
    }
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(["+", "-", "*", "/", "%"][*self as usize])
    }
}

fn list<T: fmt::Display>(all: &[T]) -> String {
    all.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// Returns a table with columns that are read of it.
fn columns_of(scan: &Scan, columns: &[usize]) -> String {
    let names: Vec<&str> = columns.iter().map(|&n| &scan.table.fields[n].name[..]).collect();
    format!("{} ({})", scan.table.name, names.join(", "))
}

fn conditions_of(all: &[Expression]) -> String {
    match all {
        [] => String::new(),
        all => format!(" where {}", all.iter().map(Expression::to_string).collect::<Vec<_>>().join(" and ")),
    }
}

impl Expression {
    fn value_text(&self, value: &Value) -> String {
        let Some(kind) = kind_of(&self.data_type) else { return format!("{value:?}") };
        let mut out = Vec::new();
        text::put(kind, value, &mut out);
        let text = String::from_utf8_lossy(&out);
        match value {
            Value::Null => "null".into(),
            Value::Bytes(_) => format!("'{}'", text.replace('\'', "''")),
            _ => text.into(),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = |negated: &bool| if *negated { "not " } else { "" };
        match &self.operation {
            Operation::Column(number) => write!(f, "#{number}"),
            Operation::Literal(value) => f.write_str(&self.value_text(value)),
            Operation::Compare(how, sides) => write!(f, "({} {how} {})", sides[0], sides[1]),
            Operation::Arithmetic(how, sides) => write!(f, "({} {how} {})", sides[0], sides[1]),
            Operation::Negate(of) => write!(f, "(-{of})"),
            Operation::And(all) => {
                write!(f, "({})", all.iter().map(Expression::to_string).collect::<Vec<_>>().join(" and "))
            }
            Operation::Or(all) => {
                write!(f, "({})", all.iter().map(Expression::to_string).collect::<Vec<_>>().join(" or "))
            }
            Operation::Not(of) => write!(f, "not {of}"),
            Operation::IsNull(of) => write!(f, "({of} is null)"),
            Operation::Case { branches, otherwise } => {
                f.write_str("case")?;
                branches.iter().try_for_each(|(condition, value)| write!(f, " when {condition} then {value}"))?;
                otherwise.iter().try_for_each(|value| write!(f, " else {value}"))?;
                f.write_str(" end")
            }
            Operation::Cast { value, .. } => write!(f, "cast({value} as {})", self.data_type),
            Operation::In { value, list, negated } => {
                let shown: Vec<String> = list.iter().take(8).map(|of| value.value_text(of)).collect();
                let more = if list.len() > 8 { format!(", .. {} in all", list.len()) } else { String::new() };
                write!(f, "({value} {}in ({}{more}))", not(negated), shown.join(", "))
            }
            Operation::Like { value, pattern, ignore_case, negated, .. } => {
                write!(f, "({value} {}{}like '{pattern}')", not(negated), if *ignore_case { "i" } else { "" })
            }
            Operation::Call(function, arguments) => write!(f, "{function:?}({})", list(arguments)),
            Operation::Scalar(plan) => write!(f, "value of ({})", plan.title()),
            Operation::Foreign(function, arguments) => write!(f, "{}({})", function.name(), list(arguments)),
        }
    }
}

impl Expression {
    /// Writes the plans whose values it needs.
    fn write_plans(&self, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Operation::Scalar(plan) = &self.operation {
            plan.write(depth, f)?;
        }
        self.children().into_iter().try_for_each(|child| child.write_plans(depth, f))
    }
}

impl fmt::Display for SortKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nulls = if self.nulls_first { " nulls first" } else { "" };
        write!(f, "{}{}{nulls}", self.value, if self.descending { " desc" } else { "" })
    }
}

impl ValuePlan for Node {
    fn title(&self) -> String {
        match self {
            Node::Scan(scan) => {
                let extent = match &scan.table.source.extent()[..] {
                    "" => String::new(),
                    some => format!(", {some}"),
                };
                let how = match lookup::keys_of(scan) {
                    None => "scan".to_string(),
                    Some((_, keys)) => {
                        format!("look up {} key{} in", keys.len(), if keys.len() == 1 { "" } else { "s" })
                    }
                };
                format!("{how} {}{extent}{}", columns_of(scan, &scan.columns), conditions_of(&scan.conditions))
            }
            Node::Values { rows, .. } => format!("values, {} rows", rows.len()),
            Node::Filter { condition, .. } => format!("filter {condition}"),
            Node::Project { expressions, .. } => format!("project {}", list(expressions)),
            Node::Aggregate { keys, sets, aggregates, .. } => {
                let calls: Vec<String> = aggregates
                    .iter()
                    .map(|call| {
                        let argument = call.argument.as_ref().map_or("*".into(), Expression::to_string);
                        let distinct = if call.distinct { "distinct " } else { "" };
                        match &call.foreign {
                            None => format!("{:?}({distinct}{argument})", call.function),
                            Some(of) => {
                                let all: Vec<_> = call.argument.iter().chain(&of.more).cloned().collect();
                                format!("{}({})", of.function.name(), list(&all))
                            }
                        }
                    })
                    .collect();
                let sets = if sets.is_empty() { String::new() } else { format!(" in {} sets", sets.len()) };
                format!("aggregate by ({}){sets}: {}", list(keys), calls.join(", "))
            }
            Node::Join(join) => {
                let keys: Vec<String> = join.keys.iter().map(|(left, right)| format!("{left} = {right}")).collect();
                let condition = join.condition.as_ref().map_or(String::new(), |of| format!(" if {of}"));
                let how = match lookup::of(join) {
                    Some(of) => format!("look-up by the key of {}", of.scan.table.name),
                    None if join.build_left => "table of the left side".to_string(),
                    None => "table of the right side".to_string(),
                };
                format!("{:?} join on ({}){condition}, {how}", join.kind, keys.join(", "))
            }
            Node::Sort { keys, limit, .. } => {
                format!("sort by {}{}", list(keys), limit.map_or(String::new(), |n| format!(", first {n}")))
            }
            Node::Limit { skip, count, .. } => {
                format!("limit {} behind {skip}", count.map_or("all".into(), |n| n.to_string()))
            }
            Node::Union { inputs } => format!("union of {}", inputs.len()),
            Node::Recursive(recursive) => {
                let distinct = if recursive.distinct { ", each row once" } else { "" };
                let limit = recursive.limit.map_or(String::new(), |n| format!(", first {n}"));
                format!("recursive {}{distinct}{limit}", recursive.name)
            }
            Node::Work { name, .. } => format!("last rows of {name}"),
            Node::Window(window) => {
                let (partition, order) = (list(&window.partition), list(&window.order));
                format!("window by ({partition}) order ({order}): {}", list(&window.calls))
            }
        }
    }

    fn write(&self, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:1$}{2}", "", 2 * depth, self.title())?;
        for expression in self.expressions() {
            expression.write_plans(depth + 1, f)?;
        }
        let lookup = if let Node::Join(join) = self { lookup::of(join) } else { None };
        for (number, input) in self.inputs().into_iter().enumerate() {
            match &lookup {
                Some(of) if of.is_left == (number == 0) => {
                    let (columns, conditions) = (columns_of(of.scan, &of.columns), conditions_of(&of.conditions));
                    writeln!(f, "{:1$}look up {columns}{conditions}", "", 2 * (depth + 1))?;
                }
                _ => input.write(depth + 1, f)?,
            }
        }
        match self {
            Node::Recursive(recursive) => recursive.step.write(depth + 1, f),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(0, f)
    }
}

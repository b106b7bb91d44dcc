//! Rows of an operator and different values of its columns, estimated from statistics of tables. Values of a column are
//! taken as spread evenly, and conditions as independent, as System R did (Selinger et al., 1979).

use arrow_schema::DataType;
use yunti_engine::columns::vector::Value;

use crate::expression::{Comparison, Expression, Operation};
use crate::kind::kind_of;
use crate::node::{Join, JoinKind, Node, Scan};
use crate::table::ColumnStatistics;

/// Rows of a table of which nothing is known.
const UNKNOWN_ROWS: f64 = 1e6;
/// Rows that a recursive query hands to its next step.
const WORK_ROWS: f64 = 1e3;
/// Shares of rows that meet a condition of which nothing is known.
const COMPARISON_SHARE: f64 = 1.0 / 3.0;
const LIKE_SHARE: f64 = 0.05;
const OTHER_SHARE: f64 = 0.25;
/// Different texts of n rows, if nothing is known: n to this power. Texts are mostly names of kinds.
const TEXTS_POWER: f64 = 0.4;

/// Estimate of an operator's rows.
#[derive(Clone, Debug)]
pub struct Estimate {
    pub rows: f64,
    pub columns: Vec<ColumnEstimate>,
}

/// Estimate of a column's values.
#[derive(Clone, Copy, Debug)]
pub struct ColumnEstimate {
    /// Different values before conditions on other columns.
    pub distinct: f64,
    /// Least and largest value, as a number in the units of the column.
    pub range: Option<(f64, f64)>,
}

/// Returns the estimate of an operator.
pub fn of(node: &Node) -> Estimate {
    match node {
        Node::Scan(scan) => of_scan(scan),
        Node::Values { types, rows } => {
            let column = ColumnEstimate { distinct: rows.len() as f64, range: None };
            Estimate { rows: rows.len() as f64, columns: vec![column; types.len()] }
        }
        Node::Filter { input, condition } => {
            let input = of(input);
            Estimate { rows: (input.rows * share(condition, &input.columns, input.rows)).max(1.0), ..input }
        }
        Node::Project { input, expressions } => {
            let input = of(input);
            let columns = expressions.iter().map(|of| column_of(of, &input)).collect();
            Estimate { rows: input.rows, columns }
        }
        Node::Aggregate { input, keys, sets, aggregates } => {
            let input = of(input);
            let keys: Vec<ColumnEstimate> = keys.iter().map(|of| column_of(of, &input)).collect();
            let groups = keys.iter().fold(1.0, |groups, key| groups * key.distinct).min(input.rows).max(1.0);
            let rows = groups * sets.len().max(1) as f64;
            let other = ColumnEstimate { distinct: rows, range: None };
            let others = usize::from(!sets.is_empty()) + aggregates.len();
            Estimate { rows, columns: keys.into_iter().chain(std::iter::repeat_n(other, others)).collect() }
        }
        Node::Join(join) => of_join(join),
        Node::Sort { input, limit, .. } => cut(of(input), *limit),
        Node::Limit { input, count, .. } => cut(of(input), *count),
        Node::Union { inputs } => {
            let all: Vec<Estimate> = inputs.iter().map(of).collect();
            let rows = all.iter().map(|of| of.rows).sum();
            let column =
                |n: usize| ColumnEstimate { distinct: all.iter().map(|of| of.columns[n].distinct).sum(), range: None };
            Estimate { rows, columns: (0..all.first().map_or(0, |of| of.columns.len())).map(column).collect() }
        }
        Node::Recursive(recursive) => of(&recursive.seed),
        Node::Work { types, .. } => {
            let column = ColumnEstimate { distinct: WORK_ROWS, range: None };
            Estimate { rows: WORK_ROWS, columns: vec![column; types.len()] }
        }
        Node::Window(window) => {
            let mut input = of(&window.input);
            let column = ColumnEstimate { distinct: input.rows, range: None };
            input.columns.extend(std::iter::repeat_n(column, window.calls.len()));
            input
        }
    }
}

fn cut(of: Estimate, limit: Option<usize>) -> Estimate {
    Estimate { rows: limit.map_or(of.rows, |limit| of.rows.min(limit as f64)), ..of }
}

fn column_of(of: &Expression, input: &Estimate) -> ColumnEstimate {
    match &of.operation {
        Operation::Column(n) => input.columns[*n],
        Operation::Literal(_) => ColumnEstimate { distinct: 1.0, range: None },
        _ => {
            // A function of columns has no more values than their combinations.
            let mut distinct = 1.0;
            of.visit_columns(&mut |n| distinct *= input.columns[n].distinct);
            ColumnEstimate { distinct: f64::min(distinct, input.rows), range: None }
        }
    }
}

fn of_scan(scan: &Scan) -> Estimate {
    let table = &scan.table;
    let rows = table.statistics.rows.map_or(UNKNOWN_ROWS, |rows| rows as f64);
    let column = |n: usize| {
        let known = table.statistics.columns.get(n);
        let end = |value: Option<&Value>| value.and_then(number);
        let range = known.and_then(|of| Some((end(of.min.as_ref())?, end(of.max.as_ref())?)));
        let distinct = match (known.and_then(|of| of.distinct), range, &table.fields[n].data_type) {
            (Some(distinct), ..) => distinct as f64,
            (None, _, DataType::Boolean) => 2.0,
            (None, Some((min, max)), _) if !is_float(&table.fields[n].data_type) => (max - min + 1.0).min(rows),
            _ => known.and_then(flags).unwrap_or_else(|| rows.powf(TEXTS_POWER)),
        };
        ColumnEstimate { distinct: distinct.max(1.0), range }
    };
    let all: Vec<ColumnEstimate> = (0..table.fields.len()).map(column).collect();
    let met = scan.conditions.iter().fold(1.0, |met, condition| met * share(condition, &all, rows));
    let columns = scan.columns.iter().map(|&n| all[n]).collect();
    cut(Estimate { rows: (rows * met).max(1.0), columns }, scan.limit)
}

/// Returns the number of texts of one byte from the least to the largest text, if both are such: flags and states.
fn flags(of: &ColumnStatistics) -> Option<f64> {
    match (of.min.as_ref()?, of.max.as_ref()?) {
        (Value::Bytes(min), Value::Bytes(max)) if min.len() == 1 && max.len() == 1 => {
            Some(f64::from(max[0].saturating_sub(min[0])) + 1.0)
        }
        _ => None,
    }
}

fn is_float(of: &DataType) -> bool {
    matches!(of, DataType::Float16 | DataType::Float32 | DataType::Float64)
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(v) => Some(*v as f64),
        Value::Decimal(v) => Some(*v as f64),
        Value::Float(v) => Some(*v),
        _ => None,
    }
}

/// Returns the share of rows that meet a condition.
fn share(condition: &Expression, columns: &[ColumnEstimate], rows: f64) -> f64 {
    let of = |condition: &Expression| share(condition, columns, rows);
    let column = |of: &Expression| match of.operation {
        Operation::Column(n) => columns.get(n).copied(),
        _ => None,
    };
    let met = match &condition.operation {
        Operation::Literal(Value::Bool(value)) => f64::from(u8::from(*value)),
        Operation::And(all) => all.iter().fold(1.0, |met, part| met * of(part)),
        Operation::Or(all) => 1.0 - all.iter().fold(1.0, |unmet, part| unmet * (1.0 - of(part))),
        Operation::Not(part) => 1.0 - of(part),
        Operation::IsNull(_) => 0.05,
        Operation::Compare(how, sides) => {
            let (left, right) = (column(&sides[0]), column(&sides[1]));
            match (how, left, right) {
                (Comparison::Equal | Comparison::NotDistinct, Some(a), Some(b)) => 1.0 / a.distinct.max(b.distinct),
                (Comparison::Equal | Comparison::NotDistinct, Some(of), None)
                | (Comparison::Equal | Comparison::NotDistinct, None, Some(of)) => 1.0 / of.distinct,
                (Comparison::Equal | Comparison::NotDistinct, None, None) => OTHER_SHARE,
                (Comparison::NotEqual | Comparison::Distinct, ..) => 0.9,
                (how, Some(of), None) => below(*how, of, &sides[1]).unwrap_or(COMPARISON_SHARE),
                (how, None, Some(of)) => below(how.turned(), of, &sides[0]).unwrap_or(COMPARISON_SHARE),
                _ => COMPARISON_SHARE,
            }
        }
        Operation::In { value, list, negated } => {
            let met = column(value).map_or(OTHER_SHARE, |of| list.len() as f64 / of.distinct).min(1.0);
            if *negated { 1.0 - met } else { met }
        }
        Operation::Like { negated, .. } => {
            if *negated {
                1.0 - LIKE_SHARE
            } else {
                LIKE_SHARE
            }
        }
        _ => OTHER_SHARE,
    };
    met.clamp(1.0 / rows.max(1.0), 1.0)
}

/// Returns the share of a column's range on one side of a constant.
fn below(how: Comparison, of: ColumnEstimate, constant: &Expression) -> Option<f64> {
    let (Operation::Literal(value), Some((min, max))) = (&constant.operation, of.range) else { return None };
    kind_of(&constant.data_type)?;
    let share = (number(value)? - min) / (max - min).max(f64::MIN_POSITIVE);
    let share = share.clamp(0.0, 1.0);
    match how {
        Comparison::Less | Comparison::LessOrEqual => Some(share),
        Comparison::Greater | Comparison::GreaterOrEqual => Some(1.0 - share),
        _ => None,
    }
}

fn of_join(join: &Join) -> Estimate {
    let (left, right) = (of(&join.left), of(&join.right));
    let keys: Vec<(ColumnEstimate, ColumnEstimate)> =
        join.keys.iter().map(|(a, b)| (column_of(a, &left), column_of(b, &right))).collect();
    let pairs = left.rows * right.rows / divisor(&keys, left.rows, right.rows);
    let columns: Vec<ColumnEstimate> = left.columns.iter().chain(&right.columns).copied().collect();
    let met = join.condition.as_ref().map_or(1.0, |of| share(of, &columns, pairs.max(1.0)));
    let pairs = (pairs * met).max(1.0);
    // The share of one side's rows that have a partner.
    let matched = |own: &Estimate, other: &Estimate, keys: &[(f64, f64)]| {
        let own_values = keys.iter().fold(1.0, |all, (own, _)| all * own).min(own.rows).max(1.0);
        let other_values = keys.iter().fold(1.0, |all, (_, other)| all * other).min(other.rows);
        (other_values / own_values).min(1.0) * met.sqrt()
    };
    let left_keys: Vec<(f64, f64)> = keys.iter().map(|(a, b)| (a.distinct, b.distinct)).collect();
    let right_keys: Vec<(f64, f64)> = keys.iter().map(|(a, b)| (b.distinct, a.distinct)).collect();
    let (rows, columns) = match join.kind {
        JoinKind::Inner => (pairs, columns),
        JoinKind::Left => (pairs.max(left.rows), columns),
        JoinKind::Right => (pairs.max(right.rows), columns),
        JoinKind::Full => (pairs.max(left.rows).max(right.rows), columns),
        JoinKind::LeftSemi => (left.rows * matched(&left, &right, &left_keys), left.columns),
        JoinKind::LeftAnti => (left.rows * (1.0 - matched(&left, &right, &left_keys)), left.columns),
        JoinKind::RightSemi => (right.rows * matched(&right, &left, &right_keys), right.columns),
        JoinKind::RightAnti => (right.rows * (1.0 - matched(&right, &left, &right_keys)), right.columns),
        JoinKind::LeftMark => {
            let mark = ColumnEstimate { distinct: 2.0, range: None };
            (left.rows, left.columns.into_iter().chain([mark]).collect())
        }
    };
    Estimate { rows: rows.max(1.0), columns }
}

/// Returns the number by which the pairs of two inputs are divided if all these columns are equal. A key has no more
/// values than its table has rows: several columns of one key do not count twice.
pub fn divisor(keys: &[(ColumnEstimate, ColumnEstimate)], left_rows: f64, right_rows: f64) -> f64 {
    match keys {
        [] => 1.0,
        [(a, b)] => a.distinct.min(b.distinct),
        keys => {
            let values = keys.iter().fold(1.0, |all, (a, b)| all * a.distinct.min(b.distinct));
            values.min(left_rows.min(right_rows).max(1.0))
        }
    }
}

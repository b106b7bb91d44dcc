//! Aggregates in two steps: partial ones where the rows are, whole ones where all rows of a group are.
//!
//! ```text
//!   call            partial           whole                        then
//!   count           count             sum of counts                0 for no row
//!   sum, exact      sum, 38 digits    sum                          to its type
//!   avg, decimal    sum, count        sum, count                   mean
//!   min, max, ..    the same          the same
//! ```
//!
//! Sums of floats, sketches and different values have no partial results that are values: rows with only the columns
//! that the aggregates need go to the task of their group.

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::Value;
use yunti_sql_plan::{Aggregate, AggregateFunction, Expression, Function, Node, Operation, kind_of};

use super::Cutter;
use super::rows::{Rows, Spread, columns};

impl Cutter<'_> {
    /// Returns the rows of an aggregation.
    pub fn aggregate(
        &mut self,
        rows: Rows,
        keys: &[Expression],
        sets: &[Vec<usize>],
        aggregates: &[Aggregate],
    ) -> Result<Rows> {
        let whole = |input| Node::Aggregate {
            input,
            keys: keys.to_vec(),
            sets: sets.to_vec(),
            aggregates: aggregates.to_vec(),
        };
        let place = |column| keys.iter().position(|key| super::rows::column_of(key) == Some(column));
        match rows {
            Rows::Everywhere(input) => return Ok(Rows::Everywhere(whole(Box::new(input)))),
            Rows::Reduced(reduced)
                if reduced.spread == Spread::One
                    || (sets.is_empty() && !keys.is_empty() && reduced.spread.has_whole_groups(keys)) =>
            {
                return Ok(Rows::Reduced(reduced.map(whole, &place)));
            }
            _ => {}
        }
        // The whole of no row is a row, which only a task that has the whole input makes.
        let has_total = sets.iter().any(Vec::is_empty);
        match Steps::of(aggregates).filter(|_| !has_total) {
            Some(steps) => self.in_steps(rows, keys, sets, &steps),
            None => self.of_rows(rows, keys, sets, aggregates),
        }
    }

    fn in_steps(&mut self, rows: Rows, keys: &[Expression], sets: &[Vec<usize>], steps: &Steps) -> Result<Rows> {
        let partial = |input| Node::Aggregate {
            input,
            keys: keys.to_vec(),
            sets: sets.to_vec(),
            aggregates: steps.partial.clone(),
        };
        let parts = self.split(rows.map(partial, &|_| None))?;
        let types = parts.first().map(|part| part.plan.types()).unwrap_or_default();
        // The number of the set is a key too.
        let own = keys.len() + usize::from(!sets.is_empty());
        let keys: Vec<Expression> = columns(&types).into_iter().take(own).collect();
        let reduced = self.gather(parts, keys.clone())?;
        let aggregates = steps.whole.iter().enumerate().map(|(n, function)| Aggregate {
            function: *function,
            argument: Some(Expression::column(own + n, types[own + n].clone())),
            distinct: false,
            condition: None,
            data_type: types[own + n].clone(),
            foreign: None,
        });
        let aggregates = aggregates.collect();
        let whole = |input| Node::Aggregate { input, keys: keys.clone(), sets: Vec::new(), aggregates };
        let results = steps.results.iter().map(|result| result.expression(own, &types));
        let expressions = keys.iter().cloned().chain(results).collect();
        let reduced = reduced.map(whole, &|column| Some(column));
        Ok(Rows::Reduced(reduced.map(|input| Node::Project { input, expressions }, &|column| Some(column))))
    }

    /// Returns the rows of an aggregation that needs the rows of its input: their keys and arguments.
    fn of_rows(
        &mut self,
        rows: Rows,
        keys: &[Expression],
        sets: &[Vec<usize>],
        aggregates: &[Aggregate],
    ) -> Result<Rows> {
        let mut expressions = keys.to_vec();
        let mut add = |of: &Expression| {
            expressions.push(of.clone());
            Expression::column(expressions.len() - 1, of.data_type.clone())
        };
        let aggregates: Vec<Aggregate> = aggregates
            .iter()
            .map(|of| Aggregate {
                argument: of.argument.as_ref().map(&mut add),
                condition: of.condition.as_ref().map(&mut add),
                ..of.clone()
            })
            .collect();
        let rows = rows.map(|input| Node::Project { input, expressions: expressions.clone() }, &|_| None);
        let parts = self.split(rows)?;
        let keys: Vec<Expression> =
            keys.iter().enumerate().map(|(n, key)| Expression::column(n, key.data_type.clone())).collect();
        // A row belongs to several grouping sets.
        let by = if sets.is_empty() { keys.clone() } else { Vec::new() };
        let reduced = self.gather(parts, by)?;
        let sets = sets.to_vec();
        let of = |input| Node::Aggregate { input, keys, sets, aggregates };
        Ok(Rows::Reduced(reduced.map(of, &|column| Some(column))))
    }
}

/// Aggregates in two steps.
struct Steps {
    partial: Vec<Aggregate>,
    whole: Vec<AggregateFunction>,
    results: Vec<StepResult>,
}

/// Result of a call from the columns of the second step.
enum StepResult {
    /// A column as it is.
    Plain(usize),
    /// A number of rows: 0 without a partial one.
    Count(usize),
    /// A sum, in the type of the call.
    Sum(usize, DataType),
    Mean {
        sum: usize,
        count: usize,
        data_type: DataType,
    },
}

impl StepResult {
    fn expression(&self, own: usize, types: &[DataType]) -> Expression {
        let column = |n: &usize| Expression::column(own + n, types[own + n].clone());
        match self {
            StepResult::Plain(n) => column(n),
            StepResult::Count(n) => {
                let of = column(n);
                let zero = match kind_of(&of.data_type) {
                    Some(Kind::Int) => Value::Int(0),
                    _ => Value::Decimal(0),
                };
                let zero = Expression::new(of.data_type.clone(), Operation::Literal(zero));
                Expression::new(of.data_type.clone(), Operation::Call(Function::Coalesce, vec![of, zero]))
            }
            StepResult::Sum(n, data_type) => {
                let of = column(n);
                match of.data_type == *data_type {
                    true => of,
                    false => {
                        Expression::new(data_type.clone(), Operation::Cast { value: Box::new(of), lenient: false })
                    }
                }
            }
            StepResult::Mean { sum, count, data_type } => {
                let arguments = vec![column(sum), column(count)];
                Expression::new(data_type.clone(), Operation::Call(Function::Mean, arguments))
            }
        }
    }
}

/// Returns the type of an exact sum's partial results.
fn sum_type(argument: &DataType) -> Option<DataType> {
    match kind_of(argument)? {
        Kind::Int => Some(DataType::Decimal128(38, 0)),
        Kind::Decimal { scale } => Some(DataType::Decimal128(38, i8::try_from(scale).ok()?)),
        _ => None,
    }
}

impl Steps {
    /// Returns the steps; None if one of the aggregates has none.
    fn of(aggregates: &[Aggregate]) -> Option<Steps> {
        let mut steps = Steps { partial: Vec::new(), whole: Vec::new(), results: Vec::new() };
        aggregates.iter().try_for_each(|aggregate| steps.add(aggregate))?;
        Some(steps)
    }

    /// Adds a column; returns its number.
    fn column(&mut self, partial: Aggregate, whole: AggregateFunction) -> usize {
        self.partial.push(partial);
        self.whole.push(whole);
        self.partial.len() - 1
    }

    fn add(&mut self, of: &Aggregate) -> Option<()> {
        let is_distinct = of.distinct;
        let least = |of: &Aggregate, steps: &mut Steps| {
            let n = steps.column(Aggregate { distinct: false, ..of.clone() }, of.function);
            StepResult::Plain(n)
        };
        let result = match of.function {
            AggregateFunction::Min
            | AggregateFunction::Max
            | AggregateFunction::BoolAnd
            | AggregateFunction::BoolOr
            | AggregateFunction::AnyValue => least(of, self),
            _ if is_distinct => return None,
            AggregateFunction::Count => StepResult::Count(self.column(of.clone(), AggregateFunction::Sum)),
            AggregateFunction::Sum => StepResult::Sum(self.sum(of)?, of.data_type.clone()),
            AggregateFunction::Average => {
                if !matches!(kind_of(&of.data_type)?, Kind::Decimal { .. }) {
                    return None;
                }
                let sum = self.sum(of)?;
                let (function, data_type) = (AggregateFunction::Count, DataType::Int64);
                let count = self
                    .column(Aggregate { function, data_type: data_type.clone(), ..of.clone() }, AggregateFunction::Sum);
                StepResult::Mean { sum, count, data_type: of.data_type.clone() }
            }
            _ => return None,
        };
        self.results.push(result);
        Some(())
    }

    fn sum(&mut self, of: &Aggregate) -> Option<usize> {
        if !matches!(kind_of(&of.data_type)?, Kind::Int | Kind::Decimal { .. }) {
            return None;
        }
        let data_type = sum_type(&of.argument.as_ref()?.data_type)?;
        let partial = Aggregate { function: AggregateFunction::Sum, data_type, ..of.clone() };
        Some(self.column(partial, AggregateFunction::Sum))
    }
}

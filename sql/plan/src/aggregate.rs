//! Values computed from the rows of a group. No result depends on the order of rows: sums of floats are exact and
//! rounded once.

use std::fmt;
use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::Error;
use yunti_engine::columns::vector::Vector;

use crate::expression::Expression;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateFunction {
    /// Rows; of rows whose argument is not null, if there is one.
    Count,
    Sum,
    Min,
    Max,
    /// Mean, in the type of the call: a float, or a decimal rounded half away from zero.
    Average,
    /// With n - 1 as the divisor: a sample's. The next has n: a population's.
    Variance,
    VariancePopulation,
    StandardDeviation,
    StandardDeviationPopulation,
    /// Estimate of a sketch (HyperLogLog).
    ApproximateDistinct,
    /// True if all, or any, are true.
    BoolAnd,
    BoolOr,
    /// Any value of the group that is not null: the least.
    AnyValue,
    /// The aggregate in `Aggregate::foreign`.
    Foreign,
}

/// One aggregate of an operator.
#[derive(Clone, Debug)]
pub struct Aggregate {
    pub function: AggregateFunction,
    /// None for `count(*)`.
    pub argument: Option<Expression>,
    /// True if each different value counts once.
    pub distinct: bool,
    /// Rows that count: `filter (where ..)`.
    pub condition: Option<Expression>,
    /// Type of the result.
    pub data_type: DataType,
    /// The aggregate, if it is not the executor's own.
    pub foreign: Option<ForeignCall>,
}

/// An aggregate that is not the executor's own, with its arguments behind the first.
#[derive(Clone, Debug)]
pub struct ForeignCall {
    pub function: Arc<dyn ForeignAggregate>,
    pub more: Vec<Expression>,
}

/// An aggregate of the user's, in states of fixed size that stand side by side. Its result depends on no order of rows
/// and merges. No call fails: the first failure is kept.
pub trait ForeignAggregate: Send + Sync + fmt::Debug {
    /// Returns the name for messages and plans.
    fn name(&self) -> &str;

    /// Returns the bytes of a state, at least 1.
    fn state_bytes(&self) -> usize;

    /// Makes the states of groups that have no row yet.
    fn init(&self, states: &mut [u8]);

    /// Adds rows to the states of their groups; without `rows`, all rows of the arguments in order.
    fn add(&self, states: &mut [u8], groups: &[u32], rows: Option<&[u32]>, arguments: &[Arc<Vector>]);

    /// Adds the state of each group in `groups` of `from` to the state of the group in `to`.
    fn merge(&self, states: &mut [u8], to: &[u32], from: &[u8], groups: &[u32]);

    /// Returns the results of some groups.
    fn finish(&self, states: &[u8], groups: &[u32]) -> Vector;

    /// Returns the first failure.
    fn failure(&self) -> Option<Error>;
}

impl Aggregate {
    /// Returns a count: of rows, or of rows whose argument is not null.
    pub fn count(argument: Option<Expression>) -> Aggregate {
        Aggregate {
            function: AggregateFunction::Count,
            argument,
            distinct: false,
            condition: None,
            data_type: DataType::Int64,
            foreign: None,
        }
    }

    /// Returns the expressions that it needs of a row.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let more = self.foreign.iter().flat_map(|of| &of.more);
        self.argument.iter().chain(&self.condition).chain(more)
    }

    /// Returns the expressions that it needs of a row.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expression> {
        let more = self.foreign.iter_mut().flat_map(|of| &mut of.more);
        self.argument.iter_mut().chain(&mut self.condition).chain(more)
    }
}

//! Values computed from the rows of a group. No result depends on the order of rows: sums of floats are exact and
//! rounded once.

use arrow_schema::DataType;

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
}

//! One call of a window: what it needs of each row, and its values for the rows of a segment.

use arrow_schema::DataType;
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Data, Vector};
use yunti_sql_plan::{Aggregate, AggregateFunction, Expression, WindowCall, WindowFunction, kind_of};

use super::frames::Frames;
use super::segment::Segment;
use super::values::sliding::{Distinct, FloatTotal, Floats, IntTotal, Nothing, State, Variance, slide};
use super::values::sums::{Beyond, Wide};
use super::values::{extremes, places, ranks, sums};
use crate::missing::not_native;
use crate::operators::aggregate::calls::{Calls, too_large};
use crate::operators::aggregate::keys::smallest;
use crate::store::column::{Column, Values};
use crate::store::wrong_shape;

/// An expression that calls need of each row.
#[derive(Clone)]
pub struct Argument {
    pub expression: Expression,
    /// True if its numbers become floats.
    pub as_floats: bool,
    pub kind: Kind,
}

/// A call, with its arguments by their numbers among those of all calls.
pub struct Call {
    pub function: WindowFunction,
    pub value: Option<usize>,
    default: Option<usize>,
    condition: Option<usize>,
    pub ignores_nulls: bool,
    distinct: bool,
    /// Number of the frame among those of all calls; None if it takes no rows of a frame.
    pub frame: Option<usize>,
    /// The aggregate, for the type of its results.
    aggregate: Option<Calls>,
    data_type: DataType,
    kind: Kind,
}

/// Values of a call for a segment.
pub enum Output {
    Values(Vector),
    /// Rows whose value of an argument is the call's; `NO_ROW`: the default.
    Places {
        places: Vec<u32>,
        value: usize,
        default: Fallback,
    },
}

/// Value of a row for which a call takes no row.
pub enum Fallback {
    Null,
    /// Value of an argument.
    Argument(usize),
    /// The only value of a vector.
    Value(Vector),
}

impl Call {
    /// Makes a call ready; `argument` returns the number of an argument, and `frame` the number of its frame.
    ///
    /// Errors: `Usage` for types that this executor lacks.
    pub fn new(
        call: &WindowCall,
        argument: &mut impl FnMut(&Expression, bool) -> Result<usize>,
        frame: &mut impl FnMut(&WindowCall) -> Result<usize>,
    ) -> Result<Call> {
        let lacks = || not_native(&format!("{:?} of a window", call.function));
        let kind = kind_of(&call.data_type).ok_or_else(lacks)?;
        let aggregate = match call.function {
            WindowFunction::Aggregate(AggregateFunction::ApproximateDistinct) => return Err(lacks()),
            WindowFunction::Aggregate(function) => Some(Calls::new(&[Aggregate {
                function,
                argument: call.arguments.first().cloned(),
                distinct: call.distinct,
                condition: None,
                data_type: call.data_type.clone(),
                foreign: None,
            }])?),
            _ => None,
        };
        let as_floats = aggregate.as_ref().is_some_and(|calls| calls.arguments.iter().any(|of| of.as_floats));
        let takes_frame = matches!(
            call.function,
            WindowFunction::Aggregate(_)
                | WindowFunction::FirstValue
                | WindowFunction::LastValue
                | WindowFunction::NthValue(_)
        );
        let takes_value = takes_frame || matches!(call.function, WindowFunction::Lag(_));
        if takes_value && aggregate.is_none() && call.arguments.is_empty() || call.function == WindowFunction::Ntile(0)
        {
            return Err(lacks());
        }
        let value = call.arguments.first().filter(|_| takes_value);
        let is_lag = matches!(call.function, WindowFunction::Lag(_));
        let default = call.arguments.get(1).filter(|_| is_lag);
        if value.is_some_and(|of| aggregate.is_none() && kind_of(&of.data_type) != Some(kind)) {
            return Err(lacks());
        }
        Ok(Call {
            function: call.function,
            value: value.map(|of| argument(of, as_floats)).transpose()?,
            default: default.map(|of| argument(of, false)).transpose()?,
            condition: call.condition.as_ref().map(|of| argument(of, false)).transpose()?,
            ignores_nulls: call.ignores_nulls,
            distinct: call.distinct,
            frame: takes_frame.then(|| frame(call)).transpose()?,
            aggregate,
            data_type: call.data_type.clone(),
            kind,
        })
    }

    /// Returns the shape of the results.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns true if it needs to know which values came before.
    pub fn counts_values(&self) -> bool {
        let is_extreme = matches!(
            self.function,
            WindowFunction::Aggregate(
                AggregateFunction::Min
                    | AggregateFunction::Max
                    | AggregateFunction::BoolAnd
                    | AggregateFunction::BoolOr
                    | AggregateFunction::AnyValue
            )
        );
        self.distinct && !is_extreme
    }

    /// Returns true if its values depend on no order but through their frames.
    pub fn is_aggregate(&self) -> bool {
        self.aggregate.is_some()
    }

    /// Returns the values of the rows of a segment; `frames` are those of its frame.
    ///
    /// Errors: `UserCode` for a result that its type does not hold.
    pub fn evaluate(&self, segment: &Segment, frames: Option<&Frames>) -> Result<Output> {
        let integers = |values| Output::Values(ranks::integers(values, self.kind));
        let floats = |values| Output::Values(Vector::of(Data::Floats(values)));
        let nulls = || self.column(segment).and_then(|column| column.nulls.as_deref()).filter(|_| self.ignores_nulls);
        let places = |places| {
            let value = self.value.ok_or_else(wrong_shape)?;
            let default = self.default.map_or(Fallback::Null, Fallback::Argument);
            Ok(Output::Places { places, value, default })
        };
        match (self.function, frames) {
            (WindowFunction::RowNumber, _) => Ok(integers(ranks::row_numbers(segment))),
            (WindowFunction::Rank, _) => Ok(integers(ranks::ranks(segment))),
            (WindowFunction::DenseRank, _) => Ok(integers(ranks::dense_ranks(segment))),
            (WindowFunction::PercentRank, _) => Ok(floats(ranks::percent_ranks(segment))),
            (WindowFunction::CumeDist, _) => Ok(floats(ranks::cumulative(segment))),
            (WindowFunction::Ntile(parts), _) => Ok(integers(ranks::parts(segment, parts))),
            (WindowFunction::Lag(back), _) => places(places::shifted(back, segment, nulls())),
            (WindowFunction::Aggregate(function), Some(frames)) => self.aggregate(function, segment, frames),
            (function, Some(frames)) => places(places::in_frames(function, frames, nulls())),
            (_, None) => Err(wrong_shape()),
        }
    }

    /// Returns the column of its value.
    pub fn column<'s>(&self, segment: &'s Segment) -> Option<&'s Column> {
        self.value.map(|n| &segment.arguments[n])
    }

    /// Returns true for each row that counts: its value is no null, and it meets the condition. None: all.
    pub fn counting(&self, segment: &Segment) -> Result<Option<Vec<bool>>> {
        let nulls = self.column(segment).and_then(|column| column.nulls.as_ref());
        let mut counts = nulls.map(|nulls| nulls.iter().map(|null| !null).collect::<Vec<bool>>());
        if let Some(n) = self.condition {
            let column = &segment.arguments[n];
            let Values::Fixed(Data::Bools(holds)) = &column.values else { return Err(wrong_shape()) };
            let all = counts.get_or_insert_with(|| vec![true; segment.rows]);
            all.iter_mut().zip(holds).for_each(|(count, holds)| *count &= holds);
            if let Some(nulls) = &column.nulls {
                all.iter_mut().zip(nulls).for_each(|(count, null)| *count &= !null);
            }
        }
        Ok(counts)
    }

    fn aggregate(&self, function: AggregateFunction, segment: &Segment, frames: &Frames) -> Result<Output> {
        let counting = self.counting(segment)?;
        let counting = counting.as_deref();
        let Some(column) = self.column(segment) else {
            return self.finish(Vector::of(Data::Ints(sums::counts(frames, counting))), Vec::new());
        };
        let extreme = |largest| {
            let value = self.value.ok_or_else(wrong_shape)?;
            Ok(Output::Places {
                places: extremes::rows(column, largest, frames, counting),
                value,
                default: Fallback::Null,
            })
        };
        match function {
            AggregateFunction::Min | AggregateFunction::AnyValue | AggregateFunction::BoolAnd => extreme(false),
            AggregateFunction::Max | AggregateFunction::BoolOr => extreme(true),
            _ if self.distinct => self.distinct(function, column, segment, frames, counting),
            AggregateFunction::Count => self.finish(Vector::of(Data::Ints(sums::counts(frames, counting))), Vec::new()),
            AggregateFunction::Sum | AggregateFunction::Average => {
                let counts = sums::counts(frames, counting);
                let sums = match &column.values {
                    Values::Fixed(Data::Floats(values)) => {
                        let sums = slide(frames, counting, Floats::<FloatTotal>::new(values), |of| of.total.value());
                        Vector::of(Data::Floats(sums))
                    }
                    _ => sums::sums(column, frames, counting)?.map_err(|Beyond| self.beyond())?,
                };
                self.finish(with_nulls(sums, &counts), counts)
            }
            _ => {
                let Values::Fixed(Data::Floats(values)) = &column.values else { return Err(wrong_shape()) };
                self.spread(
                    function,
                    slide(frames, counting, Floats::<Variance>::new(values), |of| of.total.value(is_sample(function))),
                )
            }
        }
    }

    fn distinct(
        &self,
        function: AggregateFunction,
        column: &Column,
        segment: &Segment,
        frames: &Frames,
        counting: Option<&[bool]>,
    ) -> Result<Output> {
        fn both<S: State, T: Clone>(
            frames: &Frames,
            counting: Option<&[bool]>,
            state: Distinct<S>,
            value: impl Fn(&S) -> T,
        ) -> (Vec<T>, Vec<i64>) {
            slide(frames, counting, state, |of| (value(&of.within), of.count)).into_iter().unzip()
        }
        let rows = segment.rows;
        let sums = |value: &dyn Fn(usize) -> i128| {
            let state = Distinct::new(column, rows, IntTotal { value, sum: Wide::default() });
            let (sums, counts) = both(frames, counting, state, |of| of.sum.value());
            let sums = sums.into_iter().collect::<Option<Vec<i128>>>().ok_or_else(|| self.beyond())?;
            self.finish(with_nulls(Vector::of(smallest(sums)), &counts), counts)
        };
        match (function, &column.values) {
            (AggregateFunction::Count, _) => {
                let (_, counts) = both(frames, counting, Distinct::new(column, rows, Nothing), |_| ());
                self.finish(Vector::of(Data::Ints(counts)), Vec::new())
            }
            (AggregateFunction::Sum | AggregateFunction::Average, Values::Fixed(data)) => match data {
                Data::Ints(v) | Data::SmallDecimals(v) => sums(&|row| v[row].into()),
                Data::Decimals(v) => sums(&|row| v[row]),
                Data::Floats(v) => {
                    let state = Distinct::new(column, rows, Floats::<FloatTotal>::new(v));
                    let (sums, counts) = both(frames, counting, state, |of| of.total.value());
                    self.finish(with_nulls(Vector::of(Data::Floats(sums)), &counts), counts)
                }
                _ => Err(wrong_shape()),
            },
            (_, Values::Fixed(Data::Floats(v))) => {
                let state = Distinct::new(column, rows, Floats::<Variance>::new(v));
                self.spread(function, both(frames, counting, state, |of| of.total.value(is_sample(function))).0)
            }
            _ => Err(wrong_shape()),
        }
    }

    /// Returns variances, or what is made of them.
    pub fn spread(&self, function: AggregateFunction, variances: Vec<Option<f64>>) -> Result<Output> {
        let nulls: Vec<bool> = variances.iter().map(Option::is_none).collect();
        let is_deviation =
            matches!(function, AggregateFunction::StandardDeviation | AggregateFunction::StandardDeviationPopulation);
        let values = variances.into_iter().map(|variance| variance.unwrap_or(0.0));
        let values = if is_deviation { values.map(f64::sqrt).collect() } else { values.collect() };
        let nulls = nulls.contains(&true).then_some(nulls);
        self.finish(Vector { data: Data::Floats(values), nulls }, Vec::new())
    }

    /// Returns results of its type.
    pub fn finish(&self, vector: Vector, counts: Vec<i64>) -> Result<Output> {
        let calls = self.aggregate.as_ref().ok_or_else(wrong_shape)?;
        Ok(Output::Values(calls.finish(0, vector, || counts)?))
    }

    /// Returns the error for a sum that no number holds.
    pub fn beyond(&self) -> Error {
        too_large("a sum", &self.data_type)
    }
}

/// Returns true for the variance of a sample.
pub fn is_sample(function: AggregateFunction) -> bool {
    matches!(function, AggregateFunction::Variance | AggregateFunction::StandardDeviation)
}

/// Returns values that are null where there is no row.
pub fn with_nulls(vector: Vector, counts: &[i64]) -> Vector {
    let nulls: Vec<bool> = counts.iter().map(|&count| count == 0).collect();
    Vector { nulls: nulls.contains(&true).then_some(nulls), ..vector }
}

/// Returns the error for a partition that is larger than memory.
pub fn partition_too_large(rows: usize, error: Error) -> Error {
    Error::new(Code::Memory, format!("{error}: a window needs all {rows} rows of a partition at once"))
}

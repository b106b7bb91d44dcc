//! Aggregates as states and what their results are made of: `avg(x)` is the sum and the count of x, and calls with the
//! same argument and condition share their states.

use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Data, Vector};
use yunti_sql_plan::{Aggregate, AggregateFunction, Expression, ForeignAggregate, ForeignCall, Operation, kind_of};

use super::keys::smallest;
use super::states::count::Count;
use super::states::distinct::Distinct;
use super::states::float_sum::{FloatTotal, Spread};
use super::states::foreign::ForeignStates;
use super::states::sketch::Sketches;
use super::states::sum::Sum;
use super::states::text::LeastText;
use super::states::{State, least};
use crate::expression::mean_of;
use crate::missing::not_native;

/// Function of one column of states.
#[derive(Clone, Copy, Debug, PartialEq)]
enum StateFunction {
    Count,
    Sum,
    Least {
        largest: bool,
    },
    Spread {
        is_sample: bool,
        is_deviation: bool,
    },
    Sketch,
    /// Number of the aggregate that is not the executor's own.
    Foreign(usize),
}

/// Knowledge of generated code about a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateKind {
    Count,
    Sum,
    Least,
    Largest,
}

/// An expression that aggregates need of each row.
#[derive(Clone, Debug)]
pub struct Argument {
    pub expression: Expression,
    /// True if its numbers become floats.
    pub as_floats: bool,
    /// Numbers of the arguments that go with it, which stand before it.
    pub with: Vec<usize>,
}

/// States of one function.
#[derive(Clone, Debug)]
pub struct StateColumn {
    function: StateFunction,
    /// Number of the argument.
    pub argument: Option<usize>,
    /// Number of the condition.
    pub condition: Option<usize>,
    is_distinct: bool,
}

/// Where the result of a call comes from.
#[derive(Clone, Debug)]
struct Call {
    function: AggregateFunction,
    data_type: DataType,
    /// Kind of the result.
    kind: Kind,
    /// Kind of the argument.
    argument_kind: Kind,
    /// Number of its states.
    state: usize,
    /// Number of the states of its count, for a mean.
    count: usize,
}

/// All aggregates of an operator.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    pub arguments: Vec<Argument>,
    pub conditions: Vec<Expression>,
    pub states: Vec<StateColumn>,
    foreign: Vec<Arc<dyn ForeignAggregate>>,
    calls: Vec<Call>,
}

/// Returns true if two expressions are the same; false if that is not known.
pub fn are_same(a: &Expression, b: &Expression) -> bool {
    fn has_foreign(of: &Expression) -> bool {
        matches!(of.operation, Operation::Foreign(..)) || of.children().into_iter().any(has_foreign)
    }
    !has_foreign(a) && !has_foreign(b) && format!("{a:?}") == format!("{b:?}")
}

fn number_of<T>(all: &mut Vec<T>, is: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> usize {
    all.iter().position(is).unwrap_or_else(|| {
        all.push(make());
        all.len() - 1
    })
}

fn is_float(kind: Kind) -> bool {
    matches!(kind, Kind::Float | Kind::Float32)
}

impl Calls {
    /// Returns the states of aggregates. Errors: `Usage` for types that this executor lacks.
    pub fn new(aggregates: &[Aggregate]) -> Result<Calls> {
        let mut calls = Calls::default();
        aggregates.iter().try_for_each(|aggregate| calls.add(aggregate))?;
        Ok(calls)
    }

    fn add(&mut self, aggregate: &Aggregate) -> Result<()> {
        let Aggregate { function, argument, distinct, condition, data_type, foreign } = aggregate;
        let lacks =
            || not_native(&format!("{function:?} of {}", argument.as_ref().map_or(data_type, |of| &of.data_type)));
        let kind = kind_of(data_type).ok_or_else(lacks)?;
        let argument_kind = match argument {
            Some(argument) => kind_of(&argument.data_type).ok_or_else(lacks)?,
            None if *function == AggregateFunction::Count && !distinct => Kind::Int,
            None => return Err(lacks()),
        };
        if let Some(foreign) = foreign {
            return if *distinct { Err(lacks()) } else { self.add_foreign(aggregate, foreign, [argument_kind, kind]) };
        }
        let is_number = |kind| is_float(kind) || matches!(kind, Kind::Int | Kind::Decimal { .. });
        let is_bool = argument_kind == Kind::Boolean && kind == Kind::Boolean;
        let (function_of_state, fits) = match function {
            AggregateFunction::Count => (StateFunction::Count, matches!(kind, Kind::Int | Kind::Decimal { scale: 0 })),
            AggregateFunction::ApproximateDistinct => {
                (StateFunction::Sketch, matches!(kind, Kind::Int | Kind::Decimal { scale: 0 }))
            }
            AggregateFunction::Sum => {
                let exact = matches!((argument_kind, kind), (Kind::Int, Kind::Int | Kind::Decimal { scale: 0 }))
                    || (argument_kind == kind && is_number(kind));
                (StateFunction::Sum, exact || (is_number(argument_kind) && is_float(kind)))
            }
            AggregateFunction::Average => {
                let fits = is_number(argument_kind)
                    && (is_float(kind) || (matches!(kind, Kind::Decimal { .. }) && !is_float(argument_kind)));
                (StateFunction::Sum, fits)
            }
            AggregateFunction::Min | AggregateFunction::AnyValue => {
                (StateFunction::Least { largest: false }, argument_kind == kind)
            }
            AggregateFunction::Max => (StateFunction::Least { largest: true }, argument_kind == kind),
            AggregateFunction::BoolAnd => (StateFunction::Least { largest: false }, is_bool),
            AggregateFunction::BoolOr => (StateFunction::Least { largest: true }, is_bool),
            AggregateFunction::Variance
            | AggregateFunction::VariancePopulation
            | AggregateFunction::StandardDeviation
            | AggregateFunction::StandardDeviationPopulation => {
                let is_sample = matches!(function, AggregateFunction::Variance | AggregateFunction::StandardDeviation);
                let is_deviation = matches!(
                    function,
                    AggregateFunction::StandardDeviation | AggregateFunction::StandardDeviationPopulation
                );
                (StateFunction::Spread { is_sample, is_deviation }, is_number(argument_kind) && is_float(kind))
            }
            AggregateFunction::Foreign => return Err(lacks()),
        };
        if !fits {
            return Err(lacks());
        }
        let as_floats = !is_float(argument_kind)
            && (matches!(function_of_state, StateFunction::Spread { .. })
                || (*function == AggregateFunction::Sum && is_float(kind)));
        let argument = argument.as_ref().map(|argument| {
            let is =
                |of: &Argument| of.as_floats == as_floats && of.with.is_empty() && are_same(&of.expression, argument);
            let make = || Argument { expression: argument.clone(), as_floats, with: Vec::new() };
            number_of(&mut self.arguments, is, make)
        });
        let condition = condition
            .as_ref()
            .map(|condition| number_of(&mut self.conditions, |of| are_same(of, condition), || condition.clone()));
        // Different values do not change a least value, and a sketch has each once.
        let is_distinct =
            *distinct && !matches!(function_of_state, StateFunction::Least { .. } | StateFunction::Sketch);
        let mut state = |function: StateFunction| {
            let is = |of: &StateColumn| {
                (of.function, of.argument, of.condition, of.is_distinct) == (function, argument, condition, is_distinct)
            };
            number_of(&mut self.states, is, || StateColumn { function, argument, condition, is_distinct })
        };
        let of = state(function_of_state);
        let count = if *function == AggregateFunction::Average { state(StateFunction::Count) } else { of };
        let data_type = data_type.clone();
        self.calls.push(Call { function: *function, data_type, kind, argument_kind, state: of, count });
        Ok(())
    }

    /// Adds a call of an aggregate that is not the executor's own. All its arguments go to its states together.
    fn add_foreign(&mut self, aggregate: &Aggregate, foreign: &ForeignCall, kinds: [Kind; 2]) -> Result<()> {
        let Some(first) = &aggregate.argument else { return Err(not_native("an aggregate without an argument")) };
        let mut push = |expression: &Expression, with: Vec<usize>| {
            self.arguments.push(Argument { expression: expression.clone(), as_floats: false, with });
            self.arguments.len() - 1
        };
        let with = foreign.more.iter().map(|of| push(of, Vec::new())).collect();
        let argument = Some(push(first, with));
        let condition = aggregate
            .condition
            .as_ref()
            .map(|condition| number_of(&mut self.conditions, |of| are_same(of, condition), || condition.clone()));
        self.foreign.push(foreign.function.clone());
        let function = StateFunction::Foreign(self.foreign.len() - 1);
        self.states.push(StateColumn { function, argument, condition, is_distinct: false });
        let state = self.states.len() - 1;
        let data_type = aggregate.data_type.clone();
        let [argument_kind, kind] = kinds;
        self.calls.push(Call { function: aggregate.function, data_type, kind, argument_kind, state, count: state });
        Ok(())
    }

    /// Fails if an aggregate that is not the executor's own has failed.
    pub fn check(&self) -> Result<()> {
        match self.foreign.iter().find_map(|of| of.failure()) {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    /// Returns the number of calls.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// Returns the kind of a state for generated code; None if it has none.
    pub fn kind_of_state(&self, column: &StateColumn) -> Option<StateKind> {
        let argument = column.argument.map(|number| &self.arguments[number]);
        let kind = match argument {
            Some(argument) => kind_of(&argument.expression.data_type)?,
            None => Kind::Int,
        };
        if column.is_distinct || argument.is_some_and(|argument| argument.as_floats) {
            return None;
        }
        match column.function {
            StateFunction::Count => Some(StateKind::Count),
            StateFunction::Sum => (!is_float(kind)).then_some(StateKind::Sum),
            StateFunction::Least { largest } => {
                (kind != Kind::Text).then_some(if largest { StateKind::Largest } else { StateKind::Least })
            }
            StateFunction::Spread { .. } | StateFunction::Sketch | StateFunction::Foreign(_) => None,
        }
    }

    /// Returns empty states.
    pub fn new_states(&self) -> Result<Vec<Box<dyn State>>> {
        self.states.iter().map(|column| column.new_states(self)).collect()
    }

    /// Returns the results of a call for some groups. Errors: `UserCode` for a result that its type does not hold.
    pub fn results(&self, number: usize, states: &[Box<dyn State>], groups: &[u32]) -> Result<Vector> {
        let call = &self.calls[number];
        let state = &*states[call.state];
        let vector = state.results(groups);
        if matches!(call.function, AggregateFunction::Sum | AggregateFunction::Average) {
            check_wraps(state, groups)?;
        }
        let counts = || match states[call.count].results(groups).data {
            Data::Ints(counts) => counts,
            _ => Vec::new(),
        };
        self.finish(number, vector, counts)
    }

    /// Returns the results of a call: of a mean from sums and the number of values of each, else from what its states
    /// give. Errors: `UserCode` for a result that its type does not hold.
    pub fn finish(&self, number: usize, vector: Vector, counts: impl FnOnce() -> Vec<i64>) -> Result<Vector> {
        let call = &self.calls[number];
        match call.function {
            AggregateFunction::Count | AggregateFunction::ApproximateDistinct => Ok(call.integers(vector)),
            AggregateFunction::Sum if is_float(call.kind) => Ok(call.floats(vector)),
            AggregateFunction::Sum => call.sums(vector),
            AggregateFunction::Average => call.means(vector, &counts()),
            AggregateFunction::Min
            | AggregateFunction::Max
            | AggregateFunction::BoolAnd
            | AggregateFunction::BoolOr
            | AggregateFunction::AnyValue => Ok(vector),
            AggregateFunction::Foreign => self.check().map(|()| vector),
            _ => Ok(call.floats(vector)),
        }
    }
}

impl StateColumn {
    fn new_states(&self, calls: &Calls) -> Result<Box<dyn State>> {
        let argument = self.argument.map(|number| &calls.arguments[number]);
        let data_type = argument.map_or(DataType::Int64, |of| match of.as_floats {
            true => DataType::Float64,
            false => of.expression.data_type.clone(),
        });
        let kind = kind_of(&data_type).ok_or_else(|| not_native(&format!("values of {data_type}")))?;
        let plain: Box<dyn State> = match self.function {
            StateFunction::Count => Box::new(Count::default()),
            StateFunction::Sum if is_float(kind) => Box::new(FloatTotal::default()),
            StateFunction::Sum => Box::new(Sum::default()),
            StateFunction::Least { largest } if kind == Kind::Text => Box::new(LeastText::new(largest)),
            StateFunction::Least { largest } => least::of_kind(kind, largest),
            StateFunction::Spread { is_sample, is_deviation } => Box::new(Spread::new(is_sample, is_deviation)),
            StateFunction::Sketch => Box::new(Sketches::default()),
            StateFunction::Foreign(number) => Box::new(ForeignStates::new(calls.foreign[number].clone())),
        };
        Ok(if self.is_distinct { Box::new(Distinct::new(&data_type, plain)?) } else { plain })
    }
}

/// Fails if a sum is beyond 128 bits.
fn check_wraps(state: &dyn State, groups: &[u32]) -> Result<()> {
    let any = state as &dyn std::any::Any;
    if let Some(distinct) = any.downcast_ref::<Distinct>() {
        return check_wraps(distinct.within(), groups);
    }
    let is_over = any.downcast_ref::<Sum>().is_some_and(|sum| groups.iter().any(|&group| sum.is_over(group)));
    if is_over { Err(too_large("a sum", &DataType::Decimal128(38, 0))) } else { Ok(()) }
}

/// Returns the error for a result that its type does not hold.
pub fn too_large(what: &str, data_type: &DataType) -> Error {
    Error::new(Code::UserCode, format!("{what} is too large for its type, {data_type}"))
        .hint("cast the argument to a wider type, such as double")
}

/// Returns true for each number that a type holds.
fn holds(data_type: &DataType) -> impl Fn(i128) -> bool + use<> {
    let (least, most) = match data_type {
        DataType::UInt64 => (0, u64::MAX.into()),
        DataType::Decimal32(p, _) | DataType::Decimal64(p, _) | DataType::Decimal128(p, _) => {
            let beyond = 10i128.pow(u32::from(*p).min(38));
            (1 - beyond, beyond - 1)
        }
        _ => (i64::MIN.into(), i64::MAX.into()),
    };
    move |number| least <= number && number <= most
}

fn scale_of(kind: Kind) -> u32 {
    if let Kind::Decimal { scale } = kind { scale.into() } else { 0 }
}

fn units(data: &Data) -> Vec<i128> {
    match data {
        Data::SmallDecimals(values) | Data::Ints(values) => values.iter().map(|&v| v.into()).collect(),
        Data::Decimals(values) => values.clone(),
        _ => Vec::new(),
    }
}

impl Call {
    fn integers(&self, vector: Vector) -> Vector {
        match (vector.data, self.kind) {
            (Data::Ints(values), Kind::Decimal { .. }) => {
                Vector { data: Data::SmallDecimals(values), nulls: vector.nulls }
            }
            (data, _) => Vector { data, nulls: vector.nulls },
        }
    }

    fn floats(&self, mut vector: Vector) -> Vector {
        if let (Data::Floats(values), Kind::Float32) = (&mut vector.data, self.kind) {
            values.iter_mut().for_each(|value| *value = f64::from(*value as f32));
        }
        vector
    }

    fn sums(&self, vector: Vector) -> Result<Vector> {
        let Vector { data, nulls } = vector;
        let holds = holds(&self.data_type);
        let is_over = match &data {
            Data::SmallDecimals(values) => values.iter().any(|&v| !holds(v.into())),
            Data::Decimals(values) => values.iter().any(|&v| !holds(v)),
            _ => false,
        };
        if is_over {
            return Err(too_large("a sum", &self.data_type));
        }
        let data = match (data, self.kind) {
            (Data::SmallDecimals(values), Kind::Int) => Data::Ints(values),
            // All fit 64 bits.
            (Data::Decimals(values), Kind::Int) => Data::Ints(values.into_iter().map(|v| v as i64).collect()),
            (data, _) => data,
        };
        Ok(Vector { data, nulls })
    }

    /// Returns sums divided by counts.
    fn means(&self, sums: Vector, counts: &[i64]) -> Result<Vector> {
        let nulls = sums.nulls;
        let counts = counts.iter().map(|&n| n.max(1));
        if let Data::Floats(sums) = &sums.data {
            let means = sums.iter().zip(counts).map(|(sum, n)| sum / n as f64).collect();
            return Ok(self.floats(Vector { data: Data::Floats(means), nulls }));
        }
        let pairs = units(&sums.data).into_iter().zip(counts);
        if is_float(self.kind) {
            let one = 10f64.powi(scale_of(self.argument_kind) as i32);
            let means = pairs.map(|(sum, n)| sum as f64 / (n as f64 * one)).collect();
            return Ok(self.floats(Vector { data: Data::Floats(means), nulls }));
        }
        let (from, to) = (scale_of(self.argument_kind), scale_of(self.kind));
        let holds = holds(&self.data_type);
        let mean = |(sum, n)| mean_of(sum, n, from, to).filter(|&mean| holds(mean));
        let means = pairs.map(mean).collect::<Option<Vec<_>>>();
        let means = means.ok_or_else(|| too_large("a mean", &self.data_type))?;
        Ok(Vector { data: smallest(means), nulls })
    }
}

/// Returns numbers as floats.
pub fn to_floats(vector: &Arc<Vector>, data_type: &DataType) -> Arc<Vector> {
    let one = 10f64.powi(kind_of(data_type).map_or(0, scale_of) as i32);
    let decoded = vector.decoded();
    let data = match &decoded.data {
        Data::Ints(values) => Data::Floats(values.iter().map(|&v| v as f64).collect()),
        Data::SmallDecimals(values) => Data::Floats(values.iter().map(|&v| v as f64 / one).collect()),
        Data::Decimals(values) => Data::Floats(values.iter().map(|&v| v as f64 / one).collect()),
        _ => return vector.clone(),
    };
    Arc::new(Vector { data, nulls: decoded.nulls.clone() })
}

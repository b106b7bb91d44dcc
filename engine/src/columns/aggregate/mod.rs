//! Aggregates of groups of rows: `sum(amount), max(amount), count`.
//!
//! ```text
//!   mapper    rows --> groups and states of a split --> key in normal form, states      classes.rs
//!   reducer            states of equal keys merged  --> key and results as text
//! ```
//!
//! States are exact or depend on the set of values alone, so that results are the same for any threads and memory.

mod accumulator;
pub mod classes;
pub mod distinct_sketch;
pub mod exact;
pub mod float_sum;
mod quantile_sketch;

use super::expression::{Field, Tree, Typed, bind, parse_list};
use super::kind::Kind;
use yunti_base::{Code, Error, Result};

/// An aggregate function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Number of rows, or of values that are no nulls.
    Count,
    Sum,
    Min,
    Max,
    Mean,
    /// First and last value in the order of the input.
    First,
    Last,
    ApproxDistinct,
    /// Approximate quantile: its share as the bits of a float.
    ApproxQuantile(u64),
    /// Number of distinct values.
    Distinct,
    /// Least value with at least a share of the values up to it; the share as the bits of a float.
    Quantile(u64),
    /// Value in the middle, or the mean of the two there.
    Median,
}

impl Function {
    /// Returns true if it needs the values of a group in order.
    pub fn is_exact(self) -> bool {
        matches!(self, Function::Distinct | Function::Quantile(_) | Function::Median)
    }
}

/// An aggregate of a job.
#[derive(Clone, Debug)]
pub struct Aggregate {
    pub function: Function,
    /// None: rows are counted.
    pub argument: Option<Typed>,
    /// Name of the result's column.
    pub name: String,
    /// Type of the result.
    pub kind: Kind,
}

impl Aggregate {
    /// Returns the type of the values that are aggregated.
    pub fn argument_kind(&self) -> Kind {
        self.argument.as_ref().map_or(Kind::Int, |argument| argument.kind)
    }
}

/// A list of aggregates without types.
pub struct List(Vec<(Tree, Option<String>, String)>);

impl List {
    /// Parses a list, such as `sum(amount) as total, count`. A job for distinct rows has an empty one. Errors: `Usage`.
    pub fn parse(text: &str) -> Result<List> {
        if text.is_empty() { Ok(List(Vec::new())) } else { parse_list(text).map(List) }
    }

    /// Calls `visit` with the name of each column.
    pub fn columns(&self, visit: &mut impl FnMut(&str)) {
        for (tree, ..) in &self.0 {
            match tree {
                Tree::Column(name) if name.eq_ignore_ascii_case("count") => {}
                tree => tree.columns(visit),
            }
        }
    }

    /// Returns the aggregates over columns. Errors: `Usage` for an unknown function, or types that do not fit.
    pub fn bind(&self, fields: &[Field]) -> Result<Vec<Aggregate>> {
        if self.0.len() > AGGREGATES_MAX {
            return Err(Error::new(Code::Usage, format!("there are more than {AGGREGATES_MAX} aggregates")));
        }
        self.0.iter().map(|(tree, name, text)| one(tree, name.as_deref().unwrap_or(text), fields)).collect()
    }
}

const NAMES: &str = "count, count(distinct x), sum, min, max, mean (avg), median, quantile, first, last, approx_distinct, \
                     approx_quantile";
/// Aggregates of a job, at most.
const AGGREGATES_MAX: usize = 200;

fn one(tree: &Tree, name: &str, fields: &[Field]) -> Result<Aggregate> {
    let name = name.to_string();
    let of = |function, argument: Option<Typed>, kind| Ok(Aggregate { function, argument, name: name.clone(), kind });
    let (function, arguments) = match tree {
        Tree::Column(word) if word.eq_ignore_ascii_case("count") => return of(Function::Count, None, Kind::Int),
        Tree::CallAll(word) if word == "count" => return of(Function::Count, None, Kind::Int),
        Tree::CallDistinct(word, argument) if word == "count" => {
            return of(Function::Distinct, Some(bind(argument, fields)?), Kind::Int);
        }
        Tree::Call(function, arguments) => (&function[..], &arguments[..]),
        _ => {
            let error = Error::new(Code::Usage, format!("'{name}' is no aggregate"));
            return Err(error.hint(format!("write f(value), with {NAMES}")));
        }
    };
    let wrong =
        |n: usize| Error::new(Code::Usage, format!("{function} needs {n} argument{}", if n == 1 { "" } else { "s" }));
    let n = if matches!(function, "approx_quantile" | "quantile") { 2 } else { 1 };
    if arguments.len() != n && !(function == "count" && arguments.is_empty()) {
        return Err(wrong(n));
    }
    let Some(first) = arguments.first() else { return of(Function::Count, None, Kind::Int) };
    let argument = bind(first, fields)?;
    let kind = argument.kind;
    let share = |tree: &Tree| {
        let share = match tree {
            Tree::Number(text) => text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share)),
            _ => None,
        };
        let wrong = || Error::new(Code::Usage, format!("{name}: the second argument must be a number from 0 to 1"));
        share.map(f64::to_bits).ok_or_else(wrong)
    };
    let number = |argument: Typed| match kind.is_number() {
        true => Ok(argument),
        false => Err(Error::new(Code::Usage, format!("{function} needs numbers, and {name} has {kind}"))
            .hint("name the type of the column with --type, or convert it: cast(x as double)")),
    };
    match function {
        "count" => of(Function::Count, Some(argument), Kind::Int),
        "sum" => {
            let kind = match kind {
                Kind::Int => Kind::Decimal { scale: 0 },
                Kind::Float32 => Kind::Float,
                kind => kind,
            };
            of(Function::Sum, Some(number(argument)?), kind)
        }
        "mean" | "avg" => of(Function::Mean, Some(number(argument)?), Kind::Float),
        "min" => of(Function::Min, Some(argument), kind),
        "max" => of(Function::Max, Some(argument), kind),
        "first" => of(Function::First, Some(argument), kind),
        "last" => of(Function::Last, Some(argument), kind),
        "approx_distinct" => of(Function::ApproxDistinct, Some(argument), Kind::Int),
        "median" => of(Function::Median, Some(number(argument)?), Kind::Float),
        "quantile" => of(Function::Quantile(share(&arguments[1])?), Some(argument), kind),
        "approx_quantile" => {
            let share = share(&arguments[1])?;
            let floats = Typed::to_float(number(argument)?)?;
            of(Function::ApproxQuantile(share), Some(floats), Kind::Float)
        }
        other => {
            Err(Error::new(Code::Usage, format!("there is no aggregate {other}")).hint(format!("there are {NAMES}")))
        }
    }
}

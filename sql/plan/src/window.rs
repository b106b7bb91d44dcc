//! Calls of windows, and the rows around each row that they take.

use std::fmt;

use arrow_schema::DataType;
use yunti_engine::columns::vector::Value;

use crate::aggregate::AggregateFunction;
use crate::expression::Expression;

/// One call of a window.
#[derive(Clone, Debug)]
pub struct WindowCall {
    pub function: WindowFunction,
    /// The value that it takes from rows, if it takes one; `lag` and `lead`: then their default, if there is one.
    pub arguments: Vec<Expression>,
    /// Rows that an aggregate counts: `filter (where ..)`.
    pub condition: Option<Expression>,
    /// True if each different value of an aggregate counts once.
    pub distinct: bool,
    /// True if rows whose value is null are passed over, by functions that take the value of one row.
    pub ignores_nulls: bool,
    pub frame: Frame,
    pub data_type: DataType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowFunction {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    /// Number of equal parts of a partition, above 0.
    Ntile(u64),
    /// Number of rows back; below 0: ahead.
    Lag(i64),
    FirstValue,
    LastValue,
    /// Number of a row of the frame, from 1; below 0: from its end.
    NthValue(i64),
    Aggregate(AggregateFunction),
}

/// Rows around each row that a call takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    pub unit: FrameUnit,
    pub start: FrameEnd,
    pub end: FrameEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnit {
    Rows,
    /// Values of the only key of the order, if an end has an offset.
    Range,
    /// Peers.
    Groups,
}

#[derive(Clone, Debug, PartialEq)]
pub enum FrameEnd {
    UnboundedPreceding,
    Preceding(Offset),
    CurrentRow,
    Following(Offset),
    UnboundedFollowing,
}

/// Distance from the current row.
#[derive(Clone, Debug, PartialEq)]
pub enum Offset {
    /// Rows or groups as `Int`; for ranges a value of the key's shape.
    Value(Value),
    /// For ranges of dates and timestamps.
    Interval(Interval),
}

/// Stretch of time. Months are of the calendar: the last day of a month stays within the month that it comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    pub months: i32,
    pub days: i32,
    pub nanos: i64,
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interval {} months {} days {} ns", self.months, self.days, self.nanos)
    }
}

impl fmt::Display for FrameEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = |of: &Offset| match of {
            Offset::Value(Value::Int(v)) => v.to_string(),
            Offset::Value(Value::Float(v)) => v.to_string(),
            Offset::Value(Value::Decimal(v)) => format!("{v} units"),
            Offset::Value(other) => format!("{other:?}"),
            Offset::Interval(interval) => interval.to_string(),
        };
        match self {
            FrameEnd::UnboundedPreceding => f.write_str("unbounded preceding"),
            FrameEnd::Preceding(of) => write!(f, "{} preceding", offset(of)),
            FrameEnd::CurrentRow => f.write_str("current row"),
            FrameEnd::Following(of) => write!(f, "{} following", offset(of)),
            FrameEnd::UnboundedFollowing => f.write_str("unbounded following"),
        }
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = ["rows", "range", "groups"][self.unit as usize];
        write!(f, "{unit} between {} and {}", self.start, self.end)
    }
}

impl fmt::Display for WindowCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments = self.arguments.iter().map(Expression::to_string).collect::<Vec<_>>().join(", ");
        let distinct = if self.distinct { "distinct " } else { "" };
        match &self.function {
            WindowFunction::Aggregate(function) => write!(f, "{function:?}({distinct}{arguments})")?,
            function => write!(f, "{function:?}({arguments})")?,
        }
        if self.ignores_nulls {
            f.write_str(" ignore nulls")?;
        }
        if let Some(condition) = &self.condition {
            write!(f, " if {condition}")?;
        }
        match self.function {
            WindowFunction::FirstValue
            | WindowFunction::LastValue
            | WindowFunction::NthValue(_)
            | WindowFunction::Aggregate(_) => write!(f, " {}", self.frame),
            _ => Ok(()),
        }
    }
}

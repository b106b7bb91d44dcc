//! Values computed from the columns of a row. Types are settled: both sides of a comparison and of arithmetic have the
//! types that the operation needs, and each expression names the type of its value.
//!
//! Nulls are SQL's: a comparison with a null is null; `and` and `or` have three values. Arithmetic is checked: a result
//! that its type does not hold is an error, and so is a division of numbers that are not floats by zero.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use arrow_schema::DataType;
use yunti_base::Result;
use yunti_engine::columns::vector::{Value, Vector};

/// A value for each row.
#[derive(Clone, Debug)]
pub struct Expression {
    pub data_type: DataType,
    pub operation: Operation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// Like the first two, but a null equals a null and no other value.
    NotDistinct,
    Distinct,
}

impl Comparison {
    /// Returns the comparison with its sides exchanged.
    pub fn turned(self) -> Comparison {
        match self {
            Comparison::Less => Comparison::Greater,
            Comparison::LessOrEqual => Comparison::GreaterOrEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterOrEqual => Comparison::LessOrEqual,
            other => other,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    /// Toward zero, if the numbers are whole.
    Divide,
    /// With the sign of the dividend.
    Remainder,
}

/// Functions that executors know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Year .. second of a date or a timestamp, as a whole number of the expression's type.
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Quarter,
    /// 0 is Sunday.
    DayOfWeek,
    DayOfYear,
    /// First moment of a unit: `Text` literal (`year` .. `second`), date or timestamp.
    DateTrunc,
    /// Date or timestamp, and an interval as three literals: months, days, nanoseconds. Months come first; a day that
    /// its month does not have becomes the month's last.
    AddInterval,
    /// Text, first character from 1, number of characters if there is a third argument.
    Substring,
    /// Characters.
    Length,
    Lower,
    Upper,
    /// Without spaces at both ends, at the beginning, at the end.
    Trim,
    TrimStart,
    TrimEnd,
    /// All texts in a row; nulls are passed over.
    Concat,
    /// `||`: null if a text is null.
    Join,
    StartsWith,
    EndsWith,
    Contains,
    Abs,
    Floor,
    Ceil,
    /// A number of digits behind the point if there is a second argument; half away from zero.
    Round,
    /// To a whole number, half to even; of a float.
    RoundEven,
    Sqrt,
    /// The first value that is not null.
    Coalesce,
    /// Null if both are equal, else the first.
    NullIf,
    /// A sum, and the number of its values: their quotient, rounded half away from zero. A decimal.
    Mean,
}

/// Way to compute the value of an expression.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Number of a column of the input.
    Column(usize),
    Literal(Value),
    Compare(Comparison, Box<[Expression; 2]>),
    Arithmetic(Arithmetic, Box<[Expression; 2]>),
    Negate(Box<Expression>),
    And(Vec<Expression>),
    Or(Vec<Expression>),
    Not(Box<Expression>),
    IsNull(Box<Expression>),
    /// Value of the first branch whose condition is true.
    Case {
        branches: Vec<(Expression, Expression)>,
        otherwise: Option<Box<Expression>>,
    },
    /// To the type of the expression; `lenient`: null where the value cannot be converted, instead of an error.
    Cast {
        value: Box<Expression>,
        lenient: bool,
    },
    /// The list has values of the shape of `value`; null among them if the list had one.
    In {
        value: Box<Expression>,
        list: Vec<Value>,
        negated: bool,
    },
    /// SQL's `like` with `%`, `_` and an escape character.
    Like {
        value: Box<Expression>,
        pattern: String,
        escape: Option<char>,
        ignore_case: bool,
        negated: bool,
    },
    Call(Function, Vec<Expression>),
    /// The only value of the only row of a plan, null without a row; two rows are an error. Executors run it once,
    /// before the rows of the plan around it, and put its value here.
    Scalar(Arc<dyn ValuePlan>),
    /// A function of the front end's library or of the user.
    Foreign(Arc<dyn Foreign>, Vec<Expression>),
}

/// A plan whose only value an expression needs: a `Node`.
pub trait ValuePlan: Any + Send + Sync + fmt::Debug {
    /// Returns the operator at its top, in one line.
    fn title(&self) -> String;

    /// Writes it as text, its top indented by `depth` steps.
    fn write(&self, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// A function that is not the executor's own.
pub trait Foreign: Send + Sync + fmt::Debug {
    /// Returns the name for messages and plans.
    fn name(&self) -> &str;

    /// Returns its values for `rows` rows. Equal arguments give equal values.
    fn evaluate(&self, arguments: &[Arc<Vector>], rows: usize) -> Result<Vector>;
}

impl Expression {
    pub fn new(data_type: DataType, operation: Operation) -> Expression {
        Expression { data_type, operation }
    }

    /// Returns a column of the input.
    pub fn column(number: usize, data_type: DataType) -> Expression {
        Expression::new(data_type, Operation::Column(number))
    }

    /// Returns the expressions that it computes with, in order.
    pub fn children(&self) -> Vec<&Expression> {
        match &self.operation {
            Operation::Column(_) | Operation::Literal(_) | Operation::Scalar(_) => Vec::new(),
            Operation::Compare(_, sides) | Operation::Arithmetic(_, sides) => sides.iter().collect(),
            Operation::Negate(of) | Operation::Not(of) | Operation::IsNull(of) => vec![of],
            Operation::And(all) | Operation::Or(all) => all.iter().collect(),
            Operation::Call(_, all) | Operation::Foreign(_, all) => all.iter().collect(),
            Operation::Case { branches, otherwise } => {
                let pairs = branches.iter().flat_map(|(condition, value)| [condition, value]);
                pairs.chain(otherwise.as_deref()).collect()
            }
            Operation::Cast { value, .. } | Operation::In { value, .. } | Operation::Like { value, .. } => vec![value],
        }
    }

    /// Returns the expressions that it computes with, in order.
    pub fn children_mut(&mut self) -> Vec<&mut Expression> {
        match &mut self.operation {
            Operation::Column(_) | Operation::Literal(_) | Operation::Scalar(_) => Vec::new(),
            Operation::Compare(_, sides) | Operation::Arithmetic(_, sides) => sides.iter_mut().collect(),
            Operation::Negate(of) | Operation::Not(of) | Operation::IsNull(of) => vec![of],
            Operation::And(all) | Operation::Or(all) => all.iter_mut().collect(),
            Operation::Call(_, all) | Operation::Foreign(_, all) => all.iter_mut().collect(),
            Operation::Case { branches, otherwise } => {
                let pairs = branches.iter_mut().flat_map(|(condition, value)| [condition, value]);
                pairs.chain(otherwise.as_deref_mut()).collect()
            }
            Operation::Cast { value, .. } | Operation::In { value, .. } | Operation::Like { value, .. } => vec![value],
        }
    }

    /// Calls `f` with the number of each column that it needs, as often as it names it.
    pub fn visit_columns(&self, f: &mut impl FnMut(usize)) {
        if let Operation::Column(number) = self.operation {
            f(number);
        }
        for child in self.children() {
            child.visit_columns(f);
        }
    }

    /// Replaces the number of each column.
    pub fn renumber(&mut self, f: &impl Fn(usize) -> usize) {
        if let Operation::Column(number) = &mut self.operation {
            *number = f(*number);
        }
        self.children_mut().into_iter().for_each(|child| child.renumber(f));
    }
}

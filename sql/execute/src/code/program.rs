//! Programs: what one loop computes for each row, without nulls, errors or types of SQL. Each operation names the
//! operations that it takes values of; all stand before it.
//!
//! Whole numbers have intervals (`interval.rs`) that prove that no operation wraps around. So none is checked.

/// Number of an operation.
pub type Id = u32;

/// Type of a value in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Bool,
    I64,
    I128,
    F64,
}

/// Type of the values of an input column in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    Bool,
    I64,
    I128,
    F64,
    /// Texts, of which programs take the codes alone.
    Text,
}

/// Shape of an input column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    pub element: Element,
    /// True for codes that number the values.
    pub is_coded: bool,
    pub has_nulls: bool,
    /// Bits of the largest whole number, without its sign.
    pub bits: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    Add,
    Subtract,
    Multiply,
    /// Toward zero. The divisor is never 0, nor -1 for the least number.
    Divide,
    Remainder,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Value of an input column.
    Input(usize),
    /// True for a null of an input column.
    InputNull(usize),
    /// Code of an input column, as a whole number.
    InputCode(usize),
    /// Constant of the call.
    Constant(usize),
    /// Number that is part of the program: a power of ten, a limit of a type.
    Whole(i128),
    /// Bits of a float that is part of the program.
    Float(u64),
    Bool(bool),
    Number(Number, Id, Id),
    FloatNumber(Number, Id, Id),
    /// Comparison of whole numbers or booleans.
    Compare(Test, Id, Id),
    And(Id, Id),
    Or(Id, Id),
    Not(Id),
    /// Condition, value if it holds, value otherwise.
    Choose(Id, Id, Id),
    /// A whole number in 128 bits.
    Widen(Id),
    /// The lower 64 bits of a whole number.
    Narrow(Id),
    /// The same whole number, which is within an interval in all rows that need it.
    Known(Id, i128, i128),
    /// A whole number of 64 bits as a float.
    ToFloat(Id),
    /// A boolean as a whole number.
    BoolToWhole(Id),
    /// A float that is a whole number of 63 bits.
    ToWhole(Id),
    /// Float rounded to single precision.
    ToSingle(Id),
    FloatNegate(Id),
    FloatTruncate(Id),
    /// A whole number that orders floats: -0 is 0, and all NaN are one, behind infinity.
    Order(Id),
}

/// Use of the rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sink {
    /// A value of each column, and true for a null, for each row that is kept.
    Columns(Vec<(Id, Option<Id>)>),
    /// Sums and counts of the rows at each place; rows at one place take turns in `lanes` copies.
    Accumulators { place: Option<Id>, all: Vec<Accumulator>, lanes: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccumulatorKind {
    Count,
    Sum,
    Least,
    Largest,
}

/// A number for each place, of the rows for which `when` is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Accumulator {
    pub kind: AccumulatorKind,
    /// A whole number; None for a count.
    pub value: Option<Id>,
    pub when: Option<Id>,
    /// True for 128 bits: two words, the lower first.
    pub is_wide: bool,
}

/// One loop over the rows of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    pub inputs: Vec<Input>,
    pub constants: Vec<Type>,
    pub ops: Vec<(Op, Type)>,
    /// True for rows that are kept; None: all.
    pub keep: Option<Id>,
    /// True for rows that need an error.
    pub failures: Vec<Id>,
    pub sink: Sink,
}

impl Accumulator {
    /// Returns the number of words of 64 bits.
    pub fn words(&self) -> usize {
        if self.is_wide { 2 } else { 1 }
    }

    /// Returns its words without a row.
    pub fn first(&self) -> [u64; 2] {
        match (self.kind, self.is_wide) {
            (AccumulatorKind::Count | AccumulatorKind::Sum, _) => [0, 0],
            (AccumulatorKind::Least, false) => [i64::MAX as u64, 0],
            (AccumulatorKind::Largest, false) => [i64::MIN as u64, 0],
            (AccumulatorKind::Least, true) => [u64::MAX, i64::MAX as u64],
            (AccumulatorKind::Largest, true) => [0, i64::MIN as u64],
        }
    }
}

//! Functions and aggregates of queries: values computed from columns, a batch at a time.
//!
//! Columns are lent where they stand, whatever holds them. An instance serves one thread at a time.

use yunti_base::Result;

/// Type of a value (yt_value_type).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ValueType {
    Bool = 1,
    /// Held in 64 bits.
    I32 = 2,
    I64 = 3,
    F64 = 4,
    /// UTF-8.
    Text = 5,
    Bytes = 6,
    /// Days since 1970.
    Date = 7,
    /// Microseconds since 1970.
    Timestamp = 8,
}

impl ValueType {
    const ALL: [ValueType; 8] = [
        ValueType::Bool,
        ValueType::I32,
        ValueType::I64,
        ValueType::F64,
        ValueType::Text,
        ValueType::Bytes,
        ValueType::Date,
        ValueType::Timestamp,
    ];

    /// Returns the type with this number in the C ABI.
    pub fn from_abi(number: u32) -> Option<ValueType> {
        ValueType::ALL.get((number as usize).checked_sub(1)?).copied()
    }

    /// Returns the SQL name.
    pub fn name(self) -> &'static str {
        match self {
            ValueType::Bool => "boolean",
            ValueType::I32 => "int",
            ValueType::I64 => "bigint",
            ValueType::F64 => "double",
            ValueType::Text => "varchar",
            ValueType::Bytes => "bytea",
            ValueType::Date => "date",
            ValueType::Timestamp => "timestamp",
        }
    }

    /// Returns true for values that are strings.
    pub fn is_string(self) -> bool {
        matches!(self, ValueType::Text | ValueType::Bytes)
    }
}

/// Types of a function or an aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    pub arguments: Vec<ValueType>,
    pub result: ValueType,
    /// True if rows with nulls are passed to the class.
    pub sees_nulls: bool,
    /// Bytes of a state; 0 for a function.
    pub state_bytes: usize,
}

impl Signature {
    /// Returns the types as text: `(double, double) bigint`.
    pub fn text(&self) -> String {
        let names: Vec<&str> = self.arguments.iter().map(|of| of.name()).collect();
        format!("({}) {}", names.join(", "), self.result.name())
    }
}

/// Values of a column.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    Bools(&'a [bool]),
    Ints(&'a [i64]),
    Floats(&'a [f64]),
    /// Strings by their offsets, one more than strings; with the number of each row's string, or in the order of rows.
    Strings {
        offsets: &'a [u32],
        bytes: &'a [u8],
        codes: Option<&'a [u32]>,
    },
}

impl Values<'_> {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::Bools(values) => values.len(),
            Values::Ints(values) => values.len(),
            Values::Floats(values) => values.len(),
            Values::Strings { codes: Some(codes), .. } => codes.len(),
            Values::Strings { offsets, .. } => offsets.len().saturating_sub(1),
        }
    }

    /// Returns true if there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A column of some rows.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    pub values: Values<'a>,
    /// True for each null.
    pub nulls: Option<&'a [bool]>,
}

/// Values that a call returns.
#[derive(Clone, Debug, PartialEq)]
pub enum Results {
    Bools(Vec<bool>),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    /// Strings by their offsets, one more than rows.
    Strings {
        offsets: Vec<u32>,
        bytes: Vec<u8>,
    },
}

/// Values that a call returns, with their nulls.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultColumn {
    pub values: Results,
    /// True for each null; None if there is none.
    pub nulls: Option<Vec<bool>>,
}

/// A function of the values of a row.
pub trait Function: Send {
    /// Returns the value of each row. Columns have the types of the signature and `rows` rows; without `sees_nulls`, no
    /// null. Fails with `UserCode`, also for more than `string_bytes` bytes of strings.
    fn call(&mut self, arguments: &[Column<'_>], rows: usize, string_bytes: u64) -> Result<ResultColumn>;
}

/// A value of the rows of a group, in a state of fixed size. States of groups stand side by side.
pub trait Aggregate: Send {
    /// Makes the states of groups that have no row yet.
    fn init(&mut self, states: &mut [u8]) -> Result<()>;

    /// Adds each row to the state of its group. Without `sees_nulls`, no null comes.
    fn add(&mut self, states: &mut [u8], groups: &[u32], arguments: &[Column<'_>]) -> Result<()>;

    /// Adds the state of each group in `groups` of `from` to the state of the group in `to`.
    fn merge(&mut self, states: &mut [u8], to: &[u32], from: &[u8], groups: &[u32]) -> Result<()>;

    /// Returns the results of some groups.
    fn finish(&mut self, states: &[u8], groups: &[u32], string_bytes: u64) -> Result<ResultColumn>;
}

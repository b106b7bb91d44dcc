//! A function or an aggregate of a class library, called over columns on any thread.
//!
//! Instances serve one thread at a time: a call takes one that is free, or makes one. Columns are lent where they
//! stand; rows with nulls are left out, unless the class sees them.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard};

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::kind::Kind;
use yunti_engine::columns::vector::{Bytes, Data, Value, Vector};
use yunti_engine::memory::Budget;
use yunti_engine::operator::context::JobContext;
use yunti_engine::operator::function::{Column, ResultColumn, Results, ValueType, Values};
use yunti_engine::operator::{Aggregate, Class, Function, Signature, TaskContext};
use yunti_sql_plan::{Foreign, kind_of};

use super::running;
use super::types::data_type;

/// A function or an aggregate.
pub struct QueryClass {
    class: Arc<dyn Class>,
    /// The name, which a handler may read at any time.
    name: &'static str,
    signature: Signature,
    job: Arc<JobContext>,
    budget: Arc<Budget>,
    functions: Mutex<Vec<Box<dyn Function>>>,
    aggregates: Mutex<Vec<Box<dyn Aggregate>>>,
}

impl QueryClass {
    /// Returns a class for queries; None if it is of another kind.
    pub fn new(class: Arc<dyn Class>, job: &Arc<JobContext>, budget: &Arc<Budget>) -> Option<QueryClass> {
        let signature = class.signature()?.clone();
        let (functions, aggregates) = (Mutex::default(), Mutex::default());
        // A class stays loaded for the life of the process.
        let name = Box::leak(class.info().name.clone().into_boxed_str());
        Some(QueryClass { class, name, signature, job: job.clone(), budget: budget.clone(), functions, aggregates })
    }

    pub fn name(&self) -> &str {
        self.name
    }

    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    fn context(&self) -> Arc<TaskContext> {
        TaskContext::new(self.job.clone(), false, 0, 1)
    }

    /// Calls a function by a free instance.
    fn with_function<T>(&self, call: impl FnOnce(&mut dyn Function) -> Result<T>) -> Result<T> {
        let _running = running::enter(self.name);
        let free = lock(&self.functions).pop();
        let mut function = match free {
            Some(function) => function,
            None => self.class.function(&self.context())?,
        };
        let done = call(&mut *function);
        lock(&self.functions).push(function);
        done
    }

    /// Calls an aggregate by a free instance.
    pub fn with_aggregate<T>(&self, call: impl FnOnce(&mut dyn Aggregate) -> Result<T>) -> Result<T> {
        let _running = running::enter(self.name);
        let free = lock(&self.aggregates).pop();
        let mut aggregate = match free {
            Some(aggregate) => aggregate,
            None => self.class.aggregate(&self.context())?,
        };
        let done = call(&mut *aggregate);
        lock(&self.aggregates).push(aggregate);
        done
    }

    /// Returns the bytes of strings that one call may give.
    pub fn string_bytes(&self) -> u64 {
        self.budget.free_bytes().max(1 << 20)
    }

    /// Returns the rows that are passed to the class; None: all.
    pub fn passed(&self, arguments: &[Arc<Vector>], rows: usize) -> Option<Vec<u32>> {
        let has_nulls = |of: &&Arc<Vector>| of.nulls.as_ref().is_some_and(|nulls| nulls.contains(&true));
        let nulls: Vec<&Arc<Vector>> = arguments.iter().filter(has_nulls).collect();
        if self.signature.sees_nulls || nulls.is_empty() {
            return None;
        }
        Some((0..rows as u32).filter(|&row| !nulls.iter().any(|of| of.is_null(row as usize))).collect())
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(|e| e.into_inner())
}

impl fmt::Debug for QueryClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name(), self.signature.text())
    }
}

impl PartialEq for QueryClass {
    fn eq(&self, other: &QueryClass) -> bool {
        Arc::ptr_eq(&self.class, &other.class)
    }
}

impl Eq for QueryClass {}

impl Hash for QueryClass {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl Foreign for QueryClass {
    fn name(&self) -> &str {
        self.name
    }

    fn evaluate(&self, arguments: &[Arc<Vector>], rows: usize) -> Result<Vector> {
        let result = data_type(self.signature.result);
        let Some(kind) = kind_of(&result) else { return Err(wrong()) };
        let passed = self.passed(arguments, rows);
        if rows == 0 || passed.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Vector::constant(&Value::Null, kind, rows));
        }
        let chosen = Chosen::of(arguments, passed.as_deref());
        let count = passed.as_ref().map_or(rows, Vec::len);
        let columns = chosen.columns(&self.signature)?;
        let values = self.with_function(|function| function.call(&columns, count, self.string_bytes()))?;
        let vector = vector_of(values)?;
        Ok(match passed {
            None => vector,
            Some(passed) => spread(vector, &passed, kind, rows),
        })
    }
}

/// Returns values for all rows: those of some rows, and null for the others.
fn spread(vector: Vector, passed: &[u32], kind: Kind, rows: usize) -> Vector {
    // The number of each row's value; of a null, any.
    let (mut numbers, mut nulls) = (vec![0u32; rows], vec![true; rows]);
    for (number, &row) in passed.iter().enumerate() {
        numbers[row as usize] = number as u32;
        nulls[row as usize] = vector.is_null(number);
    }
    let data = match vector.data {
        Data::Bytes(values) => Data::Codes(numbers, Arc::new(values)),
        data if data.is_empty() => Data::zeros(kind, rows),
        data => data.select(&numbers),
    };
    Vector { data, nulls: Some(nulls) }
}

/// Arguments of the rows that are passed.
pub struct Chosen<'a>(Vec<Cow<'a, Vector>>);

impl<'a> Chosen<'a> {
    /// Returns some rows of columns, without codes of numbers.
    pub fn of(arguments: &'a [Arc<Vector>], rows: Option<&[u32]>) -> Chosen<'a> {
        let chosen = arguments.iter().map(|of| match rows {
            None => of.decoded(),
            Some(rows) => {
                let mut some = of.select(rows);
                some.nulls = some.nulls.filter(|nulls| nulls.contains(&true));
                match some.data {
                    Data::NumberCodes(..) => Cow::Owned(some.decoded().into_owned()),
                    _ => Cow::Owned(some),
                }
            }
        });
        Chosen(chosen.collect())
    }

    /// Returns the columns for a class of these types.
    pub fn columns(&self, signature: &Signature) -> Result<Vec<Column<'_>>> {
        self.0.iter().zip(&signature.arguments).map(|(vector, &of)| column(vector, of)).collect()
    }
}

fn wrong() -> Error {
    Error::new(Code::Internal, "an argument of a function has another shape than its type")
}

fn column(vector: &Vector, of: ValueType) -> Result<Column<'_>> {
    let values = match &vector.data {
        Data::Bools(values) => Values::Bools(values),
        Data::Ints(values) => Values::Ints(values),
        Data::Floats(values) => Values::Floats(values),
        Data::Bytes(strings) => {
            let (offsets, bytes) = strings.parts();
            Values::Strings { offsets, bytes, codes: None }
        }
        Data::Codes(codes, strings) => {
            let (offsets, bytes) = strings.parts();
            Values::Strings { offsets, bytes, codes: Some(codes) }
        }
        _ => return Err(wrong()),
    };
    if let (ValueType::Text, Values::Strings { bytes, .. }) = (of, values)
        && std::str::from_utf8(bytes).is_err()
    {
        return Err(Error::new(Code::Invalid, "a text is no UTF-8").hint("declare the argument as bytes"));
    }
    Ok(Column { values, nulls: vector.nulls.as_deref() })
}

/// Returns what a class gave as a vector.
pub fn vector_of(column: ResultColumn) -> Result<Vector> {
    let data = match column.values {
        Results::Bools(values) => Data::Bools(values),
        Results::Ints(values) => Data::Ints(values),
        Results::Floats(values) => Data::Floats(values),
        Results::Strings { offsets, bytes } => Data::Bytes(Bytes::of(offsets, bytes).ok_or_else(wrong)?),
    };
    Ok(Vector { data, nulls: column.nulls })
}

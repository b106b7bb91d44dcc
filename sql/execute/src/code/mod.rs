//! Programs of expressions, the code that a compiler makes of them, and its calls: what the executor and a compiler
//! have in common.
//!
//! The executor knows no compiler: `Context::compilation` brings one. Code never reports an error of a value. A row
//! that would need one makes the call fail, and kernels take the batch: they give the same rows or the right error.

pub mod program;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use yunti_base::Result;

pub use self::program::{Accumulator, AccumulatorKind, Element, Id, Input, Op, Program, Sink, Type};

/// Values of an input column. Codes, if there are any, number them.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    Bools(&'a [bool]),
    Ints(&'a [i64]),
    Wide(&'a [i128]),
    Floats(&'a [f64]),
    /// A number of texts, of which there are codes.
    Texts(usize),
}

/// An input of a call: as many rows as the call has.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    pub values: Values<'a>,
    pub codes: Option<&'a [u32]>,
    pub nulls: Option<&'a [bool]>,
}

/// A constant of a query. Programs have only its type, so that queries that differ in constants share their code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant {
    Bool(bool),
    Int(i64),
    Wide(i128),
    Float(f64),
}

/// Values of a column that a call gives.
#[derive(Clone, Debug)]
pub enum Given {
    /// 0 or 1.
    Bools(Vec<u8>),
    Ints(Vec<i64>),
    Wide(Vec<i128>),
    Floats(Vec<f64>),
}

/// Results of a call.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// For a sink of columns: the values of the rows that are kept, and a byte for each that is null.
    pub columns: Vec<(Given, Option<Vec<u8>>)>,
    /// For a sink of columns with a condition: the rows that are kept.
    pub rows: Vec<u32>,
    /// For a sink of accumulators: `lanes` times the words of each place; the caller sets their first values.
    pub accumulators: Vec<u64>,
    /// For a sink of accumulators: places of groups.
    pub places: usize,
}

/// Machine code of a program.
pub trait Code: Send + Sync {
    /// Runs the program over some rows. Returns the number of rows that are kept, or None if a row needs an error:
    /// then what `output` has is not to be used. A sink of columns makes `output.columns` and `output.rows`; one of
    /// accumulators adds to what the caller has set.
    ///
    /// Errors: `Internal` for columns of another shape than the program's.
    fn run(
        &self,
        rows: usize,
        inputs: &[Column<'_>],
        constants: &[Constant],
        output: &mut Output,
    ) -> Result<Option<usize>>;
}

/// Makes code of programs.
pub trait Compiler: Send + Sync {
    /// Returns the code of a program that was compiled before, by this process or another.
    fn find(&self, program: &Program) -> Option<Arc<dyn Code>>;

    /// Compiles a program. Takes some ten milliseconds. Errors: `Internal`.
    fn compile(&self, program: &Program) -> Result<Arc<dyn Code>>;

    /// Returns the time of a usual compilation, in nanoseconds.
    fn usual_nanos(&self) -> u64 {
        15_000_000
    }
}

/// When code takes over from kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// If the rows that are left are worth it.
    #[default]
    Auto,
    /// From the first batch.
    On,
}

/// The compiler of a query, and what it has done there.
#[derive(Clone)]
pub struct Compilation {
    pub compiler: Arc<dyn Compiler>,
    pub mode: Mode,
    pub counts: Arc<Counts>,
}

impl Compilation {
    /// Returns the same compiler with counts of their own.
    pub fn for_query(&self) -> Compilation {
        Compilation { counts: Arc::default(), ..self.clone() }
    }
}

/// Work of a query by kernels and by code, of the parts that have a program.
#[derive(Debug, Default)]
pub struct Counts {
    /// Rows that came to code, and to kernels before or in place of it.
    pub code_rows: AtomicU64,
    pub kernel_rows: AtomicU64,
    /// Calls that needed an error, so that kernels took their rows.
    pub failed_calls: AtomicU64,
    /// Programs that were compiled, and programs from a cache.
    pub compiled: AtomicU64,
    pub cached: AtomicU64,
    /// Time that compilations took.
    pub compile_nanos: AtomicU64,
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        write!(
            f,
            "machine code took {} rows, kernels {} of its parts; {} programs compiled in {:.1} ms, {} from the cache; \
             {} calls failed",
            of(&self.code_rows),
            of(&self.kernel_rows),
            of(&self.compiled),
            of(&self.compile_nanos) as f64 / 1e6,
            of(&self.cached),
            of(&self.failed_calls),
        )
    }
}

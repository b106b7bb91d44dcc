//! The executor of plans on one node: pipelines over batches of columns, within the memory of the query.
//!
//! ```text
//!   run/          a plan as pipelines, one after the other; the rows of the last in order
//!   operators/    scans, aggregates, joins, sorts, windows, recursive queries
//!   pipeline/     source -> steps -> sink, and the workers that run it
//!   context.rs    memory, threads, cancellation and files of a query
//!   missing.rs    errors for what the executor lacks
//!   key_filter/   keys of a join's table, as filters of the scans below its other side
//!   expression/   values of expressions for a batch
//!   code/         programs of expressions, and calls of the code that a compiler makes of them
//!   compile/      expressions as programs, and the switch from kernels to code
//!   meter.rs      rows and time of operators
//!   parallel.rs   work on several threads at once
//!   store/        rows that operators keep, as whole columns
//!   spill/        rows that do not fit in memory, in files
//! ```

pub mod code;
pub mod compile;
pub mod context;
pub mod expression;
pub mod key_filter;
pub mod meter;
mod missing;
pub mod operators;
mod parallel;
pub mod pipeline;
pub mod run;
pub mod spill;
pub mod store;

pub use context::Context;
pub use run::run;

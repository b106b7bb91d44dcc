//! The executor of plans on one node: pipelines over batches of columns, within the memory of the query.
//!
//! ```text
//!   run.rs        a plan as pipelines, one after the other; the rows of the last in order
//!   recursive.rs  a plan whose rows are its own input
//!   scalars.rs    values of plans that stand in expressions
//!   pipeline/     source -> steps -> sink, and the workers that run it
//!   context.rs    memory, threads, cancellation and files of a query
//!   missing.rs    errors for what the executor lacks
//!   key_filter/   keys of a join's table, as filters of the scans below its other side
//!   scan/         rows of a table: conditions first, then the other columns of the rows that are left
//!   expression/   values of expressions for a batch
//!   aggregate/    groups and their states
//!   join/         tables of rows, and rows that look into them
//!   sort/         rows in order, and the first of them
//!   window/       values from the rows around each row
//!   meter.rs      rows and time of operators
//!   store/        rows that operators keep, as whole columns
//!   spill/        rows that do not fit in memory, in files
//! ```

pub mod aggregate;
pub mod context;
pub mod expression;
pub mod join;
pub mod key_filter;
pub mod meter;
mod missing;
pub mod pipeline;
pub mod recursive;
pub mod run;
pub mod scalars;
pub mod scan;
pub mod sort;
pub mod spill;
pub mod store;
pub mod window;

pub use context::Context;
pub use run::run;

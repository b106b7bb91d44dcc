//! Expressions as programs, and the switch from kernels to the code that a compiler makes of them.
//!
//! ```text
//!   plan.rs       steps of a pipeline as expressions over the columns that come in
//!   lower/        expressions as operations of a program; interval.rs: proofs that none wraps
//!   bind.rs       columns of a batch as the inputs of a program
//!   tier.rs       kernels first; code when it is ready and pays
//!   segment.rs    neighbouring steps of a pipeline
//! ```

pub mod bind;
pub mod interval;
pub mod lower;
pub mod plan;
pub mod segment;
pub mod tier;

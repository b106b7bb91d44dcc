//! Classes in worker processes: a crash of user code costs an attempt of one task, never the job.
//!
//! ```text
//!   engine                                      worker (`yunti worker`)
//!   instance.rs   request: batch + columns -->  serve.rs --> the class
//!                 <-- blocks of emitted records
//!        |               env/process                |
//!        +------- shared memory (memfd), one futex word for both turns ------+
//! ```
//!
//! The two sides take turns. The engine copies what comes back, checks it, and only then uses it: a worker that writes
//! anywhere damages its own batch at most. It stands beside the floors, as `abi/` does.

mod class;
mod columns;
mod emit;
mod instance;
mod isolation;
mod mapper;
mod message;
mod operators;
mod request;
pub mod serve;
mod wire;
mod worker;

pub use class::isolated;
pub use isolation::Isolation;

//! Programs as mappers, reducers and combiners, by the contract of Hadoop Streaming: records go to the standard input,
//! records come from the standard output, counters and the status come from the standard error.
//!
//! ```text
//!   batch --> process.rs: one poll for three pipes --> program
//!   records <-- protocol/: lines, raw or typed bytes <-- stdout    report.rs: reporter:counter:.. <-- stderr
//! ```
//!
//! It stands beside the floors, as `abi/` does: both bring user code behind the interfaces of `operator/`.

mod class;
mod command_line;
mod environment;
mod mapper;
mod output;
mod print_reducer;
mod process;
pub mod protocol;
mod reducer;
mod report;

pub use class::{program, programs};
pub use command_line::{Program, words};

//! `yunti observe`: why a process is slow, from Java method to kernel.
//!
//! ```text
//!   flags -> command/  what is asked for
//!              |-> target/  the process that is looked at
//!              |-> jvm/     async-profiler in a JVM, and what it recorded
//!              |-> native/  samples of any process, by perf events
//!              |-> stack/   who called whom, and what it cost
//!              `-> page/    the answer as a page; text and JSON are the command's
//! ```

mod command;
mod jvm;
mod native;
mod page;
mod stack;
mod target;

use std::process::ExitCode;

use yunti_present::program;

fn main() -> ExitCode {
    program::run(command::act)
}

//! `yunti observe`: why a process is slow, from Java method to kernel.
//!
//! ```text
//!   flags -> command/  the subcommands
//!              |-> jvm/     agents in a JVM, and their records
//!              |-> why/     rules that name what bounds a process
//!              |-> demands/ what requests need of each resource
//!              |-> runtime/ units of work of other runtimes: Go, Python, Node
//!              |-> calls/   calls of traced methods, and their durations
//!              |-> recorder/   profiles of services all day, into a store
//!              |-> history/    slices of a store, by words for times
//!              |-> time_kind.rs  kinds of a thread's time
//!              `-> profile.rs  stacks of a process in any runtime, with their costs
//! ```
//!
//! Processes, kernel programs, native samples, stacks and answers come from `yunti-probe`.

mod calls;
mod capture;
mod command;
mod demands;
mod history;
mod jvm;
mod profile;
mod recorder;
mod runtime;
mod time_kind;
mod why;

use std::process::ExitCode;

use yunti_program::program;

fn main() -> ExitCode {
    program::run(command::act)
}

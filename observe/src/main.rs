//! `yunti observe`: why a process is slow, from Java method to kernel.
//!
//! ```text
//!   flags -> command/  what is asked for
//!              |-> jvm/     agents in a JVM, and what they tell
//!              |-> why/     what bounds a process, by all of these
//!              `-> calls/   calls of traced methods, and how long they took
//! ```
//!
//! Processes, kernel programs, native samples, stacks and answers are in `yunti-probe`.

mod calls;
mod capture;
mod command;
mod jvm;
mod why;

use std::process::ExitCode;

use yunti_program::program;

fn main() -> ExitCode {
    program::run(command::act)
}

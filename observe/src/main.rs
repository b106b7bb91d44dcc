//! `yunti observe`: why a process is slow, from Java method to kernel.
//!
//! ```text
//!   flags -> command/  what is asked for
//!              |-> target/  the process that is looked at
//!              |-> jvm/     agents in a JVM, and what they tell
//!              |-> native/  samples of any process, by perf events
//!              |-> kernel/  programs in the kernel that see each call, fault and wait
//!              |-> stack/   who called whom, and what it cost
//!              |-> crash/   what has crashed on this machine, and who is told
//!              |-> why/     what bounds a process, by all of these
//!              |-> calls/   calls of traced methods, and how long they took
//!              `-> answer/  what was found out, as text and as a page
//! ```

mod answer;
mod calls;
mod capture;
mod command;
mod crash;
mod histogram;
mod jvm;
mod kernel;
mod mounts;
mod native;
mod stack;
mod target;
mod why;

use std::process::ExitCode;

use yunti_program::program;

fn main() -> ExitCode {
    program::run(command::act)
}

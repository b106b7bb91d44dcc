//! `yunti capacity`: what a service can carry, what bounds it, and what a change would bring.
//!
//! ```text
//!   flags -> command/  flags and run of each command
//!              |-> messages/ shares of messages, and other libraries tried on them
//!              |-> prove/    changes tried on copies of the service
//!              |-> report/   the answer as text, JSON and page
//!              |-> measured  demands of a process
//!              `-> observe   `yunti observe`, run as a process
//!   load/, model/: crates; each is useful alone
//! ```

mod command;
mod measured;
mod messages;
mod observe;
mod prove;
mod report;

use std::process::ExitCode;

use yunti_program::program;

fn main() -> ExitCode {
    program::run(command::act)
}

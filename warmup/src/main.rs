//! `yunti warmup`: archives of a JVM's classes and replayed requests, so that a service starts warm.
//!
//! ```text
//!   record  a training run:  program -> archive of its classes, requests that it answered -> profile directory
//!   apply   a start:         profile still fits? -> options of the JVM, gate (warmup/gate/) -> exec the program
//!   check   a comparison:    plain and applied in turn -> first answer, CPU until then, percentiles
//! ```
//!
//! ```text
//!   flags -> command/  flags, output and the run of each command
//!              |-> measure/  a service started, loaded and stopped
//!              |-> profile/  the directory of a profile, and the stamps that say whether it fits
//!              `-> java/     command lines, builds and jars of Java, and what each JVM can archive
//! ```

mod command;
mod java;
mod measure;
mod profile;

use std::process::ExitCode;

use yunti_program::program;

fn main() -> ExitCode {
    program::run(command::act)
}

//! `yunti hadoop pool`: JVMs that wait for the next program of `yunti hadoop run`, so that it starts at once.
//!
//! ```text
//!   yunti hadoop run -> client.rs -- request, terminal --> keeper.rs -- the same --> JVM: waits, becomes the program
//!                       client.rs <-- exit code ---------- keeper.rs
//! ```
//!
//! A waiting JVM has loaded Hadoop and has run small jobs. It becomes one program, and ends with it: its class loaders,
//! static fields and threads are those of a new JVM. It serves programs with its own working directory, environment and
//! options alone, because a JVM cannot change them; any other program starts a JVM of its own.

mod client;
mod keeper;
mod socket;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use yunti_program::failure::Outcome;
use yunti_program::program;

/// Keep a JVM ready for the programs of `yunti hadoop run`
#[derive(Parser)]
#[command(name = "yunti hadoop pool", version)]
struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Start the pool in the background
    Start {
        /// End the pool after this many seconds without a program
        #[arg(long, value_name = "SECONDS", default_value_t = 900)]
        idle: u64,
        /// Let at most this many JVMs wait, each for another directory
        #[arg(long, value_name = "N", default_value_t = 2)]
        jvms: usize,
    },
    /// End the pool; programs that run go on
    Stop,
    /// Show what waits
    Status,
    /// Keep the pool in this process (internal)
    #[command(hide = true)]
    Keep { idle: u64, jvms: usize },
    /// Run a Java command in a JVM that waits, or start it (internal)
    #[command(hide = true)]
    Run {
        /// Class that the command names
        main: String,
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        java: Vec<PathBuf>,
    },
}

fn act(flags: Flags) -> Outcome {
    match flags.command {
        Command::Start { idle, jvms } => client::start(idle, jvms),
        Command::Stop => client::stop(),
        Command::Status => client::status(),
        Command::Keep { idle, jvms } => keeper::keep(idle, jvms),
        Command::Run { main, java } => client::run(&main, java),
    }
}

fn main() -> ExitCode {
    program::run(act)
}

//! Flags, output and the run of each command.

mod build;
mod diff;
mod get;
mod info;
mod query;
mod rows;
mod serve;
mod servers;
mod warm;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use yunti_program::failure::Outcome;

/// One table in one file, mapped by every process that looks up its keys
#[derive(Parser)]
#[command(name = "yunti table", version, infer_subcommands = true)]
pub struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build a table from CSV, JSON or another table
    Build(build::Flags),
    /// Print the row of each key
    Get(get::Flags),
    /// Print the rows of keys between two others, or that begin alike, in the order of keys
    Range(get::RangeFlags),
    /// Print columns, sizes and bytes a key
    Info(info::Flags),
    /// Check every byte, and that each key is found
    Verify {
        /// Table
        table: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Read a table into memory, for all processes that map it
    Warm(warm::Flags),
    /// Answer lookups of other processes and nodes, over Unix and TCP sockets
    Serve(serve::Flags),
    /// Print the keys that only one of two tables has, or whose rows differ; exit code 9 if there are any
    Diff(diff::Flags),
}

pub fn act(flags: Flags) -> Outcome {
    match flags.command {
        Command::Build(flags) => build::run(&flags),
        Command::Get(flags) => get::run(&flags),
        Command::Range(flags) => get::range(&flags),
        Command::Info(flags) => info::run(&flags),
        Command::Verify { table, json } => info::verify(&table, json),
        Command::Warm(flags) => warm::run(&flags),
        Command::Serve(flags) => serve::run(flags),
        Command::Diff(flags) => diff::run(&flags),
    }
}

//! `yunti capacity load`: load on a server of HTTP.

use clap::Args;
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

/// Send requests to a server and measure its answers
#[derive(Debug, Args)]
pub struct LoadFlags {
    /// Address of the server: http://127.0.0.1:8080/search
    url: String,
}

/// Runs the command.
pub fn load(flags: &LoadFlags) -> Outcome {
    stdout::print(&format!("{}\n", flags.url))
}

//! `yunti nn`: the load that a NameNode takes, and what would make it take more.
//!
//! ```text
//!   flags -> command/  what is asked for
//!              |-> load/  operations, when they are due, the loop over all connections, how long they took
//!              |-> rpc/   Hadoop RPC on the wire
//!              `-> server.rs  what the NameNode's process uses
//! ```

mod bench;
mod command;
mod load;
mod rpc;
mod server;

use std::process::ExitCode;

use yunti_present::program;

fn main() -> ExitCode {
    program::run(command::act)
}

//! `yunti nn`: the load that a NameNode takes, and what would make it take more.
//!
//! ```text
//!   flags -> command/  what is asked for
//!              |-> load/  operations, when they are due, the loop over all connections, how long they took
//!              |-> datanode/  DataNodes without disks
//!              |-> rpc/   Hadoop RPC on the wire
//!              |-> advise/  what to change, by what the NameNode tells
//!              |-> jmx.rs     what the NameNode tells of itself
//!              `-> server.rs  what its process uses
//! ```

mod advise;
mod bench;
mod command;
mod datanode;
mod jmx;
mod load;
mod rpc;
mod server;

use std::process::ExitCode;

use yunti_program::program;

fn main() -> ExitCode {
    program::run(command::act)
}

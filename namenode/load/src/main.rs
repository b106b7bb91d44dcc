//! `yunti nn`: loads an HDFS NameNode, advises changes to its settings, and compares variants of it.
//!
//! ```text
//!   flags -> command/  flags, output and the run of each command
//!              |-> load/      operations, their arrivals, the loop over all connections, latencies
//!              |-> replay/    audit log, its name space, and its calls at their times
//!              |-> datanode/  DataNodes without disks
//!              |-> rpc/       Hadoop RPC on the wire
//!              |-> bench/     NameNodes of this machine, started in several ways
//!              |-> advise/    rules that turn metrics and settings into advice
//!              |-> jmx.rs     metrics from the NameNode's web server
//!              `-> server.rs  processor time and context switches of its process
//! ```

mod advise;
mod bench;
mod call;
mod command;
mod datanode;
mod jmx;
mod load;
mod replay;
mod rpc;
mod server;

use std::process::ExitCode;

use yunti_program::program;

fn main() -> ExitCode {
    program::run(command::act)
}

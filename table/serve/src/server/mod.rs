//! A server for lookups in mapped tables.
//!
//! ```text
//!   listen.rs      sockets of the addresses; new connections -> workers
//!   worker.rs      a thread, its connections and what is ready on them
//!   connection.rs  bytes of one connection -> frames -> answers -> bytes, with a limit on what waits
//!   session.rs     requests of one client -> their responses
//!   handle.rs      a table as a client opened it: which columns, as which bytes
//!   served.rs      tables by name, and their newest versions
//!   metrics.rs     counters, and their page
//! ```

mod connection;
mod handle;
mod listen;
mod metrics;
mod served;
mod session;
mod worker;

use std::path::PathBuf;
use std::sync::Arc;

use rustls::ServerConfig;
use yunti_base::Result;
use yunti_base::cancel::Cancel;
use yunti_table::read::Options;

pub use served::Served;
use yunti_table_remote::address::Address;

/// How a server runs.
pub struct Settings {
    pub listen: Vec<Address>,
    /// Address of the page with counters, over HTTP.
    pub metrics: Option<Address>,
    pub threads: usize,
    /// Most connections at a time.
    pub connections: usize,
    /// Clients must send it.
    pub token: Option<Vec<u8>>,
    /// TLS on TCP.
    pub tls: Option<Arc<ServerConfig>>,
}

/// A table to serve: its name, its file, and its shard if the file does not say it.
pub struct TableFile {
    pub name: String,
    pub path: PathBuf,
    pub shard: Option<(u32, u32)>,
    pub options: Options,
}

/// Serves tables until `cancel` is set. Calls `listening` with each address, ports of 0 replaced, once all are there.
pub fn serve(
    tables: Vec<TableFile>,
    settings: Settings,
    cancel: &Cancel,
    listening: impl FnOnce(&[Address], Option<&Address>) -> Result<()>,
) -> Result<()> {
    let tables = tables.into_iter().map(Served::open).collect::<Result<Vec<_>>>()?;
    listen::run(tables, settings, cancel, listening)
}

//! A client of table servers: keys -> shards -> servers -> rows.
//!
//! ```text
//!   table.rs       a table of servers, and lookups in it: one batch, or several under way
//!   lanes.rs       requests under way, one lane for each shard; replicas take over
//!   servers.rs     servers of a table, their connections and what they have
//!   connection.rs  one connection: frames out and in, with deadlines
//!   answers.rs     rows that were found
//!   report.rs      what each server has, and its counters
//! ```

mod answers;
mod connection;
mod lanes;
mod report;
mod servers;
mod table;

use std::sync::Arc;
use std::time::Duration;

pub use answers::{Answers, RemoteRow};
pub use report::{Counters, ServerReport, report};
use rustls::ClientConfig;
pub use table::{Lookups, RemoteTable};
use yunti_base::{Code, Error, Result};

pub use crate::protocol::opened::Opened as OpenedTable;

/// How a client connects.
#[derive(Clone)]
pub struct Options {
    pub token: Vec<u8>,
    /// TLS on TCP.
    pub tls: Option<Arc<ClientConfig>>,
    /// Columns of rows; `None` for all.
    pub columns: Option<Vec<String>>,
    pub connect_timeout: Duration,
    /// Longest time for one response.
    pub timeout: Duration,
    /// Rows of one version of the table: a server that has another one since is not asked.
    pub one_version: bool,
}

/// Returns a time limit of a user, in seconds.
pub fn time_limit(seconds: f64) -> Result<Duration> {
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
    time.ok_or_else(|| Error::new(Code::Usage, format!("{seconds} is no time above 0")))
}

impl Default for Options {
    fn default() -> Options {
        Options {
            token: Vec::new(),
            tls: None,
            columns: None,
            connect_timeout: Duration::from_secs(3),
            timeout: Duration::from_secs(10),
            one_version: false,
        }
    }
}

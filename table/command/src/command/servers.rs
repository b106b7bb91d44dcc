//! Flags of commands that read the tables of servers.

use std::path::{Path, PathBuf};

use clap::Args;
use yunti_base::{Code, Error, Result};
use yunti_table_serve::address::Address;
use yunti_table_serve::client::{Options, RemoteTable, time_limit};
use yunti_table_serve::tls;

#[derive(Args)]
pub struct ServerFlags {
    /// Servers of the table: unix:PATH or HOST:PORT, with commas between them
    #[arg(long, value_name = "ADDRESS,..", value_delimiter = ',')]
    server: Vec<Address>,
    /// File with the token of the servers
    #[arg(long, value_name = "FILE", requires = "server")]
    token_file: Option<PathBuf>,
    /// TLS on TCP, with the certificates of authorities in this file (PEM)
    #[arg(long, value_name = "FILE", requires = "server")]
    tls_ca: Option<PathBuf>,
    /// Longest time for a response, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, requires = "server")]
    timeout: f64,
}

impl ServerFlags {
    pub fn is_there(&self) -> bool {
        !self.server.is_empty()
    }

    /// Opens the table of this name at the servers.
    pub fn connect(&self, name: &str, columns: Option<Vec<String>>) -> Result<RemoteTable> {
        let options = Options {
            token: self.token_file.as_deref().map(token).transpose()?.unwrap_or_default(),
            tls: self.tls_ca.as_deref().map(tls::client).transpose()?,
            columns,
            timeout: time_limit(self.timeout).map_err(|e| e.within("--timeout"))?,
            ..Options::default()
        };
        RemoteTable::connect(Some(name), &self.server, options)
    }
}

/// Reads a token: the file without the space around it.
pub fn token(path: &Path) -> Result<Vec<u8>> {
    let at_path = |e: Error| e.at_path(path.to_string_lossy());
    let read = std::fs::read(path).map_err(|e| at_path(Error::io(Code::Usage, "cannot read the token", &e)))?;
    let token = read.trim_ascii();
    if token.is_empty() || token.len() > 4096 {
        return Err(at_path(Error::new(Code::Usage, "a token has 1 to 4,096 bytes")));
    }
    Ok(token.to_vec())
}

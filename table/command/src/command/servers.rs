//! Flags of commands that read the tables of servers.

use std::path::PathBuf;

use clap::Args;
use yunti_base::Result;
use yunti_table_remote::address::Address;
use yunti_table_remote::client::{Options, RemoteTable, ServerReport, report, time_limit};
use yunti_table_remote::{tls, token};

#[derive(Args)]
pub struct ServerFlags {
    /// Servers of the table: unix:PATH or HOST:PORT, with commas between them
    #[arg(long, value_name = "ADDRESS,..", value_delimiter = ',')]
    server: Vec<Address>,
    /// File with the token of the servers
    #[arg(long, value_name = "FILE", requires = "server")]
    token_file: Option<PathBuf>,
    /// TLS on TCP, with the authorities that the system trusts
    #[arg(long, requires = "server")]
    tls: bool,
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
        RemoteTable::connect(Some(name), &self.server, Options { columns, ..self.options()? })
    }

    /// Returns what each server has, and its counters.
    pub fn report(&self, name: &str) -> Result<Vec<(Address, Result<ServerReport>)>> {
        Ok(report(Some(name), &self.server, &self.options()?))
    }

    fn options(&self) -> Result<Options> {
        let has_tls = self.tls || self.tls_ca.is_some();
        Ok(Options {
            token: self.token_file.as_deref().map(token::read).transpose()?.unwrap_or_default(),
            tls: has_tls.then(|| tls::client(self.tls_ca.as_deref())).transpose()?,
            timeout: time_limit(self.timeout).map_err(|e| e.within("--timeout"))?,
            ..Options::default()
        })
    }
}

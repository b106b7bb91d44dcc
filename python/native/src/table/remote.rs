//! Tables of servers for Python. One of the listed files with `unsafe`: its functions are exported by name.

use std::path::PathBuf;

use serde::Deserialize;
use yunti_base::{Code, Error, Result};
use yunti_table_remote::address::Address;
use yunti_table_remote::client::{Options, RemoteTable, time_limit};
use yunti_table_remote::tls;

use super::answer::{Answer, description_of_servers, report_of_servers};
use super::keys::RawKeys;
use super::{columns, gate};
use crate::view;

/// Request of the package, as JSON.
#[derive(Deserialize)]
struct Request {
    name: Option<String>,
    servers: Vec<String>,
    token: String,
    tls: bool,
    tls_ca: Option<PathBuf>,
    columns: Option<Vec<String>>,
    connect_timeout: f64,
    timeout: f64,
}

impl Request {
    fn connect(self) -> Result<RemoteTable> {
        let has_tls = self.tls || self.tls_ca.is_some();
        let options = Options {
            token: self.token.into_bytes(),
            tls: has_tls.then(|| tls::client(self.tls_ca.as_deref())).transpose()?,
            columns: self.columns,
            connect_timeout: time_limit(self.connect_timeout)?,
            timeout: time_limit(self.timeout)?,
            ..Options::default()
        };
        let servers = self.servers.iter().map(|text| text.parse()).collect::<Result<Vec<Address>>>()?;
        RemoteTable::connect(self.name.as_deref(), &servers, options)
    }
}

/// Opens a table of servers and stores its handle. The answer has what `answer::description_of_servers` says of it.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_remote_open(
    request: *const u8,
    bytes: usize,
    handle: &mut Option<Box<RemoteTable>>,
) -> Box<Answer> {
    gate(|| {
        let request: Request = serde_json::from_slice(view(request, bytes))
            .map_err(|e| Error::new(Code::Internal, format!("a wrong request of the package: {e}")))?;
        let table = request.connect()?;
        let answer = description_of_servers(&table);
        *handle = Some(Box::new(table));
        Ok(answer)
    })
}

/// Closes a table of servers.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_remote_close(_: Option<Box<RemoteTable>>) {}

/// Returns what each server has now, and its counters, as JSON: a list of an address and counters, or an error.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_remote_report(table: &RemoteTable) -> Box<Answer> {
    gate(|| Ok(report_of_servers(table)))
}

/// Looks up one key: a column of the bytes of its first row, or of all.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_remote_get(table: &RemoteTable, key: *const u8, bytes: usize, all_rows: bool) -> Box<Answer> {
    gate(|| {
        let answers = table.get(&[view(key, bytes)], all_rows)?;
        Ok(Answer::of_bytes(answers.rows(0).map(|row| row.bytes())))
    })
}

/// Looks up many keys: a column of 1 or 0 for each, and the wanted columns of their first rows.
#[unsafe(no_mangle)]
pub extern "C" fn yunti_remote_get_batch(
    table: &RemoteTable,
    keys: &RawKeys,
    wanted: *const u32,
    count: usize,
) -> Box<Answer> {
    gate(|| columns::of_servers(table, &keys.keys()?, view(wanted, count)))
}

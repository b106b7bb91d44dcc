//! Tables of a job, as its classes find them: files of `yunti table build`, and tables of `yunti table serve`.
//!
//! ```text
//!   yunti.table.users          /data/users.ytab, or server:db1:7070,unix:/run/users
//!   yunti.table-token-file     file with the token of the servers
//!   yunti.table-tls-ca         certificates of authorities for TLS
//! ```
//!
//! These settings reach every kind of class: in the process, isolated, in Python, on a cluster. They name the file with
//! the token and never have the token, because reports, job files and command lines show settings.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use yunti_base::{Error, Result};
pub use yunti_table_remote::address::Address;
use yunti_table_remote::client::{Options, RemoteTable};
use yunti_table_remote::{tls, token};

use crate::operator::context::Settings;

/// Begin of the name of a setting with the place of a table.
pub const TABLE: &str = "yunti.table.";
/// Setting: file with the token of servers.
pub const TOKEN_FILE: &str = "yunti.table-token-file";
/// Setting: file with certificates of authorities.
pub const TLS_CA: &str = "yunti.table-tls-ca";

/// Begin of a place that is addresses.
const SERVERS: &str = "server:";

/// Where a table is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TablePlace {
    File(PathBuf),
    /// Replicas and shards, in any order.
    Servers(Vec<Address>),
}

impl FromStr for TablePlace {
    type Err = Error;

    fn from_str(text: &str) -> Result<TablePlace> {
        let Some(addresses) = text.strip_prefix(SERVERS) else { return Ok(TablePlace::File(text.into())) };
        let hint = "write server:ADDRESS,.. with unix:PATH or HOST:PORT; a file with such a name is ./server:..";
        let addresses = addresses.split(',').map(|address| address.trim().parse()).collect::<Result<_>>();
        addresses.map(TablePlace::Servers).map_err(|e| e.hint(hint))
    }
}

impl fmt::Display for TablePlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TablePlace::File(path) => write!(out, "{}", path.display()),
            TablePlace::Servers(addresses) => {
                let addresses: Vec<String> = addresses.iter().map(Address::to_string).collect();
                write!(out, "{SERVERS}{}", addresses.join(","))
            }
        }
    }
}

impl TablePlace {
    /// Returns the file; None for servers.
    pub fn file(&self) -> Option<&Path> {
        match self {
            TablePlace::File(path) => Some(path),
            TablePlace::Servers(_) => None,
        }
    }

    /// Returns the same place for processes with another working directory.
    pub fn absolute(self) -> std::io::Result<TablePlace> {
        Ok(match self {
            TablePlace::File(path) => TablePlace::File(std::path::absolute(path)?),
            TablePlace::Servers(addresses) => {
                let absolute = |address| match address {
                    Address::Unix(path) => std::path::absolute(path).map(Address::Unix),
                    other => Ok(other),
                };
                TablePlace::Servers(addresses.into_iter().map(absolute).collect::<std::io::Result<_>>()?)
            }
        })
    }
}

/// Returns true if classes can find a table by this name.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}

/// Returns the place of a table of the job, by its name. Errors: `Usage`.
pub fn place(settings: &Settings, name: &str) -> Result<Option<TablePlace>> {
    settings.get(&format!("{TABLE}{name}")).map(|place| place.parse()).transpose()
}

/// Opens a table of servers. Its rows have these columns, or all. Errors: `Usage` for settings and names; `Input` for
/// servers that do not answer, or refuse.
pub fn connect(
    settings: &Settings,
    name: &str,
    addresses: &[Address],
    columns: Option<Vec<String>>,
) -> Result<RemoteTable> {
    let file = |key: &str| settings.get(key).map(Path::new);
    let options = Options {
        token: file(TOKEN_FILE).map(token::read).transpose()?.unwrap_or_default(),
        tls: file(TLS_CA).map(|path| tls::client(Some(path))).transpose()?,
        columns,
        // The records of a job are those of one table.
        one_version: true,
        ..Options::default()
    };
    RemoteTable::connect(Some(name), addresses, options).map_err(|e| of_table(e, name))
}

/// Returns an error of a server with the name of the table.
pub fn of_table(e: Error, name: &str) -> Error {
    e.within(&format!("the table {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_tables() {
        for text in ["users.ytab", "/a b/users.ytab", "unix:/run/users", "db1:7070", "./server:x"] {
            let place: TablePlace = text.parse().unwrap();
            assert_eq!((place.to_string().as_str(), place.file()), (text, Some(Path::new(text))));
        }
        let servers: TablePlace = "server:db1:7070, [::1]:7070,unix:/run/users".parse().unwrap();
        assert_eq!(servers.to_string(), "server:db1:7070,[::1]:7070,unix:/run/users");
        let relative: TablePlace = "server:unix:users.socket".parse().unwrap();
        let absolute = relative.absolute().unwrap().to_string();
        assert!(absolute.starts_with("server:unix:/") && absolute.ends_with("/users.socket"), "{absolute}");
        for text in ["server:", "server:db1", "server:a:1,,b:2", "server:a:70000"] {
            let error = text.parse::<TablePlace>().unwrap_err().to_string();
            assert!(error.contains("is no address") && error.contains("server:ADDRESS"), "{error}");
        }
    }

    #[test]
    fn names_and_settings() {
        for name in ["users", "a.b", "x_1-2"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "a b", "a=b", "ä"] {
            assert!(!is_name(name), "{name}");
        }
        let settings = Settings::from([("yunti.table.users".to_string(), "server:db1:7070".to_string())]);
        let place = place(&settings, "users").unwrap();
        assert_eq!(place, Some(TablePlace::Servers(vec!["db1:7070".parse().unwrap()])));
    }
}

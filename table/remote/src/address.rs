//! Addresses of servers: `unix:PATH` and `HOST:PORT`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use yunti_base::{Code, Error};

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Address {
    Unix(PathBuf),
    /// Host and port.
    Tcp(String, u16),
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Address, Error> {
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Address::Unix(path.into()));
        }
        let parts = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let Some((host, port)) = parts.filter(|(host, _)| !host.is_empty() && *host != "unix") else {
            let what = format!("{text} is no address: unix:PATH or HOST:PORT");
            return Err(Error::new(Code::Usage, what));
        };
        // The brackets of an IPv6 address are those of its text alone.
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        Ok(Address::Tcp(host.to_owned(), port))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(out, "unix:{}", path.display()),
            Address::Tcp(host, port) if host.contains(':') => write!(out, "[{host}]:{port}"),
            Address::Tcp(host, port) => write!(out, "{host}:{port}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_parsed() {
        for text in ["unix:/run/users", "127.0.0.1:7070", "db7:1", "[::1]:7070"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        for text in ["", "unix:", "7070", ":7070", "a:b", "a:70000"] {
            assert!(text.parse::<Address>().unwrap_err().what().contains("is no address"), "{text}");
        }
    }
}

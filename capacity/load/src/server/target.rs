//! Target: the server that a URL names, its addresses, and the check that it is the user's own machine.

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use yunti_base::{Code, Error, Result};

/// Server and path of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// True for `https`.
    pub is_tls: bool,
    /// Host name or address, without the brackets of IPv6.
    pub host: String,
    /// Port; 80 or 443 if the URL names none.
    pub port: u16,
    /// Path and query; `/` if the URL names none.
    pub path: String,
}

impl Target {
    /// Returns the target of `http[s]://HOST[:PORT][/PATH]`.
    pub fn of_url(url: &str) -> Result<Target> {
        Target::parse(url).map_err(|what| Error::new(Code::Usage, what).hint("write http://HOST:PORT/PATH"))
    }

    fn parse(url: &str) -> std::result::Result<Target, String> {
        let (is_tls, rest) = match (url.strip_prefix("http://"), url.strip_prefix("https://")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => return Err(format!("'{url}' is no URL of HTTP")),
        };
        if !rest.bytes().all(|b| b > b' ' && b < 127) {
            return Err(format!("'{url}' has a space or another character that URLs write as %XX"));
        }
        let (authority, path) = match rest.find(['/', '?', '#']) {
            Some(at) if rest[at..].starts_with('/') => (&rest[..at], rest[at..].to_string()),
            Some(at) => (&rest[..at], format!("/{}", &rest[at..])),
            None => (rest, "/".to_string()),
        };
        let path = path.split('#').next().unwrap_or("/").to_string();
        let bracketed = authority.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (host, port) = match bracketed {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.strip_prefix(':').ok_or(format!("'{url}' has no valid port"))?)),
            None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
        };
        let is_valid = match bracketed {
            Some(_) => host.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b)),
        };
        if !is_valid {
            return Err(format!("'{url}' names no valid host"));
        }
        let port = match port {
            None => default_port(is_tls),
            Some(port) => port.parse().ok().filter(|&n| n != 0).ok_or(format!("'{port}' is no port: '{url}'"))?,
        };
        Ok(Target { is_tls, host: host.into(), port, path })
    }

    /// Returns the scheme of the URL: `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        if self.is_tls { "https" } else { "http" }
    }

    /// Returns host and port as the `Host` header has them.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == default_port(self.is_tls) { host } else { format!("{host}:{}", self.port) }
    }

    /// Returns all addresses of the host.
    ///
    /// # Errors
    /// The host is unknown; or an address is not of this machine and `is_own` is false.
    pub fn resolve(&self, is_own: bool) -> Result<Vec<SocketAddr>> {
        let addresses: Vec<SocketAddr> = match self.host.parse::<IpAddr>() {
            Ok(ip) => vec![SocketAddr::new(ip, self.port)],
            Err(_) => (self.host.as_str(), self.port).to_socket_addrs().map(Iterator::collect).map_err(|e| {
                Error::io(Code::Input, &format!("unknown host '{}'", self.host), &e).hint("check the URL")
            })?,
        };
        match addresses.iter().find(|address| !is_loopback(address.ip())) {
            None if addresses.is_empty() => {
                Err(Error::new(Code::Input, format!("the host '{}' has no address", self.host)).hint("check the URL"))
            }
            Some(address) if !is_own => {
                Err(Error::new(Code::Usage, format!("{} is not this machine ({})", self.host, address.ip()))
                    .hint("load only what you may: add --i-own-this-host if it is yours"))
            }
            _ => Ok(addresses),
        }
    }
}

fn default_port(is_tls: bool) -> u16 {
    if is_tls { 443 } else { 80 }
}

fn is_loopback(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.to_ipv4_mapped().is_some_and(|ip| ip.is_loopback()),
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme(), self.authority(), self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_urls() {
        for (url, expect) in [
            ("http://127.0.0.1:8080/search?q=1#top", "http://127.0.0.1:8080/search?q=1"),
            ("http://localhost", "http://localhost/"),
            ("https://localhost?a", "https://localhost/?a"),
            ("https://localhost:443/x", "https://localhost/x"),
            ("http://[::1]:81", "http://[::1]:81/"),
            ("http://h:443", "http://h:443/"),
            ("http://h#x", "http://h/"),
        ] {
            assert_eq!(Target::of_url(url).unwrap().to_string(), expect, "{url}");
        }
        for (url, what) in [
            ("127.0.0.1:80/", "is no URL"),
            ("ftp://h/", "is no URL"),
            ("http:///x", "no valid host"),
            ("http://user@h/", "no valid host"),
            ("http://[::g]/", "no valid host"),
            ("http://[::1]x/", "no valid port"),
            ("http://h:0/", "is no port"),
            ("http://h:70000/", "is no port"),
            ("http://h/a b", "has a space"),
            ("http://h/\r\nX: y", "has a space"),
            ("http://h/ü", "has a space"),
        ] {
            let error = Target::of_url(url).unwrap_err();
            assert!(error.to_string().contains(what) && error.code() == Code::Usage, "{url}: {error}");
        }
    }

    #[test]
    fn other_machines_need_a_word() {
        let at = |url: &str, is_own| Target::of_url(url).unwrap().resolve(is_own);
        for url in ["http://127.0.0.1:1/", "http://127.9.9.9/", "http://[::1]/", "http://[::ffff:127.0.0.1]/"] {
            assert_eq!(at(url, false).unwrap().len(), 1, "{url}");
        }
        for url in ["http://192.0.2.1/", "http://0.0.0.0/", "http://[2001:db8::1]/", "http://[::]/"] {
            assert_eq!(at(url, false).unwrap_err().code(), Code::Usage, "{url}");
            assert_eq!(at(url, true).unwrap().len(), 1, "{url}");
        }
    }
}

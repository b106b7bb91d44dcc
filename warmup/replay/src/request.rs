//! Request of a warm-up profile, and the file of requests.
//!
//! ```text
//!   # a comment
//!   http://127.0.0.1:8080/page?n=1
//!   POST http://127.0.0.1:8080/search
//!     Content-Type: application/json
//!     = {"q": "shoes"}
//! ```
//!
//! A line that begins with a space belongs to the request above it: a header, or after `=` the body.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};

/// Header that marks requests of a warm-up, so that a service can tell them from requests of clients.
pub const MARK: &str = "X-Yunti-Warmup: 1";

/// Request to a server, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Method in capital letters.
    pub method: String,
    /// Host of the URL, without the brackets of IPv6.
    pub host: String,
    /// Port of the URL; 80 if it names none.
    pub port: u16,
    /// Path and query.
    pub path: String,
    /// Headers beside `Host`, `Content-Length` and the mark.
    pub headers: Vec<String>,
    /// Body; empty if there is none.
    pub body: String,
}

/// Fault of a file of requests: the line, from 1, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub line: usize,
    pub what: String,
}

impl Request {
    /// Returns the request of `[METHOD ]URL`, or what is wrong with it.
    pub fn of_line(line: &str) -> Result<Request, String> {
        let (method, url) = line.trim().split_once(' ').map_or(("GET", line.trim()), |(m, u)| (m, u.trim()));
        if method.is_empty() || !method.bytes().all(|b| b.is_ascii_uppercase()) {
            return Err(format!("'{method}' is no method: write GET, POST, .. before the URL"));
        }
        let Some(rest) = url.strip_prefix("http://") else {
            let hint = if url.starts_with("https://") {
                "TLS is not supported; name a plain port"
            } else {
                "write http://HOST:PORT/PATH"
            };
            return Err(format!("'{url}' is no URL of HTTP: {hint}"));
        };
        if rest.bytes().any(|b| b <= b' ' || b == 127) {
            return Err(format!("'{url}' has a space or a control character: write it as %20"));
        }
        let (authority, path) = match rest.find(['/', '?']) {
            Some(at) if rest[at..].starts_with('?') => (&rest[..at], format!("/{}", &rest[at..])),
            Some(at) => (&rest[..at], rest[at..].to_string()),
            None => (rest, "/".to_string()),
        };
        let path = path.split('#').next().unwrap_or_default().to_string();
        let bracketed = authority.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (host, port) = match bracketed {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, port.strip_prefix(':')),
            None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
        };
        let port = match port {
            None => 80,
            Some(port) => port.parse().ok().filter(|&port| port != 0).ok_or(format!("'{port}' is no port: {url}"))?,
        };
        if host.is_empty() {
            return Err(format!("'{url}' names no host"));
        }
        Ok(Request { method: method.into(), host: host.into(), port, path, headers: Vec::new(), body: String::new() })
    }

    /// Returns the requests of a file, in its order.
    pub fn of_file(text: &str) -> Result<Vec<Request>, Fault> {
        let mut requests: Vec<Request> = Vec::new();
        for (n, line) in text.lines().enumerate() {
            let fault = |what: String| Fault { line: n + 1, what };
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            if !line.starts_with([' ', '\t']) {
                requests.push(Request::of_line(line).map_err(fault)?);
                continue;
            }
            let Some(request) = requests.last_mut() else {
                return Err(fault("a header or a body before the first URL".into()));
            };
            if let Some(body) = trimmed.strip_prefix('=') {
                request.body = body.trim_start().into();
            } else if trimmed.split_once(':').is_some_and(|(name, _)| !name.is_empty() && !name.contains(' ')) {
                request.headers.push(trimmed.into());
            } else {
                return Err(fault(format!("'{trimmed}' is neither 'Name: value' nor '= BODY'")));
            }
        }
        Ok(requests)
    }

    /// Returns the lines of the request, as [`Request::of_file`] reads them.
    pub fn to_lines(&self) -> String {
        let mut lines = format!("{} {}\n", self.method, self.url());
        for header in &self.headers {
            lines += &format!("  {header}\n");
        }
        if !self.body.is_empty() {
            lines += &format!("  = {}\n", self.body);
        }
        lines
    }

    /// Returns the URL.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.authority(), self.path)
    }

    /// Returns host and port as they stand in the URL.
    fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{host}:{}", self.port)
    }

    /// Returns the bytes on the wire. The connection stays open after the answer.
    pub fn wire(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: {}\r\n{MARK}\r\n", self.method, self.path, self.authority());
        let names = |name: &str| self.headers.iter().any(|h| h.to_ascii_lowercase().starts_with(name));
        if !names("user-agent:") {
            head += "User-Agent: yunti-warmup\r\n";
        }
        for header in &self.headers {
            head += &format!("{header}\r\n");
        }
        if !self.body.is_empty() || matches!(self.method.as_str(), "POST" | "PUT" | "PATCH") {
            head += &format!("Content-Length: {}\r\n", self.body.len());
        }
        head += "\r\n";
        head.into_bytes().into_iter().chain(self.body.bytes()).collect()
    }

    /// Returns the address of the server. Without a name server, `localhost` is 127.0.0.1.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        if self.host == "localhost" {
            return Ok((Ipv4Addr::LOCALHOST, self.port).into());
        }
        if let Ok(ip) = self.host.parse::<IpAddr>() {
            return Ok((ip, self.port).into());
        }
        let mut all = (self.host.as_str(), self.port).to_socket_addrs()?;
        all.next().ok_or_else(|| std::io::Error::other(format!("{} has no address", self.host)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_requests() {
        let text = "# pages\n\nhttp://localhost:8080/a?b=1#c\nPOST http://[::1]:81?x\n  Accept: */*\n  = {\"q\": 1}\n";
        let requests = Request::of_file(text).unwrap();
        assert_eq!(
            requests[0].wire(),
            b"GET /a?b=1 HTTP/1.1\r\nHost: localhost:8080\r\nX-Yunti-Warmup: 1\r\n\
            User-Agent: yunti-warmup\r\n\r\n"
        );
        let post = String::from_utf8(requests[1].wire()).unwrap();
        assert!(post.starts_with("POST /?x HTTP/1.1\r\nHost: [::1]:81\r\n"), "{post}");
        assert!(post.ends_with("Accept: */*\r\nContent-Length: 8\r\n\r\n{\"q\": 1}"), "{post}");
        let again: String = requests.iter().map(Request::to_lines).collect();
        assert_eq!(Request::of_file(&again).unwrap(), requests);
    }

    #[test]
    fn says_which_line_is_wrong() {
        for (text, line, what) in [
            ("http://a/\nhttps://a/", 2, "TLS is not supported"),
            ("get http://a/", 1, "is no method"),
            ("ftp://a/", 1, "is no URL of HTTP"),
            ("http://:80/", 1, "names no host"),
            ("http://a:0/", 1, "is no port"),
            ("GET http://a/b c", 1, "has a space"),
            ("  Accept: x", 1, "before the first URL"),
            ("http://a/\n  nonsense", 2, "is neither"),
        ] {
            let fault = Request::of_file(text).unwrap_err();
            assert!(fault.line == line && fault.what.contains(what), "{text}: {fault:?}");
        }
    }
}

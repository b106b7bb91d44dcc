//! Requests of a run: prepared once, sent as they are.

pub mod access_log;
pub mod pattern;
pub mod script;

use yunti_base::{Code, Error, Result};

/// Parts that all requests of a run share.
#[derive(Clone, Debug, Default)]
pub struct Template {
    /// Value of the `Host` header.
    pub authority: String,
    /// Headers of the user, `Name: value`.
    pub own_headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// True if a connection takes several requests.
    pub keeps_alive: bool,
}

/// A request that is ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Bytes of the request in HTTP/1.1.
    pub wire: Vec<u8>,
    /// Number of the pattern of its path.
    pub pattern: u16,
    /// True if it may be sent again after a connection closes without an answer.
    pub is_repeatable: bool,
}

impl Template {
    /// Adds the header `Name: value`.
    pub fn add_header(&mut self, line: &str) -> Result<()> {
        let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        let parts = line.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
        let valid = parts.filter(|(name, value)| {
            !name.is_empty() && name.bytes().all(is_token) && value.bytes().all(|b| b == b'\t' || (b >= 32 && b != 127))
        });
        let Some((name, value)) = valid else {
            return Err(Error::new(Code::Usage, format!("'{}' is no header", line.escape_debug()))
                .hint("write -H 'Name: value'"));
        };
        if ["content-length", "transfer-encoding", "connection"].iter().any(|own| name.eq_ignore_ascii_case(own)) {
            return Err(Error::new(Code::Usage, format!("yunti sets the header {name} itself"))
                .hint("use --body or --no-keep-alive"));
        }
        if name.eq_ignore_ascii_case("host") {
            self.authority = value.into();
        } else {
            self.own_headers.push((name.into(), value.into()));
        }
        Ok(())
    }

    /// Returns the headers beside `Host`: defaults that the user does not set, and the user's.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_absent = |name: &str| self.own_headers.iter().all(|(own, _)| !own.eq_ignore_ascii_case(name));
        let defaults = [("User-Agent", "yunti-load"), ("Accept", "*/*")].into_iter();
        let own = self.own_headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        defaults.filter(move |(name, _)| is_absent(name)).chain(own)
    }

    /// Returns a request.
    pub fn request(&self, method: &str, path: &str, pattern: u16) -> Request {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.authority);
        for (name, value) in self.headers() {
            head += &format!("{name}: {value}\r\n");
        }
        if !self.keeps_alive {
            head += "Connection: close\r\n";
        }
        if !self.body.is_empty() || matches!(method, "POST" | "PUT" | "PATCH") {
            head += &format!("Content-Length: {}\r\n", self.body.len());
        }
        let mut wire = (head + "\r\n").into_bytes();
        wire.extend_from_slice(&self.body);
        let is_repeatable = matches!(method, "GET" | "HEAD" | "OPTIONS" | "PUT" | "DELETE" | "TRACE");
        Request { method: method.into(), path: path.into(), wire, pattern, is_repeatable }
    }
}

/// Checks the name of a method.
pub fn check_method(method: &str) -> Result<()> {
    let is_valid = !method.is_empty() && method.len() <= 32 && method.bytes().all(|b| b.is_ascii_uppercase());
    match (is_valid, method) {
        (true, "CONNECT") => Err(Error::new(Code::Usage, "CONNECT opens tunnels, which yunti does not load")),
        (true, _) => Ok(()),
        _ => Err(Error::new(Code::Usage, format!("'{}' is no method", method.escape_debug()))
            .hint("write it in capital letters, such as POST")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_requests() {
        let mut template = Template { authority: "h:81".into(), keeps_alive: true, ..Template::default() };
        template.add_header("Accept: text/html").unwrap();
        template.add_header("X-A:b").unwrap();
        let wire =
            |template: &Template, method: &str| String::from_utf8(template.request(method, "/x?y", 0).wire).unwrap();
        assert_eq!(
            wire(&template, "GET"),
            "GET /x?y HTTP/1.1\r\nHost: h:81\r\nUser-Agent: yunti-load\r\nAccept: text/html\r\nX-A: b\r\n\r\n"
        );
        template.add_header("host: other").unwrap();
        template.keeps_alive = false;
        template.body = b"abc".to_vec();
        let text = wire(&template, "POST");
        assert!(text.contains("Host: other\r\n"), "{text}");
        assert!(text.ends_with("Connection: close\r\nContent-Length: 3\r\n\r\nabc"), "{text}");
        template.body.clear();
        assert!(wire(&template, "POST").ends_with("Content-Length: 0\r\n\r\n"));
    }

    #[test]
    fn rejects_wrong_headers_and_methods() {
        for line in ["", "a", ": b", "a b: c", "a: b\r\nc: d", "Content-Length: 3", "connection: close"] {
            assert_eq!(Template::default().add_header(line).unwrap_err().code(), Code::Usage, "{line}");
        }
        for (method, is_valid) in [("GET", true), ("PURGE", true), ("get", false), ("", false), ("CONNECT", false)] {
            assert_eq!(check_method(method).is_ok(), is_valid, "{method}");
        }
    }
}

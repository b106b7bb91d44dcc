//! One line of an access log, or of a list of paths.
//!
//! ```text
//!   HOST - USER [10/Oct/2000:13:55:36 -0700] "GET /a?b HTTP/1.1" 200 2326 ..    Common, Combined, and longer formats
//!   GET /a?b                                                                    plain
//!   /a?b
//! ```

use super::time::unix_seconds;

/// Request of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    pub method: &'a str,
    /// Path and query.
    pub path: &'a str,
    /// Unix time in seconds; None on a plain line.
    pub time_s: Option<i64>,
}

/// Returns the request of a line, or the reason why it has none.
pub fn parse(line: &str) -> Result<Entry<'_>, &'static str> {
    let line = line.trim();
    if line.starts_with('/') {
        return entry("GET", line, None);
    }
    let Some((before, rest)) = line.split_once('"') else {
        let (method, path) = line.split_once(' ').ok_or("it is neither a log line nor a path")?;
        return entry(method, path.trim(), None);
    };
    let stamp = before.rsplit_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(stamp, _)| stamp);
    let time_s = stamp.and_then(unix_seconds).ok_or("it has no time such as [10/Oct/2000:13:55:36 -0700]")?;
    let request = rest.split('"').next().unwrap_or_default();
    let mut words = request.split(' ');
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Err("it has no request") };
    entry(method, path, Some(time_s))
}

fn entry<'a>(method: &'a str, target: &'a str, time_s: Option<i64>) -> Result<Entry<'a>, &'static str> {
    if method.is_empty() || !method.bytes().all(|b| b.is_ascii_uppercase()) {
        return Err("it has no method such as GET");
    }
    // Requests to proxies, and lines of people, have a whole URL.
    let after_host = target.split_once("://").map(|(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    let path = after_host.unwrap_or(target).split('#').next().unwrap_or_default();
    match path.starts_with('/') && path.bytes().all(|b| b > b' ' && b < 127) && !path.contains("\\x") {
        true => Ok(Entry { method, path, time_s }),
        false => Err("its path is no path of a URL"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lines() {
        let time = Some(971_211_336);
        let stamp = "[10/Oct/2000:13:55:36 -0700]";
        for (line, method, path, time_s) in [
            (format!(r#"127.0.0.1 - frank {stamp} "GET /a.gif HTTP/1.0" 200 2326"#), "GET", "/a.gif", time),
            (
                format!(r#"::1 - - {stamp} "HEAD /s?q=a%20b&x HTTP/1.1" 200 - "http://r/" "A/1 (x; y)""#),
                "HEAD",
                "/s?q=a%20b&x",
                time,
            ),
            (format!(r#"h - - {stamp} "POST http://h:80/p HTTP/1.1" 201 0 "-" "-" 0.123"#), "POST", "/p", time),
            (format!(r#"vhost:80 1.2.3.4 - - {stamp} "GET / HTTP/2.0" 304 0"#), "GET", "/", time),
            (format!(r#"h - - {stamp} "GET /only" 400 0"#), "GET", "/only", time),
            ("/plain?x=1\r".into(), "GET", "/plain?x=1", None),
            ("DELETE /item/1".into(), "DELETE", "/item/1", None),
            ("GET http://127.0.0.1:1/p#top".into(), "GET", "/p", None),
            ("GET http://127.0.0.1:1".into(), "GET", "/", None),
        ] {
            assert_eq!(parse(&line), Ok(Entry { method, path, time_s }), "{line}");
        }
    }

    #[test]
    fn rejects_lines() {
        let stamp = "[10/Oct/2000:13:55:36 -0700]";
        for (line, why) in [
            ("word".into(), "neither"),
            ("get /x".into(), "method"),
            (format!(r#"h - - {stamp} "-" 408 0"#), "request"),
            (format!(r#"h - - {stamp} "" 408 0"#), "request"),
            (format!(r#"h - - {stamp} "\x16\x03 \x01" 400 0"#), "method"),
            (format!(r#"h - - {stamp} "GET /\x00 HTTP/1.1" 400 0"#), "path"),
            (format!(r#"h - - {stamp} "OPTIONS * HTTP/1.1" 200 0"#), "path"),
            (r#"h - - [today] "GET / HTTP/1.1" 200 0"#.into(), "time"),
            (r#"h - - "GET / HTTP/1.1" 200 0"#.into(), "time"),
            ("GET /ü".into(), "path"),
            ("GET /a b".into(), "path"),
        ] {
            assert!(parse(&line).unwrap_err().contains(why), "{line}");
        }
    }
}

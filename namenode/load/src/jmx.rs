//! Metrics of a NameNode from its web server: `/jmx`.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use serde_json::Value;
use yunti_base::{Code, Error, Result};

/// Bytes of a response, at most; a NameNode's `/jmx` has a few hundred kilobytes.
const BYTES_MAX: usize = 64 << 20;

/// Time for a whole page, as a multiple of the time for one read or write.
const PAGE_TIMES: u32 = 2;

/// Returns the body of a page, by HTTP/1.0.
///
/// # Errors
/// No response, no HTTP response, a status other than 200, or a response that is not complete in time.
pub fn get(address: &str, path: &str, timeout: Duration) -> Result<String> {
    let failed = |what: String| Error::new(Code::Input, what).at_path(format!("http://{address}{path}"));
    let late = |time: Duration| {
        failed(format!(
            "the NameNode's web server does not respond: no complete response within {} s",
            time.as_secs_f64()
        ))
    };
    let io = |e: std::io::Error| match e.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => late(timeout),
        _ => failed(format!("the NameNode's web server does not respond: {e}")),
    };
    let end = Instant::now() + timeout * PAGE_TIMES;
    let mut stream = connect(address, timeout).map_err(io)?;
    stream.set_read_timeout(Some(timeout)).map_err(io)?;
    stream.set_write_timeout(Some(timeout)).map_err(io)?;
    let request =
        format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nAccept: application/json\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(io)?;
    let mut bytes = Vec::new();
    let mut some = vec![0; 64 << 10];
    loop {
        // A server that sends single bytes never exceeds the read timeout.
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || bytes.len() > BYTES_MAX {
            return Err(late(timeout * PAGE_TIMES));
        }
        stream.set_read_timeout(Some(left.min(timeout))).map_err(io)?;
        match stream.read(&mut some) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&some[..count]),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(_) if Instant::now() >= end => return Err(late(timeout * PAGE_TIMES)),
            Err(e) => return Err(io(e)),
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    match head.split_whitespace().nth(1).unwrap_or_default() {
        _ if !head.starts_with("HTTP/") => {
            Err(failed("this is not a web server".to_owned()).hint("give dfs.namenode.http-address"))
        }
        "200" => Ok(body.to_owned()),
        "401" | "403" => Err(failed("the web server requires authentication (Kerberos)".to_owned())
            .hint("hadoop.http.authentication.type=simple admits clients without Kerberos")),
        status => Err(failed(format!("the web server responds with status {status}"))),
    }
}

/// Connects to the first address of a name that accepts; a name often has more addresses than the server uses.
fn connect(address: &str, timeout: Duration) -> std::io::Result<TcpStream> {
    let mut failure = std::io::Error::new(ErrorKind::NotFound, "no such host");
    for socket in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&socket, timeout) {
            Ok(stream) => return Ok(stream),
            Err(e) => failure = e,
        }
    }
    Err(failure)
}

/// Beans of a `/jmx` document.
pub struct Beans(Vec<Value>);

impl Beans {
    /// Fetches `/jmx`, or the beans that match a query.
    ///
    /// # Errors
    /// As of [`get`], or the page is not a `/jmx` document.
    pub fn fetch(address: &str, query: &str, timeout: Duration) -> Result<Beans> {
        let path = if query.is_empty() { "/jmx".to_owned() } else { format!("/jmx?qry={query}") };
        Beans::read(&get(address, &path, timeout)?)
    }

    /// Parses a `/jmx` document.
    pub fn read(text: &str) -> Result<Beans> {
        let no_jmx = || Error::new(Code::Input, "this is not a NameNode's /jmx".to_owned());
        let mut document: Value = serde_json::from_str(text).map_err(|_| no_jmx())?;
        match document["beans"].take() {
            Value::Array(beans) => Ok(Beans(beans)),
            _ => Err(no_jmx()),
        }
    }

    /// Returns the beans whose names have this prefix, such as `Hadoop:service=NameNode,name=RpcActivityForPort`.
    pub fn named<'a>(&'a self, begin: &'a str) -> impl Iterator<Item = &'a Value> {
        self.0.iter().filter(move |bean| bean["name"].as_str().is_some_and(|name| name.starts_with(begin)))
    }

    /// Replaces the bean of this name, or adds it.
    pub fn put(&mut self, name: &str, bean: Value) {
        match self.0.iter_mut().find(|known| known["name"] == *name) {
            Some(known) => *known = bean,
            None => self.0.push(bean),
        }
    }

    /// Returns the attribute of the first bean with this prefix that has it as a number.
    pub fn number(&self, bean: &str, attribute: &str) -> Option<f64> {
        self.named(bean).find_map(|bean| bean[attribute].as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(respond: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + 'static) -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            // A close with unread bytes resets the connection.
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte)?;
                request.push(byte[0]);
            }
            respond(&mut stream)
        });
        address
    }

    #[test]
    fn reports_a_page_that_is_late() {
        let page = served(|stream| stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n{}"));
        assert_eq!(get(&page, "/jmx", Duration::from_secs(5)).unwrap(), "{}");
        let silent = served(|_| {
            std::thread::sleep(Duration::from_secs(3));
            Ok(())
        });
        let error = get(&silent, "/jmx", Duration::from_millis(200)).unwrap_err().to_string();
        assert!(error.contains("no complete response within 0.2 s"), "{error}");
        // Single bytes, without an end.
        let dripping = served(|stream| {
            stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n{")?;
            loop {
                stream.write_all(b" ")?;
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let begin = Instant::now();
        let error = get(&dripping, "/jmx", Duration::from_millis(500)).unwrap_err().to_string();
        assert!(error.contains("no complete response within 1 s"), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    }

    /// `localhost` is also ::1, where no server listens.
    #[test]
    fn tries_all_addresses_of_a_name() {
        let page = served(|stream| stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n{}"));
        let address = page.replace("127.0.0.1", "localhost");
        assert_eq!(get(&address, "/jmx", Duration::from_secs(5)).unwrap(), "{}");
    }

    #[test]
    fn reads_beans() {
        let beans =
            Beans::read(r#"{"beans":[{"name":"Hadoop:service=NameNode,name=FSNamesystem","FilesTotal":7}]}"#).unwrap();
        assert_eq!(beans.number("Hadoop:service=NameNode,name=FSNamesystem", "FilesTotal"), Some(7.0));
        assert_eq!(beans.number("Hadoop:service=NameNode,name=FSNamesystem", "BlocksTotal"), None);
        assert!(Beans::read("<html>").is_err());
        assert!(Beans::read("{}").is_err());
    }
}

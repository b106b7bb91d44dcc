//! What a NameNode tells of itself on its web server: `/jmx`.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use serde_json::Value;
use yunti_base::{Code, Error, Result};

/// A NameNode's document has some hundred kilobytes.
const BYTES_MAX: usize = 64 << 20;

/// Of the time that is given for a word: what there is for a whole page.
const PAGE_TIMES: u32 = 2;

/// The body of a page, by HTTP/1.0.
///
/// # Errors
/// Nobody answers, or not with a page, or not in time: the line says which.
pub fn get(address: &str, path: &str, timeout: Duration) -> Result<String> {
    let failed = |what: String| Error::new(Code::Input, what).at_path(format!("http://{address}{path}"));
    let late = |time: Duration| {
        failed(format!("the NameNode's web server does not answer: nothing whole came in {} s", time.as_secs_f64()))
    };
    let io = |e: std::io::Error| match e.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => late(timeout),
        _ => failed(format!("the NameNode's web server does not answer: {e}")),
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
        // Who sends a byte now and then would never be late for the next.
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
            Err(failed("this is no web server".to_owned()).hint("give dfs.namenode.http-address"))
        }
        "200" => Ok(body.to_owned()),
        "401" | "403" => Err(failed("the web server wants to know who asks (Kerberos)".to_owned())
            .hint("hadoop.http.authentication.type=simple lets others in")),
        status => Err(failed(format!("the web server answers with status {status}"))),
    }
}

/// The first of a name's addresses that answers: a server that listens on one of them is often found by a name of several.
fn connect(address: &str, timeout: Duration) -> std::io::Result<TcpStream> {
    let mut failure = std::io::Error::new(ErrorKind::NotFound, "there is no such host");
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
    pub fn ask(address: &str, query: &str, timeout: Duration) -> Result<Beans> {
        let path = if query.is_empty() { "/jmx".to_owned() } else { format!("/jmx?qry={query}") };
        Beans::read(&get(address, &path, timeout)?)
    }

    pub fn read(text: &str) -> Result<Beans> {
        let no_jmx = || Error::new(Code::Input, "this is no NameNode's /jmx".to_owned());
        let mut document: Value = serde_json::from_str(text).map_err(|_| no_jmx())?;
        match document["beans"].take() {
            Value::Array(beans) => Ok(Beans(beans)),
            _ => Err(no_jmx()),
        }
    }

    /// Those whose names begin so: `Hadoop:service=NameNode,name=RpcActivityForPort`.
    pub fn named<'a>(&'a self, begin: &'a str) -> impl Iterator<Item = &'a Value> {
        self.0.iter().filter(move |bean| bean["name"].as_str().is_some_and(|name| name.starts_with(begin)))
    }

    pub fn number(&self, bean: &str, attribute: &str) -> Option<f64> {
        self.named(bean).find_map(|bean| bean[attribute].as_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(answer: impl Fn(&mut TcpStream) -> std::io::Result<()> + Send + 'static) -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        std::thread::spawn(move || {
            let mut stream = listener.accept().unwrap().0;
            // Who closes with something unread resets the connection.
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte)?;
                request.push(byte[0]);
            }
            answer(&mut stream)
        });
        address
    }

    #[test]
    fn pages_in_time() {
        let page = served(|stream| stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n{}"));
        assert_eq!(get(&page, "/jmx", Duration::from_secs(5)).unwrap(), "{}");
        let silent = served(|_| {
            std::thread::sleep(Duration::from_secs(3));
            Ok(())
        });
        let said = get(&silent, "/jmx", Duration::from_millis(200)).unwrap_err().to_string();
        assert!(said.contains("nothing whole came in 0.2 s"), "{said}");
        // A byte now and then, and no end.
        let dripping = served(|stream| {
            stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n{")?;
            loop {
                stream.write_all(b" ")?;
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let begin = Instant::now();
        let said = get(&dripping, "/jmx", Duration::from_millis(500)).unwrap_err().to_string();
        assert!(said.contains("nothing whole came in 1 s"), "{said}");
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
    }

    /// `localhost` is ::1 too, where nobody listens here.
    #[test]
    fn a_name_of_several_addresses() {
        let page = served(|stream| stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n{}"));
        let address = page.replace("127.0.0.1", "localhost");
        assert_eq!(get(&address, "/jmx", Duration::from_secs(5)).unwrap(), "{}");
    }

    #[test]
    fn beans() {
        let beans =
            Beans::read(r#"{"beans":[{"name":"Hadoop:service=NameNode,name=FSNamesystem","FilesTotal":7}]}"#).unwrap();
        assert_eq!(beans.number("Hadoop:service=NameNode,name=FSNamesystem", "FilesTotal"), Some(7.0));
        assert_eq!(beans.number("Hadoop:service=NameNode,name=FSNamesystem", "BlocksTotal"), None);
        assert!(Beans::read("<html>").is_err());
        assert!(Beans::read("{}").is_err());
    }
}

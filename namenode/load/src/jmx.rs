//! What a NameNode tells of itself on its web server: `/jmx`.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use serde_json::Value;
use yunti_engine::base::{Code, Error, Result};

/// A NameNode's document has some hundred kilobytes.
const BYTES_MAX: u64 = 64 << 20;

/// The body of a page, by HTTP/1.0.
///
/// # Errors
/// Nobody answers, or not with a page: the line says which.
pub fn get(address: &str, path: &str, timeout: Duration) -> Result<String> {
    let failed = |what: String| Error::new(Code::Input, what).at_path(format!("http://{address}{path}"));
    let io = |e: std::io::Error| failed(format!("the NameNode's web server does not answer: {e}"));
    let socket = address.to_socket_addrs().map_err(io)?.next();
    let socket = socket.ok_or_else(|| failed("there is no such host".to_owned()))?;
    let mut stream = TcpStream::connect_timeout(&socket, timeout).map_err(io)?;
    stream.set_read_timeout(Some(timeout)).map_err(io)?;
    stream.set_write_timeout(Some(timeout)).map_err(io)?;
    let request =
        format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nAccept: application/json\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(io)?;
    let mut bytes = Vec::new();
    stream.take(BYTES_MAX).read_to_end(&mut bytes).map_err(io)?;
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

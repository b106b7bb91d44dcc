//! Connection of HTTP/1.1 to one server, which stays open between requests.
//!
//! Rejected: `ureq`, which `machine/` has. It cannot bind the address from which it connects, and its pool and its TLS
//! would be loaded into the process of the server. Redirects, cookies and compression do not matter here: the answer
//! is read to its end and dropped.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::time::Duration;

use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

/// Longest line of a head, in bytes.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// Answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// Bytes of the body.
    pub bytes: u64,
}

/// Client of one server, with at most one connection.
pub struct Client {
    server: SocketAddr,
    /// Address of this machine from which it connects; the kernel chooses one if it is `None`.
    from: Option<Ipv4Addr>,
    timeout: Duration,
    /// True if the kernel acknowledges each packet at once.
    is_eager: bool,
    connection: Option<BufReader<TcpStream>>,
}

impl Client {
    /// Returns a client without a connection. `timeout` is the longest wait for a connection and for each read.
    pub fn new(server: SocketAddr, from: Option<Ipv4Addr>, timeout: Duration) -> Client {
        Client { server, from, timeout, is_eager: false, connection: None }
    }

    /// Acknowledges each packet of an answer at once.
    ///
    /// A server that writes head and body apart, without TCP_NODELAY, waits 40 ms for an acknowledgement. Clients share
    /// that wait, but a replay has no time for it.
    pub fn eager(self) -> Client {
        Client { is_eager: true, ..self }
    }

    /// Sends the bytes of a request and reads its answer. A connection that the server has closed is opened again once.
    pub fn send(&mut self, wire: &[u8]) -> io::Result<Answer> {
        let is_used = self.connection.is_some();
        match self.send_once(wire) {
            Err(error) if is_used && is_closed(&error) => self.send_once(wire),
            result => result,
        }
    }

    fn send_once(&mut self, wire: &[u8]) -> io::Result<Answer> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => BufReader::with_capacity(64 << 10, self.connect()?),
        };
        connection.get_mut().write_all(wire)?;
        if self.is_eager {
            // The kernel forgets it after some packets.
            let _ = rustix::net::sockopt::set_tcp_quickack(connection.get_ref(), true);
        }
        let (answer, stays_open) = read_answer(&mut connection, wire.starts_with(b"HEAD "))?;
        self.connection = stays_open.then_some(connection);
        Ok(answer)
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let stream = match (self.from, self.server) {
            (Some(from), SocketAddr::V4(_)) => {
                let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
                bind(&socket, &SocketAddrV4::new(from, 0))?;
                connect(&socket, &self.server)?;
                TcpStream::from(socket)
            }
            _ => TcpStream::connect_timeout(&self.server, self.timeout)?,
        };
        // A port of the range for clients can be connected to itself while no server listens.
        if stream.local_addr()? == self.server {
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(self.timeout))?;
        stream.set_write_timeout(Some(self.timeout))?;
        Ok(stream)
    }
}

/// Returns true if the server closed a connection between two requests.
fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}

/// Reads an answer to its end. Returns it, and true if the connection can carry another request.
fn read_answer(from: &mut impl BufRead, is_head: bool) -> io::Result<(Answer, bool)> {
    loop {
        let (status, keeps, length) = read_head(from)?;
        // 100 Continue and the like come before the answer.
        if (100..200).contains(&status) {
            continue;
        }
        let (bytes, ends) = match length {
            _ if is_head || status == 204 || status == 304 => (0, true),
            Length::Known(bytes) => (skip(from, bytes)?, true),
            Length::Chunked => (read_chunks(from)?, true),
            Length::ToTheEnd => (io::copy(from, &mut io::sink())?, false),
        };
        return Ok((Answer { status, bytes }, keeps && ends));
    }
}

/// Length of a body.
enum Length {
    Known(u64),
    Chunked,
    ToTheEnd,
}

/// Returns status, true if the connection stays open, and the length of the body.
fn read_head(from: &mut impl BufRead) -> io::Result<(u16, bool, Length)> {
    let first = line(from)?;
    let status = first.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)).and_then(|code| code.parse().ok());
    let Some(status) = status else { return Err(bad("the answer is not HTTP/1.1")) };
    let mut keeps = first.starts_with("HTTP/1.1");
    let mut length = Length::ToTheEnd;
    loop {
        let header = line(from)?;
        if header.is_empty() {
            return Ok((status, keeps, length));
        }
        let Some((name, value)) = header.split_once(':') else { return Err(bad("a header without a colon")) };
        let value = value.trim().to_ascii_lowercase();
        match name.to_ascii_lowercase().as_str() {
            "content-length" if !matches!(length, Length::Chunked) => {
                length = Length::Known(value.parse().map_err(|_| bad("a bad Content-Length"))?);
            }
            "transfer-encoding" if value.ends_with("chunked") => length = Length::Chunked,
            "connection" => keeps = value.contains("keep-alive") || keeps && !value.contains("close"),
            _ => {}
        }
    }
}

fn read_chunks(from: &mut impl BufRead) -> io::Result<u64> {
    let mut total = 0;
    loop {
        let size = line(from)?;
        let digits = size.split(';').next().unwrap_or_default().trim();
        let bytes = u64::from_str_radix(digits, 16).map_err(|_| bad("a bad length of a chunk"))?;
        if bytes == 0 {
            while !line(from)?.is_empty() {}
            return Ok(total);
        }
        total += skip(from, bytes)?;
        line(from)?;
    }
}

fn skip(from: &mut impl BufRead, bytes: u64) -> io::Result<u64> {
    match io::copy(&mut from.take(bytes), &mut io::sink())? {
        read if read == bytes => Ok(bytes),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Reads a line of a head, without its end.
fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    from.take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
    match line.last() {
        Some(b'\n') => Ok(String::from_utf8_lossy(&line).trim_end().to_string()),
        _ if line.len() as u64 == LINE_BYTES_MAX => Err(bad("a line of more than 64 KiB")),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn bad(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_answers_of_every_length() {
        for (text, status, bytes, stays_open) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 200, 3, true),
            ("HTTP/1.1 200 OK\r\ncontent-length: 3\r\nConnection: close\r\n\r\nabc", 200, 3, false),
            ("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", 200, 0, false),
            (
                "HTTP/1.1 200 \r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\nT: 1\r\n\r\n",
                200,
                13,
                true,
            ),
            ("HTTP/1.1 404 no\r\n\r\nrest", 404, 4, false),
            ("HTTP/1.1 204 none\r\n\r\n", 204, 0, true),
            ("HTTP/1.1 100 go\r\n\r\nHTTP/1.1 500 x\r\nContent-Length: 1\r\n\r\nz", 500, 1, true),
        ] {
            let answer = read_answer(&mut text.as_bytes(), false).unwrap();
            assert_eq!(answer, (Answer { status, bytes }, stays_open), "{text}");
        }
    }

    #[test]
    fn refuses_answers_that_are_cut_or_not_http() {
        for text in [
            "",
            "SSH-2.0\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nbad\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ] {
            assert!(read_answer(&mut text.as_bytes(), false).is_err(), "{text}");
        }
    }
}

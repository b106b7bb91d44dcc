//! One connection of a client.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use yunti_base::{Code, Error, Result};

use super::Options;
use crate::address::Address;
use crate::protocol::frame;
use crate::protocol::input::Input;
use crate::protocol::opened::Opened;
use crate::protocol::parts::{Parts, put_string};
use crate::protocol::refusal::{Reason, Refusal};
use crate::protocol::{ALL_COLUMNS, MAGIC, VERSION, kind};

enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

/// Why a request has no response.
pub enum Failed {
    /// The connection is of no use any more: another server may answer.
    Connection(Error),
    /// The server answered by an error, and the connection stays.
    Refused(Refusal),
}

impl Failed {
    /// Returns the error of a request that no other server answers.
    pub fn error(self) -> Error {
        match self {
            Failed::Connection(error) => error,
            Failed::Refused(refusal) => refusal.error(),
        }
    }
}

pub struct Connection {
    stream: Stream,
    timeout: Duration,
    input: Input,
    /// Number of the last request.
    last: u32,
    pub opened: Opened,
}

impl Connection {
    /// Connects, says hello and opens a table: the only one if `name` is `None`.
    pub fn open(address: &Address, name: Option<&str>, options: &Options) -> std::result::Result<Connection, Failed> {
        let stream = Stream::connect(address, options).map_err(Failed::Connection)?;
        let timeout = options.timeout;
        let mut connection =
            Connection { stream, timeout, input: Input::default(), last: 0, opened: Opened::default() };
        let wrong = || Failed::Connection(no_server());
        let names = connection.request(kind::HELLO, |out| {
            out.extend_from_slice(&MAGIC);
            out.extend_from_slice(&VERSION.to_le_bytes());
            put_string(&options.token, out);
        })?;
        let mut parts = Parts(&names);
        if parts.u16() != Some(VERSION) {
            return Err(wrong());
        }
        let count = parts.u16().ok_or_else(wrong)?;
        let names: Vec<String> = (0..count).map(|_| parts.text()).collect::<Option<_>>().ok_or_else(wrong)?;
        let name = match (name, names.as_slice()) {
            (Some(name), _) => name,
            (None, [only]) => only.as_str(),
            (None, _) => {
                let what = format!("the server has several tables: {}", names.join(", "));
                return Err(Failed::Refused(Refusal::new(Reason::NoSuchTable, what)));
            }
        };
        let opened = connection.request(kind::OPEN, |out| {
            put_string(name.as_bytes(), out);
            match &options.columns {
                None => out.extend_from_slice(&ALL_COLUMNS.to_le_bytes()),
                Some(columns) => {
                    out.extend_from_slice(&(columns.len() as u16).to_le_bytes());
                    columns.iter().for_each(|column| put_string(column.as_bytes(), out));
                }
            }
        })?;
        connection.opened = Opened::read(&opened).ok_or_else(wrong)?;
        Ok(connection)
    }

    /// Sends a request and waits for its response.
    pub fn request(&mut self, kind: u8, write: impl FnOnce(&mut Vec<u8>)) -> std::result::Result<Vec<u8>, Failed> {
        let mut out = Vec::new();
        self.append(kind, &mut out, write);
        self.send(&out).map_err(Failed::Connection)?;
        self.receive(kind).map(<[u8]>::to_vec)
    }

    /// Appends a request.
    pub fn append(&mut self, kind: u8, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
        self.last = self.last.wrapping_add(1);
        frame::append(out, self.last, kind, |out| {
            write(out);
            true
        });
    }

    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.set_timeout(self.timeout).and_then(|()| self.stream.write_all(bytes)).map_err(|e| lost(&e))
    }

    /// Returns the next response, which must be of this kind.
    pub fn receive(&mut self, kind: u8) -> std::result::Result<&[u8], Failed> {
        let deadline = Instant::now() + self.timeout;
        loop {
            match frame::first(self.input.received(), frame::MOST) {
                Err(_) => return Err(Failed::Connection(no_server())),
                Ok(Some((frame, bytes))) => {
                    let is_kind = frame.kind == kind;
                    let refusal = Refusal::read(frame.payload).filter(|_| frame.kind == kind::ERROR);
                    let begin = bytes - frame.payload.len();
                    let taken = self.input.take(bytes);
                    return match refusal {
                        _ if is_kind => Ok(&taken[begin..]),
                        Some(refusal) if refusal.reason == Some(Reason::Full) => {
                            Err(Failed::Connection(refusal.error()))
                        }
                        Some(refusal) => Err(Failed::Refused(refusal)),
                        None => Err(Failed::Connection(no_server())),
                    };
                }
                Ok(None) => self.read(deadline).map_err(|e| Failed::Connection(lost(&e)))?,
            }
        }
    }

    fn read(&mut self, deadline: Instant) -> io::Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        self.stream.set_timeout(left)?;
        self.input.read(&mut self.stream).map(drop)
    }
}

fn no_server() -> Error {
    Error::new(Code::Input, "this is no server of tables").hint("yunti table serve is one")
}

fn lost(e: &io::Error) -> Error {
    let what = match e.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => "the server does not answer in time",
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
            "the server closed the connection"
        }
        // An error of rustls, which says why.
        ErrorKind::InvalidData => return Error::new(Code::Input, format!("TLS failed: {e}")),
        _ => return Error::io(Code::Input, "the connection is lost", e),
    };
    Error::new(Code::Input, what)
}

impl Stream {
    fn connect(address: &Address, options: &Options) -> Result<Stream> {
        let failed = |e: io::Error| Error::io(Code::Input, "cannot connect", &e);
        let (host, port) = match address {
            Address::Unix(path) => return UnixStream::connect(path).map(Stream::Unix).map_err(failed),
            Address::Tcp(host, port) => (host, *port),
        };
        let mut last = None;
        for place in (host.as_str(), port).to_socket_addrs().map_err(failed)? {
            match TcpStream::connect_timeout(&place, options.connect_timeout) {
                Ok(socket) => return Stream::secured(socket, host, options),
                Err(e) => last = Some(e),
            }
        }
        Err(failed(last.unwrap_or_else(|| ErrorKind::NotFound.into())))
    }

    fn secured(socket: TcpStream, host: &str, options: &Options) -> Result<Stream> {
        let _ = socket.set_nodelay(true);
        let Some(config) = &options.tls else { return Ok(Stream::Tcp(socket)) };
        let wrong = |what: String| Error::new(Code::Input, what);
        let name = ServerName::try_from(host.to_owned()).map_err(|e| wrong(e.to_string()))?;
        let session = ClientConnection::new(config.clone(), name).map_err(|e| wrong(e.to_string()))?;
        Ok(Stream::Tls(Box::new(StreamOwned::new(session, socket))))
    }

    fn set_timeout(&self, time: Duration) -> io::Result<()> {
        match self {
            Stream::Unix(socket) => socket.set_read_timeout(Some(time)).and(socket.set_write_timeout(Some(time))),
            Stream::Tcp(socket) => socket.set_read_timeout(Some(time)).and(socket.set_write_timeout(Some(time))),
            Stream::Tls(tls) => tls.sock.set_read_timeout(Some(time)).and(tls.sock.set_write_timeout(Some(time))),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Stream::Unix(socket) => socket.write_all(bytes),
            Stream::Tcp(socket) => socket.write_all(bytes),
            Stream::Tls(tls) => tls.write_all(bytes).and_then(|()| tls.flush()),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(socket) => socket.read(out),
            Stream::Tcp(socket) => socket.read(out),
            Stream::Tls(tls) => tls.read(out),
        }
    }
}

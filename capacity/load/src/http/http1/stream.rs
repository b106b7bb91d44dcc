//! Bytes of a connection, plain or TLS, without blocking.

use std::io::{self, Read, Write};
use std::net::SocketAddr;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use rustls::ClientConnection;

use crate::server::trust::Tls;

/// Error of a connection.
#[derive(Debug)]
pub enum StreamError {
    Io(io::Error),
    Tls(rustls::Error),
}

impl From<io::Error> for StreamError {
    fn from(error: io::Error) -> Self {
        StreamError::Io(error)
    }
}

impl StreamError {
    /// Returns true if the operation only has to wait.
    pub fn is_blocked(&self) -> bool {
        matches!(self, StreamError::Io(e) if e.kind() == io::ErrorKind::WouldBlock)
    }
}

/// A connection that is registered with a poll.
pub struct Stream {
    socket: TcpStream,
    tls: Option<Box<ClientConnection>>,
}

impl Stream {
    /// Starts to connect. Both directions are registered once: epoll reports changes only.
    pub fn open(address: SocketAddr, registry: &Registry, token: Token, tls: Option<&Tls>) -> io::Result<Stream> {
        let mut socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        registry.register(&mut socket, token, Interest::READABLE | Interest::WRITABLE)?;
        let tls = match tls {
            Some(tls) => {
                let connection = ClientConnection::new(tls.config.clone(), tls.name.clone());
                let mut connection = connection.map_err(io::Error::other)?;
                // Large requests are written in one go.
                connection.set_buffer_limit(None);
                Some(Box::new(connection))
            }
            None => None,
        };
        Ok(Stream { socket, tls })
    }

    /// Returns true if the connection is encrypted.
    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Continues to connect after a writable or readable event. Returns true once requests can be sent.
    pub fn continue_open(&mut self) -> Result<bool, StreamError> {
        if let Some(e) = self.socket.take_error()? {
            return Err(e.into());
        }
        match self.socket.peer_addr() {
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotConnected => return Ok(false),
            Err(e) => return Err(e.into()),
        }
        let Some(tls) = &mut self.tls else { return Ok(true) };
        while tls.is_handshaking() {
            match pump_out(tls, &mut self.socket) {
                Err(e) if !e.is_blocked() => return Err(e),
                _ => {}
            }
            if !tls.is_handshaking() {
                break;
            }
            match pump_in(tls, &mut self.socket) {
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                Ok(_) => {}
                Err(e) if e.is_blocked() => return Ok(false),
                Err(e) => {
                    // The alert says to the server why the connection ends.
                    let _ = pump_out(tls, &mut self.socket);
                    return Err(e);
                }
            }
        }
        match pump_out(tls, &mut self.socket) {
            Err(e) if !e.is_blocked() => Err(e),
            _ => Ok(true),
        }
    }

    /// Writes bytes, and returns the number that was taken.
    pub fn write(&mut self, bytes: &[u8]) -> Result<usize, StreamError> {
        match &mut self.tls {
            None => retry(|| self.socket.write(bytes)).map_err(Into::into),
            Some(tls) => {
                let n = tls.writer().write(bytes)?;
                match pump_out(tls, &mut self.socket) {
                    Err(e) if !e.is_blocked() => Err(e),
                    _ => Ok(n),
                }
            }
        }
    }

    /// Sends encrypted bytes that wait.
    pub fn flush(&mut self) -> Result<(), StreamError> {
        match &mut self.tls {
            Some(tls) => pump_out(tls, &mut self.socket),
            None => Ok(()),
        }
    }

    /// Reads bytes; 0 at the end of the connection.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<usize, StreamError> {
        let Some(tls) = &mut self.tls else {
            return retry(|| self.socket.read(bytes)).map_err(Into::into);
        };
        loop {
            match tls.reader().read(bytes) {
                Ok(n) => return Ok(n),
                // A server that closes without an alert: the length of the answer shows whether it is whole.
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(e) => return Err(e.into()),
            }
            pump_in(tls, &mut self.socket)?;
            if tls.wants_write() {
                let _ = pump_out(tls, &mut self.socket);
            }
        }
    }
}

fn retry<T>(mut work: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match work() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn pump_out(tls: &mut ClientConnection, socket: &mut TcpStream) -> Result<(), StreamError> {
    while tls.wants_write() {
        retry(|| tls.write_tls(socket))?;
    }
    Ok(())
}

fn pump_in(tls: &mut ClientConnection, socket: &mut TcpStream) -> Result<usize, StreamError> {
    let n = retry(|| tls.read_tls(socket))?;
    tls.process_new_packets().map_err(StreamError::Tls)?;
    Ok(n)
}

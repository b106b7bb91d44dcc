//! Non-blocking connection to a NameNode, for epoll: bytes out, responses in.

use std::io::{self, Read, Write};
use std::net::SocketAddr;

use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use yunti_base::Result;

use super::input::Input;

/// Bytes of one read; the next round reads the rest.
const READ_BYTES: usize = 16 << 10;

/// A connection that is registered with a poll.
pub struct Connection {
    stream: TcpStream,
    token: Token,
    out: Vec<u8>,
    written: usize,
    is_waiting_to_write: bool,
    input: Input,
}

/// State of a connection after a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// More bytes may follow.
    Open,
    Closed,
}

impl Connection {
    /// Starts to connect.
    pub fn open(address: SocketAddr, registry: &Registry, token: Token) -> io::Result<Connection> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        Ok(Connection {
            stream,
            token,
            out: Vec::new(),
            written: 0,
            is_waiting_to_write: true,
            input: Input::default(),
        })
    }

    /// Returns the buffer that [`Connection::flush`] sends.
    pub fn out(&mut self) -> &mut Vec<u8> {
        &mut self.out
    }

    /// Handles a writable event: the connection is established, failed, or can take more bytes.
    pub fn writable(&mut self, registry: &Registry) -> io::Result<()> {
        if let Some(e) = self.stream.take_error()? {
            return Err(e);
        }
        self.is_waiting_to_write = false;
        registry.reregister(&mut self.stream, self.token, Interest::READABLE)?;
        self.flush(registry)
    }

    /// Sends as many bytes as the kernel takes.
    pub fn flush(&mut self, registry: &Registry) -> io::Result<()> {
        while !self.is_waiting_to_write && self.written < self.out.len() {
            match self.stream.write(&self.out[self.written..]) {
                Ok(n) => self.written += n,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    self.is_waiting_to_write = true;
                    registry.reregister(&mut self.stream, self.token, Interest::READABLE | Interest::WRITABLE)?;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        if self.written == self.out.len() {
            self.out.clear();
            self.written = 0;
        }
        Ok(())
    }

    /// Reads the available bytes, and passes each complete response on.
    ///
    /// @param is_ended the peer has closed its side: read until the end, since no further event follows
    /// # Errors
    /// The bytes are not Hadoop RPC.
    pub fn read(
        &mut self,
        scratch: &mut Vec<u8>,
        is_ended: bool,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<End> {
        scratch.resize(READ_BYTES, 0);
        loop {
            match self.stream.read(scratch) {
                Ok(0) => return Ok(End::Closed),
                Ok(n) => {
                    self.input.add(&scratch[..n], &mut take)?;
                    if n < scratch.len() && !is_ended {
                        return Ok(End::Open);
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(End::Open),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Ok(End::Closed),
            }
        }
    }
}

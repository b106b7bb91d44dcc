//! Client of one WebSocket connection (RFC 6455): text messages, with a time limit on each read.
//!
//! Rejected: `tungstenite`. It brings ten more crates for what an inspector on this machine needs: no TLS, no
//! extensions, no compression. The answer to the handshake's key is not checked, because the peer is known by its
//! process, and no proxy is in between.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
/// Bytes of a message above which the connection is given up. A profile of a minute has some 10 MB.
const MESSAGE_BYTES_MAX: u64 = 256 << 20;
/// Bytes of the answer to the handshake, at most.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// Mask of the bytes that a client sends. It protects proxies, of which there are none.
const MASK: [u8; 4] = [0x59, 0x55, 0x4e, 0x54];

/// Open connection.
pub struct WebSocket {
    stream: TcpStream,
    /// Bytes that were read and not used.
    buffer: Vec<u8>,
    /// Payload of a message whose last frame has not arrived.
    message: Vec<u8>,
}

impl WebSocket {
    /// Connects to a path at an address.
    pub fn open(address: SocketAddr, path: &str, limit: Duration) -> io::Result<WebSocket> {
        let end = Instant::now() + limit;
        let mut stream = TcpStream::connect_timeout(&address, limit)?;
        stream.set_write_timeout(Some(limit))?;
        stream.set_nodelay(true)?;
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eXVudGkgb2JzZXJ2ZSB3cw==\r\n\r\n"
        );
        stream.write_all(request.as_bytes())?;
        let mut socket = WebSocket { stream, buffer: Vec::new(), message: Vec::new() };
        let head = loop {
            if let Some(at) = socket.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break socket.buffer.drain(..at + 4).collect::<Vec<u8>>();
            }
            if socket.buffer.len() > HEAD_BYTES_MAX {
                return Err(io::Error::other("its answer to the handshake is too long"));
            }
            socket.fill(end)?;
        };
        match head.starts_with(b"HTTP/1.1 101") {
            true => Ok(socket),
            false => Err(io::Error::other("it refused a WebSocket")),
        }
    }

    /// Sends a text message.
    pub fn send(&mut self, text: &str) -> io::Result<()> {
        self.frame(TEXT, text.as_bytes())
    }

    /// Receives the next text message; `None` if the peer has closed the connection.
    pub fn receive(&mut self, end: Instant) -> io::Result<Option<String>> {
        loop {
            let Some((kind, is_last, length, head)) = header(&self.buffer) else {
                if !self.fill(end)? {
                    return Ok(None);
                }
                continue;
            };
            if length + self.message.len() as u64 > MESSAGE_BYTES_MAX {
                return Err(io::Error::other("its message is too long"));
            }
            while self.buffer.len() < head + length as usize {
                if !self.fill(end)? {
                    return Ok(None);
                }
            }
            let payload: Vec<u8> = self.buffer.drain(..head + length as usize).skip(head).collect();
            match kind {
                TEXT | CONTINUATION => self.message.extend(payload),
                PING => self.frame(PONG, &payload)?,
                CLOSE => {
                    // The peer waits for the answer before it closes.
                    let _ = self.frame(CLOSE, &payload);
                    return Ok(None);
                }
                _ => {}
            }
            if is_last && matches!(kind, TEXT | CONTINUATION) {
                return Ok(Some(String::from_utf8_lossy(&std::mem::take(&mut self.message)).into_owned()));
            }
        }
    }

    fn frame(&mut self, kind: u8, payload: &[u8]) -> io::Result<()> {
        let mut bytes = vec![0x80 | kind];
        match payload.len() {
            n @ ..126 => bytes.push(0x80 | n as u8),
            n @ ..65536 => {
                bytes.push(0x80 | 126);
                bytes.extend((n as u16).to_be_bytes());
            }
            n => {
                bytes.push(0x80 | 127);
                bytes.extend((n as u64).to_be_bytes());
            }
        }
        bytes.extend(MASK);
        bytes.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        self.stream.write_all(&bytes)
    }

    /// Reads more bytes. Returns false at the end of the stream.
    fn fill(&mut self, end: Instant) -> io::Result<bool> {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut bytes = [0; 16 << 10];
        match self.stream.read(&mut bytes) {
            Ok(n) => {
                self.buffer.extend(&bytes[..n]);
                Ok(n > 0)
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Err(io::ErrorKind::TimedOut.into()),
            Err(e) => Err(e),
        }
    }
}

/// Parses the head of a server's frame: its kind, true for the last of a message, the length of its payload, and the
/// bytes of the head. `None`: the head is not complete.
fn header(bytes: &[u8]) -> Option<(u8, bool, u64, usize)> {
    let (first, second) = (*bytes.first()?, *bytes.get(1)?);
    let (length, head) = match second & 0x7f {
        126 => (u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?).into(), 4),
        127 => (u64::from_be_bytes(bytes.get(2..10)?.try_into().ok()?), 10),
        n => (n.into(), 2),
    };
    Some((first & 0x0f, first & 0x80 != 0, length, head))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn parses_heads_of_frames() {
        assert_eq!(header(&[0x81, 5]), Some((TEXT, true, 5, 2)));
        assert_eq!(header(&[0x01, 126, 1, 0]), Some((TEXT, false, 256, 4)));
        assert_eq!(header(&[0x80, 127, 0, 0, 0, 0, 0, 1, 0, 0]), Some((CONTINUATION, true, 65536, 10)));
        assert!(header(&[0x81]).is_none() && header(&[0x81, 126, 1]).is_none());
    }

    #[test]
    fn talks_to_a_server_that_pings_and_splits() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut head = [0; 4096];
            let _ = stream.read(&mut head).unwrap();
            stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\n\r\n").unwrap();
            stream.write_all(&[0x89, 1, b'x', 0x01, 2, b'a', b'b', 0x80, 1, b'c']).unwrap();
            let mut got = Vec::new();
            stream.read_to_end(&mut got).unwrap();
            got
        });
        let limit = Duration::from_secs(5);
        let mut socket = WebSocket::open(address, "/x", limit).unwrap();
        assert_eq!(socket.receive(Instant::now() + limit).unwrap().as_deref(), Some("abc"));
        socket.send("hi").unwrap();
        assert!(socket.receive(Instant::now() + Duration::from_millis(20)).is_err(), "no answer in time");
        drop(socket);
        let got = server.join().unwrap();
        // The pong, then the text, both masked.
        assert_eq!(got[..2], [0x8a, 0x81]);
        assert_eq!(got[7..9], [0x81, 0x82]);
        assert_eq!([got[13] ^ MASK[0], got[14] ^ MASK[1]], *b"hi");
    }
}

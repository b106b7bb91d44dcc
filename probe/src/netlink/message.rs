//! Netlink socket for sock_diag(7): sends requests and passes on the messages of the answers. It stays in the network
//! namespace in which it was opened.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};

/// Type of requests for the sockets of one family, and of the messages that describe them.
pub const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// Older type for TCP sockets of IPv4 and IPv6 in one walk through the kernel's table, which costs half as much.
pub const TCPDIAG_GETSOCK: u16 = 18;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// Flag NLM_F_REQUEST.
const ONE: u16 = 0x1;
/// Flags NLM_F_REQUEST and NLM_F_DUMP.
const ALL: u16 = 0x301;
const HEADER: usize = 16;
const READ_BYTES: usize = 128 << 10;

/// Open netlink socket.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

/// Answer to one request of several.
enum Message<'a> {
    Socket(u32, &'a [u8]),
    Error(u32, i32),
    Done,
}

impl Netlink {
    /// Opens a socket in the network namespace of the calling thread.
    pub fn open() -> io::Result<Netlink> {
        let kind = Some(netlink::SOCK_DIAG);
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, kind)?;
        Ok(Netlink { socket, buffer: vec![0; READ_BYTES] })
    }

    /// Passes every socket that a request selects to `take`.
    pub fn dump(&mut self, kind: u16, request: &[u8], mut take: impl FnMut(&[u8])) -> io::Result<()> {
        send(&self.socket, &framed(kind, request, ALL, 0), SendFlags::empty())?;
        let mut failure = None;
        loop {
            let read = self.receive(RecvFlags::empty())?;
            let mut is_over = false;
            messages(&self.buffer[..read], |message| match message {
                Message::Socket(_, body) => take(body),
                Message::Error(_, code) => failure = Some(code),
                Message::Done => is_over = true,
            })?;
            if let Some(code) = failure {
                return Err(io::Error::from_raw_os_error(code));
            }
            if is_over {
                return Ok(());
            }
        }
    }

    /// Sends several requests for one socket each. Passes the position of the request and the socket to `take`, or
    /// `None` for a socket that is gone. The kernel answers while it takes the requests, so no answer is waited for.
    pub fn ask(&mut self, requests: &[Vec<u8>], mut take: impl FnMut(usize, Option<&[u8]>)) -> io::Result<()> {
        let mut bytes = Vec::new();
        for (position, request) in requests.iter().enumerate() {
            bytes.extend(framed(SOCK_DIAG_BY_FAMILY, request, ONE, position as u32));
        }
        send(&self.socket, &bytes, SendFlags::empty())?;
        let mut left = requests.len();
        while left > 0 {
            let read = match self.receive(RecvFlags::DONTWAIT) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => break,
                other => other?,
            };
            messages(&self.buffer[..read], |message| match message {
                Message::Socket(position, body) => {
                    left = left.saturating_sub(1);
                    take(position as usize, Some(body));
                }
                Message::Error(position, _) => {
                    left = left.saturating_sub(1);
                    take(position as usize, None);
                }
                Message::Done => left = 0,
            })?;
        }
        Ok(())
    }

    fn receive(&mut self, flags: RecvFlags) -> io::Result<usize> {
        loop {
            match recv(&self.socket, &mut self.buffer[..], flags) {
                Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
                Ok((read, _)) => return Ok(read),
            }
        }
    }
}

/// Request with its `nlmsghdr` in front.
fn framed(kind: u16, request: &[u8], flags: u16, sequence: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + request.len());
    bytes.extend(((HEADER + request.len()) as u32).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.extend(request);
    bytes
}

fn messages(mut bytes: &[u8], mut take: impl FnMut(Message)) -> io::Result<()> {
    while bytes.len() >= HEADER {
        let length = u32_at(bytes, 0) as usize;
        if length < HEADER || length > bytes.len() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a truncated netlink message"));
        }
        let (body, sequence) = (&bytes[HEADER..length], u32_at(bytes, 8));
        match u16::from_ne_bytes([bytes[4], bytes[5]]) {
            NLMSG_DONE => take(Message::Done),
            NLMSG_ERROR => take(Message::Error(sequence, -(u32_at(body, 0) as i32))),
            SOCK_DIAG_BY_FAMILY | TCPDIAG_GETSOCK => take(Message::Socket(sequence, body)),
            _ => {}
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(())
}

/// Passes each attribute of a message to `take`: type and value.
pub fn attributes(mut bytes: &[u8], mut take: impl FnMut(u16, &[u8])) {
    while bytes.len() >= 4 {
        let length = usize::from(u16::from_ne_bytes([bytes[0], bytes[1]])).max(4);
        let Some(value) = bytes.get(4..length) else { break };
        take(u16::from_ne_bytes([bytes[2], bytes[3]]), value);
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
}

/// Returns the number at a place, or 0 beyond the end: older kernels send shorter structures.
pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

/// Returns the number at a place, or 0 beyond the end.
pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_truncated_messages() {
        assert!(messages(&[200, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], |_| ()).is_err());
        let mut count = 0;
        messages(&[], |_| count += 1).unwrap();
        // An attribute that is longer than the message.
        attributes(&[255, 0, 7, 0, 1], |_, _| count += 1);
        assert_eq!((count, u32_at(&[1, 2, 3], 0), u64_at(&[0; 8], 1)), (0, 0, 0));
    }
}

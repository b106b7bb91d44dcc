//! Unix-domain sockets by netlink: their names, their peers and unread bytes. The kernel keeps no times and no counts
//! of bytes for them, so a request that its receiver has read leaves no trace here.

use std::io;

use yunti_base::{Code, Error, Result};

use crate::netlink::sock_diag::ESTABLISHED;
use crate::netlink::{Netlink, SOCK_DIAG_BY_FAMILY, attributes, u32_at};
use crate::target::Process;
use crate::target::in_network_of;

const UNIX: u8 = 1;
const MESSAGE: usize = 16;
/// Bits of the attributes wanted: name, peer, lengths of queues.
const SHOW: u32 = 0x1 | 0x4 | 0x10;
const NAME: u16 = 0;
const PEER: u16 = 2;
const QUEUES: u16 = 4;

/// Connected Unix-domain socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnixSocket {
    /// Inode.
    pub inode: u32,
    /// Inode of the peer; 0 if unknown.
    pub peer: u32,
    /// Path or abstract name (`@name`) that it is bound to. An accepted socket has its listener's.
    pub name: Option<String>,
    /// Bytes that its owner has not read.
    pub unread: u32,
}

/// Reader of the Unix-domain sockets in one network namespace.
#[derive(Debug)]
pub struct UnixReader {
    netlink: Netlink,
}

fn failed(e: io::Error) -> Error {
    Error::io(Code::Input, "the kernel does not list its Unix-domain sockets (sock_diag)", &e)
}

impl UnixReader {
    /// Opens a reader in the network namespace of a process.
    pub fn open(process: &Process) -> Result<UnixReader> {
        let opened = in_network_of(process, Netlink::open).ok_or_else(|| {
            Error::new(Code::Input, format!("the network namespace of process {} cannot be entered", process.pid))
                .hint("run as root")
        })?;
        Ok(UnixReader { netlink: opened.map_err(failed)? })
    }

    /// Passes all connected sockets to `take`.
    pub fn all(&mut self, mut take: impl FnMut(UnixSocket)) -> Result<()> {
        self.netlink
            .dump(SOCK_DIAG_BY_FAMILY, &request(), |message| socket(message).into_iter().for_each(&mut take))
            .map_err(failed)
    }
}

/// Request `unix_diag_req` for all sockets.
fn request() -> Vec<u8> {
    let mut bytes = vec![UNIX, 0, 0, 0];
    [ESTABLISHED, 0, SHOW, 0, 0].iter().for_each(|word| bytes.extend(word.to_ne_bytes()));
    bytes
}

/// Parses `unix_diag_msg` and its attributes.
fn socket(message: &[u8]) -> Option<UnixSocket> {
    let (fixed, rest) = message.split_at_checked(MESSAGE)?;
    let mut socket = UnixSocket { inode: u32_at(fixed, 4), ..UnixSocket::default() };
    attributes(rest, |kind, value| match kind {
        NAME => socket.name = name(value),
        PEER => socket.peer = u32_at(value, 0),
        QUEUES => socket.unread = u32_at(value, 0),
        _ => {}
    });
    Some(socket)
}

fn name(value: &[u8]) -> Option<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned();
    match value {
        [] => None,
        [0, rest @ ..] => Some(format!("@{}", text(rest))),
        path => Some(text(path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn finds_the_peer_and_unread_bytes() {
        let (mut one, other) = UnixStream::pair().unwrap();
        one.write_all(b"hello").unwrap();
        let inode = |socket: &UnixStream| rustix::fs::fstat(socket).unwrap().st_ino as u32;
        let (mine, theirs) = (inode(&one), inode(&other));
        let mut found = Vec::new();
        let mut reader = UnixReader::open(&Process::of(std::process::id()).unwrap()).unwrap();
        reader.all(|socket| found.push(socket)).unwrap();
        let of = |inode| found.iter().find(|socket| socket.inode == inode).unwrap();
        assert_eq!((of(mine).peer, of(theirs).peer, of(theirs).unread), (theirs, mine, 5));
    }

    #[test]
    fn names() {
        assert_eq!(name(b"/run/a.sock\0"), Some("/run/a.sock".to_owned()));
        assert_eq!((name(b"\0bus"), name(b"")), (Some("@bus".to_owned()), None));
        assert!(socket(&[1; 15]).is_none());
    }
}

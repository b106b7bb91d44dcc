//! TCP sockets by netlink, sock_diag(7). Unlike /proc/net/tcp, it reports the limit of an accept queue and its drops.

use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with};
use yunti_base::{Code, Error, Result};

/// State mask of established connections.
pub const ESTABLISHED: u32 = 1 << 1;
/// State mask of connections in TIME_WAIT.
pub const TIME_WAIT: u32 = 1 << 6;
/// State mask of listening sockets.
pub const LISTEN: u32 = 1 << 10;

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// NLM_F_REQUEST and NLM_F_DUMP.
const FLAGS: u16 = 0x301;
const FAMILIES: [u8; 2] = [2, 10];
const TCP: u8 = 6;
const HEADER: usize = 16;
const MESSAGE: usize = 72;
const SKMEMINFO: u16 = 7;
/// Index of the number of drops in the socket's memory information.
const DROPS: usize = 8;
const READ_BYTES: usize = 128 << 10;

/// TCP socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Socket {
    /// State, as one of the masks above.
    pub state: u32,
    /// Local address and port.
    pub local: (IpAddr, u16),
    /// Address and port of the peer.
    pub peer: (IpAddr, u16),
    /// Connections that wait to be accepted, of a listening socket.
    pub queue: u32,
    /// Limit of the accept queue.
    pub queue_max: u32,
    /// Drops since the socket exists.
    pub drops: u32,
    /// Inode, or 0 without an owner.
    pub inode: u32,
}

/// Returns all sockets of this network namespace in one of `states`.
pub fn sockets(states: u32) -> Result<Vec<Socket>> {
    let failed = |e: io::Error| Error::io(Code::Input, "the kernel does not list its sockets (sock_diag)", &e);
    let netlink = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG));
    let netlink = netlink.map_err(|e| failed(e.into()))?;
    let mut found = Vec::new();
    for family in FAMILIES {
        send(&netlink, &request(family, states), SendFlags::empty()).map_err(|e| failed(e.into()))?;
        receive(&netlink, &mut found).map_err(failed)?;
    }
    Ok(found)
}

/// Request: `nlmsghdr`, and `inet_diag_req_v2` without an address.
fn request(family: u8, states: u32) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + 56);
    bytes.extend(((HEADER + 56) as u32).to_ne_bytes());
    bytes.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(FLAGS.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([family, TCP, 1 << (SKMEMINFO - 1), 0]);
    bytes.extend(states.to_ne_bytes());
    bytes.extend([0; 48]);
    bytes
}

fn receive(netlink: &OwnedFd, found: &mut Vec<Socket>) -> io::Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let (read, _) = match recv(netlink, &mut buffer[..], RecvFlags::empty()) {
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        if !messages(&buffer[..read], found)? {
            return Ok(());
        }
    }
}

/// Parses messages. Returns true if more follow.
fn messages(mut bytes: &[u8], found: &mut Vec<Socket>) -> io::Result<bool> {
    while bytes.len() >= HEADER {
        let bytes_of_it = u32_at(bytes, 0) as usize;
        if bytes_of_it < HEADER || bytes_of_it > bytes.len() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a truncated netlink message"));
        }
        let (message, kind) = (&bytes[HEADER..bytes_of_it], u16::from_ne_bytes([bytes[4], bytes[5]]));
        match kind {
            NLMSG_DONE => return Ok(false),
            NLMSG_ERROR => {
                let code = message.get(..4).map_or(0, |_| u32_at(message, 0) as i32);
                return Err(io::Error::from_raw_os_error(-code));
            }
            SOCK_DIAG_BY_FAMILY => found.extend(socket(message)),
            _ => {}
        }
        bytes = bytes.get(bytes_of_it.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(true)
}

/// Parses `inet_diag_msg` and its attributes.
fn socket(message: &[u8]) -> Option<Socket> {
    let (fixed, mut attributes) = message.split_at_checked(MESSAGE)?;
    let mut drops = 0;
    while attributes.len() >= 4 {
        let bytes = usize::from(u16::from_ne_bytes([attributes[0], attributes[1]]));
        let kind = u16::from_ne_bytes([attributes[2], attributes[3]]);
        let Some(value) = attributes.get(4..bytes.max(4)) else { break };
        if kind == SKMEMINFO && value.len() >= (DROPS + 1) * 4 {
            drops = u32_at(value, DROPS * 4);
        }
        attributes = attributes.get(bytes.max(4).next_multiple_of(4)..).unwrap_or_default();
    }
    let port = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let address = |at: usize| match fixed[0] {
        2 => IpAddr::from([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]),
        _ => <[u8; 16]>::try_from(&fixed[at..at + 16]).map_or(IpAddr::from([0; 4]), of_six),
    };
    Some(Socket {
        state: 1u32.checked_shl(fixed[1].into()).unwrap_or(0),
        local: (address(8), port(4)),
        peer: (address(24), port(6)),
        queue: u32_at(fixed, 56),
        queue_max: u32_at(fixed, 60),
        drops,
        inode: u32_at(fixed, 68),
    })
}

/// Returns the address; an IPv4 address mapped into IPv6 becomes IPv4.
pub fn of_six(bytes: [u8; 16]) -> IpAddr {
    Ipv6Addr::from(bytes).to_canonical()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map_or(0, u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn finds_a_listener_of_this_process() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let found = sockets(LISTEN).unwrap();
        let own = found.iter().find(|socket| socket.local == (address.ip(), address.port())).unwrap();
        assert_eq!((own.state, own.queue, own.drops), (LISTEN, 0, 0));
        assert!(own.queue_max > 0 && own.inode > 0);
    }

    #[test]
    fn refuses_truncated_messages() {
        let mut found = Vec::new();
        assert!(messages(&[200, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], &mut found).is_err());
        assert!(messages(&[], &mut found).unwrap());
        assert_eq!(socket(&[2; 71]), None);
        // An attribute that is longer than the message.
        let mut long = vec![0; MESSAGE];
        long[0] = 2;
        long.extend([255, 0, 7, 0, 1]);
        assert!(socket(&long).is_some());
    }
}

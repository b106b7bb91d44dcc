//! TCP sockets by netlink, sock_diag(7). Unlike /proc/net/tcp, it reports the limit of an accept queue and its drops.

use std::io;
use std::net::{IpAddr, Ipv6Addr};

use yunti_base::{Code, Error, Result};

use super::{Netlink, SOCK_DIAG_BY_FAMILY, attributes, u32_at};

/// State mask of established connections.
pub const ESTABLISHED: u32 = 1 << 1;
/// State mask of connections in TIME_WAIT.
pub const TIME_WAIT: u32 = 1 << 6;
/// State mask of listening sockets.
pub const LISTEN: u32 = 1 << 10;

const FAMILIES: [u8; 2] = [2, 10];
const TCP: u8 = 6;
const UDP: u8 = 17;
const MESSAGE: usize = 72;
const SKMEMINFO: u16 = 7;
/// Index of the number of drops in the socket's memory information.
const DROPS: usize = 8;

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
    let mut netlink = Netlink::open().map_err(failed)?;
    let mut found = Vec::new();
    for family in FAMILIES {
        let request = request(family, TCP, 1 << (SKMEMINFO - 1), states, &[0; 48]);
        netlink.dump(SOCK_DIAG_BY_FAMILY, &request, |message| found.extend(socket(message))).map_err(failed)?;
    }
    Ok(found)
}

/// Returns the UDP sockets of this network namespace that are connected to a peer.
pub fn connected_udp() -> Result<Vec<Socket>> {
    let mut netlink = Netlink::open().map_err(failed)?;
    let mut found = Vec::new();
    for family in FAMILIES {
        let request = request(family, UDP, 0, ESTABLISHED, &[0; 48]);
        netlink.dump(SOCK_DIAG_BY_FAMILY, &request, |message| found.extend(socket(message))).map_err(failed)?;
    }
    Ok(found)
}

fn failed(e: io::Error) -> Error {
    Error::io(Code::Input, "the kernel does not list its sockets (sock_diag)", &e)
}

/// Request `inet_diag_req_v2`. `extensions`: bits of the attributes wanted; `id`: addresses, or zeros for all sockets.
pub fn request(family: u8, protocol: u8, extensions: u8, states: u32, id: &[u8; 48]) -> Vec<u8> {
    let mut bytes = vec![family, protocol, extensions, 0];
    bytes.extend(states.to_ne_bytes());
    bytes.extend(id);
    bytes
}

/// Parses `inet_diag_msg` and its attributes.
fn socket(message: &[u8]) -> Option<Socket> {
    let (fixed, rest) = message.split_at_checked(MESSAGE)?;
    let mut drops = 0;
    attributes(rest, |kind, value| {
        if kind == SKMEMINFO && value.len() >= (DROPS + 1) * 4 {
            drops = u32_at(value, DROPS * 4);
        }
    });
    let (local, peer) = addresses(fixed)?;
    Some(Socket {
        state: state(fixed),
        local,
        peer,
        queue: u32_at(fixed, 56),
        queue_max: u32_at(fixed, 60),
        drops,
        inode: u32_at(fixed, 68),
    })
}

/// Returns the state of an `inet_diag_msg` as a mask.
pub fn state(fixed: &[u8]) -> u32 {
    1u32.checked_shl(fixed[1].into()).unwrap_or(0)
}

/// Address and port.
pub type Address = (IpAddr, u16);

/// Returns the local address and the peer's of an `inet_diag_msg`.
pub fn addresses(fixed: &[u8]) -> Option<(Address, Address)> {
    let port = |at: usize| Some(u16::from_be_bytes([*fixed.get(at)?, *fixed.get(at + 1)?]));
    let address = |at: usize| match fixed[0] {
        2 => Some(IpAddr::from(<[u8; 4]>::try_from(fixed.get(at..at + 4)?).ok()?)),
        _ => Some(of_six(<[u8; 16]>::try_from(fixed.get(at..at + 16)?).ok()?)),
    };
    Some(((address(8)?, port(4)?), (address(24)?, port(6)?)))
}

/// Returns the address; an IPv4 address mapped into IPv6 becomes IPv4.
pub fn of_six(bytes: [u8; 16]) -> IpAddr {
    Ipv6Addr::from(bytes).to_canonical()
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
        assert_eq!(socket(&[2; 71]), None);
        // An attribute that is longer than the message.
        let mut long = vec![0; MESSAGE];
        long[0] = 2;
        long.extend([255, 0, 7, 0, 1]);
        assert!(socket(&long).is_some());
    }
}

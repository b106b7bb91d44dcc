//! TCP connections with their counters (`TCP_INFO` of tcp(7)), by netlink. Any process's connections can be read from
//! outside, in its network namespace, without touching the process.

use std::io;

use yunti_base::{Code, Error, Result};

use crate::netlink::sock_diag::{Address, addresses, request, state};
use crate::netlink::{Netlink, SOCK_DIAG_BY_FAMILY, TCPDIAG_GETSOCK, attributes, u32_at, u64_at};
use crate::target::Process;
use crate::target::in_network_of;

/// State mask of connections that are not established yet.
pub const SYN_SENT: u32 = 1 << 2;
/// State mask of connections that the peer has closed.
pub const CLOSE_WAIT: u32 = 1 << 8;

const FAMILIES: [u8; 2] = [2, 10];
const TCP: u8 = 6;
const UDP: u8 = 17;
const MESSAGE: usize = 72;
/// Number of the attribute `INET_DIAG_INFO`.
const INFO: u16 = 2;
/// Requests for one connection sent at once. The answers have to fit into the socket's buffer.
const AT_ONCE: usize = 48;

/// Identity of a connection: its addresses and the kernel's cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    family: u8,
    id: [u8; 48],
}

/// Connection at one moment.
#[derive(Clone, Debug)]
pub struct TcpConnection {
    /// Identity.
    pub identity: Identity,
    /// State, as one of the masks.
    pub state: u32,
    /// Local address and port.
    pub local: Address,
    /// Address and port of the peer.
    pub peer: Address,
    /// Bytes received that the process has not read; of a listening socket, connections to accept.
    pub unread: u32,
    /// Milliseconds until its timer expires; of a connection in TIME_WAIT, until it is forgotten.
    pub expires_ms: u32,
    /// Retransmissions without a response, also of the first segment.
    pub retries: u8,
    /// Inode, or 0 without an owner.
    pub inode: u32,
    /// Counters.
    pub info: TcpInfo,
}

/// Counters of a connection: `tcp_info`. Times are since the event, and as coarse as the kernel's clock tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Largest segment that it sends, in bytes.
    pub segment_bytes: u32,
    /// Segments sent and not acknowledged.
    pub unacked: u32,
    /// Milliseconds since data was sent.
    pub sent_ms: u32,
    /// Milliseconds since data was received.
    pub received_ms: u32,
    /// Milliseconds since an acknowledgement was received, alone or with data.
    pub acked_ms: u32,
    /// Smoothed round-trip time in microseconds.
    pub rtt_us: u32,
    /// Smallest round-trip time in microseconds; 0 if unknown.
    pub rtt_min_us: u32,
    /// Segments that it may have on the way.
    pub window_segments: u32,
    /// Segments retransmitted.
    pub retransmitted: u32,
    /// Bytes received in order.
    pub bytes_received: u64,
    /// Bytes sent, without retransmissions.
    pub bytes_sent: u64,
    /// Segments received, all of them.
    pub segments_in: u32,
    /// Segments sent, all of them.
    pub segments_out: u32,
    /// Segments received with data.
    pub data_in: u32,
    /// Segments sent with data.
    pub data_out: u32,
    /// Bytes written and not sent.
    pub unsent_bytes: u32,
    /// Window that the peer has announced, in bytes.
    pub window_bytes: u32,
    /// Microseconds in which it had something to send.
    pub busy_us: u64,
    /// Microseconds in which the peer's window held it up.
    pub window_limited_us: u64,
}

impl TcpInfo {
    fn parse(info: &[u8]) -> TcpInfo {
        let retransmitted_bytes = u64_at(info, 208);
        // Kernels before 4.19 count acknowledged bytes only.
        let bytes_sent = if info.len() >= 208 { u64_at(info, 200) } else { u64_at(info, 120) };
        TcpInfo {
            segment_bytes: u32_at(info, 16),
            unacked: u32_at(info, 24),
            sent_ms: u32_at(info, 44),
            received_ms: u32_at(info, 52),
            acked_ms: u32_at(info, 56),
            rtt_us: u32_at(info, 68),
            // All bits are set before the first measurement.
            rtt_min_us: Some(u32_at(info, 148)).filter(|us| *us != u32::MAX).unwrap_or(0),
            window_segments: u32_at(info, 80),
            retransmitted: u32_at(info, 100),
            bytes_received: u64_at(info, 128),
            bytes_sent: bytes_sent.saturating_sub(retransmitted_bytes),
            segments_in: u32_at(info, 140),
            segments_out: u32_at(info, 136),
            data_in: u32_at(info, 152),
            data_out: u32_at(info, 156),
            unsent_bytes: u32_at(info, 144),
            window_bytes: u32_at(info, 228),
            busy_us: u64_at(info, 168),
            window_limited_us: u64_at(info, 176),
        }
    }
}

/// Reader of the connections in one network namespace.
#[derive(Debug)]
pub struct TcpReader {
    netlink: Netlink,
}

fn failed(e: io::Error) -> Error {
    Error::io(Code::Input, "the kernel does not list its connections (sock_diag)", &e)
}

impl TcpReader {
    /// Opens a reader in the network namespace of a process.
    pub fn open(process: &Process) -> Result<TcpReader> {
        let opened = in_network_of(process, Netlink::open).ok_or_else(|| {
            Error::new(Code::Input, format!("the network namespace of process {} cannot be entered", process.pid))
                .hint("run as root")
        })?;
        Ok(TcpReader { netlink: opened.map_err(failed)? })
    }

    /// Passes all TCP connections in one of `states` to `take`.
    pub fn all(&mut self, states: u32, mut take: impl FnMut(TcpConnection)) -> Result<()> {
        // `inet_diag_req`: no address, the attribute, all ports.
        let mut request = vec![2, 0, 0, 1 << (INFO - 1)];
        request.extend([0; 48]);
        request.extend(states.to_ne_bytes());
        request.extend([0; 4]);
        let each = |message: &[u8]| connection(message).into_iter().for_each(&mut take);
        self.netlink.dump(TCPDIAG_GETSOCK, &request, each).map_err(failed)
    }

    /// Passes all UDP sockets that are connected to a peer to `take`. They have no counters.
    pub fn connected_udp(&mut self, mut take: impl FnMut(TcpConnection)) -> Result<()> {
        for family in FAMILIES {
            let request = request(family, UDP, 0, crate::netlink::sock_diag::ESTABLISHED, &[0; 48]);
            let each = |message: &[u8]| connection(message).into_iter().for_each(&mut take);
            self.netlink.dump(SOCK_DIAG_BY_FAMILY, &request, each).map_err(failed)?;
        }
        Ok(())
    }

    /// Passes these TCP connections to `take`; `None` for one that is gone. It is cheaper than all if these are few.
    pub fn these(
        &mut self,
        identities: &[Identity],
        mut take: impl FnMut(Identity, Option<TcpConnection>),
    ) -> Result<()> {
        for some in identities.chunks(AT_ONCE) {
            let requests: Vec<_> =
                some.iter().map(|one| request(one.family, TCP, 1 << (INFO - 1), u32::MAX, &one.id)).collect();
            let take = |at: usize, message: Option<&[u8]>| {
                if let Some(identity) = some.get(at) {
                    take(*identity, message.and_then(connection));
                }
            };
            self.netlink.ask(&requests, take).map_err(failed)?;
        }
        Ok(())
    }
}

/// Parses `inet_diag_msg` and its attributes.
fn connection(message: &[u8]) -> Option<TcpConnection> {
    let (fixed, rest) = message.split_at_checked(MESSAGE)?;
    let (local, peer) = addresses(fixed)?;
    let mut info = TcpInfo::default();
    attributes(rest, |kind, value| {
        if kind == INFO {
            info = TcpInfo::parse(value);
        }
    });
    Some(TcpConnection {
        identity: Identity { family: fixed[0], id: fixed.get(4..52)?.try_into().ok()? },
        state: state(fixed),
        local,
        peer,
        unread: u32_at(fixed, 56),
        expires_ms: u32_at(fixed, 52),
        retries: fixed[3],
        inode: u32_at(fixed, 68),
        info,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::sock_diag::ESTABLISHED;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn reads_the_turns_of_a_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(b"hello").unwrap();
        let mut reader = TcpReader::open(&Process::of(std::process::id()).unwrap()).unwrap();
        let (port, here) = (client.local_addr().unwrap().port(), listener.local_addr().unwrap().port());
        let mut own = Vec::new();
        reader.all(ESTABLISHED, |one| own.extend((one.peer.1 == port && one.local.1 == here).then_some(one))).unwrap();
        let [accepted] = &own[..] else { panic!("{own:?}") };
        assert_eq!((accepted.unread, accepted.info.bytes_received, accepted.info.data_in), (5, 5, 1));
        server.read_exact(&mut [0; 5]).unwrap();
        server.write_all(b"ok").unwrap();
        let read = |reader: &mut TcpReader| {
            let mut found = Vec::new();
            reader.these(&[accepted.identity], |_, one| found.push(one)).unwrap();
            found.pop().unwrap()
        };
        let answered = read(&mut reader).unwrap();
        assert_eq!((answered.unread, answered.info.bytes_sent, answered.inode), (0, 2, accepted.inode));
        drop((client, server));
        assert!(read(&mut reader).is_none_or(|gone| gone.inode == 0));
    }

    #[test]
    fn reads_both_families() {
        let four = TcpListener::bind("127.0.0.1:0").unwrap();
        let six = TcpListener::bind("[::]:0");
        let mut reader = TcpReader::open(&Process::of(std::process::id()).unwrap()).unwrap();
        let mut ports = Vec::new();
        reader.all(crate::netlink::sock_diag::LISTEN, |one| ports.push(one.local.1)).unwrap();
        for listener in [Ok(four), six].into_iter().flatten() {
            assert!(ports.contains(&listener.local_addr().unwrap().port()));
        }
    }

    #[test]
    fn refuses_truncated_messages() {
        assert!(connection(&[2; 71]).is_none());
        assert_eq!(TcpInfo::parse(&[0; 3]), TcpInfo::default());
    }
}

//! Requests under way on a process's connections, as the kernel's sockets show them, for programs in any language: also
//! requests that no thread waits for.
//!
//! ```text
//!   mod.rs      requests over the measurement: served here, and outstanding at each peer
//!   turns.rs    one connection: which side spoke last, and from that its requests
//!   groups.rs   sums of the connections to one peer
//!   sampler.rs  samples of all connections of a process, as often as their cost allows
//!   peers.rs    processes on this machine behind the peers
//!   rules.rs    causes: no demand, a slow peer, connections that are not reused or not established
//! ```

mod groups;
mod peers;
mod rules;
mod sampler;
mod turns;

pub use peers::{address_text, owners};
pub use rules::{connection_per_request, is_idle, outstanding, unanswered_connects};
pub use sampler::{Pace, RequestSampler};

/// Requests of a process over the measurement.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    pub samples: usize,
    /// Processor time that the samples took, in seconds.
    pub cost_seconds: f64,
    /// True if it has listening sockets, or connections that peers opened.
    pub is_server: bool,
    /// Its listening ports.
    pub ports: Vec<u16>,
    pub inbound: Inbound,
    /// Peers that it called, by descending number of outstanding answers.
    pub outbound: Vec<PeerRequests>,
    /// All of these peers as one.
    pub all_outbound: PeerRequests,
    /// Look-ups of names under way at a time: UDP sockets connected to port 53.
    pub look_ups: f64,
    /// Unix-domain sockets by peer.
    pub unix: Vec<UnixPeer>,
    pub wire: Wire,
}

/// Requests that peers sent to the process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inbound {
    /// Connections at a time.
    pub connections: f64,
    /// Connections opened during the measurement, at least.
    pub opened: f64,
    /// Requests answered.
    pub requests: f64,
    /// Requests under way at a time.
    pub under_way: f64,
    /// Mean time of a request in seconds, from its last byte to the answer's.
    pub mean_seconds: f64,
    pub longest_seconds: f64,
    /// True if its answers always take the same long time and say little: it holds them back until it has news.
    pub is_poll: bool,
    /// Connections at a time whose data the process leaves unread.
    pub unread: f64,
    /// Longest time for which data stayed unread.
    pub unread_seconds: f64,
    /// Messages without an answer for longer than any answered request: requests held by design (long polls), requests
    /// that hang, or messages that need no answer.
    pub held: usize,
    /// Those of them that arrived during the measurement.
    pub held_new: usize,
    pub held_seconds: f64,
    /// Bytes received and sent.
    pub received_bytes: f64,
    pub sent_bytes: f64,
}

/// Requests that the process sent to a peer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PeerRequests {
    /// Address and port of the peer; for all peers, their number.
    pub peer: String,
    /// Process behind it, if it is on this machine: `postgres 4711`.
    pub process: Option<String>,
    /// Processors that this process uses.
    pub processors: f64,
    pub connections: f64,
    pub opened: f64,
    pub requests: f64,
    /// Answers outstanding at a time; at least, if connections carry several requests at once.
    pub outstanding: f64,
    pub is_multiplexed: bool,
    pub mean_seconds: f64,
    pub longest_seconds: f64,
    /// Share of the time of requests to this process in which an answer of this peer was outstanding. 0 without such
    /// requests.
    pub covered: f64,
    /// Share of the time in which at least one answer was outstanding.
    pub waiting_share: f64,
    /// True if its answers always take the same long time, as answers do that the peer holds back until it has news.
    pub is_poll: bool,
    /// Answers at a time that have come and that the process leaves unread.
    pub unread: f64,
    /// Messages without an answer for longer than any answered request.
    pub held: usize,
    pub held_seconds: f64,
    /// Connections at a time that are not established yet, and those of them whose first segment was repeated.
    pub connecting: f64,
    pub connecting_again: f64,
    /// Smallest round-trip time in seconds.
    pub rtt_seconds: f64,
}

impl Requests {
    /// Adds the use of processors by the processes behind its peers.
    pub fn take_usages(&mut self, used: impl Fn(u32) -> f64) {
        for peer in &mut self.outbound {
            let pid = peer.process.as_ref().and_then(|process| process.rsplit_once(' ')?.1.parse().ok());
            peer.processors = pid.map_or(0.0, &used);
        }
    }
}

/// Processors that a peer uses from which on its name says so: it computes, and does not wait itself.
const BUSY_PROCESSORS: f64 = 0.8;

impl PeerRequests {
    /// Returns the peer as a reader knows it: `postgres 4711 at 127.0.0.1:5432`.
    pub fn name(&self) -> String {
        match &self.process {
            Some(process) if self.processors >= BUSY_PROCESSORS => {
                format!("{process}, which itself keeps {:.1} processors busy, at {}", self.processors, self.peer)
            }
            Some(process) => format!("{process} at {}", self.peer),
            None => self.peer.clone(),
        }
    }
}

/// Unix-domain connections to one peer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnixPeer {
    /// Path or abstract name of the socket; empty for a pair without a name.
    pub name: String,
    pub process: Option<String>,
    /// True if the process connected to the peer.
    pub is_called: bool,
    pub connections: usize,
    /// Connections at a time with data that the process leaves unread.
    pub unread: f64,
    /// Connections at a time with data that the peer leaves unread.
    pub unread_there: f64,
}

/// Effects of the network on the process's connections.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wire {
    /// Receivers that do not read, by descending number of connections.
    pub closed_windows: Vec<SlowReceiver>,
    /// Connections at a time whose small last segment waits for an acknowledgement (Nagle's algorithm).
    pub small_waits: f64,
    /// Peer with most of them.
    pub small_waits_peer: String,
    /// Small segments that were seen to wait, their longest wait in seconds, and the round-trip time of the network.
    pub small_seen: u64,
    pub small_seconds: f64,
    pub small_rtt_seconds: f64,
    /// Data segments sent, and retransmitted.
    pub segments: u64,
    pub retransmitted: u64,
    /// Connections at a time that wait for a retransmission after a timeout.
    pub recovering: f64,
    /// Peer with the most retransmissions.
    pub lossy_peer: String,
}

/// Receiver whose window is closed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlowReceiver {
    pub peer: String,
    pub is_accepted: bool,
    /// Connections at a time that its window held up.
    pub limited: f64,
    pub unsent_bytes: f64,
    pub bytes_per_second: f64,
}

//! Connections of a process while they are sampled, and the sums of those to one peer.

use yunti_probe::kernel::system::tcp_info::{Identity, TcpConnection, TcpInfo};

use super::turns::{Dialogue, Tally, Timeline};

/// Time that a small segment waits from which on it waits for an acknowledgement rather than for the processor.
const SMALL_MS: u32 = 8;

/// Connection of the process.
pub struct Tracked {
    pub identity: Identity,
    pub group: usize,
    pub dialogue: Option<Dialogue>,
    pub first: TcpInfo,
    pub last: TcpInfo,
    pub is_new: bool,
    pub unread_since: Option<f64>,
    pub seen_in: usize,
}

/// Sums of a peer, or of all connections that peers opened.
#[derive(Default)]
pub struct Group {
    pub timeline: Timeline,
    pub tally: Tally,
    pub connections: f64,
    pub opened: f64,
    /// Part of them that no sample saw.
    pub unseen: f64,
    pub unread: f64,
    pub unread_seconds: f64,
    pub connecting: f64,
    pub connecting_again: f64,
    pub held: Vec<(f64, bool)>,
    pub rtt_us: u32,
    pub received_bytes: f64,
    pub sent_bytes: f64,
    pub limited: f64,
    pub unsent: f64,
    pub small: f64,
    pub small_ms: u32,
    pub small_seen: u64,
    pub segments: u64,
    pub retransmitted: u64,
    pub recovering: f64,
}

impl Group {
    /// Adds a connection that was closed, or the measurement's end.
    pub fn finish(&mut self, one: &Tracked) {
        self.opened += f64::from(u32::from(one.is_new));
        if let Some(dialogue) = &one.dialogue {
            self.tally.join(&dialogue.tally);
        }
        let (first, last) = (&one.first, &one.last);
        self.received_bytes += last.bytes_received.saturating_sub(first.bytes_received) as f64;
        self.sent_bytes += last.bytes_sent.saturating_sub(first.bytes_sent) as f64;
        self.limited += last.window_limited_us.saturating_sub(first.window_limited_us) as f64 / 1e6;
        self.segments += u64::from(last.data_out.wrapping_sub(first.data_out));
        self.retransmitted += u64::from(last.retransmitted.wrapping_sub(first.retransmitted));
        if last.rtt_min_us > 0 && (self.rtt_us == 0 || last.rtt_min_us < self.rtt_us) {
            self.rtt_us = last.rtt_min_us;
        }
    }

    pub fn join(&mut self, other: &Group) {
        self.tally.join(&other.tally);
        self.connections += other.connections;
        self.opened += other.opened;
        self.unseen += other.unseen;
        self.unread += other.unread;
        self.connecting += other.connecting;
        self.connecting_again += other.connecting_again;
        self.held.extend(&other.held);
        if other.rtt_us > 0 && (self.rtt_us == 0 || other.rtt_us < self.rtt_us) {
            self.rtt_us = other.rtt_us;
        }
    }

    pub fn wire(&mut self, weight: f64, one: &TcpConnection) {
        let info = &one.info;
        self.unsent += f64::from(info.unsent_bytes) * weight;
        // A last segment that is not full waits although the window and the congestion window have room: Nagle.
        let on_the_way = info.unacked.saturating_mul(info.segment_bytes);
        let is_small = info.unsent_bytes > 0 && info.unsent_bytes < info.segment_bytes && info.unacked > 0;
        let has_room = info.unacked < info.window_segments
            && (info.window_bytes == 0
                || u64::from(on_the_way) + u64::from(info.unsent_bytes) <= u64::from(info.window_bytes)
                || info.unacked == 1);
        if is_small && has_room && one.retries == 0 && info.sent_ms >= SMALL_MS {
            self.small += weight;
            self.small_seen += 1;
            self.small_ms = self.small_ms.max(info.sent_ms);
        }
        if one.retries > 0 && info.unacked > 0 {
            self.recovering += weight;
        }
    }

    /// Returns the number of exchanges. A connection that no sample saw has one at least.
    pub fn exchanges(&self) -> f64 {
        let seen = self.tally.exchanges();
        seen + self.unseen * (seen / (self.opened - self.unseen).max(1.0)).max(1.0)
    }

    /// Returns the mean time of an exchange: as measured where samples saw most of them, else by Little's law.
    pub fn mean_seconds(&self, under_way: f64, seconds: f64) -> f64 {
        let exchanges = self.exchanges();
        if self.tally.clean.count as f64 * 2.0 >= exchanges {
            return self.tally.clean.mean();
        }
        under_way * seconds / exchanges.max(1.0)
    }
}

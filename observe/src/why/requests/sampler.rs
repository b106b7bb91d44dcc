//! Samples of all connections of a process, as often as their cost allows, and their sums at the end.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::time::{Duration, Instant};

use yunti_probe::kernel::system::tcp_info::{CLOSE_WAIT, Identity, SYN_SENT, TcpConnection, TcpInfo, TcpReader};
use yunti_probe::kernel::system::unix_diag::{UnixReader, UnixSocket};
use yunti_probe::netlink::sock_diag::{ESTABLISHED, LISTEN, TIME_WAIT};
use yunti_probe::target::{Process, cpu_time, sockets_of};

use super::groups::{Group, Tracked};
use super::turns::{Dialogue, Sample, Side, Timeline};
use super::{Inbound, PeerRequests, Requests, SlowReceiver, UnixPeer, Wire, peers};

/// Pace of samples.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Shortest time between two samples.
    pub every: Duration,
    /// Time between two walks through all connections of the machine, while none is new and while there are none. The
    /// kernel walks through its whole table for it, which takes milliseconds.
    pub all_every: Duration,
    pub all_every_without: Duration,
    /// True if all connections are read at each sample while new ones come.
    pub follows_churn: bool,
    /// Share of a processor for samples.
    pub share_max: f64,
}

/// Pace of a measurement of some seconds, which sees single requests under way.
const CLOSE: Pace = Pace {
    every: Duration::from_millis(20),
    all_every: Duration::from_millis(400),
    all_every_without: Duration::from_secs(1),
    follows_churn: true,
    share_max: 0.01,
};
/// Time between two samples of look-ups, while there are some and while there are none.
const UDP_EVERY: Duration = Duration::from_millis(50);
const UDP_EVERY_WITHOUT: Duration = Duration::from_millis(200);
const UNIX_EVERY: Duration = Duration::from_millis(250);
/// Processor time that samples may spend at once.
const BURST: Duration = Duration::from_millis(15);
/// Share of a processor for reading descriptors.
const DESCRIPTORS_SHARE_MAX: f64 = 0.005;
/// Cost of reading one connection alone, at first.
const ONE_COST: Duration = Duration::from_micros(4);
/// Groups of peers kept apart; further ones count in the sum of all only.
const PEERS_MAX: usize = 256;
/// Rows that a reader sees.
const PEERS_SHOWN: usize = 16;
/// Data that stays unread for this time is left by the process, not on its way to it.
const UNREAD_MS: u32 = 20;
/// Bytes of an answer up to which it says that there is no news.
const NO_NEWS_BYTES: f64 = 64.0;
/// Time of TIME_WAIT in milliseconds: Linux has no setting for it.
const TIME_WAIT_MS: f64 = 60_000.0;

type Address = (IpAddr, u16);

/// Group of connections that peers opened.
const INBOUND: usize = 0;
/// Group of all connections that the process opened, for peers beyond [`PEERS_MAX`].
const OTHERS: usize = 1;

/// Sampler of a process's connections.
pub struct RequestSampler {
    process: Process,
    pace: Pace,
    reader: TcpReader,
    unix: Option<UnixReader>,
    begin: Instant,
    next: Instant,
    last_at: f64,
    /// Time that each sample stands for.
    weights: Vec<f64>,
    sockets: HashSet<u64>,
    /// Sockets of others, so that a new one is known as new.
    foreign: HashSet<u32>,
    descriptors_at: Option<Instant>,
    descriptors_cost: Duration,
    /// Part of the present sample's cost.
    descriptors_now: Duration,
    all_at: Option<Instant>,
    all_cost: Duration,
    one_cost: Duration,
    spent: Duration,
    /// Time spent in all, with descriptors.
    cost: Duration,
    is_churning: bool,
    tracked: HashMap<u32, Tracked>,
    listening: HashSet<Address>,
    own_ports: HashSet<u16>,
    groups: Vec<Group>,
    peers: HashMap<Address, usize>,
    all_outbound: Timeline,
    look_ups: f64,
    udp_at: Option<(Instant, f64)>,
    unix_at: Option<Instant>,
    unix_samples: usize,
    unix_peers: HashMap<u32, (UnixSocket, u32, f64, f64)>,
}

impl RequestSampler {
    /// Begins to sample. Fails without the rights to enter the process's network namespace.
    pub fn start(process: &Process) -> yunti_base::Result<RequestSampler> {
        let unix = UnixReader::open(process).ok();
        RequestSampler::with(process, CLOSE, unix)
    }

    /// Begins to sample TCP connections at another pace. Rare samples count requests by segments.
    pub fn at_pace(process: &Process, pace: Pace) -> yunti_base::Result<RequestSampler> {
        RequestSampler::with(process, pace, None)
    }

    fn with(process: &Process, pace: Pace, unix: Option<UnixReader>) -> yunti_base::Result<RequestSampler> {
        let now = Instant::now();
        let mut sampler = RequestSampler {
            process: process.clone(),
            pace,
            reader: TcpReader::open(process)?,
            unix,
            begin: now,
            next: now,
            last_at: 0.0,
            weights: Vec::new(),
            sockets: HashSet::new(),
            foreign: HashSet::new(),
            descriptors_at: None,
            descriptors_cost: Duration::ZERO,
            descriptors_now: Duration::ZERO,
            all_at: None,
            all_cost: Duration::ZERO,
            one_cost: ONE_COST,
            spent: Duration::ZERO,
            cost: Duration::ZERO,
            is_churning: false,
            tracked: HashMap::new(),
            listening: HashSet::new(),
            own_ports: HashSet::new(),
            groups: vec![Group::default(), Group::default()],
            peers: HashMap::new(),
            all_outbound: Timeline::default(),
            look_ups: 0.0,
            udp_at: None,
            unix_at: None,
            unix_samples: 0,
            unix_peers: HashMap::new(),
        };
        sampler.keep_up();
        Ok(sampler)
    }

    /// Takes a sample if one is due.
    pub fn keep_up(&mut self) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        let before = cpu_time();
        let left = BURST + self.begin.elapsed().mul_f64(self.pace.share_max);
        self.sample(left.saturating_sub(self.spent));
        // Reading descriptors has a limit of its own.
        let descriptors = std::mem::take(&mut self.descriptors_now);
        let cost = cpu_time().saturating_sub(before);
        self.cost += cost;
        self.spent += cost.saturating_sub(descriptors);
        self.next = now + self.pace.every;
    }

    /// Takes a sample for the time that is left to spend: of the known connections if they are few, else of all.
    fn sample(&mut self, left: Duration) {
        let known_cost = self.one_cost * self.tracked.len() as u32;
        let every = if self.tracked.is_empty() { self.pace.all_every_without } else { self.pace.all_every };
        let is_due = self.is_churning || self.all_at.is_none_or(|at| at.elapsed() >= every);
        // While connections come and go, those known are not all that there are, and count too little.
        let is_all = self.is_churning || is_due && self.all_cost <= left || known_cost >= self.all_cost;
        let cost = if is_all { self.all_cost } else { known_cost };
        if cost > left {
            return;
        }
        let at = self.begin.elapsed().as_secs_f64();
        let sample = self.weights.len();
        self.weights.push(at - self.last_at);
        self.last_at = at;
        if is_all {
            self.sample_all(sample, at);
        } else {
            self.sample_known(sample, at);
        }
        let every = if self.look_ups > 0.0 { UDP_EVERY } else { UDP_EVERY_WITHOUT };
        if self.pace.every < UDP_EVERY_WITHOUT && self.udp_at.is_none_or(|(time, _)| time.elapsed() >= every) {
            self.sample_udp(at);
        }
        if self.unix_at.is_none_or(|at| at.elapsed() >= UNIX_EVERY) {
            self.sample_unix();
        }
    }

    fn sample_known(&mut self, sample: usize, at: f64) {
        let before = cpu_time();
        let identities: Vec<Identity> = self.tracked.values().map(|one| one.identity).collect();
        let mut found = Vec::with_capacity(identities.len());
        if self.reader.these(&identities, |_, one| found.extend(one)).is_err() {
            return;
        }
        found.retain(|one| one.inode != 0 && self.tracked.contains_key(&one.inode));
        self.take(sample, at, found);
        if !identities.is_empty() {
            self.one_cost = (self.one_cost + cpu_time().saturating_sub(before) / identities.len() as u32) / 2;
        }
    }

    fn sample_all(&mut self, sample: usize, at: f64) {
        let before = cpu_time();
        let mut found = Vec::new();
        let states = ESTABLISHED | SYN_SENT | CLOSE_WAIT | LISTEN;
        if self.reader.all(states, |one| found.push(one)).is_err() {
            return;
        }
        self.all_at = Some(Instant::now());
        let is_unknown = |one: &TcpConnection| {
            one.inode != 0 && !self.sockets.contains(&u64::from(one.inode)) && !self.foreign.contains(&one.inode)
        };
        if found.iter().any(is_unknown) && self.read_descriptors() {
            self.foreign =
                found.iter().map(|one| one.inode).filter(|inode| !self.sockets.contains(&u64::from(*inode))).collect();
        }
        self.listening.clear();
        for one in found.iter().filter(|one| one.state == LISTEN) {
            self.listening.insert(one.local);
            if self.sockets.contains(&u64::from(one.inode)) {
                self.own_ports.insert(one.local.1);
            }
        }
        // What the process calls itself is counted once, as served.
        let calls_itself = |one: &TcpConnection| self.own_ports.contains(&one.peer.1) && one.peer.0 == one.local.0;
        found.retain(|one| one.state != LISTEN && self.sockets.contains(&u64::from(one.inode)) && !calls_itself(one));
        let new = found.iter().filter(|one| !self.tracked.contains_key(&one.inode)).count();
        self.is_churning = self.pace.follows_churn && sample > 0 && new > 0;
        self.take(sample, at, found);
        self.all_cost = cpu_time().saturating_sub(before).saturating_sub(self.descriptors_now);
    }

    /// Reads the process's descriptors if that is affordable. Returns true if it did.
    fn read_descriptors(&mut self) -> bool {
        let every = self.descriptors_cost.div_f64(DESCRIPTORS_SHARE_MAX);
        if self.descriptors_at.is_some_and(|at| at.elapsed() < every) {
            return false;
        }
        let before = cpu_time();
        self.sockets = sockets_of(&self.process);
        self.descriptors_cost = cpu_time().saturating_sub(before);
        self.descriptors_now = self.descriptors_cost;
        self.descriptors_at = Some(Instant::now());
        true
    }

    /// Takes the connections of the process at a sample.
    fn take(&mut self, sample: usize, at: f64, found: Vec<TcpConnection>) {
        let weight = self.weights[sample];
        for one in &found {
            self.take_one(sample, at, weight, one);
        }
        let gone: Vec<u32> =
            self.tracked.iter().filter(|(_, one)| one.seen_in != sample).map(|(inode, _)| *inode).collect();
        for inode in gone {
            if let Some(mut one) = self.tracked.remove(&inode) {
                let group = &mut self.groups[one.group];
                if let Some(dialogue) = &mut one.dialogue {
                    dialogue.close(sample, at, &mut group.timeline);
                }
                group.finish(&one);
            }
        }
    }

    fn take_one(&mut self, sample: usize, at: f64, weight: f64, one: &TcpConnection) {
        let is_first = sample == 0;
        let is_known = self.tracked.get(&one.inode).is_some_and(|known| known.identity == one.identity);
        if !is_known {
            let side = self.side(one);
            let group = if side == Side::Accepted { INBOUND } else { self.group(one.peer) };
            let tracked = Tracked {
                identity: one.identity,
                group,
                dialogue: Some(Dialogue::new(side)),
                first: if is_first { one.info } else { TcpInfo::default() },
                last: one.info,
                is_new: !is_first,
                unread_since: None,
                seen_in: sample,
            };
            self.tracked.insert(one.inode, tracked);
        }
        let Some(tracked) = self.tracked.get_mut(&one.inode) else { return };
        let group = &mut self.groups[tracked.group];
        tracked.seen_in = sample;
        if one.state == SYN_SENT {
            group.connecting += weight;
            group.connecting_again += if one.retries > 0 { weight } else { 0.0 };
            return;
        }
        group.connections += weight;
        let seen = Sample { at, unread: one.unread, info: one.info };
        if let Some(dialogue) = &mut tracked.dialogue {
            // A connection that the peer has closed may be left open here for good.
            if one.state == ESTABLISHED || dialogue.side == Side::Accepted {
                dialogue.step(sample, seen, &mut group.timeline);
            }
        }
        if one.unread == 0 {
            tracked.unread_since = None;
        } else {
            let since = *tracked.unread_since.get_or_insert(at);
            if at > since || one.info.received_ms >= UNREAD_MS {
                group.unread += weight;
                let age = f64::from(one.info.received_ms) / 1000.0;
                group.unread_seconds = group.unread_seconds.max((at - since).max(age));
            }
        }
        group.wire(weight, one);
        tracked.last = one.info;
    }

    /// Returns the side of the process: a port that listens was connected to.
    fn side(&self, one: &TcpConnection) -> Side {
        let any = |local: &Address| match local.0 {
            IpAddr::V4(_) => IpAddr::from([0u8; 4]),
            IpAddr::V6(_) => IpAddr::from([0u8; 16]),
        };
        let (local, port) = one.local;
        // A socket of IPv6 may take connections of IPv4.
        let places = [(local, port), (any(&one.local), port), (IpAddr::from([0u8; 16]), port)];
        let is_listening = places.iter().any(|place| self.listening.contains(place));
        if one.state != SYN_SENT && is_listening { Side::Accepted } else { Side::Called }
    }

    fn group(&mut self, peer: Address) -> usize {
        if let Some(group) = self.peers.get(&peer) {
            return *group;
        }
        if self.peers.len() >= PEERS_MAX {
            return OTHERS;
        }
        self.groups.push(Group::default());
        self.peers.insert(peer, self.groups.len() - 1);
        self.groups.len() - 1
    }

    /// Counts look-ups of names: resolvers connect a socket for the time of a look-up.
    fn sample_udp(&mut self, at: f64) {
        const NAME_SERVICE: u16 = 53;
        let weight = self.udp_at.map_or(0.0, |(_, last)| at - last);
        self.udp_at = Some((Instant::now(), at));
        let mut inodes = Vec::new();
        let read = self.reader.connected_udp(|one| inodes.extend((one.peer.1 == NAME_SERVICE).then_some(one.inode)));
        if read.is_err() || inodes.is_empty() {
            return;
        }
        if inodes.iter().any(|inode| !self.sockets.contains(&u64::from(*inode)) && !self.foreign.contains(inode))
            && self.read_descriptors()
        {
            self.foreign.extend(inodes.iter().filter(|inode| !self.sockets.contains(&u64::from(**inode))));
        }
        let own = inodes.iter().filter(|inode| self.sockets.contains(&u64::from(**inode))).count();
        self.look_ups += own as f64 * weight;
    }

    fn sample_unix(&mut self) {
        self.unix_at = Some(Instant::now());
        let Some(reader) = &mut self.unix else { return };
        let mut all: HashMap<u32, UnixSocket> = HashMap::new();
        if reader.all(|one| drop(all.insert(one.inode, one))).is_err() {
            self.unix = None;
            return;
        }
        self.unix_samples += 1;
        for (inode, one) in &all {
            if !self.sockets.contains(&u64::from(*inode)) || self.sockets.contains(&u64::from(one.peer)) {
                continue;
            }
            let peer = all.get(&one.peer).cloned().unwrap_or_default();
            let unread_there = peer.unread;
            let entry = self.unix_peers.entry(*inode).or_insert((UnixSocket::default(), 0, 0.0, 0.0));
            entry.0 = UnixSocket { peer: one.peer, name: one.name.clone().or(peer.name), ..one.clone() };
            entry.1 = u32::from(one.name.is_none());
            entry.2 += f64::from(u32::from(one.unread > 0));
            entry.3 += f64::from(u32::from(unread_there > 0));
        }
    }

    /// Ends the measurement, and returns only the requests that were served, which costs less.
    pub fn finish_inbound(mut self) -> Inbound {
        // The last requests, at any pace.
        self.sample(BURST);
        let (samples, seconds) = (self.weights.len(), self.weights.iter().sum::<f64>().max(0.001));
        self.count_time_wait();
        self.finish_open(samples);
        self.inbound(seconds)
    }

    /// Ends the measurement, and returns the requests.
    pub fn finish(mut self) -> Requests {
        let before = cpu_time();
        let samples = self.weights.len();
        let seconds = self.weights.iter().sum::<f64>().max(0.001);
        self.count_time_wait();
        self.finish_open(samples);
        for group in 2..self.groups.len() {
            let timeline = self.groups[group].timeline.clone();
            self.all_outbound.join(&timeline);
        }
        let timeline = self.groups[OTHERS].timeline.clone();
        self.all_outbound.join(&timeline);
        let names = self.names_of_peers();
        let mut outbound: Vec<PeerRequests> = self
            .peers
            .iter()
            .map(|(peer, group)| PeerRequests {
                peer: peers::address_text(*peer),
                process: names.get(peer).cloned(),
                ..self.peer_requests(&self.groups[*group], &self.groups[*group].timeline, seconds)
            })
            .collect();
        outbound.sort_by(|a, b| {
            let weight = |one: &PeerRequests| one.outstanding + one.connecting;
            weight(b)
                .total_cmp(&weight(a))
                .then_with(|| b.requests.total_cmp(&a.requests))
                .then_with(|| a.peer.cmp(&b.peer))
        });
        let mut all = Group::default();
        self.groups.iter().skip(1).for_each(|group| all.join(group));
        let all_outbound = PeerRequests {
            peer: format!("{} peers", self.peers.len()),
            is_poll: !outbound.is_empty() && outbound.iter().all(|one| one.is_poll || one.outstanding < 0.05),
            ..self.peer_requests(&all, &self.all_outbound, seconds)
        };
        let wire = self.wire(seconds);
        outbound.truncate(PEERS_SHOWN);
        let (inbound, unix) = (self.inbound(seconds), self.unix());
        let mut ports: Vec<u16> = self.own_ports.iter().copied().collect();
        ports.sort_unstable();
        Requests {
            samples,
            cost_seconds: (self.cost + cpu_time().saturating_sub(before)).as_secs_f64(),
            is_server: !ports.is_empty() || inbound.connections > 0.0,
            ports,
            inbound,
            outbound,
            all_outbound,
            look_ups: self.look_ups / seconds,
            unix,
            wire,
        }
    }

    /// Decides which requests under way at the end count: those not older than any answered one by far.
    fn finish_open(&mut self, samples: usize) {
        const OF_LONGEST: f64 = 3.0;
        let tracked = std::mem::take(&mut self.tracked);
        for one in tracked.values() {
            self.groups[one.group].finish(one);
        }
        let longest: Vec<f64> = self.groups.iter().map(|group| group.tally.clean.longest).collect();
        for mut one in tracked.into_values() {
            let group = &mut self.groups[one.group];
            let Some(dialogue) = &mut one.dialogue else { continue };
            let Some((age, since)) = dialogue.open_since() else { continue };
            if age <= longest[one.group] * OF_LONGEST {
                dialogue.confirm_open(samples, &mut group.timeline);
            } else {
                group.held.push((age, since > 0.0));
            }
        }
    }

    fn mean(&self, timeline: &Timeline, seconds: f64) -> f64 {
        self.weights.iter().enumerate().map(|(n, weight)| timeline.at(n) * weight).sum::<f64>() / seconds
    }

    fn inbound(&self, seconds: f64) -> Inbound {
        let group = &self.groups[INBOUND];
        let under_way = self.mean(&group.timeline, seconds);
        Inbound {
            connections: group.connections / seconds,
            opened: group.opened,
            requests: group.exchanges(),
            under_way,
            mean_seconds: group.mean_seconds(under_way, seconds),
            longest_seconds: group.tally.clean.longest,
            is_poll: group.tally.is_poll() && group.sent_bytes / group.exchanges().max(1.0) <= NO_NEWS_BYTES,
            unread: group.unread / seconds,
            unread_seconds: group.unread_seconds,
            held: group.held.len(),
            held_new: group.held.iter().filter(|(_, is_new)| *is_new).count(),
            held_seconds: group.held.iter().map(|(age, _)| *age).fold(0.0, f64::max),
            received_bytes: group.received_bytes,
            sent_bytes: group.sent_bytes,
        }
    }

    fn peer_requests(&self, group: &Group, timeline: &Timeline, seconds: f64) -> PeerRequests {
        let outstanding = self.mean(timeline, seconds);
        let served = &self.groups[INBOUND].timeline;
        let each = || self.weights.iter().enumerate().map(|(n, weight)| (timeline.at(n), served.at(n), weight));
        let inbound: f64 = each().map(|(_, served, weight)| served * weight).sum();
        let both: f64 = each().map(|(waits, served, weight)| waits.min(served) * weight).sum();
        let waiting: f64 = each().map(|(waits, _, weight)| if waits > 0.0 { *weight } else { 0.0 }).sum();
        PeerRequests {
            connections: group.connections / seconds,
            opened: group.opened,
            requests: group.exchanges(),
            outstanding,
            is_multiplexed: group.tally.is_multiplexed(),
            mean_seconds: group.mean_seconds(outstanding, seconds),
            longest_seconds: group.tally.clean.longest,
            covered: both / inbound.max(1e-9),
            waiting_share: waiting / seconds,
            is_poll: group.tally.is_poll(),
            unread: group.unread / seconds,
            held: group.held.len(),
            held_seconds: group.held.iter().map(|(age, _)| *age).fold(0.0, f64::max),
            connecting: group.connecting / seconds,
            connecting_again: group.connecting_again / seconds,
            rtt_seconds: f64::from(group.rtt_us) / 1e6,
            ..PeerRequests::default()
        }
    }

    fn wire(&self, seconds: f64) -> Wire {
        let names = self.peers.iter().map(|(peer, group)| (peers::address_text(*peer), *group));
        let groups: Vec<(String, usize)> =
            names.chain([("clients".to_owned(), INBOUND), ("peers".to_owned(), OTHERS)]).collect();
        let mut wire = Wire::default();
        let (mut smallest, mut lossiest) = (0.0, 0);
        for (name, n) in groups {
            let group = &self.groups[n];
            if group.limited / seconds > 0.01 {
                wire.closed_windows.push(SlowReceiver {
                    peer: name.clone(),
                    is_accepted: n == INBOUND,
                    limited: group.limited / seconds,
                    unsent_bytes: group.unsent / seconds,
                    bytes_per_second: group.sent_bytes / seconds,
                });
            }
            if group.small > smallest {
                smallest = group.small;
                wire.small_waits_peer = name.clone();
                wire.small_seconds = f64::from(group.small_ms) / 1000.0;
                wire.small_rtt_seconds = f64::from(group.rtt_us) / 1e6;
            }
            if group.retransmitted > lossiest {
                lossiest = group.retransmitted;
                wire.lossy_peer = name;
            }
            wire.small_waits += group.small / seconds;
            wire.small_seen += group.small_seen;
            wire.segments += group.segments;
            wire.retransmitted += group.retransmitted;
            wire.recovering += group.recovering / seconds;
        }
        wire.closed_windows.sort_by(|a, b| b.limited.total_cmp(&a.limited));
        wire
    }

    /// Adds connections that were opened and closed between two samples: their side that closed first is in TIME_WAIT.
    /// The kernel does not say whose they were, so peers count that the process opened connections to.
    fn count_time_wait(&mut self) {
        let since = TIME_WAIT_MS - self.begin.elapsed().as_secs_f64() * 1000.0;
        // Without a port and a peer, none of them can be the process's.
        if since <= 0.0 || self.own_ports.is_empty() && self.peers.is_empty() {
            return;
        }
        let mut counts: HashMap<usize, f64> = HashMap::new();
        let (peers, ports) = (&self.peers, &self.own_ports);
        let read = self.reader.all(TIME_WAIT, |one| {
            if f64::from(one.expires_ms) < since {
                return;
            }
            let group = if ports.contains(&one.local.1) || ports.contains(&one.peer.1) {
                Some(INBOUND)
            } else {
                peers.get(&one.peer).or_else(|| peers.get(&one.local)).copied()
            };
            if let Some(group) = group {
                *counts.entry(group).or_default() += 1.0;
            }
        });
        if read.is_ok() {
            for (group, count) in counts {
                let group = &mut self.groups[group];
                // A connection that was seen may be among them.
                if group.opened > 0.0 {
                    group.unseen = (count - group.opened).max(0.0);
                    group.opened += group.unseen;
                }
            }
        }
    }

    /// Returns the processes of this network namespace behind the peers: the one that listens there, or owns the other
    /// end of a connection.
    fn names_of_peers(&mut self) -> HashMap<Address, String> {
        let mut inodes: HashMap<Address, (bool, u32)> = HashMap::new();
        let (peers, own) = (&self.peers, &self.sockets);
        let read = self.reader.all(ESTABLISHED | CLOSE_WAIT | LISTEN, |one| {
            if one.inode == 0 || own.contains(&u64::from(one.inode)) && one.state != LISTEN {
                return;
            }
            let (is_listening, port) = (one.state == LISTEN, one.local.1);
            for peer in peers.keys().filter(|peer| peer.1 == port) {
                let fits = one.local.0 == peer.0 || is_listening && one.local.0.is_unspecified() && is_here(peer.0);
                let is_better = inodes.get(peer).is_none_or(|(listens, _)| is_listening && !listens);
                if fits && is_better {
                    inodes.insert(*peer, (is_listening, one.inode));
                }
            }
        });
        if read.is_err() || inodes.is_empty() {
            return HashMap::new();
        }
        let owners = peers::owners(&inodes.values().map(|(_, inode)| *inode).collect::<Vec<_>>());
        let name = |(peer, (_, inode)): (&Address, &(bool, u32))| Some((*peer, peers::name(*owners.get(inode)?)?));
        inodes.iter().filter_map(name).collect()
    }

    fn unix(&self) -> Vec<UnixPeer> {
        let inodes: Vec<u32> = self.unix_peers.values().map(|(one, ..)| one.peer).filter(|peer| *peer > 0).collect();
        let owners = if inodes.is_empty() { HashMap::new() } else { peers::owners(&inodes) };
        let mut sums: HashMap<(String, Option<u32>, bool), UnixPeer> = HashMap::new();
        for (one, is_called, unread, unread_there) in self.unix_peers.values() {
            let owner = owners.get(&one.peer).copied().filter(|pid| *pid != self.process.pid);
            let key = (one.name.clone().unwrap_or_default(), owner, *is_called == 1);
            let sum = sums.entry(key).or_default();
            sum.connections += 1;
            sum.unread += unread / self.unix_samples.max(1) as f64;
            sum.unread_there += unread_there / self.unix_samples.max(1) as f64;
        }
        let of = |((name, owner, is_called), sum): ((String, Option<u32>, bool), UnixPeer)| UnixPeer {
            name,
            process: owner.and_then(peers::name),
            is_called,
            ..sum
        };
        let mut all: Vec<UnixPeer> = sums.into_iter().map(of).collect();
        all.sort_by(|a, b| b.connections.cmp(&a.connections).then_with(|| a.name.cmp(&b.name)));
        all.truncate(PEERS_SHOWN);
        all
    }
}

/// Returns true if a listener on any address of this namespace may serve the address.
fn is_here(address: IpAddr) -> bool {
    address.is_loopback()
}

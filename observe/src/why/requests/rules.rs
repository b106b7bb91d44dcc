//! Causes in a process's requests: no demand, a slow peer, connections that are not reused or not established.

use super::{PeerRequests, Requests};
use crate::why::account::waiting::{Waiting, shown};
use crate::why::causes::finding::{Finding, percent, while_processors_are_free};
use crate::why::causes::processor::repeated::{handshakes, set_up};
use crate::why::causes::waits::held::lock_tried_again;
use crate::why::facts::Facts;

/// Processors below which a process has nothing to do.
const IDLE_PROCESSORS: f64 = 0.05;
/// Requests or waits at a time up to which a process counts as without work.
const IDLE_WAITS: f64 = 0.1;
/// Share of the time for which threads of an idle process may have been ready without a processor.
const IDLE_QUEUED: f64 = 0.3;
/// Answers outstanding at a time from which on they count. A process that sends a request now and then waits for its
/// answer without being held up.
const OUTSTANDING_MIN: f64 = 0.3;
/// Mean time of an answer from which on it counts as slow. A healthy neighbour in the same network answers faster.
const SLOW_SECONDS: f64 = 0.002;
/// Requests under way at a time from which on peers are judged by them.
const SERVED_MIN: f64 = 0.2;

/// Ports of servers that hold an answer back until there is work: Kafka, RabbitMQ, MQTT, NATS, ActiveMQ, Pulsar,
/// beanstalkd, ZooKeeper, etcd, Redis (blocking commands).
const QUEUE_PORTS: [u16; 17] =
    [9092, 9093, 9094, 5671, 5672, 1883, 8883, 4222, 61613, 61616, 6650, 6651, 11300, 2181, 2379, 6379, 6380];
/// Mean time of an answer of such a server from which on it holds answers back.
const QUEUE_SECONDS: f64 = 0.02;

/// Threads that wait for peers, for each outstanding answer, from which on they wait for these answers.
const OF_ANSWERS_MIN: f64 = 0.7;

/// Returns true if a peer holds back answers until there is work, and the process serves nobody in the meantime.
fn is_for_work(peer: &PeerRequests, is_serving: bool) -> bool {
    let port = peer.peer.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
    let is_queue = port.is_some_and(|port| QUEUE_PORTS.contains(&port)) && peer.mean_seconds >= QUEUE_SECONDS;
    !is_serving && (peer.is_poll || is_queue)
}

/// Process without demand.
pub struct Idle {
    pub sentence: String,
    /// True if nothing outside could bring it work: its own sleeps set its pace.
    pub is_at_own_pace: bool,
}

/// Returns what is known of a process without demand; `None` if it has work, or if something holds its work up.
///
/// A process below 0.05 processors is idle if no request is under way, no answer is outstanding but polls, and no
/// thread waits for a disk, a lock or a name.
pub fn is_idle(facts: &Facts) -> Option<Idle> {
    let seconds = facts.seconds.max(0.001);
    let processors = facts.cpu_seconds() / seconds;
    let is_held_up = facts.queued_seconds / seconds > IDLE_QUEUED || facts.throttling.throttled_periods > 0;
    if facts.requests.samples == 0
        || processors >= IDLE_PROCESSORS
        || is_held_up
        || lock_tried_again(facts).is_some()
        || facts.disk_waits.values().sum::<f64>() > IDLE_WAITS
    {
        return None;
    }
    let waits = [Waiting::Lock, Waiting::Resource, Waiting::Result, Waiting::NameService, Waiting::File];
    if waits.iter().any(|wait| facts.threads_waiting(*wait) > IDLE_WAITS) {
        return None;
    }
    let requests = &facts.requests;
    let inbound = &requests.inbound;
    let is_served = inbound.under_way > IDLE_WAITS && !inbound.is_poll;
    if is_served || inbound.unread > IDLE_WAITS || inbound.held_new > 0 {
        return None;
    }
    let is_open = |peer: &&PeerRequests| {
        !is_for_work(peer, false) && peer.outstanding > IDLE_WAITS || peer.connecting > IDLE_WAITS
    };
    if requests.look_ups > IDLE_WAITS || requests.outbound.iter().any(|peer| is_open(&peer)) {
        return None;
    }
    // A thread that waits for a peer outside of the connections above, or for one that never answered.
    let is_known = |name: &str| {
        let known = requests.outbound.iter().find(|peer| peer.peer == name);
        known.is_some_and(|peer| is_for_work(peer, false) || peer.held > 0)
    };
    if facts.peers.iter().any(|(peer, waited)| waited / seconds > IDLE_WAITS && !is_known(peer)) {
        return None;
    }
    Some(own_pace(facts, processors).unwrap_or_else(|| Idle {
        sentence: idle_sentence(requests, processors, facts.event_loop.as_ref().is_some_and(|one| one.was_opened)),
        is_at_own_pace: false,
    }))
}

/// Threads that sleep at a time, on average, from which on sleeps may set the pace.
const ASLEEP_MIN: f64 = 0.9;

/// Returns the sentence for a process that nothing outside could bring work, and that sleeps: its work comes at the
/// pace of its own sleeps.
fn own_pace(facts: &Facts, processors: f64) -> Option<Idle> {
    let requests = &facts.requests;
    let has_source = requests.is_server || !requests.outbound.is_empty() || requests.unix.iter().any(|p| p.is_called);
    let asleep = facts.threads_waiting(Waiting::Sleep);
    let (place, _) = facts.waits_in(Waiting::Sleep)?;
    (!has_source && asleep >= ASLEEP_MIN).then(|| Idle {
        is_at_own_pace: true,
        sentence: format!(
            "It is idle: it uses {processors:.3} processors, and no connection could bring it work. Its own sleeps set \
             its pace: {asleep:.1} threads at a time are asleep, mostly in {}; if they poll for work, that is what it \
             waits for.",
            shown(&place)
        ),
    })
}

/// Port of Node's inspector, which the measurement opens.
const INSPECTOR: u16 = 9229;

fn idle_sentence(requests: &Requests, processors: f64, is_inspected: bool) -> String {
    let mut sentence = format!("It is idle: no work arrives, and it uses {processors:.3} processors");
    if requests.is_server {
        let own = requests.ports.iter().filter(|port| !is_inspected || **port != INSPECTOR);
        let ports: Vec<String> = own.take(3).map(u16::to_string).collect();
        let place = if ports.is_empty() { String::new() } else { format!(" on port {}", ports.join(", ")) };
        sentence += &format!("; no request is under way{place} at its {:.0} connections", requests.inbound.connections);
    }
    let for_work = |peer: &&PeerRequests| is_for_work(peer, false) && peer.outstanding > IDLE_WAITS;
    if let Some(peer) = requests.outbound.iter().find(for_work) {
        let always = if peer.is_poll { " always" } else { "" };
        sentence += &format!(
            "; it waits for work from {}, whose answers{always} take {} each",
            peer.name(),
            duration(peer.mean_seconds)
        );
    }
    if requests.inbound.held > 0 {
        sentence += &format!(
            "; {} older requests have no answer for up to {}: long polls by design, or requests that hang",
            requests.inbound.held,
            duration(requests.inbound.held_seconds)
        );
    } else if let Some(held) = requests.outbound.iter().find(|peer| peer.held > 0) {
        sentence += &format!(
            "; {} has not answered for {}, by design or because it hangs",
            held.name(),
            duration(held.held_seconds)
        );
    }
    sentence + "."
}

/// Returns a time as text: `31 ms`, `2.4 s`.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.000_95 => format!("{:.1} ms", s * 1e3),
        s if s < 0.0095 => format!("{:.1} ms", s * 1e3),
        s if s < 0.95 => format!("{:.0} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}

/// A peer whose answers are outstanding while requests of the process wait, with or without threads of theirs.
pub fn outstanding(facts: &Facts) -> Option<Finding> {
    let requests = &facts.requests;
    let served = requests.inbound.under_way;
    let is_serving = served >= SERVED_MIN;
    let share = |peer: &PeerRequests| if is_serving { peer.covered } else { peer.waiting_share };
    let one = requests.outbound.iter().find(|peer| !is_for_work(peer, is_serving))?;
    // Many peers with the same role, such as the nodes of a cluster, are one remote.
    let all = &requests.all_outbound;
    let is_one = one.outstanding >= all.outstanding * 0.5;
    let peer = if is_one { one } else { all };
    let is_slow = peer.mean_seconds >= SLOW_SECONDS || peer.is_multiplexed;
    if peer.outstanding < OUTSTANDING_MIN || !is_slow || all.is_poll && !is_serving {
        return None;
    }
    // A process that works for others, such as a proxy, has its time there by nature: the sentence says so.
    let passes_on = is_serving
        && peer.requests > 0.0
        && (0.8..=1.25).contains(&(peer.requests / requests.inbound.requests.max(1.0)));
    let name = if is_one { one.name() } else { format!("{}, mostly {}", all.peer, one.name()) };
    let each = if peer.is_multiplexed {
        "at least, since requests share connections".to_owned()
    } else {
        format!("{} each", duration(peer.mean_seconds))
    };
    let mut sentence =
        format!("A remote bounds it: {:.1} answers at a time are outstanding from {name}, {each}", peer.outstanding);
    if is_serving {
        sentence += &format!(", {} of the time of its own requests", percent(share(peer)));
    }
    let per_request = peer.requests / requests.inbound.requests.max(1.0);
    if is_serving && per_request >= 5.0 && requests.inbound.requests >= 3.0 {
        sentence += &format!("; it sends {per_request:.0} requests there for each of its own");
    } else if passes_on {
        sentence += "; it passes one request on for each that it gets";
    }
    if !is_serving && facts.threads_waiting(Waiting::Network) >= peer.outstanding * OF_ANSWERS_MIN {
        sentence += &facts.in_place(Waiting::Network);
    }
    let mut evidence: Vec<String> = requests.outbound.iter().take(4).map(row).collect();
    if is_serving {
        evidence.insert(
            0,
            format!(
                "{served:.1} requests under way at a time, {:.0} per second, {} each",
                requests.inbound.requests / facts.seconds.max(0.001),
                duration(requests.inbound.mean_seconds)
            ),
        );
    }
    Some(Finding {
        cause: "slow-remote",
        cost: share(peer) * while_processors_are_free(facts),
        sentence: sentence + ".",
        evidence,
        cure: if is_serving && per_request >= 5.0 {
            "fetch in one call what now takes many (a join, IN (..), a batch), send them at once, or cache answers"
        } else {
            "find the cause there; here, make fewer calls, several at once, or cache answers"
        }
        .to_owned(),
    })
}

fn row(peer: &PeerRequests) -> String {
    let mut row = format!(
        "{}: {:.1} answers outstanding at a time, {:.0} answered, {} each, at most {}",
        peer.name(),
        peer.outstanding,
        peer.requests,
        duration(peer.mean_seconds),
        duration(peer.longest_seconds)
    );
    if peer.rtt_seconds > 0.0 {
        row += &format!("; the network takes {}", duration(peer.rtt_seconds));
    }
    row
}

/// Connections opened per second from which on their rate counts.
const OPENED_MIN: f64 = 20.0;
/// Turns of a connection up to which it is not reused: TLS, a login, and one request.
const REQUESTS_OF_ONE: f64 = 4.0;
/// Round trips for a new connection: one for TCP, one for the sockets on both sides to be set up.
const ROUND_TRIPS: f64 = 2.0;

/// Share of the processor time in TLS handshakes from which on new connections are secured.
const HANDSHAKES_MIN: f64 = 0.1;
/// Turns of a connection with TLS 1.3 and one request.
const TURNS_WITH_TLS: f64 = 2.0;

/// Connections that carry one request each.
pub fn connection_per_request(facts: &Facts) -> Option<Finding> {
    let seconds = facts.seconds.max(0.001);
    let of =
        |peer: &&PeerRequests| peer.opened / seconds >= OPENED_MIN && peer.requests / peer.opened <= REQUESTS_OF_ONE;
    let peer = facts.requests.outbound.iter().filter(of).max_by(|a, b| a.opened.total_cmp(&b.opened))?;
    // The time until a connection is established, of the time of the whole call.
    let rate = peer.opened / seconds;
    // All turns but the last one prepare it. Samples miss some of the turns of connections that live for milliseconds.
    let handshakes = handshakes(facts);
    let is_secured = handshakes >= HANDSHAKES_MIN;
    let turns = (peer.requests / peer.opened).max(if is_secured { TURNS_WITH_TLS } else { 1.0 });
    let opening = peer.connecting + rate * peer.rtt_seconds * ROUND_TRIPS + peer.outstanding * (1.0 - 1.0 / turns);
    Some(Finding {
        cause: "connection-per-request",
        cost: opening / (opening + peer.outstanding / turns).max(0.001) * while_processors_are_free(facts),
        sentence: format!(
            "A new connection for each request bounds it: {rate:.0} connections per second are opened to {}, each for \
             one request{}.",
            peer.name(),
            match (is_secured, set_up(facts)) {
                (true, _) => " and with a TLS handshake of its own".to_owned(),
                (_, Some(built)) => format!("; each builds anew what could be kept: {built}"),
                _ => String::new(),
            }
        ),
        evidence: vec![
            format!("{:.2} connections at a time are not established yet", peer.connecting),
            format!(
                "the network takes {}, a new connection at least two of it, more with TLS",
                duration(peer.rtt_seconds)
            ),
            format!("TLS handshakes take {} of the processor time", percent(handshakes)),
        ],
        cure: "keep connections open and reuse them: a pool, a shared client or session, HTTP keep-alive".to_owned(),
    })
}

/// Connections that are not established, because the peer does not answer at all.
pub fn unanswered_connects(facts: &Facts) -> Option<Finding> {
    let peer = facts.requests.outbound.iter().max_by(|a, b| a.connecting_again.total_cmp(&b.connecting_again))?;
    let waiting = peer.connecting_again;
    if waiting < OUTSTANDING_MIN {
        return None;
    }
    let busy = facts.requests.inbound.under_way.max(facts.busy_threads()).max(waiting);
    Some(Finding {
        cause: "unanswered-connects",
        cost: waiting / busy.max(0.01) * while_processors_are_free(facts),
        sentence: format!(
            "{} does not answer: {waiting:.1} connections at a time wait to be established, and repeat their first \
             segment after a second or more.",
            peer.name()
        ),
        evidence: vec![format!("{:.1} connections to it are established", peer.connections)],
        cure: "a firewall that drops, a host that is down, or a full accept queue there; here, a shorter connect \
             timeout and fewer attempts"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::Inbound;
    use super::*;

    fn peer(port: u16, outstanding: f64, mean_seconds: f64) -> PeerRequests {
        PeerRequests {
            peer: format!("127.0.0.1:{port}"),
            process: Some("postgres 4711".to_owned()),
            outstanding,
            mean_seconds,
            requests: outstanding / mean_seconds * 10.0,
            waiting_share: outstanding.min(1.0),
            ..PeerRequests::default()
        }
    }

    /// A process with 0.1 processors' work, requests under way, and one peer.
    fn facts(under_way: f64, covered: f64, peer: PeerRequests) -> Facts {
        let peer = PeerRequests { covered, ..peer };
        let inbound = Inbound { under_way, requests: 100.0, mean_seconds: under_way / 10.0, ..Inbound::default() };
        let all_outbound = PeerRequests { peer: "1 peers".to_owned(), ..peer.clone() };
        let requests = Requests {
            samples: 400,
            is_server: under_way > 0.0,
            inbound,
            outbound: vec![peer],
            all_outbound,
            ..Requests::default()
        };
        Facts { seconds: 10.0, processors: 2.0, user_seconds: 1.0, requests, ..Facts::default() }
    }

    #[test]
    fn a_slow_peer_of_a_server() {
        let found = outstanding(&facts(30.0, 0.97, peer(5432, 29.3, 0.031))).unwrap();
        assert!(found.cost > 0.9, "{}", found.cost);
        let expected = "29.3 answers at a time are outstanding from postgres 4711 at 127.0.0.1:5432, 31 ms each";
        assert!(found.sentence.contains(expected), "{}", found.sentence);
        // Its requests take their time elsewhere, the answers are prompt, or few.
        assert!(outstanding(&facts(30.0, 0.05, peer(5432, 1.5, 0.031))).unwrap().cost < 0.15);
        assert!(outstanding(&facts(30.0, 0.97, peer(5432, 29.3, 0.0004))).is_none());
        assert!(outstanding(&facts(0.0, 0.0, peer(5432, 0.1, 0.004))).is_none());
        // All processors work.
        let busy = Facts { user_seconds: 20.0, ..facts(30.0, 0.97, peer(5432, 29.3, 0.031)) };
        assert!(outstanding(&busy).unwrap().cost < 0.15);
    }

    #[test]
    fn a_poll_is_no_slow_peer() {
        let poll = |port| PeerRequests { is_poll: true, ..peer(port, 1.0, 0.5) };
        assert!(outstanding(&facts(0.0, 0.0, poll(8080))).is_none());
        assert!(outstanding(&facts(0.0, 0.0, peer(9092, 1.0, 0.13))).is_none());
        assert!(outstanding(&facts(0.0, 0.0, peer(8080, 1.0, 0.13))).is_some());
        // Requests of the process wait for it.
        assert!(outstanding(&facts(1.0, 0.9, poll(8080))).is_some());
        let idle = |facts: Facts| is_idle(&Facts { user_seconds: 0.1, ..facts });
        let sentence = idle(facts(0.0, 0.0, poll(9092))).unwrap().sentence;
        assert!(sentence.contains("waits for work from postgres 4711"), "{sentence}");
        assert!(idle(facts(0.0, 0.0, peer(8080, 1.0, 0.13))).is_none());
    }

    #[test]
    fn idle_without_demand() {
        let none = || facts(0.0, 0.0, peer(5432, 0.0, 0.001));
        assert!(is_idle(&none()).is_none(), "0.1 processors are work");
        let idle = || Facts { user_seconds: 0.2, ..none() };
        assert!(is_idle(&idle()).unwrap().sentence.contains("no work arrives"));
        let with = |change: fn(&mut Facts)| {
            let mut facts = idle();
            change(&mut facts);
            is_idle(&facts)
        };
        assert!(with(|facts| facts.requests.inbound.under_way = 0.5).is_none());
        let poll = |facts: &mut Facts| {
            facts.requests.inbound = Inbound { under_way: 1.0, is_poll: true, ..Inbound::default() }
        };
        assert!(with(poll).is_some());
        assert!(with(|facts| facts.requests.inbound.held_new = 1).is_none());
        assert!(with(|facts| facts.requests.inbound.unread = 1.0).is_none());
        assert!(with(|facts| facts.queued_seconds = 8.0).is_none());
        assert!(with(|facts| facts.peers = vec![("127.0.0.1:9".to_owned(), 5.0)]).is_none());
        assert!(with(|facts| facts.requests.samples = 0).is_none());
        // Web sockets without news.
        let sentence = with(|facts| (facts.requests.inbound.held, facts.requests.inbound.held_seconds) = (40, 70.0));
        assert!(sentence.unwrap().sentence.contains("40 older requests"));
    }

    #[test]
    fn new_connections() {
        let with = |opened: f64, requests: f64| {
            let peer = PeerRequests { opened, requests, rtt_seconds: 0.004, ..peer(80, 0.5, 0.005) };
            connection_per_request(&facts(0.0, 0.0, peer)).map(|found| found.cost)
        };
        assert!(with(1000.0, 1000.0).unwrap() > 0.5);
        assert!(with(1000.0, 9000.0).is_none() && with(50.0, 50.0).is_none());
        let black_hole = PeerRequests { connecting: 3.0, connecting_again: 2.9, ..peer(81, 0.0, 0.001) };
        assert!(unanswered_connects(&facts(0.0, 0.0, black_hole)).unwrap().cost > 0.9);
    }
}

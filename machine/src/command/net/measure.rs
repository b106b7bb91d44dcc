//! Measurement of TCP.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use yunti_base::Result;
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;

use super::Filter;
use super::queues::{Queue, Queues};
use super::time_wait::{self, Waiting};
use yunti_probe::answer::{or_skip, time};
use yunti_probe::kernel::system::{AnswerTimes, NetCounts, Pair, PairCounts, Role};
use yunti_probe::netlink::sock_diag::{self, ESTABLISHED, LISTEN, TIME_WAIT};

/// Interval of `pass`.
pub const PULSE: Duration = Duration::from_millis(100);
const SECOND: Duration = Duration::from_secs(1);

/// Running measurement.
pub struct NetMeasurement {
    counts: NetCounts,
    filter: Filter,
    queues: Queues,
    listening: HashSet<u16>,
    last_line: Instant,
    live: Live,
}

/// Result of a measurement.
pub struct NetSample {
    /// Response times by port, peer and process.
    pub answers: Vec<(Pair, AnswerTimes)>,
    /// Connections of all processes by port and peer.
    pub connections: Vec<(Pair, PairCounts)>,
    /// Accept queues.
    pub queues: Vec<Queue>,
    /// Connections in TIME_WAIT.
    pub waiting: Vec<Waiting>,
    /// Responses and connections that were not counted.
    pub lost: u64,
}

impl NetMeasurement {
    /// Starts a measurement. Parts that fail are added to `skips`.
    pub fn start(filter: Filter, is_live: bool, skips: &mut Vec<String>) -> Result<NetMeasurement> {
        let sockets = or_skip(skips, "accept queues", sock_diag::sockets(LISTEN)).unwrap_or_default();
        let listening: HashSet<u16> = sockets.iter().map(|socket| socket.local.1).collect();
        let counts = NetCounts::start(listening.iter().copied(), skips)?;
        let mut queues = Queues::default();
        queues.take(&sockets, true);
        let live = Live { is_wanted: is_live, begun: Instant::now(), before: BTreeMap::new(), outcome: Ok(()) };
        Ok(NetMeasurement { counts, filter, queues, listening, last_line: Instant::now(), live })
    }

    /// Does the work that is due. Returns false when the measurement must end.
    pub fn pass(&mut self) -> bool {
        // Accept queues fill in bursts, so they are read at each call.
        self.read_queues();
        if self.last_line.elapsed() >= SECOND {
            self.last_line = Instant::now();
            if self.live.is_wanted {
                let answers = self.answers();
                self.live.pass(&answers);
            }
        }
        self.live.outcome.is_ok()
    }

    fn read_queues(&mut self) {
        let sockets = sock_diag::sockets(LISTEN).unwrap_or_default();
        self.listening.extend(sockets.iter().map(|socket| socket.local.1));
        self.queues.take(&sockets, false);
    }

    fn answers(&self) -> Vec<(Pair, AnswerTimes)> {
        let mut all = self.counts.answers();
        all.retain(|(pair, _)| self.filter.has(pair));
        all
    }

    /// Ends the measurement, and returns its result.
    pub fn end(mut self, skips: &mut Vec<String>) -> std::result::Result<NetSample, Failure> {
        std::mem::replace(&mut self.live.outcome, Ok(()))?;
        self.read_queues();
        let answers = self.answers();
        let mut connections = self.counts.counts();
        connections.retain(|(pair, _)| self.filter.has_port(pair.port));
        // With a process filter, only the peers of these processes are kept.
        if !self.filter.pids.is_empty() {
            let used: HashSet<(Role, u16)> = answers.iter().map(|(pair, _)| (pair.role, pair.port)).collect();
            connections.retain(|(pair, _)| used.contains(&(pair.role, pair.port)));
        }
        let sockets = or_skip(skips, "connections in TIME_WAIT", sock_diag::sockets(ESTABLISHED | TIME_WAIT));
        let listening = &self.listening;
        let mut waiting =
            time_wait::waiting(&sockets.unwrap_or_default(), &|port| listening.contains(&port), time_wait::range());
        waiting.retain(|one| self.filter.has_port(one.port));
        let mut queues = self.queues.end();
        queues.retain(|queue| self.filter.has_port(queue.port));
        Ok(NetSample { answers, connections, queues, waiting, lost: self.counts.lost() })
    }
}

/// Prints a line each second: the services with the most responses.
struct Live {
    is_wanted: bool,
    begun: Instant,
    before: BTreeMap<(Role, u16), u64>,
    outcome: Outcome,
}

impl Live {
    fn pass(&mut self, answers: &[(Pair, AnswerTimes)]) {
        const SHOWN: usize = 3;
        let mut sums: BTreeMap<(Role, u16), AnswerTimes> = BTreeMap::new();
        for (pair, times) in answers {
            sums.entry((pair.role, pair.port)).or_default().join(times);
        }
        let moved = |key: &(Role, u16), times: &AnswerTimes| times.count() - self.before.get(key).copied().unwrap_or(0);
        let mut rows: Vec<_> = sums.iter().map(|(key, times)| (moved(key, times), key, times)).collect();
        rows.sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
        let shown: Vec<String> = rows
            .iter()
            .filter(|(count, ..)| *count > 0)
            .take(SHOWN)
            .map(|(count, (role, port), times)| {
                let what = if *role == Role::Service { "responses at" } else { "responses from" };
                format!("{count}/s {what} {port}, 99 % within {} so far", time(times.percentile_ns(0.99)))
            })
            .collect();
        self.outcome = stdout::print(&format!("{:5.0} s  {}\n", self.begun.elapsed().as_secs_f64(), shown.join("; ")));
        self.before = sums.into_iter().map(|(key, times)| (key, times.count())).collect();
    }
}

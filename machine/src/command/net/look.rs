//! A look at TCP from its beginning to its end.

use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

use yunti_base::Result;
use yunti_program::failure::{Failure, Outcome};
use yunti_program::terminal::stdout;

use super::Wanted;
use super::queues::{Queue, Queues};
use super::time_wait::{self, Waiting};
use yunti_probe::answer::{or_skip, time};
use yunti_probe::kernel::system::sock_diag::{self, ESTABLISHED, LISTEN, TIME_WAIT};
use yunti_probe::kernel::system::{AnswerTimes, NetCounts, Pair, PairCounts, Role};

pub const PULSE: Duration = Duration::from_millis(100);
const SECOND: Duration = Duration::from_secs(1);

pub struct Look {
    counts: NetCounts,
    wanted: Wanted,
    queues: Queues,
    listening: HashSet<u16>,
    looked: Instant,
    live: Live,
}

/// What was seen.
pub struct Seen {
    pub answers: Vec<(Pair, AnswerTimes)>,
    /// Of all processes of a pair.
    pub connections: Vec<(Pair, PairCounts)>,
    pub queues: Vec<Queue>,
    pub waiting: Vec<Waiting>,
    pub lost: u64,
}

impl Look {
    pub fn start(wanted: Wanted, is_live: bool, skips: &mut Vec<String>) -> Result<Look> {
        let there = or_skip(skips, "queues of those that listen", sock_diag::sockets(LISTEN)).unwrap_or_default();
        let listening: HashSet<u16> = there.iter().map(|socket| socket.local.1).collect();
        let counts = NetCounts::start(listening.iter().copied(), skips)?;
        let mut queues = Queues::default();
        queues.take(&there, true);
        let live = Live { is_wanted: is_live, begun: Instant::now(), before: BTreeMap::new(), outcome: Ok(()) };
        Ok(Look { counts, wanted, queues, listening, looked: Instant::now(), live })
    }

    pub fn pass(&mut self) -> bool {
        // Queues are full in bursts.
        self.look_at_queues();
        if self.looked.elapsed() >= SECOND {
            self.looked = Instant::now();
            if self.live.is_wanted {
                let answers = self.answers();
                self.live.pass(&answers);
            }
        }
        self.live.outcome.is_ok()
    }

    fn look_at_queues(&mut self) {
        let there = sock_diag::sockets(LISTEN).unwrap_or_default();
        self.listening.extend(there.iter().map(|socket| socket.local.1));
        self.queues.take(&there, false);
    }

    fn answers(&self) -> Vec<(Pair, AnswerTimes)> {
        let mut all = self.counts.answers();
        all.retain(|(pair, _)| self.wanted.has(pair));
        all
    }

    pub fn end(mut self, skips: &mut Vec<String>) -> std::result::Result<Seen, Failure> {
        std::mem::replace(&mut self.live.outcome, Ok(()))?;
        self.look_at_queues();
        let answers = self.answers();
        let mut connections = self.counts.counts();
        connections.retain(|(pair, _)| self.wanted.has_port(pair.port));
        // Of processes that were asked for only those with whom they speak.
        if !self.wanted.pids.is_empty() {
            let spoken: HashSet<(Role, u16)> = answers.iter().map(|(pair, _)| (pair.role, pair.port)).collect();
            connections.retain(|(pair, _)| spoken.contains(&(pair.role, pair.port)));
        }
        let sockets = or_skip(skips, "connections in TIME_WAIT", sock_diag::sockets(ESTABLISHED | TIME_WAIT));
        let listening = &self.listening;
        let mut waiting =
            time_wait::waiting(&sockets.unwrap_or_default(), &|port| listening.contains(&port), time_wait::range());
        waiting.retain(|one| self.wanted.has_port(one.port));
        let mut queues = self.queues.end();
        queues.retain(|queue| self.wanted.has_port(queue.port));
        Ok(Seen { answers, connections, queues, waiting, lost: self.counts.lost() })
    }
}

/// A line each second: the services that answer most.
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
                let what = if *role == Role::Service { "answered at" } else { "answered by" };
                format!("{count}/s {what} {port}, 99 % within {} so far", time(times.percentile_ns(0.99)))
            })
            .collect();
        self.outcome = stdout::print(&format!("{:5.0} s  {}\n", self.begun.elapsed().as_secs_f64(), shown.join("; ")));
        self.before = sums.into_iter().map(|(key, times)| (key, times.count())).collect();
    }
}

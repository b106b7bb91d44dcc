//! Sessions of a PostgreSQL server on this machine that wait for locks. Each session is a process, whose title tells
//! its statement, and `waiting` while it waits for a lock.

use std::fs;
use std::time::Duration;

use crate::why::causes::finding::{Finding, while_processors_are_free};
use crate::why::facts::{Facts, Sessions};
use yunti_probe::target::{Process, processes};

/// Readings of the titles, and the time between two.
const READINGS: u32 = 6;
const EVERY: Duration = Duration::from_millis(50);
/// Waiting sessions at a time, on average, from which on they count.
const WAITING_MIN: f64 = 0.3;
/// Share of the working sessions that wait from which on the lock is the cause, and not the server.
const SHARE_MIN: f64 = 0.5;

/// Reads the sessions of a server that the process waits for, if it is PostgreSQL on this machine.
pub fn sessions(process: &Process, facts: &Facts) -> Option<Sessions> {
    if let Some(own) = own_session(process) {
        return Some(own);
    }
    let peers = facts.requests.outbound.iter().filter(|peer| peer.outstanding >= WAITING_MIN);
    let (peer, server) = peers.filter_map(|peer| Some((peer, server(peer.process.as_deref()?)?))).next()?;
    let mut sessions = Sessions { server: peer.name(), ..Sessions::default() };
    for reading in 0..READINGS {
        if reading > 0 {
            std::thread::sleep(EVERY);
        }
        let of_server = processes().filter(|pid| parent(*pid) == Some(server));
        for title in of_server.filter_map(|pid| fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()) {
            sessions.add(&title);
        }
    }
    for n in [&mut sessions.waiting, &mut sessions.working, &mut sessions.idle_in_transaction] {
        *n /= f64::from(READINGS);
    }
    Some(sessions)
}

/// Reads the title of the process itself, if it is a session.
fn own_session(process: &Process) -> Option<Sessions> {
    let title = || fs::read_to_string(format!("/proc/{}/cmdline", process.pid)).ok();
    title().filter(|title| title.starts_with("postgres:"))?;
    let mut sessions = Sessions::default();
    for _ in 0..READINGS {
        sessions.add(&title()?);
        std::thread::sleep(EVERY);
    }
    sessions.waiting /= f64::from(READINGS);
    sessions.working /= f64::from(READINGS);
    Some(sessions)
}

/// Returns the number of a server's process by its name: `postgres 4711`.
fn server(name: &str) -> Option<u32> {
    let (name, pid) = name.rsplit_once(' ')?;
    name.contains("postgres").then(|| pid.parse().ok()).flatten()
}

fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

impl Sessions {
    /// Adds a session by its title: `postgres: app shop 127.0.0.1(52344) UPDATE waiting`.
    fn add(&mut self, title: &str) {
        let title = title.trim_end_matches(['\0', ' ']);
        let Some((_, state)) = title.strip_prefix("postgres:").and_then(|rest| rest.split_once(") ")) else { return };
        if state.starts_with("idle in transaction") {
            self.idle_in_transaction += 1.0;
        } else if let Some(statement) = state.strip_suffix(" waiting") {
            self.waiting += 1.0;
            self.working += 1.0;
            statement.clone_into(&mut self.statement);
        } else if state != "idle" {
            self.working += 1.0;
        }
    }
}

pub fn database_lock(facts: &Facts) -> Option<Finding> {
    let sessions = facts.details.sessions.as_ref()?;
    let share = sessions.waiting / sessions.working.max(sessions.waiting).max(0.01);
    let idle = sessions.idle_in_transaction;
    let holder = if idle >= WAITING_MIN {
        format!("; {idle:.1} sessions are idle in a transaction, and keep their locks")
    } else {
        String::new()
    };
    (sessions.waiting >= WAITING_MIN && share >= SHARE_MIN).then(|| Finding {
        cause: "database-lock",
        cost: share * while_processors_are_free(facts),
        sentence: if sessions.server.is_empty() {
            format!(
                "A lock in the database bounds it: this session waits for a row or a table that another session has \
                 locked ({} waiting).",
                sessions.statement
            )
        } else {
            format!(
            "A lock in the database bounds it: {:.1} of {:.1} working sessions of {} wait for a row or a table that \
             another session has locked ({} waiting){holder}.",
            sessions.waiting, sessions.working, sessions.server, sessions.statement
        )
        },
        evidence: vec!["select * from pg_locks where not granted; pg_blocking_pids(pid) names the holders".to_owned()],
        cure: "shorter transactions: no calls to others and no pauses between the first write and the commit; the hot \
               row written last, or split; rows locked in one order"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_of_sessions() {
        let mut sessions = Sessions::default();
        for title in [
            "postgres: app shop 127.0.0.1(52344) UPDATE waiting\0\0",
            "postgres: app shop 127.0.0.1(52345) SELECT",
            "postgres: app shop [local] idle",
            "postgres: app shop 127.0.0.1(52346) idle in transaction",
            "postgres: app shop 127.0.0.1(52347) idle",
            "postgres: checkpointer ",
        ] {
            sessions.add(title);
        }
        assert_eq!((sessions.waiting, sessions.working, sessions.idle_in_transaction), (1.0, 2.0, 1.0));
        assert_eq!(sessions.statement, "UPDATE");
        assert_eq!((server("postgres 4711"), server("java shop.jar 9")), (Some(4711), None));
    }
}

//! Threads that wait for each other in a cycle, which no time resolves.
//!
//! HotSpot finds cycles of monitors and owned locks itself. Of a native process, the mutexes of the C library hold
//! their owner's number beside the word that waiters sleep on.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use crate::why::account::waiting::Waiting;
use crate::why::causes::finding::Finding;
use crate::why::facts::{Deadlock, Facts, ThreadFacts};
use yunti_probe::target::{Process, label};

/// Share of a thread's time in waits for locks from which on it may be in a deadlock.
const SHARE_MIN: f64 = 0.9;
/// Offset of the owner from the futex word of a pthread mutex: its lock and its count are before it.
const OWNER: u64 = 8;
/// Share of a thread's time in waits for locks from which on its lock may be another process's.
const SHARE_OF_SHARED: f64 = 0.5;
/// Times at which the owner of a mutex is read before it is given up.
const OWNER_TRIES: u32 = 20;
const OWNER_TRY_EVERY: Duration = Duration::from_millis(5);
/// Number of the system call.
const FUTEX: i64 = syscalls::Sysno::futex as i64;
const HEADING: &str = "Java-level deadlock";
/// Threads that a sentence names.
const NAMED: usize = 3;

/// Returns true if at least two threads did nothing but wait for locks.
pub fn may_be(facts: &Facts) -> bool {
    stuck(facts).take(2).count() == 2
}

fn stuck(facts: &Facts) -> impl Iterator<Item = &ThreadFacts> {
    facts.threads.iter().filter(|thread| thread.share(Waiting::Lock) >= SHARE_MIN)
}

/// Finds a deadlock in the output of `jcmd Thread.print`.
pub fn in_dump(text: &str) -> Option<Deadlock> {
    let (_, text) = text.split_once(HEADING)?;
    let (cycle, stacks) = text.split_once("Java stack information").unwrap_or((text, ""));
    let named = |line: &str| line.strip_prefix('"').and_then(|rest| Some(rest.split_once('"')?.0.to_owned()));
    let mut deadlock = Deadlock::default();
    let (mut thread, mut wanted) = (String::new(), String::new());
    for line in cycle.lines() {
        let inner = line.trim();
        if let Some(name) = named(line) {
            thread = name;
        } else if inner.starts_with("waiting to lock") || inner.starts_with("waiting for ownable") {
            // `.. (object 0x0000, a Account),`
            let class = inner.rsplit_once(" a ").map_or(inner, |(_, class)| class);
            wanted = class.trim_end_matches([',', ')']).to_owned();
        } else if let Some(holder) = inner.split_once("held by ").and_then(|(_, rest)| named(rest)) {
            deadlock.waits.push((thread.clone(), wanted.clone(), holder));
        }
    }
    let mut thread = String::new();
    for line in stacks.lines() {
        if let Some(name) = named(line) {
            thread = name;
        } else if let Some(place) = line.trim().strip_prefix("at ") {
            let method = place.split('(').next().unwrap_or(place);
            let name = method.rsplit_once('/').map_or(method, |(_, name)| name);
            if !name.starts_with("java.") && !name.starts_with("jdk.") {
                deadlock.places.entry(thread.clone()).or_insert_with(|| name.to_owned());
            }
        }
    }
    (deadlock.waits.len() > 1).then_some(deadlock)
}

/// Finds a cycle among threads that wait for mutexes of the C library.
pub fn in_mutexes(process: &Process, facts: &Facts) -> Option<Deadlock> {
    let memory = File::open(format!("/proc/{}/mem", process.pid)).ok()?;
    let threads: HashMap<u32, &ThreadFacts> = stuck(facts).map(|thread| (thread.id as u32, thread)).collect();
    let inside: HashMap<u32, u32> = threads.keys().map(|tid| (process.tid_inside(*tid), *tid)).collect();
    let owner = |tid: &u32| -> Option<(u32, (u64, u32))> {
        let address = *process.waiting_call(*tid)?.1.first()?;
        let mut bytes = [0; 4];
        memory.read_exact_at(&mut bytes, address + OWNER).ok()?;
        Some((*tid, (address, *inside.get(&u32::from_le_bytes(bytes))?)))
    };
    let owners: HashMap<u32, (u64, u32)> = threads.keys().filter_map(owner).collect();
    let cycle = cycle(&owners)?;
    let name = |tid: &u32| format!("{} {tid}", threads.get(tid).map_or("thread", |thread| &thread.name));
    let place = |tid: &u32| threads.get(tid)?.moments.iter().max_by(|a, b| a.share.total_cmp(&b.share));
    Some(Deadlock {
        waits: cycle
            .iter()
            .map(|tid| (name(tid), format!("the mutex {:#x}", owners[tid].0), name(&owners[tid].1)))
            .collect(),
        places: cycle
            .iter()
            .filter_map(|tid| {
                let frame = crate::why::account::waiting::user_frame(&place(tid)?.frames)?;
                Some((name(tid), frame.name.to_string()))
            })
            .collect(),
    })
}

/// Returns the other process whose thread owns the mutex that most threads wait for, in memory that both share.
pub fn owner_outside(process: &Process, facts: &Facts) -> Option<String> {
    let memory = File::open(format!("/proc/{}/mem", process.pid)).ok()?;
    let own = process.threads();
    let waiting = facts.threads.iter().filter(|thread| thread.share(Waiting::Lock) >= SHARE_OF_SHARED);
    let owner = |tid: u64| -> Option<u32> {
        let (call, arguments) = process.waiting_call(tid as u32)?;
        let address = *arguments.first().filter(|_| call == FUTEX)?;
        let mut bytes = [0; 4];
        memory.read_exact_at(&mut bytes, address + OWNER).ok()?;
        let tid = u32::from_le_bytes(bytes);
        (tid > 0 && !own.contains(&tid) && process.tid_inside(process.pid) == process.pid).then_some(tid)
    };
    // A thread that has just got the mutex is on its way out of the call.
    let waiting: Vec<u64> = waiting.map(|thread| thread.id).collect();
    let tid = (0..OWNER_TRIES).find_map(|n| {
        std::thread::sleep(if n == 0 || waiting.is_empty() { Duration::ZERO } else { OWNER_TRY_EVERY });
        waiting.iter().find_map(|tid| owner(*tid))
    })?;
    let status = fs::read_to_string(format!("/proc/{tid}/status")).ok()?;
    let pid = status.lines().find_map(|line| line.strip_prefix("Tgid:")?.trim().parse().ok())?;
    Some(format!("{} {pid}", label(&Process::of(pid).ok()?)))
}

/// Returns the threads of a cycle in a map from waiter to owner.
fn cycle(owners: &HashMap<u32, (u64, u32)>) -> Option<Vec<u32>> {
    let mut starts: Vec<u32> = owners.keys().copied().collect();
    starts.sort_unstable();
    for start in starts {
        let mut path = vec![start];
        while let Some((_, next)) = owners.get(path.last()?) {
            if let Some(at) = path.iter().position(|tid| tid == next) {
                return Some(path.split_off(at)).filter(|path| path.len() > 1);
            }
            path.push(*next);
        }
    }
    None
}

pub fn deadlock(facts: &Facts) -> Option<Finding> {
    let found = facts.details.deadlock.as_ref()?;
    let tell = |(thread, wanted, holder): &(String, String, String)| {
        let place = found.places.get(thread).map_or_else(String::new, |place| format!(" in {place}"));
        format!("{thread} waits{place} for {wanted}, which {holder} holds")
    };
    let mut shown: Vec<String> = found.waits.iter().take(NAMED).map(tell).collect();
    if found.waits.len() > NAMED {
        shown.push(format!("and {} more", found.waits.len() - NAMED));
    }
    Some(Finding {
        cause: "deadlock",
        cost: 1.0,
        sentence: format!("A deadlock: {} threads wait for each other: {}.", found.waits.len(), shown.join("; ")),
        evidence: found.waits.iter().map(tell).collect(),
        cure: "take the locks in one order everywhere, or with a time limit (tryLock); these threads never go on, and \
               the process must be started again"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "\nFound one Java-level deadlock:\n=============================\n\"transfer-1\":\n  waiting to lock \
                        monitor 0x00007f (object 0x00000, a Bank$Account),\n  which is held by \"transfer-2\"\n\n\
                        \"transfer-2\":\n  waiting to lock monitor 0x00007e (object 0x00001, a Bank$Account),\n  which is \
                        held by \"transfer-1\"\n\nJava stack information for the threads listed above:\n====\n\
                        \"transfer-1\":\n\tat Bank.move(Bank.java:12)\n\t- waiting to lock <0x0> (a Bank$Account)\n";

    #[test]
    fn hotspot_tells_of_a_deadlock() {
        let found = in_dump(DUMP).unwrap();
        let of = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
        assert_eq!(found.waits[0], of("transfer-1", "Bank$Account", "transfer-2"));
        assert_eq!(found.waits[1], of("transfer-2", "Bank$Account", "transfer-1"));
        assert_eq!(found.places["transfer-1"], "Bank.move");
        assert!(in_dump("\"main\" #1 prio=5\n   java.lang.Thread.State: RUNNABLE\n").is_none());
    }

    #[test]
    fn cycles_of_owners() {
        let owners = |pairs: &[(u32, u32)]| pairs.iter().map(|(a, b)| (*a, (0, *b))).collect::<HashMap<_, _>>();
        assert_eq!(cycle(&owners(&[(1, 2), (2, 3), (3, 2)])), Some(vec![2, 3]));
        assert_eq!(cycle(&owners(&[(1, 2), (2, 3)])), None);
        assert_eq!(cycle(&owners(&[(1, 1)])), None);
    }
}

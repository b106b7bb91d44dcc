//! A lock, with the waits for it.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Value, json};

use yunti_probe::histogram::Histogram;
use yunti_probe::stack::{Frame, Tree};

/// Kind of lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Monitor,
    /// A lock of java.util.concurrent with an owner, such as ReentrantLock.
    Lock,
    /// A synchronizer of java.util.concurrent without an owner: semaphore, latch.
    Synchronizer,
    /// A native mutex: pthread_mutex, and others built on futexes.
    Mutex,
    ReadWriteLock,
    Semaphore,
    /// A wait for work or a result, which is no contention.
    Condition,
    /// A futex of an unknown user.
    Futex,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Monitor => "monitor",
            Kind::Lock => "lock",
            Kind::Synchronizer => "synchronizer",
            Kind::Mutex => "mutex",
            Kind::ReadWriteLock => "read-write lock",
            Kind::Semaphore => "semaphore",
            Kind::Condition => "condition",
            Kind::Futex => "futex",
        }
    }

    /// Returns true if waiting for it is contention.
    pub fn is_contention(self) -> bool {
        self != Kind::Condition
    }
}

/// Waits for one lock, aggregated.
pub struct Lock {
    pub kind: Kind,
    /// Class and identity hash code, or the address.
    pub name: String,
    pub contentions: u64,
    pub total_ns: u64,
    pub longest_ns: u64,
    pub histogram: Histogram,
    /// Thread -> waits and nanoseconds.
    pub waiters: HashMap<Rc<str>, (u64, u64)>,
    /// Thread -> how often it was the holder, if that is known.
    pub holders: HashMap<Rc<str>, u64>,
    /// Stacks of waiters, weighted by nanoseconds.
    pub waiting: Tree,
    /// Stacks of holders during waits, or of threads that released it, weighted by count.
    pub holding: Tree,
}

impl Lock {
    pub fn new(kind: Kind, name: String) -> Lock {
        Lock {
            kind,
            name,
            contentions: 0,
            total_ns: 0,
            longest_ns: 0,
            histogram: Histogram::default(),
            waiters: HashMap::new(),
            holders: HashMap::new(),
            waiting: Tree::default(),
            holding: Tree::default(),
        }
    }

    pub fn add(&mut self, thread: Rc<str>, ns: u64) {
        self.contentions += 1;
        self.total_ns += ns;
        self.longest_ns = self.longest_ns.max(ns);
        self.histogram.add(ns);
        let waiter = self.waiters.entry(thread).or_default();
        *waiter = (waiter.0 + 1, waiter.1 + ns);
    }

    pub fn add_stack(&mut self, frames: &[Frame], ns: u64) {
        self.waiting.add(frames, ns);
    }

    /// Returns (thread, waits, nanoseconds), by descending nanoseconds.
    pub fn waiters(&self) -> Vec<(&str, u64, u64)> {
        let mut all: Vec<_> = self.waiters.iter().map(|(thread, (n, ns))| (&**thread, *n, *ns)).collect();
        all.sort_by(|a, b| b.2.cmp(&a.2).then_with(|| a.0.cmp(b.0)));
        all
    }

    pub fn holders(&self) -> Vec<(&str, u64)> {
        let mut all: Vec<_> = self.holders.iter().map(|(thread, n)| (&**thread, *n)).collect();
        all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        all
    }

    pub fn to_json(&self) -> Value {
        let ways = |tree: &Tree| -> Vec<Value> {
            let names = |frames: &[Frame]| frames.iter().map(|frame| frame.name.to_string()).collect::<Vec<_>>();
            let way = |(value, frames): (u64, Vec<Frame>)| json!({"value": value, "frames": names(&frames)});
            tree.dearest(5).into_iter().map(way).collect()
        };
        let waiter = |(thread, n, ns)| json!({"thread": thread, "waits": n, "total_ns": ns});
        let holder = |(thread, n)| json!({"thread": thread, "times": n});
        json!({
            "kind": self.kind.name(),
            "lock": self.name,
            "contentions": self.contentions,
            "total_ns": self.total_ns,
            "max_ns": self.longest_ns,
            "histogram": self.histogram.to_json(),
            "waiters": self.waiters().into_iter().map(waiter).collect::<Vec<_>>(),
            "holders": self.holders().into_iter().map(holder).collect::<Vec<_>>(),
            "waiting": ways(&self.waiting),
            "holding": ways(&self.holding),
        })
    }

    /// Adds the waits for the same lock that were recorded under another kind.
    pub fn join(&mut self, other: Lock) {
        self.kind = self.kind.min(other.kind);
        self.contentions += other.contentions;
        self.total_ns += other.total_ns;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.histogram.join(&other.histogram);
        for (thread, (n, ns)) in other.waiters {
            let waiter = self.waiters.entry(thread).or_default();
            *waiter = (waiter.0 + n, waiter.1 + ns);
        }
        for (thread, n) in other.holders {
            *self.holders.entry(thread).or_default() += n;
        }
        self.waiting.join(&[], &other.waiting);
        self.holding.join(&[], &other.holding);
    }
}

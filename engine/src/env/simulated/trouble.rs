//! Troubles of a simulation: what goes wrong, and when, counted in operations on files.

use std::fmt;

use crate::env::faulty::{Operation, Place};
use crate::env::random::Random;

/// Trouble of a run. `nth`: the operation from which on it may; the first that it applies to is struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// One operation fails; `disk`: on this disk only.
    Error { nth: u64, errno: i32, disk: Option<usize> },
    /// Every operation but removals fails from then on.
    Failing { nth: u64, errno: i32, disk: usize },
    /// A disk is gone: every operation on it fails with EIO, removals too.
    LostDisk { nth: u64, disk: usize },
    /// A disk has only this many bytes left from the start.
    FullDisk { disk: usize, free_bytes: u64 },
    /// A disk is slower by this factor.
    SlowDisk { nth: u64, disk: usize, factor: u64 },
    /// One read or write of a scratch file flips a bit of what it moves.
    BitFlip { nth: u64 },
    /// Reads and writes move fewer bytes than requested, this often in 1024.
    Short { chance: u64 },
    /// Operations are interrupted by signals, this often in 1024.
    Interrupted { chance: u64 },
    /// The process is killed. With `power`, only what was synced is sure to survive.
    Crash { nth: u64, power: bool },
    /// The job is requested to keep to this many bytes of memory.
    Shrink { nth: u64, bytes: u64 },
    /// Other programs leave this many bytes of memory.
    Pressure { nth: u64, bytes: u64 },
    /// A worker dies at its `nth` point.
    WorkerDies { nth: u64 },
    /// A worker stops at its `nth` point.
    WorkerHangs { nth: u64 },
    /// A worker sends garbage at its `nth` point, and dies.
    WorkerDamages { nth: u64 },
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// An operation that is about to happen.
#[derive(Clone, Copy)]
pub struct Call {
    pub operation: Operation,
    pub place: Place,
    pub disk: usize,
}

/// Effect of a trouble on an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strike {
    Errno(i32, &'static str),
    /// At most half of the bytes move.
    Short,
    /// A bit of the moved bytes flips.
    BitFlip,
    Crash {
        power: bool,
    },
    Shrink(u64),
    Pressure(u64),
}

/// Troubles of one run.
pub struct Troubles {
    list: Vec<Trouble>,
    has_struck: Vec<bool>,
    random: Random,
}

impl Troubles {
    /// Returns troubles that have not struck yet.
    pub fn new(list: Vec<Trouble>, seed: u64) -> Troubles {
        Troubles { has_struck: vec![false; list.len()], list, random: Random::new(seed) }
    }

    /// Returns all troubles.
    pub fn list(&self) -> &[Trouble] {
        &self.list
    }

    /// Returns the factor by which an operation takes longer.
    pub fn slowness(&self, number: u64, call: Call) -> u64 {
        let factor = |trouble: &Trouble| match *trouble {
            Trouble::SlowDisk { nth, disk, factor } if number >= nth && disk == call.disk => Some(factor),
            _ => None,
        };
        self.list.iter().filter_map(factor).max().unwrap_or(1)
    }

    /// Returns what happens to operation `number`, the strongest last. A trouble of one operation strikes once.
    pub fn strike(&mut self, number: u64, call: Call) -> Vec<Strike> {
        let mut strikes = Vec::new();
        let moves = matches!(call.operation, Operation::Read | Operation::Write);
        for (trouble, has_struck) in self.list.iter().zip(&mut self.has_struck) {
            let mut once = |nth: u64, applies: bool| {
                let strikes = number >= nth && applies && !*has_struck;
                *has_struck |= strikes;
                strikes
            };
            let strike = match *trouble {
                Trouble::Error { nth, errno, disk } => {
                    let applies = disk.is_none_or(|disk| disk == call.disk) && !call.operation.is_removal();
                    once(nth, applies).then_some(Strike::Errno(errno, "one error"))
                }
                Trouble::Failing { nth, errno, disk } => {
                    let strikes = number >= nth && disk == call.disk && !call.operation.is_removal();
                    strikes.then_some(Strike::Errno(errno, "a disk that fails"))
                }
                Trouble::LostDisk { nth, disk } => {
                    (number >= nth && disk == call.disk).then_some(Strike::Errno(libc::EIO, "a lost disk"))
                }
                Trouble::BitFlip { nth } => once(nth, moves && call.place == Place::Scratch).then_some(Strike::BitFlip),
                Trouble::Short { chance } => (moves && self.random.below(1024) < chance).then_some(Strike::Short),
                Trouble::Interrupted { chance } => {
                    (self.random.below(1024) < chance).then_some(Strike::Errno(libc::EINTR, "a signal"))
                }
                Trouble::Crash { nth, power } => once(nth, true).then_some(Strike::Crash { power }),
                Trouble::Shrink { nth, bytes } => once(nth, true).then_some(Strike::Shrink(bytes)),
                Trouble::Pressure { nth, bytes } => once(nth, true).then_some(Strike::Pressure(bytes)),
                _ => None,
            };
            strikes.extend(strike);
        }
        strikes
    }
}

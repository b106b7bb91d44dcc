//! Settings of the machine that matter to data jobs and JVMs: what each is now, what it should be on this machine, why, what that costs, and what has to be
//! written for it and to have it back. Nothing here writes.
//!
//! ```text
//!   system.rs   proc and sys as text, below a root       tree.rs     such a root, for tests
//!   setting.rs  one setting, and values that it takes
//!   memory.rs   huge pages, swappiness, dirty limits, NUMA, mappings
//!   disks.rs    scheduler and read-ahead of each disk, clock of processors
//!   network.rs  TIME_WAIT, ports, queues of those that listen
//! ```
//! `yunti machine doctor` tells of them; `yunti machine apply` and `undo` change them, with a journal.

mod disks;
mod memory;
mod network;
mod setting;
mod system;
#[doc(hidden)]
pub mod tree;

pub use memory::dirty_bytes_max;
pub use setting::{Advice, Setting, Takes, Wanted, Write, value_of};
pub use system::System;

/// All that this machine has, in the order in which they are told.
pub fn all(system: &System) -> Vec<Setting> {
    let mut all = memory::settings(system);
    all.extend(disks::settings(system));
    all.extend(network::settings(system));
    all
}

/// One by its name: `swappiness`, `read-ahead:sda`; of several disks, if there is one alone, `read-ahead`.
pub fn named(system: &System, name: &str) -> Option<Setting> {
    let mut found: Vec<Setting> = all(system)
        .into_iter()
        .filter(|s| s.name == name || s.name.split_once(':').is_some_and(|(kind, _)| kind == name))
        .collect();
    if found.len() == 1 { found.pop() } else { found.into_iter().find(|s| s.name == name) }
}

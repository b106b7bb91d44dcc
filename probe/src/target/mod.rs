//! Target process: a running one, by number or name, or one that is started.

mod activity;
pub mod cgroup;
mod choose;
mod descriptors;
mod disk;
mod entry;
mod mapping;
mod network;
pub mod outside;
mod process;
pub mod schedule;
mod started;
mod thread_files;

pub use activity::{Activity, ActivitySampler, cpu_time, number_writes};
pub use choose::{choose, label, matching, processes, program_words};
pub use descriptors::{FileLock, each_descriptor, file_locks, open_files};
pub use disk::{DISK_WAITS, DiskWait};
pub use mapping::{Mapping, mappings};
pub use network::sockets::{Listener, listeners, sockets_of};
pub use network::{in_network_of, ports};
pub use outside::{Kin, Neighbour, Policy};
pub use process::{Process, arguments};
pub use schedule::runs_of;
pub use started::{Start, Target};

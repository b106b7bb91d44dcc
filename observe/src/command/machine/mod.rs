//! Looks at the machine under a process, a folder each.

pub mod cache;
pub mod cgroup;
pub mod crash;
pub mod ext4;
pub mod net;

//! Network namespace of a process.

use std::fs::{self, File};
use std::os::fd::AsFd;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::target::Process;

/// Runs `find` in the network namespace of a process; `None` without the rights to enter it.
pub fn in_network_of<T: Send + 'static>(process: &Process, find: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let path = format!("/proc/{}/ns/net", process.pid);
    let is_ours = fs::read_link(&path).ok() == fs::read_link("/proc/self/ns/net").ok();
    let namespace = File::open(path).ok()?;
    let finder = std::thread::spawn(move || {
        if !is_ours {
            move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).ok()?;
        }
        Some(find())
    });
    finder.join().ok()?
}

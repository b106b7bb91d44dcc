//! Processes on this machine that own given sockets.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::ffi::OsStrExt;

use yunti_probe::target::{Process, each_descriptor, label};

/// Returns the owner of each socket of `inodes`, as far as it is found in time. A socket may have several owners; the
/// first process is the one with the smallest number, usually the parent.
pub fn owners(inodes: &[u32]) -> HashMap<u32, u32> {
    let mut found = HashMap::new();
    each_descriptor(|pid, _, link| {
        let inode = link.as_os_str().as_bytes().strip_prefix(b"socket:[").and_then(|rest| rest.strip_suffix(b"]"));
        let inode = inode.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        if let Some(inode) = inode.filter(|inode| inodes.contains(inode)) {
            found.entry(inode).or_insert(pid);
        }
        found.len() < inodes.len()
    });
    found
}

/// Returns an address and port as text: `127.0.0.1:5432`.
pub fn address_text((address, port): (IpAddr, u16)) -> String {
    SocketAddr::new(address, port).to_string()
}

/// Returns a process as text: `postgres 4711`.
pub fn name(pid: u32) -> Option<String> {
    let process = Process::of(pid).ok()?;
    Some(format!("{} {pid}", label(&process)))
}

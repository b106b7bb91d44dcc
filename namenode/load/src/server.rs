//! The NameNode's process on this machine: processor time and context switches.

use std::fs;
use std::net::SocketAddr;

/// Socket state LISTEN in `/proc/net/tcp` (proc_pid_net(5)).
const LISTENS: &str = "0A";

/// A process that listens on a loopback address.
pub struct Server {
    pid: u32,
}

/// Processor time and context switches since the process started.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    pub cpu_seconds: f64,
    pub switches: f64,
}

impl Usage {
    /// Returns the difference to an earlier sample.
    pub fn since(&self, before: &Usage) -> Usage {
        Usage {
            cpu_seconds: self.cpu_seconds - before.cpu_seconds,
            switches: (self.switches - before.switches).max(0.0),
        }
    }
}

impl Server {
    /// Returns the process that listens at this address; None without one on loopback, or without the right to
    /// read its descriptors.
    pub fn listening_at(address: SocketAddr) -> Option<Server> {
        let inodes: Vec<String> = ["tcp", "tcp6"].iter().flat_map(|table| listening(table, address.port())).collect();
        let pids = fs::read_dir("/proc").ok()?.flatten().filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
        let has_it = |pid: &u32| {
            let fds = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
            fds.filter_map(|fd| fs::read_link(fd.path()).ok())
                .any(|to| inodes.iter().any(|inode| *inode == *to.to_string_lossy()))
        };
        address.ip().is_loopback().then_some(())?;
        pids.into_iter().find(has_it).map(|pid| Server { pid })
    }

    /// Samples the process; None once it has ended.
    pub fn usage(&self) -> Option<Usage> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        // utime and stime: fields 14 and 15 of proc_pid_stat(5).
        let ticks: f64 = [11, 12].iter().filter_map(|n| fields.get(*n)?.parse::<f64>().ok()).sum();
        let tasks = fs::read_dir(format!("/proc/{}/task", self.pid)).ok()?.flatten();
        let switches = |task: fs::DirEntry| {
            let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
            let count = |line: &str| line.split_once("ctxt_switches:").and_then(|(_, n)| n.trim().parse::<f64>().ok());
            status.lines().filter_map(count).sum::<f64>()
        };
        Some(Usage {
            cpu_seconds: ticks / rustix::param::clock_ticks_per_second() as f64,
            switches: tasks.map(switches).sum(),
        })
    }
}

/// Returns `socket:[INODE]` of each socket that listens on a port.
fn listening(table: &str, port: u16) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/net/{table}")).unwrap_or_default();
    let of = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (_, at) = words.get(1)?.rsplit_once(':')?;
        let is_it = u16::from_str_radix(at, 16).ok()? == port && *words.get(3)? == LISTENS;
        is_it.then(|| format!("socket:[{}]", words.get(9).copied().unwrap_or_default()))
    };
    text.lines().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_process_that_listens() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server::listening_at(listener.local_addr().unwrap()).unwrap();
        assert_eq!(server.pid, std::process::id());
        assert!(server.usage().unwrap().switches >= 0.0);
        drop(listener);
    }
}

//! The NameNode as a process of this machine: what it uses.

use std::fs;
use std::net::SocketAddr;

/// Of proc(5).
const LISTENS: &str = "0A";

pub struct Server {
    pid: u32,
}

/// Since the process began.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    pub cpu_seconds: f64,
    pub switches: f64,
}

impl Used {
    pub fn since(&self, before: &Used) -> Used {
        Used {
            cpu_seconds: self.cpu_seconds - before.cpu_seconds,
            switches: (self.switches - before.switches).max(0.0),
        }
    }
}

impl Server {
    /// Who listens at this address; None: nobody here, or somebody whose files are not ours to read.
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

    pub fn used(&self) -> Option<Used> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid)).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        // utime and stime, the 14th and the 15th of proc_pid_stat(5).
        let ticks: f64 = [11, 12].iter().filter_map(|n| fields.get(*n)?.parse::<f64>().ok()).sum();
        let tasks = fs::read_dir(format!("/proc/{}/task", self.pid)).ok()?.flatten();
        let switches = |task: fs::DirEntry| {
            let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
            let of = |line: &str| line.split_once("ctxt_switches:").and_then(|(_, n)| n.trim().parse::<f64>().ok());
            status.lines().filter_map(of).sum::<f64>()
        };
        Some(Used {
            cpu_seconds: ticks / rustix::param::clock_ticks_per_second() as f64,
            switches: tasks.map(switches).sum(),
        })
    }
}

/// `socket:[INODE]` of those that listen at a port.
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
    fn who_listens() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server::listening_at(listener.local_addr().unwrap()).unwrap();
        assert_eq!(server.pid, std::process::id());
        assert!(server.used().unwrap().switches >= 0.0);
        drop(listener);
    }
}

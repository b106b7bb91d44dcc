//! Kind of a thread's wait: by its system call, and by the functions of Python's library that have made it.

use std::fs;
use std::rc::Rc;

use super::calls::Call;
use super::code::Code;
use super::threads::Lock;
use crate::runtime::Waiting;
use yunti_probe::target::{Activity, ActivitySampler, Process};

/// Functions of the library in order of precedence: file, name, kind of wait. The first one found among the innermost
/// frames of the library decides. `*` stands for each function of the file.
const SIGNS: &[(&str, &str, Waiting)] = &[
    ("socket.py", "getaddrinfo", Waiting::NameService),
    ("socket.py", "getfqdn", Waiting::NameService),
    // Threads that take work, or pass it on.
    ("threading.py", "Timer.run", Waiting::Idle),
    ("logging/handlers.py", "QueueListener.dequeue", Waiting::Idle),
    ("concurrent/futures/process.py", "_process_worker", Waiting::Idle),
    ("concurrent/futures/process.py", "_queue_management_worker", Waiting::Idle),
    ("concurrent/futures/process.py", "_ExecutorManagerThread.wait_result_broken_or_wakeup", Waiting::Idle),
    ("multiprocessing/pool.py", "worker", Waiting::Idle),
    ("multiprocessing/pool.py", "Pool._handle_workers", Waiting::Idle),
    ("multiprocessing/pool.py", "Pool._handle_tasks", Waiting::Idle),
    ("multiprocessing/pool.py", "Pool._handle_results", Waiting::Idle),
    ("multiprocessing/queues.py", "Queue._feed", Waiting::Idle),
    ("multiprocessing/managers.py", "Server.serve_forever", Waiting::Idle),
    ("socketserver.py", "BaseServer.serve_forever", Waiting::Idle),
    ("asyncio/base_events.py", "BaseEventLoop._run_once", Waiting::Idle),
    // Results of other threads and processes.
    ("subprocess.py", "*", Waiting::Result),
    ("multiprocessing/popen_fork.py", "*", Waiting::Result),
    ("multiprocessing/pool.py", "ApplyResult.get", Waiting::Result),
    ("multiprocessing/pool.py", "IMapIterator.next", Waiting::Result),
    ("concurrent/futures/_base.py", "*", Waiting::Result),
    ("threading.py", "Thread.join", Waiting::Result),
    ("threading.py", "_shutdown", Waiting::Result),
    ("threading.py", "Thread.start", Waiting::Result),
    ("threading.py", "Event.wait", Waiting::Result),
    ("threading.py", "Barrier.wait", Waiting::Result),
    // What is shared.
    ("threading.py", "Semaphore.acquire", Waiting::Resource),
    ("threading.py", "BoundedSemaphore.acquire", Waiting::Resource),
    ("queue.py", "*", Waiting::Resource),
    ("multiprocessing/queues.py", "*", Waiting::Resource),
    ("multiprocessing/synchronize.py", "*", Waiting::Resource),
    ("threading.py", "Condition.wait", Waiting::Resource),
    ("threading.py", "Condition.wait_for", Waiting::Resource),
    ("multiprocessing/connection.py", "*", Waiting::Result),
    ("selectors.py", "*", Waiting::Idle),
    ("ssl.py", "*", Waiting::Network),
    ("socket.py", "*", Waiting::Network),
];

/// Names of the calls of a process that wait for its files.
const FILE_CALLS: [&str; 24] = [
    "read",
    "pread64",
    "preadv",
    "preadv2",
    "readv",
    "write",
    "pwrite64",
    "writev",
    "pwritev",
    "fsync",
    "fdatasync",
    "sync",
    "syncfs",
    "msync",
    "sync_file_range",
    "openat",
    "open",
    "statx",
    "newfstatat",
    "getdents64",
    "rename",
    "unlink",
    "ftruncate",
    "fallocate",
];

/// Classifier of the waits of a process's threads.
pub struct Waits {
    process: Process,
    sockets: ActivitySampler,
}

impl Waits {
    pub fn of(process: &Process) -> Waits {
        Waits { process: process.clone(), sockets: ActivitySampler::new(process) }
    }

    /// Returns the kind of a thread's wait.
    ///
    /// @param stack the innermost function first
    pub fn kind(&mut self, call: &Call, stack: &[Rc<Code>], lock: &Lock) -> Waiting {
        let (number, arguments) = match call {
            Call::Runs => return Waiting::Not,
            Call::Fault => return Waiting::File,
            Call::Waits(number, arguments) => (*number, arguments),
        };
        let name = usize::try_from(number).ok().and_then(syscalls::Sysno::new).map_or("", |call| call.name());
        let first = arguments[0];
        let by_library = || of_library(stack);
        match name {
            "futex" if lock.has(first) => Waiting::Lock,
            "futex" | "futex_wait" | "futex_waitv" if is_taking_work(stack) => Waiting::Idle,
            "futex" | "futex_wait" | "futex_waitv" => by_library().unwrap_or(Waiting::Lock),
            "flock" | "fcntl" => Waiting::Lock,
            "wait4" | "waitid" | "pidfd_send_signal" => Waiting::Result,
            // `time.sleep` before 3.11 selects nothing.
            "select" | "pselect6" if first == 0 => Waiting::Sleep,
            _ => match self.sockets.in_call(number, arguments) {
                Activity::Remote(peer) if peer.ends_with(":53") => Waiting::NameService,
                Activity::Remote(_) => match by_library() {
                    Some(Waiting::NameService) => Waiting::NameService,
                    _ => Waiting::Network,
                },
                Activity::Sleep => Waiting::Sleep,
                Activity::Idle => by_library().unwrap_or(Waiting::Idle),
                _ if FILE_CALLS.contains(&name) => self.at_descriptor(name, first, by_library()),
                _ => by_library().unwrap_or(Waiting::Unknown),
            },
        }
    }

    /// Returns the kind of a wait at a descriptor that is no socket.
    fn at_descriptor(&self, call: &str, fd: u64, by_library: Option<Waiting>) -> Waiting {
        let has_fd = !matches!(call, "openat" | "open" | "statx" | "newfstatat" | "rename" | "unlink" | "sync");
        let Ok(target) = fs::read_link(format!("/proc/{}/fd/{fd}", self.process.pid)) else {
            return if has_fd { by_library.unwrap_or(Waiting::Unknown) } else { Waiting::File };
        };
        match target.to_str().unwrap_or_default() {
            _ if !has_fd => Waiting::File,
            pipe if pipe.starts_with("pipe:") => by_library.unwrap_or(Waiting::Result),
            other if other.starts_with("socket:") => by_library.unwrap_or(Waiting::Network),
            other if other.starts_with("anon_inode:") => Waiting::Idle,
            device if device.starts_with("/dev/pts/") || device.starts_with("/dev/tty") => Waiting::Idle,
            _ => Waiting::File,
        }
    }
}

/// Returns true for the worker of an executor that takes a task.
fn is_taking_work(stack: &[Rc<Code>]) -> bool {
    stack.first().is_some_and(|code| code.is("concurrent/futures/thread.py", "_worker"))
}

fn of_library(stack: &[Rc<Code>]) -> Option<Waiting> {
    let library = || stack.iter().take_while(|code| code.is_of_library());
    let found = SIGNS.iter().find(|(file, function, _)| library().any(|code| code.is(file, function)));
    found.map(|(_, _, waiting)| *waiting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_probe::stack::{Frame, Kind};

    fn stack(names: &[(&str, &str)]) -> Vec<Rc<Code>> {
        let of = |(file, function): &(&str, &str)| {
            let frame = Frame { name: format!("{file}:1 {function}").into(), kind: Kind::Python };
            Rc::new(Code { frame, file: (*file).into(), function: (*function).into() })
        };
        names.iter().map(of).collect()
    }

    #[test]
    fn waits_by_the_library() {
        let check = |names: &[(&str, &str)], expected| assert_eq!(of_library(&stack(names)), expected, "{names:?}");
        let (wait, user) = (("python3.11/threading.py", "Condition.wait"), ("shop/orders.py", "handle"));
        check(&[wait, ("python3.11/threading.py", "Semaphore.acquire"), user], Some(Waiting::Resource));
        check(&[wait, ("python3.11/threading.py", "Event.wait"), user], Some(Waiting::Result));
        check(&[wait, ("python3.11/concurrent/futures/_base.py", "Future.result"), user], Some(Waiting::Result));
        check(&[wait, ("python3.11/queue.py", "Queue.get"), user], Some(Waiting::Resource));
        check(&[wait, user, ("python3.11/threading.py", "Timer.run")], Some(Waiting::Resource));
        check(
            &[wait, ("python3.11/threading.py", "Event.wait"), ("python3.11/threading.py", "Timer.run")],
            Some(Waiting::Idle),
        );
        // Before 3.11 the class is the object's own.
        check(&[("python3.8/queue.py", "get"), ("python3.8/threading.py", "Worker.run")], Some(Waiting::Resource));
        check(&[("python3.8/subprocess.py", "Popen.wait"), user], Some(Waiting::Result));
        check(
            &[("python3.8/threading.py", "Worker._wait"), ("python3.8/threading.py", "Worker.join")],
            Some(Waiting::Result),
        );
        let select = ("python3.8/selectors.py", "EpollSelector.select");
        check(&[select, ("python3.8/asyncio/base_events.py", "_UnixSelectorEventLoop._run_once")], Some(Waiting::Idle));
        check(&[("shop/queue.py", "Queue.get"), user], None);
        assert!(is_taking_work(&stack(&[("python3.9/concurrent/futures/thread.py", "_worker")])));
    }
}

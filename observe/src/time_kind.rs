//! Kinds of a thread's time. The system call in which it left the processor gives the kind; the stack tells locks from
//! waits for other threads.

use syscalls::Sysno;

use yunti_probe::kernel::Wait;
use yunti_probe::stack::{Frame, Kind};

/// Kind of a thread's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TimeKind {
    OnCpu,
    /// The thread was ready, and others ran.
    RunQueue,
    Lock,
    /// Wait for another thread's result, task or signal.
    OtherThread,
    Sleep,
    FileIo,
    Network,
    PageFault,
    Gc,
    Safepoint,
    Other,
}

/// All kinds, in the order of their numbers.
pub const KINDS: [TimeKind; 11] = [
    TimeKind::OnCpu,
    TimeKind::RunQueue,
    TimeKind::Lock,
    TimeKind::OtherThread,
    TimeKind::Sleep,
    TimeKind::FileIo,
    TimeKind::Network,
    TimeKind::PageFault,
    TimeKind::Gc,
    TimeKind::Safepoint,
    TimeKind::Other,
];

impl TimeKind {
    pub fn name(self) -> &'static str {
        match self {
            TimeKind::OnCpu => "on CPU",
            TimeKind::RunQueue => "run queue",
            TimeKind::Lock => "lock",
            TimeKind::OtherThread => "another thread",
            TimeKind::Sleep => "sleep",
            TimeKind::FileIo => "file I/O",
            TimeKind::Network => "network",
            TimeKind::PageFault => "page fault",
            TimeKind::Gc => "GC",
            TimeKind::Safepoint => "safepoint",
            TimeKind::Other => "other",
        }
    }

    /// Returns true if a pause of the whole JVM does not extend the wait. The disk and the network do not pause.
    pub fn goes_on_in_pauses(self) -> bool {
        use TimeKind::{FileIo, Network, OnCpu, PageFault, Sleep};
        matches!(self, OnCpu | FileIo | Network | PageFault | Sleep)
    }

    /// Classifies a wait by its system call, and by the stack if the call is a futex.
    ///
    /// @param frames stack of the waiting thread, if it is known
    pub fn of_wait(wait: &Wait, frames: Option<&[Frame]>) -> TimeKind {
        let by_call = match wait.system_call {
            None if wait.is_uninterruptible => TimeKind::PageFault,
            None => TimeKind::Other,
            Some(call) => {
                by_system_call(Sysno::new(call as usize).map_or("", |call| call.name()), wait.is_uninterruptible)
            }
        };
        match by_call {
            // Almost all waits within a process are futexes, and so is Thread.sleep.
            TimeKind::Lock => frames.and_then(by_stack).unwrap_or(TimeKind::Lock),
            kind => kind,
        }
    }

    /// Classifies a wait by the stack of the waiting thread alone.
    pub fn of_stack(frames: &[Frame]) -> TimeKind {
        by_stack(frames)
            .or_else(|| frames.iter().rev().find_map(|frame| by_function(&frame.name)))
            .unwrap_or(TimeKind::Other)
    }
}

/// Classifies a wait by its system call. Waits for a disk are uninterruptible; waits for a socket or a pipe are not.
fn by_system_call(name: &str, is_uninterruptible: bool) -> TimeKind {
    match name {
        "futex" | "futex_wait" | "futex_waitv" | "flock" | "fcntl" | "semop" | "semtimedop" => TimeKind::Lock,
        "nanosleep" | "clock_nanosleep" | "pause" | "rt_sigtimedwait" | "rt_sigsuspend" => TimeKind::Sleep,
        "wait4" | "waitid" => TimeKind::OtherThread,
        "sched_yield" => TimeKind::RunQueue,
        "mmap" | "munmap" | "mprotect" | "madvise" | "mremap" | "brk" => TimeKind::PageFault,
        "read" | "readv" | "write" | "writev" | "splice" | "sendfile" if !is_uninterruptible => TimeKind::Network,
        "fsync" | "fdatasync" | "sync_file_range" | "msync" | "pread64" | "pwrite64" | "preadv" | "pwritev"
        | "io_getevents" | "io_uring_enter" => TimeKind::FileIo,
        _ if ["poll", "select", "accept", "connect", "recv", "send"].iter().any(|part| name.contains(part)) => {
            TimeKind::Network
        }
        _ if is_uninterruptible => TimeKind::FileIo,
        _ => TimeKind::Other,
    }
}

fn by_function(name: &str) -> Option<TimeKind> {
    let name = name.trim_start_matches("__GI_").trim_start_matches("__libc_").trim_start_matches('_');
    let is = |names: &[&str]| names.contains(&name);
    if is(&["pread64", "pwrite64", "fsync", "fdatasync", "open", "open64", "openat"]) {
        return Some(TimeKind::FileIo);
    }
    let is_network = is(&["read", "write", "accept", "accept4", "connect"])
        || ["poll", "ppoll", "select", "epoll_", "recv", "send"].iter().any(|begin| name.starts_with(begin));
    if is_network {
        return Some(TimeKind::Network);
    }
    is(&["nanosleep", "clock_nanosleep"]).then_some(TimeKind::Sleep)
}

/// Classifies a futex wait by its stack; `None` if no frame is in the list. The innermost known frame decides.
fn by_stack(frames: &[Frame]) -> Option<TimeKind> {
    const OF_COLLECTIONS: [&str; 6] =
        ["_page_stall", "::collect", "::try_collect", "::do_collection", "_allocation_slow", "ScavengeHeap::"];
    const KNOWN: [(&str, TimeKind); 36] = [
        ("SafepointMechanism::", TimeKind::Safepoint),
        ("SafepointSynchronize::", TimeKind::Safepoint),
        ("VMThread::execute", TimeKind::Safepoint),
        ("Handshake", TimeKind::Safepoint),
        ("Thread.sleep", TimeKind::Sleep),
        ("JavaThread::sleep", TimeKind::Sleep),
        ("ObjectMonitor::wait", TimeKind::OtherThread),
        ("ObjectMonitor::", TimeKind::Lock),
        ("ObjectSynchronizer::", TimeKind::Lock),
        ("monitorenter", TimeKind::Lock),
        ("monitor_enter", TimeKind::Lock),
        ("complete_monitor_locking", TimeKind::Lock),
        ("java.lang.Object.wait", TimeKind::OtherThread),
        ("ConditionObject.await", TimeKind::OtherThread),
        ("CountDownLatch", TimeKind::OtherThread),
        ("CyclicBarrier", TimeKind::OtherThread),
        ("FutureTask", TimeKind::OtherThread),
        ("CompletableFuture", TimeKind::OtherThread),
        ("SynchronousQueue", TimeKind::OtherThread),
        ("TransferQueue", TimeKind::OtherThread),
        ("ForkJoin", TimeKind::OtherThread),
        ("java.util.concurrent.Semaphore", TimeKind::Lock),
        ("java.util.concurrent.locks.Reentrant", TimeKind::Lock),
        ("java.util.concurrent.locks.StampedLock", TimeKind::Lock),
        ("pthread_mutex", TimeKind::Lock),
        ("lll_lock", TimeKind::Lock),
        ("rwlock", TimeKind::Lock),
        ("lock_contended", TimeKind::Lock),
        ("lock_slow", TimeKind::Lock),
        ("pthread_join", TimeKind::OtherThread),
        ("pthread_clockjoin", TimeKind::OtherThread),
        ("pthread_barrier", TimeKind::OtherThread),
        // Conditions in the JVM's own code are below one of the frames above.
        ("std::condition_variable", TimeKind::OtherThread),
        ("thread_parker", TimeKind::OtherThread),
        ("sem_wait", TimeKind::OtherThread),
        ("sem_timedwait", TimeKind::OtherThread),
    ];
    let mut of_jvm = frames.iter().filter(|frame| frame.kind == Kind::Jvm);
    if of_jvm.any(|frame| OF_COLLECTIONS.iter().any(|part| frame.name.contains(part))) {
        return Some(TimeKind::Gc);
    }
    let known = |frame: &Frame| KNOWN.iter().find(|(part, _)| frame.name.contains(part)).map(|(_, kind)| *kind);
    let found = frames.iter().rev().find_map(known);
    let is = |part: &str| frames.iter().any(|frame| frame.name.contains(part));
    found.or_else(|| (is("Unsafe.park") || is("pthread_cond_")).then_some(TimeKind::OtherThread))
}

/// Returns true if a running thread is in the kernel's page-fault handler.
pub fn is_page_fault(frames: &[Frame]) -> bool {
    const HANDLERS: [&str; 5] =
        ["asm_exc_page_fault", "exc_page_fault", "do_user_addr_fault", "do_page_fault", "do_mem_abort"];
    frames.iter().rev().any(|frame| frame.kind == Kind::Kernel && HANDLERS.contains(&&*frame.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(text: &str, kind: Kind) -> Vec<Frame> {
        text.split(' ').map(|name| Frame { name: name.into(), kind }).collect()
    }

    #[test]
    fn waits_by_their_system_calls() {
        let check = |name: &str, is_uninterruptible: bool, expected: TimeKind| {
            assert_eq!(by_system_call(name, is_uninterruptible), expected, "{name}");
        };
        check("futex", false, TimeKind::Lock);
        check("read", false, TimeKind::Network);
        check("read", true, TimeKind::FileIo);
        check("fsync", false, TimeKind::FileIo);
        check("epoll_wait", false, TimeKind::Network);
        check("recvfrom", false, TimeKind::Network);
        check("clock_nanosleep", false, TimeKind::Sleep);
        check("unlink", true, TimeKind::FileIo);
        check("unlink", false, TimeKind::Other);
    }

    #[test]
    fn waits_outside_system_calls() {
        let wait = |is_uninterruptible| Wait {
            tid: 1,
            off_ns: 0,
            woken_ns: 1,
            on_ns: 2,
            is_uninterruptible,
            system_call: None,
            stack: 0,
            file: None,
        };
        assert_eq!(TimeKind::of_wait(&wait(true), None), TimeKind::PageFault);
        assert_eq!(TimeKind::of_wait(&wait(false), None), TimeKind::Other);
    }

    #[test]
    fn futexes_by_their_stacks() {
        let check = |stack: &str, expected: Option<TimeKind>| {
            assert_eq!(by_stack(&frames(stack, Kind::Native)), expected, "{stack}")
        };
        check(
            "a.B.c java.util.concurrent.locks.ReentrantLock.lock jdk.internal.misc.Unsafe.park",
            Some(TimeKind::Lock),
        );
        check(
            "java.util.concurrent.CountDownLatch.await x.acquireShared jdk.internal.misc.Unsafe.park",
            Some(TimeKind::OtherThread),
        );
        check(
            "x.put java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await",
            Some(TimeKind::OtherThread),
        );
        check("a.b java.lang.Thread.sleep JVM_Sleep pthread_cond_timedwait", Some(TimeKind::Sleep));
        check("a.b SharedRuntime::complete_monitor_locking_C ObjectMonitor::enter", Some(TimeKind::Lock));
        check("a.b jdk.internal.misc.Unsafe.park", Some(TimeKind::OtherThread));
        check("Dust::collect __lll_lock_wait", Some(TimeKind::Lock));
        assert_eq!(by_stack(&frames("G1CollectedHeap::try_collect VMThread::execute", Kind::Jvm)), Some(TimeKind::Gc));
        check("main work ___pthread_mutex_lock __lll_lock_wait", Some(TimeKind::Lock));
        check("main", None);
    }

    #[test]
    fn page_faults_are_kernel_frames() {
        assert!(is_page_fault(&frames("asm_exc_page_fault do_anonymous_page", Kind::Kernel)));
        assert!(!is_page_fault(&frames("exc_page_fault", Kind::Native)));
    }
}

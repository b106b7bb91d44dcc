//! Kind of a thread's wait, by the functions on its stack.

use yunti_probe::stack::{Frame, Kind};

pub use crate::runtime::Waiting;

/// Parts of function names, in order of precedence. The first one found anywhere on the stack decides.
const SIGNS: &[(&str, Waiting)] = &[
    ("getaddrinfo", Waiting::NameService),
    ("gethostbyname", Waiting::NameService),
    ("getnameinfo", Waiting::NameService),
    ("lookupAllHostAddr", Waiting::NameService),
    ("NameServiceAddresses.get", Waiting::NameService),
    ("CachedLookup.get", Waiting::NameService),
    ("res_nquery", Waiting::NameService),
    // Idle threads of pools.
    ("ThreadPoolExecutor.getTask", Waiting::Idle),
    ("ForkJoinPool.awaitWork", Waiting::Idle),
    ("ForkJoinPool.runWorker", Waiting::Idle),
    ("DelayedWorkQueue.take", Waiting::Idle),
    ("DelayedWorkQueue.poll", Waiting::Idle),
    ("ReferenceQueue.remove", Waiting::Idle),
    ("Reference.waitForReferencePendingList", Waiting::Idle),
    ("CleanerImpl.run", Waiting::Idle),
    ("EPoll.wait", Waiting::Idle),
    ("epoll_wait", Waiting::Idle),
    ("SelectorImpl.select", Waiting::Idle),
    ("Net.accept", Waiting::Idle),
    ("ServerSocketChannelImpl.accept", Waiting::Idle),
    ("NioSocketImpl.accept", Waiting::Idle),
    ("ServerSocket.accept", Waiting::Idle),
    ("Thread.sleep", Waiting::Sleep),
    ("TimeUnit.sleep", Waiting::Sleep),
    ("nanosleep", Waiting::Sleep),
    // The user of AbstractQueuedSynchronizer is further out than itself.
    ("ReentrantLock.lock", Waiting::Lock),
    ("ReentrantLock.tryLock", Waiting::Lock),
    ("ReentrantReadWriteLock$", Waiting::Lock),
    ("StampedLock.", Waiting::Lock),
    ("Semaphore.", Waiting::Resource),
    ("FutureTask.get", Waiting::Result),
    ("FutureTask.awaitDone", Waiting::Result),
    ("CompletableFuture.", Waiting::Result),
    ("CountDownLatch.await", Waiting::Result),
    ("CyclicBarrier.", Waiting::Result),
    ("Phaser.", Waiting::Result),
    ("Thread.join", Waiting::Result),
    ("ForkJoinTask.", Waiting::Result),
    ("Exchanger.", Waiting::Result),
    ("BlockingQueue.", Waiting::Resource),
    ("BlockingDeque.", Waiting::Resource),
    ("SynchronousQueue.", Waiting::Resource),
    ("TransferQueue.", Waiting::Resource),
    ("ConditionObject.await", Waiting::Resource),
    ("NioSocketImpl.", Waiting::Network),
    ("SocketDispatcher.", Waiting::Network),
    ("SocketInputStream.", Waiting::Network),
    ("SocketChannelImpl.", Waiting::Network),
    ("Net.poll", Waiting::Network),
    ("Net.connect", Waiting::Network),
    ("FileDispatcherImpl.", Waiting::File),
    ("UnixFileDispatcherImpl.", Waiting::File),
    ("FileInputStream.", Waiting::File),
    ("FileOutputStream.", Waiting::File),
    ("RandomAccessFile.", Waiting::File),
    ("MappedByteBuffer.force", Waiting::File),
    // Monitors: enter and wait both go through ObjectMonitor.
    ("Object.wait", Waiting::Resource),
    ("ObjectMonitor::wait", Waiting::Resource),
    ("ObjectMonitor::EnterI", Waiting::Lock),
    ("ObjectMonitor::enter", Waiting::Lock),
    ("ObjectSynchronizer::enter", Waiting::Lock),
    ("pthread_mutex_lock", Waiting::Lock),
    ("lll_lock_wait", Waiting::Lock),
    ("sem_wait", Waiting::Resource),
    ("pthread_cond_", Waiting::Resource),
    ("LockSupport.park", Waiting::Result),
];

/// Classifies a stack.
///
/// @param frames the outermost first
pub fn of(frames: &[Frame]) -> Waiting {
    let on_stack = |sign: &str| frames.iter().any(|frame| frame.name.contains(sign));
    SIGNS.iter().find(|(sign, _)| on_stack(sign)).map_or(Waiting::Unknown, |(_, waiting)| *waiting)
}

/// Returns true if the stack is of an executor's thread.
pub fn is_of_executor(frames: &[Frame]) -> bool {
    const RUN_TASKS: [&str; 4] =
        ["ThreadPoolExecutor.runWorker", "ForkJoinPool.runWorker", "ForkJoinWorkerThread.run", "EventLoop.runAllTasks"];
    frames.iter().any(|frame| RUN_TASKS.iter().any(|run| frame.name.contains(run)))
}

/// Returns the innermost frame of the program itself, which its authors can change. On a stack with Java frames, native
/// frames belong to libraries.
pub fn own_frame(frames: &[Frame]) -> Option<&Frame> {
    let in_java = frames.iter().any(|frame| frame.kind.is_java());
    let is_here = |frame: &&Frame| if in_java { frame.kind != Kind::Native } else { true };
    frames.iter().rev().find(|frame| is_own(frame, in_java) && is_here(frame))
}

fn is_own(frame: &Frame, in_java: bool) -> bool {
    const LIBRARIES: [&str; 9] =
        ["java.", "javax.", "jdk.", "sun.", "com.sun.", "jakarta.", "kotlin.", "scala.", "org.yunti."];
    match frame.kind {
        kind if kind.is_java() || in_java && kind == Kind::Inlined => {
            !LIBRARIES.iter().any(|library| frame.name.starts_with(library))
        }
        Kind::Native | Kind::Inlined => !is_of_system(&frame.name),
        _ => false,
    }
}

/// Returns true for functions of the C library and of program start.
fn is_of_system(name: &str) -> bool {
    const BEGINNINGS: [&str; 22] = [
        "__",
        "_start",
        "_IO_",
        "_int_",
        "mem",
        "str",
        "malloc",
        "free",
        "calloc",
        "realloc",
        "start_thread",
        "clone",
        "pthread_",
        "[",
        "syscall",
        "read",
        "write",
        "munmap",
        "mmap",
        "madvise",
        "sysmalloc",
        "systrim",
    ];
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(names: &[&str]) -> Vec<Frame> {
        names.iter().map(|name| Frame { name: (*name).into(), kind: Kind::Interpreted }).collect()
    }

    #[test]
    fn stacks_that_wait() {
        let check = |names: &[&str], expected| assert_eq!(of(&frames(names)), expected, "{names:?}");
        let park = "java.util.concurrent.locks.LockSupport.park";
        check(&["a.B.run", "java.util.concurrent.locks.ReentrantLock.lock", park], Waiting::Lock);
        check(
            &["java.util.concurrent.ThreadPoolExecutor.getTask", "java.util.concurrent.LinkedBlockingQueue.take", park],
            Waiting::Idle,
        );
        check(&["a.Pool.borrow", "java.util.concurrent.ArrayBlockingQueue.take", park], Waiting::Resource);
        check(&["a.B.run", "java.util.concurrent.FutureTask.get", park], Waiting::Result);
        check(&["a.B.ask", "sun.nio.ch.NioSocketImpl.park", "sun.nio.ch.Net.poll"], Waiting::Network);
        check(&["a.B.ask", "java.net.Inet6AddressImpl.lookupAllHostAddr", "poll"], Waiting::NameService);
        check(&["a.B.run", "ObjectMonitor::enter", "pthread_cond_wait"], Waiting::Lock);
        check(&["a.B.run"], Waiting::Unknown);
    }

    #[test]
    fn frames_of_the_program() {
        let stack = frames(&["java.lang.Thread.run", "com.shop.Cart.total", "java.util.HashMap.get"]);
        assert_eq!(own_frame(&stack).map(|f| &*f.name), Some("com.shop.Cart.total"));
        let native = |name: &str| Frame { name: name.into(), kind: Kind::Native };
        let stack = [native("_start"), native("main"), native("__memmove_avx")];
        assert_eq!(own_frame(&stack).map(|f| &*f.name), Some("main"));
    }
}

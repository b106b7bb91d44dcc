//! Kind of a thread's wait, by the functions on its stack.

use yunti_probe::stack::{Frame, Kind};

pub use crate::runtime::Waiting;
use crate::runtime::is_of_go_library;

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
    ("ForkJoinPool.deactivate", Waiting::Idle),
    ("DelayScheduler.loop", Waiting::Idle),
    ("DelayedWorkQueue.take", Waiting::Idle),
    ("DelayedWorkQueue.poll", Waiting::Idle),
    ("ReservedThread.waitForTask", Waiting::Idle),
    ("QueuedThreadPool.idleJobPoll", Waiting::Idle),
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
    // A worker parks without another function when it has no task.
    ("ForkJoinPool.runWorker", Waiting::Idle),
    ("LockSupport.park", Waiting::Result),
];

/// Classifies a stack.
///
/// @param frames the outermost first
pub fn of(frames: &[Frame]) -> Waiting {
    // Threads wait in the middle of a task, and tasks run others while they wait for those.
    let runs_tasks = |frame: &Frame| RUN_TASKS_OF_OTHERS.iter().any(|run| frame.name.contains(run));
    let within = frames.iter().rposition(runs_tasks).map_or(frames, |at| &frames[at + 1..]);
    let of = |frames: &[Frame]| {
        let on_stack = |sign: &str| frames.iter().any(|frame| frame.name.contains(sign));
        SIGNS.iter().find(|(sign, _)| on_stack(sign)).map(|(_, waiting)| *waiting)
    };
    of(within).or_else(|| of(frames)).unwrap_or(Waiting::Unknown)
}

/// Functions that run tasks, and whose classes have others that wait for tasks.
const RUN_TASKS_OF_OTHERS: [&str; 7] = [
    "ForkJoinTask.doExec",
    "CompletableFuture$AsyncSupply.",
    "CompletableFuture$AsyncRun.",
    "CompletableFuture$Completion.",
    "CompletableFuture.postComplete",
    ".tryFire",
    "FutureTask.run",
];

/// Parts of names of the kernel's functions, in order of precedence, and the kind of wait that they are.
const KERNEL_SIGNS: &[(&str, Waiting)] = &[
    // A lease of a file, and file systems that other processes or machines serve.
    ("break_lease", Waiting::File),
    ("request_wait_answer", Waiting::File),
    ("fuse_", Waiting::File),
    ("rpc_wait_bit", Waiting::File),
    ("p9_client_rpc", Waiting::File),
    ("hrtimer_nanosleep", Waiting::Sleep),
    ("do_nanosleep", Waiting::Sleep),
    ("flock_lock", Waiting::Lock),
    ("fcntl_setlk", Waiting::Lock),
    ("locks_lock_inode_wait", Waiting::Lock),
    ("posix_lock_inode", Waiting::Lock),
    ("rwsem_down", Waiting::Lock),
    ("__mutex_lock", Waiting::Lock),
    ("inet_csk_accept", Waiting::Idle),
    ("unix_accept", Waiting::Idle),
    ("tcp_recvmsg", Waiting::Network),
    ("tcp_sendmsg", Waiting::Network),
    ("sk_wait_data", Waiting::Network),
    ("sk_stream_wait", Waiting::Network),
    ("inet_stream_connect", Waiting::Network),
    ("unix_stream_connect", Waiting::Network),
    ("unix_wait_for_peer", Waiting::Network),
    ("unix_dgram", Waiting::Network),
    ("unix_stream_read", Waiting::Network),
    ("unix_stream_data_wait", Waiting::Network),
    ("sock_alloc_send_pskb", Waiting::Network),
    ("skb_wait_for_more_packets", Waiting::Network),
    ("pipe_write", Waiting::Resource),
    ("pipe_read", Waiting::Result),
    ("do_wait", Waiting::Result),
    ("kernel_wait", Waiting::Result),
    ("semtimedop", Waiting::Resource),
    ("msgrcv", Waiting::Resource),
    ("msgsnd", Waiting::Resource),
    ("do_mq_timed", Waiting::Resource),
    ("io_schedule", Waiting::File),
    ("folio_wait", Waiting::File),
    ("jbd2_log_wait", Waiting::File),
    ("wait_on_page", Waiting::File),
    ("balance_dirty_pages", Waiting::File),
    ("ep_poll", Waiting::Idle),
    ("epoll_wait", Waiting::Idle),
    ("do_poll", Waiting::Idle),
    ("do_sys_poll", Waiting::Idle),
    ("poll_schedule_timeout", Waiting::Idle),
    ("sys_poll", Waiting::Idle),
    ("sys_ppoll", Waiting::Idle),
    ("do_select", Waiting::Idle),
    ("sys_select", Waiting::Idle),
    ("sys_pselect", Waiting::Idle),
    ("eventfd_read", Waiting::Idle),
    ("inotify_read", Waiting::Idle),
    ("signalfd_", Waiting::Idle),
    ("timerfd_read", Waiting::Idle),
    ("sigtimedwait", Waiting::Idle),
    ("sys_pause", Waiting::Idle),
    ("sigsuspend", Waiting::Idle),
    ("io_cqring_wait", Waiting::Idle),
    ("n_tty_read", Waiting::Idle),
    // Whatever else a call for a file waits for.
    ("do_sys_open", Waiting::File),
    ("vfs_statx", Waiting::File),
    ("iterate_dir", Waiting::File),
    ("vfs_fsync", Waiting::File),
];

/// Functions that take a lock, wait for another thread, or for one of several resources, in native code.
const NATIVE_SIGNS: &[(&str, Waiting)] = &[
    ("getaddrinfo", Waiting::NameService),
    ("gethostbyname", Waiting::NameService),
    ("getnameinfo", Waiting::NameService),
    ("res_nquery", Waiting::NameService),
    ("pthread_mutex_", Waiting::Lock),
    ("lll_lock_wait", Waiting::Lock),
    ("pthread_rwlock_", Waiting::Lock),
    ("lock_contended", Waiting::Lock),
    ("RawMutex::lock", Waiting::Lock),
    ("RawRwLock::lock", Waiting::Lock),
    ("read_contended", Waiting::Lock),
    ("write_contended", Waiting::Lock),
    ("sem_wait", Waiting::Resource),
    ("sem_timedwait", Waiting::Resource),
    ("new_sem_wait", Waiting::Resource),
    ("pthread_join", Waiting::Result),
    ("pthread_clockjoin", Waiting::Result),
    ("pthread_timedjoin", Waiting::Result),
    ("pthread_barrier_wait", Waiting::Result),
    ("pthread_cond_", Waiting::Resource),
    ("Condvar::wait", Waiting::Resource),
    ("thread::park", Waiting::Result),
];

/// Classifies a stack of native code that does not run, whose last frames are the kernel's.
pub fn of_native(frames: &[Frame]) -> Waiting {
    let has = |sign: &str, of_kernel: bool| {
        frames.iter().any(|frame| (frame.kind == Kind::Kernel) == of_kernel && frame.name.contains(sign))
    };
    let find = |signs: &[(&str, Waiting)], of_kernel| {
        signs.iter().find(|(sign, _)| has(sign, of_kernel)).map(|(_, waiting)| *waiting)
    };
    if let Some(Waiting::NameService) = find(NATIVE_SIGNS, false) {
        return Waiting::NameService;
    }
    if is_pool_of_node(frames) || is_pool_of_rust(frames) {
        return Waiting::Idle;
    }
    // A read of a pipe or a device by libuv's pool, which no thread waits for.
    let of_pool = frames.iter().any(|frame| frame.name.starts_with("uv__fs_work"));
    if of_pool && has("sys_", true) && !has("futex", true) {
        return Waiting::File;
    }
    // All locks and conditions of user space wait in futexes; the functions above the call tell them apart.
    if has("futex", true) {
        return find(NATIVE_SIGNS, false).unwrap_or(Waiting::Resource);
    }
    find(KERNEL_SIGNS, true).or_else(|| find(NATIVE_SIGNS, false)).unwrap_or(Waiting::Unknown)
}

/// Function of the kernel in which a thread waits for room in a pipe.
pub const PIPE_WRITE: &str = "pipe_write";

/// Returns true if a stack writes into a pipe.
pub fn is_in_pipe_write(frames: &[Frame]) -> bool {
    frames.iter().any(|frame| frame.kind == Kind::Kernel && frame.name.contains(PIPE_WRITE))
}

/// Returns true if a stack waits until the peer of a Unix-domain socket reads.
pub fn sends_to_unix(frames: &[Frame]) -> bool {
    const SENDS: [&str; 4] =
        ["unix_dgram_sendmsg", "unix_stream_sendmsg", "unix_wait_for_peer", "sock_alloc_send_pskb"];
    frames.iter().any(|frame| frame.kind == Kind::Kernel && SENDS.iter().any(|sign| frame.name.contains(sign)))
}

/// Returns true for threads of V8's and libuv's pools without a task. They wake each other, as holders of a lock do.
fn is_pool_of_node(frames: &[Frame]) -> bool {
    let has = |test: fn(&str) -> bool| frames.iter().any(|frame| test(&frame.name));
    // The queue of V8's jobs has a lock that its workers and the collector take.
    if has(|name| name.starts_with("v8::platform::")) {
        return true;
    }
    has(|name| name.starts_with("uv_cond_wait"))
        && has(|name| name.contains("PlatformWorkerThread") || name == "worker" || name.starts_with("worker("))
}

/// Returns true for threads of tokio's and rayon's pools without a task.
fn is_pool_of_rust(frames: &[Frame]) -> bool {
    const PARK: [&str; 5] = [
        "tokio::runtime::scheduler::multi_thread::park",
        "tokio::runtime::park::",
        "tokio::runtime::blocking::pool::Inner::run",
        "rayon_core::sleep::Sleep",
        "rayon_core::registry::WorkerThread::wait_until",
    ];
    let park = frames.iter().rposition(|frame| PARK.iter().any(|sign| frame.name.contains(sign)));
    // A task runs within the same functions, further in.
    park.is_some_and(|at| frames[at..].iter().all(|frame| !is_own(frame, false)))
}

/// Returns true if a stack takes work or messages from a queue. Its thread waits for somebody who has work, not for
/// what others hold.
pub fn takes_work(frames: &[Frame]) -> bool {
    // A semaphore of Python waits for its condition too, and is no queue.
    if frames.iter().any(|frame| frame.kind == Kind::Python && frame.name.contains("Semaphore.acquire ")) {
        return false;
    }
    const TAKES: [&str; 22] = [
        "uv__sem_wait",
        "Queue.take",
        "Queue.poll",
        "Deque.take",
        "Deque.poll",
        "TransferQueue.",
        "Exchanger.",
        "Object.wait",
        "Queue.get",
        "queue.get",
        "SimpleQueue.get",
        "pthread_cond_",
        "Condvar::wait",
        "condition_variable",
        "mpsc",
        "crossbeam_channel",
        "Receiver<",
        "Condition.wait",
        "ConditionObject.await",
        "sync.Cond.Wait",
        "Cond).Wait",
        "pipe_read",
    ];
    // Reasons for which a goroutine waits, which are its innermost frames. One that a library has put to sleep waits
    // for what the library gives: a connection, a permit.
    const REASONS: [&str; 2] = ["chan receive", "select"];
    let is_taking = |frames: &[Frame]| {
        let called_from = frames.iter().rev().skip(1).find(|frame| !frame.name.starts_with("runtime."));
        called_from.is_none_or(|frame| is_own(frame, false))
    };
    // Below the functions of Java all waits look the same.
    let in_java = frames.iter().any(|frame| frame.kind.is_java());
    let counts = |frame: &&Frame| !in_java || frame.kind.is_java() || frame.kind == Kind::Inlined;
    frames.last().is_some_and(|frame| REASONS.contains(&&*frame.name)) && is_taking(frames)
        || frames.iter().filter(counts).any(|frame| TAKES.iter().any(|take| frame.name.contains(take)))
}

/// Packages of well-known libraries of Java, whose classes are not the program's own.
const THIRD_PARTIES: [&str; 38] = [
    "org.springframework.",
    "org.apache.",
    "io.netty.",
    "com.zaxxer.",
    "org.h2.",
    "org.postgresql.",
    "com.mysql.",
    "org.mariadb.",
    "oracle.",
    "com.microsoft.",
    "ch.qos.",
    "org.slf4j.",
    "com.fasterxml.",
    "com.google.",
    "org.eclipse.",
    "io.vertx.",
    "reactor.",
    "io.reactivex.",
    "okhttp3.",
    "okio.",
    "io.undertow.",
    "org.xnio.",
    "org.jboss.",
    "org.hibernate.",
    "redis.clients.",
    "io.lettuce.",
    "io.micrometer.",
    "io.grpc.",
    "org.hsqldb.",
    "org.sqlite.",
    "com.github.benmanes.",
    "org.jooq.",
    "akka.",
    "org.glassfish.",
    "io.micronaut.",
    "io.quarkus.",
    "com.mchange.",
    "groovy.",
];

/// Returns true for a function of a well-known library of Java.
pub fn is_of_third_party(name: &str) -> bool {
    THIRD_PARTIES.iter().any(|package| name.starts_with(package))
}

/// Returns the innermost frame of the program's own code, outside of well-known libraries: the place that its owners
/// know. Without a known library, it is the frame of [`own_frame`].
pub fn user_frame(frames: &[Frame]) -> Option<&Frame> {
    let in_java = frames.iter().any(|frame| frame.kind.is_java());
    let known = |frame: &Frame| is_of_third_party(&frame.name);
    let of_script = frames
        .iter()
        .rev()
        .find(|frame| frame.kind == Kind::JavaScript && is_own(frame, false) && !is_of_package(&frame.name));
    let of_script = of_script.or_else(|| frames.iter().rev().find(|frame| is_of_python_program(frame)));
    let users = of_script.or_else(|| {
        frames.iter().rev().find(|frame| in_java && frame.kind != Kind::Native && is_own(frame, true) && !known(frame))
    });
    users.or_else(|| own_frame(frames))
}

/// Returns true if the stack is of a thread of libuv's pool, which Node.js uses for files, names and cryptography.
pub fn is_of_uv_pool(frames: &[Frame]) -> bool {
    frames.iter().any(|frame| &*frame.name == "worker" || frame.name.starts_with("uv__fs_work"))
}

/// Returns true if the stack is of an executor's thread.
pub fn is_of_executor(frames: &[Frame]) -> bool {
    const RUN_TASKS: [&str; 7] = [
        "uv__fs_work",
        "concurrent/futures/thread.py",
        "ThreadPoolExecutor.runWorker",
        "ForkJoinPool.runWorker",
        "ForkJoinWorkerThread.run",
        "EventLoop.runAllTasks",
        "java.lang.VirtualThread.run",
    ];
    frames.iter().any(|frame| RUN_TASKS.iter().any(|run| frame.name.contains(run)))
}

/// Returns the innermost frame of the program itself, which its authors can change. On a stack with Java frames, native
/// frames belong to libraries.
pub fn own_frame(frames: &[Frame]) -> Option<&Frame> {
    let in_java = frames.iter().any(|frame| frame.kind.is_java());
    let in_script = frames.iter().any(|frame| frame.kind == Kind::JavaScript);
    let in_python = frames.iter().any(|frame| frame.kind == Kind::Python);
    let is_here = |frame: &&Frame| match frame.kind {
        Kind::Native => !in_java && !in_script && !in_python,
        // Inlined functions on a stack of Python are native ones.
        Kind::Inlined => !in_python,
        _ => true,
    };
    frames.iter().rev().find(|frame| is_own(frame, in_java) && is_here(frame))
}

fn is_own(frame: &Frame, in_java: bool) -> bool {
    const LIBRARIES: [&str; 9] =
        ["java.", "javax.", "jdk.", "sun.", "com.sun.", "jakarta.", "kotlin.", "scala.", "org.yunti."];
    match frame.kind {
        kind if kind.is_java() || in_java && kind == Kind::Inlined => {
            !LIBRARIES.iter().any(|library| frame.name.starts_with(library))
        }
        Kind::Python => is_of_python(&frame.name) && !is_of_python_library(&frame.name),
        Kind::Native | Kind::Inlined => !is_of_system(&frame.name) && !is_of_go_library(&frame.name),
        Kind::JavaScript => !frame.name.contains(" node:"),
        _ => false,
    }
}

/// Returns the file of a function of Python: `shop/orders.py:42` for `Pricer.total shop/orders.py:42`.
fn python_file(name: &str) -> &str {
    name.rsplit_once(' ').map_or("", |(_, place)| place)
}

/// Returns true for a function, and not for a state of the interpreter.
fn is_of_python(name: &str) -> bool {
    python_file(name).contains(':')
}

/// Returns true for a function of the library that comes with the interpreter.
fn is_of_python_library(name: &str) -> bool {
    python_file(name).starts_with("python3.") || name.contains(" <frozen ")
}

/// Returns true for a thread of Python in a function of the program that an installed package has called: a server that
/// handles a request. The main thread begins in a module, and runs programs by packages too.
pub fn is_called_back(frames: &[Frame]) -> bool {
    let mut python = frames.iter().filter(|frame| is_of_python(&frame.name) && frame.kind == Kind::Python);
    let is_main = python.clone().next().is_some_and(|frame| frame.name.starts_with("<module>"));
    let is_of_package = |frame: &Frame| is_own(frame, false) && !is_of_python_program(frame);
    !is_main && python.any(is_of_package) && python.any(is_of_python_program)
}

/// Returns true for a function of the program itself, not of an installed package.
fn is_of_python_program(frame: &Frame) -> bool {
    let is_of_package = |file: &str| file.starts_with("site-packages/") || file.starts_with("dist-packages/");
    frame.kind == Kind::Python && is_own(frame, false) && !is_of_package(python_file(&frame.name))
}

/// Returns true for a function of JavaScript in a package: `handle express/router.js:47`.
fn is_of_package(name: &str) -> bool {
    name.rsplit_once(' ').is_some_and(|(_, place)| place.contains('/'))
}

/// Returns true for functions of the libraries of C, C++, Rust and Go, and of program start.
fn is_of_system(name: &str) -> bool {
    const BEGINNINGS: [&str; 51] = [
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
        "futex_",
        "lll_",
        "sem_",
        "new_sem_",
        "poll",
        "epoll_",
        "select",
        "accept",
        "recv",
        "send",
        "connect",
        "nanosleep",
        "clock_nanosleep",
        "usleep",
        "sched_yield",
        "qsort",
        "bsearch",
        "std::",
        "tokio::",
        "rayon_core::",
        "core::",
        "alloc::",
        "hashbrown::",
        "parking_lot",
        "lock_api::",
        "boost::",
        "runtime.",
        "runtime/internal",
        "internal/",
        "sync.",
    ];
    let name = qualified(name);
    name.starts_with("__") || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// Returns the name of a C++ or Rust function from its namespace on, without the type that it returns.
fn qualified(name: &str) -> &str {
    // `<alloc::vec::Vec<T> as Trait>::method`
    if let Some(inner) = name.strip_prefix('<') {
        return inner.trim_start_matches('&');
    }
    let (mut depth, mut begin) = (0i32, 0);
    for (at, letter) in name.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            '(' if depth == 0 => break,
            ' ' if depth == 0 => begin = at + 1,
            _ => {}
        }
    }
    &name[begin..]
}

/// Returns the public name of a function of the C library, which has others inside: `memcpy` for
/// `__memcpy_avx512_unaligned_erms`.
pub fn of_c_library(name: &str) -> &str {
    const FOR_PROCESSORS: [&str; 5] = ["_avx", "_sse", "_evex", "_ssse", "_erms"];
    if let Some(function) = name.strip_prefix("__")
        && let Some(at) = FOR_PROCESSORS.iter().filter_map(|sign| function.find(sign)).min()
    {
        return &function[..at];
    }
    ["__GI___libc_", "__GI___", "__GI_", "__libc_"].iter().find_map(|inside| name.strip_prefix(inside)).unwrap_or(name)
}

/// Returns a function's name for a sentence: without arguments of templates, and without parameters if they are long.
pub fn shown(name: &str) -> String {
    const LONG: usize = 60;
    let name = of_c_library(name);
    let mut short = String::new();
    let mut depth = 0i32;
    // `<T as Trait>::method` begins with a bracket, operators end with one, and Java has `<init>`.
    let is_template = !name.starts_with('<') && !name.contains("operator") && !name.contains("init>");
    for letter in name.chars() {
        match letter {
            '<' if is_template => depth += 1,
            '>' if is_template && depth > 0 => depth -= 1,
            _ if depth == 0 => short.push(letter),
            _ => {}
        }
    }
    match short.split_once('(') {
        Some((name, _)) if short.len() > LONG && !name.is_empty() => format!("{}()", qualified(name)),
        _ => short,
    }
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
        let partition = "__gnu_cxx::__normal_iterator<double*> std::__unguarded_partition<double*>(double*, double*)";
        let stack = [native("QuoteBook::vwap(Series&)"), native(partition), native("futex_wait")];
        assert_eq!(own_frame(&stack).map(|f| &*f.name), Some("QuoteBook::vwap(Series&)"));
        let lock = native("<std::sync::mutex::Mutex<T>>::lock");
        assert_eq!(own_frame(&[native("shop::orders::take"), lock]).map(|f| &*f.name), Some("shop::orders::take"));
    }

    #[test]
    fn names_in_sentences() {
        let long = "std::vector<int, std::allocator<int> > Zone::find<Point>(std::vector<int> const&, std::map<int, long> \
                    const&, unsigned long, unsigned long) const";
        assert_eq!(shown("__memcpy_avx512_unaligned_erms"), "memcpy");
        assert_eq!(shown("__GI___libc_read"), "read");
        assert_eq!(shown(long), "Zone::find()");
        assert_eq!(shown("Zone::contains(Pt const&) const"), "Zone::contains(Pt const&) const");
        assert_eq!(shown("main.(*Store).Get"), "main.(*Store).Get");
        assert_eq!(shown("<shop::Cart as Total>::sum"), "<shop::Cart as Total>::sum");
    }

    #[test]
    fn native_stacks_that_wait() {
        let frame = |name: &str, kind| Frame { name: name.into(), kind };
        let of = |user: &str, kernel: &str| of_native(&[frame(user, Kind::Native), frame(kernel, Kind::Kernel)]);
        assert_eq!(of("__pthread_mutex_lock", "futex_do_wait"), Waiting::Lock);
        assert_eq!(of("__pthread_cond_wait", "futex_do_wait"), Waiting::Resource);
        assert_eq!(of("std::sys::sync::mutex::futex::Mutex::lock_contended", "__futex_wait"), Waiting::Lock);
        assert_eq!(of("waitpid", "do_wait"), Waiting::Result);
        assert_eq!(of("__poll", "do_poll.constprop.0"), Waiting::Idle);
        assert_eq!(of("read", "pipe_read"), Waiting::Result);
    }
}

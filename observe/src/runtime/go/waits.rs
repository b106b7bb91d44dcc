//! Kind of a goroutine's wait, by the reason that the runtime notes and by the functions on its stack.

use crate::runtime::Waiting;
use yunti_probe::stack::Frame;

/// Parts of names of functions that say more than the reason. The innermost function with one of them decides.
const SIGNS: &[(&str, Waiting)] = &[
    ("net.(*Resolver).", Waiting::NameService),
    ("net.cgoLookup", Waiting::NameService),
    ("net._C2func_getaddrinfo", Waiting::NameService),
    // Goroutines that serve others, and wait until these want something.
    ("net.(*netFD).accept", Waiting::Idle),
    ("os/signal.loop", Waiting::Idle),
    ("net/http.(*connReader).backgroundRead", Waiting::Idle),
    ("net/http.(*persistConn).readLoop", Waiting::Idle),
    ("net/http.(*persistConn).writeLoop", Waiting::Idle),
    ("net/http.(*http2clientConnReadLoop).", Waiting::Idle),
    ("net/http.(*http2serverConn).serve", Waiting::Idle),
    ("net/http.(*http2serverConn).readFrames", Waiting::Idle),
    ("http2.(*clientConnReadLoop).", Waiting::Idle),
    ("http2.(*serverConn).serve", Waiting::Idle),
    ("http2.(*serverConn).readFrames", Waiting::Idle),
    ("database/sql.(*DB).connectionOpener", Waiting::Idle),
    ("database/sql.(*DB).connectionCleaner", Waiting::Idle),
    ("database/sql.(*Tx).awaitDone", Waiting::Idle),
    ("database/sql.(*Rows).awaitDone", Waiting::Idle),
    ("context.(*cancelCtx).propagateCancel", Waiting::Idle),
    ("context.propagateCancel", Waiting::Idle),
    ("grpc/internal/transport.(*loopyWriter).run", Waiting::Idle),
    ("grpc/internal/transport.(*http2Client).reader", Waiting::Idle),
    ("grpc/internal/transport.(*http2Client).keepalive", Waiting::Idle),
    ("grpc/internal/transport.(*http2Server).HandleStreams", Waiting::Idle),
    ("grpc/internal/transport.(*http2Server).keepalive", Waiting::Idle),
    ("go-sql-driver/mysql.(*mysqlConn).startWatcher", Waiting::Idle),
    // Waits for a peer through a goroutine that owns the connection.
    ("net/http.(*persistConn).roundTrip", Waiting::Network),
    ("net/http.(*http2ClientConn).", Waiting::Network),
    ("http2.(*ClientConn).", Waiting::Network),
    ("net/http.(*Transport).dialConn", Waiting::Network),
    ("grpc/internal/transport.(*recvBufferReader).readClient", Waiting::Network),
    ("net.(*sysDialer).", Waiting::Network),
    // A connection that is dialled, or that another request gives back.
    ("net/http.(*Transport).getConn", Waiting::Resource),
    ("database/sql.(*DB).conn", Waiting::Resource),
    ("semaphore.(*Weighted).Acquire", Waiting::Resource),
    ("rate.(*Limiter).", Waiting::Sleep),
    ("os.(*Process).", Waiting::Result),
    ("internal/poll.(*fdMutex).", Waiting::Lock),
    ("sync.(*Once).doSlow", Waiting::Lock),
    ("sync.(*Mutex).", Waiting::Lock),
    ("sync.(*RWMutex).", Waiting::Lock),
    ("sync.(*WaitGroup).Wait", Waiting::Result),
    ("errgroup.(*Group).Wait", Waiting::Result),
    ("singleflight.(*Group).", Waiting::Result),
];

/// Kinds of wait by reason, where no function says more.
const REASONS: &[(&str, Waiting)] = &[
    ("IO wait", Waiting::Network),
    ("sleep", Waiting::Sleep),
    ("sync.Mutex", Waiting::Lock),
    ("sync.RWMutex", Waiting::Lock),
    ("sync.WaitGroup", Waiting::Result),
    ("sync.Cond", Waiting::Resource),
    ("semacquire", Waiting::Resource),
    ("chan receive (nil chan)", Waiting::Idle),
    ("chan send (nil chan)", Waiting::Idle),
    ("select (no cases)", Waiting::Idle),
    ("chan receive", Waiting::Resource),
    ("chan send", Waiting::Resource),
    ("select", Waiting::Resource),
    ("coroutine", Waiting::Result),
    ("wait for GC cycle", Waiting::Result),
    // The collector makes goroutines that allocate work for it, or wait for its workers.
    ("GC assist wait", Waiting::Not),
    ("GC assist marking", Waiting::Not),
    ("GC mark termination", Waiting::Not),
    ("stopping the world", Waiting::Not),
    ("flushing proc caches", Waiting::Not),
    ("garbage collection", Waiting::Not),
    ("dumping heap", Waiting::Not),
    ("preempted", Waiting::Not),
    ("trace reader", Waiting::Idle),
    ("debug call", Waiting::Idle),
    ("finalizer wait", Waiting::Idle),
    ("cleanup wait", Waiting::Idle),
    ("force gc", Waiting::Idle),
    ("GC ", Waiting::Idle),
];

/// Beginnings of reasons that many functions have, so that the stack says more.
const COMMON: [&str; 5] = ["IO wait", "semacquire", "chan ", "select", "sync.WaitGroup"];

/// Classifies the wait of a goroutine. Also returns true if a known function says what is waited for, so that the
/// reason adds nothing.
///
/// @param frames the outermost first
pub fn of(reason: &str, frames: &[Frame]) -> (Waiting, bool) {
    let by_reason =
        REASONS.iter().find(|(name, _)| reason.starts_with(name)).map_or(Waiting::Unknown, |(_, waiting)| *waiting);
    if by_reason == Waiting::Idle || !COMMON.iter().any(|common| reason.starts_with(common)) {
        return (by_reason, false);
    }
    let is_at_peer = by_reason == Waiting::Network;
    // A function that takes a connection from a pool may also open one.
    let fits =
        |waiting: Waiting| !is_at_peer || matches!(waiting, Waiting::NameService | Waiting::Idle | Waiting::Network);
    let sign = |frame: &Frame| SIGNS.iter().find(|(sign, waiting)| fits(*waiting) && frame.name.contains(sign));
    if let Some((_, waiting)) = frames.iter().rev().find_map(sign) {
        return (*waiting, *waiting != Waiting::Idle);
    }
    (if is_at_peer && waits_for_a_request(frames) { Waiting::Idle } else { by_reason }, false)
}

/// Parts of names of functions whose system calls wait.
const CALLS: &[(&str, Waiting)] = &[
    ("net._C2func_getaddrinfo", Waiting::NameService),
    ("net._C_res_nsearch", Waiting::NameService),
    ("os.(*Process).", Waiting::Result),
    ("os/exec.", Waiting::Result),
    ("syscall.Flock", Waiting::Lock),
    ("syscall.FcntlFlock", Waiting::Lock),
    ("os/signal.", Waiting::Idle),
    ("os.(*File).", Waiting::File),
    ("internal/poll.(*FD).", Waiting::File),
];

/// Returns the kind of a wait in a system call, if the function that made it says one.
///
/// @param frames the outermost first
pub fn in_call(frames: &[Frame]) -> Option<Waiting> {
    let sign = |frame: &Frame| CALLS.iter().find(|(sign, _)| frame.name.contains(sign));
    frames.iter().rev().find_map(sign).map(|(_, waiting)| *waiting)
}

/// Returns true if a stack brings written data to the device.
pub fn syncs(frames: &[Frame]) -> bool {
    const SYNCS: [&str; 4] = ["os.(*File).Sync", "syscall.Fsync", "syscall.Fdatasync", "unix.Fdatasync"];
    frames.iter().any(|frame| SYNCS.iter().any(|sign| frame.name.contains(sign)))
}

/// Returns true if an HTTP server's goroutine reads the next request, and is not in its handler.
fn waits_for_a_request(frames: &[Frame]) -> bool {
    let Some(serve) = frames.iter().position(|frame| &*frame.name == "net/http.(*conn).serve") else { return false };
    !frames[serve..].iter().any(|frame| frame.name.ends_with("ServeHTTP"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_probe::stack::Kind;

    #[test]
    fn waits_by_reason_and_stack() {
        let check = |reason: &str, names: &[&str], expected| {
            let frame = |name: &&str| Frame { name: (*name).into(), kind: Kind::Native };
            let frames: Vec<Frame> = names.iter().map(frame).collect();
            assert_eq!(of(reason, &frames).0, expected, "{reason} {names:?}");
        };
        check("chan receive", &["main.worker"], Waiting::Resource);
        check("sync.Mutex.Lock", &["main.add", "sync.(*Mutex).lockSlow"], Waiting::Lock);
        // Up to Go 1.19, mutexes and groups had no reasons of their own.
        check("semacquire", &["main.add", "sync.(*Mutex).lockSlow"], Waiting::Lock);
        check("semacquire", &["main.all", "sync.(*WaitGroup).Wait"], Waiting::Result);
        check("semacquire", &["main.other"], Waiting::Resource);
        check("sleep", &["net/http.HandlerFunc.ServeHTTP", "main.handle", "time.Sleep"], Waiting::Sleep);
        let serve = "net/http.(*conn).serve";
        check("IO wait", &[serve, "bufio.(*Reader).Peek", "net.(*conn).Read"], Waiting::Idle);
        check(
            "IO wait",
            &[serve, "net/http.HandlerFunc.ServeHTTP", "main.handle", "net.(*conn).Read"],
            Waiting::Network,
        );
        check("IO wait", &["main.main", "net.(*TCPListener).Accept", "net.(*netFD).accept"], Waiting::Idle);
        check("select", &["main.ask", "net/http.(*persistConn).roundTrip"], Waiting::Network);
        check("select", &["main.query", "database/sql.(*DB).conn"], Waiting::Resource);
        check("select", &["database/sql.(*DB).connectionOpener"], Waiting::Idle);
        check("select (no cases)", &["main.main"], Waiting::Idle);
        // It opens a connection for the pool, and runs what others wait for.
        check("IO wait", &["database/sql.(*DB).conn", "net.(*netFD).connect"], Waiting::Network);
        check("IO wait", &["sync.(*Once).doSlow", "main.load", "net.(*conn).Read"], Waiting::Network);
        check("GC assist wait", &["main.handle"], Waiting::Not);
        check("GC assist marking", &["main.handle"], Waiting::Not);
        check("GC worker (idle)", &[], Waiting::Idle);
        check("a new reason", &["main.handle"], Waiting::Unknown);
    }
}

//! Objects that requests hold only from their own frames while they wait in a remote call. A program that drops its
//! last reference before the call keeps them young: a collection during the call need not copy them.
//!
//! ```text
//!   frames, innermost first   sun.nio.ch.Net.poll        the wait
//!                             shop.Client.call           the call
//!                             shop.Orders.total   list   a local or an argument: held over the call
//!                             server.Exchange.run        the request's method; outer frames are the server's
//! ```
//!
//! A dump has no local variables of compiled frames that the compiler knows to be dead. An object that something
//! else refers to as well, such as a field of a shared object or a `ThreadLocal`, is not held by frames alone: no
//! release of a local would free it. In doubt an object is left out.

use std::collections::{BTreeMap, HashMap, HashSet};

use yunti_base::Result;

use super::frames;
use super::kinds::{SOCKET, method, state};
use crate::answer::referrers::{REFERRERS_MAX, all_referrers};
use crate::file::map::be_id;
use crate::file::records::{OBJECT, RootKind, value_bytes};
use crate::heap::{Dominator, Heap};
use crate::model::name::is_of_the_jdk;
use crate::pass::locate::Body;

/// Object that a request holds over its call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldObject {
    /// Class.
    pub class: String,
    /// Bytes that the object retains.
    pub bytes: u64,
    /// Outermost frame that holds it: `shop.Orders.total:17`. All of them must let it go.
    pub held_in: String,
    /// Innermost frame that holds it, if it was handed down as an argument.
    pub handed_to: Option<String>,
    /// Method that the innermost holder waits for.
    pub call: String,
}

/// Request that waits in a remote call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingRequest {
    /// Objects, the largest first.
    pub held: Vec<HeldObject>,
}

/// Requests of a dump.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Number of threads within a request.
    pub in_process: usize,
    pub waiting: Vec<WaitingRequest>,
}

/// Returns what requests hold over their calls.
///
/// @param request method whose calls are requests, as `package.Class.method`
pub fn held_by_requests(heap: &Heap, request: &str) -> Result<Requests> {
    let mut found = Requests::default();
    let mut threads: Vec<Candidate> = Vec::new();
    for thread in &heap.roots.threads {
        let frames = frames(heap, thread.trace)?;
        // The outermost one: a server may dispatch a request to itself.
        let Some(begin) = frames.iter().rposition(|frame| method(frame) == request) else { continue };
        found.in_process += 1;
        if waits_for_another_machine(&frames[..begin], request) {
            threads.push(Candidate::of(heap, thread.object, frames, begin));
        }
    }
    reject_shared(heap, &mut threads)?;
    let ids: Vec<u64> = threads.iter().flat_map(|thread| thread.locals.keys()).map(|&n| heap.ids.id(n)).collect();
    let bodies = heap.bodies(&ids)?;
    found.waiting = threads.iter().map(|thread| thread.request(heap, &bodies, request)).collect();
    Ok(found)
}

/// Thread of a request that waits, with the locals that may be held by its frames alone.
struct Candidate {
    object: u32,
    frames: Vec<String>,
    /// Frame of the request's method.
    begin: usize,
    /// Frames that hold each object, innermost first.
    locals: BTreeMap<u32, Vec<usize>>,
}

impl Candidate {
    fn of(heap: &Heap, object: u32, frames: Vec<String>, begin: usize) -> Candidate {
        let holder = Dominator::Place(place(heap, object));
        let mut locals: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for local in heap.roots.locals_of(object) {
            let frame = local.frame as usize;
            if local.kind == RootKind::JavaFrame && frame < frames.len() && local.object != object {
                locals.entry(local.object).or_default().push(frame);
            }
        }
        // What others refer to as well is not the thread's alone.
        locals.retain(|&local, _| heap.dominator(place(heap, local)) == holder);
        locals.values_mut().for_each(|frames| frames.sort_unstable());
        Candidate { object, frames, begin, locals }
    }

    /// Returns the objects that the application's frames of the request hold.
    fn request(&self, heap: &Heap, bodies: &HashMap<u64, Body>, request: &str) -> WaitingRequest {
        let is_own = |at: &usize| !is_of_the_jdk(&self.frames[*at]) && !is_of_the_server(&self.frames[*at], request);
        // A frame of the server around the application's frames keeps what it holds in any case.
        let Some(outermost) = (0..=self.begin).rfind(is_own) else { return WaitingRequest { held: Vec::new() } };
        let mut held: Vec<HeldObject> = Vec::new();
        for (&local, frames) in &self.locals {
            let mut own = frames.iter().copied().filter(is_own);
            let Some(inner) = own.next() else { continue };
            let outer = own.next_back().unwrap_or(inner);
            if inner == 0 || frames.last().is_some_and(|last| *last > outermost) {
                continue;
            }
            let id = heap.ids.id(local);
            let class = heap.class_of(id, bodies.get(&id));
            held.push(HeldObject {
                class: heap.classes.list[class as usize].name.clone(),
                bytes: heap.retained(place(heap, local)),
                held_in: self.frames[outer].clone(),
                handed_to: (inner != outer).then(|| self.frames[inner].clone()),
                call: method(&self.frames[inner - 1]).to_owned(),
            });
        }
        held.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.class.cmp(&b.class)));
        WaitingRequest { held }
    }
}

/// Leaves out locals that something besides frames refers to: a field of the thread, such as its `ThreadLocal`s, or
/// an object that is not itself held by frames alone.
fn reject_shared(heap: &Heap, threads: &mut [Candidate]) -> Result<()> {
    let mut all: Vec<u32> = threads.iter().flat_map(|thread| thread.locals.keys().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let referrers = all_referrers(heap, &all)?;
    let ids: Vec<u64> = threads.iter().map(|thread| heap.ids.id(thread.object)).collect();
    let bodies = heap.bodies(&ids)?;
    for thread in threads {
        let fields = bodies.get(&heap.ids.id(thread.object)).map(|body| references(heap, body)).unwrap_or_default();
        // The top below the thread of each referrer; the thread itself if one of its fields refers to the local.
        let tops: HashMap<u32, HashSet<u32>> = thread
            .locals
            .keys()
            .map(|&local| {
                let from = referrers.get(&local).into_iter().flatten();
                let mut tops: HashSet<u32> =
                    from.filter(|from| **from != thread.object).map(|from| top(heap, thread.object, *from)).collect();
                let is_crowded = referrers.get(&local).is_some_and(|from| from.len() >= REFERRERS_MAX);
                if is_crowded || fields.contains(&heap.ids.id(local)) {
                    tops.insert(place(heap, thread.object));
                }
                (local, tops)
            })
            .collect();
        loop {
            let kept: HashSet<u32> = thread.locals.keys().map(|&local| place(heap, local)).collect();
            let before = thread.locals.len();
            thread.locals.retain(|local, _| tops[local].is_subset(&kept));
            if thread.locals.len() == before {
                break;
            }
        }
    }
    Ok(())
}

fn place(heap: &Heap, number: u32) -> u32 {
    heap.forest.places[number as usize]
}

/// Returns the object directly below a thread in the tree of dominators, above another object.
fn top(heap: &Heap, thread: u32, number: u32) -> u32 {
    let (thread, mut at) = (place(heap, thread), place(heap, number));
    while let Dominator::Place(above) = heap.dominator(at) {
        if above == thread {
            return at;
        }
        at = above;
    }
    // Not below the thread: garbage refers to it, too.
    at
}

/// Returns the objects that the fields of an instance refer to.
fn references(heap: &Heap, body: &Body) -> HashSet<u64> {
    let Body::Instance { class, data } = body else { return HashSet::new() };
    let Some(index) = heap.classes.index(*class) else { return HashSet::new() };
    let id_bytes = heap.map.id_bytes;
    let (mut at, mut found) = (0, HashSet::new());
    for field in heap.classes.hierarchy(index).flat_map(|class| &class.record.fields) {
        let bytes = value_bytes(field.kind, id_bytes).unwrap_or(0);
        if let Some(value) = data.get(at..at + bytes).filter(|_| field.kind == OBJECT) {
            found.insert(be_id(value, id_bytes));
        }
        at += bytes;
    }
    found
}

/// Returns true if the innermost frames wait for another machine, not for the client of the request.
fn waits_for_another_machine(frames: &[String], request: &str) -> bool {
    const PARKED: [&str; 4] = ["Unsafe.park", "VirtualThread.park", "Object.wait", "Continuation.yield"];
    // Results of calls that another thread makes. Locks, queues and pools have other names.
    const RESULTS: [&str; 7] = [
        "Future.",
        "Future$",
        "Promise.",
        "CountDownLatch",
        "ClientCalls",
        "BlockingMonoSubscriber",
        "BlockingSingleSubscriber",
    ];
    let Some(own) = frames.iter().position(|frame| is_of_the_server(frame, request) || !is_of_the_jdk(frame)) else {
        return false;
    };
    if is_of_the_server(&frames[own], request) {
        return false;
    }
    if state(frames) == SOCKET {
        return true;
    }
    let is_parked = frames.iter().take(3).any(|frame| PARKED.iter().any(|name| frame.contains(name)));
    let inner = frames.iter().take(own + 2);
    is_parked && inner.into_iter().any(|frame| RESULTS.iter().any(|name| frame.contains(name)))
}

/// Returns true for methods of the server that calls the request's method: its package, and for Tomcat its connectors.
fn is_of_the_server(frame: &str, request: &str) -> bool {
    let package = |name: &str| -> Option<usize> {
        let class = name.rfind('.')?;
        name[..class].rfind('.')
    };
    let Some(end) = package(request) else { return false };
    if request.starts_with("org.apache.catalina.") {
        return ["org.apache.catalina.", "org.apache.coyote.", "org.apache.tomcat."]
            .iter()
            .any(|server| frame.starts_with(server));
    }
    // A method that the user names is the application's own: only itself is left out.
    let is_server = SERVERS.iter().any(|server| request.starts_with(server));
    is_server && frame.starts_with(&request[..=end])
}

/// Packages of servers whose methods handle requests.
const SERVERS: [&str; 6] = [
    "sun.net.httpserver.",
    "org.eclipse.jetty.server.",
    "io.undertow.",
    "org.glassfish.grizzly.",
    "jakarta.servlet.",
    "javax.servlet.",
];

#[cfg(test)]
mod tests {
    use super::*;

    const TOMCAT: &str = "org.apache.catalina.connector.CoyoteAdapter.service";

    #[test]
    fn remote_calls_are_told_from_other_waits() {
        let waits = |frames: &[&str]| {
            let frames: Vec<String> = frames.iter().map(|&frame| frame.to_owned()).collect();
            waits_for_another_machine(&frames, TOMCAT)
        };
        let socket = ["sun.nio.ch.Net.poll", "sun.nio.ch.NioSocketImpl.park:191"];
        assert!(waits(&[socket[0], socket[1], "shop.Client.call:17"]));
        let future = "java.util.concurrent.CompletableFuture.get:2072";
        let park = ["jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park:211"];
        assert!(waits(&[park[0], park[1], future, "jdk.internal.net.http.HttpClientImpl.send:553", "shop.A.b:1"]));
        assert!(waits(&["java.lang.Object.wait", "org.apache.http.concurrent.BasicFuture.get:82", "shop.A.b:1"]));
        // A lock, a pool, a program that works; the body of the request itself.
        let lock = "java.util.concurrent.locks.ReentrantLock.lock:322";
        assert!(!waits(&[park[0], park[1], lock, "shop.Stock.take:7"]));
        assert!(!waits(&["shop.Future.sum:7"]) && !waits(&[]) && !waits(&socket));
        let body = "org.apache.catalina.connector.CoyoteInputStream.read:132";
        assert!(!waits(&[socket[0], socket[1], body, "shop.Orders.read:7"]));
    }

    #[test]
    fn servers_have_packages() {
        let request = "sun.net.httpserver.ServerImpl$Exchange.run";
        assert!(is_of_the_server("sun.net.httpserver.FixedLengthInputStream.read:9", request));
        assert!(!is_of_the_server("sun.net.www.http.HttpClient.parseHTTP:9", request));
        assert!(is_of_the_server("org.apache.coyote.http11.Http11Processor.service:3", TOMCAT));
        assert!(!is_of_the_server("shop.Cart.total:3", "shop.Cart.total"));
    }
}

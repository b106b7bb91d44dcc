//! Run of a plan: its threads, the watch over each second, and the report.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit, setrlimit};
use rustls::ClientConnection;
use yunti_base::{Cancel, Code, Error, Result};

use crate::guard::{End, Guard, Verdict};
use crate::http::{http1, http2};
use crate::lane::{self, Control, Lane};
use crate::plan::{Plan, Protocol};
use crate::report::{Report, Second};
use crate::server::trust::{self, Tls};
use crate::tally::batch::Batch;
use crate::tally::record::Record;

/// Descriptors that a run needs beside its connections.
const OWN_DESCRIPTORS: u64 = 64;
/// Longest wait for the first connection.
const REACH: Duration = Duration::from_secs(10);
/// Period of the check of the caller's flag.
const WATCH: Duration = Duration::from_millis(50);

/// Runs a plan until its end. `on_second` gets the figures of each second as soon as it is over.
///
/// The caller can set `cancel` at any time; the report then has the figures until that time.
/// # Errors
/// The server cannot be reached, TLS cannot be set up, or the machine lacks descriptors.
pub fn run(plan: &Plan, cancel: &Cancel, on_second: &mut dyn FnMut(&Second)) -> Result<Report> {
    assert!(plan.threads >= 1 && plan.connections >= plan.threads, "each thread has a connection");
    allow_descriptors(plan.connections)?;
    let tls = match plan.target.is_tls {
        true => {
            let protocol = if plan.protocol == Protocol::Http1 { "http/1.1" } else { "h2" };
            Some(Tls { config: plan.trust.config(protocol)?, name: trust::server_name(&plan.target.host)? })
        }
        false => None,
    };
    // `localhost` is often both ::1 and 127.0.0.1, and the server listens at one.
    let plan = &Plan { addresses: reachable(plan, tls.as_ref())?, ..plan.clone() };
    let control = Control {
        cancel: cancel.clone(),
        stop: AtomicBool::new(false),
        halve: AtomicBool::new(false),
        begun: Instant::now(),
    };
    let (sender, receiver) = channel();
    let (records, watched) = thread::scope(|scope| {
        let start = |n: usize| {
            let (sender, tls, control) = (sender.clone(), tls.clone(), &control);
            scope.spawn(move || drive(Lane::new(plan, control, n, sender), tls))
        };
        let threads: Vec<_> = (0..plan.threads).map(start).collect();
        drop(sender);
        let watched = watch(plan, &control, &receiver, on_second);
        let records: Vec<_> = threads.into_iter().map(|thread| thread.join()).collect();
        (records, watched)
    });
    let mut all = Record::new(plan.script.patterns().len());
    for record in records {
        all.join(&record.map_err(|panic| yunti_base::error::of_panic(&*panic))??);
    }
    let end = match cancel.is_set() {
        true if watched.end == End::Complete => End::Cancelled,
        _ => watched.end,
    };
    Ok(Report::new(plan, &all, watched.series, end, control.halve.load(Relaxed)))
}

fn drive(lane: Lane, tls: Option<Tls>) -> Result<Record> {
    match lane.plan.protocol {
        Protocol::Http1 => http1::driver::run(lane, tls),
        Protocol::Http2 { streams } => http2::driver::run(lane, tls, streams),
    }
}

/// Connects once to each address, and returns the ones that answer. An absent server is one error, not thousands.
fn reachable(plan: &Plan, tls: Option<&Tls>) -> Result<Vec<SocketAddr>> {
    let doing = format!("cannot connect to {}:{}", plan.target.host, plan.target.port);
    let mut last = Error::new(Code::Input, doing.clone());
    let mut found = Vec::new();
    for address in &plan.addresses {
        let limit = plan.timeout.min(REACH);
        let socket = match TcpStream::connect_timeout(address, limit) {
            Ok(socket) => socket,
            Err(e) => {
                last = Error::io(Code::Input, &doing, &e).hint("start the server, or check the URL");
                continue;
            }
        };
        match tls.map_or(Ok(()), |tls| shake_hands(socket, tls, limit)) {
            Ok(()) => found.push(*address),
            Err(e) => last = Error::new(Code::Input, format!("{doing}: {e}")).hint(tls_hint(&e)),
        }
    }
    if found.is_empty() { Err(last) } else { Ok(found) }
}

fn shake_hands(mut socket: TcpStream, tls: &Tls, limit: Duration) -> io::Result<()> {
    socket.set_read_timeout(Some(limit))?;
    socket.set_write_timeout(Some(limit))?;
    let mut connection = ClientConnection::new(tls.config.clone(), tls.name.clone()).map_err(io::Error::other)?;
    while connection.is_handshaking() {
        connection.complete_io(&mut socket).map_err(|e| match e.kind() {
            io::ErrorKind::WouldBlock => io::Error::new(io::ErrorKind::TimedOut, "no answer to the start of TLS"),
            _ => e,
        })?;
    }
    Ok(())
}

fn tls_hint(error: &io::Error) -> &'static str {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(_)) => "name its authority with --ca FILE, or add --insecure",
        Some(rustls::Error::NoApplicationProtocol) => "the server does not offer this version of HTTP",
        _ => "check that the server speaks TLS on this port",
    }
}

/// Raises the limit of open files as far as the connections need.
fn allow_descriptors(connections: usize) -> Result<()> {
    let needed = connections as u64 + OWN_DESCRIPTORS;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let most = limit.maximum.unwrap_or(needed);
    limit.current = Some(most.min(needed));
    let is_set = setrlimit(Resource::Nofile, limit).is_ok();
    if is_set && most >= needed {
        return Ok(());
    }
    Err(Error::new(Code::Usage, format!("{connections} connections exceed the limit of open files ({most})"))
        .hint("lower --connections, or raise ulimit -n"))
}

struct Watched {
    series: Vec<Second>,
    end: End,
}

/// Joins the seconds of all threads and judges each.
fn watch(
    plan: &Plan,
    control: &Control,
    reports: &Receiver<lane::Report>,
    on_second: &mut dyn FnMut(&Second),
) -> Watched {
    let mut guard = Guard::new(plan.stop_errors, plan.timeout.as_secs_f64());
    let mut open: BTreeMap<u64, (usize, Batch)> = BTreeMap::new();
    let mut watched = Watched { series: Vec::new(), end: End::Complete };
    let mut in_flight = 0u64;
    let mut take = |second: u64, batch: &Batch, watched: &mut Watched| {
        in_flight = (in_flight + batch.sent).saturating_sub(batch.done + batch.errors);
        let figures = Second::of(second, batch);
        watched.series.push(figures);
        on_second(&figures);
        if watched.end != End::Complete || (second + 1) * lane::SECOND_NS >= plan.duration.as_nanos() as u64 {
            return;
        }
        match guard.judge(batch, in_flight) {
            Verdict::Continue => {}
            Verdict::Halve => control.halve.store(true, Relaxed),
            Verdict::Stop(end) => {
                watched.end = end;
                control.stop.store(true, Relaxed);
            }
        }
    };
    loop {
        match reports.recv_timeout(WATCH) {
            Ok(report) => {
                let (threads, batch) = open.entry(report.second).or_insert_with(|| (0, Batch::default()));
                *threads += 1;
                batch.join(&report.batch);
                while let Some(entry) = open.first_entry().filter(|entry| entry.get().0 == plan.threads) {
                    let (second, (_, batch)) = entry.remove_entry();
                    take(second, &batch, &mut watched);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    // The last seconds of threads that ended at different times.
    for (second, (_, batch)) in open {
        if batch.offered + batch.sent + batch.done + batch.errors > 0 {
            take(second, &batch, &mut watched);
        }
    }
    watched
}

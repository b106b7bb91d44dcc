//! Run of a plan: its threads, the watch over each second, and the report.

use std::collections::BTreeMap;
use std::io;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit, setrlimit};
use yunti_base::{Cancel, Code, Error, Result};

use crate::guard::{End, Guard, Verdict};
use crate::http1;
use crate::http2;
use crate::lane::{self, Control, Lane};
use crate::plan::{Plan, Protocol};
use crate::report::{Report, Second};
use crate::tally::batch::Batch;
use crate::tally::record::Record;
use crate::trust;
use crate::trust::Tls;

/// Descriptors that a run needs beside its connections.
const OWN_DESCRIPTORS: u64 = 64;
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
            let protocols: &[&str] = if plan.protocol == Protocol::Http1 { &["http/1.1"] } else { &["h2"] };
            Some(Tls { config: plan.trust.config(protocols)?, name: trust::server_name(&plan.target.host)? })
        }
        false => None,
    };
    reach(plan)?;
    let control = Control {
        cancel: cancel.clone(),
        stop: AtomicBool::new(false),
        halvings: AtomicU64::new(0),
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
    Ok(Report::new(plan, &all, watched.series, end, control.halvings.load(Relaxed) > 0))
}

fn drive(lane: Lane, tls: Option<Tls>) -> Result<Record> {
    match lane.plan.protocol {
        Protocol::Http1 => http1::driver::run(lane, tls),
        Protocol::Http2 { streams } => http2::driver::run(lane, tls, streams),
    }
}

/// Connects once, so that an absent server is one error instead of thousands.
fn reach(plan: &Plan) -> Result<()> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in &plan.addresses {
        match TcpStream::connect_timeout(address, plan.timeout.min(Duration::from_secs(10))) {
            Ok(_) => return Ok(()),
            Err(e) => last = e,
        }
    }
    let target = &plan.target;
    Err(Error::io(Code::Input, &format!("cannot connect to {}:{}", target.host, target.port), &last)
        .hint("start the server, or check the URL"))
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
    let mut open: BTreeMap<usize, (usize, Batch)> = BTreeMap::new();
    let mut watched = Watched { series: Vec::new(), end: End::Complete };
    let mut in_flight = 0u64;
    let mut take = |second: usize, batch: &Batch, watched: &mut Watched| {
        in_flight = (in_flight + batch.sent).saturating_sub(batch.done + batch.errors);
        let figures = Second::of(second as u64, batch);
        watched.series.push(figures);
        on_second(&figures);
        if watched.end != End::Complete || second as u64 >= plan.duration.as_secs() {
            return;
        }
        match guard.judge(batch, in_flight) {
            Verdict::Continue => {}
            Verdict::Halve => {
                control.halvings.fetch_add(1, Relaxed);
            }
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

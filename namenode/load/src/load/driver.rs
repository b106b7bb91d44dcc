//! Loop of one thread over all its connections.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use prost::Message;
use yunti_base::{Code, Error, Result};

use super::client::Client;
use super::figures::Figures;
use super::history::History;
use super::mix::Mix;
use super::names::{FILES_A_DIRECTORY, NameSpace};
use super::recent::{Batch, Recent};
use super::schedule::{Arrivals, Pace};
use super::worker::{NextStep, Shared, Worker};
use crate::call::latency::Latencies;
use crate::call::operation::{Call, refused};
use crate::datanode::fleet::Pipeline;
use crate::rpc::connection::End;
use crate::rpc::frame;
use crate::rpc::messages::{Done, FileStatusResponse};
use crate::rpc::wire::{Event, Io, Source, Wire};
use crate::server::{Server, Usage};

/// Work of a driver.
pub enum Task {
    /// Load for a time; the warm-up does not count.
    Load { mix: Mix, pace: Pace, warm_up: Duration, time: Duration },
    /// Create all directories, then all files.
    Make,
}

/// Address, user and connections of a driver.
pub struct Plan {
    pub address: SocketAddr,
    pub user: String,
    pub io: Io,
    pub connections: usize,
    /// Number of this driver's first connection, among all.
    pub first: usize,
    pub names: NameSpace,
    pub seed: u64,
    pub pipeline: Option<Pipeline>,
    /// History file, if the run has one.
    pub history: Option<Arc<History>>,
}

/// State that a running driver shares with other threads.
#[derive(Default)]
pub struct Progress {
    pub calls: AtomicU64,
    pub stop: AtomicBool,
    /// True during the measured time.
    pub is_counting: Arc<AtomicBool>,
    pub recent: Recent,
}

/// Figures of a driver, or of several joined.
pub struct Outcome {
    pub latencies: Latencies,
    /// Measured seconds.
    pub seconds: f64,
    /// Processor time of the client's threads in the measured time.
    pub cpu_seconds: f64,
    /// I/O method: `uring` or `epoll`.
    pub io: &'static str,
    /// Usage of the NameNode's process in the measured time, if known.
    pub used: Option<Usage>,
    /// First error of each kind of call.
    pub errors: Vec<(Call, String)>,
    /// Metrics of the NameNode, or the reason for their absence.
    pub figures: std::result::Result<Figures, String>,
    pub reconnects: u64,
    /// Operations that arrived and had no response.
    pub unanswered: u64,
}

impl Default for Outcome {
    fn default() -> Self {
        Outcome {
            latencies: Latencies::new(),
            seconds: 0.0,
            cpu_seconds: 0.0,
            io: "",
            used: None,
            errors: Vec::new(),
            figures: Err(String::new()),
            reconnects: 0,
            unanswered: 0,
        }
    }
}

impl Outcome {
    /// Adds the figures of another thread over the same time.
    pub fn join(&mut self, other: Outcome) {
        self.latencies.join(&other.latencies);
        self.seconds = self.seconds.max(other.seconds);
        self.cpu_seconds += other.cpu_seconds;
        self.io = other.io;
        self.used = self.used.or(other.used);
        self.reconnects += other.reconnects;
        self.unanswered += other.unanswered;
        for (call, error) in other.errors {
            if self.errors.iter().all(|(known, _)| *known != call) {
                self.errors.push((call, error));
            }
        }
    }
}

const HAND_ON: Duration = Duration::from_millis(200);
/// Time to wait for responses after the end; calls without one then count as unanswered.
const DRAIN: Duration = Duration::from_secs(5);
/// Connections that open at once, at most, until the server shows that it has accepted them.
const OPENING_MAX: usize = 128;
/// Time after which an idle connection counts as accepted.
const SILENT: Duration = Duration::from_millis(20);
/// Time between two attempts of a refused connection.
const RECONNECT: Duration = Duration::from_millis(100);
/// Refusals in a row before the first response of a NameNode.
const REFUSALS_MAX: u32 = 50;
/// Refusals in a row after a response; more, since a restart takes time.
const REFUSALS_MAX_LATER: u32 = 600;
/// Time before `complete` is repeated. Stock's client waits 400 ms, and longer each time, which would bound the load.
const COMPLETE_AGAIN: Duration = Duration::from_millis(2);
/// Time limit of the calls before and after the load; long, since a NameNode may be starting.
const RESPONSE_WITHIN: Duration = Duration::from_secs(30);
const RETRY: Duration = Duration::from_millis(200);

struct Slot {
    worker: Worker,
    /// Refused connections in a row.
    refusals: u32,
    /// True until the server shows that it has accepted the connection.
    is_opening: bool,
}

struct Driver<'a> {
    plan: &'a Plan,
    task: &'a Task,
    progress: &'a Progress,
    common: Shared<'a>,
    wire: Wire,
    slots: Vec<Slot>,
    begun: Instant,
    arrivals: Option<Arrivals>,
    /// Arrival times of operations that found all connections busy.
    waiting: VecDeque<u64>,
    idle: Vec<usize>,
    /// Slots that reconnect, and when.
    lost: VecDeque<(Instant, usize)>,
    to_open: VecDeque<usize>,
    opening: usize,
    /// Slots that are open without a call, and when they count as accepted.
    silent: VecDeque<(Instant, usize)>,
    /// Slots that wait for a block report before they repeat `complete`, and until when.
    later: VecDeque<(Instant, usize)>,
    /// Time of the last update of `progress.recent`.
    handed_ns: u64,
    reconnects: u64,
    /// Number of the next directory or file to create: directories first.
    made: u64,
    is_over: bool,
}

/// Runs a task until it is done or stopped.
pub fn run(plan: &Plan, task: &Task, progress: &Progress) -> Result<Outcome> {
    run_watching(plan, task, progress, None)
}

/// Runs a task, and measures a server's process during it.
pub fn run_watching(plan: &Plan, task: &Task, progress: &Progress, server: Option<&Server>) -> Result<Outcome> {
    let common = Shared {
        names: &plan.names,
        rng: fastrand::Rng::with_seed(plan.seed),
        latencies: Latencies::new(),
        pipeline: plan.pipeline.clone(),
        kept_from_ns: 0,
        batch: Batch::new(),
        history: plan.history.as_deref(),
        errors: Vec::new(),
    };
    let slots = (0..plan.connections).map(|n| Slot {
        worker: Worker::new(&plan.names, plan.first + n),
        refusals: 0,
        is_opening: false,
    });
    let mut driver = Driver {
        plan,
        task,
        progress,
        common,
        wire: Wire::new(plan.io, plan.connections)?,
        slots: slots.collect(),
        begun: Instant::now(),
        arrivals: None,
        waiting: VecDeque::new(),
        idle: Vec::new(),
        lost: VecDeque::new(),
        to_open: VecDeque::new(),
        opening: 0,
        silent: VecDeque::new(),
        later: VecDeque::new(),
        handed_ns: 0,
        reconnects: 0,
        made: 0,
        is_over: false,
    };
    let outcome = driver.work(server);
    // Calls without a response count as failed, also after an error.
    driver.slots.iter_mut().for_each(|slot| slot.worker.give_up(&mut driver.common));
    outcome
}

fn cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Driver<'_> {
    fn now_ns(&self) -> u64 {
        self.begun.elapsed().as_nanos() as u64
    }

    fn work(&mut self, server: Option<&Server>) -> Result<Outcome> {
        self.to_open = (0..self.slots.len()).collect();
        self.open()?;
        let (warm_up, time) = match self.task {
            Task::Load { pace, warm_up, time, .. } => {
                if let Pace::Open(rate) = pace {
                    self.arrivals = Some(Arrivals::new(*rate, self.now_ns()));
                }
                (*warm_up, *time)
            }
            Task::Make => (Duration::ZERO, Duration::MAX / 4),
        };
        let start = self.begun.elapsed();
        self.common.kept_from_ns = (start + warm_up).as_nanos() as u64;
        let end_ns = (start + warm_up + time).as_nanos().min(u64::MAX.into()) as u64;
        let used = || server.and_then(Server::usage);
        let (mut cpu_from, mut counted_from, mut used_from) = (cpu_ns(), start, used());
        let mut is_warm = warm_up.is_zero();
        self.progress.is_counting.store(is_warm && !matches!(self.task, Task::Make), Relaxed);
        while !self.progress.stop.load(Relaxed) && !self.is_done() {
            let now = self.now_ns();
            if now >= end_ns {
                break;
            }
            if !is_warm && now >= self.common.kept_from_ns {
                (cpu_from, counted_from, used_from, is_warm) = (cpu_ns(), self.begun.elapsed(), used(), true);
                self.progress.is_counting.store(true, Relaxed);
            }
            self.round(end_ns)?;
        }
        self.progress.is_counting.store(false, Relaxed);
        let counted = self.begun.elapsed() - counted_from;
        let cpu_seconds = (cpu_ns() - cpu_from) as f64 / 1e9;
        let used = used_from.zip(used()).map(|(from, to)| to.since(&from));
        // Responses to calls under way still count. Without them the longest latencies would be missing.
        self.is_over = true;
        let until = self.now_ns() + DRAIN.as_nanos() as u64;
        while self.slots.iter().any(|slot| slot.worker.is_busy()) && self.now_ns() < until {
            self.round(until)?;
        }
        let busy = self.slots.iter().filter(|slot| slot.worker.is_busy()).count();
        Ok(Outcome {
            latencies: std::mem::take(&mut self.common.latencies),
            seconds: counted.as_secs_f64(),
            cpu_seconds,
            io: self.wire.name(),
            used,
            errors: std::mem::take(&mut self.common.errors),
            reconnects: self.reconnects,
            figures: Err(String::new()),
            unanswered: (busy + self.waiting.len()) as u64,
        })
    }

    /// Returns true once all directories and files exist.
    fn is_done(&self) -> bool {
        matches!(self.task, Task::Make)
            && self.made >= self.plan.names.directories() + self.plan.names.files
            && self.slots.iter().all(|slot| !slot.worker.is_busy())
    }

    fn round(&mut self, end_ns: u64) -> Result<()> {
        let now = self.now_ns();
        if now >= self.handed_ns + HAND_ON.as_nanos() as u64 {
            self.handed_ns = now;
            self.progress.recent.hand(&mut self.common.batch);
        }
        let mut until = end_ns;
        if let (false, Some(arrivals)) = (self.is_over, &self.arrivals) {
            until = until.min(arrivals.next_ns());
        }
        let mut timeout = Duration::from_nanos(until.saturating_sub(now)).min(Duration::from_millis(100));
        for (at, _) in [self.lost.front(), self.later.front(), self.silent.front()].into_iter().flatten() {
            timeout = timeout.min(at.saturating_duration_since(Instant::now()));
        }
        self.wire.wait(timeout)?;
        while let Some(event) = self.wire.next() {
            match event {
                Event::Writable(n) => self.writable(n)?,
                Event::Readable(n, source) => self.readable(n, source)?,
            }
        }
        while self.lost.front().is_some_and(|(at, _)| *at <= Instant::now()) {
            self.to_open.extend(self.lost.pop_front().map(|(_, n)| n));
        }
        while self.silent.front().is_some_and(|(at, _)| *at <= Instant::now()) {
            if let Some((_, n)) = self.silent.pop_front() {
                self.is_accepted(n);
            }
        }
        self.open()?;
        while self.later.front().is_some_and(|(at, _)| *at <= Instant::now()) {
            if let Some((_, n)) = self.later.pop_front() {
                self.repeat_complete(n);
            }
        }
        self.arrive();
        Ok(())
    }

    /// Starts operations that have arrived on idle connections.
    fn arrive(&mut self) {
        if self.is_over {
            return;
        }
        let now = self.now_ns();
        if let Some(arrivals) = &mut self.arrivals {
            while let Some(due) = arrivals.take(now, &mut self.common.rng) {
                self.waiting.push_back(due);
            }
            while let Some(due) = self.waiting.front().copied() {
                let Some(n) = self.idle.pop() else { break };
                if !self.wire.is_open(n) || self.slots[n].worker.is_busy() {
                    continue;
                }
                self.waiting.pop_front();
                self.start(n, due);
            }
        }
    }

    /// Starts the next operation of an idle connection, or marks it as idle.
    fn free(&mut self, n: usize) {
        if self.is_over {
            return;
        }
        match self.arrivals {
            None => {
                let now = self.now_ns();
                self.start(n, now);
            }
            Some(_) => match self.waiting.pop_front() {
                Some(due) => self.start(n, due),
                None => self.idle.push(n),
            },
        }
    }

    fn start(&mut self, n: usize, due_ns: u64) {
        let worker = &mut self.slots[n].worker;
        let Some(out) = self.wire.out(n) else { return };
        match self.task {
            Task::Load { mix, .. } => {
                let operation = mix.choose(&mut self.common.rng);
                worker.start(out, &mut self.common, operation, due_ns);
            }
            Task::Make => {
                let (names, number) = (&self.plan.names, self.made);
                let directories = names.directories();
                // A file may come before its directory: create() creates missing parents, and mkdirs accepts an
                // existing one.
                let (path, is_file) = match number.checked_sub(directories) {
                    None => (names.directory(number), false),
                    Some(file) if file < names.files => (names.file(spread(file, names.files)), true),
                    Some(_) => return,
                };
                self.made += 1;
                worker.make(out, &self.common, path, is_file, due_ns);
            }
        }
        if self.wire.flush(n).is_err() {
            self.lose(n);
        }
    }

    /// Opens connections, a limited number at once: the backlog of a server that just started is short
    /// (`ipc.server.listen.queue.size`).
    fn open(&mut self) -> Result<()> {
        while self.opening < OPENING_MAX {
            let Some(n) = self.to_open.pop_front() else { break };
            self.connect(n)?;
        }
        Ok(())
    }

    /// Marks a connection as no longer opening: it had a response, broke, or had enough time.
    fn is_accepted(&mut self, n: usize) {
        if std::mem::take(&mut self.slots[n].is_opening) {
            self.opening -= 1;
        }
    }

    fn connect(&mut self, n: usize) -> Result<()> {
        let slot = &mut self.slots[n];
        slot.is_opening = true;
        self.opening += 1;
        self.wire.open(n, self.plan.address).map_err(|e| no_response(self.plan, &e))?;
        if let Some(out) = self.wire.out(n) {
            slot.worker.hello(out, &self.plan.user);
        }
        Ok(())
    }

    /// Closes a broken connection and schedules its reconnect.
    fn lose(&mut self, n: usize) {
        let slot = &mut self.slots[n];
        self.wire.close(n);
        slot.refusals += 1;
        slot.worker.give_up(&mut self.common);
        self.reconnects += 1;
        self.is_accepted(n);
        self.lost.push_back((Instant::now() + RECONNECT, n));
    }

    fn gives_up(&self, n: usize) -> bool {
        let has_responded = self.progress.calls.load(Relaxed) > 0;
        self.slots[n].refusals >= if has_responded { REFUSALS_MAX_LATER } else { REFUSALS_MAX }
    }

    fn writable(&mut self, n: usize) -> Result<()> {
        if !self.wire.is_open(n) {
            return Ok(());
        }
        match self.wire.writable(n) {
            Ok(()) => {}
            Err(e) => {
                if self.gives_up(n) || self.progress.calls.load(Relaxed) == 0 {
                    return Err(no_response(self.plan, &e));
                }
                self.lose(n);
                return Ok(());
            }
        }
        if !self.slots[n].worker.is_busy() {
            self.free(n);
        }
        // No response will show that an idle connection is accepted.
        if self.slots[n].is_opening && !self.slots[n].worker.is_busy() {
            self.silent.push_back((Instant::now() + SILENT, n));
        }
        Ok(())
    }

    fn readable(&mut self, n: usize, source: Source) -> Result<()> {
        let now = self.now_ns();
        let (mut next, mut responses) = (NextStep::Continue, 0);
        let mut out = Vec::new();
        if !self.wire.is_open(n) {
            return Ok(());
        }
        let slot = &mut self.slots[n];
        let (worker, common) = (&mut slot.worker, &mut self.common);
        let end = self.wire.read(n, source, |bytes| {
            responses += 1;
            next = worker.handle_response(bytes, &mut out, common, now)?;
            Ok(())
        })?;
        if responses > 0 {
            slot.refusals = 0;
            self.progress.calls.fetch_add(responses, Relaxed);
            if std::mem::take(&mut slot.is_opening) {
                self.opening -= 1;
            }
        }
        if end == End::Closed {
            if self.gives_up(n) {
                let what = format!("{} closes each connection", self.plan.address);
                return Err(Error::new(Code::Input, what).hint("give the RPC port of a NameNode without Kerberos"));
            }
            self.lose(n);
            return Ok(());
        }
        if let (false, Some(to)) = (out.is_empty(), self.wire.out(n)) {
            to.append(&mut out);
            if self.wire.flush(n).is_err() {
                self.lose(n);
                return Ok(());
            }
        }
        match next {
            NextStep::Finish => self.free(n),
            NextStep::Repeat => self.later.push_back((Instant::now() + COMPLETE_AGAIN, n)),
            NextStep::Continue => {}
        }
        Ok(())
    }

    /// Repeats `complete`.
    fn repeat_complete(&mut self, n: usize) {
        let now = self.now_ns();
        let Some(out) = self.wire.out(n) else { return };
        self.slots[n].worker.repeat_complete(out, now);
        if self.wire.flush(n).is_err() {
            self.lose(n);
        }
    }
}

/// Returns true if a path exists.
pub fn exists(plan: &Plan, path: &str) -> Result<bool> {
    let mut client = Client::new();
    let mut request = Vec::new();
    client.path(&mut request, Call::GetFileInfo, path.to_owned());
    let response: FileStatusResponse = call(plan, &client, Call::GetFileInfo, &request)?;
    Ok(response.status.is_some())
}

/// Creates a directory.
pub fn make_directory(plan: &Plan, path: &str) -> Result<()> {
    let mut client = Client::new();
    let mut request = Vec::new();
    client.mkdirs(&mut request, path.to_owned());
    call::<Done>(plan, &client, Call::Mkdirs, &request).map(drop)
}

/// Deletes a path recursively, if it exists.
pub fn delete(plan: &Plan, path: &str) -> Result<()> {
    let mut client = Client::new();
    let mut request = Vec::new();
    client.delete(&mut request, path.to_owned(), true);
    call::<Done>(plan, &client, Call::Delete, &request).map(drop)
}

/// Makes one blocking call over its own connection, and retries while a NameNode starts.
fn call<T: Message + Default>(plan: &Plan, client: &Client, call: Call, request: &[u8]) -> Result<T> {
    let end = Instant::now() + RESPONSE_WITHIN;
    loop {
        let bytes = call_once(plan, client, request)?;
        let response = frame::response(&bytes)?;
        let exception = response.header.exception.as_deref().unwrap_or("an unnamed error");
        match response.header.status {
            0 => return response.result(),
            _ if exception.ends_with("RetriableException") && Instant::now() < end => std::thread::sleep(RETRY),
            _ => return Err(refused(call, exception, response.header.error.as_deref().unwrap_or_default())),
        }
    }
}

fn call_once(plan: &Plan, client: &Client, request: &[u8]) -> Result<Vec<u8>> {
    let failed = |e: io::Error| no_response(plan, &e);
    let mut stream = TcpStream::connect_timeout(&plan.address, RESPONSE_WITHIN).map_err(failed)?;
    stream.set_read_timeout(Some(RESPONSE_WITHIN)).map_err(failed)?;
    let mut out = Vec::new();
    client.hello(&mut out, &plan.user);
    out.extend_from_slice(request);
    stream.write_all(&out).map_err(failed)?;
    let mut bytes = vec![0; 4];
    stream.read_exact(&mut bytes).map_err(failed)?;
    let length = frame::response_bytes(&bytes)?.unwrap_or(4);
    bytes.resize(length, 0);
    stream.read_exact(&mut bytes[4..]).map_err(failed)?;
    Ok(bytes)
}

fn no_response(plan: &Plan, error: &io::Error) -> Error {
    Error::io(Code::Input, "no NameNode responds", error)
        .at_path(plan.address.to_string())
        .hint("give its RPC address: dfs.namenode.rpc-address, or fs.defaultFS")
}

/// Maps successive numbers to files of different directories, so that creates do not all hit one directory.
fn spread(number: u64, files: u64) -> u64 {
    let directories = files.div_ceil(FILES_A_DIRECTORY);
    let full = files / FILES_A_DIRECTORY;
    // Row by row over the full directories, then the rest in the last one.
    if number < full * FILES_A_DIRECTORY {
        (number % full) * FILES_A_DIRECTORY + number / full
    } else {
        (directories - 1) * FILES_A_DIRECTORY + (number - full * FILES_A_DIRECTORY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_is_a_permutation() {
        for files in [1, 999, 1000, 1001, 2000, 3456] {
            let mut all: Vec<u64> = (0..files).map(|n| spread(n, files)).collect();
            all.sort_unstable();
            assert_eq!(all, (0..files).collect::<Vec<_>>(), "{files}");
        }
    }
}

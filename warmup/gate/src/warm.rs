//! Gate of one port: closed for clients, warmed by a replay, then open.

use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use yunti_replay::closed_loop::{ClosedLoop, Tally};

use crate::plan::Plan;
use crate::{compilers, filter};

/// Longest wait for an answer.
const ANSWER: Duration = Duration::from_secs(5);
/// Window over which the compilers' time is counted.
const WINDOW: Duration = Duration::from_millis(500);
/// Share of one processor below which the compilers are quiet.
const QUIET_SHARE: f64 = 0.1;

/// Closed gate. Dropping it opens the port.
pub struct Gate {
    socket: OwnedFd,
    plan: Plan,
    only: Ipv4Addr,
    /// Number by which the server knows the socket.
    fd: i32,
}

impl Gate {
    /// Closes the port of a socket that does not listen yet. Returns `None` if the kernel refuses.
    pub fn close(fd: i32, plan: Plan) -> Option<Gate> {
        let server: BorrowedFd = filter::borrowed(fd)?;
        let socket = server.try_clone_to_owned().ok()?;
        // Some address of this machine that no other client uses.
        let token = std::process::id() ^ Instant::now().elapsed().subsec_nanos();
        let only =
            Ipv4Addr::new(127, 64 + (token >> 16 & 63) as u8, (token >> 8 & 255) as u8, (token & 127) as u8 + 64);
        if !filter::attach(server, only) {
            eprintln!("yunti: the kernel refuses a filter: port {} opens without a replay", plan.server.port());
            return None;
        }
        Some(Gate { socket, plan, only, fd })
    }

    /// Starts the replay in a thread, which opens the port at its end. Without a thread the port opens at once.
    pub fn warm_and_open(self) {
        let run = move || {
            let _ = catch_unwind(AssertUnwindSafe(|| self.warm()));
            drop(self);
        };
        filter::without_signals(|| {
            let _ = std::thread::Builder::new().name("yunti-gate".into()).stack_size(256 << 10).spawn(run);
        });
    }

    /// Returns false once the server has closed its socket, which this one would keep open.
    fn listens(&self) -> bool {
        let target = |fd: i32| std::fs::read_link(format!("/proc/self/fd/{fd}")).ok();
        target(self.fd) == target(self.socket.as_raw_fd())
    }

    fn warm(&self) {
        let begin = Instant::now();
        let mut quiet = Quiet::new();
        let replay = ClosedLoop {
            requests: &self.plan.requests,
            servers: vec![self.plan.server; self.plan.requests.len()],
            from: Some(self.only),
            connections: self.plan.connections,
            timeout: ANSWER,
        };
        let (mut answered, mut is_quiet) = (0, false);
        let tallies = replay.run(|so_far, elapsed| {
            answered = so_far;
            // Each request twice: its first answer compiles nothing.
            is_quiet = quiet.is_quiet() && so_far >= 2 * self.plan.requests.len() as u64;
            let is_over = is_quiet || elapsed >= self.plan.seconds_max || !self.listens();
            if is_over {
                // The last answers may take long: clients do not wait for them.
                filter::detach(&self.socket);
            }
            is_over
        });
        let failed = tallies.iter().filter(|tally: &&Tally| tally.good == 0).count();
        if let Some(path) = &self.plan.report {
            let line = format!(
                "{{\"port\": {}, \"seconds\": {:.3}, \"answered\": {answered}, \"failed\": {failed}, \"quiet\": {is_quiet}}}\n",
                self.plan.server.port(),
                begin.elapsed().as_secs_f64()
            );
            let _ = std::fs::write(path, line);
        }
        if failed > 0 {
            let worst = tallies.iter().zip(&self.plan.requests).find(|(tally, _)| tally.good == 0);
            let (tally, request) = worst.expect("one has failed");
            let why = match (&tally.failure, tally.status) {
                (_, status) if status != 0 => format!("status {status}"),
                (Some(failure), _) => failure.clone(),
                _ => "no answer".into(),
            };
            eprintln!(
                "yunti: {failed} of {} warm-up requests failed: {}: {why}: record the profile again",
                tallies.len(),
                request.url()
            );
        }
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        filter::detach(&self.socket);
    }
}

/// Watch over the compilers: quiet after two windows in which they used little time.
struct Quiet {
    since: Instant,
    ticks: Option<u64>,
    windows: u32,
}

impl Quiet {
    fn new() -> Quiet {
        Quiet { since: Instant::now(), ticks: compilers::ticks(), windows: 0 }
    }

    fn is_quiet(&mut self) -> bool {
        let elapsed = self.since.elapsed();
        if elapsed >= WINDOW {
            let ticks = compilers::ticks();
            let used = ticks.unwrap_or(0).saturating_sub(self.ticks.unwrap_or(0)) as f64 / 100.0;
            let is_low = ticks.is_some() && used < QUIET_SHARE * elapsed.as_secs_f64();
            self.windows = if is_low { self.windows + 1 } else { 0 };
            (self.since, self.ticks) = (Instant::now(), ticks);
        }
        self.windows >= 2
    }
}

//! First seconds of a service: from its start to its first answer, and its latencies at a fixed rate after that.
//!
//! ```text
//!   start ......... port opens .. first answer ........................ end of the load
//!         open_s    |  open loop: requests of all clients from here     |
//! ```

use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use yunti_base::{Cancel, Code, Error, Result};
use yunti_replay::open_loop::{OpenLoop, Sample, percentile};
use yunti_replay::request::Request;

use super::service::{Service, Start};

/// Longest wait for an open port.
const START: Duration = Duration::from_secs(180);
/// Longest wait for an answer, and for the end of a service.
const PATIENCE: Duration = Duration::from_secs(30);
/// Wait for a connection. A port that is held does not refuse it, so that a new one must be tried.
const CONNECT: Duration = Duration::from_millis(50);
/// Connections of the load.
const CONNECTIONS: usize = 32;

/// Load of a measurement.
pub struct Load {
    pub requests: Vec<Request>,
    pub server: SocketAddr,
    pub per_second: f64,
    pub seconds: f64,
}

/// First seconds of one start.
#[derive(Clone, Debug, Serialize)]
pub struct FirstSeconds {
    /// From the start to the first connection that the port accepts.
    pub open_s: f64,
    /// From the start to the end of the first answer.
    pub first_answer_s: f64,
    /// Processor seconds of the service until its first answer.
    pub cpu_s: f64,
    /// Latency of the first request.
    pub first_ms: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
    /// Processor seconds of the service from the first answer to the end of the load.
    pub cpu_loaded_s: f64,
    pub requests: usize,
    pub failed: usize,
}

/// Starts a service, loads it as soon as its port opens, and stops it.
pub fn measure(start: &Start, load: &Load, cancel: &Cancel) -> Result<FirstSeconds> {
    free(load.server)?;
    let begin = Instant::now();
    let mut service = start.start()?;
    wait_for_port(&mut service, load.server, begin, cancel)?;
    let open = begin.elapsed();
    let is_answered = AtomicBool::new(false);
    let answered = &is_answered;
    let (samples, first_cpu) = std::thread::scope(|scope| {
        let open_loop = OpenLoop {
            requests: &load.requests,
            server: load.server,
            per_second: load.per_second,
            seconds: load.seconds,
            connections: CONNECTIONS,
            timeout: PATIENCE,
        };
        let run = scope.spawn(move || open_loop.run(|| answered.store(true, Ordering::Relaxed)));
        while !answered.load(Ordering::Relaxed) && !run.is_finished() {
            std::thread::sleep(Duration::from_millis(2));
        }
        let cpu = service.cpu_seconds();
        (run.join().unwrap_or_default(), cpu)
    });
    cancel.check()?;
    let cpu = service.cpu_seconds();
    let first_ms = samples.first().map_or(0.0, |sample| sample.latency_ms);
    service.stop(PATIENCE);
    Ok(FirstSeconds {
        open_s: open.as_secs_f64(),
        first_answer_s: open.as_secs_f64() + first_ms / 1e3,
        cpu_s: first_cpu,
        first_ms,
        p50_ms: percentile(&samples, 0.5),
        p99_ms: percentile(&samples, 0.99),
        max_ms: percentile(&samples, 1.0),
        cpu_loaded_s: cpu - first_cpu,
        requests: samples.len(),
        failed: samples.iter().filter(|sample: &&Sample| !sample.is_good).count(),
    })
}

/// Returns an error if another program listens: its answers would be taken for the service's.
pub fn free(server: SocketAddr) -> Result<()> {
    match is_open(server) {
        true => Err(Error::new(Code::Usage, format!("port {} is in use", server.port()))
            .hint("end the program that listens there, or name another port")),
        false => Ok(()),
    }
}

/// Returns true if a server accepts a connection.
fn is_open(server: SocketAddr) -> bool {
    // A port of the range for clients can be connected to itself while no server listens.
    TcpStream::connect_timeout(&server, CONNECT).is_ok_and(|s| s.local_addr().is_ok_and(|own| own != server))
}

/// Waits until a port accepts connections.
pub fn wait_for_port(service: &mut Service, server: SocketAddr, begin: Instant, cancel: &Cancel) -> Result<()> {
    while !is_open(server) {
        cancel.check()?;
        if let Some(status) = service.ended() {
            return Err(Error::new(
                Code::Input,
                format!("the program ended before its port {} opened: {status}", server.port()),
            )
            .hint("run it without yunti first"));
        }
        if begin.elapsed() > START {
            return Err(Error::new(
                Code::Input,
                format!("port {} did not open within {} s", server.port(), START.as_secs()),
            )
            .hint("name the right port in --url"));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

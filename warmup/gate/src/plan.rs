//! Plan of a gate: the requests and the limits that `yunti warmup apply` passes in the environment.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use yunti_replay::request::Request;

/// File of requests. Without it the library does nothing.
const REQUESTS: &str = "YUNTI_WARMUP_REQUESTS";
/// Longest replay, in seconds.
const SECONDS: &str = "YUNTI_WARMUP_SECONDS";
/// Connections of the replay.
const CONNECTIONS: &str = "YUNTI_WARMUP_CONNECTIONS";
/// File for one line of JSON about the replay.
const REPORT: &str = "YUNTI_WARMUP_REPORT";
/// Port at which the server listens in place of the port of the requests.
const PORT: &str = "YUNTI_WARMUP_PORT";

/// Replay of one port.
#[derive(Debug)]
pub struct Plan {
    pub requests: Vec<Request>,
    /// Address at which the server listens, for a client of this machine.
    pub server: SocketAddr,
    pub seconds_max: Duration,
    pub connections: usize,
    pub report: Option<PathBuf>,
}

/// Ports that had their gate. A port that is opened again is not held a second time.
static DONE: Mutex<Vec<u16>> = Mutex::new(Vec::new());

/// Returns the plan for a socket that is about to listen, or `None` if its port needs no replay.
pub fn plan_of(fd: i32) -> Option<Plan> {
    let path = std::env::var_os(REQUESTS)?;
    let server = local_server(fd)?;
    let text = std::fs::read_to_string(path).ok()?;
    let mut requests = Request::of_file(&text).ok()?;
    if number(PORT).is_none_or(|port| port != f64::from(server.port())) {
        requests.retain(|request| request.port == server.port());
    }
    let mut done = DONE.lock().ok()?;
    if requests.is_empty() || done.contains(&server.port()) {
        return None;
    }
    done.push(server.port());
    Some(Plan {
        requests,
        server,
        seconds_max: Duration::from_secs_f64(number(SECONDS).unwrap_or(10.0).clamp(0.0, 3600.0)),
        connections: number(CONNECTIONS).unwrap_or(2.0).clamp(1.0, 64.0) as usize,
        report: std::env::var_os(REPORT).map(PathBuf::from),
    })
}

fn number(name: &str) -> Option<f64> {
    std::env::var(name).ok()?.parse().ok().filter(|n: &f64| n.is_finite())
}

/// Returns the address of a bound TCP socket as a client of this machine sees it, if it takes IPv4.
fn local_server(fd: i32) -> Option<SocketAddr> {
    // A bad number gives EBADF, and listen reports it.
    let fd = crate::filter::borrowed(fd)?;
    local_of(fd)
}

fn local_of(fd: BorrowedFd) -> Option<SocketAddr> {
    let bound = SocketAddr::try_from(rustix::net::getsockname(fd).ok()?).ok()?;
    let ip = match bound.ip() {
        IpAddr::V6(ip) if ip.is_unspecified() && !rustix::net::sockopt::ipv6_v6only(fd).ok()? => [127, 0, 0, 1].into(),
        IpAddr::V6(ip) => ip.to_ipv4_mapped()?,
        IpAddr::V4(ip) if ip.is_unspecified() => [127, 0, 0, 1].into(),
        IpAddr::V4(ip) => ip,
    };
    (bound.port() != 0).then_some(SocketAddr::new(IpAddr::V4(ip), bound.port()))
}

//! Plan of a gate: the requests and the limits that `yunti warmup apply` passes in the environment.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
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
    // A bad number gives EBADF, and listen reports it.
    let socket = crate::filter::borrowed(fd)?;
    let bound = SocketAddr::try_from(rustix::net::getsockname(socket).ok()?).ok()?;
    let requests = requests_for(bound.port(), &std::fs::read_to_string(path).ok()?)?;
    let mut done = DONE.lock().ok()?;
    if done.contains(&bound.port()) {
        return None;
    }
    done.push(bound.port());
    let Some(server) = as_ipv4(bound, socket) else {
        eprintln!("yunti: port {} takes IPv6 alone: it opens without a replay", bound.port());
        return None;
    };
    Some(Plan {
        requests,
        server,
        seconds_max: Duration::from_secs_f64(number(SECONDS).unwrap_or(2.0).clamp(0.0, 3600.0)),
        connections: number(CONNECTIONS).unwrap_or(2.0).clamp(1.0, 64.0) as usize,
        report: std::env::var_os(REPORT).map(PathBuf::from),
    })
}

/// Returns the requests for a port; `None` if there are none.
fn requests_for(port: u16, text: &str) -> Option<Vec<Request>> {
    let mut requests = Request::of_file(text).ok()?;
    match number(PORT) {
        Some(only) if only == f64::from(port) => {}
        Some(_) => return None,
        None => requests.retain(|request| request.port == port),
    }
    (port != 0 && !requests.is_empty()).then_some(requests)
}

fn number(name: &str) -> Option<f64> {
    std::env::var(name).ok()?.parse().ok().filter(|n: &f64| n.is_finite())
}

/// Returns the address of a TCP socket as a client of this machine sees it, if it takes IPv4.
fn as_ipv4(bound: SocketAddr, socket: BorrowedFd) -> Option<SocketAddr> {
    let ip = match bound.ip() {
        IpAddr::V6(ip) if ip.is_unspecified() && !rustix::net::sockopt::ipv6_v6only(socket).ok()? => {
            Ipv4Addr::LOCALHOST
        }
        IpAddr::V6(ip) => ip.to_ipv4_mapped()?,
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST,
        IpAddr::V4(ip) => ip,
    };
    Some((ip, bound.port()).into())
}

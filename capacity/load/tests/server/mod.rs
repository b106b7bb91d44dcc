//! Servers of one function, for tests: each connection gets a thread.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use yunti_load::plan::{Arrivals, Plan, Protocol};
use yunti_load::request::Template;
use yunti_load::request::script::Script;
use yunti_load::schedule::arrivals::Spacing;
use yunti_load::server::target::Target;
use yunti_load::server::trust::Trust;

/// Starts a server that calls `answer` for each connection, and returns its address. It ends with the process.
pub fn start(answer: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || accept(&listener, Arc::new(answer)));
    address
}

fn accept(listener: &TcpListener, answer: Arc<dyn Fn(TcpStream) + Send + Sync>) {
    for stream in listener.incoming().flatten() {
        let answer = answer.clone();
        thread::spawn(move || answer(stream));
    }
}

/// Reads requests without bodies and calls `answer` for each, until it returns false.
pub fn each_request(stream: TcpStream, mut answer: impl FnMut(&mut TcpStream, &str) -> bool) {
    let mut out = stream.try_clone().unwrap();
    let mut lines = BufReader::new(stream).lines();
    while let Some(Ok(first)) = lines.next() {
        let is_whole = lines.by_ref().map_while(Result::ok).any(|line| line.is_empty());
        if !is_whole || !answer(&mut out, &first) {
            return;
        }
    }
}

/// Writes an answer of two bytes.
pub fn ok(stream: &mut TcpStream) -> bool {
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_ok()
}

/// Returns a plan of an open loop with even gaps.
pub fn plan(address: SocketAddr, per_second: f64, seconds: f64) -> Plan {
    let target = Target::of_url(&format!("http://{address}/")).unwrap();
    let template = Template { authority: target.authority(), keeps_alive: true, ..Template::default() };
    Plan {
        script: Arc::new(Script::of_one(template, "GET", "/")),
        target,
        addresses: vec![address],
        arrivals: Arrivals::Rate { per_second, spacing: Spacing::Even },
        protocol: Protocol::Http1,
        duration: Duration::from_secs_f64(seconds),
        ramp: Duration::ZERO,
        connections: 64,
        threads: 1,
        timeout: Duration::from_secs(1),
        stop_errors: 1.0,
        trust: Trust::default(),
        seed: 1,
    }
}

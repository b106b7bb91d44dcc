//! Servers that break the rules: each request fails with the right kind, in bounded time and memory.

mod server;

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use server::{each_request, ok, plan, start};
use yunti_base::Cancel;
use yunti_load::guard::End;
use yunti_load::plan::{Arrivals, Plan};
use yunti_load::report::Report;
use yunti_load::tally::failure::Failure;

fn run(plan: &Plan) -> Report {
    yunti_load::run(plan, &Cancel::default(), &mut |_| {}).unwrap()
}

/// Writes pieces without end, until the client closes.
fn endless(stream: &mut TcpStream, start: &str, piece: &str) -> bool {
    let piece = piece.repeat(1000);
    let mut is_open = stream.write_all(start.as_bytes()).is_ok();
    while is_open {
        is_open = stream.write_all(piece.as_bytes()).is_ok();
    }
    false
}

#[track_caller]
fn fails(kind: Failure, answer: impl Fn(&mut TcpStream) -> bool + Send + Sync + 'static) {
    let address = start(move |stream| each_request(stream, |out, _| answer(out)));
    let begun = Instant::now();
    let report = run(&plan(address, 20.0, 0.5));
    assert_eq!(report.failures.get(&kind), Some(&10), "{kind:?}: {report:?}");
    assert_eq!((report.offered, report.done, report.errors), (10, 0, 10), "{kind:?}");
    assert_eq!(report.examples[0].kind, kind);
    assert!(begun.elapsed() < Duration::from_secs(20), "{kind:?}");
}

#[test]
fn endless_heads() {
    fails(Failure::Protocol, |out| endless(out, "HTTP/1.1 200 OK\r\n", "X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n"));
    fails(Failure::Protocol, |out| endless(out, "", "HTTP/1.1 100 Continue\r\n\r\n"));
    fails(Failure::Protocol, |out| endless(out, "HTTP/1.1 200 OK\r\nX: ", "aaaaaaaa"));
}

#[test]
fn wrong_chunks() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for body in ["zz\r\n", "3\r\nabcdef", "ffffffffffffffffff\r\n", "-1\r\n"] {
        fails(Failure::Protocol, move |out| out.write_all(format!("{head}{body}").as_bytes()).is_ok());
    }
    fails(Failure::Protocol, move |out| endless(out, &format!("{head}0\r\n"), "X: y\r\n"));
}

#[test]
fn closes_in_the_middle() {
    fails(Failure::Closed, |_| false);
    fails(Failure::Closed, |out| out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc").is_err());
    fails(Failure::Closed, |out| out.write_all(b"HTTP/1.1 20").is_err());
}

#[test]
fn other_protocols() {
    fails(Failure::Protocol, |out| out.write_all(b"SSH-2.0-OpenSSH_9.2\r\n").is_ok());
    fails(Failure::Protocol, |out| out.write_all(&[0, 1, 2, 255]).is_ok());
}

#[test]
fn answers_that_drip_or_never_come() {
    fails(Failure::Timeout, |out| {
        let mut is_open = out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n").is_ok();
        while is_open {
            thread::sleep(Duration::from_millis(20));
            is_open = out.write_all(b"x").is_ok();
        }
        false
    });
    fails(Failure::Timeout, |_| true);
    // A body without an end: read, dropped, and cut off.
    fails(Failure::Timeout, |out| {
        endless(out, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\n", "0123456789")
    });
}

/// Peak of this process's memory in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn large_bodies_take_no_memory() {
    let before = peak_kib();
    let address = start(|stream| {
        each_request(stream, |out, _| {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 200 << 20);
            let piece = vec![b'x'; 1 << 20];
            out.write_all(head.as_bytes()).is_ok() && (0..200).all(|_| out.write_all(&piece).is_ok())
        });
    });
    let mut plan = plan(address, 2.0, 1.0);
    plan.timeout = Duration::from_secs(30);
    let report = run(&plan);
    assert_eq!((report.done, report.errors), (2, 0), "{report:?}");
    assert!(report.bytes_in > 400 << 20);
    assert!(peak_kib() < before + (100 << 10), "{before} KiB before, {} KiB after", peak_kib());
}

#[test]
fn bytes_after_an_answer_do_not_reach_the_next() {
    let address = start(|stream| {
        each_request(stream, |out, _| {
            out.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n")
                .is_ok()
        });
    });
    let report = run(&plan(address, 50.0, 1.0));
    assert_eq!((report.done, report.errors, report.statuses.len()), (50, 0, 1), "{report:?}");
}

#[test]
fn connections_that_close_when_idle_are_repeated() {
    // Three answers, then a close without a word.
    let address = start(|stream| {
        let mut answers = 0;
        each_request(stream, |out, _| {
            answers += 1;
            answers <= 3 && ok(out)
        });
    });
    for arrivals in [plan(address, 100.0, 1.0).arrivals, Arrivals::Closed] {
        let mut plan = Plan { arrivals, ..plan(address, 100.0, 1.0) };
        plan.connections = 4;
        let report = run(&plan);
        // A quarter of all sends meets a close. Five repeats leave one request of thousands without an answer.
        assert!(report.errors * 1000 <= report.done, "{report:?}");
        assert!(report.repeats > 5 && report.connects > 10 && report.done > 50, "{report:?}");
    }
}

#[test]
fn addresses_that_refuse_are_left_out() {
    let address = start(|stream| each_request(stream, |out, _| ok(out)));
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut plan = plan(address, 200.0, 1.0);
    plan.addresses.push(closed);
    let report = run(&plan);
    assert_eq!((report.done, report.errors), (200, 0), "{report:?}");
}

#[test]
fn errors_halve_the_rate_and_then_stop() {
    let address = start(|stream| {
        each_request(stream, |out, _| out.write_all(b"HTTP/1.1 503 x\r\nContent-Length: 0\r\n\r\n").is_ok());
    });
    let seconds = Mutex::new(Vec::new());
    let plan = Plan { stop_errors: 0.1, ..plan(address, 100.0, 30.0) };
    let report =
        yunti_load::run(&plan, &Cancel::default(), &mut |second| seconds.lock().unwrap().push(*second)).unwrap();
    assert_eq!((report.end, report.is_halved), (End::Errors, true), "{report:?}");
    assert!(report.seconds < 10.0 && report.done == 0);
    let seconds = seconds.into_inner().unwrap();
    assert_eq!(seconds[0].offered, 100);
    // The third second has half the rate.
    assert!((40..=60).contains(&seconds[2].offered), "{seconds:?}");
}

#[test]
fn silence_stops() {
    let answered = Arc::new(AtomicU64::new(0));
    let count = answered.clone();
    let address = start(move |stream| {
        each_request(stream, |out, _| if count.fetch_add(1, Relaxed) < 50 { ok(out) } else { true });
    });
    let report = run(&plan(address, 50.0, 60.0));
    assert_eq!(report.end, End::Silence, "{report:?}");
    assert!(report.seconds < 20.0 && report.done == 50);
}

#[test]
fn a_caller_can_stop_at_any_time() {
    let address = start(|stream| each_request(stream, |out, _| ok(out)));
    let cancel = Cancel::default();
    let report = yunti_load::run(&plan(address, 100.0, 3600.0), &cancel, &mut |_| cancel.set()).unwrap();
    assert_eq!(report.end, End::Cancelled);
    assert!(report.seconds < 20.0 && report.done >= 90, "{report:?}");
}

//! TIME_WAIT settings under a high connection rate. Ports are few, so that they run out within the measurement.

use yunti_base::{Code, Error, Result};

use super::churn::ChurnCounts;
use super::comparison::Better::{Less, More};
use super::comparison::{Metric, compare};
use super::{Bench, Measurement, OF_2012, Published, Subject, failed};
use crate::scratch::tool;

/// Description of this comparison.
pub const SUBJECT: Subject = Subject {
    name: "time-wait",
    what: "TIME_WAIT settings under a high connection rate",
    needs_root: true,
    tools: &["unshare", "ip"],
    published: &[
        Published {
            figure: "the time-out of FIN and TIME_WAIT: 60 s, settable down to 1 s",
            source: OF_2012,
            ratio: None,
        },
        Published {
            figure: "60 s of TIME_WAIT, fixed (TCP_TIMEWAIT_LEN)",
            source: "Linux, include/net/tcp.h; tcp_tw_recycle went with 4.12 (commit 4396e46187ca), tcp_tw_reuse is 2 \
            from 4.19 (commit 79e9fed46038)",
            ratio: None,
        },
    ],
    measure,
};

const METRICS: [Metric; 2] =
    [Metric::timed("connections", "/s", More), Metric::timed("successful of 100 tries", "", More)];
const REMAINING: [Metric; 1] = [Metric::counted("in TIME_WAIT after 2.5 s, of 100 closed", "", Less)];

/// Settings of one run.
struct Settings {
    reuse: u32,
    ports: u16,
    server_closes: bool,
}

fn measure(bench: &Bench) -> Result<Measurement> {
    let mut measured = Measurement::default();
    let (ports, milliseconds) = bench.pick((2000, 3000), (200, 150));
    let usual = Settings { reuse: 0, ports, server_closes: false };
    let ways = [
        ("tcp_tw_reuse=1", Settings { reuse: 1, ..usual }),
        ("tcp_tw_reuse=2 (the default)", Settings { reuse: 2, ..usual }),
        ("10 times the ports", Settings { ports: ports * 10, ..usual }),
        ("the server closes first", Settings { server_closes: true, ..usual }),
    ];
    let names = format!("tcp_tw_reuse=0, {ports} ports");
    for (name, settings) in &ways {
        measured.comparisons.extend(compare(bench, (&names, name), &METRICS, |side| {
            let settings = if side.is_new() { settings } else { &usual };
            let counts = run(settings, 60, milliseconds, 0, 0)?;
            let tries = (counts.connections + counts.failures).max(1);
            Ok(vec![counts.connections as f64 / counts.seconds, counts.connections as f64 * 100.0 / tries as f64])
        })?);
    }
    if !bench.quick {
        let once = Bench { rounds: 1, ..*bench };
        measured.comparisons.extend(compare(&once, ("tcp_fin_timeout=60", "tcp_fin_timeout=1"), &REMAINING, |side| {
            let counts = run(&usual, if side.is_new() { 1 } else { 60 }, 10_000, 200, 2500)?;
            Ok(vec![(counts.time_wait_after_wait as f64 * 100.0 / counts.connections.max(1) as f64).round()])
        })?);
    }
    measured.notes.push(format!(
        "each runs for {:.1} s with few ports: with tcp_tw_reuse=1 a port is free again after a second, without it \
         after a minute, so a longer run shows a larger difference",
        milliseconds as f64 / 1e3
    ));
    measured.notes.push(
        "in a network namespace of its own; tcp_fin_timeout concerns FIN_WAIT2, and does not change TIME_WAIT"
            .to_owned(),
    );
    Ok(measured)
}

fn run(settings: &Settings, fin_timeout: u32, milliseconds: u64, connections: u64, wait: u64) -> Result<ChurnCounts> {
    let me = std::env::current_exe().map_err(failed)?;
    let mut words = vec!["--net".to_owned(), me.to_string_lossy().into_owned(), "churn".to_owned()];
    let values: [(&str, u64); 6] = [
        ("reuse", settings.reuse.into()),
        ("ports", settings.ports.into()),
        ("fin-timeout", fin_timeout.into()),
        ("milliseconds", milliseconds),
        ("connections", connections),
        ("wait-milliseconds", wait),
    ];
    words.extend(values.iter().map(|(name, value)| format!("--{name}={value}")));
    words.extend(settings.server_closes.then(|| "--server-closes".to_owned()));
    let output = tool::run("unshare", words)?;
    serde_json::from_str(&output)
        .map_err(|e| Error::new(Code::Internal, format!("the output of yunti machine churn cannot be parsed: {e}")))
}

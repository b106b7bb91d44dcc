//! Counters of a server, and their page in the format of Prometheus.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::served::Served;

/// Upper bounds of the times of lookups, in microseconds.
const BOUNDS: [u64; 9] = [10, 30, 100, 300, 1_000, 3_000, 10_000, 100_000, 1_000_000];

#[derive(Default)]
pub struct Metrics {
    pub connections: AtomicU64,
    pub connections_open: AtomicU64,
    pub connections_refused: AtomicU64,
    /// Refused connections whose clients have not left yet.
    pub refused_open: AtomicU64,
    pub requests: AtomicU64,
    pub errors: AtomicU64,
    pub keys: AtomicU64,
    pub rows: AtomicU64,
    pub bytes_in: AtomicU64,
    pub bytes_out: AtomicU64,
    pub replaced: AtomicU64,
    pub replace_errors: AtomicU64,
    times: [AtomicU64; BOUNDS.len() + 1],
    time_sum_ns: AtomicU64,
}

impl Metrics {
    /// Returns the number of open connections, or of refused ones.
    pub fn of(&self, is_refused: bool) -> &AtomicU64 {
        if is_refused { &self.refused_open } else { &self.connections_open }
    }

    /// Counts the time of one request for rows.
    pub fn took(&self, time: Duration) {
        let place = BOUNDS.iter().position(|bound| time <= Duration::from_micros(*bound)).unwrap_or(BOUNDS.len());
        self.times[place].fetch_add(1, Relaxed);
        self.time_sum_ns.fetch_add(time.as_nanos() as u64, Relaxed);
    }

    /// Returns the page.
    pub fn page(&self, tables: &[Served], began: Instant) -> String {
        let mut out = String::new();
        let counters = [
            ("connections_total", "Connections accepted.", "counter", &self.connections),
            ("connections_open", "Connections now.", "gauge", &self.connections_open),
            ("connections_refused_total", "Connections beyond the limit.", "counter", &self.connections_refused),
            ("requests_total", "Requests of all kinds.", "counter", &self.requests),
            ("errors_total", "Requests that were answered by an error.", "counter", &self.errors),
            ("keys_total", "Keys that were looked up.", "counter", &self.keys),
            ("rows_total", "Rows that were found.", "counter", &self.rows),
            ("received_bytes_total", "Bytes of requests.", "counter", &self.bytes_in),
            ("sent_bytes_total", "Bytes of responses.", "counter", &self.bytes_out),
            ("replaced_total", "Files that took the place of others.", "counter", &self.replaced),
            ("replace_errors_total", "Files that could not take their place.", "counter", &self.replace_errors),
        ];
        for (name, help, kind, counter) in counters {
            head(&mut out, name, help, kind);
            let _ = writeln!(out, "yunti_table_{name} {}", counter.load(Relaxed));
        }
        head(&mut out, "lookup_seconds", "Times of requests for rows, in the server.", "histogram");
        let mut sum = 0;
        for (count, bound) in self.times.iter().zip(BOUNDS.map(Some).into_iter().chain([None])) {
            sum += count.load(Relaxed);
            let bound = bound.map_or("+Inf".to_owned(), |bound| (bound as f64 / 1e6).to_string());
            let _ = writeln!(out, "yunti_table_lookup_seconds_bucket{{le=\"{bound}\"}} {sum}");
        }
        let seconds = self.time_sum_ns.load(Relaxed) as f64 / 1e9;
        let _ = writeln!(out, "yunti_table_lookup_seconds_sum {seconds}\nyunti_table_lookup_seconds_count {sum}");
        head(&mut out, "uptime_seconds", "Time since the start.", "gauge");
        let _ = writeln!(out, "yunti_table_uptime_seconds {}", began.elapsed().as_secs_f64());
        head(&mut out, "table_keys", "Keys of a table, or of its shard.", "gauge");
        for served in tables {
            let (version, name) = (served.newest(), escaped(&served.name));
            let (shard, keys) = (version.shard, version.table.len());
            let _ =
                writeln!(out, "yunti_table_table_keys{{table=\"{name}\",shard=\"{}/{}\"}} {keys}", shard.0, shard.1);
        }
        out
    }
}

fn head(out: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(out, "# HELP yunti_table_{name} {help}\n# TYPE yunti_table_{name} {kind}");
}

/// Returns the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

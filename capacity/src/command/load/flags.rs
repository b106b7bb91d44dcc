//! Flags of `yunti capacity load`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use yunti_load::schedule::arrivals::Spacing;

/// Send requests to a server, and measure its answers
///
/// Without further options: 50 requests a second for 10 seconds, each due on a schedule (open loop). Latency counts
/// from the due time, so a stall of the server shows in the percentiles.
#[derive(Debug, Args)]
pub struct LoadFlags {
    /// Address of the server: http://127.0.0.1:8080/search
    pub url: String,

    /// Requests a second of an open loop [default: 50]
    #[arg(short, long, value_name = "N", value_parser = rate, conflicts_with_all = ["closed", "speed"])]
    pub rate: Option<f64>,

    /// Length of the run [default: 10; of each step or number of clients 5; of a log its own, at most 600]
    #[arg(short, long, value_name = "SECONDS", value_parser = some_seconds)]
    pub seconds: Option<Duration>,

    /// Spacing of the requests of a rate
    #[arg(long, value_enum, value_name = "SPACING", default_value_t = Spaced::Poisson)]
    pub arrivals: Spaced,

    /// Send each next request after the answer to the last (closed loop), from --connections clients
    #[arg(long)]
    pub closed: bool,

    /// Connections: at most in an open loop [default: 256], the clients of a closed one [default: 8]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub connections: Option<u32>,

    /// Requests of an access log (Common or Combined Log Format), or one path a line, instead of the URL's path
    #[arg(long, value_name = "FILE")]
    pub urls: Option<PathBuf>,

    /// Pace of the log: 2 is twice as fast
    #[arg(long, value_name = "FACTOR", value_parser = factor, requires = "urls", conflicts_with = "closed")]
    pub speed: Option<f64>,

    /// Raise the rate in steps until the server suffers: its peak and its knee
    #[arg(long, conflicts_with_all = ["closed", "speed", "rate", "ramp"])]
    pub steps: bool,

    /// Rate of the first step [default: half the rate of a single client]
    #[arg(long, value_name = "N", value_parser = rate, requires = "steps")]
    pub from: Option<f64>,

    /// Rate of a step, as a multiple of the one before
    #[arg(long, value_name = "X", value_parser = growth, default_value = "1.3", requires = "steps")]
    pub factor: f64,

    /// Closed loop at each of these numbers of clients: throughput and response times
    #[arg(
        long, value_name = "N,N,..", value_delimiter = ',', num_args = 1,
        value_parser = clap::value_parser!(u32).range(1..=20_000),
        conflicts_with_all = ["closed", "speed", "rate", "steps", "connections", "ramp"],
    )]
    pub sweep: Vec<u32>,

    /// Use HTTP/2; without TLS the server must expect it (prior knowledge)
    #[arg(long)]
    pub http2: bool,

    /// Requests of one connection at once, with --http2 [default: 100, in a closed loop 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), requires = "http2")]
    pub streams: Option<u32>,

    /// Method of all requests; with --urls, the log says it
    #[arg(short = 'X', long, value_name = "NAME", conflicts_with = "urls")]
    pub method: Option<String>,

    /// File whose bytes are the body of each request; the method is POST then
    #[arg(long, value_name = "FILE", conflicts_with = "urls")]
    pub body: Option<PathBuf>,

    /// Header of each request; repeatable
    #[arg(short = 'H', long = "header", value_name = "'NAME: VALUE'")]
    pub headers: Vec<String>,

    /// Accept any certificate of the server
    #[arg(long, conflicts_with = "ca")]
    pub insecure: bool,

    /// File of the certificates to trust, in PEM, instead of the system's
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,

    /// Open a connection for each request
    #[arg(long, conflicts_with = "http2")]
    pub no_keep_alive: bool,

    /// Longest wait for a connection, and for an answer
    #[arg(long, value_name = "SECONDS", value_parser = some_seconds, default_value = "10")]
    pub timeout: Duration,

    /// Threads of the client
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub threads: u16,

    /// Time in which the rate, or the number of clients, grows from nothing
    #[arg(long, value_name = "SECONDS", value_parser = some_seconds)]
    pub ramp: Option<Duration>,

    /// Halve the rate, and then stop, when more of the requests of a second fail
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "10")]
    pub stop_errors: f64,

    /// Seed of the random spacing
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Load a server that is not on this machine; only one that is yours to load
    #[arg(long)]
    pub i_own_this_host: bool,

    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Spacing of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Spaced {
    /// Random gaps, as of many independent clients
    Poisson,
    /// Equal gaps
    Even,
}

impl From<Spaced> for Spacing {
    fn from(spaced: Spaced) -> Spacing {
        match spaced {
            Spaced::Poisson => Spacing::Poisson,
            Spaced::Even => Spacing::Even,
        }
    }
}

fn number(text: &str, least: f64, most: f64) -> Option<f64> {
    text.parse::<f64>().ok().filter(|n| (least..=most).contains(n))
}

fn rate(text: &str) -> Result<f64, String> {
    number(text, 0.01, 5e6).ok_or(format!("'{text}' is no rate: give requests a second from 0.01 to 5000000"))
}

fn some_seconds(text: &str) -> Result<Duration, String> {
    let seconds = number(text, 0.1, 86_400.0).ok_or(format!("'{text}' is no time: give seconds from 0.1 to 86400"))?;
    Ok(Duration::from_secs_f64(seconds))
}

fn factor(text: &str) -> Result<f64, String> {
    number(text, 0.001, 10_000.0).ok_or(format!("'{text}' is no factor: give 0.001 to 10000"))
}

fn growth(text: &str) -> Result<f64, String> {
    number(text, 1.01, 10.0).ok_or(format!("'{text}' is no factor of steps: give 1.01 to 10"))
}

fn percent(text: &str) -> Result<f64, String> {
    number(text.trim_end_matches('%'), 0.0, 100.0).ok_or(format!("'{text}' is no percentage: give 0 to 100"))
}

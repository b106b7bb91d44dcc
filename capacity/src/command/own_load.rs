//! Load of our own, while a service is measured: bounded, and stopped when the service suffers.

use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clap::{Args, Parser};
use yunti_base::{Cancel, Code, Error, Result};
use yunti_load::curve::sweep;
use yunti_load::guard::End;
use yunti_load::plan::{Arrivals, Plan};
use yunti_load::report::Report;
use yunti_load::schedule::arrivals::Spacing;
use yunti_load::server::target::Target;
use yunti_program::terminal::signals::cancel_on_signals;

use super::load::{LoadFlags, prepare};

/// Share of the peak at which the service is measured.
pub const SHARE: f64 = 0.3;
/// Seconds of the run of one client, which says how long a request takes.
const FIRST_SECONDS: u64 = 2;
/// Seconds that a measurement needs besides its own, at most.
const BESIDE_SECONDS: f64 = 60.0;
/// Seconds at each number of clients.
const LEVEL_SECONDS: u64 = 3;
/// Largest number of clients that is tried.
const CLIENTS_MAX: usize = 512;

/// Load of our own.
#[derive(Debug, Args)]
pub struct OwnLoadFlags {
    /// Send load to this address while measuring: a few minutes, stopped when the service suffers
    #[arg(long, value_name = "URL")]
    load: Option<String>,
    /// Requests of an access log, or one path a line, for --load
    #[arg(long, value_name = "FILE", requires = "load")]
    urls: Option<PathBuf>,
    /// Header of each request of --load; repeatable
    #[arg(short = 'H', long = "header", value_name = "'NAME: VALUE'", requires = "load")]
    headers: Vec<String>,
    /// Load a server that is not on this machine; only one that is yours to load
    #[arg(long, requires = "load")]
    i_own_this_host: bool,
}

/// Flags of `yunti capacity load`, parsed from words.
#[derive(Parser)]
struct Words {
    #[command(flatten)]
    flags: LoadFlags,
}

/// Load that can be sent to a service.
pub struct OwnLoad {
    plan: Plan,
    cancel: Cancel,
}

impl OwnLoadFlags {
    /// Returns the load; `None` without one.
    pub fn load(&self) -> Result<Option<OwnLoad>> {
        let Some(url) = &self.load else { return Ok(None) };
        let cancel = Cancel::default();
        cancel_on_signals(&cancel);
        self.of_url(url, &cancel).map(Some)
    }

    /// Returns the address of the load; `None` without one.
    pub fn target(&self) -> Result<Option<Target>> {
        self.load.as_deref().map(Target::of_url).transpose()
    }

    /// Returns the same load for another port.
    pub fn at_port(&self, target: &Target, port: u16, cancel: &Cancel) -> Result<OwnLoad> {
        let target = Target { port, ..target.clone() };
        self.of_url(&format!("{}://{}{}", target.scheme(), target.authority(), target.path), cancel)
    }

    fn of_url(&self, url: &str, cancel: &Cancel) -> Result<OwnLoad> {
        let mut words = vec!["load".into(), url.into(), "--rate".into(), "1".into()];
        if let Some(path) = &self.urls {
            words.extend(["--urls".into(), path.clone().into_os_string()]);
        }
        for header in &self.headers {
            words.extend(["--header".into(), header.into()]);
        }
        if self.i_own_this_host {
            words.push("--i-own-this-host".into());
        }
        let words = Words::try_parse_from(words)
            .map_err(|e| Error::new(Code::Usage, format!("--load: {}", e.to_string().lines().next().unwrap_or(""))))?;
        Ok(OwnLoad { plan: prepare(&words.flags)?.plan, cancel: cancel.clone() })
    }
}

/// Load under way. Dropping it ends the load.
pub struct UnderWay {
    cancel: Cancel,
    run: Option<JoinHandle<Result<Report>>>,
}

impl OwnLoad {
    /// Returns the requests per second of one client, which sends one request after the other.
    pub fn of_one_client(&self) -> Result<f64> {
        let duration = Duration::from_secs(FIRST_SECONDS);
        let report = self.closed(1, duration)?;
        match report.end {
            End::Complete if report.done > 0 => Ok(report.done_per_second),
            _ => Err(failed(&report)),
        }
    }

    /// Begins to send requests at a rate, with random gaps as of many clients, for a measurement of some seconds.
    pub fn begin(&self, per_second: f64, seconds: f64) -> UnderWay {
        let duration = Duration::from_secs_f64(seconds + BESIDE_SECONDS);
        let arrivals = Arrivals::Rate { per_second, spacing: Spacing::Poisson };
        let plan = Plan { arrivals, duration, ..self.plan.clone() };
        let cancel = Cancel::default();
        let of_run = cancel.clone();
        UnderWay { cancel, run: Some(thread::spawn(move || yunti_load::run(&plan, &of_run, &mut |_| ()))) }
    }

    /// Sends requests from some clients, each one after the other, for a time.
    pub fn closed(&self, clients: usize, duration: Duration) -> Result<Report> {
        let plan = Plan { arrivals: Arrivals::Closed, connections: clients, duration, ..self.plan.clone() };
        yunti_load::run(&plan, &self.cancel, &mut |_| ())
    }

    /// Tries numbers of clients one after the other. Ends early if the service suffers.
    pub fn try_clients(&self, clients: &[usize]) -> Result<Vec<sweep::Point>> {
        let duration = Duration::from_secs(LEVEL_SECONDS);
        let plan = Plan { arrivals: Arrivals::Closed, duration, ..self.plan.clone() };
        sweep::run(&plan, clients, &self.cancel, &mut |_| (), &mut |_| ())
    }
}

impl UnderWay {
    /// Ends the load. Returns its report, or an error if the service gave no answers.
    pub fn end(mut self) -> Result<Report> {
        self.cancel.set();
        let run = self.run.take().map(JoinHandle::join);
        let report = match run {
            Some(Ok(report)) => report?,
            _ => return Err(Error::new(Code::Internal, "the load ended with a panic")),
        };
        match report.end {
            End::Errors | End::Silence => Err(failed(&report)),
            End::Complete | End::Cancelled => Ok(report),
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.cancel.set();
        if let Some(run) = self.run.take() {
            let _ = run.join();
        }
    }
}

fn failed(report: &Report) -> Error {
    let example = report.examples.first().map_or("it does not answer", |example| example.text.as_str());
    Error::new(Code::Input, format!("the load was stopped: {}: {example}", report.target))
        .hint("check the address, or load less: yunti capacity load")
}

/// Returns numbers of clients around the one that reaches the peak.
pub fn clients_around(threads: f64) -> Vec<usize> {
    let mut all: Vec<usize> = [1.0, threads / 4.0, threads / 2.0, threads, threads * 1.5, threads * 3.0]
        .iter()
        .map(|clients| (clients.round() as usize).clamp(1, CLIENTS_MAX))
        .collect();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_clients() {
        assert_eq!(clients_around(16.0), [1, 4, 8, 16, 24, 48]);
        assert_eq!(clients_around(1.0), [1, 2, 3]);
        assert_eq!(clients_around(1e9), [1, CLIENTS_MAX]);
    }
}

//! Plan of the flags.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use yunti_base::{Code, Error, Result};
use yunti_load::plan::{Arrivals, Plan, Protocol};
use yunti_load::request::access_log::file::{self, LeftOut, Log};
use yunti_load::request::script::Script;
use yunti_load::request::{Template, check_method};
use yunti_load::server::target::Target;
use yunti_load::server::trust::Trust;

use super::flags::LoadFlags;

/// Rate of an open loop without further flags.
const RATE: f64 = 50.0;
const SECONDS: Duration = Duration::from_secs(10);
/// Length of a step, and of a run of a sweep.
const STEP: Duration = Duration::from_secs(5);
/// Longest replay of a log without --seconds.
const LOG_MAX: Duration = Duration::from_secs(600);
const STREAMS: usize = 100;
const OPEN_CONNECTIONS: usize = 256;
const CLOSED_CONNECTIONS: usize = 8;
/// Largest body.
const BODY_BYTES_MAX: u64 = 64 << 20;

/// Plan of the flags, with the notes of a log.
pub struct Prepared {
    pub plan: Plan,
    pub log: Option<LogNotes>,
}

/// Lines of a log that are not replayed, and the time that it covers.
pub struct LogNotes {
    pub requests: usize,
    pub left_out: LeftOut,
    pub seconds: Option<u64>,
}

/// Returns the plan of the flags.
pub fn prepare(flags: &LoadFlags) -> Result<Prepared> {
    let target = Target::of_url(&flags.url)?;
    let template = template(flags, &target)?;
    let (script, log) = match &flags.urls {
        Some(path) => {
            if target.path != "/" {
                return Err(Error::new(Code::Usage, format!("'{}' has a path, yet --urls names the paths", flags.url))
                    .hint(format!("write {}://{}", target.scheme(), target.authority())));
            }
            let log = read_log(path, template)?;
            let notes = LogNotes { requests: log.script.len(), left_out: log.left_out, seconds: log.seconds };
            (log.script, Some(notes))
        }
        None => {
            let default = if flags.body.is_some() { "POST" } else { "GET" };
            let method = flags.method.as_deref().unwrap_or(default);
            check_method(method)?;
            (Script::of_one(template, method, &target.path), None)
        }
    };
    let addresses = target.resolve(flags.i_own_this_host)?;
    let is_closed = flags.closed || !flags.sweep.is_empty();
    let seconds = log.as_ref().and_then(|log| log.seconds).filter(|_| flags.rate.is_none() && !flags.steps);
    let arrivals = match (is_closed, seconds) {
        (true, _) => Arrivals::Closed,
        (false, Some(_)) => Arrivals::Log { speed: flags.speed.unwrap_or(1.0) },
        (false, None) if flags.speed.is_some() => {
            return Err(Error::new(Code::Usage, "--speed needs a log with times").hint("give --rate instead"));
        }
        (false, None) => Arrivals::Rate { per_second: flags.rate.unwrap_or(RATE), spacing: flags.arrivals.into() },
    };
    let default = match (is_closed, flags.http2) {
        (true, _) => CLOSED_CONNECTIONS,
        (false, true) => usize::from(flags.threads),
        (false, false) => OPEN_CONNECTIONS,
    };
    let connections = flags.connections.map_or(default, |n| n as usize);
    let streams = flags.streams.map_or(if is_closed { 1 } else { STREAMS }, |n| n as usize);
    let duration = flags.seconds.unwrap_or_else(|| match (arrivals, seconds) {
        (Arrivals::Log { speed }, Some(seconds)) => LOG_MAX.min(Duration::from_secs_f64(seconds as f64 / speed)),
        _ if flags.steps || !flags.sweep.is_empty() => STEP,
        _ => SECONDS,
    });
    let plan = Plan {
        target,
        addresses,
        script: Arc::new(script),
        arrivals,
        protocol: if flags.http2 { Protocol::Http2 { streams } } else { Protocol::Http1 },
        duration,
        ramp: flags.ramp.unwrap_or_default(),
        connections,
        threads: usize::from(flags.threads).min(connections),
        timeout: flags.timeout,
        stop_errors: flags.stop_errors / 100.0,
        trust: Trust { accepts_all: flags.insecure, roots: flags.ca.clone() },
        seed: flags.seed,
    };
    Ok(Prepared { plan, log })
}

fn read_log(path: &Path, template: Template) -> Result<Log> {
    let name = path.to_string_lossy();
    let failed = |e: std::io::Error| Error::io(Code::Input, "cannot read the log", &e).at_path(name.clone());
    let file = File::open(path).map_err(failed)?;
    file::read(BufReader::new(file), template).map_err(|e| e.at_path(name.clone()))
}

fn template(flags: &LoadFlags, target: &Target) -> Result<Template> {
    let mut template =
        Template { authority: target.authority(), keeps_alive: !flags.no_keep_alive, ..Template::default() };
    for header in &flags.headers {
        template.add_header(header)?;
    }
    if let Some(path) = &flags.body {
        template.body = read_body(path)?;
    }
    Ok(template)
}

fn read_body(path: &Path) -> Result<Vec<u8>> {
    let name = path.to_string_lossy();
    let failed = |e: std::io::Error| Error::io(Code::Input, "cannot read the body", &e).at_path(name.clone());
    let mut body = Vec::new();
    // Pipes and devices do not say their length before.
    File::open(path).and_then(|file| file.take(BODY_BYTES_MAX + 1).read_to_end(&mut body)).map_err(failed)?;
    match body.len() as u64 > BODY_BYTES_MAX {
        true => Err(Error::new(Code::Usage, "the body has more than 64 MiB").at_path(name)),
        false => Ok(body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_have_a_limit() {
        assert!(read_body(Path::new("/dev/null")).unwrap().is_empty());
        assert_eq!(read_body(Path::new("/dev/zero")).unwrap_err().code(), Code::Usage);
        assert_eq!(read_body(Path::new("/none")).unwrap_err().code(), Code::Input);
    }
}

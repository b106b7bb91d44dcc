//! Plan of the flags.

use std::sync::Arc;
use std::time::Duration;

use yunti_base::{Code, Error, Result};
use yunti_load::plan::{Arrivals, Plan, Protocol};
use yunti_load::request::script::Script;
use yunti_load::request::{Template, check_method};
use yunti_load::target::Target;
use yunti_load::trust::Trust;

use super::flags::LoadFlags;

/// Rate of an open loop without further flags.
const RATE: f64 = 50.0;
const SECONDS: Duration = Duration::from_secs(10);
const OPEN_CONNECTIONS: usize = 256;
const CLOSED_CONNECTIONS: usize = 8;
/// Largest body.
const BODY_BYTES_MAX: u64 = 64 << 20;

/// Returns the plan of one run.
pub fn plan(flags: &LoadFlags) -> Result<Plan> {
    let target = Target::of_url(&flags.url)?;
    let template = template(flags, &target)?;
    let method = flags.method.clone().unwrap_or_else(|| if flags.body.is_some() { "POST" } else { "GET" }.into());
    check_method(&method)?;
    let script = Script::of_one(&template, &method, &target.path);
    let addresses = target.resolve(flags.i_own_this_host)?;
    let arrivals = match flags.closed {
        true => Arrivals::Closed,
        false => Arrivals::Rate { per_second: flags.rate.unwrap_or(RATE), spacing: flags.arrivals.into() },
    };
    let default = if flags.closed { CLOSED_CONNECTIONS } else { OPEN_CONNECTIONS };
    let connections = flags.connections.map_or(default, |n| n as usize);
    let streams = flags.streams.map_or(if flags.closed { 1 } else { 100 }, |n| n as usize);
    Ok(Plan {
        target,
        addresses,
        script: Arc::new(script),
        arrivals,
        protocol: if flags.http2 { Protocol::Http2 { streams } } else { Protocol::Http1 },
        duration: flags.seconds.unwrap_or(SECONDS),
        ramp: flags.ramp.unwrap_or_default(),
        connections,
        threads: usize::from(flags.threads).min(connections),
        keeps_alive: !flags.no_keep_alive,
        timeout: flags.timeout,
        stop_errors: flags.stop_errors / 100.0,
        trust: Trust { accepts_all: flags.insecure, roots: flags.ca.clone() },
        seed: flags.seed,
    })
}

fn template(flags: &LoadFlags, target: &Target) -> Result<Template> {
    let mut template =
        Template { authority: target.authority(), keeps_alive: !flags.no_keep_alive, ..Template::default() };
    for header in &flags.headers {
        template.add_header(header)?;
    }
    if let Some(path) = &flags.body {
        let name = path.to_string_lossy();
        let failed = |e: std::io::Error| Error::io(Code::Input, "cannot read the body", &e).at_path(name.clone());
        let length = std::fs::metadata(path).map_err(failed)?.len();
        if length > BODY_BYTES_MAX {
            return Err(Error::new(Code::Usage, "the body has more than 64 MiB").at_path(name));
        }
        template.body = std::fs::read(path).map_err(failed)?;
    }
    Ok(template)
}

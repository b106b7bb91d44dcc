//! `yunti nn advise`: what to change of a NameNode that runs.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::json;
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use crate::advise;
use crate::advise::report::Report;
use crate::advise::seen::Seen;
use crate::advise::settings::Settings;
use crate::jmx::{self, Beans};

/// Looks at a NameNode that runs, and says what to change, why, and what it should bring; changes nothing
#[derive(Debug, Args)]
pub struct AdviseFlags {
    /// Its web server, as of dfs.namenode.http-address; with --conf, what that says
    #[arg(value_name = "HOST:PORT")]
    pub namenode: Option<String>,
    /// A folder as of HADOOP_CONF_DIR, in place of what the NameNode tells of its settings; log4j.properties is read too
    #[arg(long, value_name = "DIR")]
    pub conf: Option<PathBuf>,
    /// How long to look; averages of a NameNode are kept for ten seconds
    #[arg(short, long, value_name = "SECONDS", default_value = "12", value_parser = clap::value_parser!(u32).range(11..=3600))]
    pub seconds: u32,
    /// The answer as one JSON document
    #[arg(long)]
    pub json: bool,
}

const WEB_PORT: u16 = 9870;
const TIMEOUT: Duration = Duration::from_secs(10);
/// How often the lock's queue is asked for: one number, without any lock.
const EVERY: Duration = Duration::from_millis(200);
const LOCK_QUEUE: &str = "/jmx?get=Hadoop:service=NameNode,name=FSNamesystemState::FsLockQueueLength";

pub fn advise(flags: &AdviseFlags) -> Outcome {
    let folder = flags.conf.as_deref().map(Settings::of_folder).transpose()?;
    let web = address(flags.namenode.as_deref(), folder.as_ref())?;
    // First: a wrong address is told before anything is waited for.
    let begin = whole(&web)?;
    let settings = match folder {
        Some(settings) => settings,
        None => Settings::of_page(&jmx::get(&web, "/conf?format=json", TIMEOUT)?)
            .map_err(|e| e.at_path(format!("http://{web}/conf")))?,
    };
    let seen = look(&web, begin, Duration::from_secs(flags.seconds.into()))?;
    let report = advise::judge(&settings, &seen);
    if flags.json {
        let mut document = report.to_json();
        document["namenode"] = json!(web);
        document["version"] = json!(seen.version());
        document["state"] = json!(seen.state());
        document["seconds"] = json!(seen.seconds);
        document["calls_per_second"] = json!(seen.client_port(&settings).map(|port| port.per_second));
        stdout::print_json(&document)
    } else {
        stdout::print(&text(&web, &settings, &seen, &report))
    }
}

/// `http://host:9870/` too; a port that is not given is 9870.
fn address(given: Option<&str>, folder: Option<&Settings>) -> Result<String> {
    let known = folder.and_then(|settings| settings.get("dfs.namenode.http-address"));
    let text = given.or(known).unwrap_or("127.0.0.1");
    if text.starts_with("https://") {
        return Err(Error::new(Code::Usage, format!("'{text}': HTTPS is not spoken")).hint(
            "give dfs.namenode.http-address, or look from the NameNode's machine with dfs.http.policy=HTTP_AND_HTTPS",
        ));
    }
    let bare = text.strip_prefix("http://").unwrap_or(text);
    let bare = bare.split('/').next().unwrap_or_default();
    // A server that listens everywhere is asked here.
    let bare = bare.replacen("0.0.0.0", "127.0.0.1", 1);
    let wrong = |what: &str| Err(Error::new(Code::Usage, format!("'{text}': {what}")).hint("give HOST:PORT"));
    // In brackets there is an address of IPv6.
    let (host, port) = match bare.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (bare.as_str(), None),
    };
    if host.is_empty() {
        return wrong("there is no host");
    }
    match port.map(str::parse::<u16>) {
        None => Ok(format!("{host}:{WEB_PORT}")),
        Some(Ok(1..)) => Ok(bare),
        Some(_) => wrong("the port is no number from 1 to 65535"),
    }
}

fn whole(web: &str) -> Result<(Beans, Instant)> {
    let beans = Beans::ask(web, "", TIMEOUT).map_err(|e| e.at_path(format!("http://{web}/jmx")))?;
    if beans.named("Hadoop:service=NameNode,name=NameNodeStatus").next().is_none() {
        return Err(Error::new(Code::Input, "this is no NameNode: its /jmx has no NameNodeStatus")
            .at_path(format!("http://{web}/jmx"))
            .hint("give dfs.namenode.http-address; a NameNode that has just started tells it some seconds later"));
    }
    Ok((beans, Instant::now()))
}

fn look(web: &str, (begin, begun): (Beans, Instant), time: Duration) -> Result<Seen> {
    let mut waiting = Vec::new();
    while begun.elapsed() < time {
        thread::sleep(EVERY.min(time.saturating_sub(begun.elapsed())));
        let beans = Beans::read(&jmx::get(web, LOCK_QUEUE, TIMEOUT)?)?;
        waiting.extend(beans.number("Hadoop:service=NameNode,name=FSNamesystemState", "FsLockQueueLength"));
    }
    let (end, ended) = whole(web)?;
    Ok(Seen { begin, end, seconds: (ended - begun).as_secs_f64(), waiting })
}

fn text(web: &str, settings: &Settings, seen: &Seen, report: &Report) -> String {
    let port = seen.client_port(settings);
    let mut text = format!(
        "{web}: Hadoop {}, {}; in {:.0} s {:.0} calls a second, {:.1} threads waited for the lock; {:.0} files, {:.0} blocks, {:.0} DataNodes\n",
        seen.version(),
        seen.state().unwrap_or("in no state that it tells"),
        seen.seconds,
        port.map_or(0.0, |port| port.per_second),
        seen.waiting_mean().unwrap_or(0.0),
        seen.files(),
        seen.blocks(),
        seen.live_datanodes()
    );
    text += &report.to_text();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let check = |given, expect: &str| assert_eq!(address(given, None).unwrap(), expect);
        check(None, "127.0.0.1:9870");
        check(Some("nn1"), "nn1:9870");
        check(Some("nn1:50070"), "nn1:50070");
        check(Some("http://nn1:9870/dfshealth.html"), "nn1:9870");
        check(Some("[::1]"), "[::1]:9870");
        check(Some("[::1]:50070"), "[::1]:50070");
        assert!(address(Some("https://nn1:9871"), None).is_err());
        for wrong in ["nn1:99999", "nn1:http", "nn1:0", "nn1:", ":9870", "", "http://"] {
            assert!(address(Some(wrong), None).is_err(), "{wrong}");
        }
        let folder = Settings::of(&[("dfs.namenode.http-address", "0.0.0.0:9999")]);
        assert_eq!(address(None, Some(&folder)).unwrap(), "127.0.0.1:9999");
        assert_eq!(address(Some("nn2"), Some(&folder)).unwrap(), "nn2:9870");
    }
}

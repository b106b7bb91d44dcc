//! `yunti nn advise`: advice for a running NameNode.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::{Value, json};
use yunti_base::{Code, Error, Result};
use yunti_program::failure::Outcome;
use yunti_program::terminal::stdout;

use crate::advise;
use crate::advise::fresh::FreshFigures;
use crate::advise::report::Report;
use crate::advise::sample::{MetricsSample, SOURCES, is_source};
use crate::advise::settings::Settings;
use crate::jmx::{self, Beans};

/// Observe a running NameNode and advise changes, with reasons and expected gains; changes nothing
#[derive(Debug, Args)]
pub struct AdviseFlags {
    /// Read metrics from this web server (dfs.namenode.http-address); default: --conf's, else port 9870 of this machine
    #[arg(value_name = "HOST:PORT")]
    pub namenode: Option<String>,
    /// Read the settings and log4j.properties from this folder (HADOOP_CONF_DIR) instead of the NameNode's /conf
    #[arg(long, value_name = "DIR")]
    pub conf: Option<PathBuf>,
    /// Observe for this time, and until the NameNode has updated its metrics twice: it does so every ten seconds
    #[arg(
        short, long, value_name = "SECONDS", default_value = "12",
        value_parser = clap::value_parser!(u32).range(11..=3600),
    )]
    pub seconds: u32,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

const WEB_PORT: u16 = 9870;
const TIMEOUT: Duration = Duration::from_secs(10);
/// Period of the requests for the lock's queue length, a number that the NameNode reads without a lock.
const EVERY: Duration = Duration::from_millis(200);
const LOCK_QUEUE: &str = "/jmx?get=Hadoop:service=NameNode,name=FSNamesystemState::FsLockQueueLength";

pub fn advise(flags: &AdviseFlags) -> Outcome {
    let folder = flags.conf.as_deref().map(Settings::of_folder).transpose()?;
    let web = address(flags.namenode.as_deref(), folder.as_ref())?;
    // The first request comes before any wait, so that a wrong address fails at once.
    let begin = whole(&web)?;
    let settings = match folder {
        Some(settings) => settings,
        None => Settings::of_page(&jmx::get(&web, "/conf?format=json", TIMEOUT)?)
            .map_err(|e| e.at_path(format!("http://{web}/conf")))?,
    };
    let sample = measure(&web, begin, Duration::from_secs(flags.seconds.into()))?;
    let report = advise::judge(&settings, &sample);
    if flags.json {
        let mut document = report.to_json();
        document["namenode"] = json!(web);
        document["version"] = json!(sample.version());
        document["state"] = json!(sample.state());
        document["seconds"] = json!(sample.seconds);
        document["interval_seconds"] = json!(sample.client_port(&settings).map(|port| port.seconds));
        document["calls_per_second"] = json!(sample.client_port(&settings).map(|port| port.per_second));
        stdout::print_json(&document)
    } else {
        stdout::print(&text(&web, &settings, &sample, &report))
    }
}

/// Returns HOST:PORT of the web server; accepts `http://host:9870/`, and the default port is 9870.
fn address(given: Option<&str>, folder: Option<&Settings>) -> Result<String> {
    let known = folder.and_then(|settings| settings.get("dfs.namenode.http-address"));
    let text = given.or(known).unwrap_or("127.0.0.1");
    if text.starts_with("https://") {
        return Err(Error::new(Code::Usage, format!("'{text}': HTTPS is not supported")).hint(
            "give dfs.namenode.http-address, or run this on the NameNode's machine with dfs.http.policy=HTTP_AND_HTTPS",
        ));
    }
    let bare = text.strip_prefix("http://").unwrap_or(text);
    let bare = bare.split('/').next().unwrap_or_default();
    // A server that listens on all addresses also listens on loopback.
    let bare = bare.replacen("0.0.0.0", "127.0.0.1", 1);
    let wrong = |what: &str| Err(Error::new(Code::Usage, format!("'{text}': {what}")).hint("give HOST:PORT"));
    // An IPv6 address is in brackets.
    let (host, port) = match bare.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (bare.as_str(), None),
    };
    if host.is_empty() {
        return wrong("the host is missing");
    }
    match port.map(str::parse::<u16>) {
        None => Ok(format!("{host}:{WEB_PORT}")),
        Some(Ok(1..)) => Ok(bare),
        Some(_) => wrong("the port is not a number from 1 to 65535"),
    }
}

fn whole(web: &str) -> Result<(Beans, Instant)> {
    let beans = Beans::fetch(web, "", TIMEOUT).map_err(|e| e.at_path(format!("http://{web}/jmx")))?;
    if beans.named("Hadoop:service=NameNode,name=NameNodeStatus").next().is_none() {
        return Err(Error::new(Code::Input, "this is not a NameNode: its /jmx has no NameNodeStatus")
            .at_path(format!("http://{web}/jmx"))
            .hint("give dfs.namenode.http-address; a NameNode has it some seconds after its start"));
    }
    Ok((beans, Instant::now()))
}

fn measure(web: &str, (begin, begun): (Beans, Instant), time: Duration) -> Result<MetricsSample> {
    let (mut begin, mut waiting) = (begin, Vec::new());
    let now = || begun.elapsed().as_secs_f64();
    let mut sources: BTreeMap<String, FreshFigures> =
        sources_of(&begin).map(|(name, bean)| (name, FreshFigures::new(bean))).collect();
    while begun.elapsed() < time || !sources.values().all(|source| source.is_done(now())) {
        thread::sleep(EVERY);
        let beans = Beans::read(&jmx::get(web, LOCK_QUEUE, TIMEOUT)?)?;
        waiting.extend(beans.number("Hadoop:service=NameNode,name=FSNamesystemState", "FsLockQueueLength"));
        for query in SOURCES {
            for (name, bean) in sources_of(&Beans::fetch(web, query, TIMEOUT)?) {
                if let Some(source) = sources.get_mut(&name) {
                    source.add(bean, now());
                }
            }
        }
    }
    let over = now();
    let (mut end, ended) = whole(web)?;
    let mut intervals = BTreeMap::new();
    for (name, source) in sources {
        let span = source.span(over);
        begin.put(&name, span.begin);
        end.put(&name, span.end);
        intervals.insert(name, span.seconds);
    }
    Ok(MetricsSample { begin, end, seconds: (ended - begun).as_secs_f64(), intervals, waiting })
}

fn sources_of(beans: &Beans) -> impl Iterator<Item = (String, Value)> {
    let all = beans.named("Hadoop:service=NameNode,");
    all.filter_map(|bean| Some((bean["name"].as_str()?.to_owned(), bean.clone()))).filter(|(name, _)| is_source(name))
}

fn text(web: &str, settings: &Settings, sample: &MetricsSample, report: &Report) -> String {
    let port = sample.client_port(settings);
    let mut text = format!(
        "{web}: Hadoop {}, {}; {:.0} calls a second between two updates of its metrics, {:.1} s apart; {:.1} threads \
            waited for the lock; {:.0} files, {:.0} blocks, {:.0} DataNodes\n",
        sample.version(),
        sample.state().unwrap_or("in an unknown state"),
        port.as_ref().map_or(0.0, |port| port.per_second),
        port.as_ref().map_or(sample.seconds, |port| port.seconds),
        sample.waiting_mean().unwrap_or(0.0),
        sample.files(),
        sample.blocks(),
        sample.live_datanodes()
    );
    text += &report.to_text();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_addresses() {
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

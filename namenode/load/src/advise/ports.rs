//! Port rules: the service RPC address and the lifeline, ports for DataNodes alone.

use super::calls::{is_slow, queue_figure};
use super::report::{Advice, Confidence, ConfigFile, Line, Report};
use super::sample::MetricsSample;
use super::settings::Settings;

const SERVICE: &str = "dfs.namenode.servicerpc-address";
const LIFELINE: &str = "dfs.namenode.lifeline.rpc-address";
const SERVICE_PORT: u16 = 8040;
const LIFELINE_PORT: u16 = 8050;
/// DataNodes; fewer do not delay clients.
const DATANODES_MIN: f64 = 10.0;

pub fn judge(settings: &Settings, sample: &MetricsSample, report: &mut Report) {
    if !sample.is_active() || sample.live_datanodes() < DATANODES_MIN {
        return;
    }
    let Some(port) = sample.client_port(settings) else { return };
    let host = sample.address().map_or("HOST", |(host, _)| host);
    let datanodes = format!("{:.0} DataNodes", sample.live_datanodes());
    if is_slow(&port) && !settings.is_set_for_any(SERVICE) {
        report.add(Advice {
            name: "service-rpc",
            change: "Give DataNodes their own port, with its own queue and handlers".to_owned(),
            confidence: Confidence::Likely,
            figures: vec![queue_figure(&port), datanodes.clone()],
            why: "Heartbeats and block reports wait behind clients' calls, and clients' calls behind block \
                reports."
                .to_owned(),
            brings: "DataNodes no longer count as dead under client load; with automatic failover, run `hdfs zkfc \
                -formatZK` once afterwards"
                .to_owned(),
            lines: vec![Line::property(ConfigFile::HdfsSite, SERVICE, format_args!("{host}:{SERVICE_PORT}"))],
        });
    }
    let (stale, expired) = (sample.stale_datanodes(), sample.heartbeats_expired());
    if (stale > 0.0 || expired > 0.0) && !settings.is_set_for_any(LIFELINE) && is_slow(&port) {
        report.add(Advice {
            name: "lifeline",
            change: "Give DataNodes a lifeline port".to_owned(),
            confidence: Confidence::Likely,
            figures: vec![
                datanodes,
                format!("stale: {stale:.0}; heartbeats that came too late in this time: {expired:.0}"),
                queue_figure(&port),
            ],
            why: "A heartbeat needs the lock and a handler; a lifeline message proves that a DataNode is alive \
                without queue or lock."
                .to_owned(),
            brings: "live DataNodes do not count as dead, and their blocks are not copied".to_owned(),
            lines: vec![Line::property(ConfigFile::HdfsSite, LIFELINE, format_args!("{host}:{LIFELINE_PORT}"))],
        });
    }
}

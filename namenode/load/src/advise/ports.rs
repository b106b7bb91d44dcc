//! Ports of their own for DataNodes: the service RPC address, and the lifeline.

use super::calls::{is_slow, queue_figure};
use super::report::{Advice, Line, Place, Report, Sure};
use super::seen::Seen;
use super::settings::Settings;

const SERVICE: &str = "dfs.namenode.servicerpc-address";
const LIFELINE: &str = "dfs.namenode.lifeline.rpc-address";
const SERVICE_PORT: u16 = 8040;
const LIFELINE_PORT: u16 = 8050;
/// A few DataNodes do not stand in anybody's way.
const DATANODES_MIN: f64 = 10.0;

pub fn judge(settings: &Settings, seen: &Seen, report: &mut Report) {
    if !seen.is_active() || seen.live_datanodes() < DATANODES_MIN {
        return;
    }
    let Some(port) = seen.client_port(settings) else { return };
    let host = seen.address().map_or("HOST", |(host, _)| host);
    let datanodes = format!("{:.0} DataNodes", seen.live_datanodes());
    if is_slow(&port) && !settings.is_set_for_any(SERVICE) {
        report.add(Advice {
            name: "service-rpc",
            change: "Give DataNodes a port of their own, with a queue and handlers of its own".to_owned(),
            sure: Sure::Likely,
            seen: vec![queue_figure(&port), datanodes.clone()],
            why: "Heartbeats and block reports wait behind the calls of clients, and these behind block reports.".to_owned(),
            brings: "a load of clients no longer makes DataNodes look dead; with automatic failover, `hdfs zkfc -formatZK` once afterwards".to_owned(),
            lines: vec![Line::property(Place::HdfsSite, SERVICE, format_args!("{host}:{SERVICE_PORT}"))],
        });
    }
    let (stale, expired) = (seen.stale_datanodes(), seen.heartbeats_expired());
    if (stale > 0.0 || expired > 0.0) && !settings.is_set_for_any(LIFELINE) && is_slow(&port) {
        report.add(Advice {
            name: "lifeline",
            change: "Give DataNodes a lifeline".to_owned(),
            sure: Sure::Likely,
            seen: vec![
                datanodes,
                format!("{stale:.0} of them are stale; {expired:.0} heartbeats came too late while it was looked at"),
                queue_figure(&port),
            ],
            why: "A heartbeat needs the lock and a handler; a lifeline needs neither queue nor lock, and says that the DataNode lives.".to_owned(),
            brings: "DataNodes that live are not taken for dead, and their blocks are not copied".to_owned(),
            lines: vec![Line::property(Place::HdfsSite, LIFELINE, format_args!("{host}:{LIFELINE_PORT}"))],
        });
    }
}

//! The audit log: log4j's appender in the handler, or one that loses lines.

use super::report::{Advice, Line, Place, Report, Sure};
use super::seen::Seen;
use super::settings::Settings;

const LOGGERS: &str = "dfs.namenode.audit.loggers";
const OURS: &str = "org.yunti.namenode.audit.RingAuditLogger";
const CATEGORY: &str = "log4j.logger.org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit";
/// Of both, hadoop-env.sh makes the property.
const PROPERTY: &str = "hdfs.audit.logger";
/// A line costs some microseconds; below this it is nothing.
const CALLS_MIN: f64 = 5_000.0;

enum Appender {
    Off,
    Synchronous,
    /// In the configuration that comes with Hadoop it does not block: what does not fit is dropped.
    Asynchronous,
    Unknown,
}

pub fn judge(settings: &Settings, seen: &Seen, report: &mut Report) {
    let Some(port) = seen.client_port(settings).filter(|port| seen.is_active() && port.per_second >= CALLS_MIN) else {
        return;
    };
    let loggers = settings.get(LOGGERS).unwrap_or("default");
    if !loggers.split(',').any(|name| name.trim() == "default") {
        return;
    }
    let (sure, why, brings) = match appender(settings, seen) {
        Appender::Off => return,
        Appender::Unknown => {
            report.unseen(
                "what writes the audit log: log4j.properties is told by --conf only, and hdfs.audit.logger is not set",
            );
            return;
        }
        Appender::Synchronous => (
            Sure::Try,
            "Each handler makes its line and writes it, one after the other behind one lock of log4j.",
            "3 to 5 % of the NameNode's processor time out of the handlers; the lines are the same",
        ),
        Appender::Asynchronous => (
            Sure::Likely,
            "log4j's AsyncAppender drops lines when its buffer is full, if it does not block (4 % of a million lines were lost).",
            "no line is lost; the lines are the same",
        ),
    };
    report.add(Advice {
        name: "audit",
        change: "Take the audit logger of yunti-namenode.jar".to_owned(),
        sure,
        seen: vec![format!("{:.0} calls a second; audit loggers: {loggers}", port.per_second)],
        why: why.to_owned(),
        brings: brings.to_owned(),
        lines: vec![Line::property(Place::HdfsSite, LOGGERS, OURS)],
    });
}

fn appender(settings: &Settings, seen: &Seen) -> Appender {
    // A property of the JVM is what log4j.properties of Hadoop refers to.
    let written = settings.log4j.as_deref().and_then(|text| log4j_value(text, CATEGORY));
    let value = match written {
        Some(value) if !value.contains("${") => Some(value),
        _ => seen
            .system_property(PROPERTY)
            .or_else(|| settings.log4j.as_deref().and_then(|text| log4j_value(text, PROPERTY))),
    };
    let Some(value) = value else { return Appender::Unknown };
    let is_off = value.contains("NullAppender") || value.starts_with("OFF") || value.starts_with("WARN");
    match value.to_ascii_lowercase().contains("async") {
        _ if is_off => Appender::Off,
        true => Appender::Asynchronous,
        false => Appender::Synchronous,
    }
}

fn log4j_value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let pairs = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    pairs.filter_map(|line| line.split_once('=')).filter(|(k, _)| k.trim() == key).map(|(_, v)| v.trim()).next_back()
}

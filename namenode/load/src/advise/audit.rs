//! Audit log rule: log4j's appender runs in the handler, or loses lines.

use super::report::{Advice, Confidence, ConfigFile, Line, Report};
use super::sample::MetricsSample;
use super::settings::Settings;

const LOGGERS: &str = "dfs.namenode.audit.loggers";
const OURS: &str = "org.yunti.namenode.audit.RingAuditLogger";
const CATEGORY: &str = "log4j.logger.org.apache.hadoop.hdfs.server.namenode.FSNamesystem.audit";
/// Property of the JVM that hadoop-env.sh sets and Hadoop's log4j.properties refers to.
const PROPERTY: &str = "hdfs.audit.logger";
/// Calls per second; below it the audit log's cost, a few microseconds a line, is negligible.
const CALLS_MIN: f64 = 5_000.0;

enum Appender {
    Off,
    Synchronous,
    /// log4j's AsyncAppender; Hadoop's configuration drops lines that do not fit its buffer.
    Asynchronous,
    Unknown,
}

pub fn judge(settings: &Settings, sample: &MetricsSample, report: &mut Report) {
    let Some(port) = sample.client_port(settings).filter(|port| sample.is_active() && port.per_second >= CALLS_MIN)
    else {
        return;
    };
    let loggers = settings.get(LOGGERS).unwrap_or("default");
    if !loggers.split(',').any(|name| name.trim() == "default") {
        return;
    }
    let (confidence, why, brings) = match appender(settings, sample) {
        Appender::Off => return,
        Appender::Unknown => {
            report.not_checked(
                "the audit log's appender: hdfs.audit.logger is not set; give --conf, which reads log4j.properties",
            );
            return;
        }
        Appender::Synchronous => (
            Confidence::Try,
            "Each handler formats its line and writes it, serialised by one log4j lock.",
            "3 to 5 % of the NameNode's processor time moves out of the handlers; the lines are the same",
        ),
        Appender::Asynchronous => (
            Confidence::Likely,
            "A non-blocking log4j AsyncAppender drops lines when its buffer is full (4 % of a million lines were \
                lost).",
            "no line is lost; the lines are the same",
        ),
    };
    report.add(Advice {
        name: "audit",
        change: "Use the audit logger of yunti-namenode.jar".to_owned(),
        confidence,
        figures: vec![format!("{:.0} calls a second; audit loggers: {loggers}", port.per_second)],
        why: why.to_owned(),
        brings: brings.to_owned(),
        lines: vec![Line::property(ConfigFile::HdfsSite, LOGGERS, OURS)],
    });
}

fn appender(settings: &Settings, sample: &MetricsSample) -> Appender {
    // Hadoop's log4j.properties refers to a property of the JVM.
    let written = settings.log4j.as_deref().and_then(|text| log4j_value(text, CATEGORY));
    let value = match written {
        Some(value) if !value.contains("${") => Some(value),
        _ => sample
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

//! Report of a replay, as text and as JSON.

use serde_json::{Value, json};

use crate::command::load_flags::LoadFlags;
use crate::command::report::time;
use crate::load::figures::Figures;
use crate::replay::log::audit_log::LineCounts;
use crate::replay::play::outcome::{CommandOutcome, ReplayOutcome};
use crate::server::Usage;

/// A replay that is over.
pub struct Played {
    pub outcome: ReplayOutcome,
    /// Directories and files of the name space.
    pub created: u64,
    pub connections: usize,
    /// Usage of the NameNode's process, if known.
    pub used: Option<Usage>,
    /// Metrics of the NameNode, or the reason for their absence.
    pub figures: Result<Figures, String>,
    /// I/O method.
    pub io: &'static str,
}

/// A replay with its flags and its log.
pub struct ReplayReport<'a> {
    pub flags: &'a LoadFlags,
    pub log: &'a LineCounts,
    pub users: usize,
    pub played: &'a Played,
}

impl ReplayReport<'_> {
    /// Returns the calls a second that the log has at this speed.
    fn intended_per_second(&self) -> f64 {
        self.log.events as f64 / (self.log.span_ms as f64 / 1e3 / self.flags.replay.speed).max(1e-3)
    }

    /// Returns the NameNode's processor time in microseconds a call.
    fn cpu_us(&self) -> Option<f64> {
        let calls = self.played.outcome.calls().max(1) as f64;
        self.played.used.map(|used| used.cpu_seconds * 1e6 / calls)
    }

    /// Returns the JSON document.
    pub fn to_json(&self) -> Value {
        let mut document = self.played.outcome.to_json();
        document["namenode"] = json!(self.flags.namenode);
        document["speed"] = json!(self.flags.replay.speed);
        document["connections"] = json!(self.played.connections);
        document["io"] = json!(self.played.io);
        document["users"] = json!(self.users);
        document["created"] = json!(self.played.created);
        document["intended_per_second"] = json!(self.intended_per_second());
        document["namenode_cpu_us_per_call"] = json!(self.cpu_us());
        document["namenode_rpc"] = json!(self.played.figures.as_ref().ok().map(Figures::to_json));
        document["log"] = json!({
            "lines": self.log.lines,
            "calls": self.log.events,
            "denied": self.log.denied,
            "seconds": self.log.span_ms as f64 / 1e3,
            "not_replayed": self.log.unknown,
            "lines_of_other_loggers": self.log.other,
            "lines_cut": self.log.cut,
            "paths_not_replayed": self.log.paths,
            "clock_set_back": self.log.set_back,
        });
        document
    }

    /// Returns the text: head lines, a table of commands, and lines about the log, the client and the NameNode.
    pub fn to_text(&self) -> String {
        let (outcome, log, speed) = (&self.played.outcome, self.log, self.flags.replay.speed);
        let achieved = outcome.calls() as f64 / outcome.seconds.max(1e-9);
        let lag = |q: f64| time(outcome.lag.value_at_quantile(q));
        let mut text = format!(
            "{} of {} calls of the log in {:.1} s, at {speed} times its speed: {} users, {} connections, {}\n\
             intended  {:.1} calls a second\n\
             achieved  {achieved:.1} calls a second\n\
             lag       p50 {}, p99 {}, max {}: from the time of a call to its send\n\n",
            outcome.calls(),
            log.events,
            outcome.seconds,
            self.users,
            self.played.connections,
            self.played.io,
            self.intended_per_second(),
            lag(0.5),
            lag(0.99),
            time(outcome.lag.max()),
        );
        let heads = ["a second", "p50", "p90", "p99", "p99.9", "max", "denied", "failed"];
        text += &row("command", heads.map(str::to_owned));
        for (command, one) in &outcome.by_command {
            text += &self.line(command.name(), one);
        }
        text.push('\n');
        for (command, one) in &outcome.by_command {
            if one.allowed_here > 0 {
                text +=
                    &format!("{}: {} calls were refused in the log, but not here\n", command.name(), one.allowed_here);
            }
            for (class, (count, first)) in &one.failed {
                text += &format!("{}: {count} {class}: {first}\n", command.name());
            }
        }
        for (class, (count, first)) in &self.played.outcome.not_created {
            text += &format!("name space: {count} not created: {class}: {first}\n");
        }
        if outcome.unanswered > 0 {
            text += &format!("{} calls had no response\n", outcome.unanswered);
        }
        if outcome.reconnects > 0 {
            text += &format!("{} connections broke\n", outcome.reconnects);
        }
        text += &self.left_out();
        text += &match self.cpu_us() {
            Some(us) => format!("NameNode  {us:.1} us of processor time a call\n"),
            None => {
                "SKIP processor time of the NameNode: it is on another machine, or belongs to another user\n".to_owned()
            }
        };
        text += &match &self.played.figures {
            Ok(figures) => {
                let means = figures.means().map(|(name, ms)| format!("{} {ms:.2} ms", name.replace('_', " ")));
                format!("metrics   means of the NameNode: {}\n", means.collect::<Vec<_>>().join(", "))
            }
            Err(why) => format!("SKIP metrics of the NameNode (--jmx): {why}\n"),
        };
        text
    }

    fn line(&self, name: &str, one: &CommandOutcome) -> String {
        let h = &one.latency;
        let at = |q: f64| time(h.value_at_quantile(q));
        let per_second = format!("{:.1}", one.calls() as f64 / self.played.outcome.seconds.max(1e-9));
        let (denied, failed) = (one.denied_as_in_log.to_string(), one.failures().to_string());
        row(name, [per_second, at(0.5), at(0.9), at(0.99), at(0.999), time(h.max()), denied, failed])
    }

    /// Returns lines about the part of the log that is not replayed.
    fn left_out(&self) -> String {
        let log = self.log;
        let mut text = String::new();
        let commands: Vec<String> = log.unknown.iter().map(|(name, count)| format!("{name} {count}")).collect();
        if !commands.is_empty() {
            text += &format!("not replayed, by command: {}\n", commands.join(", "));
        }
        if log.paths > 0 {
            text += &format!(
                "not replayed: {} lines with a path of a snapshot, of /.reserved, or without one\n",
                log.paths
            );
        }
        if let Some((file, line)) = &log.first_cut {
            text += &format!("not replayed: {} lines that are cut, the first in {file}, line {line}\n", log.cut);
        }
        if log.other > 0 {
            text += &format!("not of the audit log: {} lines\n", log.other);
        }
        if log.set_back > 0 {
            text +=
                &format!("the clock of the log was set back {} times; the replay goes on from there\n", log.set_back);
        }
        text
    }
}

fn row(name: &str, cells: [String; 8]) -> String {
    let cells: String = cells.iter().map(|cell| format!(" {cell:>9}")).collect();
    format!("{name:>22}{cells}\n")
}

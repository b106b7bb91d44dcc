//! Change of a service.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::demands::ResourceKind;

/// New number of units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    Add(f64),
    Set(f64),
    Times(f64),
}

impl Amount {
    /// Returns the new number.
    pub fn of(self, before: f64) -> f64 {
        match self {
            Amount::Add(more) => before + more,
            Amount::Set(number) => number,
            Amount::Times(factor) => before * factor,
        }
    }
}

/// New share of something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    Times(f64),
    Percent(f64),
}

/// Change of a service. `Display` writes it as `parse` reads it.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Number of processors.
    Processors(Amount),
    /// Speed of each processor.
    Faster(f64),
    /// Duration of holds and waits at resources, by kind and part of the name. Absent name: all of the kind.
    Hold { kind: ResourceKind, name: Option<String>, factor: f64 },
    /// Parallelism of resources.
    Units { kind: ResourceKind, name: Option<String>, amount: Amount },
    /// Limit of the threads that serve requests.
    Workers(Amount),
    /// Calls to resources, by parts of their names, at once instead of in turn.
    AtOnce(Vec<String>),
    /// No collections.
    NoCollections,
    /// Bytes of the young generation.
    Young(f64),
    /// Allocation of a request.
    Memory(f64),
    /// Share of a kind of requests among all, by a part of its name; the number of all stays.
    Share { kind: String, share: Part },
    /// No more requests of a kind, by a part of its name.
    Without(String),
    /// Bytes that a request holds while it waits.
    Held(f64),
    /// Another format of messages. The factor is the speed of the new one; absent: from the table.
    Convert { from: String, to: String, factor: Option<f64> },
}

/// Measured alternative for a format of messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conversion {
    /// Label of the format in use, as `json`.
    pub from: String,
    pub to: String,
    /// Share of a request's processor time that the format in use takes.
    pub cpu_share: f64,
    /// Speed of the alternative against it.
    pub speed_up: f64,
    /// Share of a request's allocation, and the factor on it.
    #[serde(default)]
    pub memory_share: f64,
    #[serde(default)]
    pub memory_factor: f64,
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Add(more) => write!(f, "{more:+}"),
            Amount::Set(number) => write!(f, "{number}"),
            Amount::Times(factor) => write!(f, "x{factor}"),
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |name: &Option<String>| name.as_ref().map_or(String::new(), |name| format!(" {name}"));
        match self {
            Change::Processors(amount) => write!(f, "cpu {amount}"),
            Change::Faster(factor) => write!(f, "cpu x{factor}"),
            Change::Hold { kind, name, factor } => write!(f, "{}{} x{factor}", kind.name(), named(name)),
            Change::Units { kind, name, amount } => write!(f, "{}{} {amount}", kind.name(), named(name)),
            Change::Workers(amount) => write!(f, "threads {amount}"),
            Change::AtOnce(names) => write!(f, "parallel: {}", names.join(",")),
            Change::NoCollections => f.write_str("gc off"),
            Change::Young(bytes) => write!(f, "young {}m", (bytes / f64::from(1 << 20)).round()),
            Change::Memory(factor) => write!(f, "memory x{factor}"),
            Change::Share { kind, share: Part::Times(factor) } => write!(f, "share {kind} x{factor}"),
            Change::Share { kind, share: Part::Percent(percent) } => write!(f, "share {kind} {percent}%"),
            Change::Without(kind) => write!(f, "without {kind}"),
            Change::Held(factor) => write!(f, "held x{factor}"),
            Change::Convert { from, to, factor: None } => write!(f, "{from} -> {to}"),
            Change::Convert { from, to, factor: Some(factor) } => write!(f, "{from} -> {to} x{factor}"),
        }
    }
}

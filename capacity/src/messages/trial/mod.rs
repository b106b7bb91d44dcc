//! Results of trials: what the service's library and each alternative cost on the captured messages.

pub mod conversions;

use serde::{Deserialize, Serialize};

/// Value with the interval that it lies in.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range {
    pub low: f64,
    pub value: f64,
    pub high: f64,
}

/// Results of all trials.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Trial {
    /// Messages that were captured.
    pub captured: usize,
    /// Seconds of the capture.
    pub capture_seconds: f64,
    pub is_redacted: bool,
    pub groups: Vec<Group>,
    pub alternatives: Vec<Alternative>,
    /// Folder with the captured messages, if it is kept.
    pub folder: Option<String>,
    /// Messages and parts of them that cannot be made again, with the reason.
    pub gaps: Vec<String>,
}

/// Captured messages of one type and one library.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group {
    pub library: String,
    #[serde(rename = "type")]
    pub of_type: String,
    /// Messages captured when they were written, and when they were read.
    pub written: u64,
    pub read: u64,
    /// Calls in the service during the capture, captured or not.
    pub calls_written: u64,
    pub calls_read: u64,
    /// Bytes of a message in the service; `None` if they were not visible.
    pub bytes: Option<f64>,
}

/// A library on all groups that use one library in the service.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Alternative {
    /// Library of the service.
    pub library: String,
    pub name: String,
    pub version: String,
    pub is_baseline: bool,
    pub is_json: bool,
    pub is_estimate: bool,
    /// A result for each group, in the order of the groups of this library.
    pub results: Vec<GroupResult>,
    /// Reason why the whole trial failed.
    pub error: Option<String>,
}

impl Alternative {
    /// Returns the result for a group.
    pub fn result(&self, group: &Group) -> Option<&GroupResult> {
        self.results.iter().find(|result| result.of_type == group.of_type)
    }
}

/// Cost of a library on one group.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct GroupResult {
    #[serde(rename = "type")]
    pub of_type: String,
    pub write: Option<Timing>,
    pub read: Option<Timing>,
    /// Bytes of a message.
    pub bytes: Option<f64>,
    /// Reason why the library is refused for this group: it fails, or answers wrongly.
    pub refused: Option<String>,
    pub note: Option<String>,
}

/// Time and allocation of one operation on one message.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Median over the rounds of all forks.
    pub ns: f64,
    pub ns_min: f64,
    pub ns_max: f64,
    pub allocated_bytes: f64,
}

impl Timing {
    fn range(self) -> Range {
        Range { low: self.ns_min, value: self.ns, high: self.ns_max }
    }
}

impl Trial {
    /// Returns the libraries of the service, each once.
    pub fn libraries(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.groups.iter().map(|group| &*group.library).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the times that an alternative is as fast as the service's library. A group that refuses the alternative
    /// counts as unchanged. `None`: nothing can be compared.
    pub fn speed_up(&self, alternative: &Alternative) -> Option<Range> {
        let [now, then] = self.sums(alternative, Timing::range)?;
        (then.value > 0.0 && then.low > 0.0).then(|| Range {
            low: now.low / then.high,
            value: now.value / then.value,
            high: now.high / then.low,
        })
    }

    /// Returns the bytes that an alternative allocates as a share of the bytes of the service's library.
    pub fn allocation(&self, alternative: &Alternative) -> Option<f64> {
        let exact = |bytes: f64| Range { low: bytes, value: bytes, high: bytes };
        let [now, then] = self.sums(alternative, |timing| exact(timing.allocated_bytes))?;
        (now.value > 0.0).then(|| then.value / now.value)
    }

    /// Returns the cost of all messages with the service's library, and with an alternative.
    fn sums(&self, alternative: &Alternative, cost: impl Fn(Timing) -> Range) -> Option<[Range; 2]> {
        let baseline = self.alternatives.iter().find(|one| one.is_baseline && one.library == alternative.library)?;
        let mut sums = [Range { low: 0.0, value: 0.0, high: 0.0 }; 2];
        let mut is_compared = false;
        for group in self.groups.iter().filter(|group| group.library == alternative.library) {
            let Some(now) = baseline.result(group).filter(|result| result.refused.is_none()) else { continue };
            let then = alternative.result(group).filter(|result| result.refused.is_none());
            for (messages, is_write) in [(group.calls_written, true), (group.calls_read, false)] {
                let timing = |result: &GroupResult| if is_write { result.write } else { result.read };
                let Some(now) = timing(now) else { continue };
                let other = then.and_then(timing);
                is_compared |= other.is_some() && messages > 0;
                for (sum, timing) in sums.iter_mut().zip([now, other.unwrap_or(now)]) {
                    let (range, weight) = (cost(timing), messages as f64);
                    sum.low += range.low * weight;
                    sum.value += range.value * weight;
                    sum.high += range.high * weight;
                }
            }
        }
        is_compared.then_some(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(ns: f64) -> Option<Timing> {
        Some(Timing { ns, ns_min: ns * 0.9, ns_max: ns * 1.1, allocated_bytes: 0.0 })
    }

    fn alternative(name: &str, is_baseline: bool, ns: &[Option<(f64, f64)>]) -> Alternative {
        let results = ns.iter().zip(["A", "B"]).map(|(ns, of_type)| GroupResult {
            of_type: of_type.into(),
            write: ns.and_then(|ns| timing(ns.0)),
            read: ns.and_then(|ns| timing(ns.1)),
            bytes: None,
            refused: ns.is_none().then(|| "wrong".to_owned()),
            note: None,
        });
        Alternative {
            library: "jackson".into(),
            name: name.into(),
            version: String::new(),
            is_baseline,
            is_json: true,
            is_estimate: false,
            results: results.collect(),
            error: None,
        }
    }

    #[test]
    fn weighs_by_messages_and_leaves_refused_groups_unchanged() {
        let group = |of_type: &str, written, read| Group {
            library: "jackson".into(),
            of_type: of_type.into(),
            written,
            read,
            calls_written: written,
            calls_read: read,
            bytes: None,
        };
        let fast = alternative("fast", false, &[Some((100.0, 100.0)), None]);
        let none = alternative("none", false, &[None, None]);
        let trial = Trial {
            groups: vec![group("A", 3, 1), group("B", 1, 0)],
            alternatives: vec![alternative("jackson", true, &[Some((200.0, 400.0)), Some((100.0, 7.0))]), fast.clone()],
            ..Trial::default()
        };
        let speed_up = trial.speed_up(&fast).unwrap();
        assert!((speed_up.value - 1100.0 / 500.0).abs() < 1e-9, "{speed_up:?}");
        assert!(speed_up.low < speed_up.value && speed_up.value < speed_up.high);
        assert_eq!(trial.speed_up(&none), None);
    }
}

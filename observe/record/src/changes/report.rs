//! Report: what changed, in numbers.

use serde_json::{Value, json};

use super::begin::Began;
use super::question::Unit;
use super::visible::Visible;
use crate::slice::{Frame, Measure};
use crate::time::date_time_of;

/// Part of a function's cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The function itself.
    Own,
    /// The function with all below it: it is called more often, or many functions below it changed a little.
    Subtree,
}

/// Change of one function. Costs are nanoseconds or bytes of one request, or of one second.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Function.
    pub function: Frame,
    /// Part of its cost that changed.
    pub part: Part,
    /// Cost before.
    pub before: f64,
    /// Cost after, on a machine that is as fast as before and with the same mix of requests.
    pub after: f64,
    /// Difference of both.
    pub difference: f64,
    /// Bounds of the difference, sure to 95 %.
    pub low: f64,
    pub high: f64,
    /// Share of false findings among all findings that are as sure as this one.
    pub q: f64,
    /// Part of all cost before.
    pub share_before: f64,
    /// Beginning, if the series has one.
    pub began: Option<Began>,
    /// Functions that changed only because of this one, largest first.
    pub follows: Vec<Frame>,
}

/// Change of everything: another machine, or another load if requests are not counted.
#[derive(Clone, Debug, PartialEq)]
pub struct Common {
    /// Cost after in proportion to the cost before, with bounds that are sure to 95 %.
    pub ratio: f64,
    pub low: f64,
    pub high: f64,
    /// Probability of such a difference by chance.
    pub p: f64,
    /// Beginning, if the series has one.
    pub began: Option<Began>,
    /// Function with most of the difference, if there is one. If the others have too few samples to show whether they
    /// changed too, a change of this function alone looks the same.
    pub mostly: Option<Mostly>,
}

/// Function that has most of a difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Mostly {
    /// Function.
    pub function: Frame,
    /// Part of the difference, and of all cost before.
    pub of_difference: f64,
    pub of_cost: f64,
}

/// Changes between two periods.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// Measure of all costs.
    pub measure: Measure,
    /// Unit of all costs.
    pub unit: Unit,
    /// Cost of everything before and after, as it was.
    pub before: f64,
    pub after: f64,
    /// Change of everything, if it is sure.
    pub common: Option<Common>,
    /// Changes of functions, largest first.
    pub changes: Vec<Change>,
    /// Smallest changes that would have been found, by share.
    pub visible: Vec<Visible>,
    /// Days of the earlier period, and blocks of both.
    pub days_before: usize,
    pub blocks_before: usize,
    pub blocks_after: usize,
    /// Length of a block in milliseconds.
    pub block_ms: u64,
    /// Sentences on what limits the answer.
    pub notes: Vec<String>,
}

impl Changes {
    /// Returns the changes as JSON. Times are Unix milliseconds and text in UTC.
    pub fn to_json(&self) -> Value {
        let frame = |frame: &Frame| json!({ "name": &*frame.name, "file": &*frame.file, "kind": frame.kind.name() });
        let began = |began: &Option<Began>| match began {
            Some(began) => json!({
                "at_ms": began.at_ms,
                "at": date_time_of(began.at_ms),
                "new_release": began.new_release,
                "release": began.release,
            }),
            None => Value::Null,
        };
        let changes: Vec<Value> = self
            .changes
            .iter()
            .map(|change| {
                json!({
                    "function": frame(&change.function),
                    "part": if change.part == Part::Own { "own" } else { "subtree" },
                    "before": change.before,
                    "after": change.after,
                    "difference": change.difference,
                    "low": change.low,
                    "high": change.high,
                    "q": change.q,
                    "share_before": change.share_before,
                    "began": began(&change.began),
                    "follows": change.follows.iter().map(frame).collect::<Vec<_>>(),
                })
            })
            .collect();
        let visible: Vec<Value> =
            self.visible.iter().map(|v| json!({ "share": v.share, "relative": v.relative })).collect();
        json!({
            "measure": self.measure.name(),
            "unit": self.measure.unit(),
            "per": if self.unit == Unit::Request { "request" } else { "second" },
            "before": self.before,
            "after": self.after,
            "common": self.common.as_ref().map(|common| json!({
                "ratio": common.ratio,
                "low": common.low,
                "high": common.high,
                "p": common.p,
                "began": began(&common.began),
                "mostly": common.mostly.as_ref().map(|mostly| json!({
                    "function": frame(&mostly.function),
                    "share_of_difference": mostly.of_difference,
                    "share_before": mostly.of_cost,
                })),
            })),
            "changes": changes,
            "visible": visible,
            "days_before": self.days_before,
            "blocks_before": self.blocks_before,
            "blocks_after": self.blocks_after,
            "block_ms": self.block_ms,
            "notes": self.notes,
        })
    }
}

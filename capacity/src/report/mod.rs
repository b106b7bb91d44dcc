//! Answer of `yunti capacity`: as text, and as JSON.

mod text;

use serde_json::{Value, json};
use yunti_model::advice::Advice;
use yunti_model::curve::Curve;
use yunti_model::demands::Demands;

pub use text::text;

/// Answer: what was measured, and what follows from it.
pub struct Report<'a> {
    pub demands: &'a Demands,
    pub curve: &'a Curve,
    pub advice: &'a Advice,
    pub skips: &'a [String],
}

impl Report<'_> {
    /// Returns the answer as a document: `docs/formats/capacity.schema.json`.
    pub fn json(&self) -> Value {
        json!({
            "version": 1,
            "process": self.demands.process,
            "requests": self.demands.requests,
            "processors": self.demands.processors,
            "curve": self.curve,
            "advice": self.advice,
            "skips": self.skips,
        })
    }
}

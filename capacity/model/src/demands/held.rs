//! Objects that requests hold only from their own frames while they wait in remote calls, by one heap dump.

use serde::{Deserialize, Serialize};

/// Objects that requests of one heap dump held.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// Requests in process, and the number of them that waited in a remote call.
    #[serde(default)]
    pub in_process: u32,
    #[serde(default)]
    pub waiting: u32,
    /// Seconds for which each dump stopped the process.
    #[serde(default)]
    pub stopped_seconds: Vec<f64>,
    #[serde(default)]
    pub dump_bytes: f64,
    /// Objects, the largest first.
    #[serde(default)]
    pub objects: Vec<HeldObject>,
}

/// Object that waiting requests hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldObject {
    pub class: String,
    /// Retained bytes, on average over all waiting requests.
    pub bytes: f64,
    /// Number of waiting requests that hold it.
    #[serde(default)]
    pub requests: u32,
    /// Outermost method whose local variable or argument holds it, with its line.
    #[serde(default)]
    pub held_in: String,
    /// Innermost method that holds it, if it was handed down.
    #[serde(default)]
    pub handed_to: Option<String>,
    /// Method over whose call it is held.
    #[serde(default)]
    pub call: String,
}

impl Held {
    /// Returns bytes of a waiting request as bytes of a request in process: some do not wait.
    pub fn per_request(&self, bytes: f64) -> f64 {
        bytes * f64::from(self.waiting) / f64::from(self.in_process.max(self.waiting).max(1))
    }

    /// Returns the bytes that a request in process holds over its calls; absent if none waited.
    pub fn bytes_per_request(&self) -> Option<f64> {
        let sum = self.objects.iter().map(|object| object.bytes).sum();
        (self.waiting > 0).then(|| self.per_request(sum))
    }
}

//! Demands of made-up services for the tests.
#![allow(dead_code)]

use yunti_model::demands::{Demands, parse};

/// Service that is put together from its parts, in the text of the format.
pub struct Service {
    processors: f64,
    workers: String,
    resources: Vec<String>,
    templates: Vec<String>,
    fields: Vec<String>,
}

impl Service {
    pub fn new(processors: f64) -> Self {
        Service { processors, workers: "null".into(), resources: vec![], templates: vec![], fields: vec![] }
    }

    pub fn workers(mut self, limit: u32) -> Self {
        self.workers = limit.to_string();
        self
    }

    pub fn resource(mut self, kind: &str, name: &str, units: Option<u32>) -> Self {
        let (id, units) = (self.resources.len(), units.map_or("null".to_string(), |units| units.to_string()));
        self.resources.push(format!(r#"{{"id":{id},"kind":"{kind}","name":"{name}","parallelism":{units}}}"#));
        self
    }

    pub fn template(self, steps: &str) -> Self {
        self.templates([steps.to_string()])
    }

    pub fn templates(mut self, all: impl IntoIterator<Item = String>) -> Self {
        self.templates.extend(all.into_iter().map(|steps| format!(r#"{{"kind":0,"ms":10,"steps":{steps}}}"#)));
        self
    }

    /// Adds a field of the document.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.fields.push(format!(r#""{name}":{value},"#));
        self
    }

    pub fn text(&self) -> String {
        format!(
            r#"{{"version":1,{}"processors":{{"count":{}}},"workers":{{"name":"w","limit":{}}},"resources":[{}],"templates":[{}]}}"#,
            self.fields.concat(),
            self.processors,
            self.workers,
            self.resources.join(","),
            self.templates.join(",")
        )
    }

    pub fn demands(&self) -> Demands {
        parse(&self.text()).unwrap()
    }
}

/// Quantiles of the exponential distribution in a fixed order without pattern.
pub fn exponential(count: u64, mean: f64) -> impl Iterator<Item = f64> + Clone {
    let seed = (mean * 1000.0) as u64;
    let mut order: Vec<u64> = (0..count).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut order);
    order
        .into_iter()
        .cycle()
        .take(count as usize * 2)
        .map(move |n| -mean * (1.0 - (n as f64 + 0.5) / count as f64).ln())
}

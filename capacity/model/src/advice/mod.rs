//! Advice about a service: what bounds it, how many threads it needs, what would make it carry more.

mod candidates;
mod data;
mod numbers;
mod release;
mod sentences;

use serde::Serialize;
use yunti_base::Result;

pub use data::{Data, REQUESTS_MIN, data};
pub use release::Release;

use crate::curve::{Curve, Options, parallel};
use crate::demands::Demands;
use crate::what_if::{Answer, Conversion, Prospect, prospect, what_if};
use crate::young::{Young, young};

/// Subject of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    Data,
    Peak,
    Bottleneck,
    Threads,
    Fall,
    Hang,
    Change,
    Young,
    Promotion,
    Release,
    Consistency,
    Nagle,
}

/// Sentence of the advice, with all that it needs to be understood alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sentence {
    pub topic: Topic,
    pub text: String,
}

/// Facts from outside the demands.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Alternatives for formats of messages.
    pub conversions: Vec<Conversion>,
    /// Median response time that clients see, with the network.
    pub client_p50_ms: Option<f64>,
}

/// Advice about a service.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    pub data: Data,
    pub prospect: Prospect,
    pub young: Option<Young>,
    /// Objects to release before remote calls, if a heap dump was taken.
    pub releases: Vec<Release>,
    /// Changes with what they bring, the largest gain first.
    pub changes: Vec<Answer>,
    pub sentences: Vec<Sentence>,
}

/// Returns the advice for a service whose curve is known.
pub fn advice(demands: &Demands, curve: &Curve, known: &Known, options: &Options) -> Result<Advice> {
    let now = prospect(demands, curve, options)?;
    let clients = curve.threads.value as u32;
    let run = options.run(options.quick().requests);
    let young = young(demands, &curve.formulas, clients, &run)?;
    let releases = release::releases(demands, curve, options)?;
    let candidates = candidates::list(demands, curve, young.as_ref(), &known.conversions);
    // Each candidate uses one thread: there are more of them than threads.
    let single = Options { threads: 1, ..*options };
    let answers = parallel::map(options.threads, &candidates, |changes| {
        what_if(demands, changes, &known.conversions, &now, curve.relative_error, &single)
    });
    // A change that hangs the service is no advice.
    let mut changes: Vec<Answer> = answers.into_iter().filter_map(|answer| answer.ok()).collect();
    changes.sort_by(|a, b| b.gain.value.total_cmp(&a.gain.value));
    let data = data(demands, curve.relative_error);
    let mut advice = Advice { data, prospect: now, young, releases, changes, sentences: Vec::new() };
    advice.sentences = sentences::write(demands, curve, &advice, known);
    Ok(advice)
}

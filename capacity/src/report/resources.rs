//! Resources of an answer: in words, with their use at the peak, and the time of a request by kind.

use std::collections::BTreeMap;

use yunti_model::demands::{ProcessorTime, Step};
use yunti_model::formulas::{Item, Place};

use super::Report;

/// Milliseconds of a request below which a resource is not worth a line.
const MS_MIN: f64 = 0.005;
/// Kinds of time in the order in which they are drawn.
pub const KINDS: [&str; 9] =
    ["processors", "collections", "lock", "pool", "threads", "remote", "disk", "sleep", "other"];

/// Returns a resource with its kind.
pub fn label(item: &Item) -> String {
    match item.place {
        Place::Processors => "processors".into(),
        Place::Collections => "collections, which stop the process".into(),
        Place::Workers if item.name.is_empty() => "threads that serve requests".into(),
        Place::Workers => format!("threads that serve requests: {}", item.name),
        Place::Resource(_) => format!("{}: {}", item.kind, item.name),
    }
}

impl Report<'_> {
    /// Returns the resources with their use at the peak, the fullest first, then by time.
    pub fn resources(&self) -> Vec<(&Item, Option<f64>)> {
        let shares = &self.curve.bottleneck.shares;
        let share = |item: &Item| shares.iter().find(|share| share.place == item.place).map(|share| share.utilisation);
        let items = self.curve.formulas.necessary.items.iter().filter(|item| item.ms >= MS_MIN);
        let mut all: Vec<_> = items.map(|item| (item, share(item))).collect();
        all.sort_by(|(a, x), (b, y)| y.unwrap_or(0.0).total_cmp(&x.unwrap_or(0.0)).then(b.ms.total_cmp(&a.ms)));
        all
    }

    /// Returns the milliseconds on a processor for which a request waits.
    pub fn processor_ms(&self) -> f64 {
        ProcessorTime::of(self.demands).template_ms
    }

    /// Returns the milliseconds of a request by what it does: on a processor, or waiting at a kind of resource.
    ///
    /// The time of a lock or pool is what requests wait inside without a resource of its own.
    pub fn time_by_kind(&self) -> Vec<(&'static str, f64)> {
        let demands = self.demands;
        let mut sums: BTreeMap<&'static str, f64> = BTreeMap::new();
        let index = demands.index();
        for (template, weight) in demands.templates.iter().zip(demands.weights()) {
            waits(&template.steps, &mut |resource, ms| {
                *sums.entry(demands.resources[index[&resource]].kind.name()).or_default() += ms * weight;
            });
        }
        let count = demands.templates.len().max(1) as f64;
        sums.values_mut().for_each(|ms| *ms /= count);
        sums.insert("processors", self.processor_ms());
        sums.insert("collections", demands.gc.as_ref().map_or(0.0, |gc| gc.pause_ms_per_request));
        KINDS.iter().filter_map(|kind| Some((*kind, *sums.get(kind)?))).filter(|(_, ms)| *ms >= MS_MIN).collect()
    }
}

fn waits(steps: &[Step], see: &mut dyn FnMut(u32, f64)) {
    for step in steps {
        match step {
            Step::Wait { resource, ms } => see(*resource, *ms),
            Step::Spawn { steps, .. } => waits(steps, see),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::report::document::tests::Example;

    #[test]
    fn times_add_up_to_a_request() {
        let example = Example::shop();
        let report = example.report();
        let by_kind = report.time_by_kind();
        let sum: f64 = by_kind.iter().map(|(_, ms)| ms).sum();
        let calls = report.curve.formulas.necessary.calls;
        let hidden = calls.ms - calls.elapsed_ms;
        let necessary = report.curve.formulas.necessary.ms;
        assert!(hidden > 1.0 && (sum - hidden - necessary).abs() < 0.1, "{sum} {necessary} {by_kind:?}");
        let uses: Vec<f64> = report.resources().iter().map(|(_, share)| share.unwrap_or(0.0)).collect();
        assert!(uses.is_sorted_by(|a, b| a >= b) && uses[0] > 0.9, "{uses:?}");
    }
}

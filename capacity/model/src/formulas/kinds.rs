//! Needs of a request of each kind.

use serde::Serialize;

use super::necessary::{Necessary, Place};
use crate::demands::Demands;

/// Need of a request of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KindNeed {
    pub name: String,
    /// Share of all requests.
    pub share: f64,
    /// Duration of a request that waits for nothing that others use.
    pub necessary_ms: f64,
    /// Time of a request on the bottleneck; absent without one.
    pub bottleneck_ms: Option<f64>,
    /// Bytes that a request allocates; absent if unknown.
    pub allocated_bytes: Option<f64>,
}

/// Returns the need of each kind of requests of which some were measured, the most frequent first.
///
/// @param bottleneck place of the resource that bounds the service
pub fn kinds(demands: &Demands, bottleneck: Option<Place>) -> Vec<KindNeed> {
    let total: f64 = demands.requests.kinds.iter().map(|kind| kind.weight()).sum();
    let all = demands.templates.len() as f64;
    let mut needs = Vec::new();
    for (at, kind) in demands.requests.kinds.iter().enumerate() {
        let is_of = |kind: u32| kind as usize == at;
        let count = demands.templates.iter().filter(|template| is_of(template.kind)).count() as f64;
        if count == 0.0 {
            continue;
        }
        let weight = |kind: u32| if is_of(kind) { all / count } else { 0.0 };
        let weights: Vec<f64> = demands.templates.iter().map(|template| weight(template.kind)).collect();
        let necessary = Necessary::with(demands, &weights);
        let item = bottleneck.and_then(|place| necessary.items.iter().find(|item| item.place == place));
        needs.push(KindNeed {
            name: kind.name.clone(),
            share: kind.weight() / total.max(f64::MIN_POSITIVE),
            necessary_ms: necessary.ms,
            bottleneck_ms: item.map(|item| item.ms),
            allocated_bytes: kind.allocated_bytes,
        });
    }
    needs.sort_by(|a, b| b.share.total_cmp(&a.share));
    needs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demands::parse;

    #[test]
    fn each_kind_has_its_own_need() {
        let text = r#"{"version":1,"processors":{"count":2},"requests":{"kinds":[
            {"name":"GET /a","count":30,"allocated_bytes":500},
            {"name":"GET /b","count":10},{"name":"GET /c","count":1}]},"templates":[
            {"kind":0,"steps":[["cpu",2]]},{"kind":0,"steps":[["cpu",4]]},{"kind":1,"steps":[["cpu",8]]}]}"#;
        let demands = parse(text).unwrap();
        let found = kinds(&demands, Some(Place::Processors));
        let near = |need: &KindNeed| (need.share * 41.0).round() as u32;
        assert_eq!(found.iter().map(near).collect::<Vec<_>>(), [30, 10]);
        assert_eq!((found[0].necessary_ms, found[0].bottleneck_ms), (3.0, Some(3.0)));
        assert_eq!((found[0].allocated_bytes, found[1].bottleneck_ms), (Some(500.0), Some(8.0)));
        assert!(kinds(&parse(&text.replace("kinds", "other")).unwrap(), None).is_empty());
    }
}

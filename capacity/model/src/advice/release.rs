//! Objects to release before remote calls: what a heap dump found, with what each release brings by the model.

use serde::Serialize;
use yunti_base::Result;

use crate::curve::{Curve, Options, curve};
use crate::demands::{Demands, HeldObject};
use crate::simulate::{Collections, Network};
use crate::what_if::{Change, apply};

/// Objects whose release is simulated.
const RELEASES_MAX: usize = 3;
/// Bytes of an object below which nobody should care.
const BYTES_MIN: f64 = 16_384.0;
/// Factor on held memory that stands for none.
const NONE: f64 = 0.001;

/// Object that waiting requests hold, with what its release brings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Release {
    pub object: HeldObject,
    /// Requests in process for which the pauses are.
    pub clients: u32,
    /// Milliseconds of a second in which collections stop the process: as it is, and after the release.
    pub pause_ms_per_second: f64,
    pub pause_ms_per_second_released: f64,
    /// Requests a second at the peak: as it is, and after the release.
    pub per_second: f64,
    pub per_second_released: f64,
}

/// Returns the releases, the largest objects first; none without a heap dump or without collections.
pub fn releases(demands: &Demands, curve_now: &Curve, options: &Options) -> Result<Vec<Release>> {
    let (Some(held), Some(collections)) = (&demands.held, Collections::of(demands)) else { return Ok(Vec::new()) };
    if collections.held_bytes <= 0.0 {
        return Ok(Vec::new());
    }
    let quick = options.quick();
    let clients = curve_now.threads.value as u32;
    let stopped = |demands: &Demands| -> Result<f64> {
        let point = Network::new(demands).without_worker_limit().closed(clients, &options.run(quick.requests))?;
        Ok(point.stopped * 1000.0)
    };
    let large: Vec<&HeldObject> =
        held.objects.iter().filter(|object| object.bytes >= BYTES_MIN).take(RELEASES_MAX).collect();
    if large.is_empty() {
        return Ok(Vec::new());
    }
    let pause_ms_per_second = stopped(demands)?;
    let release = |object: &HeldObject| -> Result<Release> {
        let factor = (1.0 - held.per_request(object.bytes) / collections.held_bytes).clamp(NONE, 1.0);
        let changed = apply(demands, &[Change::Held(factor)], &[])?;
        Ok(Release {
            object: object.clone(),
            clients,
            pause_ms_per_second,
            pause_ms_per_second_released: stopped(&changed)?,
            per_second: curve_now.peak_now.value,
            per_second_released: curve(&changed, &quick)?.peak_now.value,
        })
    };
    large.into_iter().map(release).collect()
}

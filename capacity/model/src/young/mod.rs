//! Young generation: the least size at which collections stop mattering, what it brings, and how to set it.
//!
//! The pause of a collection hardly depends on the size of Eden, so the pause of a request is in proportion to
//! 1 / Eden. A pause takes all processors: D' = D - processors x pause x (1 - Eden / Eden'). Counting the stopped
//! time alone predicted 20 % too few requests a second (docs/decisions/capacity.md).
//!
//! Collectors beside the requests (ZGC, Shenandoah) have hardly any pauses and no young size. Their cycle costs
//! processor time, also in proportion to 1 / the bytes allocated between two cycles, which takes the place of Eden.

mod promotion;
mod resize;
mod settings;

use serde::Serialize;
use yunti_base::Result;

pub use promotion::Promotion;
pub use resize::{resize, scale_allocation, scale_held, scale_pauses};
pub use settings::Settings;

use crate::demands::{Collector, Demands, Gc};
use crate::formulas::{Formulas, Place, bytes_per_request};
use crate::simulate::{Collections, Run};

/// Gain of an endless Eden below which a size is large enough.
const GAIN_MIN: f64 = 0.02;
/// Difference of the two measures of memory from which on it is reported.
const DIFFERENCE: f64 = 0.25;
/// Sizes of the table, as multiples of the present Eden.
const MULTIPLES: [f64; 7] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
/// Share of the young generation that Eden takes, unless both are known.
pub(crate) const EDEN_SHARE: f64 = 0.8;
const MEGABYTE: f64 = 1048576.0;

/// Size of the young generation with its effect.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Size {
    pub young_bytes: f64,
    pub eden_bytes: f64,
    pub pause_ms_per_request: f64,
    /// Processor time that collections take from a request, in pauses and beside the requests.
    pub collector_ms_per_request: f64,
    /// Requests a second at the peak, by the formula.
    pub per_second: f64,
}

/// Answer about the young generation of a service.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Young {
    pub bytes_per_request: f64,
    /// The same from Eden and the time between collections; absent without collections. Far less: memory that
    /// requests in process hold fills Eden.
    pub bytes_per_request_check: Option<f64>,
    pub differs: bool,
    pub now: Size,
    pub table: Vec<Size>,
    /// Least size at which larger ones bring less than 2 %.
    pub enough: Size,
    /// Relative growth of the peak by that size. 0: the present size is large enough.
    pub gain: f64,
    /// The collector works beside the requests: sizes are bytes allocated between two cycles.
    pub is_concurrent: bool,
    /// Waits of a request for free memory, because the collector was late.
    pub stall_ms_per_request: f64,
    pub settings: Settings,
    pub promotion: Option<Promotion>,
}

/// Returns the answer; absent without measured collections or allocation. `clients`: requests in process at the
/// peak.
pub fn young(demands: &Demands, formulas: &Formulas, clients: u32, run: &Run) -> Result<Option<Young>> {
    let (Some(gc), Some(collections)) = (&demands.gc, Collections::of(demands)) else { return Ok(None) };
    let effect = Effect::of(demands, gc, formulas, &collections);
    let enough = effect.enough(clients);
    let (now, enough) = (effect.size(effect.eden), effect.size(enough));
    let (rate, interval) = (demands.requests.per_second, gc.collections_per_request);
    let check = match gc.eden_bytes {
        Some(eden) if rate > 0.0 && interval > 0.0 => Some(bytes_per_request(eden, rate, 1.0 / (rate * interval))),
        _ => None,
    };
    Ok(Some(Young {
        bytes_per_request: collections.allocated_bytes,
        bytes_per_request_check: check,
        differs: check.is_some_and(|check| (check / collections.allocated_bytes - 1.0).abs() > DIFFERENCE),
        now,
        table: MULTIPLES.iter().map(|times| effect.size(effect.eden * times)).collect(),
        enough,
        gain: (enough.per_second / now.per_second - 1.0).max(0.0),
        is_concurrent: Collector::of(&gc.collector).is_concurrent(),
        stall_ms_per_request: gc.stall_ms_per_request.unwrap_or(0.0),
        settings: Settings::of(gc, now.young_bytes, enough.young_bytes),
        promotion: promotion::find(demands, &collections, clients, run)?,
    }))
}

/// Effect of the size of Eden on the peak.
struct Effect {
    eden: f64,
    young_per_eden: f64,
    pause_ms: f64,
    concurrent_ms: f64,
    processors: f64,
    /// Processor time of a request without collections.
    cpu_ms: f64,
    /// Requests a second that the other resources carry.
    others: f64,
    held_bytes: f64,
    survivor_per_eden: f64,
}

impl Effect {
    fn of(demands: &Demands, gc: &Gc, formulas: &Formulas, collections: &Collections) -> Effect {
        let items = &formulas.necessary.items;
        let processors = demands.processors.available();
        let measured = gc.pause_ms_per_request;
        let pause_ms = match measured > 0.0 {
            true => measured,
            false => collections.pause_ms * collections.allocated_bytes / collections.eden_bytes,
        };
        let cpu = items.iter().find(|item| item.place == Place::Processors).map_or(0.0, |item| item.ms);
        let concurrent_ms = gc.concurrent_ms(demands.processors.count);
        let eden = gc.eden_bytes.filter(|eden| *eden > 0.0).unwrap_or(collections.eden_bytes);
        Effect {
            eden,
            concurrent_ms,
            young_per_eden: young_per_eden(gc, eden, collections.survivor_bytes),
            pause_ms,
            processors,
            cpu_ms: (cpu - processors * measured - concurrent_ms).max(1e-6),
            others: formulas.necessary.resources_per_second(),
            held_bytes: collections.held_bytes,
            survivor_per_eden: collections.survivor_bytes / eden,
        }
    }

    /// Returns the processor time that collections of the present size take from a request.
    fn cost_ms(&self) -> f64 {
        self.processors * self.pause_ms + self.concurrent_ms
    }

    fn size(&self, eden: f64) -> Size {
        let rarer = self.eden / eden;
        let by_processors = self.processors * 1000.0 / (self.cpu_ms + self.cost_ms() * rarer);
        Size {
            young_bytes: eden * self.young_per_eden,
            eden_bytes: eden,
            pause_ms_per_request: self.pause_ms * rarer,
            collector_ms_per_request: self.cost_ms() * rarer,
            per_second: by_processors.min(self.others),
        }
    }

    /// Returns the least Eden at which a larger one brings less than 2 %, and which keeps what requests hold young.
    fn enough(&self, clients: u32) -> f64 {
        let best = (self.processors * 1000.0 / self.cpu_ms).min(self.others);
        // Time of a request on the processors at which the peak is 2 % below the best.
        let allowed = self.processors * 1000.0 * (1.0 + GAIN_MIN) / best - self.cpu_ms;
        let by_pauses = self.cost_ms() * self.eden / allowed.max(1e-9);
        let held = f64::from(clients) * self.held_bytes;
        let by_survivors = if self.survivor_per_eden > 0.0 { held / self.survivor_per_eden } else { 0.0 };
        let eden = by_pauses.max(by_survivors);
        // Whole megabytes of the young generation can be set.
        let step = if eden * self.young_per_eden > 256.0 * MEGABYTE { 64.0 } else { 8.0 } * MEGABYTE;
        (eden * self.young_per_eden / step).ceil().max(1.0) * step / self.young_per_eden
    }
}

/// Returns the size of the young generation by Eden.
pub(crate) fn young_per_eden(gc: &Gc, eden: f64, survivor: f64) -> f64 {
    if Collector::of(&gc.collector).is_concurrent() {
        return 1.0;
    }
    if let Some(young) = gc.young_bytes.filter(|young| *young > eden) {
        return young / eden;
    }
    if survivor > 0.0 { 1.0 + 2.0 * survivor / eden } else { 1.0 / EDEN_SHARE }
}

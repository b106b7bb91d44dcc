//! Demands of a service with another young generation or another allocation.

use yunti_base::{Code, Error, Result};

use super::young_per_eden;
use crate::demands::{Demands, Gc};
use crate::simulate::Collections;

/// Sets the size of the young generation. The rest of the heap keeps its size.
///
/// An error says that no collections were measured.
pub fn resize(demands: &mut Demands, young_bytes: f64) -> Result<()> {
    let Some(before) = Collections::of(demands) else {
        let error = Error::new(Code::Usage, "no collections and no allocation were measured");
        return Err(error.hint("measure a JVM with more requests"));
    };
    change(demands, &before, |gc| {
        let eden_before = gc.eden_bytes.filter(|eden| *eden > 0.0).unwrap_or(before.eden_bytes);
        let eden = young_bytes / young_per_eden(gc, eden_before, before.survivor_bytes);
        let times = eden / eden_before;
        gc.eden_bytes = Some(before.eden_bytes * times);
        gc.young_bytes = gc.young_bytes.map(|_| young_bytes);
        gc.survivor_bytes = gc.survivor_bytes.map(|survivor| survivor * times);
        gc.collections_per_request /= times;
        gc.pause_ms_per_request /= times;
        gc.cpu_ms_per_request /= times;
    });
    Ok(())
}

/// Scales what a request allocates and holds.
pub fn scale_allocation(demands: &mut Demands, factor: f64) {
    let Some(before) = Collections::of(demands) else { return };
    change(demands, &before, |gc| {
        gc.eden_bytes = Some(before.eden_bytes);
        gc.allocated_bytes_per_request *= factor;
        gc.held_bytes_per_request = Some(before.held_bytes * factor);
        gc.collections_per_request *= factor;
        gc.pause_ms_per_request *= factor;
        gc.cpu_ms_per_request *= factor;
    });
}

/// Scales what a request holds while it waits: a collection copies that much less, and promotes less of it.
pub fn scale_held(demands: &mut Demands, factor: f64) {
    let Some(before) = Collections::of(demands) else { return };
    change(demands, &before, |gc| {
        gc.held_bytes_per_request = Some(before.held_bytes * factor);
        let less = |in_process: f64| before.pause_ms_per_live * in_process.min(before.live_max) * (1.0 - factor);
        let (mut all, count) = (0.0, gc.pauses_by_live.len().max(1) as f64);
        for (in_process, pause) in &mut gc.pauses_by_live {
            let kept = (*pause - less(*in_process)).max(0.0);
            all += *pause - kept;
            *pause = kept;
        }
        gc.pause_ms_mean = gc.pause_ms_mean.map(|mean| (mean - all / count).max(0.0));
    });
}

/// Scales the duration of all pauses.
pub fn scale_pauses(gc: &mut Gc, factor: f64) {
    gc.pause_ms_per_request *= factor;
    gc.cpu_ms_per_request *= factor;
    for pause in [&mut gc.pause_ms_mean, &mut gc.full_pause_ms_mean].into_iter().flatten() {
        *pause *= factor;
    }
    gc.pauses_by_live.iter_mut().for_each(|(_, pause)| *pause *= factor);
}

/// Changes collections, then sets what depends on several sizes: memory held by a request, and promotion.
fn change(demands: &mut Demands, before: &Collections, work: impl FnOnce(&mut Gc)) {
    let Some(mut gc) = demands.gc.take() else { return };
    demands.gc = Some(gc.clone());
    let in_process = Collections::mean_in_process(demands, &gc);
    gc.held_bytes_per_request = Some(before.held_bytes);
    // The mean would change with the number of collections: it is a property of one.
    gc.pause_ms_mean = gc.pause_ms_mean.or(Some(before.pause_ms));
    work(&mut gc);
    let eden = gc.eden_bytes.unwrap_or(before.eden_bytes);
    let held = gc.held_bytes_per_request.unwrap_or(0.0);
    let overflow = (in_process * held - gc.survivor_bytes.unwrap_or(0.0)).max(0.0);
    let long_lived = before.promoted_bytes * eden / before.eden_bytes;
    gc.promoted_bytes_per_request = (long_lived + overflow) * gc.allocated_bytes_per_request / eden;
    demands.gc = Some(gc);
}

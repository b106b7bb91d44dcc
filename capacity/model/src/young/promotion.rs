//! Promotion of memory that requests hold while they wait for other machines.
//!
//! A collection copies what requests in process hold. If that exceeds the survivor space, it moves to the old
//! generation, whose collections stop the process for much longer. More threads then make the service slower.

use serde::Serialize;
use yunti_base::Result;

use crate::demands::Demands;
use crate::simulate::{Collections, Network, Run};

/// Share of the survivor space from which on it is nearly full.
const NEAR: f64 = 0.8;

/// Memory held by requests against the survivor space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Promotion {
    pub held_bytes_per_request: f64,
    /// Requests in process for which the sums are.
    pub clients: u32,
    pub live_bytes: f64,
    pub survivor_bytes: f64,
    /// The live bytes exceed the survivor space: each collection promotes.
    pub overflows: bool,
    /// Requests in process from which on collections promote.
    pub clients_max: u32,
    /// Requests a second as it is, and with memory released before the waits.
    pub per_second: f64,
    pub per_second_released: f64,
}

/// Returns what requests hold; absent if they hold nothing that was seen, or far less than the survivor space.
pub fn find(demands: &Demands, collections: &Collections, clients: u32, run: &Run) -> Result<Option<Promotion>> {
    let (held, survivor) = (collections.held_bytes, collections.survivor_bytes);
    let live = f64::from(clients) * held;
    if held <= 0.0 || live < NEAR * survivor {
        return Ok(None);
    }
    let mut released = demands.clone();
    if let Some(gc) = &mut released.gc {
        gc.held_bytes_per_request = Some(0.0);
        gc.promoted_bytes_per_request =
            collections.promoted_bytes * collections.allocated_bytes / collections.eden_bytes;
        // Without anything alive, a pause is its base.
        gc.pause_ms_mean = Some(collections.pause_ms);
        gc.pauses_by_live.clear();
    }
    let rate = |demands: &Demands| -> Result<f64> {
        Ok(Network::new(demands).without_worker_limit().closed(clients, run)?.per_second)
    };
    Ok(Some(Promotion {
        held_bytes_per_request: held,
        clients,
        live_bytes: live,
        survivor_bytes: survivor,
        overflows: live > survivor,
        clients_max: (survivor / held).min(f64::from(u32::MAX)) as u32,
        per_second: rate(demands)?,
        per_second_released: rate(&released)?,
    }))
}

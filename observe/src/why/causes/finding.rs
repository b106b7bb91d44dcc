//! A finding of the rules, and the measures that rules share.

use yunti_probe::stack::Frame;

use crate::why::account::waiting::Waiting;
use crate::why::facts::Facts;

/// A cause that was found.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Name in the guide: `fair-lock-convoy`.
    pub cause: &'static str,
    /// Share of the busy time, 0 to 1.
    pub cost: f64,
    /// Sentence that names the resource, its holder, and the place.
    pub sentence: String,
    pub evidence: Vec<String>,
    pub cure: String,
}

/// Cost below which a cause is not reported.
pub const COST_MIN: f64 = 0.15;
/// Frames of the kernel that give memory back to the system.
pub const GIVING_BACK_FRAMES: [&str; 6] =
    ["sys_munmap", "sys_madvise", "sys_brk", "unmap_region", "zap_page_range", "do_madvise"];
/// Frames of the kernel that handle a page fault.
pub const PAGE_FAULT_FRAMES: [&str; 4] =
    ["exc_page_fault", "asm_exc_page_fault", "do_user_addr_fault", "handle_mm_fault"];
/// Returns true if one of the frames has one of the names in its own.
pub fn has_frame(frames: &[Frame], names: &[&str]) -> bool {
    frames.iter().any(|frame| names.iter().any(|name| frame.name.contains(name)))
}

/// Returns a share as text: `12 %`.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Returns the weight of waits, 0 to 1. It is 1 up to half of the processors
/// in use, and 0 when all are: waits bound nothing then. In pauses of a collector they bound nothing either.
pub fn while_processors_are_free(facts: &Facts) -> f64 {
    (2.0 * (1.0 - facts.utilisation())).clamp(0.0, 1.0) * (1.0 - pauses(facts))
}

fn pauses(facts: &Facts) -> f64 {
    facts.heap.as_ref().map_or(0.0, |heap| heap.pause_share.min(1.0))
}

/// Demand in processors below which processor time bounds nothing. A program that works now and then, and sleeps, is
/// not CPU-bound.
pub const DEMAND_MIN: f64 = 0.3;

/// Returns the share of processor time in the busy time. During pauses threads get no processor time.
pub fn of_processor(facts: &Facts) -> f64 {
    if facts.demand() < DEMAND_MIN {
        return 0.0;
    }
    let left = facts.left_by_others() * (1.0 - pauses(facts));
    left * (facts.threads_waiting(Waiting::Not) / facts.busy_threads().max(0.01)).clamp(0.0, 1.0)
}

//! Harm from outside: what other processes, the machine and its settings do to a process.
//!
//! Each rule needs a measured effect on the process. A tool that is attached, or a neighbour that is busy, is only
//! named as the holder of an effect.
//!
//! ```text
//!   stopped.rs      a tracer, SIGSTOP, the freezer
//!   pages.rs        memory taken away: swap, limits, requests to reclaim
//!   processors.rs   neighbours, affinity, priority, steal, clock
//!   instruments.rs  probes, filters and samplers of other tools; thread dumps in a loop
//! ```

mod instruments;
mod pages;
mod processors;
mod stopped;

pub use processors::OF_NEIGHBOURS;

use std::time::Duration;

use crate::why::causes::finding::Finding;
use crate::why::facts::Facts;
use yunti_base::Result;
use yunti_probe::kernel::system::{Act, Meddler, Meddlers};
use yunti_probe::stopping::{PULSE, Stopping};
use yunti_probe::target::Process;
use yunti_probe::target::outside::attached;

type Rule = fn(&Facts) -> Option<Finding>;

pub const RULES: [Rule; 16] = [
    stopped::frozen,
    stopped::stopped,
    stopped::traced,
    pages::swapped,
    pages::limited,
    pages::taken,
    processors::children,
    processors::neighbour,
    processors::affinity,
    processors::steal,
    processors::clock,
    instruments::probes,
    instruments::system_call_filter,
    instruments::memory_moved,
    instruments::sampler,
    instruments::thread_dumps,
];

/// Time in which acts on the process are counted.
const ACTS_TIME: Duration = Duration::from_millis(1500);

/// Returns true if the process is stopped, or loses pages by request.
pub fn needs_meddlers(facts: &Facts) -> bool {
    pages::needs_holder(facts) || stopped::needs_holder(facts)
}

/// Measures who acts on the process. For this time each system call on the machine costs some nanoseconds more.
pub fn meddlers(process: &Process, stopping: &mut Stopping) -> Result<Vec<Meddler>> {
    let mut meddlers = Meddlers::start(process)?;
    stopping.wait(process, ACTS_TIME, PULSE, || {
        meddlers.collect();
        true
    });
    Ok(meddlers.finish())
}

/// Returns who did one of these acts, as text, with the times.
fn meddler(facts: &Facts, acts: &[Act]) -> Option<String> {
    let these: Vec<&Meddler> = facts.details.meddlers.iter().filter(|it| acts.contains(&it.act)).collect();
    let first = these.first()?;
    let same = these.iter().filter(|it| it.label == first.label).count();
    // A script starts a process for each act.
    Some(match same {
        1 => format!("{} {}", first.label, first.pid),
        n => format!("{} ({n} processes, one after the other)", first.label),
    })
}

/// Searches other processes for handles, if the facts show an effect whose cause they would name.
pub fn search(process: &Process, facts: &mut Facts) {
    if pages::needs_holder(facts) || instruments::needs_holder(facts) || stopped::needs_holder(facts) {
        facts.outside.attached = attached(process);
    }
}

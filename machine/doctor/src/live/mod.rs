//! State of the machine during the checks: load and pressure, and counters of the kernel before and after them.

mod interrupts;
pub mod pressure;
mod stalls;

use yunti_settings::System;

use super::finding::Finding;

/// Counters at the start of the checks. By default those of the boot.
pub struct Watched {
    interrupts: interrupts::Sample,
    stalls: Option<stalls::Sample>,
}

impl Default for Watched {
    fn default() -> Watched {
        Watched { interrupts: interrupts::Sample::default(), stalls: Some(stalls::BOOT) }
    }
}

impl Watched {
    /// Returns the present counters.
    pub fn begin(system: &System) -> Watched {
        Watched { interrupts: interrupts::sample(system), stalls: stalls::sample(system) }
    }

    /// Returns the findings about the time since.
    pub fn end(&self, system: &System) -> Vec<Finding> {
        let stalls = self.stalls.as_ref().zip(stalls::sample(system));
        let stalls = stalls.and_then(|(before, after)| stalls::finding(system, before, &after));
        stalls.into_iter().chain(interrupts::finding(system, &self.interrupts, &interrupts::sample(system))).collect()
    }
}

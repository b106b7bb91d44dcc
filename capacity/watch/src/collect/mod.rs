//! Collection: one measurement of a service, by other programs of Yunti, each bounded in time.
//!
//! ```text
//!   installed.rs    the order of all steps
//!   subject.rs      the process of a pattern, its host and runtime
//!   child.rs        a program that ends in time; supervisor.rs ends it also if this program is killed
//!   slices.rs       windows and functions, from slices of `yunti observe record`
//!   load_run.rs     figures of `yunti capacity load`
//!   calibration.rs  the speed of the host's processors
//!   clocks.rs       what other programs and the compilers of the process took
//! ```
//!
//! Statistics see records alone, so tests and other collectors bring theirs by `yunti watch import`.

mod calibration;
mod child;
mod clocks;
mod installed;
mod load_run;
mod slices;
mod subject;
mod supervisor;

use yunti_base::{Cancel, Result};

pub use installed::Installed;
pub use subject::check_pattern;
pub use supervisor::{GRACE, supervise};

use crate::record::Record;
use crate::store::Settings;

/// Source of measurements. It is called once for each record, and writes nothing that stays.
pub trait Collector {
    /// Measures a service. A process that is missing or restarts is a record that says so; an error is a pattern that
    /// matches several processes, a missing program, or cancellation.
    fn collect(&self, settings: &Settings, label: Option<&str>, cancel: &Cancel) -> Result<Record>;
}

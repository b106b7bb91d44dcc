//! Detection of crashes, and delivery of their reports to a collector. `machine/crash/` defines the reports.
//!
//! ```text
//!   kernel_log.rs  /dev/kmsg, record by record      jvms.rs        folders in which JVMs write hs_err files
//!   repeats.rs     repeats are counted              queue.rs       queue and rate limit of reports
//!   delivery.rs    thread that delivers them        collector.rs   collector, over UDP or TLS
//!   unacknowledged.rs  bytes that the peer has not acknowledged
//! ```

pub mod collector;
pub mod delivery;
pub mod jvms;
pub mod kernel_log;
pub mod queue;
pub mod repeats;
mod unacknowledged;

pub use yunti_crash::{Kind, Report, fatal_error, kernel, syslog};

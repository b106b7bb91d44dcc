//! How reports of crashes are found, and the way that they go to who collects them. What a report is, is `machine/crash/`'s.
//!
//! ```text
//!   kernel_log.rs  /dev/kmsg, record by record      jvms.rs        folders where JVMs leave their hs_err files
//!   repeats.rs     the same again is counted        queue.rs       what waits to be sent, and how fast it may
//!   delivery.rs    the thread that brings them      collector.rs   where they go, over UDP or TLS
//!   unacknowledged.rs  bytes that the other side has not confirmed
//! ```

pub mod collector;
pub mod delivery;
pub mod jvms;
pub mod kernel_log;
pub mod queue;
pub mod repeats;
mod unacknowledged;

pub use yunti_crash::{Kind, Report, fatal_error, kernel, syslog};

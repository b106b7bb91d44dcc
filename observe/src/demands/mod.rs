//! Demands of requests on resources, for the model of `yunti capacity`: `docs/formats/demands.md`.
//!
//! ```text
//!   command.rs      `yunti observe demands`
//!   measure/        events, waits of the kernel, pauses, connections and processor time, side by side
//!   evidence.rs     all that was measured
//!   request/        requests and their necessary steps
//!   held.rs         what requests hold over their calls, by a heap dump
//!   resources.rs    what is taken, waited for and used: kinds, names, parallelism
//!   collections.rs  the collector's part
//!   document.rs     the answer
//! ```

mod collections;
mod command;
mod document;
mod evidence;
mod held;
mod measure;
mod request;
mod resources;

pub use command::{DemandsFlags, demands};

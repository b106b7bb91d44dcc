//! Demands of requests on resources, for the model of `yunti capacity`: `docs/formats/demands.md`.
//!
//! ```text
//!   baseline.rs     processor time of a request that nothing measures
//!   candidates.rs   classes at which requests wait
//!   measure.rs      events of the JVM, waits of the kernel, pauses, connections and processor time, side by side
//!     native.rs       requests and locks of a process that is no JVM
//!     places.rs       places and objects of events, by their numbers
//!     peers.rs        remote ends of descriptors
//!     processors.rs   processor time by thread, by process and of the machine
//!   timeline.rs     events and waits of each thread, by time
//!   work.rs         requests and tasks: which thread did what, and when
//!   steps.rs        necessary steps of a request: waits for locks, pools and processors left out
//!   means.rs        one request of mean times, where single ones are not seen
//!   scaling.rs      processor time of a request, by what runs beside it
//!   resources.rs    what is taken, waited for and used: kinds, names, parallelism
//!   collections.rs  the collector's part
//!   document.rs     the answer
//! ```

mod baseline;
mod candidates;
mod collections;
mod document;
mod means;
mod measure;
mod native;
mod peers;
mod places;
mod processors;
mod resources;
mod scaling;
mod steps;
mod timeline;
mod work;

pub use baseline::Baseline;
pub use candidates::Candidates;
pub use document::document;
pub use measure::{measure_jvm, measure_other};

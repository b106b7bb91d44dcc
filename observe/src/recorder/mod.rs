//! Recorder: profiles of services in slices, all day, into a store.
//!
//! ```text
//!   settings.rs   what is recorded, how often, and how much it may cost
//!   services.rs   processes -> services, again at each slice
//!   release.rs    release of a service: version or hash of its file
//!   container.rs  container or unit of a process
//!   watch.rs      one process over a slice: stacks, requests, collections
//!   names.rs      names that every start of a program gives its functions
//!   requests.rs   requests that the process served
//!   collections.rs  garbage collections of a JVM
//!   counters.rs   counters of the machine and of the process
//!   budget.rs     rates that keep the cost within its limit
//!   heartbeat.rs  state of the recorder, for other processes
//!   run.rs        slice after slice
//! ```

mod budget;
mod collections;
mod container;
mod counters;
mod heartbeat;
mod names;
mod release;
mod requests;
mod run;
mod services;
mod settings;
mod watch;

pub use heartbeat::{Recorder, State, is_running};
pub use run::record;
pub use settings::{Chosen, Label, Settings};
pub use watch::unix_ms;

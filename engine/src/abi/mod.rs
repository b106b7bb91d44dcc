//! Beside the floors: class libraries, loaded from shared objects through the C ABI (api/include/yunti.h).
//!
//! Implements the interfaces of `operator` over foreign tables. Nothing but the command line and hosts imports it: a job is given
//! classes and does not know where they come from.

mod adapters;
mod context;
mod layout;
mod library;

pub use library::load;

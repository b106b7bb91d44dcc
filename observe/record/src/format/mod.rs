//! Formats of profiles: pprof, which slices are stored in, OTLP, and collapsed stacks.

pub mod collapsed;
mod facts;
pub mod gzip;
pub mod otlp;
pub mod pprof;
mod strings;
mod units;
mod wire;

//! Schedule of an open loop: when each request is due.

pub mod arrivals;
pub mod pace;

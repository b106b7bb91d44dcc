//! Server under load: its address, and the trust in its certificate.

pub mod target;
pub mod trust;

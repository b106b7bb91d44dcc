//! Passes over the dump: its objects, references, sizes, and single objects.

pub mod batch;
pub mod crew;
pub mod locate;
pub mod references;
pub mod scan;
pub mod weigh;

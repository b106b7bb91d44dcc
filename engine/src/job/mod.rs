//! Floor 9: a job from its specification to its committed output and its report.

pub mod applications;
pub mod bottleneck;
pub mod commit;
pub mod control;
pub mod execute;
mod finish_memory;
mod finish_runs;
mod finish_tables;
pub mod inputs;
pub mod limits;
pub mod machine;
mod map_only;
mod mapping;
pub mod meter;
pub mod plan;
mod reducing;
pub mod report;
mod reporting;
mod sample;
mod sizing;
mod sorted;
pub mod spec;
pub mod spec_change;
pub mod spec_file;

pub use applications::{Application, applications};
pub use control::{Control, Progress};
pub use execute::{Outcome, run};
pub use report::Report;
pub use spec::{InputFormat, JobSpec, Mode, OutputFormat, OutputTarget, Partitioning, SpillCodec};

/// The vector instructions that the engine uses on this machine.
pub fn simd_name() -> &'static str {
    crate::collect::vsort::Simd::detect().name()
}

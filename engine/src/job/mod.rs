//! Floor 9: a job from its specification to its committed output and its report.

mod chain;
pub mod commit;
pub mod control;
pub mod execute;
pub mod inspect;
pub mod journal;
mod machine;
mod phase;
mod plan;
pub mod report;
pub mod spec;
pub mod task;
mod task_files;

pub use crate::columns::settings::MARK_NULLS;
pub use crate::write::directories::KEY_DIRECTORIES;
pub use crate::write::top::TopRecord;
pub use chain::{run, stages};
pub use control::{Control, Progress};
pub use execute::Outcome;
pub use machine::default_budget_bytes_below;
pub use plan::JSON_VALUES;
pub use plan::complete::formats::{Load, description, needed, read_format, written_format};
pub use plan::complete::infer::Fields;
pub use plan::complete::rewrite::{joins_tables, refuse_on_cluster};
pub use plan::complete::table::{Table, format_of, is_json_value, is_nested};
pub use plan::complete::{Completion, complete, is_open};
pub use plan::inputs::find as find_inputs;
pub use report::Report;
pub use spec::applications::{Application, application, application_names, applications};
pub use spec::{InputFormat, JobSpec, Mode, OutputFormat, OutputTarget, Partitioning, SpillCodec};
pub use task_files::tables::check as check_tables;

/// Returns the name of the vector instructions that the engine uses on this machine.
pub fn simd_name() -> &'static str {
    crate::collect::vsort::Simd::detect().name()
}

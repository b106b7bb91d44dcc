//! Parts of a query in the tasks of a cluster, as classes of a job. `yunti sql --on yarn` ships this library with the
//! jobs; it carries the executor, and no front end.
//!
//! ```text
//!   class            what it does                                        starts at
//!   Sql.Source       reads the columns of a fragment as blocks           source.rs
//!   Sql.Map          runs a fragment over the blocks of its split        map.rs
//!   Sql.Partitioner  sends a block to the partition that its key names   partition.rs
//!   Sql.Reduce       runs the reduction over the blocks of a partition   reduce.rs
//! ```
//!
//! ```text
//!   stage.rs   the stage of the job, its tables and its memory    feed.rs    the executor, a thread beside the task's
//!   send.rs    rows of a fragment as records                      one_file.rs  a file of the engine as `Files`
//!   text.rs    CSV and JSON lines as blocks
//! ```
//!
//! A record is a block of rows, never a row: what Hadoop sorts and merges is some hundred keys of 16 bytes.

mod failure;
mod feed;
mod map;
mod one_file;
mod partition;
mod reduce;
mod send;
mod source;
mod stage;
mod text;

use map::Map;
use partition::Partitioner;
use reduce::Reduce;
use source::Source;

/// Setting: name of the file in the task's directory that has the stage.
pub const STAGE: &str = "yunti.sql.stage";
/// Setting: bytes of memory for the query in each task.
pub const MEMORY: &str = "yunti.sql.memory";
/// Name of the library for files of columns in a task's directory.
pub const FORMATS: &str = "libyunti_formats.so";

yunti_api::library! {
    c"Sql", c"0.1.0",
    yunti_api::source::<Source>(c"Sql.Source"),
    yunti_api::mapper::<Map>(c"Sql.Map"),
    yunti_api::partitioner::<Partitioner>(c"Sql.Partitioner"),
    yunti_api::step_reducer::<Reduce>(c"Sql.Reduce"),
}

//! Plans on a stock Hadoop cluster (`yunti sql --on yarn`): cut at exchanges into stages, each of them one job whose
//! tasks run parts of the plan by the library `libyunti_sql.so` (`task/`).
//!
//! ```text
//!   plan --cut/--> stages --run.rs--> jobs, one after the other --result.rs--> rows
//! ```
//!
//! ```text
//!   cut/         a plan as stages
//!   explain.rs   stages as text
//!   job.rs       a stage as a job: its file, its settings, its command
//!   client.rs    Hadoop's client, which submits a job and waits for it
//!   run.rs       all jobs of a query, and values of plans within expressions
//!   result.rs    rows of the last job
//!   directory.rs the directory of a query on the cluster
//! ```

pub mod client;
pub mod cut;
mod directory;
pub mod explain;
pub mod job;
mod result;
pub mod run;

pub use run::Yarn;

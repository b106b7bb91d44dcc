//! Files of columns: the library that reads and writes them, jobs over tables, and `yunti convert`.
//!
//! ```text
//!   job of flags --> rewrite.rs, join.rs (applications over lines) --> resolve.rs (columns, types) --> job
//! ```

pub mod convert;
mod infer;
mod join;
pub mod library;
mod resolve;
mod rewrite;
mod table;

pub use rewrite::{keep_format, refuse_on_cluster};

use yunti_base::Result;
use yunti_engine::env::Env;
use yunti_engine::job::spec::JobSpec;

/// Returns true for a job over tables that is not complete. Its input formats are found with its columns.
pub fn is_open(spec: &JobSpec) -> bool {
    resolve::is_open(spec) || rewrite::names_key(spec)
}

/// Completes a job over tables; leaves others alone. Errors: `Usage`, and those of the first files.
pub fn complete(spec: &mut JobSpec, env: &Env) -> Result<()> {
    rewrite::rewrite(spec, env)?;
    resolve::resolve(spec, env)
}

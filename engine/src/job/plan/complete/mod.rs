//! Completion of a job by its first files: formats that the user left open, columns and their types.
//!
//! A node completes its job before the plan. For a cluster, the client does so where it can read the files
//! (`job::task::complete`), so that each task has the complete job.
//!
//! ```text
//!   job of flags --> rewrite.rs, join.rs (applications over lines) --> resolve.rs (columns, types) --> job
//! ```

pub mod formats;
pub mod infer;
mod join;
pub mod recognise;
pub mod resolve;
pub mod rewrite;
pub mod table;

pub use self::formats::Completion;
use crate::env::Env;
use crate::job::spec::JobSpec;
use yunti_base::Result;

/// Returns true for a job over tables that is not complete. Its input formats are found with its columns.
pub fn is_open(spec: &JobSpec) -> bool {
    resolve::is_open(spec) || rewrite::names_key(spec)
}

/// Completes a job by its first files: their format, and the types of their columns.
///
/// Errors: `Usage` for parts that do not fit together; those of the first files and of the library.
pub fn complete(spec: &mut JobSpec, with: Completion<'_>, env: &Env) -> Result<()> {
    if with.recognises && !is_open(spec) {
        recognise::recognise_formats(spec, env, with.stores_are_near)?;
    }
    if with.keeps_format {
        rewrite::keep_format(spec);
    }
    rewrite::rewrite(spec, env, with)?;
    resolve::resolve(spec, env, with.stores_are_near, with.load)?;
    spec.check()
}

//! The class library for files of others, such as Parquet: loaded from beside this program when a job needs it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use yunti_base::{Code, Error, Result};
use yunti_engine::abi;
use yunti_engine::env::Env;
use yunti_engine::job::inspect::describe;
use yunti_engine::job::spec::{InputFormat, JobSpec, OutputFormat, PARQUET_SOURCE, PARQUET_WRITER};
use yunti_engine::operator::class::find_class;
use yunti_engine::operator::{ClassSource, Kind};

/// Names of its classes. Libraries of users may have others that begin alike.
const CLASSES: [&str; 2] = [PARQUET_SOURCE, PARQUET_WRITER];
/// Name of its file.
const FILE: &str = "libyunti_formats.so";
/// Variable that names another file.
const VARIABLE: &str = "YUNTI_FORMATS";

/// Returns true if a job names a class of the library.
pub fn needs(spec: &JobSpec) -> bool {
    let ours = |name: &str| CLASSES.contains(&name);
    let reads = |format: &InputFormat| matches!(format, InputFormat::Class(name) if ours(name));
    let writes = |format: &OutputFormat| matches!(format, OutputFormat::Class(name) if ours(name));
    let jobs = std::iter::once(spec).chain(&spec.then);
    jobs.into_iter()
        .any(|job| writes(&job.output_format) || job.sources().iter().any(|source| reads(&source.input_format)))
}

/// Refuses a job of a cluster that names a class of the library. Errors: `Usage`.
pub fn refuse_on_cluster(spec: &JobSpec) -> Result<()> {
    if !needs(spec) {
        return Ok(());
    }
    let error = Error::new(Code::Usage, "Parquet is read and written on one node alone, not on YARN");
    Err(error.hint("leave out --on yarn, or read it there with a reader of Java"))
}

/// Loads the library. Errors: `Input` if it is not there; `UserCode` if it cannot be loaded.
pub fn load() -> Result<Arc<dyn ClassSource>> {
    match find() {
        Some(path) => abi::load(&path),
        None => Err(Error::new(Code::Input, format!("Parquet needs {FILE}, which is not beside this program"))
            .hint(format!("build it with make formats, or name it in {VARIABLE}"))),
    }
}

/// Returns the description of a Parquet file: its schema, columns and statistics.
///
/// Errors: those of `load`; `Corrupt` and `Input` of the file.
pub fn description(path: &Path, env: &Env) -> Result<Value> {
    let class = find_class(&[load()?], PARQUET_SOURCE, &[Kind::Source])?;
    serde_json::from_str(&describe(path, &class, env)?)
        .map_err(|e| Error::new(Code::Internal, format!("the description of a file is no JSON ({e})")))
}

/// Returns the path of the library: the variable's, or `lib/yunti/` beside `bin/`, or the program's own directory.
fn find() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(VARIABLE) {
        return Some(path.into());
    }
    let program = std::env::current_exe().ok()?;
    let own = program.parent()?;
    let places = [own.join("../lib/yunti").join(FILE), own.join(FILE), own.join("../formats/release").join(FILE)];
    places.into_iter().find(|path| path.is_file())
}

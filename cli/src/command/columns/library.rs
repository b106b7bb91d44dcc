//! The class library for files of others, such as Parquet: loaded from beside this program when a job needs it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use yunti_base::{Code, Error, Result};
use yunti_engine::abi;
use yunti_engine::env::Env;
use yunti_engine::format::file_formats::{FileFormat, of_source, of_writer};
use yunti_engine::job::inspect::describe;
use yunti_engine::job::spec::{InputFormat, JobSpec, OutputFormat};
use yunti_engine::operator::class::find_class;
use yunti_engine::operator::{ClassSource, Kind};

/// Name of its file.
const FILE: &str = "libyunti_formats.so";
/// Variable that names another file.
const VARIABLE: &str = "YUNTI_FORMATS";

/// Returns the format of the first class of the library that a job names. Libraries of users may have other classes
/// that begin alike.
pub fn needed(spec: &JobSpec) -> Option<&'static FileFormat> {
    std::iter::once(spec).chain(&spec.then).find_map(|job| {
        let reads = job.sources().iter().find_map(|source| read_format(&source.input_format));
        reads.or_else(|| written_format(&job.output_format))
    })
}

/// Returns the format of files that an input format stands for, if the library reads it.
pub fn read_format(format: &InputFormat) -> Option<&'static FileFormat> {
    if let InputFormat::Class(name) = format { of_source(name) } else { None }
}

/// Returns the format of files that an output format stands for, if the library writes it.
pub fn written_format(format: &OutputFormat) -> Option<&'static FileFormat> {
    if let OutputFormat::Class(name) = format { of_writer(name) } else { None }
}

/// Refuses a job of a cluster that names a class of the library. Errors: `Usage`.
pub fn refuse_on_cluster(spec: &JobSpec) -> Result<()> {
    if spec.has_directories() {
        let error = Error::new(Code::Usage, "directories by keys are written on one node alone, not on YARN");
        return Err(error.hint("leave out --on yarn"));
    }
    let Some(format) = needed(spec) else { return Ok(()) };
    let what = format!("{} is read and written on one node alone, not on YARN", format.title);
    Err(Error::new(Code::Usage, what).hint("leave out --on yarn, or read it there with a reader of Java"))
}

/// Returns the library for files of a format, which is loaded once.
///
/// Errors: `Input` if it is not there; `UserCode` if it cannot be loaded.
pub fn load(format: &FileFormat) -> Result<Arc<dyn ClassSource>> {
    static LOADED: OnceLock<Arc<dyn ClassSource>> = OnceLock::new();
    if let Some(loaded) = LOADED.get() {
        return Ok(loaded.clone());
    }
    let Some(path) = find() else {
        let what = format!("{} needs {FILE}, which is not beside this program", format.title);
        return Err(Error::new(Code::Input, what).hint(format!("build it with make formats, or name it in {VARIABLE}")));
    };
    let loaded = abi::load(&path)?;
    Ok(LOADED.get_or_init(|| loaded).clone())
}

/// Returns the description of a file of columns: its schema, columns and statistics.
///
/// Errors: those of `load`; `Corrupt` and `Input` of the file.
pub fn description(path: &Path, format: &FileFormat, env: &Env) -> Result<Value> {
    let class = find_class(&[load(format)?], format.source, &[Kind::Source])?;
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

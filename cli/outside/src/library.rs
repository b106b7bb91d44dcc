//! The class library for files of others, such as Parquet: loaded from beside this program when a job needs it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use yunti_base::{Code, Error, Result};
use yunti_engine::abi;
use yunti_engine::env::Env;
use yunti_engine::format::file_formats::FileFormat;
use yunti_engine::job;
use yunti_engine::operator::ClassSource;

/// Name of its file.
const FILE: &str = "libyunti_formats.so";
/// Variable that names another file.
const VARIABLE: &str = "YUNTI_FORMATS";

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
    job::description(path, format, env, &load)
}

/// Returns the path of the library: the variable's, or `lib/yunti/` beside `bin/`, or the program's own directory.
pub fn find() -> Option<PathBuf> {
    find_file(FILE, VARIABLE)
}

/// Returns the path of a library by the name of its file, or by a variable that names another.
pub fn find_file(file: &str, variable: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable) {
        return Some(path.into());
    }
    let program = std::env::current_exe().ok()?;
    let own = program.parent()?;
    let places = [own.join("../lib/yunti").join(file), own.join(file), own.join("../formats/release").join(file)];
    places.into_iter().find(|path| path.is_file())
}

//! Formats of inputs that the user left open: columns are recognised by the first file.

use std::path::PathBuf;

use super::inputs;
use crate::env::Env;
use crate::job::spec::{InputFormat, JobSpec, PARQUET_SOURCE, SourceSpec};
use crate::read::foreign;
use yunti_base::{Code, Error, Result};

/// Extensions of Parquet files.
const EXTENSIONS: [&str; 3] = ["parquet", "parq", "pq"];

/// Returns the first file that `names` stand for. Errors: `Input` if there is none.
pub fn first_file(names: &[String], env: &Env) -> Result<PathBuf> {
    let none = || Error::new(Code::Input, "there is no file to read").at_path(names.join(" "));
    inputs::first(&*env.files, names, |_| true)?.map(|file| file.path).ok_or_else(none)
}

/// Sets the input format of each source of text whose first file is a Parquet file.
///
/// Errors: `Input` for an input that does not exist or cannot be read.
pub fn recognise_formats(spec: &mut JobSpec, env: &Env) -> Result<()> {
    for (number, SourceSpec { inputs: names, input_format, .. }) in spec.sources().into_iter().enumerate() {
        if !matches!(&input_format, InputFormat::Text { .. }) || names.iter().any(|name| name == "-") {
            continue;
        }
        let Some(first) = inputs::first(&*env.files, &names, |file| !file.is_stream)? else { continue };
        // Other files are not opened here: a job opens them under its guard.
        let is_named =
            first.path.extension().is_some_and(|e| EXTENSIONS.iter().any(|known| e.eq_ignore_ascii_case(known)));
        if is_named && foreign::is_parquet(&*env.files, &first)? {
            let slot = match spec.sources.get_mut(number) {
                Some(source) => &mut source.input_format,
                None => &mut spec.input_format,
            };
            *slot = InputFormat::Class(PARQUET_SOURCE.into());
        }
    }
    Ok(())
}

//! Formats of inputs that the user left open: files of columns are recognised by the first file.

use std::path::PathBuf;

use crate::env::Env;
use crate::env::stores::scheme_of;
use crate::format::file_formats::FILE_FORMATS;
use crate::job::plan::inputs;
use crate::job::spec::{InputFormat, JobSpec, SourceSpec};
use crate::read::foreign;
use crate::read::split::InputFile;
use yunti_base::{Code, Error, Result};

/// Returns the first file that `names` stand for and that has a byte, because others are tables without rows and
/// columns; without one, the first file. Errors: `Input` if there is none.
pub fn first_file(names: &[String], env: &Env) -> Result<PathBuf> {
    let none = || Error::new(Code::Input, "there is no file to read").at_path(names.join(" "));
    first_with_bytes(names, env, |_| true)?.map(|file| file.path).ok_or_else(none)
}

fn first_with_bytes(names: &[String], env: &Env, wanted: fn(&InputFile) -> bool) -> Result<Option<InputFile>> {
    let has_bytes = |file: &InputFile| wanted(file) && (file.len > 0 || file.is_stream);
    match inputs::first(&*env.files, names, has_bytes)? {
        None => inputs::first(&*env.files, names, wanted),
        found => Ok(found),
    }
}

/// Sets the input format of each source of text whose first file has a format of `FILE_FORMATS`.
///
/// `stores_are_near`: files of stores are opened whatever their names are. Errors: `Input` for an input that does not
/// exist or cannot be read.
pub fn recognise_formats(spec: &mut JobSpec, env: &Env, stores_are_near: bool) -> Result<()> {
    for (number, SourceSpec { inputs: names, input_format, .. }) in spec.sources().into_iter().enumerate() {
        // Some applications name the end of a line.
        let is_line_end = |delimiter: &Option<Vec<u8>>| matches!(delimiter.as_deref(), None | Some(b"\n"));
        let is_open = matches!(&input_format, InputFormat::Text { delimiter } if is_line_end(delimiter));
        if !is_open || names.iter().any(|name| name == "-") {
            continue;
        }
        let Some(first) = first_with_bytes(&names, env, |file| !file.is_stream)? else { continue };
        let Some(class) = source_of(&first, env, stores_are_near)? else { continue };
        let slot = match spec.sources.get_mut(number) {
            Some(source) => &mut source.input_format,
            None => &mut spec.input_format,
        };
        *slot = InputFormat::Class(class.into());
    }
    Ok(())
}

/// Returns the class that reads a file, if it is recognised.
fn source_of(file: &InputFile, env: &Env, stores_are_near: bool) -> Result<Option<&'static str>> {
    let is_known = FILE_FORMATS.iter().any(|format| format.has_extension(&file.path));
    if file.len == 0 {
        return Ok(FILE_FORMATS.iter().find(|format| format.has_extension(&file.path)).map(|format| format.source));
    }
    // A file of a store costs a request.
    if !is_known && !stores_are_near && scheme_of(&file.path).is_some() {
        return Ok(None);
    }
    let found = match foreign::file_format(&*env.files, file) {
        // The job reports it, as it does for each of its files.
        Err(_) if !is_known => return Ok(None),
        found => found?,
    };
    Ok(found.filter(|format| !format.needs_extension || format.has_extension(&file.path)).map(|format| format.source))
}

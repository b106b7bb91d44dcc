//! Settings of the built-in classes, from the job (-D key=value).

use std::fmt::Display;
use std::str::FromStr;

use crate::operator::TaskContext;
use yunti_base::{Code, Error, Result};

/// Returns a required setting. `example`: a good value for the hint. Errors: `Usage` if it is missing.
pub fn required<'a>(context: &'a TaskContext, key: &str, example: &str) -> Result<&'a str> {
    context.setting(key).ok_or_else(|| {
        Error::new(Code::Usage, format!("the setting {key} is missing")).hint(format!("as in -D {key}={example}"))
    })
}

/// Returns a number, `true` or `false`; `default` if the setting is missing. Errors: `Usage` for another value.
pub fn value<T: FromStr<Err: Display>>(context: &TaskContext, key: &str, default: T) -> Result<T> {
    let Some(text) = context.setting(key) else { return Ok(default) };
    let what = match std::any::type_name::<T>() {
        "bool" => "true or false",
        "f64" | "f32" => "a number",
        _ => "a whole number in range",
    };
    text.trim().parse().map_err(|_| Error::new(Code::Usage, format!("{key}: '{text}' is not {what}")))
}

/// Returns an ordinal from 1; `default` if the setting is missing. Errors: `Usage`.
pub fn ordinal(context: &TaskContext, key: &str, default: usize) -> Result<usize> {
    match value(context, key, default)? {
        0 => Err(Error::new(Code::Usage, format!("the setting {key} is 0")).hint("counting begins at 1")),
        n => Ok(n),
    }
}

/// Returns name and content of the side file that a setting names. `example`: a good name for the hint. Errors:
/// `Usage`.
pub fn side_file<'a>(context: &'a TaskContext, key: &str, example: &str) -> Result<(&'a str, &'a [u8])> {
    let name = required(context, key, &format!("{example} --side-file {example}"))?;
    match context.job.side_files.get(name) {
        Some(content) => Ok((name, content)),
        None => Err(no_side_file(key, name)),
    }
}

/// Returns the error for a setting that names a side file that the job does not have.
pub fn no_side_file(key: &str, name: &str) -> Error {
    Error::new(Code::Usage, format!("{key} is {name}, but no side file has this name"))
        .hint(format!("add --side-file {name}, or --table {name}=FILE"))
}

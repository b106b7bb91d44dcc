//! Settings of the built-in classes, as the job gives them (-D key=value).

use std::fmt::Display;
use std::str::FromStr;

use crate::operator::TaskContext;
use yunti_base::{Code, Error, Result};

/// A setting without which the class can do nothing; `example`: a good value.
pub fn required<'a>(context: &'a TaskContext, key: &str, example: &str) -> Result<&'a str> {
    context.setting(key).ok_or_else(|| {
        Error::new(Code::Usage, format!("the setting {key} is missing")).hint(format!("as in -D {key}={example}"))
    })
}

/// A number or `true` and `false`; `default` where the job says nothing.
pub fn value<T: FromStr<Err: Display>>(context: &TaskContext, key: &str, default: T) -> Result<T> {
    let Some(text) = context.setting(key) else { return Ok(default) };
    text.trim().parse().map_err(|e| Error::new(Code::Usage, format!("the setting {key} is '{text}': {e}")))
}

/// The number of something, from 1.
pub fn ordinal(context: &TaskContext, key: &str, default: usize) -> Result<usize> {
    match value(context, key, default)? {
        0 => Err(Error::new(Code::Usage, format!("the setting {key} is 0")).hint("counting begins at 1")),
        n => Ok(n),
    }
}

/// The content of the side file that a setting names; `example`: a good name.
pub fn side_file<'a>(context: &'a TaskContext, key: &str, example: &str) -> Result<(&'a str, &'a [u8])> {
    let name = required(context, key, &format!("{example} --side-file {example}"))?;
    match context.job.side_files.get(name) {
        Some(content) => Ok((name, content)),
        None => Err(Error::new(Code::Usage, format!("{key} is {name}, and there is no such side file"))
            .hint(format!("add --side-file {name}"))),
    }
}

//! Settings of the built-in classes, as the job gives them (-D key=value).

use std::fmt::Display;
use std::str::FromStr;

use crate::base::{Code, Error, Result};
use crate::operator::TaskContext;

pub fn text<'a>(context: &'a TaskContext, key: &str) -> Option<&'a str> {
    context.setting(key)
}

/// A setting without which the class can do nothing; `example`: a good value.
pub fn required<'a>(context: &'a TaskContext, key: &str, example: &str) -> Result<&'a str> {
    text(context, key).ok_or_else(|| {
        Error::new(Code::Usage, format!("the setting {key} is missing")).hint(format!("as in -D {key}={example}"))
    })
}

/// A number or `true` and `false`; `default` where the job says nothing.
pub fn value<T: FromStr<Err: Display>>(context: &TaskContext, key: &str, default: T) -> Result<T> {
    let Some(text) = text(context, key) else { return Ok(default) };
    text.trim().parse().map_err(|e| Error::new(Code::Usage, format!("the setting {key} is '{text}': {e}")))
}

/// The number of something, from 1.
pub fn ordinal(context: &TaskContext, key: &str, default: usize) -> Result<usize> {
    match value(context, key, default)? {
        0 => Err(Error::new(Code::Usage, format!("the setting {key} is 0")).hint("counting begins at 1")),
        n => Ok(n),
    }
}

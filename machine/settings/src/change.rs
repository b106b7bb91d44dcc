//! A change of the machine: the files to write, their present contents, and how to restore them.

use crate::System;

/// Value of a file below proc or sys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Path below the root: `proc/sys/vm/swappiness`.
    pub path: String,
    /// Value, in the form in which it is written.
    pub value: String,
}

impl Write {
    /// Returns the value for the file at `path`.
    pub fn new(path: impl Into<String>, value: impl ToString) -> Write {
        Write { path: path.into(), value: value.to_string() }
    }
}

/// A change: the files to write, their present contents, and how to restore them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Files to write, in this order.
    pub writes: Vec<Write>,
    /// Present values of the same files.
    pub old: Vec<Write>,
    /// Writes that restore the old values; they differ from `old` if files of the kernel depend on each other.
    pub restore: Vec<Write>,
}

/// Message why a value is refused.
pub type Refusal = String;

/// Returns the present values of the files of `writes`. Fails if a file cannot be read.
pub(crate) fn present(system: &System, writes: &[Write]) -> Result<Vec<Write>, Refusal> {
    let one = |write: &Write| {
        let value = value_of(system, &write.path).ok_or_else(|| format!("/{} cannot be read", write.path))?;
        Ok(Write::new(&write.path, value))
    };
    writes.iter().map(one).collect()
}

/// Returns the value of a file in the form in which it is written: the word in brackets of `always [madvise] never`,
/// or numbers with a tab between them.
pub fn value_of(system: &System, path: &str) -> Option<String> {
    let text = system.text(path)?;
    let chosen = system.chosen(path);
    Some(chosen.unwrap_or_else(|| text.split_whitespace().collect::<Vec<_>>().join("\t")))
}

//! Records that match a regular expression, and the matches themselves.

use regex::bytes::{Regex, RegexBuilder};

use super::selected::pass_on;
use crate::library::settings;
use crate::operator::{Batch, Mapper, Out, TaskContext};
use yunti_base::{Code, Error, Result};

const PATTERN: &str = "grep.pattern";

fn pattern(context: &TaskContext) -> Result<Regex> {
    let pattern = settings::required(context, PATTERN, "'error [0-9]+'")?;
    let built =
        RegexBuilder::new(pattern).case_insensitive(settings::value(context, "grep.ignore-case", false)?).build();
    built.map_err(|e| {
        // The last line of several has the cause.
        let what = e.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_string();
        Error::new(Code::Usage, format!("the setting {PATTERN} is not a regular expression: {what}"))
            .hint("syntax: docs.rs/regex")
    })
}

/// Mapper that passes records whose key or value matches. A line is a value.
pub struct Grep {
    pattern: Regex,
    /// Passes records that do not match.
    invert: bool,
}

impl Grep {
    /// Reads the settings `grep.pattern`, `grep.ignore-case` and `grep.invert`. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<Self> {
        Ok(Grep { pattern: pattern(context)?, invert: settings::value(context, "grep.invert", false)? })
    }
}

impl Mapper for Grep {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let keyed = batch.keys().is_some();
        for i in 0..batch.len() {
            let (key, value) = batch.record(i);
            let found = self.pattern.is_match(value) || keyed && self.pattern.is_match(key);
            if found != self.invert {
                pass_on(batch, i, out)?;
            }
        }
        Ok(())
    }
}

/// Mapper that emits each match, or one group of it, with the number 1, as Hadoop's example `grep` does.
pub struct Matches {
    pattern: Regex,
    group: usize,
}

impl Matches {
    /// Reads the settings `grep.pattern`, `grep.ignore-case` and `grep.group`. Errors: `Usage`.
    pub fn new(context: &TaskContext) -> Result<Self> {
        let (pattern, group) = (pattern(context)?, settings::value(context, "grep.group", 0)?);
        if group >= pattern.captures_len() {
            let most = pattern.captures_len() - 1;
            return Err(Error::new(
                Code::Usage,
                format!("the setting grep.group is {group}, but the last group is {most}"),
            ));
        }
        Ok(Matches { pattern, group })
    }
}

impl Mapper for Matches {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        let one = 1u64.to_le_bytes();
        for i in 0..batch.len() {
            let value = batch.record(i).1;
            if self.group == 0 {
                for found in self.pattern.find_iter(value) {
                    out.emit(found.as_bytes(), &one)?;
                }
                continue;
            }
            for found in self.pattern.captures_iter(value) {
                // A group without a part in the match has no text.
                if let Some(group) = found.get(self.group) {
                    out.emit(group.as_bytes(), &one)?;
                }
            }
        }
        Ok(())
    }
}

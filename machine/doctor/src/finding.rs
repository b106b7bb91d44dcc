//! A finding: the state of one thing that matters to a job, and what to do about it.

use serde::Serialize;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// No problem.
    Ok,
    /// Worth knowing; jobs are at most a little slower.
    Note,
    /// Jobs are markedly slower, or fail.
    Warning,
}

/// Result of one check. Its fields are the keys of the JSON document.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Part of the machine: `memory`, `disks`, ..
    pub area: &'static str,
    /// Name of the check.
    pub name: String,
    /// Object of the check, if there are several: a directory, a disk, a process.
    pub place: Option<String>,
    /// Severity.
    pub level: Level,
    /// Present state, with its numbers.
    pub seen: String,
    /// Effect on a job.
    pub why: String,
    /// Cure, as a command where there is one. No code of the doctor applies it.
    pub change: Option<String>,
    /// Cost of the cure.
    pub cost: Option<String>,
    /// How to take the cure back.
    pub undo: Option<String>,
}

impl Finding {
    /// Returns a finding of level `Ok`, without place and cure.
    pub fn new(
        area: &'static str,
        name: impl Into<String>,
        seen: impl Into<String>,
        why: impl Into<String>,
    ) -> Finding {
        Finding {
            area,
            name: name.into(),
            place: None,
            level: Level::Ok,
            seen: seen.into(),
            why: why.into(),
            change: None,
            cost: None,
            undo: None,
        }
    }

    /// Sets the level.
    pub fn level(mut self, level: Level) -> Finding {
        self.level = level;
        self
    }

    /// Raises the level to `Note` if `holds`.
    pub fn note_if(self, holds: bool) -> Finding {
        let level = if holds { self.level.max(Level::Note) } else { self.level };
        self.level(level)
    }

    /// Sets the level to `Warning` if `holds`.
    pub fn warning_if(self, holds: bool) -> Finding {
        let level = if holds { Level::Warning } else { self.level };
        self.level(level)
    }

    /// Sets the cure. Set the level first: a finding of level `Ok` keeps no cure.
    pub fn change(mut self, change: impl Into<String>) -> Finding {
        self.change = (self.level != Level::Ok).then(|| change.into());
        self
    }

    /// Sets the cost of the cure, if there is a cure.
    pub fn cost(mut self, cost: impl Into<String>) -> Finding {
        self.cost = self.change.is_some().then(|| cost.into());
        self
    }

    /// Sets how to take the cure back, if there is a cure.
    pub fn undo(mut self, undo: impl Into<String>) -> Finding {
        self.undo = self.change.is_some().then(|| undo.into());
        self
    }
}

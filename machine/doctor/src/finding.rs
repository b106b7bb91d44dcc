//! A finding: one thing that matters to a job, as it is here.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    Ok,
    /// Worth knowing; jobs are as fast as they can be with it, or a little slower.
    Note,
    /// Jobs are markedly slower, or fail.
    Warning,
}

#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    pub area: &'static str,
    pub name: String,
    /// Which one, where several are looked at: a directory.
    pub place: Option<String>,
    pub level: Level,
    /// What is so, with its numbers.
    pub seen: String,
    /// What it means to a job.
    pub why: String,
    /// What to do about it; nothing does it by itself.
    pub change: Option<String>,
    /// What that costs.
    pub cost: Option<String>,
    pub undo: Option<String>,
}

impl Finding {
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

    pub fn level(mut self, level: Level) -> Finding {
        self.level = level;
        self
    }

    pub fn note_if(self, holds: bool) -> Finding {
        let level = if holds { self.level.max(Level::Note) } else { self.level };
        self.level(level)
    }

    pub fn warning_if(self, holds: bool) -> Finding {
        let level = if holds { Level::Warning } else { self.level };
        self.level(level)
    }

    /// What to change, told only where something is amiss.
    pub fn change(mut self, change: impl Into<String>) -> Finding {
        self.change = (self.level != Level::Ok).then(|| change.into());
        self
    }

    pub fn cost(mut self, cost: impl Into<String>) -> Finding {
        self.cost = self.change.is_some().then(|| cost.into());
        self
    }

    pub fn undo(mut self, undo: impl Into<String>) -> Finding {
        self.undo = self.change.is_some().then(|| undo.into());
        self
    }
}

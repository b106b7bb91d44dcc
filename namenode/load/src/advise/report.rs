//! Advice, and how it is told.

use serde_json::{Value, json};

/// How sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sure {
    /// The figures seen leave no other cause.
    Certain,
    /// It has this cause in most cases.
    Likely,
    /// Others may be the cause; try it where it costs little.
    Try,
}

impl Sure {
    fn name(self) -> &'static str {
        match self {
            Sure::Certain => "certain",
            Sure::Likely => "likely",
            Sure::Try => "to try",
        }
    }
}

/// Where a line goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    HdfsSite,
    CoreSite,
    HadoopEnv,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::HdfsSite => "hdfs-site.xml",
            Place::CoreSite => "core-site.xml",
            Place::HadoopEnv => "hadoop-env.sh",
        }
    }
}

#[derive(Debug)]
pub struct Line {
    pub place: Place,
    pub text: String,
}

impl Line {
    pub fn property(place: Place, key: &str, value: impl std::fmt::Display) -> Line {
        Line { place, text: format!("<property><name>{key}</name><value>{value}</value></property>") }
    }
}

#[derive(Debug)]
pub struct Advice {
    /// For programs; it stays the same.
    pub name: &'static str,
    /// What to do.
    pub change: String,
    pub sure: Sure,
    /// Figures, with units.
    pub seen: Vec<String>,
    pub why: String,
    pub brings: String,
    /// To paste.
    pub lines: Vec<Line>,
}

#[derive(Debug, Default)]
pub struct Report {
    pub advice: Vec<Advice>,
    pub unseen: Vec<String>,
}

impl Report {
    pub fn add(&mut self, advice: Advice) {
        self.advice.push(advice);
    }

    pub fn unseen(&mut self, what: impl Into<String>) {
        self.unseen.push(what.into());
    }

    pub fn to_json(&self) -> Value {
        let advice = self.advice.iter().map(|advice| {
            let lines = advice.lines.iter().map(|line| json!({ "file": line.place.name(), "line": line.text }));
            json!({
                "name": advice.name,
                "change": advice.change,
                "sure": advice.sure.name(),
                "seen": advice.seen,
                "why": advice.why,
                "brings": advice.brings,
                "lines": lines.collect::<Vec<_>>(),
            })
        });
        json!({ "advice": advice.collect::<Vec<_>>(), "not_seen": self.unseen })
    }

    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (number, advice) in self.advice.iter().enumerate() {
            text += &format!("\n{}. {} ({})\n", number + 1, advice.change, advice.sure.name());
            for seen in &advice.seen {
                text += &format!("   seen    {seen}\n");
            }
            text += &format!("   why     {}\n   brings  {}\n", advice.why, advice.brings);
            let mut place = None;
            for line in &advice.lines {
                if place != Some(line.place) {
                    place = Some(line.place);
                    text += &format!("   {}\n", line.place.name());
                }
                text += &format!("     {}\n", line.text);
            }
        }
        if self.advice.is_empty() {
            text += "\nNothing that was seen asks for a change.\n";
        }
        for (number, unseen) in self.unseen.iter().enumerate() {
            text += &format!("{}Not seen: {unseen}\n", if number == 0 { "\n" } else { "" });
        }
        text
    }
}

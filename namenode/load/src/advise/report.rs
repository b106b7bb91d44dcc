//! Advice: its parts, as text and as JSON.

use serde_json::{Value, json};

/// Confidence in a piece of advice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Confidence {
    /// The figures leave no other cause.
    Certain,
    /// This is the cause in most cases.
    Likely,
    /// There may be other causes; try it where it costs little.
    Try,
}

impl Confidence {
    fn name(self) -> &'static str {
        match self {
            Confidence::Certain => "certain",
            Confidence::Likely => "likely",
            Confidence::Try => "to try",
        }
    }
}

/// Configuration file that a line belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ConfigFile {
    HdfsSite,
    CoreSite,
    HadoopEnv,
}

impl ConfigFile {
    fn name(self) -> &'static str {
        match self {
            ConfigFile::HdfsSite => "hdfs-site.xml",
            ConfigFile::CoreSite => "core-site.xml",
            ConfigFile::HadoopEnv => "hadoop-env.sh",
        }
    }
}

/// A line to paste into a configuration file.
#[derive(Debug)]
pub struct Line {
    pub file: ConfigFile,
    pub text: String,
}

impl Line {
    /// Returns the line of a property in a `*-site.xml`.
    pub fn property(file: ConfigFile, key: &str, value: impl std::fmt::Display) -> Line {
        Line { file, text: format!("<property><name>{key}</name><value>{value}</value></property>") }
    }
}

/// A change, the figures behind it, and its expected gain.
#[derive(Debug)]
pub struct Advice {
    /// Stable name, for programs.
    pub name: &'static str,
    /// The change, as one imperative line.
    pub change: String,
    pub confidence: Confidence,
    /// Figures behind it, with units.
    pub figures: Vec<String>,
    pub why: String,
    pub brings: String,
    /// Lines to paste.
    pub lines: Vec<Line>,
}

/// All advice, and the rules that could not be checked.
#[derive(Debug, Default)]
pub struct Report {
    pub advice: Vec<Advice>,
    pub not_checked: Vec<String>,
}

impl Report {
    pub fn add(&mut self, advice: Advice) {
        self.advice.push(advice);
    }

    /// Records a rule that could not be checked, and why.
    pub fn not_checked(&mut self, what: impl Into<String>) {
        self.not_checked.push(what.into());
    }

    pub fn to_json(&self) -> Value {
        let advice = self.advice.iter().map(|advice| {
            let lines = advice.lines.iter().map(|line| json!({ "file": line.file.name(), "line": line.text }));
            json!({
                "name": advice.name,
                "change": advice.change,
                "sure": advice.confidence.name(),
                "seen": advice.figures,
                "why": advice.why,
                "brings": advice.brings,
                "lines": lines.collect::<Vec<_>>(),
            })
        });
        json!({ "advice": advice.collect::<Vec<_>>(), "not_checked": self.not_checked })
    }

    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (number, advice) in self.advice.iter().enumerate() {
            text += &format!("\n{}. {} ({})\n", number + 1, advice.change, advice.confidence.name());
            for figure in &advice.figures {
                text += &format!("   seen    {figure}\n");
            }
            text += &format!("   why     {}\n   brings  {}\n", advice.why, advice.brings);
            let mut file = None;
            for line in &advice.lines {
                if file != Some(line.file) {
                    file = Some(line.file);
                    text += &format!("   {}\n", line.file.name());
                }
                text += &format!("     {}\n", line.text);
            }
        }
        if self.advice.is_empty() {
            text += "\nNo change is advised.\n";
        }
        for (number, rule) in self.not_checked.iter().enumerate() {
            text += &format!("{}Not checked: {rule}\n", if number == 0 { "\n" } else { "" });
        }
        text
    }
}

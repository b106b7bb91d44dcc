//! One setting of the machine, and the values that it accepts.

use crate::System;
use crate::change::{Change, Refusal, Write, present};
use crate::dirty_limit;
use crate::value::{self, Limits};

/// Recommendation for a setting on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Advice {
    /// Keep the value.
    Keep,
    /// Consider another value: jobs are a little or sometimes slower with the present one.
    Consider,
    /// Change the value: jobs are markedly slower with the present one.
    Change,
}

/// Values that a setting accepts, and the files that they go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Values {
    /// No value: the setting is printed and not changed.
    Nothing,
    /// A number from `min` to `max`.
    Number { path: String, min: u64, max: u64 },
    /// One of `words`, written to each of `paths`.
    Word { paths: Vec<String>, words: Vec<String> },
    /// `FROM-TO`, written with a tab between both numbers.
    Range { path: String, min: u64, max: u64 },
    /// A size in bytes (`1G`, `512M`). Background writeback begins at a quarter of it.
    DirtyLimit,
}

/// A setting: present value, recommendation and its reason.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Name, as `apply` takes it; per disk with the disk behind a colon.
    pub name: String,
    /// Part of the machine.
    pub area: &'static str,
    /// Present value, as text for people.
    pub now: String,
    /// Recommendation.
    pub advice: Advice,
    /// Better value for `apply NAME`, or `None` to keep the present one.
    pub recommended: Option<String>,
    /// Effect on jobs and JVMs, and the reason for the recommended value.
    pub why: String,
    /// Cost of the recommended value.
    pub cost: &'static str,
    /// Values that the setting accepts.
    pub values: Values,
}

impl Setting {
    /// Returns a setting with the advice to keep its value.
    pub(crate) fn new(name: impl Into<String>, area: &'static str, now: impl Into<String>, values: Values) -> Setting {
        Setting {
            name: name.into(),
            area,
            now: now.into(),
            advice: Advice::Keep,
            recommended: None,
            why: String::new(),
            cost: "",
            values,
        }
    }

    /// Sets the reason.
    pub(crate) fn why(mut self, why: impl Into<String>) -> Setting {
        self.why = why.into();
        self
    }

    /// Recommends `value` at the price of `cost` if `holds`.
    pub(crate) fn better(
        mut self,
        holds: bool,
        advice: Advice,
        value: impl Into<String>,
        cost: &'static str,
    ) -> Setting {
        if holds {
            (self.advice, self.recommended, self.cost) = (advice, Some(value.into()), cost);
        }
        self
    }

    /// Returns the change that sets the setting to `value`. Fails with a message if the value is not accepted or a
    /// file cannot be read.
    pub fn change_to(&self, system: &System, value: &str) -> Result<Change, Refusal> {
        let writes = match &self.values {
            Values::Nothing => return Err("this setting cannot be changed".to_owned()),
            Values::Number { path, min, max } => {
                vec![Write::new(path, value::number(value, Limits { min: *min, max: *max, origin: "" })?)]
            }
            Values::Word { paths, words } => {
                if !words.iter().any(|word| word == value) {
                    return Err(format!("'{value}' is not one of {}", words.join(", ")));
                }
                paths.iter().map(|path| Write::new(path, value)).collect()
            }
            Values::Range { path, min, max } => {
                let (from, to) = value::range(value, Limits { min: *min, max: *max, origin: "" })?;
                vec![Write::new(path, format!("{from}\t{to}"))]
            }
            Values::DirtyLimit => return dirty_limit::change_to(system, value),
        };
        let old = present(system, &writes)?;
        // A word that is read in brackets is written without them.
        Ok(Change { restore: old.clone(), old, writes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn accepts_and_refuses_values() {
        let tree = Tree::of(&[("proc/n", "5\n"), ("sys/w", "a [b] c\n"), ("proc/r", "32768\t60999\n")]);
        let system = tree.system();
        let with = |values| Setting::new("x", "memory", "", values);
        let number = with(Values::Number { path: "proc/n".into(), min: 1, max: 9 });
        let change = number.change_to(&system, "7").unwrap();
        assert_eq!((change.writes, change.old), (vec![Write::new("proc/n", 7)], vec![Write::new("proc/n", 5)]));
        for wrong in ["", "0", "10", "x", "-1", "1.5", "7 "] {
            assert!(number.change_to(&system, wrong).is_err(), "{wrong}");
        }
        let word = with(Values::Word { paths: vec!["sys/w".into()], words: vec!["a".into(), "b".into()] });
        assert_eq!(word.change_to(&system, "a").unwrap().restore, [Write::new("sys/w", "b")]);
        assert!(word.change_to(&system, "c").is_err());
        let range = with(Values::Range { path: "proc/r".into(), min: 1024, max: 65535 });
        assert_eq!(range.change_to(&system, "2000-3000").unwrap().writes, [Write::new("proc/r", "2000\t3000")]);
        for wrong in ["2000", "3000-2000", "5-2000", "a-b", "2000-99999"] {
            assert!(range.change_to(&system, wrong).is_err(), "{wrong}");
        }
        assert!(with(Values::Nothing).change_to(&system, "1").is_err());
        let gone = with(Values::Number { path: "proc/none".into(), min: 1, max: 9 });
        assert!(gone.change_to(&system, "2").unwrap_err().contains("/proc/none"));
    }
}

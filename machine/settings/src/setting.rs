//! One setting.

use crate::System;

/// What a file below proc or sys is to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Below the root: `proc/sys/vm/swappiness`.
    pub path: String,
    pub value: String,
}

impl Write {
    pub fn new(path: impl Into<String>, value: impl ToString) -> Write {
        Write { path: path.into(), value: value.to_string() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Advice {
    /// As it should be here.
    Keep,
    /// Worth knowing; slower with it, a little or sometimes.
    Consider,
    /// Markedly slower with it.
    Change,
}

/// Which values may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Told, and better not touched.
    Nothing,
    Number {
        path: String,
        min: u64,
        max: u64,
    },
    /// One of these words, to each of these files.
    Word {
        paths: Vec<String>,
        words: Vec<String>,
    },
    /// `FROM-TO`, written with a blank between.
    Range {
        path: String,
        min: u64,
        max: u64,
    },
    /// `LIMIT` in bytes (`1G`, `512M`); where to begin is a quarter of it.
    DirtyLimit,
}

/// What is to be written for a value, and what to have back what was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub writes: Vec<Write>,
    /// The same files, as they are now.
    pub old: Vec<Write>,
    /// What brings the old values back: often `old`, not where files of the kernel depend on each other.
    pub restore: Vec<Write>,
}

#[derive(Clone, Debug)]
pub struct Setting {
    pub name: String,
    pub area: &'static str,
    /// As it is, for people.
    pub now: String,
    pub advice: Advice,
    /// What `apply NAME` takes; none: as it is.
    pub recommended: Option<String>,
    /// What it means to jobs and JVMs, and why the recommended value is better here.
    pub why: String,
    /// What the recommended value costs.
    pub cost: &'static str,
    pub takes: Takes,
}

/// Why a value cannot be.
pub type Refusal = String;

impl Setting {
    pub(crate) fn new(name: impl Into<String>, area: &'static str, now: impl Into<String>, takes: Takes) -> Setting {
        Setting {
            name: name.into(),
            area,
            now: now.into(),
            advice: Advice::Keep,
            recommended: None,
            why: String::new(),
            cost: "",
            takes,
        }
    }

    pub(crate) fn why(mut self, why: impl Into<String>) -> Setting {
        self.why = why.into();
        self
    }

    /// Another value is better, if that holds.
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

    /// What has to be written for a value.
    pub fn wanted(&self, system: &System, value: &str) -> Result<Wanted, Refusal> {
        let writes = match &self.takes {
            Takes::Nothing => return Err("this is better not changed".to_owned()),
            Takes::Number { path, min, max } => {
                let number = number_within(value, *min, *max)?;
                vec![Write::new(path, number)]
            }
            Takes::Word { paths, words } => {
                if !words.iter().any(|word| word == value) {
                    return Err(format!("'{value}' is none of {}", words.join(", ")));
                }
                paths.iter().map(|path| Write::new(path, value)).collect()
            }
            Takes::Range { path, min, max } => {
                let (from, to) = value
                    .split_once('-')
                    .ok_or_else(|| format!("'{value}' is no range; give one such as {min}-{max}"))?;
                let (from, to) = (number_within(from, *min, *max)?, number_within(to, *min, *max)?);
                if from >= to {
                    return Err(format!("'{value}' is empty"));
                }
                vec![Write::new(path, format!("{from}\t{to}"))]
            }
            Takes::DirtyLimit => return crate::memory::dirty_limit(system, bytes(value)?),
        };
        let old = now(system, &writes)?;
        // Words that are read in brackets are written without.
        Ok(Wanted { restore: old.clone(), old, writes })
    }
}

/// The files of some writes, as they are.
pub(crate) fn now(system: &System, writes: &[Write]) -> Result<Vec<Write>, Refusal> {
    let one = |write: &Write| {
        let value = value_of(system, &write.path).ok_or_else(|| format!("/{} cannot be read", write.path))?;
        Ok(Write::new(&write.path, value))
    };
    writes.iter().map(one).collect()
}

/// What a file holds in the form in which it is written: of `always [madvise] never` the word in brackets; one blank between numbers.
pub fn value_of(system: &System, path: &str) -> Option<String> {
    let text = system.text(path)?;
    let chosen = system.chosen(path);
    Some(chosen.unwrap_or_else(|| text.split_whitespace().collect::<Vec<_>>().join("\t")))
}

fn number_within(text: &str, min: u64, max: u64) -> Result<u64, Refusal> {
    match text.parse() {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(format!("'{text}' is no number from {min} to {max}")),
    }
}

/// `512M`, `1G`, `1GiB`, `1073741824`.
fn bytes(text: &str) -> Result<u64, Refusal> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let shift = match text[at..].trim_end_matches("iB").trim_end_matches('B') {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return Err(format!("'{text}' is no size; give one such as 512M or 1G")),
    };
    let number: u64 = text[..at].parse().map_err(|_| format!("'{text}' is no size; give one such as 512M or 1G"))?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("'{text}' is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn values_that_are_taken_and_refused() {
        let tree = Tree::of(&[("proc/n", "5\n"), ("sys/w", "a [b] c\n"), ("proc/r", "32768\t60999\n")]);
        let system = tree.system();
        let with = |takes| Setting::new("x", "memory", "", takes);
        let number = with(Takes::Number { path: "proc/n".into(), min: 1, max: 9 });
        let wanted = number.wanted(&system, "7").unwrap();
        assert_eq!((wanted.writes, wanted.old), (vec![Write::new("proc/n", 7)], vec![Write::new("proc/n", 5)]));
        for wrong in ["", "0", "10", "x", "-1", "1.5", "7 "] {
            assert!(number.wanted(&system, wrong).is_err(), "{wrong}");
        }
        let word = with(Takes::Word { paths: vec!["sys/w".into()], words: vec!["a".into(), "b".into()] });
        assert_eq!(word.wanted(&system, "a").unwrap().restore, [Write::new("sys/w", "b")]);
        assert!(word.wanted(&system, "c").is_err());
        let range = with(Takes::Range { path: "proc/r".into(), min: 1024, max: 65535 });
        assert_eq!(range.wanted(&system, "2000-3000").unwrap().writes, [Write::new("proc/r", "2000\t3000")]);
        for wrong in ["2000", "3000-2000", "5-2000", "a-b", "2000-99999"] {
            assert!(range.wanted(&system, wrong).is_err(), "{wrong}");
        }
        assert!(with(Takes::Nothing).wanted(&system, "1").is_err());
        let gone = with(Takes::Number { path: "proc/none".into(), min: 1, max: 9 });
        assert!(gone.wanted(&system, "2").unwrap_err().contains("/proc/none"));
    }

    #[test]
    fn sizes() {
        for (text, size) in [("1", 1), ("2K", 2048), ("3MiB", 3 << 20), ("1G", 1 << 30), ("1GB", 1 << 30)] {
            assert_eq!(bytes(text), Ok(size), "{text}");
        }
        for wrong in ["", "G", "x", "-1", "1T", "99999999999999999999", "18446744073709551615G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}

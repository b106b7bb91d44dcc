//! Bad records of a job: those whose user code failed twice, and that the job may leave out.

use super::Settings;
use crate::env::sync::{Mutex, MutexGuard};
use yunti_base::{Code, Error, Result};

/// Setting: what happens to bad records.
pub const BAD_RECORDS: &str = "bad.records";
/// Bytes of bad records that are kept, at most.
const KEPT_BYTES_MAX: usize = 16 << 20;

/// Bad records that a job may have.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Limit {
    /// A bad record ends the job.
    #[default]
    None,
    Number(u64),
    /// Percent of the input records.
    Percent(f64),
}

impl Limit {
    /// Reads `fail`, `skip`, `skip:N` or `skip:P%`. Errors: `Usage` for anything else.
    pub fn parse(text: &str) -> Result<Limit> {
        let wrong = || {
            Error::new(Code::Usage, format!("{BAD_RECORDS}: '{text}' is not a limit"))
                .hint("write fail, skip, skip:100 or skip:0.1%")
        };
        match text.trim().split_once(':') {
            None if text.trim() == "fail" => Ok(Limit::None),
            None if text.trim() == "skip" => Ok(Limit::Number(u64::MAX)),
            Some(("skip", number)) => match number.strip_suffix('%') {
                Some(percent) => {
                    let percent = percent.trim().parse::<f64>().ok().filter(|p| (0.0..=100.0).contains(p));
                    percent.map(Limit::Percent).ok_or_else(wrong)
                }
                None => number.trim().parse().map(Limit::Number).map_err(|_| wrong()),
            },
            _ => Err(wrong()),
        }
    }
}

/// A bad record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// Input file.
    pub file: String,
    /// Offset in the file; for records in columns, of their batch.
    pub offset: u64,
    /// Reason in one line.
    pub reason: String,
    /// The record as the class got it: its value, or the line.
    pub bytes: Vec<u8>,
}

/// Bad records of a running job.
#[derive(Default)]
pub struct BadRecords {
    limit: Limit,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    number: u64,
    /// Records with the map task of this attempt that left them out.
    kept: Vec<(Option<u32>, BadRecord)>,
    kept_bytes: usize,
}

impl BadRecords {
    /// Reads the limit of a job. Errors: `Usage` for a bad limit.
    pub fn of(settings: &Settings) -> Result<BadRecords> {
        let limit = settings.get(BAD_RECORDS).map_or(Ok(Limit::None), |text| Limit::parse(text))?;
        Ok(BadRecords { limit, found: Mutex::default() })
    }

    /// Returns true if the job leaves bad records out.
    pub fn leaves_out(&self) -> bool {
        self.limit != Limit::None
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Takes a bad record of a map task. Returns false if the job may not leave it out.
    pub fn take(&self, task: u32, record: BadRecord) -> bool {
        let mut found = self.found();
        let is_over = match self.limit {
            Limit::None => true,
            Limit::Number(limit) => found.number >= limit,
            // The number of records is known at the end.
            Limit::Percent(_) => false,
        };
        if is_over || found.kept_bytes + record.bytes.len() > KEPT_BYTES_MAX {
            return false;
        }
        found.number += 1;
        found.kept_bytes += record.bytes.len();
        found.kept.push((Some(task), record));
        true
    }

    /// Adds the records that earlier attempts of the job left out.
    pub fn restore<'r>(&self, records: impl Iterator<Item = &'r BadRecord>) {
        let mut found = self.found();
        for record in records {
            found.number += 1;
            found.kept_bytes += record.bytes.len();
            found.kept.push((None, record.clone()));
        }
    }

    /// Returns the number of records that were left out.
    pub fn number(&self) -> u64 {
        self.found().number
    }

    /// Returns the records that were left out, by file and offset.
    pub fn kept(&self) -> Vec<BadRecord> {
        self.kept_where(|_| true)
    }

    /// Returns the records that some map tasks of this attempt left out, by file and offset.
    pub fn kept_of(&self, tasks: &[u32]) -> Vec<BadRecord> {
        self.kept_where(|task| task.is_some_and(|task| tasks.contains(&task)))
    }

    fn kept_where(&self, is_wanted: impl Fn(Option<u32>) -> bool) -> Vec<BadRecord> {
        let found = self.found();
        let wanted = found.kept.iter().filter(|(task, _)| is_wanted(*task));
        let mut kept: Vec<_> = wanted.map(|(_, record)| record.clone()).collect();
        kept.sort_by(|a, b| (&a.file, a.offset).cmp(&(&b.file, b.offset)));
        kept
    }

    /// Checks the share of bad records at the end of the input. `records`: records of the input, if they were counted.
    ///
    /// Errors: `UserCode` for more than the limit.
    pub fn check(&self, records: u64) -> Result<()> {
        let Limit::Percent(limit) = self.limit else { return Ok(()) };
        let number = self.number();
        let percent = 100.0 * number as f64 / records.max(number).max(1) as f64;
        if percent <= limit {
            return Ok(());
        }
        let what = format!("{number} of {records} records are bad: {percent:.3} %, but at most {limit} % may be");
        Err(Error::new(Code::UserCode, what).hint("mend the class, or set --bad-records to a higher limit"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_limits() {
        for (text, limit) in [
            ("fail", Some(Limit::None)),
            ("skip", Some(Limit::Number(u64::MAX))),
            ("skip:100", Some(Limit::Number(100))),
            ("skip:0.5%", Some(Limit::Percent(0.5))),
            ("skip:101%", None),
            ("skip:x", None),
            ("skip:-1", None),
            ("ignore", None),
            ("", None),
        ] {
            assert_eq!(Limit::parse(text).ok(), limit, "{text}");
        }
    }

    #[test]
    fn takes_as_many_as_the_limit() {
        let record = |offset| BadRecord { file: "a".into(), offset, reason: "r".into(), bytes: vec![1] };
        let settings = |limit: &str| [(BAD_RECORDS.to_string(), limit.to_string())].into();
        assert!(!BadRecords::default().take(0, record(1)));
        let two = BadRecords::of(&settings("skip:2")).unwrap();
        assert_eq!([9, 3, 5].map(|offset| two.take(0, record(offset))), [true, true, false]);
        assert_eq!(two.kept().iter().map(|r| r.offset).collect::<Vec<_>>(), [3, 9]);
        let percent = BadRecords::of(&settings("skip:10%")).unwrap();
        assert!(percent.take(0, record(1)) && percent.check(10).is_ok());
        assert!(percent.check(9).is_err());
    }
}

//! Lines of a record: three JSON lines in the store, so that the head is read without the rest; one line for export.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use yunti_base::{Code, Error, Result};

use super::{Function, Head, Record};

/// Name and version of the format.
const FORMAT: &str = "yunti-watch/1";

/// First member of each head and each exported record.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    format: String,
    #[serde(flatten)]
    rest: T,
}

#[derive(Serialize, Deserialize)]
struct Profile {
    sampled_ms: Vec<f64>,
    functions: Vec<Function>,
}

#[derive(Default, Serialize, Deserialize)]
struct Attachments {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    load_run: Option<Value>,
}

/// Returns the three lines of a record in the store.
pub fn to_lines(record: &Record) -> String {
    let head = line(&Versioned { format: FORMAT.into(), rest: record.head.clone() });
    let profile = line(&Profile { sampled_ms: record.sampled_ms.clone(), functions: record.functions.clone() });
    let attachments = line(&Attachments { model: record.model.clone(), load_run: record.load_run.clone() });
    head + &profile + &attachments
}

/// Parses the head of a record from its first line.
pub fn head_of(line: &str) -> Result<Head> {
    let head: Versioned<Head> = serde_json::from_str(line).map_err(|e| damaged(&e))?;
    check_format(&head.format)?;
    Ok(head.rest)
}

/// Parses a record of the store. Errors have the code [`Code::Corrupt`].
pub fn from_lines(text: &str) -> Result<Record> {
    let mut lines = text.lines();
    let head = head_of(lines.next().unwrap_or_default())?;
    let profile: Profile = serde_json::from_str(lines.next().unwrap_or_default()).map_err(|e| damaged(&e))?;
    let attachments: Attachments = serde_json::from_str(lines.next().unwrap_or_default()).map_err(|e| damaged(&e))?;
    let record = Record {
        head,
        sampled_ms: profile.sampled_ms,
        functions: profile.functions,
        model: attachments.model,
        load_run: attachments.load_run,
    };
    check(&record)?;
    Ok(record)
}

/// Returns a record as one line of an export.
pub fn to_line(record: &Record) -> String {
    line(&Versioned { format: FORMAT.into(), rest: record })
}

/// Parses one line of an export. Errors have the code [`Code::Corrupt`].
pub fn from_line(text: &str) -> Result<Record> {
    let record: Versioned<Record> = serde_json::from_str(text).map_err(|e| damaged(&e))?;
    check_format(&record.format)?;
    check(&record.rest)?;
    Ok(record.rest)
}

fn line<T: Serialize>(value: &T) -> String {
    // Keys are texts and numbers are finite, so nothing of it can fail.
    serde_json::to_string(value).expect("a record is JSON") + "\n"
}

fn damaged(error: &serde_json::Error) -> Error {
    Error::new(Code::Corrupt, format!("no record of yunti watch: {error}"))
}

fn check_format(format: &str) -> Result<()> {
    if format == FORMAT {
        return Ok(());
    }
    let error = Error::new(Code::Corrupt, format!("the record has the format '{format}', this program reads {FORMAT}"));
    Err(error.hint("install a newer Yunti"))
}

/// Checks what the statistics rely on: lists of equal length, places that exist, amounts that are not negative.
fn check(record: &Record) -> Result<()> {
    let windows = record.head.windows.len();
    let is_amount = |value: &f64| value.is_finite() && *value >= 0.0;
    let has_amounts = |values: &[f64]| values.len() == windows && values.iter().all(is_amount);
    let functions = &record.functions;
    let is_fit = functions.iter().all(|function| {
        has_amounts(&function.own_ms)
            && has_amounts(&function.total_ms)
            && function.caller.is_none_or(|caller| caller < functions.len())
    });
    let windows_fit = record.head.windows.iter().all(|window| {
        let figures = [
            Some(window.seconds),
            window.requests,
            window.cpu_ms,
            window.allocated_bytes,
            window.p50_ms,
            window.p99_ms,
            window.calibration_ms,
            window.compiler_ms,
            window.others_ms,
            window.stolen_ms,
        ];
        figures.iter().flatten().all(is_amount)
    });
    let failed_fits = record.head.load.failed.is_none_or(|part| (0.0..=1.0).contains(&part));
    let sampled_fit = record.sampled_ms.is_empty() && functions.is_empty() || has_amounts(&record.sampled_ms);
    let sizes_fit = is_amount(&record.head.sample_ms) && is_amount(&record.head.sample_bytes);
    if is_fit && windows_fit && failed_fits && sampled_fit && sizes_fit {
        return Ok(());
    }
    Err(Error::new(Code::Corrupt, "the record contradicts itself: a list is too short, or an amount is negative"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{State, Window};

    fn record() -> Record {
        let window = Window { seconds: 6.0, requests: Some(600.0), cpu_ms: Some(2400.0), ..Window::default() };
        Record {
            head: Head {
                sequence: 7,
                time_ms: 1_795_835_400_123,
                label: "v1 \"x\"\n".into(),
                state: State::Complete,
                windows: vec![window.clone(), window],
                sample_ms: 10.1,
                ..Head::default()
            },
            sampled_ms: vec![2390.0, 2410.0],
            functions: vec![Function {
                name: "com.shop.Search.rank".into(),
                caller: None,
                own_ms: vec![120.0, 130.0],
                total_ms: vec![700.0, 720.5],
            }],
            model: Some(serde_json::json!({"peak": 371})),
            load_run: None,
        }
    }

    #[test]
    fn records_round_trip() {
        let record = record();
        assert_eq!(from_lines(&to_lines(&record)).unwrap(), record);
        assert_eq!(from_line(to_line(&record).trim()).unwrap(), record);
        assert_eq!(head_of(to_lines(&record).lines().next().unwrap()).unwrap(), record.head);
    }

    #[test]
    fn contradictions_are_damage() {
        let broken = |change: fn(&mut Record)| {
            let mut record = record();
            change(&mut record);
            from_lines(&to_lines(&record)).map(drop).unwrap_err().code()
        };
        let cases: [fn(&mut Record); 6] = [
            |r| r.functions[0].own_ms.truncate(1),
            |r| r.functions[0].caller = Some(1),
            |r| r.functions[0].total_ms[0] = -1.0,
            |r| r.head.windows[0].requests = Some(-2.0),
            |r| r.sampled_ms.clear(),
            |r| r.head.load.failed = Some(1.5),
        ];
        for (at, case) in cases.into_iter().enumerate() {
            assert_eq!(broken(case), Code::Corrupt, "case {at}");
        }
        let newer = to_line(&record()).replace("watch/1", "watch/9");
        assert!(from_line(&newer).unwrap_err().to_string().contains("newer"), "{newer}");
        for text in ["", "{}", "null", "[]", "{\"format\":1}"] {
            assert!(from_line(text).is_err() && from_lines(text).is_err(), "{text}");
        }
    }
}

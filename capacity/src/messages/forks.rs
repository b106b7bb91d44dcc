//! Trials in JVMs of their own: each library in turn, several times, as JMH's forks.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde::Deserialize;
use yunti_base::{Cancel, Code, Error, Result};

use super::capture::{Captured, MESSAGES};
use super::class_path::ClassPath;
use super::service::Service;
use super::trial::{Alternative, Group, GroupResult, Timing, Trial};

/// Names of the alternatives, in the order of the report.
pub const ALTERNATIVES: [&str; 15] = [
    "jackson",
    "jackson-blackbird",
    "jackson-afterburner",
    "fastjson2",
    "gson",
    "jackson-smile",
    "jackson-cbor",
    "jackson-msgpack",
    "kryo-registered",
    "kryo",
    "fory-registered",
    "fory",
    "java",
    "protobuf-derived",
    // Last, because its schema refuses most classes.
    "avro",
];

/// Plan of the trials.
pub struct Plan {
    /// Seconds of all trials together, about.
    pub seconds: f64,
    pub forks: u32,
    /// Types tried, the most frequent ones.
    pub groups: usize,
    /// Names of alternatives; empty for all.
    pub names: Vec<String>,
}

/// Seconds of a JVM's start, with a check of the messages.
const START_SECONDS: f64 = 1.2;
const MILLIS_MIN: f64 = 60.0;
const MILLIS_MAX: f64 = 4_000.0;
const POLL: Duration = Duration::from_millis(10);

/// Result of one fork, as it prints it.
#[derive(Deserialize)]
struct Fork {
    captured: usize,
    groups: Vec<Group>,
    gaps: Vec<String>,
    alternatives: Vec<ForkAlternative>,
}

#[derive(Deserialize)]
struct ForkAlternative {
    library: String,
    name: String,
    version: String,
    is_baseline: bool,
    is_json: bool,
    is_estimate: bool,
    results: Vec<ForkResult>,
}

#[derive(Deserialize)]
struct ForkResult {
    #[serde(rename = "type")]
    of_type: String,
    write: Option<Rounds>,
    read: Option<Rounds>,
    bytes: Option<f64>,
    refused: Option<String>,
    note: Option<String>,
}

#[derive(Clone, Deserialize)]
struct Rounds {
    rounds: Vec<f64>,
    allocated_bytes: f64,
}

/// Runs the service's libraries and the alternatives on the captured messages.
pub fn run(captured: &Captured, path: &ClassPath, service: &Service, plan: &Plan, cancel: &Cancel) -> Result<Trial> {
    let wanted = |name: &&str| plan.names.is_empty() || plan.names.iter().any(|one| one == name);
    let names: Vec<&str> = ALTERNATIVES.into_iter().filter(wanted).collect();
    let baselines = captured.libraries.iter().map(|library| (&**library, Some(&**library)));
    let jobs: Vec<(&str, Option<&str>)> = baselines.chain(names.into_iter().map(|name| (name, None))).collect();
    let runs = jobs.len() as f64 * f64::from(plan.forks);
    // A write and a read of each group.
    let operations = 2.0 * plan.groups.max(1) as f64;
    let millis = ((plan.seconds / runs - START_SECONDS) * 1000.0 / operations).clamp(MILLIS_MIN, MILLIS_MAX);
    let (millis_text, groups_text) = (format!("{millis:.0}"), plan.groups.to_string());
    let limit = Duration::from_secs_f64(120.0 + 4.0 * (START_SECONDS + operations * millis / 1000.0));
    let mut trial = Trial { capture_seconds: captured.seconds, ..Trial::default() };
    let mut merged: Vec<Merged> = Vec::new();
    for _ in 0..plan.forks {
        for (name, library) in &jobs {
            let class_path = library.map_or_else(|| path.of_alternative(), |library| path.of_baseline(library));
            let words = [*name, library.unwrap_or("-"), &millis_text, &groups_text];
            match fork(captured, service, &class_path, words, limit, cancel) {
                Ok(fork) => {
                    trial.captured = fork.captured;
                    if trial.groups.is_empty() {
                        trial.groups = fork.groups;
                    }
                    for gap in fork.gaps {
                        if !trial.gaps.contains(&gap) {
                            trial.gaps.push(gap);
                        }
                    }
                    fork.alternatives.into_iter().for_each(|one| merge(&mut merged, one));
                }
                Err(error) if error.code() == Code::Cancelled => return Err(error),
                Err(error) => fail(&mut merged, name, *library, &captured.libraries, &error),
            }
        }
    }
    let (baselines, mut others): (Vec<_>, Vec<_>) =
        merged.into_iter().map(Merged::end).partition(|one| one.is_baseline);
    // The service's own library is not an alternative to itself.
    let is_baseline =
        |one: &Alternative| baselines.iter().any(|now| (&now.name, &now.version) == (&one.name, &one.version));
    others.retain(|one| one.name != one.library || !is_baseline(one));
    trial.alternatives = baselines.into_iter().chain(others).collect();
    trial.gaps.extend(path.missing.iter().cloned());
    trial.gaps.extend(captured.facts.refused.iter().map(|text| format!("the JVM does not let {text} be captured")));
    Ok(trial)
}

/// Alternative with the rounds of its forks.
struct Merged {
    alternative: Alternative,
    rounds: Vec<[Vec<Rounds>; 2]>,
}

impl Merged {
    fn end(mut self) -> Alternative {
        for (result, [write, read]) in self.alternative.results.iter_mut().zip(&self.rounds) {
            if result.refused.is_none() {
                (result.write, result.read) = (timing(write), timing(read));
            }
        }
        self.alternative
    }
}

/// Returns the entry of an alternative to a library, which is new if there is none.
fn entry<'a>(merged: &'a mut Vec<Merged>, library: &str, name: &str, is_baseline: bool) -> &'a mut Merged {
    let is_it = |one: &Merged| {
        let known = &one.alternative;
        (&*known.library, &*known.name, known.is_baseline) == (library, name, is_baseline)
    };
    let at = merged.iter().position(is_it).unwrap_or_else(|| {
        let (library, name) = (library.to_owned(), name.to_owned());
        let alternative = Alternative { library, name, is_baseline, ..Alternative::default() };
        merged.push(Merged { alternative, rounds: Vec::new() });
        merged.len() - 1
    });
    &mut merged[at]
}

fn merge(merged: &mut Vec<Merged>, one: ForkAlternative) {
    let it = entry(merged, &one.library, &one.name, one.is_baseline);
    if it.alternative.error.is_some() {
        return;
    }
    it.alternative.version = one.version;
    it.alternative.is_json |= one.is_json;
    it.alternative.is_estimate |= one.is_estimate;
    for result in one.results {
        let known = it.alternative.results.iter().position(|known| known.of_type == result.of_type);
        let at = known.unwrap_or_else(|| {
            it.alternative.results.push(GroupResult { of_type: result.of_type, ..GroupResult::default() });
            it.rounds.push([Vec::new(), Vec::new()]);
            it.rounds.len() - 1
        });
        let into = &mut it.alternative.results[at];
        into.bytes = result.bytes.or(into.bytes);
        into.note = result.note.or_else(|| into.note.take());
        // One fork that refuses is enough.
        into.refused = into.refused.take().or(result.refused);
        it.rounds[at][0].extend(result.write);
        it.rounds[at][1].extend(result.read);
    }
}

/// Marks a job as failed. `library`: the one of the service that the job ran; `None` for an alternative to `all`.
fn fail(merged: &mut Vec<Merged>, name: &str, library: Option<&str>, all: &[String], error: &Error) {
    for of in library.map_or_else(|| all.iter().map(|it| &**it).collect(), |library| vec![library]) {
        let it = entry(merged, of, name, library.is_some());
        it.alternative.error = Some(error.what().to_owned());
        // Rounds of other forks do not count.
        it.alternative.results.clear();
        it.rounds.clear();
    }
}

/// Returns the median of all rounds, and the range without the tenth at each end.
fn timing(forks: &[Rounds]) -> Option<Timing> {
    let mut all: Vec<f64> = forks.iter().flat_map(|fork| fork.rounds.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    let tenth = all.len() / 10;
    let allocated = forks.iter().map(|fork| fork.allocated_bytes).sum::<f64>() / forks.len().max(1) as f64;
    Some(Timing {
        ns: *all.get(all.len() / 2)?,
        ns_min: *all.get(tenth)?,
        ns_max: *all.get(all.len() - 1 - tenth)?,
        allocated_bytes: allocated,
    })
}

/// Runs one library in a JVM.
fn fork(
    captured: &Captured,
    service: &Service,
    class_path: &str,
    words: [&str; 4],
    limit: Duration,
    cancel: &Cancel,
) -> Result<Fork> {
    cancel.check()?;
    let file = |name: &str| -> Result<(PathBuf, fs::File)> {
        let path = captured.folder.path(name);
        let failed = |e: std::io::Error| Error::io(Code::Output, "cannot write", &e).at_path(path.to_string_lossy());
        let file = fs::File::create(&path).map_err(failed)?;
        Ok((path, file))
    };
    let ((out_path, out), (errors_path, errors)) = (file("trial.out")?, file("trial.err")?);
    // The end of this process closes the standard input, and with it the trial.
    let mut child = service
        .java()
        .args(service.trial_options())
        .args(["-cp", class_path, "org.yunti.messages.trial.Trial"])
        .arg(captured.folder.path(MESSAGES))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(out)
        .stderr(errors)
        .spawn()
        .map_err(|e| Error::io(Code::Input, "cannot start the service's Java", &e))?;
    let end = Instant::now() + limit;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Ok(status),
            Ok(None) if cancel.is_set() => break Err(Error::new(Code::Cancelled, "the trials were cancelled")),
            Ok(None) if Instant::now() > end => {
                break Err(Error::new(Code::UserCode, format!("it took more than {} s", limit.as_secs())));
            }
            Ok(None) => std::thread::sleep(POLL),
            Err(e) => break Err(Error::io(Code::Internal, "cannot wait for a trial", &e)),
        }
    };
    if status.is_err() {
        let _ = child.kill();
        let _ = child.wait();
    }
    status?;
    let text = fs::read_to_string(out_path).unwrap_or_default();
    serde_json::from_str(&text).map_err(|_| {
        let errors = fs::read_to_string(errors_path).unwrap_or_default();
        let line = errors.lines().find(|line| !line.starts_with("WARNING")).unwrap_or("it printed nothing");
        Error::new(Code::UserCode, line.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_alternative_leaves_the_services_own_library() {
        let mut merged = Vec::new();
        merge(
            &mut merged,
            ForkAlternative {
                library: "jackson".into(),
                name: "jackson".into(),
                version: "2.10".into(),
                is_baseline: true,
                is_json: true,
                is_estimate: false,
                results: vec![ForkResult {
                    of_type: "A".into(),
                    write: Some(Rounds { rounds: vec![5.0], allocated_bytes: 8.0 }),
                    read: None,
                    bytes: None,
                    refused: None,
                    note: None,
                }],
            },
        );
        let error = Error::new(Code::UserCode, "it took more than 9 s");
        fail(&mut merged, "jackson", None, &["jackson".into()], &error);
        let all: Vec<Alternative> = merged.into_iter().map(Merged::end).collect();
        assert_eq!((all[0].error.as_deref(), all[0].results[0].write.unwrap().ns), (None, 5.0));
        assert_eq!((all[1].is_baseline, all[1].error.as_deref()), (false, Some("it took more than 9 s")));
    }

    #[test]
    fn times_are_the_median_of_all_forks() {
        let rounds = |rounds: &[f64], allocated_bytes| Rounds { rounds: rounds.to_vec(), allocated_bytes };
        let forks = [rounds(&[10.0, 11.0, 12.0, 90.0, 1.0], 100.0), rounds(&[10.0, 11.0, 12.0, 13.0, 14.0], 200.0)];
        let timing = timing(&forks).unwrap();
        assert_eq!(timing, Timing { ns: 12.0, ns_min: 10.0, ns_max: 14.0, allocated_bytes: 150.0 });
        assert_eq!(super::timing(&[]), None);
    }
}

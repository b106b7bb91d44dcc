//! Hadoop's client: the part `yunti-hadoop`, which submits a job and waits for its end.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use yunti_base::{Cancel, Code, Error, Result};
use yunti_program::part::Part;

/// Interval at which the client is checked for its end.
const WAIT: Duration = Duration::from_millis(20);
/// Lines of the client that are kept for an error.
const LINES_MAX: usize = 400;
/// Before the code of an error in a task, and its line (`task/src/failure.rs`).
const MARK: &str = "query error ";
/// Name that Hadoop's client gives a job in its first lines.
const RUNNING: &str = "Running job: ";

/// Returns the program that submits jobs. Errors: `Usage` without it, or without `hadoop` in PATH.
pub fn program() -> Result<PathBuf> {
    let program =
        Part::named("hadoop").ok_or_else(|| Error::new(Code::Internal, "there is no part hadoop"))?.installed()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|directory| directory.join("hadoop").is_file()) {
        let error = Error::new(Code::Usage, "there is no hadoop in PATH");
        return Err(error.hint("install Hadoop's client, or . cluster.env"));
    }
    Ok(program)
}

/// Lines of a client, the last ones.
#[derive(Default)]
struct Lines {
    last: std::collections::VecDeque<String>,
    job: Option<String>,
}

/// Runs Hadoop's client to its end. `started`: called with the name of the job. `failure`: file for the failure of a
/// task. Returns the name of the job.
///
/// Errors: those of the query in a task, with their codes; `Cancelled`; what the client printed.
pub fn run(command: &mut Command, failure: &Path, cancel: &Cancel, started: &mut dyn FnMut(&str)) -> Result<String> {
    let cannot = |e: std::io::Error| Error::io(Code::Usage, "cannot execute the part hadoop", &e);
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(cannot)?;
    let lines = Arc::new(Mutex::new(Lines::default()));
    let mut readers = Vec::new();
    if let Some(out) = child.stdout.take() {
        readers.push(collect(out, &lines));
    }
    if let Some(out) = child.stderr.take() {
        readers.push(collect(out, &lines));
    }
    let status = wait(&mut child, &lines, cancel, started).map_err(cannot)?;
    readers.into_iter().for_each(|reader| drop(reader.join()));
    let lines = lines.lock().unwrap_or_else(|e| e.into_inner());
    if cancel.is_set() {
        return Err(Error::new(Code::Cancelled, "the query was cancelled"));
    }
    match status.code() {
        Some(0) => Ok(lines.job.clone().unwrap_or_default()),
        code => Err(error_of(code, failure, &lines)),
    }
}

fn collect(from: impl std::io::Read + Send + 'static, to: &Arc<Mutex<Lines>>) -> std::thread::JoinHandle<()> {
    let to = to.clone();
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(std::io::Result::ok) {
            let mut lines = to.lock().unwrap_or_else(|e| e.into_inner());
            if let Some((_, job)) = line.split_once(RUNNING) {
                lines.job = Some(job.trim().into());
            }
            if lines.last.len() == LINES_MAX {
                lines.last.pop_front();
            }
            lines.last.push_back(line);
        }
    })
}

/// Waits for the client. If the query is cancelled, sends it SIGTERM, on which it kills the job on the cluster.
fn wait(
    child: &mut Child,
    lines: &Mutex<Lines>,
    cancel: &Cancel,
    started: &mut dyn FnMut(&str),
) -> std::io::Result<std::process::ExitStatus> {
    let (mut is_signalled, mut is_known) = (false, false);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if !is_known && let Some(job) = &lines.lock().unwrap_or_else(|e| e.into_inner()).job {
            is_known = true;
            started(job);
        }
        if cancel.is_set() && !is_signalled {
            is_signalled = true;
            // Sending fails only if the client has ended.
            let _ = kill_process(Pid::from_child(child), Signal::TERM);
        }
        std::thread::sleep(WAIT);
    }
}

fn error_of(code: Option<i32>, failure: &Path, lines: &Lines) -> Error {
    let failed = std::fs::read_to_string(failure).unwrap_or_default();
    if let Some(line) = failed.lines().next().filter(|line| !line.is_empty()) {
        return of_task(line);
    }
    let code = [Code::Usage, Code::Input, Code::Exists, Code::UserCode].into_iter().find(|of| Some(*of as i32) == code);
    let own = lines.last.iter().rev().find_map(|line| line.strip_prefix("yunti: "));
    let job = lines.job.as_deref().unwrap_or("a job that was not submitted");
    let what = match own {
        Some(line) => line.to_string(),
        None => format!("the cluster has failed: {job}"),
    };
    let detail: Vec<&str> = lines.last.iter().map(String::as_str).collect();
    let error = Error::new(code.unwrap_or(Code::Internal), what).detail(detail.join("\n"));
    if own.is_some() {
        error
    } else {
        error.hint(format!("see its log: yarn logs -applicationId {}", job.replacen("job", "application", 1)))
    }
}

/// Returns the error of a task by its line.
fn of_task(line: &str) -> Error {
    const CODES: [Code; 9] = [
        Code::Internal,
        Code::Usage,
        Code::Input,
        Code::Corrupt,
        Code::Output,
        Code::UserCode,
        Code::Memory,
        Code::Exists,
        Code::Invalid,
    ];
    let own = line.split_once(MARK).and_then(|(_, rest)| rest.split_once(": "));
    let code = own.and_then(|(number, _)| number.parse::<u8>().ok());
    match (own, code.and_then(|number| CODES.into_iter().find(|code| *code as u8 == number))) {
        (Some((_, what)), Some(code)) => Error::new(code, what),
        _ => Error::new(Code::UserCode, line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_task_keeps_its_code() {
        for (line, code, what) in [
            ("Sql.Map: query error 9: 5 is no date", Code::Invalid, "5 is no date"),
            ("query error 7: too little: of a: b", Code::Memory, "too little: of a: b"),
            ("query error x: y", Code::UserCode, "query error x: y"),
            ("killed", Code::UserCode, "killed"),
        ] {
            let error = of_task(line);
            assert_eq!((error.code(), error.what()), (code, what), "{line}");
        }
    }
}

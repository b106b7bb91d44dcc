//! `yunti observe`, run as a process beside this one.

use std::process::{Command, Stdio};

use serde_json::Value;
use yunti_base::{Code, Error, Result};
use yunti_program::part::Part;

/// Runs a command of `yunti observe` with `--json`, and returns the document that it prints. Its error is returned as
/// it is. What it reports while it runs goes to standard error.
pub fn run(words: &[String]) -> Result<String> {
    let observe = Part::named("observe").ok_or_else(|| Error::new(Code::Internal, "there is no part 'observe'"))?;
    let program = observe.installed()?;
    // Its last line is part of an error, unless the user must see each line at once.
    let stderr = if words.iter().any(|word| word == "--held") { Stdio::inherit() } else { Stdio::piped() };
    let done = Command::new(&program)
        .args(words)
        .arg("--json")
        .stdin(Stdio::null())
        .stderr(stderr)
        .output()
        .map_err(|e| Error::io(Code::Internal, "cannot start", &e).at_path(program.to_string_lossy()))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    Err(reported(&done.stdout, &done.stderr, done.status.code()))
}

/// Returns the error of a program that has failed: a document on standard output, or the last line of standard error.
fn reported(stdout: &[u8], stderr: &[u8], code: Option<i32>) -> Error {
    let document: Value = serde_json::from_slice(stdout).unwrap_or_default();
    let stderr = String::from_utf8_lossy(stderr);
    let line = || format!("yunti observe failed: {}", stderr.lines().last().unwrap_or("it printed nothing"));
    let message = document["error"]["message"].as_str().map_or_else(line, str::to_owned);
    let code = match code {
        Some(2) => Code::Usage,
        Some(130) => Code::Cancelled,
        Some(1) | None => Code::Internal,
        _ => Code::Input,
    };
    let error = Error::new(code, message);
    match document["error"]["hint"].as_str() {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_program_are_its_own() {
        let document = r#"{"error":{"message":"there is no process 9","hint":"name another"}}"#;
        let error = reported(document.as_bytes(), b"", Some(3));
        assert_eq!(
            (error.code(), error.what(), error.hint_text()),
            (Code::Input, "there is no process 9", Some("name another"))
        );
        let error = reported(b"", b"a\nkilled\n", None);
        assert_eq!((error.code(), error.what()), (Code::Internal, "yunti observe failed: killed"));
    }
}

//! Programs of e2fsprogs and util-linux, run to their end.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use yunti_base::{Code, Error, Result};

/// Runs a program, and returns its standard output. An error holds the last line of its standard error.
pub fn run<S: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = S>) -> Result<String> {
    let mut command = Command::new(program);
    let out = command.args(arguments).stdin(Stdio::null()).output().map_err(|e| not_run(program, &e))?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).into_owned());
    }
    let output = String::from_utf8_lossy(&out.stderr);
    let last = output.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("no message");
    Err(Error::new(Code::Output, format!("{program} failed ({}): {last}", out.status)))
}

/// Returns the reason why a program is missing, or `None` if it is in `PATH`.
pub fn missing(program: &str) -> Option<String> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&paths).any(|folder| folder.join(program).is_file());
    (!found).then(|| format!("{program} is not in PATH; {}", hint(program)))
}

fn not_run(program: &str, error: &std::io::Error) -> Error {
    Error::io(Code::Input, &format!("cannot run {program}"), error).hint(hint(program))
}

fn hint(program: &str) -> String {
    let package = match program {
        "mkfs.ext4" | "e2fsck" => "e2fsprogs",
        "ip" => "iproute2",
        _ => "util-linux",
    };
    format!("install {package}, or add /usr/sbin to PATH")
}

//! The words of a program's command, and its executable.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::env::Processes;
use crate::env::process::pipes::is_executable;
use yunti_base::{Code, Error, Result};

/// Program of a job.
#[derive(Clone, Debug)]
pub struct Program {
    /// Command, which names the program in the job and in messages.
    pub text: String,
    /// Executable, an absolute path.
    pub executable: PathBuf,
    pub arguments: Vec<OsString>,
}

/// Splits a command into words, as Hadoop Streaming does: at blanks, but not within '..' or "..". Quotes are removed;
/// a backslash has no meaning, and no shell runs the command.
pub fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in command.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Returns the executable that the first word of a command names: a path, or a name to look up in the directory of
/// programs and in `PATH`. `None`: no such program.
///
/// Fails with `Code::UserCode` for a path that exists and cannot be executed.
pub fn executable(name: &str, processes: &dyn Processes) -> Result<Option<PathBuf>> {
    if !name.contains('/') {
        return Ok(processes.find(name));
    }
    let shipped = processes.directory().map(|directory| directory.join(name)).filter(|path| path.exists());
    let path = &shipped.unwrap_or_else(|| name.into());
    match path.metadata() {
        Err(_) => Ok(None),
        Ok(_) if is_executable(path) => Ok(std::path::absolute(path).ok()),
        Ok(_) => {
            let error = Error::new(Code::UserCode, "this file cannot be executed").at_path(name);
            Err(error.hint(format!("chmod +x {name}, or name its interpreter, as in 'python3 {name}'")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::process::RealProcesses;

    #[test]
    fn splits_at_blanks_outside_of_quotes() {
        for (command, expected) in [
            ("cat", &["cat"][..]),
            (" uniq  -c ", &["uniq", "-c"]),
            ("sh -c 'grep \"a b\" | wc'", &["sh", "-c", "grep \"a b\" | wc"]),
            ("awk \"{print $1}\"", &["awk", "{print $1}"]),
            ("a''b \"\"", &["ab", ""]),
            ("grep \\.x", &["grep", "\\.x"]),
            ("", &[]),
        ] {
            assert_eq!(words(command), expected, "{command}");
        }
    }

    #[test]
    fn finds_programs_by_path_and_by_name() {
        let executable = |name| super::executable(name, &RealProcesses::default());
        assert!(executable("sh").unwrap().is_some_and(|path| path.is_absolute()));
        assert_eq!(executable("no-such-program-here").unwrap(), None);
        assert_eq!(executable("./no/such/program").unwrap(), None);
        let error = executable(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap_err();
        assert!(error.to_string().contains("chmod +x"), "{error}");
    }
}

//! Working directory of the programs: links to the files of -files and -file, and unpacked archives, by their names.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::archive;
use yunti_base::{Code, Error, Result};
use yunti_engine::env::process::pipes::is_executable;

/// Temporary directory of one job, which is removed on drop.
pub struct TaskDirectory {
    path: PathBuf,
    /// Files with their names in the directory.
    files: Vec<(PathBuf, String)>,
}

impl TaskDirectory {
    /// Makes the directory; None without files and archives. A file that one of `commands` executes gets permission to
    /// be executed, as in Hadoop: the directory has a copy of it.
    ///
    /// Errors: `Usage` for a file that does not exist, or two files of one name; `Input` for an archive that cannot be
    /// unpacked; `Output` if the directory cannot be made.
    pub fn create(files: &[&str], archives: &[&str], commands: &[&str]) -> Result<Option<TaskDirectory>> {
        if files.is_empty() && archives.is_empty() {
            return Ok(None);
        }
        let mut directory = TaskDirectory { path: make_directory()?, files: Vec::new() };
        for file in files {
            directory.add(file, commands)?;
        }
        for archive in archives {
            let (source, name) = named("-archives", archive)?;
            let to = directory.path.join(&name);
            if fs::symlink_metadata(&to).is_ok() {
                return Err(twice("-archives", &name));
            }
            // What is no archive by its name stays a file, as in Hadoop.
            if !archive::unpack(&source, &to)? {
                symlink(&source, &to).map_err(|e| cannot_make(&to, &e))?;
            }
            directory.files.push((source, name));
        }
        Ok(Some(directory))
    }

    fn add(&mut self, file: &str, commands: &[&str]) -> Result<()> {
        let (source, name) = named("-files", file)?;
        let name = &*name;
        let to = self.path.join(name);
        let executed = commands.iter().any(|command| {
            let program = program_of(command);
            program == name || program.strip_prefix("./") == Some(name) || is_file(program, &source)
        });
        let made = if executed && source.is_file() && !is_executable(&source) {
            fs::copy(&source, &to).and_then(|_| fs::set_permissions(&to, fs::Permissions::from_mode(0o700)))
        } else {
            symlink(&source, &to)
        };
        match made {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(twice("-files", name)),
            Err(e) => return Err(cannot_make(&to, &e)),
        }
        self.files.push((source, name.into()));
        Ok(())
    }

    /// Returns the directory, an absolute path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a command with its program in this directory, if the program is one of the files.
    pub fn local_command(&self, command: &str) -> String {
        let program = program_of(command);
        match self.files.iter().find(|(source, _)| is_file(program, source)) {
            Some((_, name)) => format!("./{name}{}", &command[program.len()..]),
            None => command.into(),
        }
    }
}

impl Drop for TaskDirectory {
    fn drop(&mut self) {
        // There is no use in a second message when a job ends.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Returns the absolute path and the name of a file that an option names as PATH or PATH#NAME. Errors: `Usage`.
fn named(option: &str, file: &str) -> Result<(PathBuf, String)> {
    let file = file.strip_prefix("file://").or_else(|| file.strip_prefix("file:")).unwrap_or(file);
    let (source, name) = match file.split_once('#') {
        Some((source, name)) => (source, name),
        None => (file, Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or_default()),
    };
    let source = fs::canonicalize(source).map_err(|e| {
        let error = Error::io(Code::Usage, &format!("{option}: cannot find the file"), &e).at_path(source);
        error.hint("check the path")
    })?;
    if name.is_empty() || name.contains('/') || name == "." || name == ".." {
        return Err(Error::new(Code::Usage, format!("{option}: {file} has no name")).hint("write PATH#NAME"));
    }
    Ok((source, name.into()))
}

fn twice(option: &str, name: &str) -> Error {
    let error = Error::new(Code::Usage, format!("{option}: two files have the name {name}"));
    error.hint("write PATH#NAME to rename one")
}

/// Makes a directory with a new name: a process that was killed may have had the same number.
fn make_directory() -> Result<PathBuf> {
    let mut number = 0;
    loop {
        let path = std::env::temp_dir().join(format!("yunti-streaming-{}-{number}", std::process::id()));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(e) => return Err(cannot_make(&path, &e)),
        }
    }
}

/// Returns the first word of a command.
fn program_of(command: &str) -> &str {
    command.split(' ').next().unwrap_or_default()
}

/// Returns true if a program with a path is this file.
fn is_file(program: &str, file: &Path) -> bool {
    program.contains('/') && fs::canonicalize(program).is_ok_and(|path| path == file)
}

fn cannot_make(path: &Path, e: &io::Error) -> Error {
    Error::io(Code::Output, "cannot make the working directory of the programs", e)
        .at_path(path.to_string_lossy())
        .hint("check TMPDIR")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_reachable_by_name_and_removed() {
        let root = std::env::temp_dir().join(format!("yunti-task-directory-{}", std::process::id()));
        fs::create_dir(&root).unwrap();
        let file = root.join("m.py");
        fs::write(&file, "#!/bin/sh\n").unwrap();
        let (text, renamed) = (file.to_str().unwrap(), format!("{}#other", file.display()));
        let directory = TaskDirectory::create(&[text, &renamed], &[], &["m.py -x"]).unwrap().unwrap();
        let path = directory.path().to_owned();
        assert!(is_executable(&path.join("m.py")) && !is_executable(&file));
        assert!(path.join("other").is_symlink());
        assert_eq!(directory.local_command(&format!("{text} a b")), "./m.py a b");
        assert_eq!(directory.local_command("cat m.py"), "cat m.py");
        drop(directory);
        assert!(!path.exists());
        for (files, what) in [(&[text, text][..], "two files have the name m.py"), (&["none"], "cannot find the file")]
        {
            let error = TaskDirectory::create(files, &[], &[]).err().unwrap().to_string();
            assert!(error.contains(what) && !path.exists(), "{error}");
        }
        fs::remove_dir_all(&root).unwrap();
    }
}

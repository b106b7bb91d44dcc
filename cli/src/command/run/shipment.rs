//! Files that a job on a cluster ships to its tasks beside class libraries: programs and workers with their files,
//! archives, and this program, which isolates them there.
//!
//! ```text
//!   --mapper './bin/parse.py rules.txt'  -->  bin/parse.py, rules.txt at the same places below each task's directory
//! ```
//! A relative path of a command keeps its place, so the command is the same here and there. An absolute path names a
//! program of the nodes.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::job::spec::JobSpec;
use yunti_engine::operator::ClassSource;
use yunti_engine::streaming;

use super::flags::RunFlags;
use super::user_code::{isolates, own_program};

/// Place of this program in a task's directory. Globs of user code do not meet it.
const YUNTI: &str = ".yunti";

/// Files that a job ships, and how its tasks run user code.
#[derive(Debug, Default)]
pub struct Shipment {
    /// Source of each file, by its place in a task's directory. A source may be a URI.
    files: BTreeMap<String, String>,
    archives: BTreeMap<String, String>,
    /// User code for the client on this machine (hadoop/native/src/task/user_code.rs).
    pub code_here: String,
    /// The same for the tasks.
    pub code_there: String,
}

impl Shipment {
    /// Returns what the job ships. `directory`: working directory of its programs here, if it is not this one; the
    /// files in it are shipped.
    ///
    /// Errors: `Usage` for a file without a place in a task's directory, or for two files of one name.
    pub fn of(
        flags: &RunFlags,
        spec: &JobSpec,
        classes: &[Arc<dyn ClassSource>],
        directory: Option<&Path>,
    ) -> Result<Shipment> {
        let mut shipment = Shipment::default();
        if let Some(directory) = directory {
            shipment.add_all(directory)?;
        }
        for file in &flags.ship {
            shipment.ship(file)?;
        }
        for archive in &flags.archive {
            let Some((source, name)) = archive.rsplit_once('#').filter(|(_, name)| !name.is_empty()) else {
                let error = Error::new(Code::Usage, format!("--archive {archive}: the directory has no name"));
                return Err(error.hint("write --archive FILE#NAME"));
            };
            check_exists("--archive", source)?;
            add(&mut shipment.archives, name.into(), source.into())?;
        }
        let programs = commands(spec, classes);
        let workers: Vec<&String> = flags
            .worker
            .iter()
            .enumerate()
            .map(|(i, here)| flags.task_worker.get(i).filter(|there| !there.is_empty()).unwrap_or(here))
            .collect();
        for command in programs.iter().copied().chain(workers.iter().map(|command| command.as_str())) {
            shipment.add_words(command)?;
        }
        let isolates = isolates(flags, spec);
        if programs.is_empty() && workers.is_empty() && !isolates && !flags.sandbox {
            return Ok(shipment);
        }
        let own = own_program()?;
        add(&mut shipment.files, YUNTI.into(), own.to_string_lossy().into_owned())?;
        let rest = |workers: &mut dyn Iterator<Item = &String>| {
            let mut lines = String::new();
            if isolates {
                lines += "isolate\n";
            }
            if flags.sandbox {
                lines += "sandbox\n";
            }
            if let Some(bytes) = flags.worker_memory {
                lines += &format!("worker-memory {bytes}\n");
            }
            workers.for_each(|command| lines += &format!("worker {}\n", command.replace('\n', " ")));
            lines
        };
        shipment.code_here = format!("yunti {}\n", own.display());
        if let Some(directory) = directory {
            shipment.code_here += &format!("directory {}\n", directory.display());
        }
        shipment.code_here += &rest(&mut flags.worker.iter());
        shipment.code_there = format!("yunti {YUNTI}\n") + &rest(&mut workers.into_iter());
        Ok(shipment)
    }

    /// Returns the files as `SOURCE#PLACE`.
    pub fn files(&self) -> impl Iterator<Item = String> {
        joined(&self.files)
    }

    /// Returns the archives as `SOURCE#NAME`.
    pub fn archives(&self) -> impl Iterator<Item = String> {
        joined(&self.archives)
    }

    /// Adds a file of `--ship`.
    fn ship(&mut self, file: &str) -> Result<()> {
        let (source, place) = match file.rsplit_once('#') {
            Some((source, place)) if !place.is_empty() => (source, Some(place.to_string())),
            _ => (file, None),
        };
        check_exists("--ship", source)?;
        let named = || Path::new(source).file_name().and_then(OsStr::to_str).map(str::to_string);
        let place = match place {
            Some(place) => Some(place),
            None if is_uri(source) || Path::new(source).is_absolute() => named(),
            None => Some(place_of(source)?),
        };
        let nameless =
            || Error::new(Code::Usage, format!("--ship {file}: the file has no name")).hint("write FILE#NAME");
        add(&mut self.files, place.ok_or_else(nameless)?, source.into())
    }

    /// Adds the files in a directory.
    fn add_all(&mut self, directory: &Path) -> Result<()> {
        let failed =
            |e| Error::io(Code::Usage, "cannot list the files to ship", &e).at_path(directory.to_string_lossy());
        for entry in directory.read_dir().map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path().to_string_lossy().into_owned();
            add(&mut self.files, entry.file_name().to_string_lossy().into_owned(), path)?;
        }
        Ok(())
    }

    /// Adds the words of a command that are relative paths of files.
    fn add_words(&mut self, command: &str) -> Result<()> {
        for (i, word) in streaming::words(command).into_iter().enumerate() {
            let path = Path::new(&word);
            // A program without a slash is looked up in PATH, on each node.
            if path.is_absolute() || (i == 0 && !word.contains('/')) || !path.is_file() {
                continue;
            }
            let place = place_of(&word)?;
            if !self.files.contains_key(&place) {
                add(&mut self.files, place, word)?;
            }
        }
        Ok(())
    }
}

/// Checks what a job on this machine names to be shipped: its programs find the files where they are.
///
/// Errors: `Usage` for a file that does not exist, and for archives.
pub fn check_here(flags: &RunFlags) -> Result<()> {
    if let Some(archive) = flags.archive.first() {
        let error = Error::new(Code::Usage, format!("--archive {archive}: archives are unpacked on a cluster alone"));
        return Err(error.hint("unpack it here, or add --on yarn"));
    }
    let sources = flags.ship.iter().map(|file| file.rsplit_once('#').map_or(file.as_str(), |(source, _)| source));
    sources.into_iter().try_for_each(|source| check_exists("--ship", source))
}

/// Returns the commands of the job's programs: the names that are no classes.
fn commands<'s>(spec: &'s JobSpec, classes: &[Arc<dyn ClassSource>]) -> Vec<&'s str> {
    let sources = spec.sources.iter().filter_map(|source| source.mapper.as_deref());
    let own = [&spec.mapper, &spec.combiner, &spec.reducer].into_iter().filter_map(|name| name.as_deref());
    let later = spec.then.iter().flat_map(|stage| {
        [&stage.mapper, &stage.combiner, &stage.reducer].into_iter().filter_map(|name| name.as_deref())
    });
    let is_class = |name: &str| classes.iter().any(|source| source.find(name).is_some());
    sources.chain(own).chain(later).filter(|name| !is_class(name)).collect()
}

/// Returns the place of a relative path below a task's directory. Errors: `Usage` for a path that leaves this one.
fn place_of(path: &str) -> Result<String> {
    let mut place = PathBuf::new();
    for component in Path::new(path).components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => place.push(name),
            _ => {
                let what = format!("{path} is outside of this directory, so it has no place in a task's directory");
                return Err(Error::new(Code::Usage, what).hint("start yunti in a directory above it"));
            }
        }
    }
    Ok(place.to_string_lossy().into_owned())
}

fn is_uri(source: &str) -> bool {
    source.contains("://")
}

fn check_exists(option: &str, source: &str) -> Result<()> {
    if is_uri(source) {
        return Ok(());
    }
    let found = std::fs::metadata(source);
    let missing = |e| Error::io(Code::Usage, &format!("{option}: cannot find the file"), &e).at_path(source);
    found.map(drop).map_err(|e| missing(e).hint("check the path"))
}

/// Adds a file at a place. Errors: `Usage` if another file has the place, or the same name.
fn add(files: &mut BTreeMap<String, String>, place: String, source: String) -> Result<()> {
    let name = |source: &str| Path::new(source).file_name().map(OsStr::to_owned);
    let taken = files.iter().find(|(p, s)| **p == place || (name(s) == name(&source) && **s != source));
    if let Some((_, other)) = taken.filter(|(_, other)| **other != source) {
        let what = format!("{other} and {source} have the same name or place");
        return Err(Error::new(Code::Usage, what).hint("the cluster puts them into one directory: rename one"));
    }
    files.insert(place, source);
    Ok(())
}

fn joined(files: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    files.iter().map(|(place, source)| format!("{source}#{place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_keep_their_place() {
        for (path, place) in [("./a.py", "a.py"), ("bin/a.py", "bin/a.py"), ("./bin/./a.py", "bin/a.py")] {
            assert_eq!(place_of(path).unwrap(), place);
        }
        assert_eq!(place_of("../a.py").unwrap_err().code(), Code::Usage);
    }

    #[test]
    fn words_that_are_files_are_shipped() {
        // The directory of a test is the one of its crate.
        let mut shipment = Shipment::default();
        shipment.add_words("python3 src/main.rs Cargo.toml nothing.txt -- src /etc/passwd").unwrap();
        shipment.add_words("Cargo.toml").unwrap();
        shipment.add_words("./src/flags.rs Cargo.toml").unwrap();
        let files: Vec<String> = shipment.files().collect();
        assert_eq!(files, ["Cargo.toml#Cargo.toml", "./src/flags.rs#src/flags.rs", "src/main.rs#src/main.rs"]);
    }

    #[test]
    fn two_files_of_one_name_are_refused() {
        let mut shipment = Shipment::default();
        shipment.ship("src/command/mod.rs").unwrap();
        let error = shipment.ship("src/console/mod.rs").unwrap_err();
        assert!(error.code() == Code::Usage && error.to_string().contains("same name"), "{error}");
        shipment.ship("src/main.rs#m.rs").unwrap();
        shipment.ship("hdfs://n/a/b.txt").unwrap();
        let files: Vec<String> = shipment.files().collect();
        assert_eq!(files, ["hdfs://n/a/b.txt#b.txt", "src/main.rs#m.rs", "src/command/mod.rs#src/command/mod.rs"]);
        assert!(shipment.ship("no-such-file").unwrap_err().to_string().contains("cannot find the file"));
    }
}

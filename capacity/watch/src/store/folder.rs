//! Folder of all watches: names, settings, and the lock of measurements.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use yunti_base::{Code, Error, Result};

use super::history::{History, write_whole};
use super::settings::{FORMAT, Settings};

const SETTINGS: &str = "watch.json";
const LOCK: &str = "measuring.lock";
const NAME_MAX: usize = 64;

/// Folder of all watches of a user.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// Lock of the machine's one measurement. It ends with its process.
pub struct Measuring {
    _file: File,
}

/// Returns `$YUNTI_WATCH_DIR`, or the folder for data of this user.
pub fn default_folder() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("YUNTI_WATCH_DIR").unwrap_or_else(|| {
        let data = variable("XDG_DATA_HOME").or_else(|| Some(variable("HOME")?.join(".local/share")));
        data.unwrap_or_else(|| "/var/lib".into()).join("yunti/watch")
    })
}

impl Store {
    /// Returns the store in a folder, which may not exist yet.
    pub fn at(folder: PathBuf) -> Store {
        Store { folder }
    }

    /// Returns the names of all watches.
    pub fn names(&self) -> Result<Vec<String>> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(cannot_read("cannot read the store", &self.folder, &e)),
        };
        let mut names: Vec<String> = entries
            .flatten()
            .filter(|entry| entry.path().join(SETTINGS).is_file())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| check_name(name).is_ok())
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Creates a watch. Errors: a bad name ([`Code::Usage`]), a watch of this name ([`Code::Exists`]).
    pub fn add(&self, name: &str, settings: &Settings) -> Result<()> {
        check_name(name)?;
        let folder = self.folder.join(name);
        let path = folder.join(SETTINGS);
        if path.exists() {
            let error = Error::new(Code::Exists, format!("there is a watch '{name}'"));
            return Err(error.hint(format!("remove it with `yunti watch remove {name}`, or give --replace")));
        }
        self.replace(name, settings)
    }

    /// Writes the settings of a watch, new or not. Its records stay.
    pub fn replace(&self, name: &str, settings: &Settings) -> Result<()> {
        check_name(name)?;
        let folder = self.folder.join(name);
        make_folder(&folder)?;
        let settings = Settings { format: FORMAT.into(), ..settings.clone() };
        let text = serde_json::to_string_pretty(&settings).map_err(|e| Error::new(Code::Internal, e.to_string()))?;
        write_whole(&folder.join(SETTINGS), text.as_bytes(), true)
            .map_err(|e| cannot_write("cannot write the settings", &folder.join(SETTINGS), &e))?;
        Ok(())
    }

    /// Returns the settings of a watch. Errors: no such watch ([`Code::Input`]), damaged ([`Code::Corrupt`]).
    pub fn settings(&self, name: &str) -> Result<Settings> {
        check_name(name)?;
        let path = self.folder.join(name).join(SETTINGS);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(self.no_such(name)),
            Err(e) => return Err(cannot_read("cannot read the settings", &path, &e)),
        };
        let damaged = |what: String| {
            let hint = format!("write them again with `yunti watch add {name} --replace ..`; records stay");
            Error::new(Code::Corrupt, what).at_path(path.to_string_lossy()).hint(hint)
        };
        let settings: Settings =
            serde_json::from_str(&text).map_err(|e| damaged(format!("the settings are damaged: {e}")))?;
        if settings.format != FORMAT {
            return Err(damaged(format!("the settings have the format '{}'", settings.format)));
        }
        Ok(settings)
    }

    /// Returns the history of a watch that exists.
    pub fn history(&self, name: &str) -> Result<History> {
        check_name(name)?;
        let folder = self.folder.join(name);
        if !folder.join(SETTINGS).is_file() {
            return Err(self.no_such(name));
        }
        Ok(History::at(folder))
    }

    /// Removes a watch with its records.
    pub fn remove(&self, name: &str) -> Result<()> {
        check_name(name)?;
        let folder = self.folder.join(name);
        if !folder.join(SETTINGS).is_file() {
            return Err(self.no_such(name));
        }
        // The settings go last: an interrupted removal can be repeated.
        let removed = fs::read_dir(&folder).and_then(|entries| {
            for entry in entries.flatten().filter(|entry| entry.file_name() != SETTINGS) {
                let path = entry.path();
                if path.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
            }
            fs::remove_dir_all(&folder)
        });
        removed.map_err(|e| cannot_write("cannot remove the watch", &folder, &e))
    }

    /// Takes the lock of measurements. Returns `None` while another process measures.
    pub fn measuring(&self) -> Result<Option<Measuring>> {
        make_folder(&self.folder)?;
        let path = self.folder.join(LOCK);
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(|e| cannot_write("cannot open the lock of measurements", &path, &e))?;
        Ok(flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok().then_some(Measuring { _file: file }))
    }

    fn no_such(&self, name: &str) -> Error {
        let names = self.names().unwrap_or_default();
        let hint = match &names[..] {
            [] => format!("create it with `yunti watch add {name} --pid-of PATTERN`"),
            names => format!("there is {}", names.join(", ")),
        };
        Error::new(Code::Input, format!("there is no watch '{name}'")).hint(hint)
    }
}

/// Checks a name, which is also the name of a folder.
fn check_name(name: &str) -> Result<()> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    if !name.is_empty() && name.len() <= NAME_MAX && name.bytes().all(is_plain) && !name.starts_with(['.', '-']) {
        return Ok(());
    }
    let error = Error::new(Code::Usage, format!("'{name}' is no name of a watch"));
    Err(error.hint("use up to 64 letters, digits and ._-, the first a letter or a digit"))
}

fn make_folder(folder: &Path) -> Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|e| cannot_write("cannot make a folder of the store", folder, &e))
}

fn cannot_write(what: &str, path: &Path, error: &io::Error) -> Error {
    Error::io(Code::Output, what, error).at_path(path.to_string_lossy()).hint("set YUNTI_WATCH_DIR")
}

fn cannot_read(what: &str, path: &Path, error: &io::Error) -> Error {
    Error::io(Code::Input, what, error).at_path(path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_base::process::unique_token;

    #[test]
    fn watches_are_added_and_removed() {
        let folder = std::env::temp_dir().join(format!("yunti-watch-{}", unique_token()));
        let store = Store::at(folder.clone());
        assert!(store.names().unwrap().is_empty());
        let settings = Settings { pid_of: "java .*shop.jar".into(), ..Settings::default() };
        store.add("shop", &settings).unwrap();
        assert_eq!(store.add("shop", &settings).unwrap_err().code(), Code::Exists);
        assert_eq!(
            (store.names().unwrap(), store.settings("shop").unwrap().pid_of),
            (vec!["shop".into()], settings.pid_of)
        );
        for wrong in ["", ".", "..", "a/b", "-x", "a b"] {
            assert_eq!(store.add(wrong, &Settings::default()).unwrap_err().code(), Code::Usage, "{wrong}");
        }
        assert!(store.settings("cart").unwrap_err().to_string().contains("there is shop"));
        fs::write(folder.join("shop").join(SETTINGS), "{").unwrap();
        assert_eq!(store.settings("shop").unwrap_err().code(), Code::Corrupt);
        let lock = store.measuring().unwrap();
        assert!(lock.is_some() && store.measuring().unwrap().is_none());
        drop(lock);
        assert!(store.measuring().unwrap().is_some());
        store.remove("shop").unwrap();
        assert!(store.names().unwrap().is_empty() && store.remove("shop").is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}

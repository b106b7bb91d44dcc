//! Source of slices: a store, a store on another host, or one file of any format.

use std::fs;
use std::path::{Path, PathBuf};

use yunti_base::{Code, Error, Result};
use yunti_record::{Entry, Facts, Place, Query, Slice, Store, fetch};

use super::file::{self, Units};

/// Beginning of a store on another host.
const SSH: &str = "ssh://";
/// Environment variable with the program to call instead of `ssh`.
const SSH_PROGRAM: &str = "YUNTI_SSH";
/// Store of root, and the name of the store below a user's folder for state.
const OF_ROOT: &str = "/var/lib/yunti/record";
const OF_USER: &str = "yunti/record";

/// Source of slices.
pub enum Source {
    Store(Store),
    /// One file, as a store of its slices.
    File(Vec<(Entry, Slice)>),
}

impl Source {
    /// Opens a folder, `ssh://user@host/path`, or a file.
    ///
    /// @param query slices that will be read, which alone are fetched from another host
    pub fn open(text: Option<&str>, query: &Query) -> Result<Source> {
        let Some(text) = text else {
            let path = default_store();
            return Source::folder(&path);
        };
        if let Some(place) = text.strip_prefix(SSH) {
            return remote(place, query);
        }
        let path = Path::new(text);
        if fs::metadata(path).is_ok_and(|it| it.is_file()) {
            let slices = file::read(path, None, Units::default())?;
            return Ok(Source::File(slices.into_iter().map(|slice| (file::entry(&slice), slice)).collect()));
        }
        Source::folder(path)
    }

    fn folder(path: &Path) -> Result<Source> {
        if !path.is_dir() {
            let error = Error::new(Code::Input, "there is no store").at_path(path.to_string_lossy());
            return Err(error.hint("begin one with `yunti observe record start NAME`, or name another with --store"));
        }
        Store::open(path).map(Source::Store)
    }

    /// Returns the slices of a query, by time.
    pub fn list(&self, query: &Query) -> Result<Vec<Entry>> {
        match self {
            Source::Store(store) => store.list(query),
            Source::File(slices) => {
                let fits = |entry: &&Entry| query.service.as_ref().is_none_or(|name| *name == entry.service);
                Ok(slices.iter().map(|(entry, _)| entry).filter(fits).cloned().collect())
            }
        }
    }

    pub fn read(&self, entry: &Entry) -> Result<Slice> {
        match self {
            Source::Store(store) => store.read(entry),
            Source::File(slices) => {
                let slice = slices.iter().find(|(of, _)| of == entry).map(|(_, slice)| slice.clone());
                slice.ok_or_else(|| Error::new(Code::Internal, "this file has no such slice"))
            }
        }
    }

    pub fn facts(&self, entry: &Entry) -> Result<Facts> {
        match self {
            Source::Store(store) => store.facts(entry),
            Source::File(_) => self.read(entry).map(|slice| slice.facts),
        }
    }

    /// Returns true for a file, which has only one time.
    pub fn is_file(&self) -> bool {
        matches!(self, Source::File(_))
    }
}

/// Copies the slices of a query from another host, and returns the copies.
///
/// @param place what follows `ssh://`: `user@host:22/path`
fn remote(place: &str, query: &Query) -> Result<Source> {
    let (host, folder) = place.split_once('/').unwrap_or((place, ""));
    if host.is_empty() || host.starts_with('-') || folder.is_empty() {
        let error = Error::new(Code::Usage, format!("'{SSH}{place}' names no store"));
        return Err(error.hint("write ssh://host/path, or ssh://user@host:port/path"));
    }
    // A port is a part of the address only in this form.
    let host = if host.contains(':') { format!("{SSH}{host}") } else { host.to_owned() };
    let folder = format!("/{folder}");
    let name = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric() && c != '.', "_");
    let cache = folder_of("XDG_CACHE_HOME", ".cache").join(OF_USER).join(name(&host)).join(name(&folder));
    let program = std::env::var_os(SSH_PROGRAM).unwrap_or_else(|| "ssh".into());
    fetch(Path::new(&program), &Place { host, folder }, query, &cache).map(Source::Store)
}

/// Returns a folder of the user: the one that a variable names, else one in the home.
fn folder_of(variable: &str, in_home: &str) -> PathBuf {
    let named = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let in_home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(in_home));
    named.or_else(in_home).unwrap_or_else(std::env::temp_dir)
}

/// Returns the store that commands use without --store.
pub fn default_store() -> PathBuf {
    let is_named = std::env::var_os("XDG_STATE_HOME").is_some();
    if rustix::process::geteuid().is_root() && !is_named {
        return PathBuf::from(OF_ROOT);
    }
    folder_of("XDG_STATE_HOME", ".local/state").join(OF_USER)
}

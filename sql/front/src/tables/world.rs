//! The world of tables: the files that they may read, the store of their bytes, and the library that reads them.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use datafusion::common::ScalarValue;
use object_store::ObjectMeta;
use yunti_base::{Code, Error, Result};
use yunti_engine::codec::CodecKind;
use yunti_engine::env::Env;
use yunti_engine::env::stores::scheme_of;
use yunti_engine::format::file_formats::FileFormat;
use yunti_engine::memory::Budget;
use yunti_engine::operator::ClassSource;
use yunti_sql_cluster::Yarn;

use super::place::Place;
use crate::store::FileStore;

/// Loads the class library for files of a format.
pub type Library = Arc<dyn Fn(&FileFormat) -> Result<Arc<dyn ClassSource>> + Send + Sync>;

/// Means to open tables of files.
pub struct World {
    pub env: Env,
    pub store: Arc<FileStore>,
    pub budget: Arc<Budget>,
    pub library: Library,
    /// Directories and files outside of which no query reads or writes; None: anywhere.
    pub allowed: Option<Vec<PathBuf>>,
    /// False if no query uses Yunti's own executor.
    pub is_native: bool,
    /// Cluster on which paths are, if queries run there.
    pub cluster: Option<Arc<Yarn>>,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("World")
    }
}

/// A file of a table.
#[derive(Clone, Debug)]
pub struct DataFile {
    pub path: PathBuf,
    pub meta: ObjectMeta,
    pub stored_bytes: u64,
    /// Codec of a compressed text.
    pub codec: Option<CodecKind>,
    /// Values of the columns that directories name.
    pub values: Vec<ScalarValue>,
}

impl DataFile {
    /// Returns a file that the general executor does not read by its place in a store.
    pub fn of(path: PathBuf, values: Vec<ScalarValue>) -> DataFile {
        let meta = ObjectMeta {
            location: object_store::path::Path::default(),
            last_modified: chrono::DateTime::default(),
            size: 0,
            e_tag: None,
            version: None,
        };
        DataFile { path, meta, stored_bytes: 0, codec: None, values }
    }
}

impl World {
    /// Returns a place with the paths that a query means by its own: those of the cluster, if there is one.
    pub fn located(&self, place: &Place) -> Place {
        match &self.cluster {
            Some(cluster) => {
                Place { paths: place.paths.iter().map(|path| cluster.located(path)).collect(), ..place.clone() }
            }
            None => place.clone(),
        }
    }

    /// Returns the path that a query means by its own.
    pub fn located_path(&self, path: &Path) -> PathBuf {
        match &self.cluster {
            Some(cluster) => cluster.located(&path.to_string_lossy()).into(),
            None => path.into(),
        }
    }

    /// Fails if a path is outside of the allowed ones, or leads out of them by links.
    pub fn check(&self, path: &Path) -> Result<()> {
        let Some(allowed) = &self.allowed else { return Ok(()) };
        let real = real_path(path);
        if allowed.iter().any(|root| real.starts_with(real_path(root))) {
            return Ok(());
        }
        Err(Error::new(Code::Usage, "the path is outside of the allowed ones")
            .at_path(path.to_string_lossy())
            .hint("name it with --allow"))
    }
}

/// Returns the path without links and `..`, as far as it exists.
fn real_path(path: &Path) -> PathBuf {
    if scheme_of(path).is_some() {
        // A store has no links. A part that leads up never matches an allowed path.
        let leads_up = path.components().any(|part| part == Component::ParentDir);
        return if leads_up { PathBuf::new() } else { path.into() };
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let mut existing = absolute.as_path();
    let mut missing = Vec::new();
    loop {
        if let Ok(real) = existing.canonicalize() {
            let mut real = real;
            for part in missing.iter().rev() {
                match part {
                    Component::ParentDir => drop(real.pop()),
                    part => real.push(part),
                }
            }
            return real;
        }
        missing.extend(existing.components().next_back());
        match existing.parent() {
            Some(parent) => existing = parent,
            None => return absolute,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_dots_do_not_lead_out() {
        let dir = std::env::temp_dir().join(format!("yunti-sql-allow-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("in")).unwrap();
        let _ = std::os::unix::fs::symlink("/etc", dir.join("in/link"));
        let real = dir.canonicalize().unwrap();
        assert_eq!(real_path(&dir.join("in/link/passwd")), Path::new("/etc/passwd"));
        assert_eq!(real_path(&dir.join("in/../x/../../y")), real.parent().unwrap().join("y"));
        assert!(real_path(&dir.join("in/new/file")).starts_with(real.join("in")));
        std::fs::remove_dir_all(dir).unwrap();
    }
}

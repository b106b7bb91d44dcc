//! Side files: files that every task of a job gets whole, such as stop words or the small side of a join.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::env::files::Meta;
use crate::env::{Files, NamedFile};
use crate::memory::{Budget, Grant};
use yunti_base::{Code, Error, Result};

/// Side files by their names, and their memory.
pub type Loaded = (BTreeMap<String, Vec<u8>>, Grant);

/// Reads side files into memory that `budget` grants, by their names. They are not decompressed.
///
/// Errors: `Input` for a file that cannot be read, `Usage` for two files of one name, `Memory` for files of more than
/// half the budget.
pub fn load<'p>(
    paths: impl IntoIterator<Item = &'p PathBuf>,
    files: &dyn Files,
    budget: &Arc<Budget>,
) -> Result<Loaded> {
    let mut memory = budget.grant(0, "side files")?;
    let mut found = BTreeMap::new();
    for path in paths {
        let name = name_of(path)?;
        let file = NamedFile::open(files, path, Code::Input)?;
        let len = meta(files, path)?.len;
        // Half of the memory is reserved for records.
        if memory.bytes() + len > budget.limit_bytes() / 2 {
            return Err(budget.too_small(2 * (memory.bytes() + len), "side files"));
        }
        memory.grow(len, "side files")?;
        let mut bytes = vec![0; len as usize];
        file.read_exact(&mut bytes, 0)?;
        if found.insert(name.clone(), bytes).is_some() {
            return Err(same_name(&name));
        }
    }
    Ok((found, memory))
}

/// Checks side files without reading them. Errors: `Input` and `Usage` as from `load`.
pub fn check(paths: &[PathBuf], files: &dyn Files) -> Result<()> {
    let mut names = BTreeSet::new();
    for path in paths {
        meta(files, path)?;
        let name = name_of(path)?;
        if names.contains(&name) {
            return Err(same_name(&name));
        }
        names.insert(name);
    }
    Ok(())
}

fn same_name(name: &str) -> Error {
    Error::new(Code::Usage, format!("two side files have the name {name}"))
        .hint("classes find side files by name: rename one")
}

/// Returns the metadata of a side file. Errors: `Input` for a file that cannot be read, or a directory.
pub fn meta(files: &dyn Files, path: &Path) -> Result<Meta> {
    let at = || path.to_string_lossy().into_owned();
    let meta = files.meta(path).map_err(|e| Error::io(Code::Input, "cannot read the side file", &e).at_path(at()))?;
    if meta.is_dir {
        return Err(Error::new(Code::Input, "a side file is a directory").at_path(at()));
    }
    Ok(meta)
}

/// Returns the name of a side file in tasks: its last component. Errors: `Usage` for a name that is not UTF-8.
pub fn name_of(path: &Path) -> Result<String> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.map(str::to_string)
        .ok_or_else(|| Error::new(Code::Usage, "a side file needs a name in UTF-8").at_path(path.to_string_lossy()))
}

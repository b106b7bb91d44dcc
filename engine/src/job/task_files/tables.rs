//! Tables of a job: files of `yunti table build` that classes find by a name and map, each process once. A table takes
//! no memory of the budget: its pages are the page cache's, and all processes of a machine share them.
//!
//! A class sees the place of a table as a setting, which reaches every kind of class: in the process, isolated, in
//! Python, on a cluster. Rejected: a function of the C ABI, which would tie the classes to the engine's reader.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use twox_hash::XxHash3_128;
use yunti_base::{Code, Error, Result};
use yunti_table::read::Table;

use crate::env::{Files, NamedFile};
use crate::library::settings::TABLE;
use crate::operator::context::Settings;

/// Bytes of a table that identify it: its header, and the checksums of its blocks behind all else.
const HEADER_BYTES: u64 = 4096;
/// Bytes of all checksums for each byte of a table: 4 for 65,536.
const BYTES_A_SUM: u64 = 65_536 / 4;

/// Returns the settings that classes of a job see: its own, and the places of its tables.
pub fn with_places(mut settings: Settings, tables: &BTreeMap<String, PathBuf>) -> Settings {
    settings.extend(tables.iter().map(|(name, path)| (format!("{TABLE}{name}"), path.to_string_lossy().into_owned())));
    settings
}

/// Checks that files are tables. Errors: `Usage` for a name or a path that no setting can have; `Input` for a file that
/// cannot be read, or is no table; `Corrupt` for a damaged one.
pub fn check(tables: &BTreeMap<String, PathBuf>) -> Result<()> {
    for (name, path) in tables {
        if path.to_str().is_none() {
            let error = Error::new(Code::Usage, format!("the path of the table {name} is not UTF-8"));
            return Err(error.at_path(path.to_string_lossy()));
        }
        Table::open(path)?;
    }
    Ok(())
}

/// Returns true if classes can find a table by this name.
pub fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
}

/// Returns a hash that another content changes, without reading all of it: the checksums of a table stand for its
/// blocks.
pub fn identity(files: &dyn Files, path: &Path) -> Result<String> {
    let file = NamedFile::open(files, path, Code::Input)?;
    let bytes = files
        .meta(path)
        .map_err(|e| Error::io(Code::Input, "cannot read the table", &e).at_path(path.to_string_lossy()))?;
    let mut hash = XxHash3_128::with_seed(bytes.len);
    let sums = (bytes.len / BYTES_A_SUM + 1).div_ceil(4) * 4;
    for (begin, length) in [(0, HEADER_BYTES.min(bytes.len)), (bytes.len.saturating_sub(sums), sums.min(bytes.len))] {
        let mut part = vec![0; length as usize];
        file.read_exact(&mut part, begin)?;
        hash.write(&part);
    }
    Ok(format!("{:032x}", hash.finish_128()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_settings() {
        for name in ["users", "a.b", "x_1-2"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "a b", "a=b", "ä"] {
            assert!(!is_name(name), "{name}");
        }
        let settings = with_places(Settings::new(), &[("users".to_string(), PathBuf::from("/x/users.ytab"))].into());
        assert_eq!(settings["yunti.table.users"], "/x/users.ytab");
    }

    #[test]
    fn what_is_no_table_is_an_error() {
        for (path, what) in [("/nowhere.ytab", "cannot open the table"), ("/proc/self/cmdline", "no table")] {
            let error = check(&[("users".to_string(), path.into())].into()).unwrap_err();
            assert!(error.code() == Code::Input && error.to_string().contains(what), "{error}");
        }
    }
}

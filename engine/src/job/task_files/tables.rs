//! Tables of a job: files of `yunti table build` that classes find by a name and map, each process once, and tables
//! that servers have. A mapped table takes no memory of the budget: its pages are the page cache's, and all processes
//! of a machine share them.
//!
//! A class sees the place of a table as a setting, which reaches every kind of class: in the process, isolated, in
//! Python, on a cluster. Rejected: a function of the C ABI, which would tie the classes to the engine's reader.

use std::path::Path;

use twox_hash::XxHash3_128;
use yunti_base::{Code, Error, Result};
use yunti_table::read::Table;

use crate::env::{Files, NamedFile};
use crate::job::spec::JobSpec;
use crate::library::tables::{TABLE, TLS_CA, TOKEN_FILE, TablePlace, connect};
use crate::operator::context::Settings;

/// Bytes of a table that identify it: its header, and the checksums of its blocks behind all else.
const HEADER_BYTES: u64 = 4096;
/// Bytes of all checksums for each byte of a table: 4 for 65,536.
const BYTES_A_SUM: u64 = 65_536 / 4;

/// Returns the settings that classes of a job see: its own, and the places of its tables.
pub fn with_places(spec: &JobSpec) -> Settings {
    let mut settings = spec.settings.clone();
    settings.extend(spec.tables.iter().map(|(name, place)| (format!("{TABLE}{name}"), place.to_string())));
    for (key, file) in [(TOKEN_FILE, &spec.table_token_file), (TLS_CA, &spec.table_tls_ca)] {
        settings.extend(file.iter().map(|file| (key.to_string(), file.to_string_lossy().into_owned())));
    }
    settings
}

/// Checks that files are tables, and that servers have theirs.
///
/// Errors: `Usage` for a name or a path that no setting can have, and for a table that servers do not have; `Input` for
/// a file that cannot be read or is no table, and for servers that do not answer or refuse; `Corrupt` for a damaged
/// file. `is_here`: false for a place that this process cannot check.
pub fn check(spec: &JobSpec, is_here: impl Fn(&TablePlace) -> bool) -> Result<()> {
    for (name, place) in spec.tables.iter().filter(|(_, place)| is_here(place)) {
        check_one(spec, name, place)?;
    }
    let has_servers = spec.tables.values().any(|place| place.file().is_none());
    let without = spec.table_token_file.as_ref().or(spec.table_tls_ca.as_ref()).filter(|_| !has_servers);
    match without {
        None => Ok(()),
        Some(file) => {
            let error = Error::new(Code::Usage, "the job has no table of servers").at_path(file.to_string_lossy());
            Err(error.hint("leave out the file, or name servers with --table NAME=server:ADDRESS"))
        }
    }
}

fn check_one(spec: &JobSpec, name: &str, place: &TablePlace) -> Result<()> {
    match place {
        TablePlace::File(path) if path.to_str().is_none() => {
            let error = Error::new(Code::Usage, format!("the path of the table {name} is not UTF-8"));
            Err(error.at_path(path.to_string_lossy()))
        }
        TablePlace::File(path) => Table::open(path).map(drop),
        TablePlace::Servers(addresses) => connect(&with_places(spec), name, addresses, None).map(drop),
    }
}

/// Returns a hash that another content changes, without reading all of it: the checksums of a table stand for its
/// blocks, and servers know the versions of theirs.
pub fn identity(spec: &JobSpec, files: &dyn Files, name: &str) -> Result<String> {
    match spec.tables.get(name) {
        Some(TablePlace::File(path)) => of_file(files, path),
        Some(TablePlace::Servers(addresses)) => {
            let versions = connect(&with_places(spec), name, addresses, None)?.versions();
            Ok(versions.iter().map(|version| format!("{version:016x}")).collect::<Vec<_>>().join(" "))
        }
        None => Ok(String::new()),
    }
}

fn of_file(files: &dyn Files, path: &Path) -> Result<String> {
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
    fn places_are_settings() {
        let places = [("users", "/x/users.ytab"), ("shops", "server:db1:7070")];
        let tables = places.map(|(name, place)| (name.to_string(), place.parse().unwrap())).into();
        let spec = JobSpec { tables, table_token_file: Some("/etc/token".into()), ..JobSpec::default() };
        let settings = with_places(&spec);
        assert_eq!(settings["yunti.table.users"], "/x/users.ytab");
        assert_eq!(settings["yunti.table.shops"], "server:db1:7070");
        assert_eq!(settings["yunti.table-token-file"], "/etc/token");
    }

    #[test]
    fn what_is_no_table_is_an_error() {
        for (path, what) in [("/nowhere.ytab", "cannot open the table"), ("/proc/self/cmdline", "no table")] {
            let tables = [("users".to_string(), TablePlace::File(path.into()))].into();
            let error = check(&JobSpec { tables, ..JobSpec::default() }, |_| true).unwrap_err();
            assert!(error.code() == Code::Input && error.to_string().contains(what), "{error}");
        }
    }
}

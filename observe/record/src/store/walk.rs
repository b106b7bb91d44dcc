//! Walk through the folders of a store: names alone, no file is opened.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;
use std::time::SystemTime;

use yunti_base::{Code, Error, Result};

use super::entry::{Entry, Query, service_of};
use crate::time::parse_date;

/// End of the name of a file that is being written.
pub const TEMPORARY: &str = ".tmp";

/// Returns the slices whose names fit a query, by time. Other files are left out.
pub fn entries(store: &Path, query: &Query) -> Result<Vec<Entry>> {
    let mut entries = Vec::new();
    walk(store, query, &mut |service, day, file| {
        if let Some(entry) = Entry::parse(service, day, &name_of(file), 0).filter(|entry| query.has_entry(entry)) {
            match file.metadata() {
                Ok(metadata) if metadata.is_file() => entries.push(Entry { bytes: metadata.len(), ..entry }),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    })?;
    entries.sort();
    Ok(entries)
}

/// Removes temporary files that were last written before a time.
pub fn remove_leftovers(store: &Path, before: SystemTime) -> Result<()> {
    walk(store, &Query::default(), &mut |_, _, file| {
        let name = name_of(file);
        if name.starts_with('.') && name.ends_with(TEMPORARY) {
            let is_old = file.metadata().and_then(|m| m.modified()).is_ok_and(|modified| modified < before);
            if is_old {
                // Another recorder may have removed it.
                let _ = fs::remove_file(file.path());
            }
        }
        Ok(())
    })
}

/// Calls `visit` with the folder of the service, the folder of the day, and each file in it.
fn walk(store: &Path, query: &Query, visit: &mut dyn FnMut(&str, &str, &DirEntry) -> io::Result<()>) -> Result<()> {
    for service in folder(store)? {
        let name = name_of(&service);
        if !service_of(&name).is_some_and(|service| query.has_service(&service)) {
            continue;
        }
        for day in folder(&service.path())? {
            let date = name_of(&day);
            if !parse_date(&date).is_some_and(|begin_ms| query.has_day(begin_ms)) {
                continue;
            }
            for file in folder(&day.path())? {
                visit(&name, &date, &file).map_err(|e| failed(&file.path(), &e))?;
            }
        }
    }
    Ok(())
}

/// Returns the entries of a folder. None if it is a file, or if retention removed it.
fn folder(path: &Path) -> Result<Vec<DirEntry>> {
    match fs::read_dir(path).and_then(Iterator::collect) {
        Ok(entries) => Ok(entries),
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        Err(e) => Err(failed(path, &e)),
    }
}

fn name_of(entry: &DirEntry) -> String {
    entry.file_name().to_string_lossy().into_owned()
}

fn failed(path: &Path, error: &io::Error) -> Error {
    Error::io(Code::Input, "cannot read the store", error).at_path(path.to_string_lossy())
}

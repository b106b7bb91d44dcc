//! Application of a change: all of its files, or none.

use yunti_base::{Code, Error, Result};
use yunti_settings::{Change, Write};

use super::files::Files;
use super::journal::{Journal, State};

/// Writes a change with a journal, and returns its number. If a write fails, the earlier ones are restored.
pub fn apply(journal: &mut Journal, files: &Files, name: &str, change: &Change) -> Result<u64> {
    let id = journal.intend(name, change, &files.boot())?;
    match all_or_none(files, change) {
        Ok(()) => {
            journal
                .note(id, State::Done, None)
                .map_err(|e| e.hint("the setting is changed; `yunti machine undo` restores it"))?;
            Ok(id)
        }
        Err(error) => {
            // If the journal cannot be written, the next run finds the old values.
            let _ = journal.note(id, State::Failed, Some(&error.to_string()));
            Err(error)
        }
    }
}

fn all_or_none(files: &Files, change: &Change) -> Result<()> {
    for (n, write) in change.writes.iter().enumerate() {
        let Err(why) = one(files, write) else { continue };
        // The kernel may have applied a part of the failed write.
        let back = if n == 0 && files.hold(&change.old) { Ok(()) } else { put_back(files, change) };
        let error = Error::new(Code::Output, format!("'{}' was not accepted: {why}", write.value))
            .at_path(format!("/{}", write.path));
        return Err(match back {
            Ok(()) => error.hint("nothing is changed"),
            Err(e) => error.hint(format!("the old values could not be restored: {e}")),
        });
    }
    Ok(())
}

/// Writes a value and reads it back, because the kernel may round or ignore it.
fn one(files: &Files, write: &Write) -> std::result::Result<(), String> {
    files.write(write).map_err(|e| e.to_string())?;
    match files.value(&write.path) {
        Some(value) if value == write.value => Ok(()),
        Some(value) => Err(format!("the kernel set {value} instead")),
        None => Err("the file cannot be read back".to_owned()),
    }
}

/// Restores the values from before the change.
pub fn put_back(files: &Files, change: &Change) -> Result<()> {
    for write in &change.restore {
        one(files, write).map_err(|why| {
            Error::new(Code::Output, format!("'{}' was not accepted: {why}", write.value))
                .at_path(format!("/{}", write.path))
        })?;
    }
    Ok(())
}

//! One change: all of its files, or none of them.

use yunti_base::{Code, Error, Result};
use yunti_settings::{Wanted, Write};

use super::files::Files;
use super::journal::{Journal, State};

/// Writes what is wanted, with a journal; what fails in its middle is taken back.
pub fn apply(journal: &mut Journal, files: &Files, name: &str, wanted: &Wanted) -> Result<u64> {
    let id = journal.intend(name, wanted, &files.boot())?;
    match all_or_none(files, wanted) {
        Ok(()) => {
            journal
                .note(id, State::Done, None)
                .map_err(|e| e.hint("it is changed; `yunti machine undo` finds that"))?;
            Ok(id)
        }
        Err(error) => {
            // Where the journal cannot be written any more, the next one finds that all is as it was.
            let _ = journal.note(id, State::Failed, Some(&error.to_string()));
            Err(error)
        }
    }
}

fn all_or_none(files: &Files, wanted: &Wanted) -> Result<()> {
    for (n, write) in wanted.writes.iter().enumerate() {
        let Err(why) = one(files, write) else { continue };
        // The kernel may have taken a part of the one that failed.
        let back = if n == 0 && files.hold(&wanted.old) { Ok(()) } else { put_back(files, wanted) };
        let error = Error::new(Code::Output, format!("'{}' was not taken: {why}", write.value))
            .at_path(format!("/{}", write.path));
        return Err(match back {
            Ok(()) => error.hint("nothing is changed"),
            Err(e) => error.hint(format!("and what was before could not be put back: {e}")),
        });
    }
    Ok(())
}

/// Writes a value, and looks whether it is there: kernels round, and leave out what they do not like.
fn one(files: &Files, write: &Write) -> std::result::Result<(), String> {
    files.write(write).map_err(|e| e.to_string())?;
    match files.value(&write.path) {
        Some(value) if value == write.value => Ok(()),
        Some(value) => Err(format!("the kernel has made {value} of it")),
        None => Err("it cannot be read again".to_owned()),
    }
}

/// What was before the change.
pub fn put_back(files: &Files, wanted: &Wanted) -> Result<()> {
    for write in &wanted.restore {
        one(files, write).map_err(|why| {
            Error::new(Code::Output, format!("'{}' was not taken: {why}", write.value))
                .at_path(format!("/{}", write.path))
        })?;
    }
    Ok(())
}

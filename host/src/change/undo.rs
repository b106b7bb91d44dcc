//! The way back: of changes that are done, the last first; and of those that were cut off in their middle.

use yunti_engine::base::{Code, Error, Result};

use super::apply::put_back;
use super::files::Files;
use super::journal::{Change, Journal, State};

/// What of the journal can be undone.
pub enum Which<'a> {
    Last,
    Named(&'a str),
    All,
}

/// Looks at changes of whose end nothing is known: whoever made them was killed, or the machine was started anew.
///
/// @return what was found, a sentence each
pub fn settle(journal: &mut Journal, files: &Files) -> Result<Vec<String>> {
    let boot = files.boot();
    let open = journal.changes.iter().filter(|c| matches!(c.state, State::Intended | State::Done | State::Undoing));
    let mut told = Vec::new();
    for change in open.cloned().collect::<Vec<_>>() {
        let Change { id, name, wanted, state, .. } = &change;
        if change.boot != boot {
            journal.note(*id, State::Gone, Some("the machine was started anew"))?;
            told.push(format!("{name}: the machine was started anew since {}, and it is as it was", change.time));
            continue;
        }
        match state {
            State::Intended if files.hold(&wanted.writes) => {
                journal.note(*id, State::Done, Some("found so"))?;
                told.push(format!("{name}: it was changed by one who did not end; it can be undone"));
            }
            State::Intended if files.hold(&wanted.old) => {
                journal.note(*id, State::Failed, Some("nothing was written"))?;
                told.push(format!("{name}: one who did not end had changed nothing"));
            }
            // Some of its files.
            State::Intended => {
                put_back(files, wanted)?;
                journal.note(*id, State::Failed, Some("a part was written, and is put back"))?;
                told.push(format!("{name}: one who did not end had changed a part of it, which is put back"));
            }
            State::Undoing if files.hold(&wanted.old) => {
                journal.note(*id, State::Undone, Some("found so"))?;
                told.push(format!("{name}: it was undone by one who did not end"));
            }
            State::Undoing => {
                put_back(files, wanted)?;
                journal.note(*id, State::Undone, None)?;
                told.push(format!("{name}: one who did not end had begun to undo it; now it is done"));
            }
            _ => {}
        }
    }
    Ok(told)
}

/// What would be undone, in this order.
pub fn chosen(changes: &[Change], which: &Which) -> Vec<Change> {
    let done = changes.iter().rev().filter(|change| change.state == State::Done);
    match which {
        Which::Last => done.take(1).cloned().collect(),
        Which::Named(name) => done.filter(|change| change.name == *name).take(1).cloned().collect(),
        Which::All => done.cloned().collect(),
    }
}

/// Why it is not undone without being forced: somebody has set it since.
pub fn changed_since(files: &Files, change: &Change) -> Option<String> {
    let other = change.wanted.writes.iter().find(|w| files.value(&w.path).as_deref() != Some(&*w.value))?;
    let value = files.value(&other.path).unwrap_or_else(|| "not there".to_owned());
    Some(format!("/{} is {value} now, and was made {} by us", other.path, other.value))
}

pub fn undo(journal: &mut Journal, files: &Files, change: &Change, is_forced: bool) -> Result<()> {
    if let Some(why) = changed_since(files, change).filter(|_| !is_forced) {
        return Err(Error::new(Code::Output, format!("{}: somebody has changed it since: {why}", change.name))
            .hint("--force puts back what was before us"));
    }
    journal.note(change.id, State::Undoing, None)?;
    if let Err(error) = put_back(files, &change.wanted) {
        // As far as it could: it is tried again by the next.
        journal.note(change.id, State::Done, Some(&error.to_string()))?;
        return Err(error);
    }
    journal.note(change.id, State::Undone, None)
}

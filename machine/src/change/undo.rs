//! The way back: of changes that are done, the last first; and of those that were cut off in their middle.

use yunti_base::{Code, Error, Result};

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
            State::Intended | State::Done | State::Undoing if is_gone(files, &change) => {
                journal.note(*id, State::Gone, Some("its files are not there any more"))?;
                told.push(format!("{name}: what was changed is not there any more, and took the change with it"));
            }
            State::Intended if files.hold(&wanted.writes) => {
                journal.note(*id, State::Done, Some("found so"))?;
                told.push(format!("{name}: it was changed by one who did not end; it can be undone"));
            }
            State::Intended if files.hold(&wanted.old) => {
                journal.note(*id, State::Failed, Some("nothing was written"))?;
                told.push(format!("{name}: one who did not end had changed nothing"));
            }
            // A value of somebody else's, or what the kernel has made of ours: whoever undoes it must want that.
            State::Intended | State::Undoing if is_foreign(files, &change) => {
                journal.note(*id, State::Done, Some("found with other values"))?;
                told.push(format!("{name}: one who did not end was about to change it, and it has another value now: `yunti machine undo {name} --force` puts back what was before"));
            }
            // Some of its files.
            State::Intended => match put_back(files, wanted) {
                Ok(()) => {
                    journal.note(*id, State::Failed, Some("a part was written, and is put back"))?;
                    told.push(format!("{name}: one who did not end had changed a part of it, which is put back"));
                }
                // Others can be changed and undone nevertheless.
                Err(e) => told.push(format!(
                    "{name}: one who did not end had changed a part of it, which could not be put back: {e}"
                )),
            },
            State::Undoing if files.hold(&wanted.old) => {
                journal.note(*id, State::Undone, Some("found so"))?;
                told.push(format!("{name}: it was undone by one who did not end"));
            }
            State::Undoing => match put_back(files, wanted) {
                Ok(()) => {
                    journal.note(*id, State::Undone, None)?;
                    told.push(format!("{name}: one who did not end had begun to undo it; now it is done"));
                }
                Err(e) => {
                    told.push(format!("{name}: one who did not end had begun to undo it, which still fails: {e}"))
                }
            },
            _ => {}
        }
    }
    Ok(told)
}

/// None of its files can be read: a disk that was taken away.
fn is_gone(files: &Files, change: &Change) -> bool {
    change.wanted.writes.iter().all(|w| files.value(&w.path).is_none())
}

/// A file holds neither what was nor what was to be.
fn is_foreign(files: &Files, change: &Change) -> bool {
    let pairs = change.wanted.writes.iter().zip(&change.wanted.old);
    pairs.into_iter().any(|(new, old)| !files.value(&new.path).is_some_and(|v| v == new.value || v == old.value))
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

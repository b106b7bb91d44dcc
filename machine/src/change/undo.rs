//! Undo: completed changes, the last first; and changes of a process that was killed.

use yunti_base::{Code, Error, Result};

use super::apply::put_back;
use super::files::Files;
use super::journal::{Entry, Journal, State};

/// Selection of changes to undo.
pub enum Selection<'a> {
    /// The last completed change.
    Last,
    /// The last completed change of this setting.
    Named(&'a str),
    /// All completed changes.
    All,
}

/// Settles changes whose process was killed, or that ended with a reboot. Returns a sentence for each.
pub fn settle(journal: &mut Journal, files: &Files) -> Result<Vec<String>> {
    let boot = files.boot();
    let open = journal.entries.iter().filter(|c| matches!(c.state, State::Intended | State::Done | State::Undoing));
    let mut messages = Vec::new();
    for entry in open.cloned().collect::<Vec<_>>() {
        let Entry { id, name, change, state, .. } = &entry;
        if entry.boot != boot {
            journal.note(*id, State::Gone, Some("the machine was rebooted"))?;
            messages
                .push(format!("{name}: the machine was rebooted since {}, which restored the old value", entry.time));
            continue;
        }
        match state {
            State::Intended | State::Done | State::Undoing if is_gone(files, &entry) => {
                journal.note(*id, State::Gone, Some("its files no longer exist"))?;
                messages.push(format!("{name}: its files no longer exist, so there is nothing to undo"));
            }
            State::Intended if files.hold(&change.writes) => {
                journal.note(*id, State::Done, Some("found so"))?;
                messages.push(format!("{name}: an interrupted run had changed it; it can be undone"));
            }
            State::Intended if files.hold(&change.old) => {
                journal.note(*id, State::Failed, Some("nothing was written"))?;
                messages.push(format!("{name}: an interrupted run had changed nothing"));
            }
            // The value comes from another program, or the kernel altered it: only a forced undo may overwrite it.
            State::Intended | State::Undoing if is_foreign(files, &entry) => {
                journal.note(*id, State::Done, Some("found with other values"))?;
                messages.push(format!(
                    "{name}: an interrupted run was about to change it, and it has another value \
                    now: `yunti machine undo {name} --force` restores the old value"
                ));
            }
            // Only some of its files were written.
            State::Intended => match put_back(files, change) {
                Ok(()) => {
                    journal.note(*id, State::Failed, Some("a part was written, and is restored"))?;
                    messages
                        .push(format!("{name}: an interrupted run had changed a part of it, which is now restored"));
                }
                // Other changes can still be applied and undone.
                Err(e) => messages.push(format!(
                    "{name}: an interrupted run had changed a part of it, which could not be restored: {e}"
                )),
            },
            State::Undoing if files.hold(&change.old) => {
                journal.note(*id, State::Undone, Some("found so"))?;
                messages.push(format!("{name}: an interrupted run had undone it"));
            }
            State::Undoing => match put_back(files, change) {
                Ok(()) => {
                    journal.note(*id, State::Undone, None)?;
                    messages.push(format!("{name}: an interrupted run had begun to undo it, which is now done"));
                }
                Err(e) => {
                    messages.push(format!("{name}: an interrupted run had begun to undo it, which still fails: {e}"))
                }
            },
            _ => {}
        }
    }
    Ok(messages)
}

/// Returns true if none of its files can be read, as after a disk was removed.
fn is_gone(files: &Files, entry: &Entry) -> bool {
    entry.change.writes.iter().all(|w| files.value(&w.path).is_none())
}

/// Returns true if a file holds neither the old nor the new value.
fn is_foreign(files: &Files, entry: &Entry) -> bool {
    let pairs = entry.change.writes.iter().zip(&entry.change.old);
    pairs.into_iter().any(|(new, old)| !files.value(&new.path).is_some_and(|v| v == new.value || v == old.value))
}

/// Returns the selected changes, in the order of their undo.
pub fn select(entries: &[Entry], selection: &Selection) -> Vec<Entry> {
    let done = entries.iter().rev().filter(|entry| entry.state == State::Done);
    match selection {
        Selection::Last => done.take(1).cloned().collect(),
        Selection::Named(name) => done.filter(|entry| entry.name == *name).take(1).cloned().collect(),
        Selection::All => done.cloned().collect(),
    }
}

/// Returns the reason why an undo needs `--force`: another program has set the value since.
pub fn changed_since(files: &Files, entry: &Entry) -> Option<String> {
    let other = entry.change.writes.iter().find(|w| files.value(&w.path).as_deref() != Some(&*w.value))?;
    let value = files.value(&other.path).unwrap_or_else(|| "missing".to_owned());
    Some(format!("/{} is {value} now, and Yunti had set {}", other.path, other.value))
}

/// Restores the old values of a change. Fails if another program has set a value since, unless `is_forced`.
pub fn undo(journal: &mut Journal, files: &Files, entry: &Entry, is_forced: bool) -> Result<()> {
    if let Some(why) = changed_since(files, entry).filter(|_| !is_forced) {
        return Err(Error::new(Code::Output, format!("{}: another program has changed it since: {why}", entry.name))
            .hint("--force restores the old value"));
    }
    journal.note(entry.id, State::Undoing, None)?;
    if let Err(error) = put_back(files, &entry.change) {
        // Partly restored; the next run tries again.
        journal.note(entry.id, State::Done, Some(&error.to_string()))?;
        return Err(error);
    }
    journal.note(entry.id, State::Undone, None)
}

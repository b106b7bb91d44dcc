//! Claims of other jobs: finds out if such a job is alive, and removes the leftovers of dead jobs.
//!
//! | lock of the claim | job |
//! |---|---|
//! | held | alive |
//! | free, and reaches every process, or the holder ran on this machine | dead, exactly |
//! | free, but may not reach this machine; or locks are unsupported | dead after `BEATS_MISSED_MS` without a beat |
//! | the same; the holder does not beat: its lock reached all processes | dead after `ABANDONED_MS` without a change |
//!
//! Directories of versions without locks (`.OUT._temporary-PID`, `.OUT._older-PID`) also go after `ABANDONED_MS`: their
//! process ids mean nothing outside their PID namespace.
//!
//! Limitation: where locks do not reach every process, a job that is stopped (SIGSTOP, a paused machine) for longer
//! than `BEATS_MISSED_MS` loses its claim. It notices before the commit and fails.

use std::io::ErrorKind;
use std::path::Path;

use super::super::journal::{JOURNAL, remove_scratch_of};
use super::LOCK;
use super::claim::{Claim, WAIT_MS, exists, remove_any};
use super::holder::{BEAT_MS, Holder};
use super::locked_directory::LockedDirectory;
use super::other_job::OtherJob;
use crate::env::{LockScope, NamedFile};
use yunti_base::{Code, Error, Result};

/// Milliseconds without a beat after which a beating job is dead: 20 beats, because a busy server may delay some.
const BEATS_MISSED_MS: u64 = if cfg!(debug_assertions) { 3_000 } else { 300_000 };

/// Milliseconds without a change after which a directory without lock or beats is abandoned: one day.
const ABANDONED_MS: u64 = 24 * 3600 * 1000;

impl Claim {
    /// Finds out if the job that has the claim is alive, and removes what it left if it is dead.
    pub(super) fn other(&self, own: &LockedDirectory) -> Result<OtherJob> {
        let path = self.directory.join(LOCK);
        let cannot = |e: std::io::Error| {
            Error::io(Code::Output, "cannot check if another job is writing this output", &e)
                .at_path(path.to_string_lossy())
                .hint("name another output")
        };
        let file = match self.files.open_to_write(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => return self.without_lock(own),
            Err(e) => return Err(cannot(e)),
        };
        let holder = Holder::read(file.clone(), &path)?;
        let lock = file.lock();
        match &lock {
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(OtherJob::Alive(holder)),
            Err(e) if e.kind() != ErrorKind::Unsupported => return Err(cannot(lock.unwrap_err())),
            _ => {}
        }
        let beats = !matches!(lock, Ok(LockScope::Everywhere));
        let is_exact = lock.is_ok_and(|scope| is_exact(scope, &holder, &own.holder));
        if self.holder_at(&self.directory)?.as_ref() != Some(&holder) {
            return Ok(OtherJob::Gone);
        }
        if !is_exact && let Some(left_ms) = self.left_ms(&self.directory, &holder, own)? {
            return Ok(if holder.beats && left_ms > BEATS_MISSED_MS - 2 * BEAT_MS {
                OtherJob::Alive(holder)
            } else {
                OtherJob::Unknown(left_ms)
            });
        }
        if self.resume && is_exact && exists(&*self.files, &self.directory.join(JOURNAL))? {
            self.restore_older().map_err(cannot)?;
            match remove_any(&*self.files, &self.older()) {
                Err(e) if e.kind() != ErrorKind::NotFound => return Err(cannot(e)),
                _ => {}
            }
            return self.take_over(file, beats);
        }
        self.remove_dead(&holder, is_exact)?;
        Ok(OtherJob::Gone)
    }

    /// Restores an older output that a dead job had moved away.
    fn restore_older(&self) -> std::io::Result<()> {
        let older = self.older();
        if self.files.meta(&older).is_ok() && self.files.meta(self.output()).is_err() {
            self.files.rename(&older, self.output())?;
        }
        Ok(())
    }

    /// Removes the claim of a dead job, and restores an older output that the job had moved away. If this job holds no
    /// lock that every process sees, a marker file lets only one job do so.
    fn remove_dead(&self, holder: &Holder, is_exact: bool) -> Result<()> {
        let failed = |e: std::io::Error| {
            Error::io(Code::Output, "cannot remove what a killed job left", &e)
                .at_path(self.directory.to_string_lossy())
                .hint("remove it, or name another output")
        };
        let marker = self.directory.join(format!("_removing-{}", holder.token));
        if !is_exact {
            match self.files.create(&marker) {
                Ok(_) => {}
                Err(e) if matches!(e.kind(), ErrorKind::AlreadyExists | ErrorKind::NotFound) => {
                    // If its owner is killed in turn, the marker expires after a day.
                    self.clock.sleep_ms(WAIT_MS);
                    let fresh = self.files.meta(&marker).is_ok_and(|m| {
                        m.modified_ms == 0 || self.clock.unix_ms().saturating_sub(m.modified_ms) < ABANDONED_MS
                    });
                    if fresh || e.kind() == ErrorKind::NotFound {
                        return Ok(());
                    }
                }
                Err(e) => return Err(failed(e)),
            }
            if self.holder_at(&self.directory)?.as_ref() != Some(holder) {
                let _ = self.files.remove_file(&marker);
                return Ok(());
            }
        }
        self.restore_older().map_err(failed)?;
        remove_scratch_of(&*self.files, &self.directory);
        let lock = self.directory.join(LOCK);
        for path in self.files.list(&self.directory).map_err(failed)? {
            if path != lock && path != marker {
                remove_any(&*self.files, &path).map_err(failed)?;
            }
        }
        // From here on the next job may take the name.
        self.files.remove_file(&lock).map_err(failed)?;
        let _ = self.files.remove_file(&marker);
        let _ = self.files.remove_dir(&self.directory);
        Ok(())
    }

    /// Handles a directory without a lock file: another job is removing it, or it was made by something else.
    fn without_lock(&self, own: &LockedDirectory) -> Result<OtherJob> {
        self.clock.sleep_ms(1);
        let Ok(inside) = self.files.list(&self.directory) else { return Ok(OtherJob::Gone) };
        if inside.is_empty() || inside.contains(&self.directory.join(LOCK)) {
            return Ok(OtherJob::Gone);
        }
        let nobody = Holder::default();
        if let Some(left_ms) = self.left_ms(&self.directory, &nobody, own)? {
            return Ok(OtherJob::Unknown(left_ms));
        }
        for path in inside {
            let _ = remove_any(&*self.files, &path);
        }
        let _ = self.files.remove_dir(&self.directory);
        Ok(OtherJob::Gone)
    }

    /// Returns the milliseconds until a job whose lock shows nothing counts as dead; None if it is dead. A job that
    /// beats is dead after `BEATS_MISSED_MS`, any other after a day without a change. All times come from the file
    /// system, because the clocks of machines may differ.
    fn left_ms(&self, directory: &Path, holder: &Holder, own: &LockedDirectory) -> Result<Option<u64>> {
        let path = own.directory.join(LOCK);
        // A write and a sync give this job's own lock file the present time of the file system.
        let file = NamedFile::new(own.file.clone(), &path, Code::Output);
        file.write_all(&own.holder.text(), 0)?;
        file.sync()?;
        let now = self.files.meta(&path);
        let now =
            now.map_err(|e| Error::io(Code::Output, "cannot read the time", &e).at_path(path.to_string_lossy()))?;
        let now_ms = now.modified_ms;
        let limit_ms = if holder.beats { BEATS_MISSED_MS } else { ABANDONED_MS };
        let changed_ms = match holder.beats {
            true => self.files.meta(&directory.join(LOCK)).map_or(now_ms, |m| m.modified_ms),
            false => self.changed_ms(directory).unwrap_or(now_ms),
        };
        Ok((changed_ms + limit_ms).checked_sub(now_ms).filter(|&left_ms| left_ms > 0))
    }

    /// Returns the time of the last change in a directory and its subdirectories; None if it cannot be read.
    fn changed_ms(&self, directory: &Path) -> Option<u64> {
        let meta = self.files.meta(directory).ok()?;
        let mut latest = meta.modified_ms;
        if meta.is_dir {
            for path in self.files.list(directory).ok()? {
                latest = latest.max(self.changed_ms(&path)?);
            }
        }
        Some(latest)
    }

    /// Removes directories of jobs that were killed before they had the claim, and of versions without locks. A
    /// directory that cannot be removed is left to the next job.
    pub(super) fn remove_leftovers(&self) {
        let Some(own) = &self.held else { return };
        let in_place = exists(&*self.files, self.output()).unwrap_or(false);
        let temporary = format!("{}-", self.directory.to_string_lossy());
        let older = format!("{}._older-", temporary.trim_end_matches("._temporary-"));
        for path in self.files.list(&self.parent).unwrap_or_default() {
            let name = path.to_string_lossy();
            let suffix = name.strip_prefix(&temporary);
            let is_number = |suffix: &str| suffix.parse::<u32>().is_ok();
            if suffix.is_some_and(|s| s.len() == 16 && !is_number(s)) {
                self.remove_dead_private(&path, own);
            } else if (suffix.is_some_and(is_number) || (in_place && name.strip_prefix(&older).is_some_and(is_number)))
                && matches!(self.left_ms(&path, &Holder::default(), own), Ok(None))
            {
                let _ = remove_any(&*self.files, &path);
            }
        }
    }

    fn remove_dead_private(&self, directory: &Path, own: &LockedDirectory) {
        let path = directory.join(LOCK);
        let file = match self.files.open_to_write(&path) {
            Ok(file) => file,
            Err(e) => {
                // Its owner notices the loss and makes another.
                if e.kind() == ErrorKind::NotFound {
                    let _ = self.files.remove_dir(directory);
                }
                return;
            }
        };
        let Ok(holder) = Holder::read(file.clone(), &path) else { return };
        let is_dead = match file.lock() {
            Ok(scope) if is_exact(scope, &holder, &own.holder) => true,
            Err(e) if e.kind() != ErrorKind::Unsupported => false,
            _ => matches!(self.left_ms(directory, &holder, own), Ok(None)),
        };
        if is_dead {
            self.remove_private(directory);
        }
    }
}

/// Returns true if a lock that could be taken proves that its holder is dead.
fn is_exact(scope: LockScope, holder: &Holder, own: &Holder) -> bool {
    holder.is_on_machine_of(own) || (scope == LockScope::Everywhere && !holder.beats)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_lock_proves_death_only_if_it_reaches_the_holder() {
        let holder = |boot: &str, beats| Holder { boot: boot.into(), beats, ..Holder::default() };
        let own = holder("here", false);
        for (scope, other, expect) in [
            (LockScope::Everywhere, holder("here", false), true),
            // Before a restart of this machine.
            (LockScope::Everywhere, holder("before", false), true),
            (LockScope::Everywhere, holder("", false), true),
            // This machine serves the files, and the lock of a client may not arrive.
            (LockScope::Everywhere, holder("client", true), false),
            (LockScope::Machine, holder("here", true), true),
            (LockScope::Machine, holder("client", true), false),
            (LockScope::Machine, holder("server", false), false),
            (LockScope::Machine, holder("", true), false),
        ] {
            assert_eq!(is_exact(scope, &other, &own), expect, "{scope:?} {other:?}");
        }
    }
}

//! The claim of a job on its output: one job writes an output at a time, among all processes, containers and machines
//! that see the directory.
//!
//! ```text
//!   PARENT/.OUT._temporary-TOKEN/_lock     made, locked and written under a name of its own ..
//!   PARENT/.OUT._temporary/_lock           .. then renamed: the claim. A rename onto a non-empty directory fails.
//!                         /new/            the output while it is written (mod.rs)
//!                         /older/          the output that it replaces, for the moment between two renames
//! ```
//!
//! The job takes an OFD lock on `_lock` before the directory gets its name, and holds it until the directory is gone.
//! The kernel frees the lock when the process ends. So a directory whose lock can be taken belongs to no running job,
//! and the job that takes the lock removes it. The lock file is never in the output.
//!
//! Between opening and locking a file, another job may replace the directory. So a job that has locked `_lock` reads
//! the token through the path once more, and compares it with the token in the locked file. Afterwards no other job
//! renames or removes the directory.
//!
//! If locks do not reach every process, age decides too: see leftovers.rs.
//!
//! Rejected: a process id in the name, checked in /proc. Each PID namespace has its own ids, and its own process 1.
//! Rejected: one lock file beside the output. It is left over, or its removal races with the next job's lock.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::super::control::Control;
use super::super::spec::JobSpec;
use super::holder::{BEAT_MS, Holder};
use super::locked_directory::LockedDirectory;
use super::other_job::OtherJob;
use super::{FRESH, LOCK, OLDER};
use crate::env::stores::{refuse_unknown_scheme, scheme_of};
use crate::env::{Clock, Env, File, Files, Heartbeat, LockScope, NamedFile, System};
use yunti_base::store_protocol::TEMPORARY;
use yunti_base::{Code, Error, Result};

/// Milliseconds between two tries of a job that waits.
pub(super) const WAIT_MS: u64 = 100;

/// Milliseconds in which the lock of a process that has ended may still be held. A program that it was about to start
/// has its files until the start.
const DYING_MS: u64 = 2_000;
const DYING_STEP_MS: u64 = 20;

/// Tries against other jobs that begin at the same moment, before a job gives up.
const TRIES_MAX: u32 = 1000;

/// Options of a job for its claim.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClaimOptions {
    /// The output may exist.
    pub overwrite: bool,
    /// Waits for another job that writes the output.
    pub wait: bool,
    /// Takes over the claim of a dead job that has a journal, with all its files.
    pub resume: bool,
}

impl ClaimOptions {
    /// Returns the options of a job.
    pub fn of(spec: &JobSpec) -> ClaimOptions {
        ClaimOptions { overwrite: spec.overwrite, wait: spec.wait, resume: spec.resume }
    }
}

/// The right to write an output. Dropping it frees the output and removes its directory.
pub struct Claim {
    pub(super) files: Arc<dyn Files>,
    pub(super) clock: Arc<dyn Clock>,
    system: Arc<dyn System>,
    output: PathBuf,
    pub(super) parent: PathBuf,
    /// `.OUT._temporary`
    pub(super) directory: PathBuf,
    /// None if other processes cannot reach the output, or before the claim is taken.
    pub(super) held: Option<LockedDirectory>,
    /// Parents that were made for this output, outermost first.
    made: Vec<PathBuf>,
    is_taken: bool,
    pub(super) resume: bool,
    is_committed: AtomicBool,
    /// Set when an entry of the directory could not be removed. The lock file stays, so that the next job removes the
    /// rest.
    has_rest: AtomicBool,
    /// Set when an output waits in the directory for the next job.
    has_output: AtomicBool,
}

impl Claim {
    /// Takes the output for a job. It may wait for another job, until `control` cancels.
    ///
    /// Errors: `Exists` if the output exists, or another job writes it; `Output` if the directory cannot be made;
    /// `Cancelled`.
    pub fn take(env: &Env, control: &Control, output: &Path, options: &ClaimOptions) -> Result<Claim> {
        let ClaimOptions { overwrite, wait, resume } = *options;
        let Some(name) = output.file_name() else {
            return Err(Error::new(Code::Usage, "the output has no name").at_path(output.to_string_lossy()));
        };
        if resume && scheme_of(output).is_some() {
            return Err(Error::new(Code::Usage, "--resume needs an output on this machine, for its journal")
                .at_path(output.to_string_lossy())
                .hint("write to a directory, or leave out --resume"));
        }
        let parent = parent_of(output);
        let directory = parent.join(format!(".{}{TEMPORARY}", name.to_string_lossy()));
        let mut claim = Claim {
            files: env.files.clone(),
            clock: env.clock.clone(),
            system: env.system.clone(),
            output: output.into(),
            parent,
            directory,
            held: None,
            made: Vec::new(),
            is_taken: false,
            resume,
            is_committed: AtomicBool::new(false),
            has_rest: AtomicBool::new(false),
            has_output: AtomicBool::new(false),
        };
        claim.refuse_existing(overwrite)?;
        claim.make_parents()?;
        if !claim.files.is_shared(output) {
            claim.files.create_dir(&claim.directory).map_err(|e| claim.cannot_make(&e))?;
            claim.is_taken = true;
            return Ok(claim);
        }
        claim.win(control, wait)?;
        // Another job may have put it there since the first check.
        claim.refuse_existing(overwrite)?;
        claim.remove_leftovers();
        Ok(claim)
    }

    /// Returns the path of the output.
    pub fn output(&self) -> &Path {
        &self.output
    }

    /// Returns the path under which the output is written.
    pub fn fresh(&self) -> PathBuf {
        self.directory.join(FRESH)
    }

    /// Returns the path of an older output between two renames.
    pub fn older(&self) -> PathBuf {
        self.directory.join(OLDER)
    }

    /// Returns the parent directories that were made for this output, outermost first.
    pub fn made_parents(&self) -> &[PathBuf] {
        &self.made
    }

    /// Notes that the output has its final name.
    pub fn set_committed(&self) {
        self.is_committed.store(true, Ordering::Relaxed);
    }

    /// Removes a file or directory of the claim, and notes a failure.
    pub fn remove(&self, path: &Path) {
        if remove_any(&*self.files, path).is_err_and(|e| e.kind() != ErrorKind::NotFound) {
            self.has_rest.store(true, Ordering::Relaxed);
        }
    }

    /// Checks that no other job took the output. Where locks do not reach every process, a job that was stopped for
    /// long loses it.
    pub fn check(&self) -> Result<()> {
        if self.is_certain() || self.is_own() {
            return Ok(());
        }
        Err(Error::new(Code::Output, "another job took over this output while this one did not respond")
            .at_path(self.output.to_string_lossy())
            .hint("run it again"))
    }

    /// Keeps the contents of the directory until the next job for the same output.
    pub fn keep(&self) {
        self.has_rest.store(true, Ordering::Relaxed);
    }

    /// Keeps an output that is in the directory until the next job for the same output, whatever else happens.
    pub fn keep_output(&self) {
        self.has_output.store(true, Ordering::Relaxed);
    }

    /// Ends `keep`: the directory is removed with the claim.
    pub fn keep_nothing(&self) {
        self.has_rest.store(false, Ordering::Relaxed);
    }

    /// Returns the directory of the claim.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns true if no other process can have taken the claim.
    fn is_certain(&self) -> bool {
        self.held.as_ref().is_none_or(|held| !held.holder.beats)
    }

    fn refuse_existing(&self, overwrite: bool) -> Result<()> {
        refuse_unknown_scheme(&self.output, Code::Usage)?;
        if overwrite || !exists(&*self.files, &self.output)? {
            return Ok(());
        }
        Err(Error::new(Code::Exists, "the output exists already")
            .at_path(self.output.to_string_lossy())
            .hint("name another, or use --overwrite"))
    }

    fn cannot_make(&self, e: &std::io::Error) -> Error {
        Error::io(Code::Output, "cannot make the output directory", e).at_path(self.output.to_string_lossy())
    }

    fn make_parents(&mut self) -> Result<()> {
        let mut missing = Vec::new();
        let mut at = Some(self.parent.as_path());
        while let Some(dir) = at.filter(|d| !d.as_os_str().is_empty() && self.files.meta(d).is_err()) {
            missing.push(dir.to_path_buf());
            at = dir.parent();
        }
        for dir in missing.into_iter().rev() {
            match self.files.create_dir(&dir) {
                Ok(()) => self.made.push(dir),
                Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
                Err(e) => {
                    return Err(Error::io(Code::Output, "cannot make the directory", &e).at_path(dir.to_string_lossy()));
                }
            }
        }
        Ok(())
    }

    /// Gives a locked directory the name that only one job can have, or waits until it can.
    fn win(&mut self, control: &Control, wait: bool) -> Result<()> {
        let mut own = self.prepare()?;
        let result = self.win_with(&mut own, control, wait);
        control.set_status(None);
        match result {
            Ok(()) => {
                own.directory = self.directory.clone();
                (self.held, self.is_taken) = (Some(own), true);
                Ok(())
            }
            Err(e) => {
                self.remove_private(&own.directory);
                Err(e)
            }
        }
    }

    fn win_with(&mut self, own: &mut LockedDirectory, control: &Control, wait: bool) -> Result<()> {
        let (mut tries, mut dying_ms) = (0, 0);
        while tries < TRIES_MAX {
            tries += 1;
            control.cancelled().check()?;
            match self.files.rename(&own.directory, &self.directory) {
                Ok(()) => return Ok(()),
                // The directory was removed from outside.
                Err(e) if e.kind() == ErrorKind::NotFound => *own = self.prepare()?,
                // Some file systems return errors of their own for an existing name.
                Err(e) if is_taken_name(&e) || exists(&*self.files, &self.directory.join(LOCK)).unwrap_or(false) => {
                    match self.other(own)? {
                        OtherJob::Gone => {}
                        OtherJob::TakenOver(taken) => {
                            self.remove_private(&own.directory);
                            *own = *taken;
                            self.keep();
                            return Ok(());
                        }
                        other if wait => {
                            control.set_status(Some(other.status()));
                            self.clock.sleep_ms(WAIT_MS);
                            tries = 0;
                        }
                        other if other.may_be_dying(&own.holder, &*self.system) && dying_ms < DYING_MS => {
                            self.clock.sleep_ms(DYING_STEP_MS);
                            dying_ms += DYING_STEP_MS;
                        }
                        other => return Err(other.refuse(&self.output, &self.directory)),
                    }
                }
                Err(e) => return Err(self.cannot_make(&e)),
            }
        }
        Err(Error::new(Code::Output, "other jobs keep taking and releasing this output")
            .at_path(self.output.to_string_lossy())
            .hint("run it again"))
    }

    /// Makes a directory with a locked lock file under a name that no other job has.
    fn prepare(&mut self) -> Result<LockedDirectory> {
        for _ in 0..TRIES_MAX {
            let token = self.system.unique_token();
            let mut path = self.directory.clone().into_os_string();
            path.push(format!("-{token}"));
            let path = PathBuf::from(path);
            match self.files.create_dir(&path) {
                Ok(()) => {}
                // A failed job may have removed the parents that it had made.
                Err(e) if e.kind() == ErrorKind::NotFound && exists(&*self.files, &self.parent).is_ok_and(|is| !is) => {
                    self.make_parents()?;
                    continue;
                }
                Err(e) => return Err(self.cannot_make(&e)),
            }
            match self.lock_new(&path, token) {
                Ok(Some(held)) => return Ok(held),
                // Another job took the directory for a leftover and removed it.
                Ok(None) => {}
                Err(e) => {
                    self.remove_private(&path);
                    return Err(e);
                }
            }
        }
        Err(Error::new(Code::Output, "cannot make the output directory: other jobs keep removing it")
            .at_path(self.output.to_string_lossy()))
    }

    /// Makes and locks the lock file; None if another job was faster.
    fn lock_new(&self, directory: &Path, token: String) -> Result<Option<LockedDirectory>> {
        let path = directory.join(LOCK);
        let failed =
            |doing: &str, e: &std::io::Error| Error::io(Code::Output, doing, e).at_path(path.to_string_lossy());
        let file = match self.files.create(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(failed("cannot create", &e)),
        };
        let beats = match file.lock() {
            Ok(scope) => scope == LockScope::Machine,
            Err(e) if e.kind() == ErrorKind::Unsupported => true,
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(e) => return Err(failed("cannot lock", &e)),
        };
        self.hold(directory, file, Holder::own(self.system.process(), token, beats))
    }

    /// Names the holder in a locked file; None if the file has no name any more.
    fn hold(&self, directory: &Path, file: Arc<dyn File>, holder: Holder) -> Result<Option<LockedDirectory>> {
        let path = directory.join(LOCK);
        let text = holder.text();
        let named = NamedFile::new(file.clone(), &path, Code::Output);
        named.write_all(&text, 0)?;
        named.truncate(text.len() as u64)?;
        if self.holder_at(directory)?.as_ref() != Some(&holder) {
            return Ok(None);
        }
        let heartbeat = holder.beats.then(|| Heartbeat::start(file.clone(), text, BEAT_MS)).transpose();
        let heartbeat = heartbeat
            .map_err(|e| Error::io(Code::Output, "cannot start a thread", &e).at_path(path.to_string_lossy()))?;
        Ok(Some(LockedDirectory { directory: directory.into(), file, holder, _heartbeat: heartbeat }))
    }

    /// Takes over the directory of a dead job, whose lock file this job has locked.
    pub(super) fn take_over(&self, file: Arc<dyn File>, beats: bool) -> Result<OtherJob> {
        let holder = Holder::own(self.system.process(), self.system.unique_token(), beats);
        Ok(match self.hold(&self.directory, file, holder)? {
            Some(held) => OtherJob::TakenOver(Box::new(held)),
            None => OtherJob::Gone,
        })
    }

    /// Removes a directory that has only a lock file.
    pub(super) fn remove_private(&self, directory: &Path) {
        let _ = self.files.remove_file(&directory.join(LOCK));
        let _ = self.files.remove_dir(directory);
    }

    /// Returns the holder named by the lock file in a directory now; None without a file.
    pub(super) fn holder_at(&self, directory: &Path) -> Result<Option<Holder>> {
        let path = directory.join(LOCK);
        match self.files.open_to_write(&path) {
            Ok(file) => Holder::read(file, &path).map(Some),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Error::io(Code::Output, "cannot open", &e).at_path(path.to_string_lossy())),
        }
    }

    fn is_own(&self) -> bool {
        let own = self.held.as_ref().map(|held| &held.holder);
        self.holder_at(&self.directory).is_ok_and(|holder| holder.as_ref() == own)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let keeps = self.has_rest.load(Ordering::Relaxed) || self.has_output.load(Ordering::Relaxed);
        if self.is_taken && !keeps && (self.is_certain() || self.is_own()) {
            let lock = self.directory.join(LOCK);
            // A directory with a rest and without a lock would block the output for a day.
            let has_rest = self.files.list(&self.directory).is_ok_and(|paths| paths.iter().any(|path| *path != lock));
            if self.held.is_some() && !has_rest {
                let _ = self.files.remove_file(&lock);
            }
            let _ = self.files.remove_dir(&self.directory);
        }
        if !self.is_committed.load(Ordering::Relaxed) {
            for dir in self.made.iter().rev() {
                let _ = self.files.remove_dir(dir);
            }
        }
    }
}

fn is_taken_name(e: &std::io::Error) -> bool {
    matches!(e.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists)
}

pub(super) fn remove_any(files: &dyn Files, path: &Path) -> std::io::Result<()> {
    files
        .remove_dir_all(path)
        .or_else(|e| if e.kind() == ErrorKind::NotFound { Err(e) } else { files.remove_file(path) })
}

/// Returns true if the path exists. Errors: `Output` if this cannot be checked.
pub(super) fn exists(files: &dyn Files, path: &Path) -> Result<bool> {
    match files.meta(path) {
        Ok(_) => Ok(true),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(false),
        Err(e) => Err(Error::io(Code::Output, "cannot check if the output exists", &e).at_path(path.to_string_lossy())),
    }
}

pub(super) fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

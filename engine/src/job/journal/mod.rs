//! The journal of a job with `--resume`: what is done, so that a later attempt goes on from there.
//!
//! ```text
//!   PARENT/.OUT._temporary/journal     frames (frame.rs), appended when something is done
//!                         /new/        part files, written up to where the journal says
//!   SCRATCH/.yunti-TOKEN-0             runs, in a named file where other jobs have one without a name
//! ```
//!
//! The files stay when the job fails or is killed. The next attempt takes over the claim (commit/), reads the journal
//! (kept.rs), holds it against the job (identity.rs), the plan and the files, and writes it anew without what is gone.
//! An attempt without `--resume` removes everything.
//!
//! | done | frame | kept by the next attempt |
//! |---|---|---|
//! | a worker has mapped some splits and spilled all their records | checkpoint | its splits are not mapped |
//! | all splits are mapped, some records spilled | mapped | no split is mapped |
//! | runs were merged into one | merged | the merged run |
//! | the records of a partition are written up to a key | reduced | the reduce goes on behind it |
//! | a split of a job without a reduce is written | part | its part file |
//!
//! A journal only speaks of bytes that were written before. After SIGKILL they are in the page cache. After a power
//! loss they may be missing, unless the job is durable, which syncs them before the frame. So a later attempt on
//! another boot checks each block of the runs, and writes the parts again.
//!
//! Rejected: a checkpoint for all workers at once, which stops them all. Rejected: records in memory that are spilled
//! for the journal alone; see `phase/checkpoints.rs` for when that is done.

mod check;
pub mod frame;
mod identity;
mod kept;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use self::frame::{Frame, RunRecord, SplitIdentity};
pub use self::kept::{Kept, MapPhase, Reduced};
use super::commit::Claim;
use super::plan::Plan;
use super::spec::{JobSpec, Partitioning};
use crate::bytes::KeyOrder;
use crate::env::sync::{Mutex, MutexGuard};
use crate::env::{Env, Files, NamedFile};
use crate::operator::ClassSource;
use crate::run::{Run, ScratchSpace};
use yunti_base::{Code, Error, Result};

/// Name of the journal in the directory of a claim.
pub const JOURNAL: &str = "journal";
/// Name of the journal that takes its place.
const FRESH: &str = "journal.new";

/// Milliseconds between two frames of reduced records.
const REDUCED_MS: u64 = if cfg!(debug_assertions) { 0 } else { 200 };
/// The same for a durable job, which syncs the part files before.
const REDUCED_DURABLE_MS: u64 = if cfg!(debug_assertions) { 0 } else { 5_000 };

/// Setting: milliseconds after which a worker saves what it holds in memory, if that is cheap.
const CHECKPOINT_MS: &str = "resume.checkpoint.ms";
const CHECKPOINT_MS_DEFAULT: u64 = 30_000;
/// Setting: percent of its time that a worker may spend on saving records that would fit in memory.
const COST_PERCENT: &str = "resume.cost.percent";
const COST_PERCENT_DEFAULT: u64 = 1;

/// The open journal of a running job.
pub struct Journal {
    files: Arc<dyn Files>,
    path: PathBuf,
    file: NamedFile,
    end: Mutex<u64>,
    durable: bool,
    /// Scratch files of earlier attempts, and after them of this one, one a scratch directory.
    scratch_files: Vec<PathBuf>,
    /// Number of this attempt's first scratch file.
    first_file: u32,
    next_run: AtomicU32,
    splits: Vec<SplitIdentity>,
    /// Nanoseconds after which a worker saves what it holds.
    pub checkpoint_ns: u64,
    /// Percent of its time that a worker may spend on saving.
    pub cost_percent: u64,
    /// True if a later attempt gains something from the journal.
    has_work: AtomicBool,
    /// True if a run cannot be read any more.
    has_lost: AtomicBool,
    /// When reduced records were noted last, on the job's clock.
    reduced_ns: Mutex<u64>,
}

impl Journal {
    /// Opens the journal of a job in the directory of its claim. Returns it with the work of earlier attempts, and a
    /// line about them for the user. `part_name`: name of a part file, by its number.
    ///
    /// Errors: `Usage` for an input that is read once, or a wrong setting; `Output` for a journal that cannot be
    /// written.
    pub fn open(
        env: &Env,
        claim: &Claim,
        spec: &JobSpec,
        plan: &Plan,
        classes: &[Arc<dyn ClassSource>],
        part_name: &dyn Fn(usize) -> String,
    ) -> Result<(Journal, Kept, Option<String>)> {
        let files = &*env.files;
        let directory = claim.directory();
        let (checkpoint_ns, cost_percent) = (checkpoint_ms(spec)? * 1_000_000, cost_percent(spec)?);
        let splits = identity::of_splits(plan, files)?;
        let job = identity::of_job(spec, files, classes)?;
        let path = directory.join(JOURNAL);
        let boot = env.system.process().boot;
        let (mut kept, why) = match read(files, &path)? {
            None => (Kept::default(), None),
            Some(bytes) => match Kept::read(frame::decode_all(&bytes).0, &job, &boot) {
                Ok(kept) => (kept, None),
                Err(why) => {
                    remove_scratch_files(files, &bytes);
                    (Kept::default(), Some(why))
                }
            },
        };
        kept.fit(&splits, spec.partitioning == Partitioning::TotalOrder);
        if kept.is_committing && files.meta(claim.output()).is_ok() {
            // The output in place may be this job's, and the new one the older, after an exchange of names.
            kept.drop_all();
        }
        check::runs(&mut kept, env);
        check::parts(&mut kept, files, &claim.fresh(), part_name);
        if kept.is_empty() {
            kept.scratch_files.iter().for_each(|path| drop(files.remove_file(path)));
            kept = Kept { mapped_again: kept.mapped_again, ..Kept::default() };
        }
        let shown = shown(&kept, plan.splits.len(), why);
        let first_file = kept.scratch_files.len() as u32;
        let token = env.system.unique_token();
        let own = spec.scratch_dirs_or(&env.temp_dir);
        let own = own.iter().enumerate().map(|(i, dir)| files.absolute(&dir.path.join(format!(".yunti-{token}-{i}"))));
        let own: Vec<PathBuf> = own.collect();
        let scratch_files = [&kept.scratch_files[..], &own].concat();
        let next_run = kept.runs.iter().map(|run| run.record.number + 1).max().unwrap_or(0);
        let mut frames = kept.clone().into_frames(job, &boot);
        frames.push(Frame::Attempt {
            boot,
            unix_ms: env.clock.unix_ms(),
            first_file,
            scratch_files: own.into_iter().map(Into::into).collect(),
        });
        let written = rewrite(files, directory, &frames, spec.durable).inspect_err(|_| {
            // A journal of nothing would only keep the directory.
            let _ = files.remove_file(&directory.join(FRESH));
            if kept.is_empty() {
                let _ = files.remove_file(&path);
            }
        });
        let (file, end) = written?;
        let journal = Journal {
            files: env.files.clone(),
            file,
            end: Mutex::new(end),
            path,
            durable: spec.durable,
            scratch_files,
            first_file,
            next_run: AtomicU32::new(next_run),
            splits,
            checkpoint_ns,
            cost_percent,
            has_work: AtomicBool::new(!kept.is_empty()),
            has_lost: AtomicBool::new(false),
            reduced_ns: Mutex::new(0),
        };
        Ok((journal, kept, shown))
    }

    fn end(&self) -> MutexGuard<'_, u64> {
        self.end.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns true if a later attempt gains something from the journal.
    pub fn has_work(&self) -> bool {
        self.has_work.load(Ordering::Relaxed)
    }

    /// Returns true if a run cannot be read any more: another attempt maps its splits again.
    pub fn has_lost(&self) -> bool {
        self.has_lost.load(Ordering::Relaxed)
    }

    /// Returns the paths of this attempt's scratch files, one for each scratch directory.
    pub fn own_scratch_files(&self) -> &[PathBuf] {
        &self.scratch_files[self.first_file as usize..]
    }

    /// Returns the hash over the job's splits.
    pub fn input(&self) -> u64 {
        identity::of_input(&self.splits)
    }

    /// Returns the identity of a split.
    pub fn split(&self, number: u32) -> SplitIdentity {
        self.splits[number as usize].clone()
    }

    /// Appends a frame of work that a later attempt gains. It is one write; a frame that could not be written whole is
    /// overwritten by the next.
    pub fn append(&self, frame: &Frame) -> Result<()> {
        self.append_setup(frame)?;
        self.has_work.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Appends a frame that is no work by itself.
    pub fn append_setup(&self, frame: &Frame) -> Result<()> {
        let bytes = encode(frame, &self.file)?;
        let mut end = self.end();
        self.file.write_all(&bytes, *end)?;
        if self.durable {
            self.file.sync()?;
        }
        *end += bytes.len() as u64;
        Ok(())
    }

    /// Gives a run a number, and returns its record.
    pub fn record(&self, run: &Run, is_table: bool) -> RunRecord {
        let number = self.next_run.fetch_add(1, Ordering::Relaxed);
        RunRecord::new(number, is_table, run.block_bytes(), run.totals(), run.blocks(), self.first_file)
    }

    /// Returns true if it is time to note reduced records again, and takes this time.
    pub fn is_due(&self, now_ns: u64) -> bool {
        let every = if self.durable { REDUCED_DURABLE_MS } else { REDUCED_MS };
        let mut last = self.reduced_ns.lock().unwrap_or_else(|e| e.into_inner());
        let is_due = now_ns.saturating_sub(*last) >= every * 1_000_000;
        if is_due {
            *last = now_ns;
        }
        is_due
    }

    /// Returns true if data must be synced before their frame.
    pub fn is_durable(&self) -> bool {
        self.durable
    }

    /// Removes the journal and all scratch files: the job is done, or nothing of it is worth keeping.
    pub fn remove(&self) {
        for path in &self.scratch_files {
            let _ = self.files.remove_file(path);
        }
        let _ = self.files.remove_file(&self.path);
    }

    /// Notes that a run cannot be read, if it is so.
    pub fn note_lost(&self, run: &Run) -> Result<()> {
        match run.number() {
            Some(number) if run.is_damaged() => {
                self.has_lost.store(true, Ordering::Relaxed);
                self.append(&Frame::Lost { run: number })
            }
            _ => Ok(()),
        }
    }
}

/// Opens the kept runs: those of records and those of tables, each in their order.
pub fn open_runs(env: &Env, kept: &Kept, order: KeyOrder) -> Result<(Vec<Run>, Vec<Run>)> {
    let (mut runs, mut table_runs) = (Vec::new(), Vec::new());
    if kept.runs.is_empty() {
        return Ok((runs, table_runs));
    }
    let held = kept.runs.iter().flat_map(|run| &run.record.blocks).map(|block| u64::from(block.len)).sum();
    let scratch = ScratchSpace::of_files(env.files.clone(), env.clock.clone(), &kept.scratch_files, held);
    for kept::KeptRun { record, .. } in &kept.runs {
        let Some(entries) = record.entries() else {
            return Err(Error::new(Code::Internal, "a journal with too many scratch files"));
        };
        let order = if record.is_table { KeyOrder::BYTES } else { order };
        let run = Run::of_entries(entries, record.totals(), scratch.clone(), order, record.block_bytes as usize);
        run.set_number(record.number);
        if record.is_table { table_runs.push(run) } else { runs.push(run) }
    }
    Ok((runs, table_runs))
}

/// Returns the line about the work of earlier attempts; None for a first attempt.
fn shown(kept: &Kept, splits: usize, why: Option<String>) -> Option<String> {
    if let Some(why) = why {
        return Some(format!("resume: the job starts from the beginning: {why}"));
    }
    let again = match kept.mapped_again {
        0 => String::new(),
        n => format!("; {n} are done again, because their input changed or their records are lost"),
    };
    if kept.is_empty() {
        return (kept.mapped_again > 0).then(|| format!("resume: no split is kept{again}"));
    }
    let reduced = match kept.reduced.values().filter(|reduced| reduced.hi == u64::MAX).count() {
        0 => String::new(),
        n => format!(" and {n} partitions"),
    };
    Some(format!("resume: {} of {splits} splits{reduced} are kept{again}", kept.splits_len()))
}

fn cost_percent(spec: &JobSpec) -> Result<u64> {
    let Some(text) = spec.settings.get(COST_PERCENT) else { return Ok(COST_PERCENT_DEFAULT) };
    let number = text.trim().parse().ok().filter(|n| (1..=100).contains(n));
    number
        .ok_or_else(|| Error::new(Code::Usage, format!("{COST_PERCENT}: '{text}' is not a whole number from 1 to 100")))
}

fn checkpoint_ms(spec: &JobSpec) -> Result<u64> {
    let Some(text) = spec.settings.get(CHECKPOINT_MS) else { return Ok(CHECKPOINT_MS_DEFAULT) };
    text.trim()
        .parse()
        .map_err(|_| Error::new(Code::Usage, format!("{CHECKPOINT_MS}: '{text}' is not a number of milliseconds")))
}

/// Returns the bytes of a journal; None without one.
fn read(files: &dyn Files, path: &Path) -> Result<Option<Vec<u8>>> {
    let file = match files.open(path) {
        Ok(file) => NamedFile::new(file, path, Code::Output),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(Error::io(Code::Output, "cannot open", &e).at_path(path.to_string_lossy())),
    };
    let mut bytes = vec![0; file.len()? as usize];
    let n = file.read_up_to(&mut bytes, 0)?;
    bytes.truncate(n);
    Ok(Some(bytes))
}

/// Returns the bytes of a frame of `file`.
fn encode(frame: &Frame, file: &NamedFile) -> Result<Vec<u8>> {
    let too_large = || Error::new(Code::Output, "a frame of the journal is too large").at_path(file.path());
    frame.encode().ok_or_else(too_large)
}

/// Writes a journal beside the old one and renames it. Returns it and its length.
fn rewrite(files: &dyn Files, directory: &Path, frames: &[Frame], durable: bool) -> Result<(NamedFile, u64)> {
    let (fresh, path) = (directory.join(FRESH), directory.join(JOURNAL));
    let _ = files.remove_file(&fresh);
    let file = NamedFile::create(files, &fresh, Code::Output)?;
    let mut at = 0;
    for frame in frames {
        let bytes = encode(frame, &file)?;
        file.write_all(&bytes, at)?;
        at += bytes.len() as u64;
    }
    let failed = |e: std::io::Error| Error::io(Code::Output, "cannot rename", &e).at_path(fresh.to_string_lossy());
    if durable {
        file.sync()?;
    }
    files.rename(&fresh, &path).map_err(failed)?;
    if durable {
        files.sync_dir(directory).map_err(failed)?;
    }
    Ok((NamedFile::new(file.file().clone(), &path, Code::Output), at))
}

/// Removes the scratch files that a journal names.
fn remove_scratch_files(files: &dyn Files, journal: &[u8]) {
    for frame in frame::decode_all(journal).0 {
        if let Frame::Attempt { scratch_files, .. } = frame {
            for path in scratch_files {
                let _ = files.remove_file(&PathBuf::from(path));
            }
        }
    }
}

/// Removes the scratch files of the journal in the directory of a claim, if it has one.
pub fn remove_scratch_of(files: &dyn Files, directory: &Path) {
    if let Ok(Some(bytes)) = read(files, &directory.join(JOURNAL)) {
        remove_scratch_files(files, &bytes);
    }
}

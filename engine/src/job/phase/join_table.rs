//! The table of a hash join: measured before the job begins, built before the first record. A job whose table does not
//! fit in its memory sorts both sides instead.
//!
//! The choice is made before the first record is read and before the output is opened, so no work is thrown away. It
//! depends on the side file, `--memory` and the job, never on the clock. Rejected: partitions of both sides on scratch
//! (a hybrid hash join). `docs/decisions/joins-in-memory.md` has the reasons.

use std::path::Path;
use std::sync::Arc;

use super::running_job::RunningJob;
use crate::codec::CodecKind;
use crate::env::files::Meta;
use crate::env::{Crew, Env, NamedFile};
use crate::job::control::Control;
use crate::job::plan::Plan;
use crate::job::report::JoinTableUse;
use crate::job::report::meter::StageKind;
use crate::job::spec::{InputFormat, JobSpec, Mode, SourceSpec};
use crate::job::task_files::{side_files, tables};
use crate::library::applications::join::{self, Measured};
use crate::memory::Budget;
use crate::operator::context::{BadRecords, Host, JobContext, Workspace};
use crate::operator::{Class, TaskContext};
use crate::read::foreign;
use crate::read::split::InputFile;
use yunti_base::{Code, Error, Result};

/// Mappers of the same join with both sides sorted: of lines, and of rows of tables.
const SORTED_LINES: [&str; 2] = ["Yunti.LeftSideMapper", "Yunti.RightSideMapper"];
const SORTED_ROWS: [&str; 2] = ["Yunti.LeftRowsMapper", "Yunti.KeyedLinesMapper"];

/// Bytes of one worker for the lines of one key: of all of the budget, and the bounds.
const PAIRS_SHARE: u64 = 8;
const PAIRS_BYTES: (u64, u64) = (64 << 10, 16 << 20);
/// The same, if the budget has no room for more.
pub const PAIRS_BYTES_LEAST: u64 = 4 << 10;
/// Bytes that a debug build lets the reducer hold, so that ordinary tests spill.
const PAIRS_BYTES_DEBUG: u64 = 800;
/// The same for lines that wait for rows: blocks of a few lines.
const LOOKUP_BYTES_DEBUG: u64 = 8 << 10;

/// The small side of a hash join, before its table is built.
pub struct SmallSide {
    measured: Measured,
    started_ns: u64,
    ended_ns: u64,
    workers: usize,
}

fn has_mapper(plan: &Plan, names: &[&str]) -> bool {
    let mut mappers = plan.sources.iter().filter_map(|source| source.mapper.as_ref());
    mappers.any(|mapper| names.contains(&&mapper.info().name[..]))
}

/// Returns true for a hash join of lines, not of rows of tables.
pub fn looks_up_lines(plan: &Plan) -> bool {
    has_mapper(plan, &join::LOOKUPS[..1])
}

/// Returns the context of a task before the job has begun.
pub fn context(spec: &JobSpec, env: &Env, control: &Control) -> Arc<TaskContext> {
    let (host, bad) = (Host::of(env, control.cancelled()), BadRecords::default());
    let settings = tables::with_places(spec);
    let job = JobContext::with_host(settings, Default::default(), Vec::new(), host, bad, Workspace::default());
    TaskContext::new(job, false, 0, 0)
}

/// Returns the side file that becomes a table; None for a job without a hash join, or whose small side is a table of
/// `yunti table build`.
fn path_of<'s>(
    spec: &'s JobSpec,
    plan: &Plan,
    env: &Env,
    control: &Control,
) -> Result<Option<(&'s Path, Arc<TaskContext>)>> {
    if !has_mapper(plan, &join::LOOKUPS) {
        return Ok(None);
    }
    side_files::check(&spec.side_files, &*env.files)?;
    let context = context(spec, env, control);
    Ok(join::small_side(&context, &spec.side_files)?.map(|path| (path, context)))
}

/// Returns the small side of a hash join if only its table is needed: it is not loaded.
pub fn not_loaded(spec: &JobSpec) -> Option<&Path> {
    // Classes of the user's may read the side file too.
    let own = |name: &Option<String>| name.as_ref().is_some_and(|name| !name.starts_with("Yunti."));
    let classes = [&spec.reducer, &spec.folder, &spec.combiner];
    if classes.into_iter().any(own) || spec.sources().iter().any(|source| own(&source.mapper)) {
        return None;
    }
    small_path(spec)
}

/// Measures the small side of a hash join; None for other jobs.
///
/// Errors: `Usage` for bad settings; `Input` for a side file that cannot be read, or is not plain text; `Memory` for a
/// side file larger than the budget, or a budget without room to measure it.
pub fn measure(
    spec: &JobSpec,
    plan: &Plan,
    env: &Env,
    control: &Control,
    (budget, threads): (&Arc<Budget>, usize),
) -> Result<Option<SmallSide>> {
    let Some((path, context)) = path_of(spec, plan, env, control)? else { return Ok(None) };
    let started_ns = env.clock.now_ns();
    let lines = join::SideLines::new(open(path, env)?)?;
    if lines.len() > budget.limit_bytes() {
        return Err(budget.too_small(lines.len(), join::TABLE_PURPOSE));
    }
    let crew = Crew { threads: &*env.threads, workers: threads.max(1), cancel: control.cancelled() };
    let measured = join::measure(&context, lines, budget, &crew, env.seed)?;
    Ok(Some(SmallSide { measured, started_ns, ended_ns: env.clock.now_ns(), workers: crew.workers }))
}

/// Opens a side file that is read twice, line by line.
pub fn open(path: &Path, env: &Env) -> Result<NamedFile> {
    let wrong = |what: &str, hint: &str| {
        Err(Error::new(Code::Input, what).at_path(path.to_string_lossy()).hint(hint.to_string()))
    };
    let Meta { is_stream, len, .. } = side_files::meta(&*env.files, path)?;
    if is_stream {
        return wrong("the small side of a hash join is a pipe, but it is read twice", "write it to a file first");
    }
    if CodecKind::from_path(path).is_some() {
        return wrong("the small side of a hash join is compressed", "decompress it, or use the application join");
    }
    let file = InputFile { path: path.into(), len, ..InputFile::default() };
    foreign::refuse(&*env.files, &[file])?;
    NamedFile::open(&*env.files, path, Code::Input)
}

impl SmallSide {
    /// Returns the bytes of the table.
    pub fn table_bytes(&self) -> u64 {
        self.measured.table_bytes()
    }

    /// Returns the budget with which the table fits. `others`: bytes of other side files, and of reading from stores.
    ///
    /// A quarter of the budget is for the buffers of the workers, which are few if they have little.
    pub fn budget_bytes(&self, others: u64) -> u64 {
        let table = self.table_bytes();
        let counts = self.measured.counts_bytes();
        let building = others + table + self.measured.build_bytes(self.workers) + counts;
        building.max((others + table).saturating_mul(4) / 3)
    }

    /// Returns the use of the table for the report.
    pub fn describe(&self, others: u64, is_sorted: bool) -> JoinTableUse {
        JoinTableUse {
            side_bytes: self.measured.file_bytes(),
            rows: self.measured.row_count(),
            table_bytes: self.table_bytes(),
            budget_bytes: self.budget_bytes(others),
            sorted: is_sorted,
        }
    }

    /// Builds the table and shares it with the tasks of the job. Counts the time as the stage `prepare`.
    ///
    /// Errors: `Memory` without room for the table; `Input` for a side file that changed.
    pub fn build(self, running: &RunningJob<'_>) -> Result<()> {
        let clock = &*running.env.clock;
        let from_ns = clock.now_ns();
        let table = join::build(&self.measured, &running.budget, &running.crew)?;
        let to_ns = clock.now_ns();
        let (bytes, rows) = (self.measured.file_bytes(), self.measured.row_count());
        let mut first = (bytes, rows);
        for worker in 0..running.crew.workers {
            let mut busy_ns = 0;
            let spans = [(self.started_ns, self.ended_ns, self.workers), (from_ns, to_ns, running.crew.workers)];
            for (task, (from_ns, to_ns, workers)) in (0..).zip(spans) {
                if worker < workers.min(self.measured.chunk_count().max(1)) {
                    running.meter.span(worker, "prepare", task, from_ns, to_ns, bytes, rows);
                    busy_ns += to_ns - from_ns;
                }
            }
            running.meter.add(worker, StageKind::Prepare, busy_ns, first.0, first.1);
            first = (0, 0);
        }
        if self.measured.short > 0 {
            running.count("Yunti", "LINES_PASSED_OVER", self.measured.short);
        }
        running.job.share(join::TABLE, table);
        running.note_memory();
        Ok(())
    }
}

/// Returns the use of a table that was not measured, because it is far too large.
pub fn describe_unmeasured(spec: &JobSpec, env: &Env) -> Option<JoinTableUse> {
    let side_bytes = side_files::meta(&*env.files, small_path(spec)?).ok()?.len;
    // Rows of a few dozen bytes take half as much again.
    let table_bytes = side_bytes + side_bytes / 2;
    Some(JoinTableUse { side_bytes, rows: 0, table_bytes, budget_bytes: table_bytes / 3 * 4, sorted: true })
}

/// Returns the path of the small side among the side files.
fn small_path(spec: &JobSpec) -> Option<&Path> {
    join::small_path(spec.settings.get(join::SMALL)?, &spec.side_files)
}

/// Returns the same join with both sides sorted; None if the job does more than a hash join.
pub fn sorted(spec: &JobSpec) -> Option<JobSpec> {
    let mut sources = spec.sources();
    let lookup = sources.first().and_then(|source| source.mapper.clone())?;
    let number = join::LOOKUPS.iter().position(|known| *known == lookup)?;
    if spec.mode != Mode::None || sources.iter().any(|source| source.mapper.as_ref() != Some(&lookup)) {
        return None;
    }
    let [left, right] = if number == 0 { SORTED_LINES } else { SORTED_ROWS };
    let small = small_path(spec)?;
    let side_files = spec.side_files.iter().filter(|path| *path != small).cloned().collect();
    sources.iter_mut().for_each(|source| source.mapper = Some(left.into()));
    sources.push(SourceSpec {
        inputs: vec![small.to_str()?.to_string()],
        input_format: InputFormat::Text { delimiter: Some(b"\n".to_vec()) },
        columns: Default::default(),
        mapper: Some(right.into()),
    });
    Some(JobSpec {
        inputs: Vec::new(),
        input_format: InputFormat::Text { delimiter: None },
        columns: Default::default(),
        mapper: None,
        sources,
        side_files,
        reducer: Some(join::REDUCERS[number].into()),
        mode: Mode::Sorted,
        reduces: spec.reduces.max(1),
        ..spec.clone()
    })
}

/// Returns true for a hash join whose small side is a table of servers.
fn asks_servers(spec: &JobSpec) -> bool {
    let is_lookup = |source: &SourceSpec| source.mapper.as_deref() == Some(join::LOOKUPS[0]);
    let small = || spec.settings.get(join::SMALL).and_then(|name| spec.tables.get(name));
    small().is_some_and(|place| place.file().is_none()) && spec.sources().iter().any(is_lookup)
}

/// Returns the bytes that each worker reserves for the lines of one key of a join, or for lines that wait for the rows
/// of servers; 0 for other jobs.
pub fn pairs_bytes(spec: &JobSpec, plan: &Plan, limit_bytes: u64, threads: usize) -> u64 {
    let is_join = |reducer: &Arc<dyn Class>| join::REDUCERS.contains(&&reducer.info().name[..]);
    match plan.reducer.as_ref().is_some_and(is_join) || asks_servers(spec) {
        true => (limit_bytes / PAIRS_SHARE / threads.max(1) as u64).clamp(PAIRS_BYTES.0, PAIRS_BYTES.1),
        false => 0,
    }
}

/// Returns the bytes of the lines that a reducer holds, or that wait for rows, of these reserved ones.
pub fn held_bytes(spec: &JobSpec, reserved: u64) -> u64 {
    let debug = if asks_servers(spec) { LOOKUP_BYTES_DEBUG } else { PAIRS_BYTES_DEBUG };
    if cfg!(debug_assertions) { debug.min(reserved) } else { reserved }
}

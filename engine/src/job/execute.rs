//! One job from its specification to its committed output: plan, map, sort or fold, reduce, commit, report.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::commit::{Claim, ClaimOptions, PendingOutput};
use super::control::{Control, ProgressStage};
use super::journal::frame::Frame;
use super::journal::{Journal, Kept};
use super::machine::elastic::Elastic;
use super::phase::join_choice;
use super::phase::join_table::{self, SmallSide};
use super::phase::running_job::RunningJob;
use super::phase::{map_only, resume, sorted};
use super::plan::Plan;
use super::plan::join_cost::JoinBy;
use super::plan::sizing::Sizing;
use super::plan::source::Source;
use super::report::memory_trace::MemoryTrace;
use super::report::meter::Meter;
use super::report::partitions::{self, PartitionMeter};
use super::report::{JoinChoice, JoinTableUse, Report, build};
use super::spec::{JobSpec, Mode, OutputFormat, OutputTarget};
use super::task_files::key_directories::KeyDirectories;
use super::task_files::named_outputs::NamedOutputs;
use super::task_files::{side_files, tables};
use crate::env::sync::Mutex;
use crate::env::{Crew, Env, NamedFile, OpenFilePool, UninterruptedFiles};
use crate::format::columns::Columns;
use crate::format::framed;
use crate::library::applications::join;
use crate::memory::{Budget, Grant};
use crate::operator::ClassSource;
use crate::operator::context::{BadRecord, BadRecords, Host, JobContext, Settings, Workspace};
use crate::read::foreign;
use crate::read::split::RecordFormat;
use crate::run::ScratchSpace;
use crate::write::output::{Edge, OutputTotals};
use crate::write::top::{Top, TopRecord};
use crate::write::{CompressorPool, Output, PartFile};
use yunti_base::{Code, Error, Result};

/// Setting: name parts as the older API of MapReduce does, `part-00000` instead of `part-r-00000`.
const PLAIN_PARTS: &str = "output.plain.parts";

/// Jobs of the same chain that are done.
#[derive(Debug, Default)]
pub struct EarlierJobs {
    pub reports: Vec<Report>,
    /// Bytes of their outputs that did not fit in memory.
    pub spilled_bytes: u64,
}

/// Outcome of a job that succeeded.
#[derive(Debug)]
pub struct Outcome {
    pub report: Report,
    /// For `OutputTarget::Top`: the records that are shown, best first.
    pub top: Vec<TopRecord>,
}

/// Runs one job to its end. On an error nothing of the output remains.
///
/// A budget may be too small for the large records of several workers, but enough for one. In that case the job starts
/// again with one worker, if its input can be read twice and no output was shown.
///
/// `before`: earlier jobs of the chain, for the report. `claim`: the claim on the output, if the chain holds it
/// already.
///
/// Errors: `Usage` for a specification that does not fit together, `Exists` for an output that exists, `Cancelled`, and
/// the errors of input, output and classes.
pub fn run(
    spec: &JobSpec,
    env: &Env,
    classes: &[Arc<dyn ClassSource>],
    control: &Control,
    before: &EarlierJobs,
    claim: Option<Arc<Claim>>,
) -> Result<Outcome> {
    spec.check()?;
    let env = &Env { files: Arc::new(UninterruptedFiles(env.files.clone())), ..env.clone() };
    let threads = spec.threads.unwrap_or_else(|| env.threads.processors());
    control.enter(ProgressStage::Start);
    let claim = match (&spec.output, claim) {
        (OutputTarget::Directory(path), None) => {
            Some(Arc::new(Claim::take(env, control, path, &ClaimOptions::of(spec))?))
        }
        (_, claim) => claim,
    };
    let mut attempt = Attempt { threads, cuts_parts: may_cut_parts(spec) };
    for lost in 0.. {
        let failure = match run_with(spec, attempt, env, classes, control, before, claim.clone()) {
            Ok(outcome) => return Ok(outcome),
            Err(failure) => failure,
        };
        if failure.is_doubtful {
            // A reader in order gives the right records, and the right error for a damaged file.
            attempt.cuts_parts = false;
        } else if failure.error.code() == Code::Memory && attempt.threads > 1 && may_begin_again(spec, env) {
            // The error of the second attempt names the memory that is enough.
            attempt.threads = 1;
        } else if failure.error.code() == Code::Memory && attempt.cuts_parts && may_begin_again(spec, env) {
            // A reader in order needs its decoder alone.
            attempt.cuts_parts = false;
        } else if failure.has_lost && lost < LOST_MAX {
            env.messages.show(&format!("resume: {}; the splits of these records are mapped again", failure.error));
        } else {
            return Err(failure.error);
        }
    }
    Err(Error::new(Code::Internal, "a job without an end"))
}

/// Attempts that a job makes of itself after spilled records are lost.
const LOST_MAX: u32 = 3;

/// How an attempt differs from the one before.
#[derive(Clone, Copy)]
struct Attempt {
    threads: usize,
    /// True if compressed files are cut into parts, which may prove wrong.
    cuts_parts: bool,
}

/// End of an attempt.
struct Failure {
    error: Error,
    /// True if spilled records are lost, and the journal says whose.
    has_lost: bool,
    /// True if a cut of a compressed file may be wrong.
    is_doubtful: bool,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { error, has_lost: false, is_doubtful: false }
    }
}

fn may_begin_again(spec: &JobSpec, env: &Env) -> bool {
    let read_once = |name: &String| name == "-" || env.files.meta(Path::new(name)).is_ok_and(|m| m.is_stream);
    spec.output != OutputTarget::Stdout && !spec.sources().iter().flat_map(|source| &source.inputs).any(read_once)
}

/// Returns true if the output allows to begin again after a wrong cut of a compressed file. Cuts are proven when all is
/// mapped, so standard output must not show anything before.
fn may_cut_parts(spec: &JobSpec) -> bool {
    let has_head = matches!(spec.output_format, OutputFormat::Csv { .. } | OutputFormat::Class(_));
    let shows_early = spec.output == OutputTarget::Stdout && (spec.mode == Mode::None || has_head);
    !shows_early
}

fn run_with(
    spec: &JobSpec,
    attempt: Attempt,
    env: &Env,
    classes: &[Arc<dyn ClassSource>],
    control: &Control,
    chain: &EarlierJobs,
    claim: Option<Arc<Claim>>,
) -> std::result::Result<Outcome, Failure> {
    control.enter(ProgressStage::Start);
    let watch = build::ResourceWatch::begin(env);
    let env = watch.env();
    let mut plan = Plan::make_with(spec, env, classes, attempt.cuts_parts)?;
    // Records of fixed length and framed ones may be any bytes.
    let is_text = |source: &Source| {
        source.reader.is_none() && !matches!(source.format, RecordFormat::Fixed { .. } | RecordFormat::Framed)
    };
    if plan.sources.iter().all(is_text) {
        foreign::refuse(&*env.files, &plan.files)?;
    }
    let limit = budget_bytes(spec, env);
    let mut choice = join_choice::choose(spec, &plan, env, control, (attempt.threads, limit))?;
    let chosen = match choice.as_ref().map(|choice| choice.by) {
        Some(JoinBy::Lookup) => Some(join_choice::looked_up(spec)),
        Some(JoinBy::Sort) => Some(join_table::sorted(spec).ok_or_else(join_choice::not_sorted)?),
        _ => None,
    };
    if let Some(chosen) = &chosen {
        plan = Plan::make_with(chosen, env, classes, attempt.cuts_parts)?;
    }
    let spec = chosen.as_ref().unwrap_or(spec);
    let mut memory = JobMemory::take(spec, &plan, attempt.threads, env, control)?;
    let holds_table = memory.holds_table(spec, &plan, attempt.threads);
    let is_looked_up = !holds_table && choice.as_mut().is_some_and(join_choice::without_memory);
    let other = match (holds_table, is_looked_up) {
        (true, _) => None,
        (false, true) => Some(join_choice::looked_up(spec)),
        (false, false) => join_table::sorted(spec),
    };
    if let Some(other) = &other {
        plan = Plan::make_with(other, env, classes, attempt.cuts_parts)?;
        memory = match is_looked_up {
            true => JobMemory::take(other, &plan, attempt.threads, env, control)?,
            false => memory.without_table((spec, other), env)?,
        };
    }
    memory.choice = choice;
    let spec = other.as_ref().unwrap_or(spec);
    let part_name = part_names(spec, &plan);
    let (journal, kept) = match &claim {
        Some(claim) if spec.resume => {
            let (journal, kept, line) = Journal::open(env, claim, spec, &plan, classes, &part_name)?;
            line.iter().for_each(|line| env.messages.show(line));
            (Some(Arc::new(journal)), kept)
        }
        _ => (None, Kept::default()),
    };
    let splits = kept.splits();
    let keeps = |name: &str| resume::keeps((&kept, &splits), &spec.outputs, &part_name, name);
    let pending = claim.clone().map(|claim| PendingOutput::begin(env.files.clone(), claim, spec.overwrite, &keeps));
    let mut pending = pending.transpose().inspect_err(|_| {
        // A journal of nothing would only keep the directory of the claim.
        journal.iter().filter(|journal| !journal.has_work()).for_each(|journal| journal.remove());
    })?;
    let run = Run { spec, plan: &plan, env, control, watch: &watch, chain };
    let result = run.to_end((attempt.threads, memory), &mut pending, journal.clone(), kept, &part_name);
    let doubt = match &result {
        Err(error) if error.code() != Code::Cancelled => plan.is_doubtful(env, control.cancelled()),
        _ => Ok(false),
    };
    let (result, is_doubtful) = match doubt {
        Ok(is_doubtful) => (result, is_doubtful),
        Err(cancelled) => (Err(cancelled), false),
    };
    if let (Some(journal), Some(claim), Some(pending)) = (journal, claim, &mut pending) {
        if result.is_err() && journal.has_work() && !is_doubtful {
            pending.keep();
            if journal.has_lost() {
                return result.map_err(|error| Failure { error, has_lost: true, is_doubtful: false });
            }
            env.messages.show("resume: what is done is kept: give the same command again to go on");
        } else {
            journal.remove();
            claim.keep_nothing();
        }
    }
    result.map_err(|error| Failure { error, has_lost: false, is_doubtful })
}

/// One run of a job: what its steps share.
struct Run<'a> {
    spec: &'a JobSpec,
    plan: &'a Plan,
    env: &'a Env,
    control: &'a Control,
    watch: &'a build::ResourceWatch,
    chain: &'a EarlierJobs,
}

impl Run<'_> {
    /// Runs the phases and commits the output.
    fn to_end(
        &self,
        (threads, memory): (usize, JobMemory),
        pending: &mut Option<PendingOutput>,
        journal: Option<Arc<Journal>>,
        kept: Kept,
        part_name: &dyn Fn(usize) -> String,
    ) -> Result<Outcome> {
        let Run { spec, plan, env, control, watch, chain } = *self;
        let mut running = start_with(spec, plan, threads, env, control, memory)?;
        if let Some(pending) = &pending {
            running.outputs = Some(Arc::new(NamedOutputs::new(spec, pending.directory(), running.budget.clone())));
        }
        (running.journal, running.kept) = (journal, kept);
        // Progress counts the input twice, since map and reduce each read or write about as much.
        control.expect(plan.input_bytes * 2);
        running.memory.expect(plan.input_bytes * 2);
        let output = open_output(&running, pending.as_ref(), part_name)?;
        resume::restore(&mut running, pending.as_ref())?;
        running.write_edges(&output, Edge::Head)?;
        match spec.mode {
            Mode::None => map_only::run(&running, &output)?,
            _ => sorted::run(&running, &output)?,
        }

        if plan.is_doubtful(env, control.cancelled())? {
            // A program may leave a part before its end, which is proven here.
            return Err(Error::new(Code::Internal, "parts of a compressed file do not fit together"));
        }
        let bad_records = bad_records(&running)?;
        running.enter(ProgressStage::Commit);
        running.write_edges(&output, Edge::Foot)?;
        let lazy = pending.as_ref().filter(|_| spec.is_lazy());
        let (mut output_bytes, top) = close_output(output, spec.durable, running.empty_file(), lazy)?;
        output_bytes += running.outputs.as_ref().map_or(0, |outputs| outputs.bytes());
        let mut report = build::build_report(&running, watch, output_bytes);
        (report.before, report.held_spilled_bytes) = (chain.reports.clone(), chain.spilled_bytes);
        if let Some(pending) = pending {
            // Hadoop ignores names with `_` when it reads an output.
            pending.create_dir("_yunti")?;
            if let Some(bytes) = bad_records {
                pending.create("_yunti/bad-records")?.write_all(&bytes, 0)?;
            }
            let success = pending.create("_SUCCESS")?;
            if spec.durable {
                success.sync()?;
            }
            let text = serde_json::to_vec_pretty(&report)
                .map_err(|e| Error::new(Code::Internal, format!("cannot write the report: {e}")))?;
            let file = pending.create("_yunti/report.json")?;
            file.write_all(&text, 0)?;
            if spec.durable {
                file.sync()?;
            }
            pending.finish_uploads()?;
            control.cancelled().check()?;
            if let Some(journal) = &running.journal {
                journal.append(&Frame::Commit)?;
            }
            pending.commit(spec.durable)?;
        }
        report.job.wall_ms = (env.clock.now_ns() - running.meter.start_ns()) as f64 / 1e6;
        Ok(Outcome { report, top })
    }
}

/// Checks the share of bad records, and counts them. Returns them as a file; None without bad records.
///
/// Errors: `UserCode` for more than the job may leave out.
pub(super) fn bad_records(running: &RunningJob<'_>) -> Result<Option<Vec<u8>>> {
    let bad_records = running.job.bad_records.kept();
    if bad_records.is_empty() {
        return Ok(None);
    }
    running.job.bad_records.check(running.control.records.load(Ordering::Relaxed))?;
    running.count("Yunti", "BAD_RECORDS", bad_records.len() as u64);
    Ok(Some(quarantine(&bad_records)))
}

/// Returns bad records as framed records: file, byte and reason as the key, the record as the value.
fn quarantine(records: &[BadRecord]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for record in records {
        let key = format!("{}\t{}\t{}", record.file, record.offset, record.reason);
        bytes.extend_from_slice(&framed::header(key.as_bytes(), &record.bytes));
        bytes.extend_from_slice(key.as_bytes());
        bytes.extend_from_slice(&record.bytes);
    }
    bytes
}

/// Sets up a task that begins, as `start_with` does.
///
/// Errors: `Memory` also for a table that does not fit.
pub(super) fn start<'a>(
    spec: &'a JobSpec,
    plan: &'a Plan,
    threads: usize,
    env: &'a Env,
    control: &'a Control,
) -> Result<RunningJob<'a>> {
    start_with(spec, plan, threads, env, control, JobMemory::take(spec, plan, threads, env, control)?)
}

/// Sets up a job or task that begins: divides its memory, sets all counts to zero.
fn start_with<'a>(
    spec: &'a JobSpec,
    plan: &'a Plan,
    threads: usize,
    env: &'a Env,
    control: &'a Control,
    memory: JobMemory,
) -> Result<RunningJob<'a>> {
    if let Some(error) = memory.too_large {
        return Err(error);
    }
    let limit = memory.budget.limit_bytes();
    let mut pairs = join_table::pairs_bytes(spec, plan, limit, threads);
    let sizing = loop {
        match memory.sizing(spec, plan, threads, pairs) {
            // A join needs no larger budget than another job.
            Err(_) if pairs > join_table::PAIRS_BYTES_LEAST => pairs /= 2,
            sizing => break sizing?,
        }
    };
    let workspace = (pairs > 0).then(|| memory.budget.grant(pairs * sizing.workers as u64, "the lines of a join"));
    let workspace = workspace.transpose()?;
    let scratch_dirs = spec.scratch_dirs_or(&env.temp_dir);
    let scratch = workspace.as_ref().map(|_| {
        let (files, clock) = (env.files.clone(), env.clock.clone());
        ScratchSpace::with_rule(files, clock, scratch_dirs.clone(), plan.scratch_rule)
    });
    let for_records = memory.for_records();
    let JobMemory { budget, side_files, side_memory, transfers, table, missed, choice, started_ns, .. } = memory;
    let join_table = table.as_ref().map(|table| table.describe(limit - for_records, false)).or(missed);
    let space = match &scratch {
        Some(scratch) => Workspace {
            budget: budget.clone(),
            reserved_bytes: join_table::held_bytes(spec, pairs),
            scratch: scratch.clone(),
        },
        None => Workspace::default(),
    };
    let inputs = plan.files.iter().map(|f| f.path.to_string_lossy().into_owned()).collect();
    let parts = partitions::counted(spec, plan);
    let running = RunningJob {
        spec,
        plan,
        env,
        control,
        crew: Crew { threads: &*env.threads, workers: sizing.workers, cancel: control.cancelled() },
        budget,
        meter: Meter::new(sizing.workers, started_ns),
        memory: MemoryTrace::default(),
        elastic: Elastic::new(spec.memory_bytes.is_none()),
        partitions: PartitionMeter::new(parts),
        sizing,
        totals: OutputTotals::with_parts(parts),
        counters: Mutex::default(),
        map_output_lengths: Default::default(),
        worker_counters: (0..sizing.workers.max(1)).map(|_| Mutex::default()).collect(),
        job: JobContext::with_host(
            settings_of_writer(spec, plan, for_records / (4 * sizing.workers.max(1) as u64)),
            side_files,
            inputs,
            Host::of(env, control.cancelled()),
            BadRecords::of(&spec.settings)?,
            space,
        ),
        outputs: None,
        side_memory,
        _transfers: transfers,
        _workspace: workspace,
        scratch,
        join_table,
        join_choice: choice,
        scratch_dirs,
        spills_aside: false,
        bounds: None,
        spill: Mutex::default(),
        workload_stats: Mutex::default(),
        compressors: spec.compress.map(CompressorPool::new).transpose()?,
        journal: None,
        kept: Kept::default(),
    };
    if let Some(table) = table {
        table.build(&running)?;
    }
    Ok(running)
}

/// Memory of a job before its first record: what is loaded, and what is known of the rest.
struct JobMemory {
    budget: Arc<Budget>,
    side_files: BTreeMap<String, Vec<u8>>,
    side_memory: Grant,
    /// Memory of reading ahead from stores.
    transfers: Grant,
    /// Small side of a hash join, measured.
    table: Option<SmallSide>,
    /// Error for a small side that cannot be measured in the budget.
    too_large: Option<Error>,
    /// Table of a hash join that did not fit.
    missed: Option<JoinTableUse>,
    /// Way of a hash join, if there was a choice.
    choice: Option<JoinChoice>,
    started_ns: u64,
}

/// Returns the bytes of the job's budget.
fn budget_bytes(spec: &JobSpec, env: &Env) -> u64 {
    spec.memory_bytes.unwrap_or_else(|| super::machine::default_budget_bytes(&*env.system))
}

impl JobMemory {
    /// Loads the side files, checks the tables, and measures the small side of a hash join.
    fn take(spec: &JobSpec, plan: &Plan, threads: usize, env: &Env, control: &Control) -> Result<JobMemory> {
        let started_ns = env.clock.now_ns();
        let limit = budget_bytes(spec, env);
        let budget = Budget::new(limit);
        let (table, too_large) = match join_table::measure(spec, plan, env, control, (&budget, threads)) {
            Err(error) if error.code() == Code::Memory => (None, Some(error)),
            measured => (measured?, None),
        };
        let is_table = table.is_some() || too_large.is_some();
        let except = if is_table { join_table::not_loaded(spec) } else { None };
        tables::check(spec, |_| true)?;
        let loaded = spec.side_files.iter().filter(|path| except != Some(path));
        let (side_files, side_memory) = side_files::load(loaded, &*env.files, &budget)?;
        // Reading ahead from stores takes its memory before all other buffers.
        let transfers = budget.grant(env.files.transfer_bytes(limit), "reading from stores")?;
        let (missed, choice) = (None, None);
        Ok(JobMemory { budget, side_files, side_memory, transfers, table, too_large, missed, choice, started_ns })
    }

    /// Returns the bytes that side files and transfers leave.
    fn for_records(&self) -> u64 {
        self.budget.limit_bytes() - self.side_memory.bytes() - self.transfers.bytes()
    }

    /// Divides the memory. `pairs`: bytes that each worker reserves for the lines of a join.
    ///
    /// Errors: `Memory` if it is too little for one worker, or for the table.
    fn sizing(&self, spec: &JobSpec, plan: &Plan, threads: usize, pairs: u64) -> Result<Sizing> {
        let (splits, helpers) = (plan.splits.len(), plan.whole_compressed());
        let table = self.table.as_ref().map_or(0, SmallSide::table_bytes);
        let Some(memory) = self.for_records().checked_sub(table) else {
            return Err(self.budget.too_small(table, join::TABLE_PURPOSE));
        };
        Sizing::make(memory, threads, splits, helpers, spec.compress, plan.formats_bytes() + pairs)
    }

    /// Returns true if the table of a hash join fits beside the buffers of the workers.
    fn holds_table(&self, spec: &JobSpec, plan: &Plan, threads: usize) -> bool {
        let Some(table) = &self.table else { return self.too_large.is_none() };
        let limit = self.budget.limit_bytes();
        table.budget_bytes(limit - self.for_records()) <= limit && self.sizing(spec, plan, threads, 0).is_ok()
    }

    /// Returns the memory of the same job, which sorts what the table would have held.
    fn without_table(self, (spec, sorted): (&JobSpec, &JobSpec), env: &Env) -> Result<JobMemory> {
        let others = self.budget.limit_bytes() - self.for_records();
        let missed = match self.table {
            Some(table) => Some(table.describe(others, true)),
            None => join_table::describe_unmeasured(spec, env),
        };
        let JobMemory { budget, side_files, side_memory, transfers, choice, started_ns, .. } = self;
        drop((side_files, side_memory));
        let (side_files, side_memory) = side_files::load(&sorted.side_files, &*env.files, &budget)?;
        let (table, too_large) = (None, None);
        Ok(JobMemory { budget, side_files, side_memory, transfers, table, too_large, missed, choice, started_ns })
    }
}

/// Returns the settings of a job; a class that writes its output finds types and columns of the records there, and the
/// memory that each instance may hold.
fn settings_of_writer(spec: &JobSpec, plan: &Plan, memory_bytes: u64) -> Settings {
    let mut settings = tables::with_places(spec);
    if plan.writer.is_some() {
        let (key, value) = plan.output_types;
        let Columns { key: key_columns, value: value_columns } = &spec.output_columns;
        settings.insert(WRITER_MEMORY.into(), memory_bytes.to_string());
        settings.insert(WRITER_TYPES.into(), format!("{} {}", key.name(), value.name()));
        for (name, columns) in [(WRITER_KEY_COLUMNS, key_columns), (WRITER_VALUE_COLUMNS, value_columns)] {
            settings.insert(name.into(), columns.join("\n"));
        }
    }
    settings
}

/// Settings for a writer: its memory in bytes; the names of both types; the names of columns, a line each.
const WRITER_MEMORY: &str = "yunti.writer.memory.bytes";
const WRITER_TYPES: &str = "yunti.writer.types";
const WRITER_KEY_COLUMNS: &str = "yunti.writer.key.columns";
const WRITER_VALUE_COLUMNS: &str = "yunti.writer.value.columns";

/// Returns the function that names the part files of a job, by their numbers.
fn part_names(spec: &JobSpec, plan: &Plan) -> impl Fn(usize) -> String {
    let kind = if spec.mode == Mode::None { "m-" } else { "r-" };
    let kind = if spec.settings.get(PLAIN_PARTS).is_some_and(|v| v == "true") { "" } else { kind };
    let own = plan.writer.as_ref().map_or("", |w| w.extension());
    let extension = format!("{own}{}", spec.compress.map_or("", |c| c.target.extension()));
    move |i| format!("part-{kind}{i:05}{extension}")
}

fn open_output(
    running: &RunningJob<'_>,
    pending: Option<&PendingOutput>,
    part_name: &dyn Fn(usize) -> String,
) -> Result<Output> {
    let plan = running.plan;
    match (&running.spec.output, pending) {
        (OutputTarget::Directory(_), Some(pending)) if running.spec.has_directories() => {
            let files = KeyDirectories::new(pending.directory(), part_name(0), running.spec.durable);
            Ok(Output::Directories(Box::new(files)))
        }
        (OutputTarget::Directory(_), Some(pending)) => {
            let parts = match running.spec.mode {
                // A table without rows is a file with its columns.
                Mode::None if plan.has_schema() && !running.spec.is_lazy() => plan.splits.len().max(1),
                Mode::None => plan.splits.len(),
                _ => plan.partitions as usize,
            };
            // Sorted records take about as many bytes as in the input.
            let identity = plan.reducer.is_none()
                && plan.folder.is_none()
                && plan.sources.iter().all(|source| source.mapper.is_none());
            let compressed = plan.files.iter().any(|f| f.codec.is_some() || f.is_stream);
            // The size of columns, or of what a class writes, is unknown.
            let compressed = compressed
                || running.compressors.is_some()
                || plan.writer.is_some()
                || plan.encoder.as_columns().is_some();
            let expected = if identity && parts == 1 && !compressed { plan.input_bytes } else { 0 };
            // The other half of the open files is for inputs, scratch and the rest of the process.
            let few = OpenFilePool::new(running.env.files.clone(), running.env.files.open_max() / 2);
            let open = |i: usize| {
                let name = part_name(i);
                match (&running.journal, running.kept.part_bytes(i as u32)) {
                    (None, _) => PartFile::new(pending.create_part(&name, &few)?, false, expected),
                    (Some(_), None) => PartFile::resumed(pending.create_part(&name, &few)?, 0, expected),
                    (Some(_), Some(bytes)) => PartFile::resumed(pending.open_part(&name, &few)?, bytes, 0),
                }
            };
            let parts = (0..parts).map(open).collect::<Result<Vec<_>>>()?;
            Ok(Output::Parts(parts))
        }
        (OutputTarget::Top(n), _) => Ok(Output::Top(Top::new(*n, plan.output_types.0, plan.output_types.1))),
        _ => {
            let file = NamedFile::new(running.env.files.stdout(), Path::new("standard output"), Code::Output);
            Ok(Output::Stream(PartFile::new(file, true, 0)?))
        }
    }
}

/// Closes the output. `lazy`: directory from which parts without a byte are removed.
fn close_output(
    output: Output,
    durable: bool,
    empty_file: &[u8],
    lazy: Option<&PendingOutput>,
) -> Result<(u64, Vec<TopRecord>)> {
    match output {
        Output::Parts(parts) => {
            let mut bytes = 0;
            for part in parts {
                let len = part.close(durable, if lazy.is_some() { b"" } else { empty_file })?;
                if let Some(pending) = lazy.filter(|_| len == 0) {
                    pending.remove_part(part.path())?;
                }
                bytes += len;
            }
            Ok((bytes, Vec::new()))
        }
        Output::Directories(files) => Ok((files.bytes(), Vec::new())),
        Output::Stream(file) => Ok((file.close(durable, empty_file)?, Vec::new())),
        Output::Top(top) => Ok((0, top.into_records())),
    }
}

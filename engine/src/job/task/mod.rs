//! One task of a job whose tasks a cluster runs: the phases of `execute`, cut at the cluster's shuffle.

mod counters;
mod hash_reduce;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use self::counters::{GroupCount, writable_bytes};
use self::hash_reduce::HashReduce;
use super::commit::OutputDirectory;
use super::control::{Control, ProgressStage};
use super::execute;
use super::phase::key_sample;
use super::phase::map_only;
use super::phase::map_phase;
use super::phase::map_setup::TASK_COUNTERS;
use super::phase::reduce::task::ReduceTask;
use super::phase::running_job::RunningJob;
use super::plan::complete::{Completion, complete as complete_job};
use super::plan::{Plan, inputs, units};
use super::report::meter::StageKind;
use super::spec::{InputFormat, JobSpec, Mode, OutputTarget, Partitioning};
use super::task_files::named_outputs::NamedOutputs;
use crate::bytes::{KeyOrder, Record};
use crate::codec::CodecKind;
use crate::collect::{CollectedRecords, Store};
use crate::env::{Env, NamedFile};
use crate::operator::context::BadRecords;
use crate::operator::reducer::fold_reduce::FoldInput;
use crate::operator::{Class, ClassSource, Type};
use crate::read::foreign;
use crate::read::split::{InputFile, Piece, RecordFormat, Split};
use crate::run::{Run, ScratchSpace};
use crate::write::output::Edge;
use crate::write::{Output, OutputWriter, PartFile};
use yunti_base::{Code, Error, Result};

/// Input of a map task: bytes [start, end) of one file, in whole records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSplit {
    pub path: PathBuf,
    pub start: u64,
    pub end: u64,
    /// Number among the job's map tasks.
    pub number: u32,
    /// Index of the source that the file belongs to; 0 for a job of one source.
    pub source: usize,
    /// Number of the cluster's attempt, from 0.
    pub attempt: u32,
}

/// Output of a map task: records in memory or runs, never both.
pub struct MapTaskOutput {
    pub store: Arc<Store>,
    pub collected: CollectedRecords,
    pub runs: Vec<Arc<Run>>,
    pub scratch: Arc<ScratchSpace>,
    pub partitions: u32,
    pub counters: Counters,
}

/// Counters of a task: group, name, value.
pub type Counters = Vec<(String, String, u64)>;

/// Counter group: time of the task's stages in milliseconds, by their names in capitals.
pub const STAGE_TIMES: &str = "Yunti time, ms";

/// Group and name of the counter of stored bytes of a map task's split.
pub const INPUT_BYTES: (&str, &str) = ("Yunti", "INPUT_BYTES");

/// Directory of a task's named outputs. `Env::files` maps it to a real directory, which the cluster commits with the
/// task.
pub const OUTPUTS: &str = "yunti:/outputs";

/// Directory of the bad records of map tasks, as `OUTPUTS`. Names are the numbers of the task and of its records.
pub const BAD_RECORDS: &str = "yunti:/bad-records";

/// Setting: cores of the container of a map task.
const CORES: &str = "mapreduce.map.cpu.vcores";

/// Adds the time of a stage that was measured outside the engine.
pub fn count_stage(counters: &mut Counters, stage: &str, ns: u64) {
    counters.push((STAGE_TIMES.into(), stage.into(), (ns + 500_000) / 1_000_000));
}

fn counters(running: &RunningJob<'_>) -> Counters {
    running.settle(None);
    let own = running.counters.lock().unwrap_or_else(|e| e.into_inner());
    let mut counters = own.iter().map(|((group, name), n)| (group.to_string(), name.to_string(), *n)).collect();
    for stage in running.meter.stages() {
        count_stage(&mut counters, &stage.name.to_uppercase(), (stage.busy_ms * 1e6) as u64);
    }
    counters
}

/// Replaces the bytes of map output by the bytes of its records in Hadoop.
fn with_writable_bytes(mut counters: Counters, running: &RunningJob<'_>) -> Counters {
    let value = |counters: &Counters, of: &str| {
        counters.iter().find(|(group, name, _)| group == TASK_COUNTERS && name == of).map_or(0, |counter| counter.2)
    };
    let records = value(&counters, "MAP_OUTPUT_RECORDS");
    let lengths = running.map_output_lengths.each_ref().map(|length| length.load(Ordering::Relaxed));
    let types = running.plan.emitted_types;
    for (group, name, bytes) in &mut counters {
        if group == TASK_COUNTERS && name == "MAP_OUTPUT_BYTES" {
            *bytes = writable_bytes(&running.spec.settings, types, records, *bytes, lengths);
        }
    }
    counters
}

/// Returns the order in which the job's normalised keys are merged.
pub fn merge_order(spec: &JobSpec, env: &Env, classes: &[Arc<dyn ClassSource>]) -> Result<KeyOrder> {
    Ok(plan_of_task(&for_task(spec, None), env, classes)?.order)
}

/// Checks that the parts of a job fit together. Errors are as from `Plan::make`.
pub fn check(spec: &JobSpec, env: &Env, classes: &[Arc<dyn ClassSource>]) -> Result<()> {
    merge_order(spec, env, classes).map(drop)
}

/// Returns the types of the keys and values that the job writes.
pub fn output_types(spec: &JobSpec, env: &Env, classes: &[Arc<dyn ClassSource>]) -> Result<(Type, Type)> {
    Ok(plan_of_task(&for_task(spec, None), env, classes)?.output_types)
}

/// How a cluster may cut the files of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Not at all.
    Whole,
    /// Uncompressed files anywhere.
    Anywhere,
    /// Uncompressed files and those of `has_blocks` anywhere.
    Blocks,
    /// Anywhere, whatever the names of the files are: the unit that begins in a split belongs to it.
    Units,
}

impl Cut {
    /// Returns the name in a cluster's settings.
    pub fn name(self) -> &'static str {
        match self {
            Cut::Whole => "false",
            Cut::Anywhere => "true",
            Cut::Blocks => "blocks",
            Cut::Units => "units",
        }
    }
}

/// Returns true if a task finds the first block in a stretch of such a file by itself.
pub fn has_blocks(codec: Option<CodecKind>) -> bool {
    codec == Some(CodecKind::Bzip2)
}

/// Returns for each source of the job how a cluster may cut its files.
pub fn cuts(spec: &JobSpec, env: &Env, classes: &[Arc<dyn ClassSource>]) -> Result<Vec<Cut>> {
    let plan = plan_of_task(&for_task(spec, None), env, classes)?;
    let of = |format: &RecordFormat| match format {
        RecordFormat::Source(_) => Cut::Units,
        format if format.splittable_by_blocks() => Cut::Blocks,
        format if format.splittable() => Cut::Anywhere,
        _ => Cut::Whole,
    };
    Ok(plan.sources.iter().map(|source| of(&source.format)).collect())
}

/// Returns the job as its tasks get it: completed by the first file of each source, before it is submitted. The files
/// of stores are near.
///
/// Errors: `Usage` for parts that do not fit together; those of the files and of the library for columns.
pub fn complete(spec: &JobSpec, with: Completion<'_>, env: &Env, firsts: Vec<(usize, String)>) -> Result<JobSpec> {
    // A cluster's job has a directory as its output; each task has a file of it.
    let directory = OutputTarget::Directory("yunti:/output".into());
    let mut whole = JobSpec { output: directory, ..spec.without_inputs() };
    for (source, path) in firsts {
        inputs_of(&mut whole, source).push(path);
    }
    complete_job(&mut whole, with, env)?;
    Ok(JobSpec { output: spec.output.clone(), ..whole.without_inputs() })
}

/// Files whose format is checked before a job is submitted.
const FILES_CHECKED_MAX: usize = 100;

/// Checks the input before a job is submitted. Returns the bounds of a total order over the job's partitions, from a
/// sample of the whole input; None for a job without such an order. Every map task gets these bounds.
///
/// `paths`: files, each with the number of its source. Unsupported formats are refused here, because a cluster counts
/// the reads of its tasks.
pub fn bounds(
    spec: &JobSpec,
    env: &Env,
    classes: &[Arc<dyn ClassSource>],
    control: &Control,
    paths: Vec<(usize, String)>,
) -> Result<Option<Vec<Vec<u8>>>> {
    let sources = spec.sources();
    let any_bytes = |format: &InputFormat| matches!(format, InputFormat::Framed | InputFormat::Class(_));
    let checked = paths.iter().filter(|(source, _)| sources.get(*source).is_some_and(|s| !any_bytes(&s.input_format)));
    let some: Vec<String> = checked.take(FILES_CHECKED_MAX).map(|(_, path)| path.clone()).collect();
    foreign::refuse(&*env.files, &inputs::find(&*env.files, &some)?)?;
    if spec.partitioning != Partitioning::TotalOrder || spec.reduces <= 1 {
        return Ok(None);
    }
    // Each stream of framed records is one split, so every stream is sampled.
    let framed = spec.sources.is_empty() && spec.input_format == InputFormat::Framed;
    let split_bytes = if framed { 1 } else { spec.split_bytes };
    let mut spec = JobSpec { split_bytes, ..for_task(spec, None) };
    for (source, path) in paths {
        inputs_of(&mut spec, source).push(path);
    }
    let plan = Plan::make(&spec, env, classes)?;
    let running = execute::start(&spec, &plan, 1, env, control)?;
    Ok(Some(key_sample::collect(&running, 0)?.bounds.to_vec()))
}

/// Returns the job as its tasks run it.
fn for_task(spec: &JobSpec, split: Option<&TaskSplit>) -> JobSpec {
    let mut task = spec.without_inputs();
    if let Some(split) = split {
        inputs_of(&mut task, split.source).push(split.path.to_string_lossy().into_owned());
    }
    task
}

/// Makes the plan of a task. Errors are as from `Plan::make`.
fn plan_of_task(spec: &JobSpec, env: &Env, classes: &[Arc<dyn ClassSource>]) -> Result<Plan> {
    let mut plan = Plan::make(spec, env, classes)?;
    if groups_alone(spec, &plan) {
        // States are grouped as other records are: by what compares fastest.
        plan.order = KeyOrder::NONE;
    }
    plan.keeps_tables = false;
    Ok(plan)
}

/// Returns true if the job asks for groups in no order.
fn groups_alone(spec: &JobSpec, plan: &Plan) -> bool {
    spec.mode == Mode::Grouped
        && plan.key_order_class.is_none()
        && !spec.deterministic
        && spec.partitioning != Partitioning::TotalOrder
}

/// Returns the folder whose states a reduce merges by hash, if the job has one.
fn folder_by_hash<'p>(spec: &JobSpec, running: &'p RunningJob<'_>) -> Result<Option<&'p Arc<dyn Class>>> {
    let plan = running.plan;
    let reduces = plan.reducer.as_ref().is_some_and(|class| !class.info().is_identity);
    if reduces || !groups_alone(spec, plan) || map_phase::fold_input(running)? != FoldInput::States {
        return Ok(None);
    }
    Ok(plan.folder.as_ref())
}

/// Returns true if the reduces of the job take the records of each map apart, in no order of all.
pub fn takes_maps_apart(spec: &JobSpec, env: &Env, classes: &[Arc<dyn ClassSource>]) -> Result<bool> {
    let spec = for_task(spec, None);
    let plan = plan_of_task(&spec, env, classes)?;
    let control = Control::new();
    let running = execute::start(&spec, &plan, 1, env, &control)?;
    Ok(folder_by_hash(&spec, &running)?.is_some())
}

/// Returns the inputs of a source; without several sources, the inputs of the job.
fn inputs_of(spec: &mut JobSpec, source: usize) -> &mut Vec<String> {
    match spec.sources.get_mut(source) {
        Some(source) => &mut source.inputs,
        None => &mut spec.inputs,
    }
}

/// Makes the plan of a task that maps one split. A source's file is searched for units in this range alone.
fn plan_of_split(spec: &JobSpec, env: &Env, classes: &[Arc<dyn ClassSource>], split: &TaskSplit) -> Result<Plan> {
    let plan = plan_of_task(&spec.without_inputs(), env, classes)?;
    let files = inputs::find(&*env.files, &[split.path.to_string_lossy().into_owned()])?;
    let Some(source) = plan.sources.get(split.source) else {
        let what = format!("the job has no source {}", split.source);
        return Err(Error::new(Code::Internal, what).at_path(split.path.to_string_lossy()));
    };
    let format = &source.format;
    if let RecordFormat::Source(scan) = format {
        let own = units::within(spec, source, scan, &files, (split.start, split.end), env)?;
        let (mut pieces, mut bytes) = (Vec::new(), 0);
        for unit in own {
            pieces.push(Piece { file: 0, start: unit.number, end: u64::MAX });
            bytes += unit.bytes;
        }
        return with_split(plan, spec, files, split, pieces, bytes);
    }
    let (codec, len) = files.first().map_or((None, 0), |file| (file.codec, file.len));
    let whole = match codec {
        // One split of all blocks needs no search for them.
        Some(_) => !format.splittable_by_blocks() || !has_blocks(codec) || (split.start == 0 && split.end >= len),
        None => !format.splittable(),
    };
    if whole && split.start > 0 {
        return Err(Error::new(Code::Internal, "a file that must be read whole was cut by the cluster")
            .at_path(split.path.to_string_lossy())
            .at_offset(split.start));
    }
    let (mut from, mut to) = (split.start, if whole { u64::MAX } else { split.end });
    if let RecordFormat::Fixed { record_bytes, .. } = *format {
        // The cluster cuts at any byte: a record belongs to the split in which it begins.
        from = from.next_multiple_of(u64::from(record_bytes));
        to = to.checked_next_multiple_of(u64::from(record_bytes)).unwrap_or(to);
    }
    let pieces = if from < to { vec![Piece { file: 0, start: from, end: to }] } else { Vec::new() };
    with_split(plan, spec, files, split, pieces, split.end - split.start)
}

/// Completes the plan of a map task by its split. `bytes`: stored bytes of the pieces.
fn with_split(
    mut plan: Plan,
    spec: &JobSpec,
    files: Vec<InputFile>,
    split: &TaskSplit,
    pieces: Vec<Piece>,
    bytes: u64,
) -> Result<Plan> {
    plan.files = Arc::new(files);
    plan.splits = vec![Split { number: split.number, source: split.source, pieces, bytes }];
    plan.input_bytes = bytes;
    // A program reads its input ahead, so its bad record cannot be found.
    let searches = plan.sources.iter().all(|source| !source.starts_processes());
    let leaves_out = BadRecords::of(&spec.settings)?.leaves_out();
    plan.map_attempts_max = attempts_in_place(plan.map_attempts_max, split.attempt, searches, leaves_out);
    Ok(plan)
}

/// Attempts with which a mapper finds the record that it fails at: the second failure begins the search.
const ATTEMPTS_OF_SEARCH: u32 = 3;

/// Returns the attempts of a map task within one attempt of the cluster, which tries failed tasks again by itself.
///
/// The search for a bad record needs failures in one process. So a job that leaves such records out has all attempts
/// in place, as on one machine; and the cluster's last attempt has what the search needs to name the record.
fn attempts_in_place(max: u32, attempt: u32, searches: bool, leaves_out: bool) -> u32 {
    match searches {
        true if leaves_out => max,
        true if attempt + 1 >= max => max.min(ATTEMPTS_OF_SEARCH),
        _ => 1,
    }
}

/// Writes the bad records of a map task, if it left any out. Errors: `UserCode` for more than the job may leave out.
fn keep_bad_records(running: &RunningJob<'_>, split: &TaskSplit) -> Result<()> {
    let Some(bytes) = execute::bad_records(running)? else { return Ok(()) };
    let name = format!("m-{:05}-{}", split.number, running.job.bad_records.number());
    NamedFile::create(&*running.env.files, &Path::new(BAD_RECORDS).join(name), Code::Output)?.write_all(&bytes, 0)
}

/// Sets up a task that begins: counts nothing, and creates named outputs when the first record is written.
fn start<'a>(
    spec: &'a JobSpec,
    plan: &'a Plan,
    threads: usize,
    env: &'a Env,
    control: &'a Control,
) -> Result<RunningJob<'a>> {
    let mut running = execute::start(spec, plan, threads, env, control)?;
    let place = OutputDirectory::new(env.files.clone(), OUTPUTS.into());
    running.outputs = Some(Arc::new(NamedOutputs::new(spec, place, running.budget.clone())));
    Ok(running)
}

/// Maps one split, then sorts and spills the output. `bounds`: bounds of a total order, as `bounds` returned them.
pub fn map(
    spec: &JobSpec,
    env: &Env,
    classes: &[Arc<dyn ClassSource>],
    control: &Control,
    split: &TaskSplit,
    bounds: Option<Vec<Vec<u8>>>,
) -> Result<MapTaskOutput> {
    let spec = for_task(spec, Some(split));
    let plan = plan_of_split(&spec, env, classes, split)?;
    let mut running = start(&spec, &plan, spec.threads.unwrap_or(1), env, control)?;
    running.bounds = bounds.map(Arc::new);
    running.spills_aside = spec.settings.get(CORES).and_then(|cores| cores.parse().ok()).unwrap_or(1) > 1;
    control.expect(plan.input_bytes);
    running.count(INPUT_BYTES.0, INPUT_BYTES.1, plan.input_bytes);
    let mapped = map_phase::run(&running)?;
    keep_bad_records(&running, split)?;
    Ok(MapTaskOutput {
        store: mapped.store,
        collected: mapped.collected,
        runs: mapped.runs.take(),
        scratch: mapped.scratch,
        partitions: plan.partitions,
        counters: with_writable_bytes(counters(&running), &running),
    })
}

/// Maps one split to `file`, written from start to end: a task of a job without a reduce.
pub fn map_to_file(
    spec: &JobSpec,
    env: &Env,
    classes: &[Arc<dyn ClassSource>],
    control: &Control,
    split: &TaskSplit,
    file: NamedFile,
) -> Result<Counters> {
    let spec = for_task(spec, Some(split));
    let plan = plan_of_split(&spec, env, classes, split)?;
    let running = start(&spec, &plan, 1, env, control)?;
    control.expect(plan.input_bytes);
    running.count(INPUT_BYTES.0, INPUT_BYTES.1, plan.input_bytes);
    let output = Output::Stream(PartFile::new(file, true, 0)?);
    running.write_edges(&output, Edge::Head)?;
    map_only::run(&running, &output)?;
    keep_bad_records(&running, split)?;
    running.write_edges(&output, Edge::Foot)?;
    running.count(TASK_COUNTERS, "MAP_OUTPUT_RECORDS", running.totals.records.load(Ordering::Relaxed));
    if let Output::Stream(file) = output {
        file.close(false, running.empty_file())?;
    }
    Ok(counters(&running))
}

/// Taker of a partition's records, one by one.
type Feed<'f> = dyn FnMut(Record<'_>) -> Result<()> + 'f;

/// Reduces the groups of sorted records. Returns the nanoseconds of merging and of writing.
fn reduce_groups(
    running: &RunningJob<'_>,
    partition: u32,
    records: impl FnOnce(&mut Feed<'_>) -> Result<u64>,
    writer: OutputWriter<'_>,
) -> Result<(u64, u64)> {
    let mut reduce = ReduceTask::new(running, partition, map_phase::fold_input(running)?, writer)?;
    let mut groups = reduce.passes_on().then(|| GroupCount::new(running.plan.key_order_class.is_some()));
    let merge_ns = records(&mut |record| {
        if let Some(groups) = &mut groups {
            groups.add(&record)?;
        }
        reduce.push(record)
    })?;
    if let Some(groups) = groups {
        running.count(TASK_COUNTERS, "REDUCE_INPUT_GROUPS", groups.count);
    }
    // The cluster tries a failed task again.
    reduce.end()?;
    Ok((merge_ns, reduce.finish(running, 0)?.write_ns))
}

/// Reduces one partition to `file`, written from start to end.
///
/// `records` passes the partition's records to its argument one by one, and returns the time of merging in nanoseconds.
/// They are sorted, or those of each map are (`takes_maps_apart`).
pub fn reduce(
    spec: &JobSpec,
    env: &Env,
    classes: &[Arc<dyn ClassSource>],
    control: &Control,
    partition: u32,
    records: impl FnOnce(&mut Feed<'_>) -> Result<u64>,
    file: NamedFile,
) -> Result<Counters> {
    let spec = for_task(spec, None);
    let plan = plan_of_task(&spec, env, classes)?;
    let running = start(&spec, &plan, 1, env, control)?;
    control.enter(ProgressStage::Reduce);
    let output = Output::Stream(PartFile::new(file, true, 0)?);
    running.write_edges(&output, Edge::Head)?;
    let writer = OutputWriter::new(running.writer_setup(&output, &|| false), 0, Some(0), Vec::new());
    let start = env.clock.now_ns();
    let (merge_ns, write_ns) = match folder_by_hash(&spec, &running)? {
        Some(class) => {
            let mut reduce = HashReduce::new(&running, class, partition)?;
            let merge_ns = records(&mut |record| reduce.push(&record))?;
            (merge_ns, reduce.finish(writer)?.write_ns)
        }
        None => reduce_groups(&running, partition, records, writer)?,
    };
    let reduce_ns = (env.clock.now_ns() - start).saturating_sub(merge_ns + write_ns);
    running.meter.add(0, StageKind::Merge, merge_ns, 0, 0);
    running.meter.add(0, StageKind::Reduce, reduce_ns, 0, 0);
    running.meter.add(0, StageKind::Write, write_ns, 0, 0);
    running.write_edges(&output, Edge::Foot)?;
    running.count(TASK_COUNTERS, "REDUCE_OUTPUT_RECORDS", running.totals.records.load(Ordering::Relaxed));
    if let Output::Stream(file) = output {
        file.close(false, running.empty_file())?;
    }
    Ok(counters(&running))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cluster_has_the_attempts_but_for_the_search() {
        for (max, attempt, searches, leaves_out, expect) in [
            (4, 0, true, false, 1),
            (4, 2, true, false, 1),
            (4, 3, true, false, 3),
            // Attempts that the cluster killed count in the number.
            (4, 7, true, false, 3),
            (1, 0, true, false, 1),
            (2, 1, true, false, 2),
            (4, 0, true, true, 4),
            (1, 0, true, true, 1),
            (4, 3, false, false, 1),
            (4, 0, false, true, 1),
        ] {
            let found = attempts_in_place(max, attempt, searches, leaves_out);
            assert_eq!(found, expect, "attempt {attempt} of {max}, {searches}, {leaves_out}");
        }
    }
}

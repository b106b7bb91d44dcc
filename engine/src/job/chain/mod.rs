//! A job, or a chain of jobs: the output of one job is held for the next, in memory or in scratch space.
//!
//! ```text
//!   input -> job -> held -> job -> held -> job -> output
//! ```
//!
//! A held output is framed records in parts, with a mark for cuts about every MiB. It is dropped after the next job has
//! read it.
//! A hash join of tables is a chain too: the small table becomes a held file of lines, the side file of the join.
//! Named outputs belong to the last job, whose directory is the output.

mod held;
mod small_table;

use std::sync::Arc;

use self::held::HeldFiles;
use super::commit::{Claim, ClaimOptions};
use super::control::{Control, ProgressStage};
use super::execute::{self, EarlierJobs, Outcome};
use super::machine;
use super::plan::{self, Plan};
use super::spec::{InputFormat, JobSpec, OutputFormat, OutputTarget};
use crate::env::{Env, Files, UninterruptedFiles};
use crate::operator::{ClassSource, Type};
use crate::run::ScratchSpace;
use yunti_base::{Code, Error, Result};

/// Divisor of the memory budget: held outputs may take a quarter.
const HELD_SHARE: u64 = 4;

/// Runs a job and the jobs after it to the end. On an error nothing of the output remains. Errors are as from
/// `execute::run`, with the number of the job in the chain.
pub fn run(spec: &JobSpec, env: &Env, classes: &[Arc<dyn ClassSource>], control: &Control) -> Result<Outcome> {
    if spec.then.is_empty() && !small_table::is_needed(spec) {
        return execute::run(spec, env, classes, control, &EarlierJobs::default(), None);
    }
    let budget = spec.memory_bytes.unwrap_or_else(|| machine::default_budget_bytes(&*env.system));
    let held_bytes = budget / HELD_SHARE;
    let whole = JobSpec { memory_bytes: Some(budget - held_bytes), ..spec.clone() };
    let jobs = stages(&whole, env, classes)?;
    let part = |number: usize| place_in_chain(&jobs, number);
    let files: Arc<dyn Files> = Arc::new(UninterruptedFiles(env.files.clone()));
    control.enter(ProgressStage::Start);
    // The last job writes the output. The chain claims it first, so that no work is lost to another job.
    let mut claim = match &spec.output {
        OutputTarget::Directory(output) => {
            let env = Env { files: files.clone(), ..env.clone() };
            Some(Arc::new(Claim::take(&env, control, output, &ClaimOptions::of(spec))?))
        }
        _ => None,
    };
    let directories = spec.scratch_dirs_or(&env.temp_dir);
    let rule = plan::scratch_rule(spec)?;
    let scratch = ScratchSpace::with_rule(files.clone(), env.clock.clone(), directories, rule);
    let held = Arc::new(HeldFiles::new(files, held_bytes, scratch));
    let env = Env { files: held.clone(), ..env.clone() };
    let mut before = EarlierJobs::default();
    for (number, job) in jobs.iter().enumerate() {
        let claim = if number + 1 == jobs.len() { claim.take() } else { None };
        let outcome = execute::run(job, &env, classes, control, &before, claim)
            .map_err(|e| for_whole_chain(e).within(&part(number)))?;
        if let [input] = &job.inputs[..]
            && number > 0
        {
            env.files
                .remove_dir_all(input.as_ref())
                .map_err(|e| Error::io(Code::Internal, "cannot remove a held output", &e))?;
        }
        if number + 1 == jobs.len() {
            return Ok(outcome);
        }
        let mut report = outcome.report;
        // These belong to the chain, not to this job.
        (report.job.output, report.before) = Default::default();
        before.reports.push(report);
        before.spilled_bytes = held.spilled_bytes();
    }
    Err(Error::new(Code::Internal, "a chain without a job"))
}

/// Returns the jobs of a chain, each as it runs alone. A job after the first reads framed records of the types that the
/// job before it writes; the caller chooses the paths between them.
///
/// Errors: as from `Plan::make` for the first job that does not fit together, with its number.
pub fn stages(spec: &JobSpec, env: &Env, classes: &[Arc<dyn ClassSource>]) -> Result<Vec<JobSpec>> {
    let mut jobs = jobs(spec);
    let types = check(&jobs, env, classes).map_err(|(number, e)| e.within(&place_in_chain(&jobs, number)))?;
    for (job, types) in jobs[1..].iter_mut().zip(types) {
        job.input_types = Some(types);
    }
    Ok(jobs)
}

fn place_in_chain(jobs: &[JobSpec], number: usize) -> String {
    format!("job {} of {} ({})", number + 1, jobs.len(), jobs[number].name)
}

/// Turns the memory need of one job into the need of the whole chain.
fn for_whole_chain(e: Error) -> Error {
    if e.code() != Code::Memory {
        return e;
    }
    let hint = e.hint_text().map_or_else(String::new, |hint| format!("{hint}, and "));
    Error::new(Code::Memory, e.what())
        .hint(format!("{hint}a third more: held outputs take a quarter of a chain's memory"))
}

/// Returns the jobs of a chain without their input types.
fn jobs(spec: &JobSpec) -> Vec<JobSpec> {
    let first = JobSpec { then: Vec::new(), ..spec.clone() };
    let mut jobs = small_table::divide(&first).map_or_else(|| vec![first], Vec::from);
    for work in &spec.then {
        let held = HeldFiles::path(&jobs.len().to_string());
        let Some(before) = jobs.last_mut() else { continue };
        before.output = OutputTarget::Directory(held.clone());
        before.output_format = OutputFormat::Framed;
        (before.output_columns, before.compress) = Default::default();
        (before.overwrite, before.durable, before.resume) = (false, false, false);
        // The user reads named outputs beside the parts; among held parts they would become records of the next job.
        let outputs = std::mem::take(&mut before.outputs);
        let mut settings = spec.settings.clone();
        settings.extend(work.settings.clone());
        jobs.push(JobSpec {
            name: work.name.clone(),
            inputs: vec![held.to_string_lossy().into_owned()],
            input_format: InputFormat::Framed,
            columns: Default::default(),
            sources: Vec::new(),
            mapper: work.mapper.clone(),
            combiner: work.combiner.clone(),
            reducer: work.reducer.clone(),
            folder: work.folder.clone(),
            partitioning: work.partitioning.clone(),
            mode: work.mode,
            reduces: work.reduces,
            key_type: work.key_type,
            descending: work.descending,
            key_order: work.key_order.clone(),
            deterministic: work.deterministic,
            split_bytes: work.split_bytes,
            settings,
            outputs,
            then: Vec::new(),
            ..spec.clone()
        });
    }
    jobs
}

/// Checks all jobs before the first begins. Returns the output types of each; an error with the job's index.
fn check(
    jobs: &[JobSpec],
    env: &Env,
    classes: &[Arc<dyn ClassSource>],
) -> std::result::Result<Vec<(Type, Type)>, (usize, Error)> {
    let mut types: Vec<(Type, Type)> = Vec::new();
    for (number, job) in jobs.iter().enumerate() {
        let checked = job.check().and_then(|()| {
            // Each job finds its own files when it runs.
            let spec = JobSpec { input_types: types.last().copied(), ..job.without_inputs() };
            Plan::make(&spec, env, classes)
        });
        types.push(checked.map_err(|e| (number, e))?.output_types);
    }
    Ok(types)
}

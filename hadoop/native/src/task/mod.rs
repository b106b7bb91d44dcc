//! Tasks that are native from reader to writer: one map or reduce task of a Yunti job on a cluster.

pub mod map_task;
pub mod reduce_task;
pub mod user_code;

#[cfg(test)]
mod task_test;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::format::file_formats::FileFormat;
use yunti_engine::job::spec::file::{parse_job_file, spec_to_toml};
use yunti_engine::job::{Completion, InputFormat, JobSpec, Mode, OutputFormat, needed, task, written_format};
use yunti_engine::operator::{ClassSource, Type};

use self::user_code::UserCode;

/// The job of a task.
pub struct TaskJob {
    /// Specification of the job.
    pub spec: JobSpec,
    /// Sources of its classes.
    pub classes: Vec<Arc<dyn ClassSource>>,
}

impl TaskJob {
    /// Parses the text of a job file and finds its classes, whose files the cluster placed beside the task.
    ///
    /// Fails with `Code::Usage` for a wrong job file, or as `UserCode::classes` does.
    pub fn new(text: &str, memory_bytes: u64, scratch: Vec<PathBuf>, facts: &TaskFacts, env: &mut Env) -> Result<Self> {
        let scratch_dirs = scratch.into_iter().map(Into::into).collect();
        let mut spec = JobSpec { threads: Some(1), scratch_dirs, ..spec_of(text, memory_bytes)? };
        for (key, value) in &facts.settings {
            spec.settings.entry(key.clone()).or_insert_with(|| value.clone());
        }
        // The node has one copy, and a link to it in the directory of each task.
        for path in spec.table_files_mut() {
            let link = facts.directory.join(&*path);
            *path = link.canonicalize().unwrap_or(link);
        }
        // Java's temporary directory in the container: the node removes it.
        let temp = facts.directory.join("tmp");
        if temp.is_dir() {
            env.temp_dir = temp;
        }
        Ok(TaskJob { classes: facts.code.classes(&spec, &facts.directory, env)?, spec })
    }

    /// Parses a job file where the job is submitted; libraries, side files and tables are the files of `local` with the
    /// same names. Fails as `new` does.
    pub fn submitted(
        text: &str,
        memory_bytes: u64,
        local: Vec<PathBuf>,
        facts: &TaskFacts,
        env: &mut Env,
    ) -> Result<Self> {
        let mut spec = spec_of(text, memory_bytes)?;
        for path in spec.libraries.iter_mut().chain(&mut spec.side_files) {
            if let Some(here) = local.iter().find(|l| l.file_name() == path.file_name()) {
                path.clone_from(here);
                // Side files may take half of the memory.
                let bytes = here.metadata().map_or(0, |meta| meta.len());
                spec.memory_bytes = spec.memory_bytes.map(|memory| memory + 2 * bytes);
            }
        }
        for path in spec.table_files_mut() {
            if let Some(here) = local.iter().find(|l| l.file_name() == path.file_name()) {
                path.clone_from(here);
            }
        }
        Ok(TaskJob { classes: facts.code.classes(&spec, &facts.directory, env)?, spec })
    }
}

/// Facts of a task beyond its job.
#[derive(Default)]
pub struct TaskFacts {
    /// User code of the job.
    pub code: UserCode,
    /// Number of the cluster's attempt, from 0.
    pub attempt: u32,
    /// Hadoop's settings and identifiers of the task, for programs and classes.
    pub settings: Vec<(String, String)>,
    /// Working directory, an absolute path.
    pub directory: PathBuf,
}

impl TaskFacts {
    /// Takes what Java gives: user code, number of the attempt, working directory, then keys and values in turn.
    ///
    /// Fails with `Code::Usage` for wrong user code.
    pub fn of(given: Vec<String>) -> Result<TaskFacts> {
        let mut given = given.into_iter();
        let mut next = || given.next().unwrap_or_default();
        let (code, attempt, directory) = (next(), next(), next());
        let rest: Vec<String> = given.collect();
        let settings = rest.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        Ok(TaskFacts {
            code: UserCode::parse(&code)?,
            attempt: attempt.parse().unwrap_or(0),
            settings,
            directory: directory.into(),
        })
    }
}

/// Setting of a later job in a chain: the types of the records that it reads, such as `bytes i64`.
const INPUT_TYPES: &str = "yunti.hadoop.input.types";

fn spec_of(text: &str, memory_bytes: u64) -> Result<JobSpec> {
    let mut spec = JobSpec::default();
    parse_job_file(text, Path::new("the job"))?.change.apply(&mut spec)?;
    spec.memory_bytes = Some(memory_bytes);
    if let Some(types) = spec.settings.get(INPUT_TYPES) {
        let wrong = || Error::new(Code::Usage, format!("{INPUT_TYPES}: '{types}' does not name two types"));
        let (key, value) = types.split_once(' ').ok_or_else(wrong)?;
        spec.input_types = Some((Type::parse(key)?, Type::parse(value)?));
    }
    Ok(spec)
}

/// Returns the text of a job with framed records as its input, its output, or both.
pub fn framed(text: &str, input: bool, output: bool) -> Result<String> {
    let mut spec = JobSpec::default();
    parse_job_file(text, Path::new("the job"))?.change.apply(&mut spec)?;
    if input {
        spec.input_format = InputFormat::Framed;
    }
    if output {
        spec.output_format = OutputFormat::Framed;
        // Compression is up to Java's writer.
        spec.compress = None;
    }
    spec_to_toml(&spec)
}

/// Returns the extension of a job's output files, if it does not depend on a class of the user.
pub fn extension(text: &str) -> Result<String> {
    let spec = spec_of(text, 0)?;
    let own = written_format(&spec.output_format).and_then(|format| format.extensions.first());
    let own = own.map_or_else(String::new, |name| format!(".{name}"));
    Ok(own + spec.compress.map_or("", |c| c.target.extension()))
}

/// Returns true if the job reads or writes files of columns.
pub fn needs_formats(text: &str) -> Result<bool> {
    Ok(needed(&spec_of(text, 0)?).is_some())
}

/// Returns the text of a job that is completed by the first file of each source, and the number of its reduces.
///
/// `recognises`: formats that the user left open are recognised. Fails as `task::complete` does.
pub fn completed(
    text: &str,
    facts: &TaskFacts,
    env: &Env,
    firsts: Vec<(usize, String)>,
    recognises: bool,
) -> Result<(String, u32)> {
    let load = |format: &FileFormat| facts.code.formats(format, &facts.directory);
    let with = Completion { recognises, keeps_format: false, stores_are_near: true, load: &load };
    let mut spec = JobSpec::default();
    parse_job_file(text, Path::new("the job"))?.change.apply(&mut spec)?;
    let spec = task::complete(&spec, with, env, firsts)?;
    Ok((spec_to_toml(&spec)?, if spec.mode == Mode::None { 0 } else { spec.reduces }))
}

/// Returns bounds as text for a job's configuration: hexadecimal, separated by commas.
pub fn bounds_to_text(bounds: &[Vec<u8>]) -> String {
    let hex = |bound: &Vec<u8>| bound.iter().map(|b| format!("{b:02x}")).collect::<String>();
    bounds.iter().map(hex).collect::<Vec<_>>().join(",")
}

/// Parses the text of `bounds_to_text`. Fails with `Code::Usage` for any other text.
pub fn bounds_of_text(text: &str) -> Result<Vec<Vec<u8>>> {
    let wrong = || Error::new(Code::Usage, "the job's bounds of partitions are not hexadecimal");
    if text.is_empty() {
        return Ok(Vec::new());
    }
    text.split(',')
        .map(|hex| {
            if hex.len() % 2 != 0 || !hex.is_ascii() {
                return Err(wrong());
            }
            (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).map_err(|_| wrong())).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framed_output_is_not_compressed() {
        let text = "format = \"yunti-job/1\"\ncompress = \"gzip\"\n";
        assert_eq!(extension(text).unwrap(), ".gz");
        assert_eq!(extension(&framed(text, true, false).unwrap()).unwrap(), ".gz");
        assert_eq!(extension(&framed(text, false, true).unwrap()).unwrap(), "");
    }

    #[test]
    fn files_of_columns_have_their_extension_and_need_the_library() {
        for (line, name, needs) in [
            ("output-format = \"parquet\"", ".parquet", true),
            ("output-format = \"arrow-stream\"", ".arrows", true),
            ("input-format = \"sequence\"", "", true),
            ("input-format = \"class:Mine.Reader\"", "", false),
        ] {
            let text = format!("format = \"yunti-job/1\"\n{line}\n");
            assert_eq!((extension(&text).unwrap(), needs_formats(&text).unwrap()), (name.into(), needs), "{line}");
        }
    }

    #[test]
    fn a_chained_job_knows_the_types_of_its_input() {
        let of = |types: &str| {
            let text = format!("format = \"yunti-job/1\"\n[settings]\n\"{INPUT_TYPES}\" = \"{types}\"\n");
            spec_of(&text, 1 << 20).map(|spec| spec.input_types)
        };
        assert_eq!(of("bytes i64").unwrap(), Some((Type::Bytes, Type::I64)));
        assert_eq!(of("u32 none").unwrap(), Some((Type::U32, Type::None)));
        assert_eq!(spec_of("format = \"yunti-job/1\"\n", 1).unwrap().input_types, None);
        for wrong in ["", "bytes", "bytes i64 i64", "i65 bytes"] {
            assert_eq!(of(wrong).unwrap_err().code(), Code::Usage, "{wrong}");
        }
    }

    #[test]
    fn tables_are_the_nodes_copy() {
        let root = std::env::temp_dir().join(format!("yunti-task-tables-{}", std::process::id()));
        let (cache, own) = (root.join("cache"), root.join("container"));
        std::fs::create_dir_all(&cache).unwrap();
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(cache.join("users.ytab"), b"").unwrap();
        std::os::unix::fs::symlink(cache.join("users.ytab"), own.join("users.ytab")).unwrap();
        let text = "format = \"yunti-job/1\"\n[tables]\nusers = \"./users.ytab\"\nother = \"./none.ytab\"\n";
        let facts = TaskFacts { directory: own.clone(), ..TaskFacts::default() };
        let job = TaskJob::new(text, 1 << 20, Vec::new(), &facts, &mut Env::real()).unwrap();
        let place = |job: &TaskJob, name: &str| job.spec.tables[name].file().map(PathBuf::from);
        assert_eq!(place(&job, "users"), Some(cache.canonicalize().unwrap().join("users.ytab")));
        assert_eq!(place(&job, "other"), Some(own.join("./none.ytab")));
        let local = vec![PathBuf::from("/here/users.ytab")];
        let job = TaskJob::submitted(text, 1 << 20, local, &facts, &mut Env::real()).unwrap();
        assert_eq!(place(&job, "users"), Some("/here/users.ytab".into()));
        assert_eq!(job.spec.memory_bytes, Some(1 << 20));
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn bounds_survive_as_text() {
        for bounds in [vec![], vec![vec![0, 255, 16]], vec![vec![1], vec![2, 3], vec![b',']]] {
            assert_eq!(bounds_of_text(&bounds_to_text(&bounds)).unwrap(), bounds);
        }
        for wrong in ["0", "zz", "00,1", "é"] {
            assert!(bounds_of_text(wrong).is_err(), "{wrong}");
        }
    }
}

//! A stage as a job of the engine: its job file, and the command of Hadoop's client.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use yunti_base::{Code, Error, Result};
use yunti_engine::format::columns::Columns;
use yunti_engine::job::spec::SourceSpec;
use yunti_engine::job::spec::file::spec_to_toml;
use yunti_engine::job::{InputFormat, JobSpec, Mode, OutputFormat, OutputTarget, Partitioning};

use crate::cut::{Drive, Job};

/// Settings that the tasks' library reads (`task/src/lib.rs`).
const STAGE: &str = "yunti.sql.stage";
const MEMORY: &str = "yunti.sql.memory";
/// Name of the library for files of columns in a task's directory.
const FORMATS: &str = "libyunti_formats.so";

/// Setting with the numbers of the sources whose files are not split.
const WHOLE: &str = "yunti.hadoop.whole.sources";

/// MiB of a task beside the query's memory: the JVM's heap, the sort buffer, code and threads.
const HEAP_MB: u64 = 256;
const SORT_MB: u64 = 64;
const OTHER_MB: u64 = 256;

/// Files that jobs ship.
#[derive(Clone, Debug)]
pub struct Libraries {
    /// `libyunti_sql.so`.
    pub query: PathBuf,
    /// `libyunti_formats.so`.
    pub formats: PathBuf,
}

/// A job with all that its command names.
pub struct Request<'r> {
    pub job: &'r Job,
    pub name: String,
    /// Inputs of each fragment.
    pub inputs: Vec<Vec<String>>,
    pub output: PathBuf,
    pub libraries: &'r Libraries,
    /// Settings of Hadoop.
    pub settings: &'r [(String, String)],
    /// Memory of the query in each task.
    pub memory_bytes: u64,
}

/// A file of this machine that is removed on drop.
pub struct TempFile(pub PathBuf);

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Creates a file of the user's own in the system's temporary directory.
pub fn temp_file(name: &str, bytes: &[u8]) -> Result<TempFile> {
    let path = std::env::temp_dir().join(name);
    let cannot = |e: std::io::Error| {
        Error::io(Code::Output, "cannot write a temporary file", &e).at_path(path.to_string_lossy())
    };
    // The name can be guessed: create_new refuses a file or link that another user put there.
    let mut file = File::options().write(true).create_new(true).open(&path).map_err(cannot)?;
    let temp = TempFile(path.clone());
    file.write_all(bytes).map_err(cannot)?;
    Ok(temp)
}

impl Request<'_> {
    /// Returns the job file. `stage`: name of the file with the stage.
    pub fn job_file(&self, stage: &str) -> Result<String> {
        let own = |path: &Path| Path::new(".").join(path.file_name().unwrap_or_default());
        let source = |(number, drive): (usize, &Drive)| SourceSpec {
            inputs: Vec::new(),
            input_format: match drive {
                Drive::Files(_) | Drive::Once => InputFormat::Class("Sql.Source".into()),
                Drive::Stage(_) => InputFormat::Framed,
            },
            columns: match drive {
                Drive::Files(_) | Drive::Once => Columns { key: vec![number.to_string()], ..Columns::default() },
                Drive::Stage(_) => Columns::default(),
            },
            mapper: Some("Sql.Map".into()),
        };
        let is_reduced = self.job.stage.reduction.is_some();
        let mut spec = JobSpec {
            name: self.name.clone(),
            sources: self.job.drives.iter().enumerate().map(source).collect(),
            output: OutputTarget::Stdout,
            output_format: OutputFormat::Framed,
            libraries: vec![own(&self.libraries.query)],
            reducer: is_reduced.then(|| "Sql.Reduce".into()),
            partitioning: match is_reduced {
                true => Partitioning::Class("Sql.Partitioner".into()),
                false => Partitioning::Hash,
            },
            mode: if is_reduced { Mode::Sorted } else { Mode::None },
            reduces: self.job.reduces.max(1),
            ..JobSpec::default()
        };
        spec.settings.insert(STAGE.into(), stage.into());
        spec.settings.insert(MEMORY.into(), self.memory_bytes.to_string());
        spec_to_toml(&spec)
    }

    /// Returns the command of Hadoop's client. `job` and `stage` are files of this machine; `facts` and `failure` are
    /// written by the client.
    pub fn command(&self, program: &Path, [job, stage, facts, failure]: [&Path; 4]) -> Command {
        let mut command = Command::new(program);
        command.arg("run-job");
        let container = self.memory_bytes.div_ceil(1 << 20) + HEAP_MB + SORT_MB + OTHER_MB;
        let own = [
            ("mapreduce.map.memory.mb", container.to_string()),
            ("mapreduce.reduce.memory.mb", container.to_string()),
            ("mapreduce.map.java.opts", format!("-Xmx{HEAP_MB}m")),
            ("mapreduce.reduce.java.opts", format!("-Xmx{HEAP_MB}m")),
            ("mapreduce.task.io.sort.mb", SORT_MB.to_string()),
            // The client completes nothing else in a query, and waits for each job.
            ("mapreduce.client.completion.pollinterval", "200".into()),
            ("mapreduce.client.progressmonitor.pollinterval", "200".into()),
        ];
        // Once is once: Hadoop must not split the file that stands for the rows.
        let is_once = |(number, drive): (usize, &Drive)| matches!(drive, Drive::Once).then(|| number.to_string());
        let whole: Vec<String> = self.job.drives.iter().enumerate().filter_map(is_once).collect();
        command.arg(format!("-D{WHOLE}={}", whole.join(",")));
        let is_set = |name: &str| self.settings.iter().any(|(own, _)| own == name);
        let own = own.into_iter().filter(|(name, _)| !is_set(name)).map(|(name, value)| (name.to_string(), value));
        command.args(own.chain(self.settings.iter().cloned()).map(|(name, value)| format!("-D{name}={value}")));
        let reduces = self.job.reduces.to_string();
        command.arg("--job").arg(job).args(["--name", &self.name, "--reduces", &reduces]);
        for inputs in &self.inputs {
            for input in inputs {
                command.args(["--input", input]);
            }
            command.args(["--source", &inputs.len().to_string()]);
        }
        command.arg("--output").arg(&self.output);
        command.arg("--lib").arg(&self.libraries.query);
        let ship = |path: &Path, name: &str| format!("{}#{name}", path.to_string_lossy());
        command.arg("--ship").arg(ship(&self.libraries.formats, FORMATS));
        let name = stage.file_name().unwrap_or_default().to_string_lossy();
        command.arg("--ship").arg(ship(stage, &name));
        for (path, name) in &self.job.shipped {
            command.arg("--ship").arg(ship(path, name));
        }
        command.arg("--code").arg("").arg("--facts").arg(facts).arg("--failure").arg(failure);
        command
    }
}

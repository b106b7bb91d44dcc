//! `yunti run .. --on yarn`: submits the job to the cluster of the `hadoop` in PATH, as a job file that its tasks read.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use yunti_base::{Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::env::real::RealFiles;
use yunti_engine::job::report::Report;
use yunti_engine::job::spec::file::spec_to_toml;
use yunti_engine::job::spec::{JobSpec, Mode, OutputTarget, SPLIT_BYTES_DEFAULT};
use yunti_engine::job::task;
use yunti_engine::job::{self, Control, InputFormat};
use yunti_engine::library::tables::{Address, TABLE, TablePlace};
use yunti_engine::operator::ClassSource;
use yunti_program::part::Part;

use super::flags::RunFlags;
use super::shipment::Shipment;
use crate::command::columns::library;
use crate::command::report;
use crate::failure::{Failure, Outcome};

/// Setting with the key and value types of the input, for tasks of a later job in a chain.
const INPUT_TYPES: &str = "yunti.hadoop.input.types";

/// Setting with the user code of the tasks.
const USER_CODE: &str = "yunti.hadoop.code";

/// Setting that names a reader of Java.
const JAVA_READER: &str = "yunti.hadoop.input.format";

/// Interval at which the client is checked for its end.
const WAIT: Duration = Duration::from_millis(20);

/// Temporary file that is removed on drop.
struct TempFile(PathBuf);

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Parts of a job that Hadoop's client completes by the first files, which it alone can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Nothing: the job is complete.
    Done,
    /// The columns of a job whose format is named.
    Columns,
    /// The formats too.
    Formats,
}

/// Returns what the client completes. A chain, whose jobs depend on each other's types, and a join of tables are
/// completed here: their formats are named, and this machine reads their columns.
///
/// Errors: `Usage` for parts that do not fit together, unless the client finds out.
pub fn completion(flags: &RunFlags, spec: &mut JobSpec, env: &Env) -> Result<Completion> {
    if !spec.then.is_empty() || job::joins_tables(spec) {
        let with =
            job::Completion { recognises: false, keeps_format: false, stores_are_near: false, load: &library::load };
        job::complete(spec, with, env).map_err(|e| e.within("this job is completed on this machine"))?;
        job::refuse_on_cluster(spec)?;
        return Ok(Completion::Done);
    }
    let is_text = |format: &InputFormat| matches!(format, InputFormat::Text { .. });
    let has_text = spec.sources().iter().any(|source| is_text(&source.input_format));
    if flags.input_format.is_none() && has_text && !spec.settings.contains_key(JAVA_READER) {
        return Ok(Completion::Formats);
    }
    if job::is_open(spec) {
        return Ok(Completion::Columns);
    }
    spec.check()?;
    Ok(Completion::Done)
}

pub fn run(
    spec: &JobSpec,
    env: &Env,
    classes: &[Arc<dyn ClassSource>],
    shipment: &Shipment,
    completion: Completion,
    control: &Control,
) -> Outcome<Report> {
    let formats = library::find();
    let output = check(spec, formats.as_deref())?;
    // Mismatches are reported here, before a task fails four times.
    let jobs = if spec.then.is_empty() {
        if completion == Completion::Done {
            task::check(spec, env, classes)?;
        }
        vec![spec.clone()]
    } else {
        job::stages(spec, env, classes)?
    };
    let program = Part::named("hadoop").expect("hadoop is a part").installed()?;
    let files: Vec<TempFile> = jobs.iter().enumerate().map(|(n, job)| write_job(job, n)).collect::<Result<_>>()?;
    let mut command = Command::new(program);
    command.arg("run-job");
    // Hadoop applies its own settings; classes find the others in the job.
    command.args(spec.settings.iter().map(|(key, value)| format!("-D{key}={value}")));
    // Readers and writers of Java find the tables as native classes do.
    command.args(spec.tables.iter().map(|(name, place)| format!("-D{TABLE}{name}={}", place_of_tasks(place))));
    if !shipment.code_there.is_empty() {
        command.arg(format!("-D{USER_CODE}={}", shipment.code_there));
    }
    for (number, (job, file)) in jobs.iter().zip(&files).enumerate() {
        add_job(&mut command, spec, job, file);
        if number == 0 {
            add_inputs(&mut command, spec);
        }
    }
    command.arg("--output").arg(output);
    for library in &spec.libraries {
        command.arg("--lib").arg(library);
    }
    for file in files_of_tasks(spec) {
        command.arg("--file").arg(file);
    }
    for file in shipment.files() {
        command.arg("--ship").arg(file);
    }
    for archive in shipment.archives() {
        command.arg("--archive").arg(archive);
    }
    command.arg("--code").arg(&shipment.code_here);
    if let Some(library) = formats {
        command.arg("--formats").arg(library);
    }
    match completion {
        Completion::Done => {}
        Completion::Columns => drop(command.args(["--complete", "columns"])),
        Completion::Formats => drop(command.args(["--complete", "formats"])),
    }
    if spec.overwrite {
        command.arg("--overwrite");
    }
    if !spec.outputs.is_empty() {
        command.arg("--named-outputs");
    }
    let facts = private_file(&format!("yunti-facts-{}.json", std::process::id()), "")?;
    command.arg("--facts").arg(&facts.0);
    let failure = private_file(&format!("yunti-failure-{}.txt", std::process::id()), "")?;
    command.arg("--failure").arg(&failure.0);
    if let Ok(own) = std::env::current_exe() {
        command.arg("--report-by").arg(own);
    }
    let ended = command.spawn().and_then(|client| wait(client, control));
    let status = ended.map_err(|e| Error::io(Code::Usage, "cannot execute the part hadoop", &e))?;
    match status.code() {
        _ if control.is_cancelled() => Err(Failure::Reported(Code::Cancelled)),
        // The job is done; if there is no report, Hadoop's client printed why.
        Some(0) if facts.0.metadata().is_ok_and(|m| m.len() > 0) => Ok(report::read(&facts.0, &RealFiles)?.0),
        Some(0) => Err(Failure::Reported(Code::Output)),
        Some(code) if code == Code::UserCode as i32 => match failure_in(&failure.0) {
            Some(error) => Err(Failure::Error(error)),
            None => Err(Failure::Reported(Code::UserCode)),
        },
        // Hadoop's client printed the error.
        Some(code) => Err(Failure::Reported(code_of(code))),
        None => Err(Failure::Reported(Code::Cancelled)),
    }
}

/// Returns the failure of user code that the client found in a task; None if it printed the error itself.
fn failure_in(file: &Path) -> Option<Error> {
    let text = std::fs::read_to_string(file).ok().filter(|text| !text.is_empty())?;
    let (line, detail) = text.split_once('\n').unwrap_or((&text, ""));
    let error = Error::new(Code::UserCode, line);
    Some(if detail.is_empty() { error } else { error.detail(detail) })
}

/// Adds a job to the command line, with the settings that differ from the settings of the whole chain.
fn add_job(command: &mut Command, whole: &JobSpec, job: &JobSpec, file: &TempFile) {
    let reduces = if job.mode == Mode::None { 0 } else { job.reduces };
    command.arg("--job").arg(&file.0).args(["--name", &job.name, "--reduces", &reduces.to_string()]);
    for (key, value) in job.settings.iter().filter(|(key, value)| whole.settings.get(*key) != Some(value)) {
        command.arg("--set").arg(format!("{key}={value}"));
    }
    if job.split_bytes != SPLIT_BYTES_DEFAULT {
        command.arg("--set").arg(format!("mapreduce.input.fileinputformat.split.maxsize={}", job.split_bytes));
    }
}

/// Adds the inputs to the command line, and the number of inputs of each source.
fn add_inputs(command: &mut Command, spec: &JobSpec) {
    for source in &spec.sources() {
        for input in &source.inputs {
            command.args(["--input", input]);
        }
        if !spec.sources.is_empty() {
            command.args(["--source", &source.inputs.len().to_string()]);
        }
    }
}

/// Waits for Hadoop's client. If the job is cancelled, sends SIGTERM to the client, which kills the job on the cluster.
fn wait(mut client: Child, control: &Control) -> std::io::Result<ExitStatus> {
    let mut is_signalled = false;
    loop {
        if let Some(status) = client.try_wait()? {
            return Ok(status);
        }
        if control.is_cancelled() && !is_signalled {
            is_signalled = true;
            // Only ctrl-C reaches the client by itself. Sending fails only if the client has ended.
            let _ = kill_process(Pid::from_child(&client), Signal::TERM);
        }
        std::thread::sleep(WAIT);
    }
}

fn code_of(code: i32) -> Code {
    [Code::Usage, Code::Input, Code::Exists, Code::Cancelled]
        .into_iter()
        .find(|c| *c as i32 == code)
        .unwrap_or(Code::Internal)
}

/// Returns the output directory, or an error if a cluster cannot run the job.
fn check<'s>(spec: &'s JobSpec, formats: Option<&Path>) -> Result<&'s Path> {
    let usage = |what: &str, hint: &str| Err(Error::new(Code::Usage, what).hint(hint));
    let OutputTarget::Directory(output) = &spec.output else {
        return usage("on a cluster the output is a directory", "name one with --output DIR");
    };
    if spec.wait {
        return usage(
            "--wait works only for jobs on this machine",
            "leave it out: on a cluster Hadoop commits the output",
        );
    }
    if spec.resume {
        return usage(
            "--resume works only for jobs on this machine",
            "leave it out: Hadoop keeps finished tasks while its application master lives",
        );
    }
    if let Some(key) = ["join.servers", "join.by"].into_iter().find(|key| spec.settings.contains_key(*key)) {
        return usage(
            &format!("{key}: ways of a join are compared only on this machine"),
            "leave it out: tasks ask servers with -D join.small=NAME --table NAME=server:ADDRESS",
        );
    }
    for (key, what) in [("split.lines", "splits of some lines"), ("output.lazy", "outputs without empty parts")] {
        if spec.settings.contains_key(key) {
            return usage(&format!("{key}: {what} are made only on this machine"), "leave it out");
        }
    }
    // Unix sockets are those of the nodes: their tasks find out.
    let is_near = |address: &Address| matches!(address, Address::Tcp(..));
    job::check_tables(spec, |place| match place {
        TablePlace::File(_) => true,
        TablePlace::Servers(addresses) => addresses.iter().all(is_near),
    })?;
    let files = spec.libraries.iter().map(|path| path.as_path()).chain(files_of_tasks(spec));
    let mut names: Vec<_> = files.chain(formats).map(|path| path.file_name()).collect();
    names.sort();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return usage(
            "two files of the job have the same name",
            "the cluster puts them into one directory: rename one",
        );
    }
    if spec.has_directories() {
        return usage("directories by keys are written on one node alone, not on YARN", "leave out --on yarn");
    }
    if spec.sources().iter().flat_map(|source| &source.inputs).any(|i| i == "-") {
        return usage("a cluster cannot read this program's standard input", "put the data into HDFS first");
    }
    Ok(output)
}

/// Returns the place of a file in a task's directory.
fn beside(file: impl AsRef<Path>) -> PathBuf {
    let file = file.as_ref();
    Path::new(".").join(file.file_name().unwrap_or(file.as_os_str()))
}

/// Returns the place of a table for tasks.
fn place_of_tasks(place: &TablePlace) -> TablePlace {
    match place {
        TablePlace::File(path) => TablePlace::File(beside(path)),
        servers => servers.clone(),
    }
}

/// Returns the files that each task finds in its working directory, beside those of its code.
fn files_of_tasks(spec: &JobSpec) -> impl Iterator<Item = &Path> {
    let of_tables = spec.tables.values().filter_map(TablePlace::file);
    let of_servers = spec.table_token_file.iter().chain(&spec.table_tls_ca);
    spec.side_files.iter().map(|path| path.as_path()).chain(of_tables).chain(of_servers.map(|path| path.as_path()))
}

/// Writes the job file for the tasks: libraries are in the working directory; memory and directories come from the
/// container.
fn write_job(spec: &JobSpec, number: usize) -> Result<TempFile> {
    let mut settings = spec.settings.clone();
    if let Some((key, value)) = spec.input_types {
        settings.insert(INPUT_TYPES.into(), format!("{} {}", key.name(), value.name()));
    }
    let job = JobSpec {
        settings,
        output: OutputTarget::Stdout,
        libraries: spec.libraries.iter().map(beside).collect(),
        memory_bytes: None,
        threads: None,
        scratch_dirs: Vec::new(),
        side_files: spec.side_files.iter().map(beside).collect(),
        tables: spec.tables.iter().map(|(name, place)| (name.clone(), place_of_tasks(place))).collect(),
        table_token_file: spec.table_token_file.as_ref().map(beside),
        table_tls_ca: spec.table_tls_ca.as_ref().map(beside),
        // Each task gets its own input.
        ..spec.without_inputs()
    };
    private_file(&format!("yunti-job-{}-{number}.toml", std::process::id()), &spec_to_toml(&job)?)
}

/// Creates a file in the system's temporary directory.
fn private_file(name: &str, text: &str) -> Result<TempFile> {
    let path = std::env::temp_dir().join(name);
    // The name can be guessed: create_new refuses a file or link that another user put there.
    let opened = File::options().write(true).create_new(true).open(&path);
    let mut file = opened
        .map_err(|e| Error::io(Code::Output, "cannot write a temporary file", &e).at_path(path.to_string_lossy()))?;
    let written = file.write_all(text.as_bytes());
    let file = TempFile(path);
    match written {
        Ok(()) => Ok(file),
        Err(e) => Err(Error::io(Code::Output, "cannot write a temporary file", &e).at_path(file.0.to_string_lossy())),
    }
}

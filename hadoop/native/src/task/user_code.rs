//! User code of a job beside class libraries in the process: programs, workers, and how they are isolated.
//!
//! The client writes it as text, one line each, in a setting of the job (`yunti.hadoop.code`):
//!
//! ```text
//!   yunti ./yunti            the program `yunti`, which the job ships to its tasks
//!   directory /tmp/x         working directory of programs, if it is not the task's: only where a job is submitted
//!   isolate                  class libraries run in workers
//!   sandbox                  workers and programs run in a sandbox
//!   worker-memory 1073741824 bytes that a worker may allocate
//!   worker ./w.py job.py     a worker program
//!   formats ./f.so           the class library for files of columns, for a job that reads or writes one
//! ```
//! A job without a line has programs all the same, but no reaper for them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::env::process::{Launcher, RealProcesses, Sandbox};
use yunti_engine::format::file_formats::FileFormat;
use yunti_engine::isolate::Isolation;
use yunti_engine::job::{JobSpec, needed};
use yunti_engine::operator::ClassSource;
use yunti_engine::{abi, library, streaming};

/// User code of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserCode {
    /// The program `yunti`.
    pub yunti: Option<PathBuf>,
    /// Working directory of programs, if it is not the task's.
    pub directory: Option<PathBuf>,
    /// True if class libraries run in workers.
    pub isolates: bool,
    /// True if workers and programs run in a sandbox.
    pub sandboxed: bool,
    /// Bytes that a worker may allocate.
    pub worker_memory_bytes: Option<u64>,
    /// Commands of worker programs.
    pub workers: Vec<String>,
    /// Class library for files of columns.
    pub formats: Option<PathBuf>,
}

impl UserCode {
    /// Parses the text of the client. Fails with `Code::Usage` for any other text.
    pub fn parse(text: &str) -> Result<UserCode> {
        let mut code = UserCode::default();
        for line in text.lines() {
            match line.split_once(' ').unwrap_or((line, "")) {
                ("yunti", path) => code.yunti = Some(path.into()),
                ("directory", path) => code.directory = Some(path.into()),
                ("isolate", "") => code.isolates = true,
                ("sandbox", "") => code.sandboxed = true,
                ("worker-memory", bytes) => code.worker_memory_bytes = Some(bytes.parse().map_err(|_| wrong(line))?),
                ("worker", command) => code.workers.push(command.into()),
                ("formats", path) => code.formats = Some(path.into()),
                _ => return Err(wrong(line)),
            }
        }
        Ok(code)
    }

    /// Returns the library for files of a format. Errors: `Input` if the job has none; `UserCode` if it cannot be
    /// loaded.
    pub fn formats(&self, format: &FileFormat, directory: &Path) -> Result<Arc<dyn ClassSource>> {
        let Some(path) = &self.formats else {
            let what = format!("{} needs libyunti_formats.so, which is not beside yunti", format.title);
            return Err(Error::new(Code::Input, what).hint("build it with make formats, or name it in YUNTI_FORMATS"));
        };
        abi::load(&directory.join(path))
    }

    /// Returns the classes of the job in the order in which names are looked up: workers, the library for files of
    /// columns, other libraries, built-in classes, programs. Programs and workers start in `directory`, and find their
    /// programs there first. `env` gets their processes.
    ///
    /// Fails as loading a library, or starting a worker, does.
    pub fn classes(&self, spec: &JobSpec, directory: &Path, env: &mut Env) -> Result<Vec<Arc<dyn ClassSource>>> {
        let yunti = self.yunti.as_ref().map(|path| directory.join(path));
        let reaper = yunti.clone().map(|program| Launcher {
            program,
            arguments: vec!["reap".into()],
            variables: Vec::new(),
            memory_bytes: None,
        });
        let programs = self.directory.as_deref().unwrap_or(directory);
        env.processes = Arc::new(RealProcesses::new(Some(programs.into()), reaper));
        let missing = || Error::new(Code::Internal, "the job does not ship the program yunti to its tasks");
        let sandbox = match self.sandboxed {
            true => Some(Sandbox::create(yunti.clone().ok_or_else(missing)?, None, env)?),
            false => None,
        };
        let isolation = Isolation::new(&spec.settings, self.worker_memory_bytes, sandbox, env)?;
        let mut sources = Vec::new();
        for command in &self.workers {
            let program = streaming::program(command, env)?;
            sources.push(isolation.program(program.executable, program.arguments, env)?);
        }
        let isolates = (self.isolates || self.sandboxed) && !spec.libraries.is_empty();
        if isolates {
            sources.push(isolation.libraries(&spec.libraries, &yunti.ok_or_else(missing)?, env)?);
        }
        if let Some(format) = needed(spec) {
            sources.push(self.formats(format, directory)?);
        }
        if isolates {
            sources.push(library::builtin_classes());
        } else {
            sources.extend(abi::load_before(&spec.libraries, library::builtin_classes())?);
        }
        sources.push(streaming::programs(env));
        Ok(sources)
    }
}

fn wrong(line: &str) -> Error {
    Error::new(Code::Usage, format!("the user code of the job has an unknown line: '{line}'"))
        .hint("use the jar and the program yunti of the same release")
}

#[cfg(test)]
mod tests {
    use super::*;
    use yunti_engine::job::OutputFormat;

    #[test]
    fn parses_the_lines_of_the_client() {
        let text = "yunti ./yunti\ndirectory /tmp/x\nisolate\nsandbox\nworker-memory 1024\n\
             worker ./w.py 'a b'\nworker x\nformats ./f.so";
        let code = UserCode::parse(text).unwrap();
        assert_eq!((code.yunti, code.directory), (Some("./yunti".into()), Some("/tmp/x".into())));
        assert!(code.isolates && code.sandboxed);
        assert_eq!((code.worker_memory_bytes, code.workers), (Some(1024), vec!["./w.py 'a b'".into(), "x".into()]));
        assert_eq!(code.formats, Some("./f.so".into()));
        assert_eq!(UserCode::parse("").unwrap(), UserCode::default());
        for wrong in ["isolated", "worker-memory much", "sandbox now", " "] {
            assert_eq!(UserCode::parse(wrong).unwrap_err().code(), Code::Usage, "{wrong}");
        }
    }

    #[test]
    fn a_name_without_a_class_is_a_program() {
        let mut env = Env::real();
        let directory = std::env::temp_dir();
        let classes = UserCode::default().classes(&JobSpec::default(), &directory, &mut env).unwrap();
        let of = |name: &str| {
            let kinds = [yunti_engine::operator::Kind::Mapper];
            classes.iter().find_map(|source| source.find_of_kinds(name, &kinds).transpose())
        };
        assert!(of("cat").is_some_and(|class| class.unwrap().info().flags.starts_process));
        let error = of("./no-such-program x").unwrap().err().unwrap();
        assert_eq!(error.code(), Code::UserCode);
        let code = UserCode { isolates: true, ..UserCode::default() };
        let spec = JobSpec { libraries: vec!["./x.so".into()], ..JobSpec::default() };
        let error = code.classes(&spec, &directory, &mut env).err().unwrap();
        assert!(error.to_string().contains("does not ship"), "{error}");
    }

    #[test]
    fn the_library_for_columns_is_loaded_for_a_job_that_needs_it() {
        let mut env = Env::real();
        let directory = std::env::temp_dir();
        let mut classes = |formats: Option<&str>, spec: &JobSpec| {
            let code = UserCode { formats: formats.map(PathBuf::from), ..UserCode::default() };
            code.classes(spec, &directory, &mut env).err().map(|error| (error.code(), error.to_string()))
        };
        let text = JobSpec::default();
        let writes = JobSpec { output_format: OutputFormat::Class("Formats.OrcWriter".into()), ..JobSpec::default() };
        assert_eq!(classes(Some("no-such.so"), &text), None);
        let (code, line) = classes(None, &writes).unwrap();
        assert!(code == Code::Input && line.starts_with("ORC needs libyunti_formats.so"), "{line}");
        assert_eq!(classes(Some("no-such.so"), &writes).unwrap().0, Code::UserCode);
    }
}

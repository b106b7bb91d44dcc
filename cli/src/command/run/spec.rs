//! From flags to a job: application, job file and flags, in this order.

use std::path::Path;

use yunti_engine::base::{Code, Error, Result};
use yunti_engine::env::{Files, NamedFile};
use yunti_engine::job::applications;
use yunti_engine::job::spec::JobSpec;
use yunti_engine::job::spec::file::{JobFile, parse_job_file};

use super::flags::RunFlags;

/// Largest job file that is read; a larger one is something else.
const JOB_FILE_BYTES_MAX: usize = 1 << 20;

pub fn job_spec(flags: &RunFlags, files: &dyn Files) -> Result<JobSpec> {
    let file = match &flags.file {
        Some(path) => read_job_file(files, path)?,
        None => JobFile::default(),
    };
    let mut spec = match flags.application.as_ref().or(file.application.as_ref()) {
        Some(name) => application(name, flags, files)?,
        None => JobSpec::default(),
    };
    // Records in another format are work too.
    let formats = flags.input_format.is_some() || flags.output_format.is_some();
    let has_work = flags.application.is_some() || flags.file.is_some() || formats;
    file.change.apply(&mut spec)?;
    flags.change().apply(&mut spec)?;
    if !has_work && spec.mapper.is_none() && spec.reducer.is_none() && spec.folder.is_none() {
        let hint =
            format!("name an application ({}), a job file with -f, or classes of your own with --mapper", names());
        return Err(Error::new(Code::Usage, "there is nothing to do").hint(hint));
    }
    Ok(spec)
}

fn names() -> String {
    applications().iter().map(|a| a.name).collect::<Vec<_>>().join(", ")
}

fn application(name: &str, flags: &RunFlags, files: &dyn Files) -> Result<JobSpec> {
    if let Some(application) = applications().iter().find(|a| a.name == name) {
        return Ok((application.spec)());
    }
    let own = flags.file.is_some() || flags.mapper.is_some() || flags.reducer.is_some() || flags.folder.is_some();
    let error = Error::new(Code::Usage, format!("there is no application '{name}'"));
    Err(if own || files.meta(Path::new(name)).is_ok() {
        error.hint(format!("to read it, write --input {name}; the applications are {}", names()))
    } else {
        error.hint(format!("there are {}", names()))
    })
}

fn read_job_file(files: &dyn Files, path: &Path) -> Result<JobFile> {
    let named = |e: Error| e.at_path(path.to_string_lossy());
    let file = NamedFile::open(files, path, Code::Usage)?;
    let mut bytes = vec![0; JOB_FILE_BYTES_MAX];
    let n = file.read_up_to(&mut bytes, 0)?;
    if n == bytes.len() {
        return Err(named(Error::new(Code::Usage, "this is too large for a job file")));
    }
    let text = std::str::from_utf8(&bytes[..n]).map_err(|e| {
        let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        named(Error::new(Code::Usage, format!("line {line}: the job file is not UTF-8")))
    })?;
    parse_job_file(text, path)
}

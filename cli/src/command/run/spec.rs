//! The job of the flags: the application, changed by the job file, then by the flags.

use std::path::Path;

use yunti_base::{Code, Error, Result};
use yunti_engine::env::{Files, NamedFile};
use yunti_engine::job::spec::JobSpec;
use yunti_engine::job::spec::file::{JobFile, read_job_file};
use yunti_engine::job::{application, application_names};

use super::flags::RunFlags;

pub fn job_spec(flags: &RunFlags, files: &dyn Files) -> Result<JobSpec> {
    let file = match &flags.file {
        Some(path) => read_job_file(&NamedFile::open(files, path, Code::Usage)?, path)?,
        None => JobFile::default(),
    };
    let mut spec = match flags.application.as_ref().or(file.application.as_ref()) {
        Some(name) => application_spec(name, flags, files)?,
        None => JobSpec::default(),
    };
    // Changing the format is work too.
    let formats = flags.input_format.is_some() || flags.output_format.is_some();
    let has_work = flags.application.is_some() || flags.file.is_some() || formats;
    file.change.apply(&mut spec)?;
    flags.change().apply(&mut spec)?;
    if !has_work && spec.mapper.is_none() && spec.reducer.is_none() && spec.folder.is_none() {
        let hint = format!(
            "name an application ({}), a job file with -f, or your own classes with --mapper",
            application_names()
        );
        return Err(Error::new(Code::Usage, "there is nothing to do").hint(hint));
    }
    // Classes open tables by their place, in processes with other directories too.
    let lost = |e: std::io::Error| Error::io(Code::Input, "cannot find the table", &e);
    for place in spec.tables.values_mut() {
        *place = place.clone().absolute().map_err(lost)?;
    }
    for file in [&mut spec.table_token_file, &mut spec.table_tls_ca].into_iter().flatten() {
        *file = std::path::absolute(&*file).map_err(lost)?;
    }
    Ok(spec)
}

fn application_spec(name: &str, flags: &RunFlags, files: &dyn Files) -> Result<JobSpec> {
    if let Some(application) = application(name) {
        return Ok((application.spec)());
    }
    let own = flags.file.is_some() || flags.mapper.is_some() || flags.reducer.is_some() || flags.folder.is_some();
    let error = Error::new(Code::Usage, format!("there is no application '{name}'"));
    Err(if own || files.meta(Path::new(name)).is_ok() {
        error.hint(format!("to read it, write --input {name}; the applications are {}", application_names()))
    } else {
        error.hint(format!("the applications are {}", application_names()))
    })
}

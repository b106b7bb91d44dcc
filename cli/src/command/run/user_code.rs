//! The classes of a job: workers, class libraries (in this process or isolated), built-in classes, programs.

use std::path::PathBuf;
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::env::Env;
use yunti_engine::env::process::Sandbox;
use yunti_engine::isolate::Isolation;
use yunti_engine::job;
use yunti_engine::job::spec::JobSpec;
use yunti_engine::operator::ClassSource;
use yunti_engine::streaming;

use super::flags::RunFlags;
use crate::command::columns::library;
use crate::guard;

/// Returns the classes of a job, in the order in which names are looked up. `env` gets the sandbox of its programs.
///
/// Errors: as of loading a class library, or of starting a worker.
pub fn classes(flags: &RunFlags, spec: &JobSpec, env: &mut Env) -> Result<Vec<Arc<dyn ClassSource>>> {
    let sandbox = match flags.sandbox {
        true => Some(Sandbox::create(own_program()?, spec.scratch_dirs.first().map(|dir| &dir.path), env)?),
        false => None,
    };
    let isolation = Isolation::new(&spec.settings, flags.worker_memory, sandbox, env)?;
    let mut classes = Vec::new();
    for command in &flags.worker {
        let served = streaming::program(command, env)
            .and_then(|program| isolation.program(program.executable, program.arguments, env));
        let hint = "run this command by hand to see its messages";
        classes.push(served.map_err(|e| e.within(&format!("--worker {command}")).hint(hint))?);
    }
    let isolates = isolates(flags, spec);
    if isolates {
        classes.push(isolation.libraries(&spec.libraries, &own_program()?, env)?);
    }
    if let Some(format) = job::needed(spec) {
        classes.push(library::load(format)?);
    }
    classes.extend(guard::load(if isolates { &[] } else { &spec.libraries }, env)?);
    Ok(classes)
}

/// Returns true if the job's class libraries run in workers.
pub fn isolates(flags: &RunFlags, spec: &JobSpec) -> bool {
    (flags.isolate || flags.sandbox) && !spec.libraries.is_empty()
}

/// Returns the path of this program.
pub fn own_program() -> Result<PathBuf> {
    std::env::current_exe().map_err(|e| Error::io(Code::Internal, "cannot find this program", &e))
}

//! Units of the files of a source class: the plan opens each file to find them.

use crate::env::Env;
use crate::job::plan::source::Source;
use crate::job::spec::JobSpec;
use crate::memory::Budget;
use crate::operator::context::{BadRecords, Host, JobContext, Workspace};
use crate::operator::{Scan, Unit};
use crate::read::class_parser::ReaderClass;
use crate::read::source_reader::plan_units;
use crate::read::split::InputFile;
use yunti_base::{Cancel, Code, Error, Result};

/// Returns the units of `files`, with the number of each file.
///
/// Errors: `Usage` for a stream, which has no positions; `Corrupt` and `Input` of a file; those of the class.
pub fn plan(spec: &JobSpec, source: &Source, scan: &Scan, files: &[InputFile], env: &Env) -> Result<Vec<(u32, Unit)>> {
    let Some(class) = &source.reader else { return Err(Error::new(Code::Internal, "no class reads the input")) };
    if let Some(stream) = files.iter().find(|file| file.is_stream) {
        let error =
            Error::new(Code::Usage, "columns cannot be read from a pipe").at_path(stream.path.to_string_lossy());
        return Err(error.hint("write it to a file first"));
    }
    let inputs = files.iter().map(|file| file.path.to_string_lossy().into_owned()).collect();
    let host = Host::of(env, &Cancel::default());
    let bad = BadRecords::of(&spec.settings)?;
    let job = JobContext::with_host(spec.settings.clone(), Default::default(), inputs, host, bad, Workspace::default());
    let limit = spec.memory_bytes.unwrap_or_else(|| crate::job::machine::default_budget_bytes(&*env.system));
    let of = ReaderClass { class: class.clone(), job, partitions: spec.reduces.max(1) };
    plan_units(&of, scan, files, &*env.files, &Budget::new(limit))
}

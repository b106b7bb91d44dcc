//! Units of the files of a source class: the plan opens each file to find them.

use crate::env::Env;
use crate::job::plan::source::Source;
use crate::job::spec::JobSpec;
use crate::job::task_files::tables;
use crate::memory::Budget;
use crate::operator::context::{BadRecords, Host, JobContext, Workspace};
use crate::operator::{Scan, Unit};
use crate::read::class_parser::ReaderClass;
use crate::read::source_reader::plan_units;
use crate::read::split::InputFile;
use yunti_base::{Cancel, Code, Error, Result};

/// Returns the units of a file that begin in [start, end). Ranges that cut the file divide its units: the range that
/// ends the file has units that claim to begin behind it.
///
/// Errors: those of `plan`.
pub fn within(
    spec: &JobSpec,
    source: &Source,
    scan: &Scan,
    files: &[InputFile],
    (start, end): (u64, u64),
    env: &Env,
) -> Result<Vec<Unit>> {
    let len = files.iter().map(|file| file.len).sum();
    let scan = Scan { from: start, to: if end >= len { 0 } else { end }, ..scan.clone() };
    // A source may plan more than is needed.
    let units = plan(spec, source, &scan, files, env)?;
    Ok(units.into_iter().map(|(_, unit)| unit).filter(|unit| begins_within(unit, &scan)).collect())
}

fn begins_within(unit: &Unit, scan: &Scan) -> bool {
    scan.from <= unit.position && (scan.to == 0 || unit.position < scan.to)
}

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
    let settings = tables::with_places(spec);
    let job = JobContext::with_host(settings, Default::default(), inputs, host, bad, Workspace::default());
    let limit = spec.memory_bytes.unwrap_or_else(|| crate::job::machine::default_budget_bytes(&*env.system));
    let of = ReaderClass { class: class.clone(), job, partitions: spec.reduces.max(1) };
    plan_units(&of, scan, files, &*env.files, &Budget::new(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_divide_the_units_of_a_file() {
        let positions = [0, 4, 4, 99, 100, 101, 250, u64::MAX];
        let within = |from: u64, to: u64| {
            let scan = Scan { from, to, ..Scan::default() };
            let unit = |position| Unit { position, ..Unit::default() };
            positions.into_iter().filter(move |&position| begins_within(&unit(position), &scan))
        };
        for cuts in [&[0, 0][..], &[0, 100, 0], &[0, 1, 2, 4, 5, 100, 101, 102, 299, 0]] {
            let found: Vec<u64> = cuts.windows(2).flat_map(|cut| within(cut[0], cut[1])).collect();
            assert_eq!(found, positions, "{cuts:?}");
        }
    }
}

//! Applications over lines as jobs over tables: `top`, `distinct`, `join` and `hash-join` with `--key-columns`;
//! `distinct` and `sample` of files of columns.
//!
//! ```text
//!   top         best rows by typed columns                 resolve.rs, as a selection with an order
//!   distinct    groups by columns, without an aggregate    resolve.rs, as an aggregate
//!   join        rows of two tables                         join.rs
//!   sample      records as they are, with all columns      here, as convert does
//! ```

use crate::columns::settings::{BY, MARK_NULLS, OF, SELECT, TOP_BY, WHERE};
use crate::env::Env;
use crate::job::plan::JSON_VALUES;
use crate::job::spec::{InputFormat, JobSpec, OutputFormat, OutputTarget};
use crate::library::applications::join::SMALL_ROWS;
use yunti_base::{Code, Error, Result};

use super::formats::{Completion, read_format, written_format};
use super::join;
use super::resolve::{AGGREGATE, DISTINCT, TOP_ROWS, column_names, quoted_list};
use super::table::Table;

const TOP: &str = "Yunti.TopMapper";
const SAMPLE: &str = "Yunti.SampleMapper";

/// Returns true for an application over lines that names key columns: it becomes one over tables.
pub fn names_key(spec: &JobSpec) -> bool {
    !spec.columns.key.is_empty() && (is_top(spec) || is_distinct(spec) || join::is_join(spec))
}

fn is_top(spec: &JobSpec) -> bool {
    // With the number of a column it takes lines, whatever the input is.
    spec.mapper.as_deref() == Some(TOP) && !spec.settings.contains_key("column")
}

fn is_distinct(spec: &JobSpec) -> bool {
    spec.folder.as_deref() == Some("Yunti.DistinctLinesFolder") && spec.mapper.is_none() && spec.reducer.is_none()
}

/// Refuses a name where lines have the number of a column. Errors: `Usage`.
fn check_numbers(spec: &JobSpec) -> Result<()> {
    for key in ["column", "join.left.column", "join.right.column"] {
        if let Some(name) = spec.settings.get(key).filter(|text| text.trim().parse::<usize>().is_err()) {
            let error = Error::new(Code::Usage, format!("{key}: '{name}' is not the number of a column"));
            return Err(error.hint("name columns of a table with --key-columns"));
        }
    }
    Ok(())
}

/// Rewrites such a job; leaves others alone. Errors: `Usage`, and those of the first files.
pub fn rewrite(spec: &mut JobSpec, env: &Env, with: Completion<'_>) -> Result<()> {
    let is_table = matches!(spec.input_format, InputFormat::Csv { .. }) || read_format(&spec.input_format).is_some();
    if spec.mapper.as_deref() == Some(TOP) || join::is_join(spec) {
        check_numbers(spec)?;
    }
    match () {
        () if names_key(spec) && is_top(spec) => top(spec),
        () if names_key(spec) && join::is_join(spec) => join::resolve(spec, env, with),
        () if is_distinct(spec) && (names_key(spec) || is_table) => distinct(spec, env, with),
        () if spec.mapper.as_deref() == Some(SAMPLE) && is_table => sample(spec, env, with),
        () => Ok(()),
    }
}

/// Lets a sample of files of columns have the format of its input, unless it goes to standard output.
pub fn keep_format(spec: &mut JobSpec) {
    let is_open = spec.output_format == JobSpec::default().output_format;
    if spec.mapper.as_deref() != Some(SAMPLE) || !is_open || !matches!(spec.output, OutputTarget::Directory(_)) {
        return;
    }
    match (read_format(&spec.input_format), &spec.input_format) {
        (Some(read), _) => spec.output_format = OutputFormat::Class(read.writer.into()),
        (None, &InputFormat::Csv { separator, header }) => {
            spec.output_format = OutputFormat::Csv { separator, header };
        }
        _ => {}
    }
}

/// Returns true for a join of tables, which reads two inputs by their columns.
pub fn joins_tables(spec: &JobSpec) -> bool {
    names_key(spec) && join::is_join(spec)
}

/// Refuses a hash join of tables on a cluster. Errors: `Usage`.
pub fn refuse_on_cluster(spec: &JobSpec) -> Result<()> {
    if spec.sources.iter().any(|source| source.mapper.as_deref() == Some(SMALL_ROWS)) {
        let error = Error::new(Code::Usage, "a hash join of tables runs on one node alone, not on YARN");
        return Err(error.hint("use the application join"));
    }
    Ok(())
}

fn top(spec: &mut JobSpec) -> Result<()> {
    let smallest = match spec.settings.get("top.smallest").map(|text| text.trim()) {
        None | Some("false") => false,
        Some("true") => true,
        Some(other) => {
            return Err(Error::new(Code::Usage, format!("top.smallest: '{other}' is neither true nor false")));
        }
    };
    let one = |column: &String| match column.rsplit_once(' ') {
        Some((name, way @ ("asc" | "desc"))) => format!("{way} {}", name.trim()),
        _ => format!("{} {column}", if smallest { "asc" } else { "desc" }),
    };
    spec.settings.insert(TOP_BY.into(), spec.columns.key.iter().map(one).collect::<Vec<_>>().join("\n"));
    if !spec.columns.value.is_empty() && !spec.settings.contains_key(SELECT) {
        spec.settings.insert(SELECT.into(), quoted_list(&spec.columns.value));
    }
    spec.columns = Default::default();
    (spec.mapper, spec.reducer) = (Some(TOP_ROWS.into()), Some("Yunti.FirstRowsReducer".into()));
    (spec.key_type, spec.descending, spec.reduces) = (None, false, 1);
    Ok(())
}

fn distinct(spec: &mut JobSpec, env: &Env, with: Completion<'_>) -> Result<()> {
    if spec.columns.key.is_empty() {
        let table = Table::of(&spec.inputs, &spec.input_format, env, with.load)?;
        spec.columns.key = table.fields(&[], false, env)?.into_iter().map(|(name, _)| name).collect();
    }
    spec.settings.insert(BY.into(), std::mem::take(&mut spec.columns.key).join("\n"));
    spec.settings.insert(OF.into(), String::new());
    spec.columns = Default::default();
    (spec.mapper, spec.folder) = (Some(AGGREGATE.into()), Some(DISTINCT.into()));
    Ok(())
}

fn sample(spec: &mut JobSpec, env: &Env, with: Completion<'_>) -> Result<()> {
    if spec.settings.contains_key(WHERE) {
        let error = Error::new(Code::Usage, "a sample has no condition");
        return Err(error.hint("write the rows with yunti run filter --where first"));
    }
    if spec.inputs.iter().any(|name| name == "-") || spec.sources().len() > 1 {
        return Ok(());
    }
    let table = Table::of(&spec.inputs, &spec.input_format, env, with.load)?;
    let (read, written) = (read_format(&spec.input_format), written_format(&spec.output_format));
    let mut names: Vec<String> = spec.columns.key.iter().chain(&spec.columns.value).cloned().collect();
    if let Some(list) = spec.settings.get(SELECT) {
        names = column_names(list)?;
    }
    let all = table.fields(&names, written.is_some(), env)?;
    if names.is_empty() {
        names = all.iter().map(|(name, _)| name.clone()).collect();
    }
    let Some((first, others)) = names.split_first() else { return Ok(()) };
    (spec.columns.key, spec.columns.value) = (vec![first.clone()], others.to_vec());
    let has_names = matches!(spec.output_format, OutputFormat::Csv { .. } | OutputFormat::Json) || written.is_some();
    if !has_names || !spec.output_columns.key.is_empty() || !spec.output_columns.value.is_empty() {
        return Ok(());
    }
    spec.output_columns = spec.columns.clone();
    if let Some(written) = written {
        if read.is_some() {
            spec.settings.insert(MARK_NULLS.into(), "true".into());
        }
        let types = all.iter().filter(|(name, kind)| !kind.is_empty() && names.contains(name));
        let types: Vec<String> = types.map(|(name, kind)| format!("{name}={kind}")).collect();
        spec.settings.entry(format!("{}.types", written.settings)).or_insert(types.join("\n"));
    }
    if spec.output_format == OutputFormat::Json && read.is_some() {
        spec.settings.entry(JSON_VALUES.into()).or_insert(table.json_values().join("\n"));
    }
    Ok(())
}

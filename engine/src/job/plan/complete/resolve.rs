//! Columns of a job over columns: which it needs, of which types, and the names of its results.
//!
//! The job's settings have the names as the user wrote them. What is found here is written into settings too, so that
//! each task has it, wherever it runs.

use super::formats::{Load, read_format, written_format};
use super::infer::Fields;
use super::table::{self, Table};
use crate::columns::aggregate::{List, exact};
use crate::columns::expression::{Field, Tree, Typed, bind, parse, parse_list};
use crate::columns::kind::Kind;
use crate::columns::settings::{
    BY, MARK_NULLS, NAMES, OF, RESULT_KEYS, RESULTS, SELECT, TOP_BY, TYPES, TYPES_GIVEN, WHERE,
};
use crate::env::Env;
use crate::job::plan::JSON_VALUES;
use crate::job::spec::{InputFormat, JobSpec, OutputFormat};
use yunti_base::{Code, Error, Result};

pub const AGGREGATE: &str = "Yunti.ColumnsAggregateMapper";
pub const TOP_ROWS: &str = "Yunti.TopRowsMapper";
/// Folder of distinct rows.
pub const DISTINCT: &str = "Yunti.DistinctRowsFolder";
const SELECT_ROWS: &str = "Yunti.SelectMapper";

/// Returns true for a job whose mapper takes columns that are not resolved yet. Its input format is resolved with them.
pub fn is_open(spec: &JobSpec) -> bool {
    let known = [AGGREGATE, SELECT_ROWS, TOP_ROWS];
    spec.mapper.as_ref().is_some_and(|mapper| known.contains(&&mapper[..])) && !spec.settings.contains_key(NAMES)
}

/// Completes a job whose mapper takes columns; leaves others alone. Errors: `Usage`, and those of the first file.
pub fn resolve(spec: &mut JobSpec, env: &Env, stores_are_near: bool, load: Load<'_>) -> Result<()> {
    if !is_open(spec) {
        return Ok(());
    }
    let mapper = spec.mapper.clone().unwrap_or_default();
    if matches!(spec.input_format, InputFormat::Text { .. }) {
        spec.input_format = table::format_of(&spec.inputs, env, stores_are_near)?;
    }
    let selects = mapper != AGGREGATE;
    if selects && !spec.settings.contains_key(SELECT) && spec.input_format == InputFormat::Json {
        let names = Table::of(&spec.inputs, &spec.input_format, env, load)?.json_names(env)?;
        spec.settings.insert(SELECT.into(), quoted_list(&names));
    }
    let (mut all, table) = all_fields(spec, &needed(spec, &mapper)?, env, load)?;
    // A selection of all columns is the list of their names.
    if selects && !spec.settings.contains_key(SELECT) {
        let names: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
        spec.settings.insert(SELECT.into(), quoted_list(&names));
    }
    let is_text = read_format(&spec.input_format).is_none();
    // Members of structs are columns by their path.
    for name in needed(spec, &mapper)? {
        let is_known = all.iter().any(|(known, _)| *known == name);
        let member = table.as_ref().filter(|_| !is_known).and_then(|table| table.type_at(&name));
        all.extend(member.map(|kind| (name, kind)));
    }
    let mut chosen: Fields = Vec::new();
    let mut sources = Vec::new();
    if selects && is_text {
        // A column that is passed on keeps its text: 1.50 stays 1.50, though it is the number 1.5 in a condition.
        sources = pass_on_texts(spec)?;
        chosen.extend(sources.iter().map(|name| (as_text(name), "Utf8".to_string())));
    }
    for name in needed(spec, &mapper)? {
        if chosen.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let kind = kind_of(&name, &all);
        chosen.push((name.clone(), kind));
        sources.push(name);
    }
    if let Some(name) = sources.iter().find(|name| !all.iter().any(|(known, _)| known == *name)) {
        let known = all.iter().map(|(name, _)| &name[..]).collect::<Vec<_>>().join(", ");
        let error = Error::new(Code::Usage, format!("there is no column {name}"));
        return Err(error.hint(format!("the input has {known}")));
    }
    let fields: Vec<Field> = chosen
        .iter()
        .map(|(name, kind)| Ok(Field { name: name.clone(), kind: Kind::parse(kind)? }))
        .collect::<Result<_>>()?;
    let results =
        if mapper == AGGREGATE { aggregates(spec, &chosen, &fields)? } else { selected(spec, &fields, &all)? };
    if let Some(condition) = spec.settings.get(WHERE) {
        bind(&parse(condition)?, &fields)?.into_condition()?;
    }
    let lines = |of: fn(&(String, String)) -> &String| chosen.iter().map(of).cloned().collect::<Vec<_>>().join("\n");
    spec.settings.insert(NAMES.into(), lines(|(name, _)| name));
    spec.settings.insert(TYPES.into(), lines(|(_, kind)| kind));
    spec.columns.key = Vec::new();
    spec.columns.value = sources;
    name_results(spec, results);
    Ok(())
}

/// Returns a list that selects columns.
pub fn quoted_list(names: &[String]) -> String {
    names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Behind the name of a column that is passed on as it is.
const AS_TEXT: &str = " as text";

pub fn as_text(name: &str) -> String {
    format!("{name}{AS_TEXT}")
}

fn kind_of(name: &str, fields: &Fields) -> String {
    fields.iter().find(|(known, _)| known == name).map_or("Utf8".into(), |(_, kind)| kind.clone())
}

/// Selects the text of each column that is selected alone. Returns these columns.
fn pass_on_texts(spec: &mut JobSpec) -> Result<Vec<String>> {
    let list = parse_list(spec.settings.get(SELECT).map_or("", |list| list))?;
    let mut passed: Vec<String> = Vec::new();
    let of = |(tree, name, text): (Tree, Option<String>, String)| match tree {
        Tree::Column(column) => {
            let item = format!("{} as {}", quoted(&as_text(&column)), quoted(name.as_ref().unwrap_or(&column)));
            if !passed.contains(&column) {
                passed.push(column);
            }
            item
        }
        _ => format!("{text} as {}", quoted(name.as_ref().unwrap_or(&text))),
    };
    let list: Vec<String> = list.into_iter().map(of).collect();
    spec.settings.insert(SELECT.into(), list.join(", "));
    Ok(passed)
}

/// Returns the columns of a list that has no expressions. Errors: `Usage`.
pub fn column_names(list: &str) -> Result<Vec<String>> {
    let one = |(tree, name, text): (Tree, Option<String>, String)| match (tree, name) {
        (Tree::Column(column), None) => Ok(column),
        _ => {
            let error = Error::new(Code::Usage, format!("'{text}' is no column: this job takes no expressions"));
            Err(error.hint("write its output first, then yunti run select"))
        }
    };
    parse_list(list)?.into_iter().map(one).collect()
}

/// Names and types of the columns of the result's key and value.
pub struct Results {
    pub key: Fields,
    pub value: Fields,
}

/// Returns the names of the columns that a job uses, each once.
fn needed(spec: &JobSpec, mapper: &str) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_string());
        }
    };
    if mapper == AGGREGATE {
        spec.settings.get(BY).iter().flat_map(|by| by.lines()).for_each(&mut add);
        let missing = || Error::new(Code::Usage, "no aggregate is named").hint("as in --agg 'sum(amount), count'");
        let list = spec.settings.get(OF).ok_or_else(missing)?;
        if list.trim().is_empty() && spec.folder.as_deref() != Some(DISTINCT) {
            return Err(missing());
        }
        List::parse(list)?.columns(&mut add);
    } else if let Some(list) = spec.settings.get(SELECT) {
        parse_list(list)?.iter().for_each(|(tree, ..)| tree.columns(&mut add));
    }
    let order = spec.settings.get(TOP_BY).filter(|_| mapper == TOP_ROWS);
    order
        .iter()
        .flat_map(|order| order.lines())
        .filter_map(|line| line.split_once(' '))
        .for_each(|(_, name)| add(name));
    if let Some(condition) = spec.settings.get(WHERE) {
        parse(condition)?.columns(&mut add);
    }
    Ok(names)
}

/// Returns the types that the user names.
pub fn given_types(spec: &JobSpec) -> Result<Fields> {
    let one = |line: &str| {
        let (name, kind) = line.split_once('=').ok_or_else(|| {
            Error::new(Code::Usage, format!("'{line}' names no type")).hint("as in --type 'amount=Decimal128(10, 2)'")
        })?;
        Kind::parse(kind)?;
        Ok((name.trim().to_string(), kind.trim().to_string()))
    };
    spec.settings.get(TYPES_GIVEN).iter().flat_map(|lines| lines.lines()).map(one).collect()
}

/// Returns the columns of the input with their types, the user's where there is one; and the table, unless the user
/// names all types.
fn all_fields(spec: &JobSpec, needed: &[String], env: &Env, load: Load<'_>) -> Result<(Fields, Option<Table>)> {
    let given = given_types(spec)?;
    let is_given = |name: &String| given.iter().any(|(known, _)| known == name);
    let is_schema = read_format(&spec.input_format).is_some();
    if !is_schema && !needed.is_empty() && needed.iter().all(is_given) {
        return Ok((given, None));
    }
    if spec.inputs.iter().any(|name| name == "-") {
        let error = Error::new(Code::Usage, "standard input cannot be sampled for the types of its columns");
        return Err(error.hint("name the type of each column: --type amount=Float64"));
    }
    let table = Table::of(&spec.inputs, &spec.input_format, env, load)?;
    let mut all = table.fields(needed, true, env)?;
    for (name, kind) in all.iter_mut() {
        if let (Some((_, given)), false) = (given.iter().find(|(known, _)| known == name), is_schema) {
            kind.clone_from(given);
        }
    }
    Ok((all, Some(table)))
}

fn aggregates(spec: &mut JobSpec, chosen: &Fields, fields: &[Field]) -> Result<Results> {
    let by: Vec<String> = spec.settings.get(BY).iter().flat_map(|by| by.lines()).map(str::to_string).collect();
    let list = spec.settings.get(OF).cloned().unwrap_or_default();
    let aggregates = List::parse(&list)?.bind(fields)?;
    if let Some(order) = exact::key_order(&aggregates) {
        spec.key_order = Some(order.into());
    }
    let value = aggregates.iter().map(|of| (of.name.clone(), result_type(of.kind))).collect();
    if by.is_empty() {
        (spec.reducer, spec.reduces) = (Some("Yunti.ColumnsTotalReducer".into()), 1);
        return Ok(Results { key: value, value: Vec::new() });
    }
    Ok(Results { key: by.iter().map(|name| (name.clone(), kind_of(name, chosen))).collect(), value })
}

/// Returns the type in which a result is written. A sum of integers is one, as long as it fits.
fn result_type(kind: Kind) -> String {
    match kind {
        Kind::Decimal { scale: 0 } => "Int64".into(),
        kind => kind.to_string(),
    }
}

fn selected(spec: &mut JobSpec, fields: &[Field], all: &Fields) -> Result<Results> {
    let list = parse_list(spec.settings.get(SELECT).map_or("", |list| list))?;
    let one = |(tree, name, text): &(_, Option<String>, String)| {
        let typed: Typed = bind(tree, fields)?;
        let own = typed.column().map(|place| fields[place].name.clone());
        let passed = own.as_ref().and_then(|own| own.strip_suffix(AS_TEXT));
        let kind = passed.map_or_else(|| typed.kind.to_string(), |name| kind_of(name, all));
        Ok((name.clone().or(own).unwrap_or_else(|| text.clone()), kind))
    };
    let mut key: Fields = list.iter().map(one).collect::<Result<_>>()?;
    let value = key.split_off(1);
    match (value.is_empty(), spec.mapper.as_deref() == Some(TOP_ROWS)) {
        (true, true) => spec.reducer = Some("Yunti.FirstRowsOneReducer".into()),
        (true, false) => spec.mapper = Some("Yunti.SelectOneMapper".into()),
        _ => {}
    }
    Ok(Results { key, value })
}

/// Names the columns of the output, unless the user does.
pub fn name_results(spec: &mut JobSpec, results: Results) {
    let names = |fields: &Fields| fields.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    spec.settings.insert(RESULTS.into(), [names(&results.key), names(&results.value)].concat().join("\n"));
    spec.settings.insert(RESULT_KEYS.into(), results.key.len().to_string());
    let written = written_format(&spec.output_format);
    let has_names = matches!(spec.output_format, OutputFormat::Csv { .. } | OutputFormat::Json) || written.is_some();
    let is_named = !spec.output_columns.key.is_empty() || !spec.output_columns.value.is_empty();
    if !has_names || is_named {
        return;
    }
    (spec.output_columns.key, spec.output_columns.value) = (names(&results.key), names(&results.value));
    let all = || results.key.iter().chain(&results.value);
    match written {
        Some(written) => {
            spec.settings.insert(MARK_NULLS.into(), "true".into());
            let types: Vec<String> = all().map(|(name, kind)| format!("{name}={kind}")).collect();
            spec.settings.entry(format!("{}.types", written.settings)).or_insert(types.join("\n"));
        }
        None => {
            if spec.output_format == OutputFormat::Json {
                spec.settings.entry(MARK_NULLS.into()).or_insert("true".into());
            }
            let values = all().filter(|(_, kind)| table::is_json_value(kind)).map(|(name, _)| name.clone());
            let values: Vec<String> = values.collect();
            spec.settings.entry(JSON_VALUES.into()).or_insert(values.join("\n"));
        }
    }
}

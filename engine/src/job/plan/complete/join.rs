//! Joins of two tables of any formats by typed columns: which columns each side reads, the types in which keys are
//! compared, and the columns of the output.
//!
//! ```text
//!   output      key columns (names of the left side) | other columns, left | other columns, right
//! ```
//!
//! A name that both sides have gets `_right` behind the right one.

use std::path::PathBuf;

use crate::columns::expression::common;
use crate::columns::kind::Kind;
use crate::columns::settings::{JOIN_KEY_TYPES, JOIN_LEFT, JOIN_RIGHT, JoinSide, SELECT, WHERE};
use crate::env::Env;
use crate::format::columns::Columns;
use crate::job::spec::{InputFormat, JobSpec, SourceSpec};
use crate::library::applications::join::{BY, JoinKind, KIND, LOOKUPS, REDUCERS, SERVERS, SMALL, SMALL_ROWS};
use yunti_base::{Code, Error, Result};

use super::formats::{Completion, read_format};
use super::infer::Fields;
use super::resolve::{Results, as_text, column_names, given_types, name_results};
use super::table::{Table, format_among};

const JOIN: &str = "Yunti.JoinMapper";
const LEFT: &str = "join.left";

/// Returns true for a join of lines.
pub fn is_join(spec: &JobSpec) -> bool {
    spec.mapper.as_deref().is_some_and(|mapper| mapper == JOIN || mapper == LOOKUPS[0])
}

/// A table of the join.
struct Side {
    inputs: Vec<String>,
    format: InputFormat,
    /// All columns, and members that are keys.
    all: Fields,
    /// Names of its key columns.
    keys: Vec<String>,
    /// Columns of the output that are no keys.
    rest: Vec<String>,
}

/// Turns a join of lines into one of tables. Errors: `Usage`, and those of the first file of each table.
pub fn resolve(spec: &mut JobSpec, env: &Env, with: Completion<'_>) -> Result<()> {
    let is_hash = spec.mapper.as_deref() == Some(LOOKUPS[0]);
    let kind = JoinKind::named(spec.settings.get(KIND).map_or("inner", |kind| kind))?;
    check(spec, kind, is_hash)?;
    let (left, right) = if is_hash { large_and_small(spec)? } else { left_and_right(spec)? };
    let pairs: Vec<(String, String)> = spec.columns.key.iter().map(|pair| halves(pair)).collect();
    let (left_keys, right_keys) = pairs.into_iter().unzip();
    let mut left = Side::of(spec, left, left_keys, env, with)?;
    let mut right = Side::of(spec, right, right_keys, env, with)?;
    let mut kinds = Vec::new();
    let mut key: Fields = Vec::new();
    for (a, b) in left.keys.iter().zip(&right.keys) {
        let (own, other) = (left.kind_of(a)?, right.kind_of(b)?);
        let Some(kind) = common(Kind::parse(&own)?, Kind::parse(&other)?) else {
            let error = Error::new(Code::Usage, format!("{a} ({own}) cannot be compared with {b} ({other})"));
            return Err(error.hint("name the type of a column of CSV or JSON: --type NAME=TYPE"));
        };
        key.push((a.clone(), if own == other { own } else { kind.to_string() }));
        kinds.push(kind.to_string());
    }
    if !kind.pairs {
        right.rest.clear();
    }
    let value = value_columns(spec, &mut left, &mut right, &key)?;
    spec.settings.insert(JOIN_KEY_TYPES.into(), kinds.join("\n"));
    let number = if value.is_empty() { 2 } else { 1 };
    let mappers =
        if is_hash { [LOOKUPS[number], SMALL_ROWS] } else { ["Yunti.LeftRowsMapper", "Yunti.RightRowsMapper"] };
    spec.sources = vec![left.source(spec, &JOIN_LEFT, mappers[0]), right.source(spec, &JOIN_RIGHT, mappers[1])];
    (spec.inputs, spec.columns, spec.mapper) = Default::default();
    spec.input_format = InputFormat::Text { delimiter: None };
    if !is_hash {
        spec.reducer = Some(REDUCERS[number].into());
    }
    name_results(spec, Results { key, value });
    Ok(())
}

fn check(spec: &JobSpec, kind: JoinKind, is_hash: bool) -> Result<()> {
    let wrong = |what: &str, hint: &str| Err(Error::new(Code::Usage, what).hint(hint));
    match () {
        () if spec.settings.contains_key(WHERE) => {
            wrong("a join has no condition", "filter a table before, or the output behind it: yunti run filter")
        }
        () if is_hash && kind.right => {
            wrong("a hash join cannot find rows of the small side without a partner", "use the application join")
        }
        () if is_hash && spec.resume => wrong("a hash join of tables cannot be resumed", "use the application join"),
        () if [SERVERS, BY].iter().any(|key| spec.settings.contains_key(*key)) => {
            wrong("a table of servers is joined with lines, not columns", "leave out join.servers and join.by")
        }
        () if !spec.sources.is_empty() => wrong("a join of tables has no sources", "name two inputs"),
        () if !spec.columns.value.is_empty() => {
            wrong("a join of tables takes its output from --columns", "leave out --value-columns")
        }
        () => Ok(()),
    }
}

/// Returns the columns of a pair: `id=customer_id`, or one name for both.
fn halves(pair: &str) -> (String, String) {
    let (left, right) = pair.split_once('=').unwrap_or((pair, pair));
    (left.trim().to_string(), right.trim().to_string())
}

/// Returns the inputs of both sides. The left one is named by a setting, or first.
fn left_and_right(spec: &JobSpec) -> Result<(Vec<String>, Vec<String>)> {
    let plain = |name: &str| name.trim_end_matches('/').to_string();
    let (left, right): (Vec<_>, Vec<_>) = match spec.settings.get(LEFT) {
        Some(name) => spec.inputs.iter().cloned().partition(|input| plain(input) == plain(name)),
        None => (spec.inputs.iter().take(1).cloned().collect(), spec.inputs.iter().skip(1).cloned().collect()),
    };
    match (left.is_empty(), right.is_empty()) {
        (false, false) => Ok((left, right)),
        (true, _) => {
            let error = Error::new(Code::Usage, format!("{LEFT} names no input of the job"));
            Err(error.hint("name it as the input is named"))
        }
        _ => Err(Error::new(Code::Usage, "a join needs two tables").hint("yunti run join LEFT RIGHT --key-columns id")),
    }
}

/// Returns the inputs of the left side, and the small side: a side file, or the last input.
fn large_and_small(spec: &mut JobSpec) -> Result<(Vec<String>, Vec<String>)> {
    let is_named = |path: &PathBuf, name: &String| path.file_name().is_some_and(|own| own == &**name);
    let small = match spec.settings.get(SMALL) {
        Some(name) => spec.side_files.iter().position(|path| is_named(path, name)),
        None => spec.side_files.len().checked_sub(1),
    };
    if let Some(name) = spec.settings.get(SMALL).filter(|name| small.is_none() && spec.tables.contains_key(*name)) {
        let error =
            Error::new(Code::Usage, format!("{SMALL} is {name}, and a table is joined with lines, not columns"));
        return Err(error.hint("leave out --key-columns: the column of the lines is join.left.column"));
    }
    let mut inputs = spec.inputs.clone();
    let small = match small {
        Some(number) => spec.side_files.remove(number).to_string_lossy().into_owned(),
        None if inputs.len() > 1 && !spec.settings.contains_key(SMALL) => inputs.remove(inputs.len() - 1),
        None => {
            let error = Error::new(Code::Usage, "a hash join needs a small table");
            return Err(error.hint("name it with --side-file FILE, or as the last input"));
        }
    };
    Ok((inputs, vec![small]))
}

impl Side {
    fn of(spec: &JobSpec, inputs: Vec<String>, keys: Vec<String>, env: &Env, with: Completion<'_>) -> Result<Side> {
        if inputs.iter().any(|name| name == "-") {
            let error = Error::new(Code::Usage, "standard input cannot be sampled for the types of its columns");
            return Err(error.hint("write it to a file first"));
        }
        let format = format_among(spec, &inputs, env, with.stores_are_near)?;
        let table = Table::of(&inputs, &format, env, with.load)?;
        let mut names = table.json_names(env)?;
        if !names.is_empty() {
            names.extend(keys.iter().filter(|key| key.contains('.')).cloned());
        }
        let mut all = table.fields(&names, true, env)?;
        let rest = all.iter().map(|(name, _)| name.clone()).filter(|name| !keys.contains(name)).collect();
        for name in &keys {
            let is_known = all.iter().any(|(known, _)| known == name);
            let member = if is_known { None } else { table.type_at(name) };
            all.extend(member.map(|kind| (name.clone(), kind)));
        }
        if read_format(&format).is_none() {
            let given = given_types(spec)?;
            for (name, kind) in &mut all {
                if let Some((_, given)) = given.iter().find(|(known, _)| known == name) {
                    kind.clone_from(given);
                }
            }
        }
        Ok(Side { inputs, format, all, keys, rest })
    }

    fn kind_of(&self, name: &str) -> Result<String> {
        let known = || self.all.iter().map(|(name, _)| &name[..]).collect::<Vec<_>>().join(", ");
        let found = self.all.iter().find(|(known, _)| known == name).map(|(_, kind)| kind.clone());
        found.ok_or_else(|| {
            let error = Error::new(Code::Usage, format!("there is no column {name}"));
            error.at_path(self.inputs.join(" ")).hint(format!("it has {}", known()))
        })
    }

    /// Returns the source of the side, and writes the names of its columns into the settings.
    fn source(&self, spec: &mut JobSpec, side: &JoinSide, mapper: &str) -> SourceSpec {
        // A column that is passed on keeps its text.
        let is_text = read_format(&self.format).is_none();
        let (mut names, mut kinds, mut read): (Vec<String>, Vec<String>, Vec<String>) = Default::default();
        let mut add = |name: &String, as_it_is: bool| {
            let own = if as_it_is { as_text(name) } else { name.clone() };
            if !names.contains(&own) {
                let kind = self.all.iter().find(|(known, _)| known == name).map(|(_, kind)| kind.clone());
                kinds.push(if as_it_is { "Utf8".into() } else { kind.unwrap_or_default() });
                read.push(name.clone());
                names.push(own.clone());
            }
            own
        };
        self.keys.iter().for_each(|key| drop(add(key, false)));
        let rest: Vec<String> = self.rest.iter().map(|name| add(name, is_text)).collect();
        for (key, lines) in [(side.names, &names), (side.types, &kinds), (side.keys, &self.keys), (side.rest, &rest)] {
            spec.settings.insert(key.into(), lines.join("\n"));
        }
        SourceSpec {
            inputs: self.inputs.clone(),
            input_format: self.format.clone(),
            columns: Columns { key: Vec::new(), value: read },
            mapper: Some(mapper.into()),
        }
    }
}

/// Returns the names and types of the columns behind the key, and leaves only these to the sides.
fn value_columns(spec: &JobSpec, left: &mut Side, right: &mut Side, key: &Fields) -> Result<Fields> {
    let mut all: Vec<(String, bool, String, String)> = Vec::new();
    for (side, is_left) in [(&*left, true), (&*right, false)] {
        for name in &side.rest {
            let mut own = name.clone();
            let is_taken = |own: &String| key.iter().any(|(n, _)| n == own) || all.iter().any(|(n, ..)| n == own);
            while is_taken(&own) {
                own += "_right";
            }
            all.push((own, is_left, name.clone(), side.kind_of(name)?));
        }
    }
    if let Some(list) = spec.settings.get(SELECT) {
        let wanted = column_names(list)?;
        let is_known = |name: &&String| !key.iter().any(|(n, _)| n == *name) && !all.iter().any(|(n, ..)| n == *name);
        if let Some(name) = wanted.iter().find(is_known) {
            let known: Vec<&str> = key.iter().map(|(n, _)| &n[..]).chain(all.iter().map(|(n, ..)| &n[..])).collect();
            let error = Error::new(Code::Usage, format!("the join has no column {name}"));
            return Err(error.hint(format!("it has {}", known.join(", "))));
        }
        all.retain(|(name, ..)| wanted.contains(name));
    }
    let of =
        |is_left: bool| all.iter().filter(move |(_, side, ..)| *side == is_left).map(|(_, _, name, _)| name.clone());
    (left.rest, right.rest) = (of(true).collect(), of(false).collect());
    Ok(all.into_iter().map(|(name, _, _, kind)| (name, kind)).collect())
}

//! Statements that write files: `copy .. to`, `insert into directory`, `create table .. with (location = ..)`.

use std::path::Path;

use datafusion::sql::parser::{CopyToStatement, CreateExternalTable};
use datafusion::sql::sqlparser::ast::{self, CopyOption, CopyTarget, CreateTableOptions, Expr, SqlOption, Value};
use yunti_base::{Code, Error, Result};

use crate::output::{FileWriter, Format};
use crate::tables::place::{self, Place};
use crate::tables::world::World;

/// Where a statement writes.
#[derive(Clone, Debug, Default)]
pub struct Target {
    path: String,
    format: Option<String>,
    header: Option<bool>,
    delimiter: Option<u8>,
    overwrite: bool,
}

fn usage(what: String) -> Error {
    Error::new(Code::Usage, what)
}

impl Target {
    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name.to_ascii_lowercase().trim_start_matches("format.") {
            "format" => self.format = Some(value.into()),
            "header" | "has_header" => self.header = Some(place::flag(value)?),
            "delimiter" | "sep" => self.delimiter = Some(place::byte(value)?),
            "overwrite" => self.overwrite = place::flag(value)?,
            other => {
                return Err(usage(format!("there is no option '{other}'"))
                    .hint("options are format, header, delimiter and overwrite"));
            }
        }
        Ok(())
    }

    /// Returns the target of `copy .. to 'path' stored as F options (..)`.
    pub fn of_copy(copy: &CopyToStatement) -> Result<Target> {
        if !copy.partitioned_by.is_empty() {
            return Err(usage("'partitioned by' of 'copy' is not supported".into()));
        }
        let mut target = Target { path: copy.target.clone(), format: copy.stored_as.clone(), ..Target::default() };
        for (name, value) in &copy.options {
            target.set(name, &text_of(value))?;
        }
        Ok(target)
    }

    /// Returns the target of `copy .. to 'path' (format csv, header)`.
    pub fn of_sql_copy(target: &CopyTarget, options: &[CopyOption]) -> Result<Target> {
        let path = match target {
            CopyTarget::File { filename } => filename.clone(),
            CopyTarget::Stdout => return Err(usage("a query without 'copy' writes to standard output".into())),
            other => return Err(usage(format!("'copy' cannot write to {other}"))),
        };
        let mut target = Target { path, ..Target::default() };
        for option in options {
            match option {
                CopyOption::Format(name) => target.format = Some(name.value.clone()),
                CopyOption::Header(header) => target.header = Some(*header),
                CopyOption::Delimiter(c) => target.delimiter = Some(place::byte(&c.to_string())?),
                other => return Err(usage(format!("'copy' has no option {other}"))),
            }
        }
        Ok(target)
    }

    /// Returns the target of `insert [overwrite] directory 'path' stored as F`.
    pub fn of_directory(path: &str, format: Option<String>, overwrite: bool) -> Target {
        Target { path: path.into(), format, overwrite, ..Target::default() }
    }

    /// Returns the table and the target of `create table t with (location = 'path', format = 'parquet')`.
    pub fn of_create(create: &ast::CreateTable) -> Result<(String, Target)> {
        let mut target = Target { overwrite: create.or_replace, ..Target::default() };
        for (name, value) in options_of(create) {
            match &name[..] {
                "location" => target.path = value,
                name => target.set(name, &value)?,
            }
        }
        Ok((name_of(&create.name)?, target))
    }

    fn format_of(&self) -> Result<Format> {
        let format = match &self.format {
            Some(name) => Format::named(name)?,
            None => Format::of_path(&self.path).unwrap_or(Format::Parquet),
        };
        Ok(match format {
            Format::Csv { delimiter, header } => {
                Format::Csv { delimiter: self.delimiter.unwrap_or(delimiter), header: self.header.unwrap_or(header) }
            }
            other => other,
        })
    }

    /// Returns the place from which the written rows are read.
    pub fn place(&self) -> Place {
        let format = self.format_of().ok();
        Place {
            paths: vec![self.path.clone()],
            format: format.map(|format| format.name().into()),
            header: self.header,
            delimiter: self.delimiter,
        }
    }

    /// Begins to write.
    pub fn writer(&self, world: &World, overwrite: bool) -> Result<FileWriter> {
        let path = world.located_path(Path::new(&self.path));
        world.check(&path)?;
        FileWriter::create(&world.env, &path, self.format_of()?, overwrite || self.overwrite)
    }
}

fn text_of(value: &Value) -> String {
    value.clone().into_string().unwrap_or_else(|| value.to_string())
}

/// Returns the one part of a table's name, in the spelling of the planner.
fn name_of(name: &ast::ObjectName) -> Result<String> {
    let ident = name.0.last().and_then(|part| part.as_ident());
    let ident = ident.ok_or_else(|| usage(format!("'{name}' is no name of a table")))?;
    Ok(if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_ascii_lowercase() })
}

fn options_of(create: &ast::CreateTable) -> Vec<(String, String)> {
    let (CreateTableOptions::With(options) | CreateTableOptions::Options(options)) = &create.table_options else {
        return Vec::new();
    };
    let pair = |option: &SqlOption| match option {
        SqlOption::KeyValue { key, value: Expr::Value(value) } => {
            Some((key.value.to_ascii_lowercase(), text_of(&value.value)))
        }
        SqlOption::KeyValue { key, value } => Some((key.value.to_ascii_lowercase(), value.to_string())),
        _ => None,
    };
    options.iter().filter_map(pair).collect()
}

/// Returns the location of a table that is kept in files.
pub fn location_of(create: &ast::CreateTable) -> Option<String> {
    options_of(create).into_iter().find(|(name, _)| name == "location").map(|(_, value)| value)
}

/// Returns the name and the place of `create external table`.
pub fn place_of(create: &CreateExternalTable) -> Result<(String, Place)> {
    let mut place =
        Place { paths: create.locations.clone(), format: Some(create.file_type.clone()), ..Place::default() };
    for (name, value) in &create.options {
        match name.to_ascii_lowercase().trim_start_matches("format.") {
            "header" | "has_header" => place.header = Some(place::flag(&text_of(value))?),
            "delimiter" => place.delimiter = Some(place::byte(&text_of(value))?),
            other => {
                return Err(usage(format!("there is no option '{other}'")).hint("options are header and delimiter"));
            }
        }
    }
    Ok((name_of(&create.name)?, place))
}

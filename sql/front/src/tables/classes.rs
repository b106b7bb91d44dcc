//! Tables that a class of the library reads, and shared tables, which need no class.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::datatypes::{self, DataType, FieldRef, Schema, SchemaRef};
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::vector::Value;
use yunti_engine::format::file_formats::FileFormat;
use yunti_sql_execute::operators::scan::files;
use yunti_sql_execute::operators::scan::parts::{Origin, Part, Parts};
use yunti_sql_execute::operators::shared;
use yunti_sql_plan::{Field, Table};

use super::partitions::Partitions;
use super::world::{DataFile, World};
use crate::arrow;

/// Returns the files as one table, all with the same columns. Errors: `Input` without the library; those of the files.
pub fn table(name: &str, files: &[DataFile], format: &'static FileFormat, world: &World) -> Result<Table> {
    let library = (world.library)(format)?;
    files::table(name, &paths(files), format, library, &world.env, &world.budget)
}

/// Files that are open as tables, one for each stretch of files that are read alike.
pub struct Opened {
    /// Columns of all files, each once.
    pub fields: Vec<Field>,
    stretches: Vec<files::Stretch>,
}

/// Opens files. Neighbours with the same columns and the same values of directories are read alike.
///
/// Errors: `Input` without the library, and for columns of one name with two types; those of the files.
pub fn opened(name: &str, files: &[DataFile], format: &'static FileFormat, world: &World) -> Result<Opened> {
    let library = (world.library)(format)?;
    let paths = paths(files);
    let begins = |n: usize| n > 0 && files[n].values != files[n - 1].values;
    let stretches = files::tables(name, &paths, format, library, (&world.env, &world.budget), &begins)?;
    together(stretches, &paths)
}

/// Opens shared tables, each a stretch of its own. Tables of a cluster are opened by its tasks.
///
/// Errors: as `opened`.
pub fn shared(name: &str, files: &[DataFile], world: &World) -> Result<Opened> {
    let open = |file: &DataFile| {
        let table = match world.cluster {
            Some(_) => shared::far(name, &file.path, &*world.env.files)?,
            None => shared::table(name, &file.path)?,
        };
        Ok(files::Stretch { table, files: 1 })
    };
    together(files.iter().map(open).collect::<Result<_>>()?, &paths(files))
}

/// Returns stretches of files as one table.
fn together(stretches: Vec<files::Stretch>, paths: &[PathBuf]) -> Result<Opened> {
    let mut fields: Vec<Field> = Vec::new();
    let mut first = 0;
    for stretch in &stretches {
        for field in &stretch.table.fields {
            match fields.iter().find(|of| of.name == field.name) {
                None => fields.push(field.clone()),
                Some(known) if known.data_type == field.data_type => {}
                Some(_) => return Err(files::other_columns(&paths[first], &paths[0])),
            }
        }
        first += stretch.files;
    }
    // A file that lacks a column has nulls.
    fields.iter_mut().for_each(|field| field.nullable |= stretches.len() > 1);
    Ok(Opened { fields, stretches })
}

impl Opened {
    /// Returns the files as the parts of a table with the columns of a schema, and then those of directories. A column
    /// that a file has not is null there.
    pub fn parts(self, schema: &Schema, files: &[DataFile], partitions: &Partitions) -> Result<Parts> {
        // A column of a schema that no file has is of no type.
        let of_files = |of: &FieldRef| {
            let known = self.fields.iter().find(|field| field.name == *of.name()).cloned();
            known.unwrap_or_else(|| Field { name: of.name().clone(), data_type: DataType::Null, nullable: true })
        };
        let mut fields: Vec<Field> = schema.fields().iter().map(of_files).collect();
        let mut parts = Vec::new();
        let mut first = 0;
        for files::Stretch { table, files: count } in self.stretches {
            let own = |field: &Field| table.fields.iter().position(|of| of.name == field.name);
            let column = |field: &Field| own(field).map_or(Origin::Value(Value::Null), Origin::Same);
            let mut columns: Vec<Origin> = fields.iter().map(column).collect();
            for value in &files[first].values {
                columns.push(Origin::Value(arrow::value(value)?));
            }
            first += count;
            parts.push(Part { table: Arc::new(table), files: count, columns });
        }
        let of_directories =
            |of: &FieldRef| Field { name: of.name().clone(), data_type: of.data_type().clone(), nullable: true };
        fields.extend(partitions.fields.iter().map(of_directories));
        Ok(Parts::new(fields, parts))
    }
}

fn paths(files: &[DataFile]) -> Vec<PathBuf> {
    files.iter().map(|file| file.path.clone()).collect()
}

/// Returns columns of a table for the planner. Values of a type that the executor lacks, such as lists, are their text.
pub fn schema(fields: &[Field]) -> SchemaRef {
    let fields = fields.iter().map(|of| datatypes::Field::new(&of.name, of.data_type.clone(), of.nullable));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

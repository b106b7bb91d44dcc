//! Tables that a class of the library reads.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use yunti_base::Result;
use yunti_engine::format::file_formats::FileFormat;
use yunti_sql_execute::operators::scan::files;
use yunti_sql_plan::Table;

use super::world::{DataFile, World};

/// Returns the table. Errors: `Input` without the library; those of the files.
pub fn table(name: &str, files: &[DataFile], format: &'static FileFormat, world: &World) -> Result<Arc<Table>> {
    let library = (world.library)(format)?;
    let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    files::table(name, &paths, format, library, &world.env, &world.budget).map(Arc::new)
}

/// Returns the columns of a table. Values of a type that the executor lacks, such as lists, are their text.
pub fn schema(table: &Table) -> SchemaRef {
    let fields = table.fields.iter().map(|of| Field::new(&of.name, of.data_type.clone(), of.nullable));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

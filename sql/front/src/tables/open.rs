//! Opens tables: the files of a place, their columns, and what reads them.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::config::TableParquetOptions;
use datafusion::common::stats::Precision;
use datafusion::common::{DataFusionError, Statistics};
use datafusion::datasource::file_format::FileFormat as Reader;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use object_store::{ObjectMeta, ObjectStore};
use yunti_base::{Code, Error};

use super::file_table::{FileTable, Reading};
use super::find::{Shape, find, root_of, shown};
use super::partitions::Partitions;
use super::place::Place;
use super::world::{DataFile, World};
use super::{classes, text};

/// Files of which statistics are read before the query runs, at most.
const STATISTICS_FILES_MAX: usize = 1000;

/// Opens a table. Errors: `Input` for files that are missing, `Corrupt`, `Usage` for formats that are unknown.
pub async fn open(
    name: &str,
    place: &Place,
    world: &World,
    state: &dyn Session,
) -> std::result::Result<FileTable, DataFusionError> {
    let place = &world.located(place);
    let (mut files, shape) = find(place, world).map_err(crate::failure::wrapped)?;
    let root = root_of(&place.paths);
    match &shape {
        Shape::Columns(format) if format.name == "parquet" => {
            let global = state.config_options().execution.parquet.clone();
            let reader: Arc<dyn Reader> =
                Arc::new(ParquetFormat::new().with_options(TableParquetOptions { global, ..Default::default() }));
            let inferred = inferred(&*reader, &files, world, state).await?;
            let schema = without_dictionaries(&inferred);
            let partitions = Partitions::of(&root, &mut files, &schema);
            let mut statistics = Vec::new();
            if files.len() <= STATISTICS_FILES_MAX {
                let store: Arc<dyn ObjectStore> = world.store.clone();
                for file in &files {
                    let of: Statistics = reader.infer_stats(state, &store, schema.clone(), &file.meta).await?;
                    statistics.push(Arc::new(without_bounds_of_floats(of, &schema)));
                }
            }
            // Without the library, or if a file is damaged, the general executor reads it, and reports what is wrong.
            let opened = match world.is_native {
                true => classes::opened(name, &files, format, world).ok(),
                false => None,
            };
            let native = opened.and_then(|opened| opened.parts(&schema, &files, &partitions).ok());
            FileTable::new(name.into(), (schema, Reading::Reader(reader)), (files, partitions), statistics, native)
        }
        Shape::Columns(_) | Shape::Shared => {
            // Names of directories that are names of columns too are known once the columns are.
            Partitions::of(&root, &mut files, &Schema::empty());
            let opened = match &shape {
                Shape::Columns(format) => classes::opened(name, &files, format, world),
                _ => classes::shared(name, &files, world),
            };
            let opened = opened.map_err(crate::failure::wrapped)?;
            let schema = classes::schema(&opened.fields);
            let partitions = Partitions::of(&root, &mut files, &schema);
            let parts = opened.parts(&schema, &files, &partitions).map_err(crate::failure::wrapped)?;
            let native = world.is_native.then(|| parts.clone());
            FileTable::new(name.into(), (schema, Reading::Class(parts)), (files, partitions), Vec::new(), native)
        }
        Shape::Text(text) => {
            let reader = text::reader(text);
            let schema = inferred(&*reader, &files, world, state).await?;
            let partitions = Partitions::of(&root, &mut files, &schema);
            let native = match world.is_native {
                true => text::parts(name, text, &schema, (&files, &partitions), world),
                false => Ok(None),
            };
            let native = native.map_err(crate::failure::wrapped)?;
            FileTable::new(name.into(), (schema, Reading::Reader(reader)), (files, partitions), Vec::new(), native)
        }
    }
}

/// Returns the columns of all files together.
async fn inferred(
    reader: &dyn Reader,
    files: &[DataFile],
    world: &World,
    state: &dyn Session,
) -> std::result::Result<SchemaRef, DataFusionError> {
    let store: Arc<dyn ObjectStore> = world.store.clone();
    let metas: Vec<ObjectMeta> = files.iter().map(|file| file.meta.clone()).collect();
    reader.infer_schema(state, &store, &metas).await.map_err(|e| of_files(e, files))
}

/// Returns statistics without the least and the largest floats: those of files know no NaN.
fn without_bounds_of_floats(mut of: Statistics, schema: &Schema) -> Statistics {
    for (column, field) in of.column_statistics.iter_mut().zip(schema.fields()) {
        if field.data_type().is_floating() {
            (column.min_value, column.max_value) = (Precision::Absent, Precision::Absent);
        }
    }
    of
}

/// Returns columns whose types do not name a dictionary: writers such as pandas note that a column had one in memory.
/// Files have dictionaries of their own, and vectors too.
fn without_dictionaries(schema: &Schema) -> SchemaRef {
    let plain = |field: &FieldRef| match field.data_type() {
        DataType::Dictionary(_, values) => Arc::new(field.as_ref().clone().with_data_type((**values).clone())),
        _ => field.clone(),
    };
    let fields: Vec<FieldRef> = schema.fields().iter().map(plain).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Returns an error of a reader with the name of the file, if there is one file.
fn of_files(error: DataFusionError, files: &[DataFile]) -> DataFusionError {
    let error = crate::failure::plain(error);
    let known = error.path().is_some();
    let path = match files {
        _ if known => return crate::failure::wrapped(error),
        [one] => shown(&one.path),
        [first, ..] => format!("{} and {} others", shown(&first.path), files.len() - 1),
        [] => return crate::failure::wrapped(error),
    };
    let error = match error.code() {
        Code::Usage | Code::Internal | Code::UserCode => Error::new(Code::Corrupt, error.what().to_string()),
        _ => error,
    };
    crate::failure::wrapped(error.at_path(path))
}

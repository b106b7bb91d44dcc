//! A table of a metastore as the planner sees it. Its columns are known; its partitions are requested once the
//! conditions of the query are known.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{self, DataType, FieldRef, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DataFusionError, ScalarValue};
use datafusion::datasource::{TableType, provider_as_source, source_as_provider};
use datafusion::logical_expr::{Expr, LogicalPlan, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use yunti_base::{Code, Error, Result};
use yunti_engine::columns::vector::Value;
use yunti_engine::format::file_formats;
use yunti_engine::job;
use yunti_engine::read::split::InputFile;
use yunti_sql_execute::operators::scan::parts::{Origin, Part, Parts};
use yunti_sql_plan::{Field, Table};

use super::Hive;
use super::lines::{self, Shape};
use super::metastore::{HivePartition, HiveTable, Storage};
use super::storage::Stored;
use super::types::{HiveType, StoredType, key_value};
use super::{filter, metastore};
use crate::arrow;
use crate::failure;
use crate::tables::classes;
use crate::tables::partitions::Partitions;
use crate::tables::world::{DataFile, World};
use crate::tables::{FileTable, Reading};

/// A table of a metastore.
pub struct MetastoreTable {
    hive: Arc<Hive>,
    database: String,
    name: String,
    table: HiveTable,
    /// Columns of the files, then the keys of partitions.
    columns: Vec<(String, HiveType)>,
    keys: usize,
    schema: SchemaRef,
}

impl std::fmt::Debug for MetastoreTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.database, self.name)
    }
}

impl MetastoreTable {
    /// Returns the table. Errors: `Usage` for types that are not known.
    pub fn new(hive: Arc<Hive>, database: &str, name: &str, table: HiveTable) -> Result<MetastoreTable> {
        let all = table.storage.columns.iter().chain(&table.partition_keys);
        let column = |of: &metastore::FieldSchema| {
            let parsed = HiveType::parse(&of.data_type).map_err(|e| e.within(&format!("column {}", of.name)))?;
            Ok((of.name.to_lowercase(), parsed))
        };
        let columns = all.map(column).collect::<Result<Vec<_>>>()?;
        if table.storage.columns.is_empty() {
            return Err(Error::new(Code::Usage, format!("the metastore knows no columns of {database}.{name}"))
                .hint("query its files by their path"));
        }
        let fields =
            columns.iter().map(|(name, of)| datatypes::Field::new(name, of.data_type(), true)).collect::<Vec<_>>();
        let (schema, keys) = (Arc::new(Schema::new(fields)), table.partition_keys.len());
        Ok(MetastoreTable { hive, database: database.into(), name: name.into(), table, columns, keys, schema })
    }

    fn world(&self) -> &World {
        &self.hive.world
    }

    /// Returns the table of the files that may have rows within the conditions.
    pub fn files(&self, filters: &[Expr], state: &dyn Session) -> Result<FileTable> {
        let shown = format!("{}.{}", self.database, self.name);
        let mut files = Vec::new();
        let mut all = Vec::new();
        match self.keys {
            0 => self.add(&self.table.storage, &[], &mut files, &mut all)?,
            _ => {
                for (storage, values) in self.partitions(filters, state)? {
                    self.add(&storage, &values, &mut files, &mut all)?;
                }
            }
        }
        let field =
            |(name, of): &(String, HiveType)| Field { name: name.clone(), data_type: of.data_type(), nullable: true };
        let parts = Parts::new(self.columns.iter().map(field).collect(), all);
        let reading = (self.schema.clone(), Reading::Class(parts.clone()));
        let native = self.world().is_native.then_some(parts);
        FileTable::new(shown, reading, (files, Partitions::default()), Vec::new(), native).map_err(failure::plain)
    }

    /// Returns the partitions that may have rows within the conditions, with the values of their keys, in their order.
    fn partitions(&self, filters: &[Expr], state: &dyn Session) -> Result<Vec<(Storage, Vec<ScalarValue>)>> {
        let keys = &self.columns[self.columns.len() - self.keys..];
        let types: Vec<(String, DataType)> = keys.iter().map(|(name, of)| (name.clone(), of.data_type())).collect();
        let wanted = filter::of(filters, &types);
        let mut found = self.hive.metastore.partitions(&self.database, &self.name, wanted.as_deref())?;
        found.sort_by(|a, b| a.values.cmp(&b.values));
        let values = |of: &HivePartition| match of.values.len() == self.keys {
            true => of.values.iter().zip(keys).map(|(text, (_, of))| key_value(text, of)).collect::<Result<Vec<_>>>(),
            false => {
                Err(Error::new(Code::Corrupt, format!("a partition of {} has not a value for each key", self.name)))
            }
        };
        let values = found.iter().map(values).collect::<Result<Vec<_>>>()?;
        let fields: Vec<FieldRef> = types
            .iter()
            .map(|(name, data_type)| Arc::new(datatypes::Field::new(name, data_type.clone(), true)))
            .collect();
        // What decides about files by their directories decides about partitions too.
        let as_file = |values: Vec<ScalarValue>| DataFile::of(PathBuf::new(), values);
        let as_files: Vec<DataFile> = values.into_iter().map(as_file).collect();
        let kept = match as_files.is_empty() {
            true => Vec::new(),
            false => Partitions { fields }.matching(&as_files, filters, state).map_err(failure::plain)?,
        };
        let mut found: Vec<Option<HivePartition>> = found.into_iter().map(Some).collect();
        Ok(kept.into_iter().filter_map(|n| Some((found[n].take()?.storage, as_files[n].values.clone()))).collect())
    }

    /// Adds the files of a storage as parts. `values`: of the keys of its partition.
    fn add(&self, of: &Storage, values: &[ScalarValue], files: &mut Vec<DataFile>, all: &mut Vec<Part>) -> Result<()> {
        let stored = Stored::of(of)?;
        let found = self.find(of)?;
        if found.is_empty() {
            return Ok(());
        }
        let is_text = matches!(stored, Stored::Lines(_));
        for input in &found {
            let meta = self.world().store.add(&input.path, input.codec.filter(|_| is_text))?;
            files.push(DataFile { meta, ..DataFile::of(input.path.clone(), Vec::new()) });
        }
        let own = &self.columns[..self.columns.len() - self.keys];
        let values = &values.iter().map(arrow::value).collect::<Result<Vec<_>>>()?[..];
        let by_place = |table: Table, files: usize| {
            let columns = (0..own.len()).map(Origin::Same).chain(values.iter().cloned().map(Origin::Value)).collect();
            Part { table: Arc::new(table), files, columns }
        };
        let shape = |record| Shape {
            record,
            columns: own.to_vec(),
            header: self.count("skip.header.line.count"),
            footer: self.count("skip.footer.line.count"),
        };
        match stored {
            Stored::Lines(record) => {
                let inputs = found.iter().map(|input| (input.path.clone(), input.len, input.codec)).collect();
                let means = (&self.world().env, &self.world().budget);
                all.push(by_place(lines::table(&self.name, inputs, shape(record), means), found.len()));
            }
            Stored::Sequence(record) => {
                let inner = self.inner("sequence", &found)?;
                all.push(by_place(lines::of_values(inner, shape(record))?, found.len()));
            }
            Stored::Columns(format) => match self.inner(format, &found) {
                Ok(inner) => all.push(self.by_name(inner, found.len(), format, values)),
                // Files of several ages: each on its own.
                Err(e) if e.code() == Code::Input && found.len() > 1 => {
                    for input in &found {
                        let inner = self.inner(format, std::slice::from_ref(input))?;
                        all.push(self.by_name(inner, 1, format, values));
                    }
                }
                Err(e) => return Err(e),
            },
        }
        Ok(())
    }

    fn count(&self, parameter: &str) -> usize {
        let own = self.table.parameters.get(parameter).or_else(|| self.table.storage.parameters.get(parameter));
        own.and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// Returns the files of a storage; none if its directory is not there.
    fn find(&self, of: &Storage) -> Result<Vec<InputFile>> {
        let path = path_of(&of.location);
        let world = self.world();
        world.check(Path::new(&path))?;
        match world.env.files.meta(Path::new(&path)) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Error::io(Code::Input, "cannot read the table's directory", &e).at_path(path)),
            Ok(meta) if meta.is_dir && world.env.files.list(Path::new(&path)).is_ok_and(|all| all.is_empty()) => {
                return Ok(Vec::new());
            }
            Ok(_) => {}
        }
        let found = job::find_inputs(&*world.env.files, &[path])?;
        // An empty file has no format; Hive leaves such files behind.
        let found = found.into_iter().filter(|input| input.len > 0 && !input.is_stream);
        found.map(|input| world.check(&input.path).map(|()| input)).collect()
    }

    fn inner(&self, format: &str, found: &[InputFile]) -> Result<Arc<Table>> {
        let format = file_formats::named(format)
            .ok_or_else(|| Error::new(Code::Internal, format!("there is no format {format}")))?;
        let file = |input: &InputFile| DataFile::of(input.path.clone(), Vec::new());
        classes::table(&self.name, &found.iter().map(file).collect::<Vec<_>>(), format, self.world()).map(Arc::new)
    }

    /// Returns a part whose files name their columns.
    fn by_name(&self, inner: Arc<Table>, files: usize, format: &str, values: &[Value]) -> Part {
        let own = &self.columns[..self.columns.len() - self.keys];
        // Hive itself wrote such names into ORC before version 2.
        let is_numbered =
            format == "orc" && inner.fields.iter().enumerate().all(|(n, field)| field.name == format!("_col{n}"));
        let is_by_place = is_numbered
            || format == "parquet"
                && self.table.parameters.get("parquet.column.index.access").is_some_and(|value| value == "true");
        let origin = |(number, (name, of)): (usize, &(String, HiveType))| {
            let place = match is_by_place {
                true => Some(number).filter(|&number| number < inner.fields.len()),
                false => inner.fields.iter().position(|field| field.name.eq_ignore_ascii_case(name)),
            };
            match place {
                None => Origin::Value(Value::Null),
                Some(place) => {
                    let data_type = &inner.fields[place].data_type;
                    match *data_type == of.data_type() && !matches!(of, HiveType::Cut(_)) {
                        true => Origin::Same(place),
                        false => {
                            let stored = StoredType { data_type: data_type.clone(), of: of.clone() };
                            Origin::Converted(place, Arc::new(stored))
                        }
                    }
                }
            }
        };
        let columns = own.iter().enumerate().map(origin).chain(values.iter().cloned().map(Origin::Value)).collect();
        Part { table: inner, files, columns }
    }
}

/// Returns the path of a location: without the scheme of local files, and with the names that stores have here.
fn path_of(location: &str) -> String {
    if let Some(rest) = location.strip_prefix("file:") {
        let plain = rest.strip_prefix("//").unwrap_or(rest);
        return plain.find('/').map_or(plain, |at| &plain[at..]).to_string();
    }
    for scheme in ["s3a://", "s3n://"] {
        if let Some(rest) = location.strip_prefix(scheme) {
            return format!("s3://{rest}");
        }
    }
    location.to_string()
}

/// Puts files in the place of the tables of a metastore, in a plan whose conditions are at its scans.
pub fn resolve(plan: LogicalPlan, state: &dyn Session) -> std::result::Result<LogicalPlan, DataFusionError> {
    let resolved = plan.transform_up_with_subqueries(|plan| {
        let LogicalPlan::TableScan(mut scan) = plan else { return Ok(Transformed::no(plan)) };
        let Ok(provider) = source_as_provider(&scan.source) else {
            return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
        };
        let any: &dyn std::any::Any = provider.as_ref();
        let Some(table) = any.downcast_ref::<MetastoreTable>() else {
            return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
        };
        let files = table.files(&scan.filters, state).map_err(failure::wrapped)?;
        scan.source = provider_as_source(Arc::new(files));
        Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
    })?;
    Ok(resolved.data)
}

#[async_trait]
impl TableProvider for MetastoreTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> std::result::Result<Arc<dyn ExecutionPlan>, DataFusionError> {
        let files = self.files(filters, state).map_err(failure::wrapped)?;
        files.scan(state, projection, filters, limit).await
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> std::result::Result<Vec<TableProviderFilterPushDown>, DataFusionError> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_become_paths() {
        for (location, expect) in [
            ("file:/a/b", "/a/b"),
            ("file:///a/b", "/a/b"),
            ("file://host/a", "/a"),
            ("/a/b", "/a/b"),
            ("s3a://bucket/x", "s3://bucket/x"),
            ("hdfs://nn:8020/x", "hdfs://nn:8020/x"),
        ] {
            assert_eq!(path_of(location), expect);
        }
    }
}

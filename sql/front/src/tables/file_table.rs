//! A table of files as DataFusion plans it.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{Result, Statistics};
use datafusion::datasource::TableType;
use datafusion::datasource::file_format::FileFormat as Reader;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;

use yunti_sql_execute::operators::scan::parts::Parts;
use yunti_sql_plan::Table;

use super::class_scan;
use super::partitions::Partitions;
use super::world::DataFile;
use crate::store;

/// How files are read.
#[derive(Clone, Debug)]
pub enum Reading {
    /// DataFusion has the reader.
    Reader(Arc<dyn Reader>),
    /// A class of the library reads.
    Class(Parts),
}

/// A table of files.
#[derive(Debug)]
pub struct FileTable {
    /// Name as the query has it.
    pub name: String,
    /// Columns of the files, then those of directories.
    pub schema: SchemaRef,
    /// Columns of the files alone.
    pub file_schema: SchemaRef,
    pub files: Vec<DataFile>,
    /// Columns that directories name.
    pub partitions: Partitions,
    /// The files for Yunti's own executor, if it can read them.
    native: Option<Parts>,
    reading: Reading,
    /// Statistics of each file, in order, and of all of them; empty if nothing is known.
    statistics: Vec<Arc<Statistics>>,
    total: Statistics,
}

impl FileTable {
    /// Returns the table of files.
    pub fn new(
        name: String,
        (file_schema, reading): (SchemaRef, Reading),
        (files, partitions): (Vec<DataFile>, Partitions),
        statistics: Vec<Arc<Statistics>>,
        native: Option<Parts>,
    ) -> Result<FileTable> {
        let all = file_schema.fields().iter().chain(&partitions.fields).cloned();
        let schema = Arc::new(Schema::new_with_metadata(all.collect::<Vec<_>>(), file_schema.metadata().clone()));
        let mut total = Statistics::new_unknown(&schema);
        if !statistics.is_empty() {
            let merged = Statistics::try_merge_iter(statistics.iter().map(|of| &**of), &file_schema)?;
            (total.num_rows, total.total_byte_size) = (merged.num_rows, merged.total_byte_size);
            let (own, _) = total.column_statistics.split_at_mut(merged.column_statistics.len());
            own.clone_from_slice(&merged.column_statistics);
        }
        if let Reading::Class(parts) = &reading {
            let rows = parts.table(&name).statistics.rows.and_then(|rows| usize::try_from(rows).ok());
            total.num_rows = rows.map_or(Precision::Absent, Precision::Inexact);
        }
        Ok(FileTable { name, schema, file_schema, files, partitions, native, reading, statistics, total })
    }

    /// Returns the table for Yunti's own executor, with the files that may have rows within the conditions; None if it
    /// cannot read such files.
    pub fn native(&self, filters: &[Expr], state: &dyn Session) -> Result<Option<Table>> {
        let Some(native) = &self.native else { return Ok(None) };
        let kept = self.partitions.matching(&self.files, filters, state)?;
        Ok(Some(match kept.len() == self.files.len() {
            true => native.table(&self.name),
            false => native.with_files(&kept).table(&self.name),
        }))
    }

    /// Returns the number of rows, if it is known.
    pub fn rows(&self) -> Option<u64> {
        match self.total.num_rows {
            Precision::Exact(rows) | Precision::Inexact(rows) => Some(rows as u64),
            Precision::Absent => None,
        }
    }
}

#[async_trait]
impl TableProvider for FileTable {
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
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let kept = self.partitions.matching(&self.files, filters, state)?;
        if kept.is_empty() {
            let schema = match projection {
                Some(columns) => Arc::new(self.schema.project(columns)?),
                None => self.schema.clone(),
            };
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let reader = match &self.reading {
            Reading::Reader(reader) => reader,
            Reading::Class(parts) => {
                let table = Arc::new(parts.with_files(&kept).table(&self.name));
                return class_scan::plan(&table, &self.schema, projection, limit, state.config().target_partitions());
            }
        };
        let files = kept.iter().map(|&n| {
            let mut file = PartitionedFile::new_from_meta(self.files[n].meta.clone());
            file.partition_values.clone_from(&self.files[n].values);
            match self.statistics.get(n) {
                Some(of) => file.with_statistics(of.clone()),
                None => file,
            }
        });
        let group = FileGroup::new(files.collect());
        let is_whole = kept.len() == self.files.len();
        let total = if is_whole { self.total.clone() } else { self.total.clone().to_inexact() };
        let table_schema = TableSchema::builder(self.file_schema.clone())
            .with_table_partition_cols(self.partitions.fields.clone())
            .build();
        let config = FileScanConfigBuilder::new(ObjectStoreUrl::parse(store::URL)?, reader.file_source(table_schema))
            .with_file_groups(group.split_files(state.config().target_partitions()))
            .with_statistics(total)
            .with_projection_indices(projection.cloned())?
            .with_limit(limit)
            .build();
        reader.create_physical_plan(state, config).await
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(filters
            .iter()
            .map(|filter| match self.partitions.decides(filter) {
                true => TableProviderFilterPushDown::Exact,
                false => TableProviderFilterPushDown::Inexact,
            })
            .collect())
    }

    fn statistics(&self) -> Option<Statistics> {
        Some(self.total.clone())
    }
}

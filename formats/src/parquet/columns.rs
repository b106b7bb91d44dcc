//! Leaves of a Parquet schema that the columns of a scan need.

use parquet::schema::types::SchemaDescriptor;

use crate::scan::Picked;

/// Returns the numbers of the leaves that the columns need.
pub fn leaves(picked: &Picked, schema: &SchemaDescriptor) -> Vec<usize> {
    let needed = |leaf: &usize| {
        let column = schema.column(*leaf);
        let parts = column.path().parts();
        picked.paths().any(|path| parts.starts_with(path))
    };
    (0..schema.num_columns()).filter(needed).collect()
}

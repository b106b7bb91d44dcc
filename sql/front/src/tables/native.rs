//! Tables of files for Yunti's own executor.

use std::sync::Arc;

use yunti_engine::format::file_formats::FileFormat;

use super::place::{DataFile, World};

/// Returns the table for Yunti's own executor; None if it cannot read such files.
pub fn table(
    _name: &str,
    _files: &[DataFile],
    _format: &'static FileFormat,
    _world: &World,
) -> yunti_base::Result<Option<Arc<yunti_sql_plan::Table>>> {
    Ok(None)
}

//! Tables of files for Yunti's own executor.

use std::path::PathBuf;
use std::sync::Arc;

use yunti_engine::format::file_formats::FileFormat;
use yunti_sql_execute::scan::files;

use super::place::{DataFile, World};

/// Returns the table for Yunti's own executor; None if it cannot read such files, or the class library is missing. Then
/// the general executor reads them, and reports what is wrong with them.
pub fn table(
    name: &str,
    files: &[DataFile],
    format: &'static FileFormat,
    world: &World,
) -> Option<Arc<yunti_sql_plan::Table>> {
    let library = (world.library)(format).ok()?;
    let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    files::table(name, &paths, format, library, &world.env, &world.budget).ok().map(Arc::new)
}

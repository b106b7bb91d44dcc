//! x
use std::sync::Arc;
#[derive(Debug)]
pub struct FileTable { pub native: Option<Arc<yunti_sql_plan::Table>> }

//! Shared tables that only tasks of a cluster map: this process reads header and schema, which the plan needs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use yunti_base::{Code, Error, Result};
use yunti_engine::columns::vector::{Value, Vector};
use yunti_engine::env::{Files, NamedFile};
use yunti_sql_plan::{Bounds, Found, Morsel, MorselReader, Table, TableIndex, TablePlace, TableSource};
use yunti_table::read::Head;

use super::{Part, described};

/// Returns a table of a file that tasks map. `files` reads it by position.
///
/// Errors: `Input` for a file that is missing, or no table; `Corrupt` for a damaged header or schema.
pub fn far(name: &str, path: &Path, files: &dyn Files) -> Result<Table> {
    let shown = path.to_string_lossy();
    let meta = files.meta(path).map_err(|e| Error::io(Code::Input, "cannot read the table", &e).at_path(&*shown))?;
    let file = NamedFile::open(files, path, Code::Input)?;
    let head = Head::read(meta.len, &mut |buffer, at| file.read_exact(buffer, at));
    let head = head.map_err(|e| e.at_path(&*shown))?;
    let source = Far { path: path.into(), keys: head.schema.keys.clone() };
    Ok(described(name, &head.header, &head.schema, Arc::new(source)))
}

/// A table whose rows are not here. Plans know its index; tasks look up.
#[derive(Clone, Debug)]
struct Far {
    path: PathBuf,
    /// Columns of the key.
    keys: Vec<usize>,
}

impl Far {
    fn not_here(&self) -> Error {
        Error::new(Code::Internal, "the rows of a table of the cluster are not here")
            .at_path(self.path.to_string_lossy())
    }
}

impl TableSource for Far {
    fn morsels(&self, _: &[usize], _: &[Bounds]) -> Result<Vec<Morsel>> {
        Err(self.not_here())
    }

    fn open(&self, _: &Morsel, _: &[usize], _: &[Bounds]) -> Result<Box<dyn MorselReader>> {
        Err(self.not_here())
    }

    fn index(&self) -> Option<Arc<dyn TableIndex>> {
        Some(Arc::new(self.clone()))
    }

    fn place(&self) -> Option<TablePlace> {
        Some(TablePlace::Files { format: Part::WHOLE.format(), paths: vec![self.path.clone()] })
    }
}

impl TableIndex for Far {
    fn key(&self) -> &[usize] {
        &self.keys
    }

    fn look_up(&self, _: &[Arc<Vector>], _: &[usize], _: &mut dyn FnMut(Found) -> Result<()>) -> Result<()> {
        Err(self.not_here())
    }

    fn rows_of(&self, _: &[Vec<Value>]) -> Arc<dyn TableSource> {
        Arc::new(self.clone())
    }
}

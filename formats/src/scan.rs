//! Columns of a scan in the schema of a file: by name, or by a path of names with dots between them.
//!
//! ```text
//!   user              a column, whole
//!   user.address.zip  a member of structs; a column of just this name comes first
//! ```

use arrow_array::{Array, ArrayRef, RecordBatch, StructArray, cast::AsArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Fields, Schema};
use yunti_api::{Error, Result, Scan};

/// Names of columns in a message, at most.
const NAMES_MAX: usize = 20;

/// Places of a scan's columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picked {
    /// Path of each column of the key: names from the top.
    pub key: Vec<Vec<String>>,
    /// The same of the value.
    pub value: Vec<Vec<String>>,
}

impl Picked {
    /// Finds the columns of a scan. By default the first column is the key, and the rest are the value.
    ///
    /// Fails for a column that is not there, with the names of the file's columns.
    pub fn find(scan: &Scan, schema: &Schema) -> Result<Picked> {
        let all = || schema.fields().iter().map(|field| vec![field.name().clone()]);
        let find = |names: &[String]| names.iter().map(|name| path(name, schema)).collect::<Result<Vec<_>>>();
        let (mut key, mut value) = (find(&scan.key)?, find(&scan.value)?);
        if scan.blocks {
            return Ok(Picked { key: Vec::new(), value });
        }
        if key.is_empty() && value.is_empty() {
            key.extend(all().take(1));
        }
        if scan.no_value {
            value.clear();
        } else if value.is_empty() {
            value.extend(all().filter(|path| !key.contains(path)));
        }
        Ok(Picked { key, value })
    }

    /// Returns all paths, those of the key first.
    pub fn paths(&self) -> impl Iterator<Item = &Vec<String>> {
        self.key.iter().chain(&self.value)
    }
}

/// Returns the column at a path, and the nulls of the structs that it is in.
pub fn column(batch: &RecordBatch, path: &[String]) -> Result<(ArrayRef, Option<NullBuffer>)> {
    let missing = || Error::damaged("a column of its schema has no values");
    let (first, below) = path.split_first().ok_or_else(missing)?;
    let mut column = batch.column_by_name(first).ok_or_else(missing)?.clone();
    let mut nulls: Option<NullBuffer> = None;
    for name in below {
        let parent: StructArray = column.as_struct().clone();
        nulls = NullBuffer::union(nulls.as_ref(), parent.nulls());
        column = parent.column_by_name(name).ok_or_else(missing)?.clone();
    }
    Ok((column, nulls))
}

/// Returns the path of a column by its name.
fn path(name: &str, schema: &Schema) -> Result<Vec<String>> {
    let mut found = Vec::new();
    if descend(name, schema.fields(), &mut found) {
        return Ok(found);
    }
    let mut names: Vec<&str> = schema.fields().iter().take(NAMES_MAX).map(|field| field.name().as_str()).collect();
    if schema.fields().len() > NAMES_MAX {
        names.push("..");
    }
    Err(Error::unsupported(format!("the file has no column '{name}': it has {}", names.join(", "))))
}

fn descend(name: &str, fields: &Fields, found: &mut Vec<String>) -> bool {
    if fields.iter().any(|field| field.name() == name) {
        found.push(name.into());
        return true;
    }
    for field in fields {
        let Some(rest) = name.strip_prefix(field.name().as_str()).and_then(|rest| rest.strip_prefix('.')) else {
            continue;
        };
        if let DataType::Struct(below) = field.data_type() {
            found.push(field.name().clone());
            if descend(rest, below, found) {
                return true;
            }
            found.pop();
        }
    }
    false
}

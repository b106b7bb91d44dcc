//! Mapper for an output in directories by columns: the columns of the key become the directory's path.
//!
//! ```text
//!   key  2026-11-01 TAB a/b    value unchanged    ->    key  day=2026-11-01/city=a%2Fb
//! ```
//!
//! Keys that name one directory, such as a null and the empty text, become equal here, before they are sorted.

use std::sync::Arc;

use crate::columns::settings::{MARK_NULLS, is_true};
use crate::format::columns::put_unescaped;
use crate::format::hive_path::put_pair;
use crate::operator::{Batch, Mapper, Out, TaskContext};
use crate::write::directories::KEY_DIRECTORIES;
use yunti_base::{Code, Error, Result};

/// Mapper that makes paths of keys.
pub struct KeyDirectories {
    names: Vec<String>,
    marks_nulls: bool,
    path: Vec<u8>,
    cell: Vec<u8>,
}

impl KeyDirectories {
    /// Reads the settings. Errors: `Usage` if no column is named.
    pub fn new(context: &Arc<TaskContext>) -> Result<KeyDirectories> {
        let names: Vec<String> = context.setting(KEY_DIRECTORIES).unwrap_or("").lines().map(str::to_string).collect();
        if names.is_empty() {
            return Err(Error::new(Code::Usage, format!("the setting {KEY_DIRECTORIES} is missing")));
        }
        let marks_nulls = is_true(context, MARK_NULLS);
        Ok(KeyDirectories { names, marks_nulls, path: Vec::new(), cell: Vec::new() })
    }

    fn make_path(&mut self, key: &[u8]) -> Result<()> {
        self.path.clear();
        if let ([name], false) = (&self.names[..], self.marks_nulls) {
            put_pair(name.as_bytes(), Some(key), &mut self.path);
            return Ok(());
        }
        let mut cells = key.split(|&byte| byte == b'\t');
        for (number, name) in self.names.iter().enumerate() {
            let Some(cell) = cells.next() else { return Err(self.wrong()) };
            if number > 0 {
                self.path.push(b'/');
            }
            self.cell.clear();
            put_unescaped(cell, &mut self.cell);
            let is_null = self.marks_nulls && cell == b"\\N";
            put_pair(name.as_bytes(), (!is_null).then_some(&self.cell), &mut self.path);
        }
        if cells.next().is_some() { Err(self.wrong()) } else { Ok(()) }
    }

    fn wrong(&self) -> Error {
        let n = self.names.len();
        Error::new(Code::UserCode, format!("a key has another number of columns than {KEY_DIRECTORIES}, which has {n}"))
    }
}

impl Mapper for KeyDirectories {
    fn map(&mut self, batch: &Batch<'_>, out: &mut Out) -> Result<()> {
        for i in 0..batch.len() {
            let (key, value) = batch.record(i);
            self.make_path(key)?;
            out.emit(&self.path, value)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_keys() {
        for (names, marks_nulls, key, expect) in [
            (&["day"][..], false, &b"2026-11-01"[..], Some("day=2026-11-01")),
            // A single column stands as it is.
            (&["c"], false, b"a\tb\\n", Some("c=a%09b%5Cn")),
            (&["c"], false, b"\\N", Some("c=%5CN")),
            (&["c"], true, b"\\N", Some("c=__HIVE_DEFAULT_PARTITION__")),
            (&["c"], true, b"\\\\N", Some("c=%5CN")),
            (&["c"], true, b"", Some("c=__HIVE_DEFAULT_PARTITION__")),
            (&["a", "b"], false, b"1\tx\\ty", Some("a=1/b=x%09y")),
            (&["a", "b"], true, b"\\N\t2", Some("a=__HIVE_DEFAULT_PARTITION__/b=2")),
            (&["a", "b"], false, b"1", None),
            (&["a", "b"], false, b"1\t2\t3", None),
        ] {
            let names = names.iter().map(|name| name.to_string()).collect();
            let mut mapper = KeyDirectories { names, marks_nulls, path: Vec::new(), cell: Vec::new() };
            let made = mapper.make_path(key);
            let path = made.is_ok().then(|| String::from_utf8(mapper.path).unwrap());
            assert_eq!(path.as_deref(), expect, "{key:?}");
        }
    }
}

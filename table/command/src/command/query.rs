//! Rows of a query: `yunti sql` reads files of columns, and prints an object of JSON a row.

use std::path::Path;
use std::process::{Command, Stdio};

use yunti_base::{Code, Error, Result};
use yunti_program::part::Part;
use yunti_table::builder::Gather;
use yunti_table::builder::text::{self, Request};

/// Returns the words for the columns of a file.
pub fn of_file(path: &str, format: &str, request: &Request) -> Vec<String> {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let columns: Vec<String> = request.keys.iter().chain(&request.columns).map(|column| quoted(&column.name)).collect();
    let columns = if request.columns.is_empty() { "*".to_owned() } else { columns.join(", ") };
    vec![format!("--table=input={path},format={format}"), format!("SELECT {columns} FROM input")]
}

/// Reads the rows of a query.
pub fn read(words: &[String], name: &str, request: &Request, path: &Path) -> Result<Gather> {
    let Some(sql) = Part::named("sql") else { return Err(Error::new(Code::Internal, "there is no part sql")) };
    let program = sql.installed().map_err(|e| e.at_path(name))?;
    let mut child = Command::new(&program)
        .args(["--output-format", "json"])
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| Error::io(Code::Input, "cannot start yunti sql", &e).at_path(program.to_string_lossy()))?;
    let Some(rows) = child.stdout.take() else { return Err(Error::new(Code::Internal, "yunti sql has no output")) };
    let gathered = text::read(rows, name, request, path);
    // The output is closed now: a program that still writes ends. What it said of the reason is on standard error.
    let status = child.wait().map_err(|e| Error::io(Code::Input, "yunti sql", &e))?;
    match status.code() {
        Some(0) => gathered,
        // The error of the rows is the reason why the output was closed, or the consequence of the program's own.
        _ => Err(match gathered {
            Err(e) if !e.what().contains("is empty") => e,
            _ => Error::new(Code::Input, "yunti sql failed").at_path(name),
        }),
    }
}
